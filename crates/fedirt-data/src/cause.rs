//! What can be wrong. The sentences with names of options, and the remedies, are in `remedy`.

use crate::audience::{Audience, ReadOption};
use crate::options::LongColumns;
use crate::text::counted;

/// What is wrong. Values are escaped and cut to 40 characters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Cause {
    /// No file was given.
    #[error("no file is given")]
    NoFiles,
    /// The file does not exist; with names of files beside it that look alike.
    #[error("there is no such file")]
    NoSuchFile(Vec<String>),
    /// The path is a directory.
    #[error("this is a directory, not a file")]
    Directory,
    /// The system refuses to read the file; with its words.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
    /// The file is something else than text; with the name of what it is.
    #[error("this is {0}, not a CSV text")]
    NotText(&'static str),
    /// A file of a kind that is read only by a program that was built so.
    #[error("this is {what}, which this program was built without reading")]
    NotBuilt {
        /// What it is.
        what: &'static str,
        /// The feature that reads it.
        feature: &'static str,
    },
    /// A workbook that cannot be read; with the words of its reader.
    #[error("the workbook cannot be read: {0}")]
    BadWorkbook(String),
    /// A workbook of which more than one sheet has something in it; with their names.
    #[error("more than one sheet has something in it: {}", quoted_list(.0))]
    SeveralSheets(Vec<String>),
    /// A Parquet file that cannot be read; with the words of its reader.
    #[error("the Parquet file cannot be read: {0}")]
    BadParquet(String),
    /// An SPSS file that cannot be read; with what is wrong with it.
    #[error("the SPSS file cannot be read: {0}")]
    BadSav(String),
    /// A column that the file declares to be the weight of its cases.
    #[error("the file says that this column weights its cases")]
    DeclaredWeight,
    /// The same file was given before, under this name.
    #[error("the file is given twice{}", as_name(.0))]
    SameFileTwice(Option<String>),
    /// Another file gives a site of the same name.
    #[error("its site would be called `{site}`, like that of {first}")]
    SameSiteName {
        /// The site's name.
        site: String,
        /// The earlier file.
        first: String,
    },
    /// There is nothing in the file.
    #[error("the file is empty")]
    EmptyFile,
    /// There is a header and nothing below it.
    #[error("the file has a header but no rows")]
    NoRows,
    /// A quote is not closed before the end of the file.
    #[error("a quote (\") is opened in the record that starts here and never closed")]
    UnclosedQuote,
    /// A line of more than 16 MiB.
    #[error("a record of more than 16 MiB starts here")]
    LineTooLong,
    /// The first line repeats numbers.
    #[error("the first line looks like answers, not like column names")]
    NoHeader,
    /// A column without a name; its position from 1.
    #[error("column {0} of the header has no name")]
    UnnamedColumn(usize),
    /// Two columns of one name; their positions from 1.
    #[error("the name stands twice in the header (columns {0} and {1})")]
    DuplicateColumn(usize, usize),
    /// An option names a column that is not there.
    #[error("{} names a column that the file does not have", Audience::Library.option(*.option))]
    UnknownColumn {
        /// The option.
        option: ReadOption,
        /// Names that may have been meant.
        near: Vec<String>,
    },
    /// A column to leave out that no file has; with names that may have been meant.
    #[error("{} names a column that no file has", Audience::Library.option(ReadOption::Ignore))]
    UnknownIgnored(Vec<String>),
    /// Two options name the same column.
    #[error("{} and {} name the same column", Audience::Library.option(*.0), Audience::Library.option(*.1))]
    TwoRoles(ReadOption, ReadOption),
    /// Fewer than two item columns; with the number of all columns.
    #[error("{}", item_count(*.items, *.selected))]
    TooFewItems {
        /// Item columns found.
        items: usize,
        /// All columns found.
        columns: usize,
        /// Whether items are selected by their names.
        selected: bool,
    },
    /// A long file without a column of ids.
    #[error("columns `item` and `resp` make this a long file, but there is no id column")]
    LongWithoutId,
    /// A line with more or fewer fields than the header.
    #[error("the line has {found} fields, the header has {expected}")]
    FieldCount {
        /// Fields in the header.
        expected: usize,
        /// Fields on the line.
        found: usize,
    },
    /// A table in memory without a column.
    #[error("the table has no columns")]
    NoColumns,
    /// A column in memory that is longer or shorter than the first.
    #[error("the column has {found} rows, the first column has {expected}")]
    ColumnLength {
        /// Rows of the first column.
        expected: usize,
        /// Rows of this one.
        found: usize,
    },
    /// A NUL byte at this byte of the line.
    #[error("byte {0} of the line is NUL")]
    NulByte(usize),
    /// A byte that is not UTF-8.
    #[error("byte {byte} of the line (0x{value:02x}) is not UTF-8")]
    NotUtf8 {
        /// Position in the line, from 1.
        byte: usize,
        /// The byte.
        value: u8,
    },
    /// A file that is neither UTF-8 nor Windows-1252 all the way; with the first line that is Windows-1252.
    #[error("the line is UTF-8, and line {0} is Windows-1252")]
    MixedEncodings(u64),
    /// Text where a score should be.
    #[error("`{0}` is not a score")]
    NotAScore(String),
    /// A fraction where a score should be.
    #[error("`{0}` is not a whole number")]
    Fraction(String),
    /// A negative number where a score should be.
    #[error("`{0}` is negative")]
    Negative(String),
    /// A number that is too large for a category.
    #[error("`{0}` is too large for a category (at most 63, or what a codebook says, up to 100)")]
    TooLarge(String),
    /// A text that the item's codebook does not list.
    #[error("`{0}` is none of the answers that the codebook lists for the item")]
    Unlisted(String),
    /// The column has few different texts, and no key or codebook says what they mean.
    #[error("the answers are no scores but texts: {}", quoted_list(.0))]
    Texts(Vec<String>),
    /// The column is no item.
    #[error("this does not look like an item: {what}")]
    NotAnItem {
        /// What was found in it.
        what: String,
        /// Options that could take it, the likeliest first.
        options: Vec<ReadOption>,
    },
    /// Codes above a gap in an item's codes, which often mean "no answer".
    #[error("{}", gap(.counts, *.range, .beyond))]
    GapCodes {
        /// All codes of the item, each with how often it occurs.
        counts: Vec<(u8, u64)>,
        /// The lowest code, and the last that follows it without a gap.
        range: (u8, u8),
        /// The codes in question.
        beyond: Vec<u8>,
        /// An item that has one of them within its regular range.
        used_by: Option<String>,
    },
    /// Codes at the end of an item's codes that few answers have, and that are unusual for items of its scale.
    #[error("{}", rare(.counts, *.range, .beyond))]
    RareCodes {
        /// All codes of the item, each with how often it occurs.
        counts: Vec<(u8, u64)>,
        /// The lowest code, and the last that is not in question.
        range: (u8, u8),
        /// The codes in question.
        beyond: Vec<u8>,
        /// An item that has one of them often.
        used_by: Option<String>,
    },
    /// A name that differs only in spelling from that of another site's item, or of an item that the caller names.
    #[error(
        "the name differs from `{other}`{} only by case, spaces, punctuation or leading zeros, and would be another item",
        in_given_file(.file)
    )]
    NamesAlike {
        /// The other name.
        other: String,
        /// The file of answers that has it.
        file: Option<String>,
    },
    /// Two columns of one file that stand for one item; with their names.
    #[error("columns `{}` and `{}` both stand for this item", .0[0], .0[1])]
    TwoColumnsOfOneItem([String; 2]),
    /// A name that would stand for an item that no file has.
    #[error("{} names an item that no file has", Audience::Library.option(*.option))]
    UnknownItem {
        /// The option.
        option: ReadOption,
        /// Names that may have been meant.
        near: Vec<String>,
    },
    /// A file whose lines look like single answers.
    #[error("the lines look like single answers: who (`{}`), which item (`{}`), what (`{}`)", .0.id, .0.item, .0.response)]
    LooksLong(LongColumns),
    /// An option of a keyed item that is none by its look.
    #[error("`{0}` stands apart from the options of the keyed items, and would count as wrong")]
    StrangeOption(String),
    /// The last option of the keyed items, which few chose and which is right nowhere.
    #[error(
        "`{option}` follows the options of the keyed items, {count} of {answers} answers to them are `{option}`, it is never right, and would count as wrong"
    )]
    RareOption {
        /// The option.
        option: String,
        /// Answers to keyed items that are this option.
        count: u64,
        /// All answers to keyed items.
        answers: u64,
    },
    /// A key that nobody chose, in any file.
    #[error("the key is {}, and no answer to the item is", quoted_list(.0))]
    KeyNeverChosen(Vec<String>),
    /// An item without a key whose codes look like options.
    #[error("the item has no key, and its answers look like the options of the keyed items")]
    Unkeyed,
    /// An item whose key, or codebook with levels, stands twice: in the answer key and in the codebook.
    #[error("the answer key and the codebook both say how answers to this item become codes")]
    TwoRules,
    /// The column is the sum of others; with the first and the last of them.
    #[error("this is no item but the sum of the columns from `{}` to `{}`", .0[0], .0[1])]
    SumOfItems([String; 2]),
    /// A column with the name of something else than an item, and hardly any item-rest correlation, which is given.
    #[error("by its name this is no item, and it hardly goes with the items (item-rest correlation {0})")]
    Demographic(String),
    /// A column that equals another one in every row; with its name.
    #[error("the answers are those of the column `{0}` in every row")]
    CopyOfItem(String),
    /// A column that goes with no other and has codes that no other has.
    #[error(
        "it goes with none of the other columns (item-rest correlation {r}), and its codes go up to {highest}, those of all others to {of_others}"
    )]
    GoesWithNothing {
        /// The correlation, as it is shown.
        r: String,
        /// Its highest code.
        highest: u8,
        /// The highest code of all other columns.
        of_others: u8,
    },
    /// A selection of items that no file has; with names that may have been meant.
    #[error("{} selects an item that no file has", Audience::Library.option(ReadOption::Items))]
    NothingSelected(Vec<String>),
    /// Not one answer in the whole file.
    #[error("every answer in the file is missing")]
    NothingAnswered,
    /// A row without a site.
    #[error("the row has no site")]
    EmptySite,
    /// A row without an id.
    #[error("the row has no id")]
    EmptyId,
    /// Two rows of a site with one id.
    #[error("id `{id}` stands twice in site `{site}` (first on line {first_line}{})", in_file(.first_file))]
    DuplicateId {
        /// The id.
        id: String,
        /// The site.
        site: String,
        /// Line of the earlier row.
        first_line: u64,
        /// Its file, if it is another one.
        first_file: Option<String>,
    },
    /// Two answers of one person to one item.
    #[error("id `{id}` answers this item twice (first on line {first_line})")]
    DuplicateAnswer {
        /// The id.
        id: String,
        /// Line of the earlier answer.
        first_line: u64,
    },
    /// A long file with far fewer answers than ids × items.
    #[error("{answers} answers by {ids} ids to {items} items are too few to make a table")]
    TooSparse {
        /// Different ids.
        ids: usize,
        /// Different items.
        items: usize,
        /// Answers.
        answers: usize,
    },
    /// A long file's line without an item.
    #[error("the line names no item")]
    EmptyItem,
    /// A weight that is none.
    #[error("`{0}` is not a weight")]
    BadWeight(String),
    /// Lines of one person that disagree on the weight.
    #[error("weight `{value}` of id `{id}` differs from that on line {first_line}")]
    WeightChanges {
        /// The weight.
        value: String,
        /// The id.
        id: String,
        /// Line of the earlier weight.
        first_line: u64,
    },
    /// Lines of one person that disagree on the group.
    #[error("group `{value}` of id `{id}` differs from that on line {first_line}")]
    GroupChanges {
        /// The group.
        value: String,
        /// The id.
        id: String,
        /// Line of the earlier group.
        first_line: u64,
    },
    /// A needed column of a codebook or of fixed items is not there; with names that may have been meant.
    #[error("the file has no column `{name}`")]
    MissingColumn {
        /// What is needed.
        name: &'static str,
        /// Names that may have been meant.
        near: Vec<String>,
    },
    /// An item that stands twice; with the earlier line.
    #[error("item `{item}` stands twice (first on line {first_line})")]
    DuplicateItem {
        /// The item.
        item: String,
        /// Line of the earlier one.
        first_line: u64,
    },
    /// A model that does not exist.
    #[error("`{0}` is no model")]
    UnknownModel(String),
    /// A number of categories that makes no sense.
    #[error("`{0}` is not a number of categories")]
    BadCategoryCount(String),
    /// Categories that contradict the levels, scores or key beside them.
    #[error("{stated} categories are stated, and the levels, scores or key beside them make {found}")]
    CategoriesAndRule {
        /// Categories that are stated.
        stated: usize,
        /// Categories that the rule makes.
        found: usize,
    },
    /// A number of levels that makes no sense.
    #[error("{0} levels or scores are listed")]
    LevelCount(usize),
    /// A level that lacks a code, where others have one, or whose code does not ascend.
    #[error("`{0}` has no code above that of the level before it, and levels here are codes with words")]
    LevelWithoutCode(String),
    /// A level that stands twice.
    #[error("`{0}` stands twice")]
    LevelTwice(String),
    /// As many scores as levels are needed.
    #[error("there are {scores} scores and {levels} levels")]
    ScoresAndLevels {
        /// Scores.
        scores: usize,
        /// Levels.
        levels: usize,
    },
    /// A key beside levels or scores.
    #[error("the item has a key and levels or scores")]
    KeyAndLevels,
    /// A key that is none.
    #[error("`{0}` is not a key")]
    BadKey(String),
    /// An item without a key.
    #[error("the item has no key")]
    NoKey,
    /// Something else where yes or no should be.
    #[error("`{0}` is neither yes nor no")]
    NotYesOrNo(String),
    /// A reversed item whose categories nobody said.
    #[error("the item is to be reversed, and its categories are not known")]
    ReverseWithoutCategories,
    /// Groups of categories that are none.
    #[error("`{0}` does not say which categories become one")]
    BadCollapse(String),
    /// A name that stands for two items.
    #[error("`{name}` stands for another item already: `{other}`")]
    NameOfTwoItems {
        /// The name.
        name: String,
        /// The other item.
        other: String,
    },
    /// A lowest code that is none.
    #[error("`{0}` is not a code")]
    BadLowestCode(String),
    /// Something else where a number should be.
    #[error("`{0}` is not a finite number")]
    BadNumber(String),
    /// A slope of zero.
    #[error("the slope of item `{0}` is 0")]
    ZeroSlope(String),
    /// An item without intercepts and difficulties.
    #[error("item `{0}` has neither an intercept nor a difficulty")]
    NoSteps(String),
    /// An item that has steps twice.
    #[error("item `{item}` has both `{letter}` and `{letter}1`")]
    StepsTwice {
        /// The item.
        item: String,
        /// `d` or `b`.
        letter: &'static str,
    },
    /// An item with a later step and no earlier one.
    #[error("item `{0}` has a later step but not this one")]
    StepGap(String),
    /// An asymptote that no model here has.
    #[error("`{0}`: no model here has this parameter")]
    Asymptote(String),
}

fn as_name(name: &Option<String>) -> String {
    name.as_ref().map(|name| format!(", the other time as {name}")).unwrap_or_default()
}

fn in_given_file(name: &Option<String>) -> String {
    name.as_ref().map(|name| format!(" in {name}")).unwrap_or_default()
}

/// Texts in backticks, the first six of them.
fn quoted_list(texts: &[String]) -> String {
    let mut shown: Vec<String> = texts.iter().take(6).map(|text| format!("`{text}`")).collect();
    shown.extend((texts.len() > 6).then(|| "…".to_owned()));
    shown.join(", ")
}

fn in_file(name: &Option<String>) -> String {
    name.as_ref().map(|name| format!(" of {name}")).unwrap_or_default()
}

fn gap(counts: &[(u8, u64)], range: (u8, u8), beyond: &[u8]) -> String {
    let leave = if beyond.len() == 1 { "leaves" } else { "leave" };
    format!("the codes are {}: {} {leave} a gap above {}", code_counts(counts), list(beyond), range.1)
}

fn rare(counts: &[(u8, u64)], range: (u8, u8), beyond: &[u8]) -> String {
    format!(
        "the codes are {}: few answers are {}, beyond {} to {}",
        code_counts(counts),
        list(beyond),
        range.0,
        range.1
    )
}

fn code_counts(counts: &[(u8, u64)]) -> String {
    let count = |(code, count): &(u8, u64)| format!("{code} ({})", counted(*count, "time", "times"));
    counts.iter().map(count).collect::<Vec<_>>().join(", ")
}

fn list(codes: &[u8]) -> String {
    codes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}

fn item_count(items: usize, selected: bool) -> &'static str {
    if items == 0 && selected {
        "none of the columns is one of the items that are selected by their names"
    } else if items == 0 {
        "there is no item column"
    } else {
        "there is only one item column, and one item cannot be calibrated"
    }
}
