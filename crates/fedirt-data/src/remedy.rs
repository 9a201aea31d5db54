//! What is wrong and what would fix it, in a sentence without its full stop, for whoever reads it.

use crate::audience::{Audience, ReadOption};
use crate::cause::Cause;
use crate::options::LongColumns;
use crate::text::{alternatives, argument};

impl Cause {
    /// What is wrong, for somebody. It differs from `Display` where options are named.
    pub fn told(&self, audience: Audience) -> String {
        match self {
            Cause::UnknownColumn { option, .. } => {
                format!("{} names a column that the file does not have", audience.option(*option))
            }
            Cause::UnknownIgnored(_) => {
                format!("{} names a column that no file has", audience.option(ReadOption::Ignore))
            }
            Cause::NothingSelected(_) => {
                format!("{} selects an item that no file has", audience.option(ReadOption::Items))
            }
            Cause::UnknownItem { option, .. } => {
                format!("{} names an item that no file has", audience.option(*option))
            }
            Cause::TwoRoles(one, other) => {
                format!("{} and {} name the same column", audience.option(*one), audience.option(*other))
            }
            other => other.to_string(),
        }
    }

    /// What would fix it. `column` is the column at fault, where there is one.
    pub fn remedy(&self, column: Option<&str>, audience: Audience) -> String {
        let with = |option| audience.with(option, column.unwrap_or("COLUMN"));
        // A file on a page is one site's.
        let there = |option: &&ReadOption| audience != Audience::Page || **option != ReadOption::Site;
        let roles = |options: &[ReadOption]| {
            options.iter().filter(there).map(|option| with(*option)).collect::<Vec<_>>().join(" or ")
        };
        let missing = |value: &str| audience.with(ReadOption::Missing, value);
        match self {
            Cause::NoFiles => "Name one or more CSV files".into(),
            Cause::NoSuchFile(near) => meant(near, "Check the path"),
            Cause::Directory => "Name the files in it, such as DIRECTORY/*.csv".into(),
            Cause::Unreadable(_) => "Check the permissions and whether another program holds the file".into(),
            Cause::NotBuilt { feature, .. } => {
                match audience {
                    Audience::Page => "Save it as CSV in UTF-8: this program was built without a reader of such files".into(),
                    Audience::CommandLine | Audience::Library => {
                        format!("Save it as CSV in UTF-8, or build the program with --features {feature}")
                    }
                }
            }
            Cause::NotText(_) => "Save it as CSV in UTF-8 and give that file".into(),
            Cause::DeclaredWeight => format!("Say whether it does: {} or {}", with(ReadOption::Weight), with(ReadOption::Ignore)),
            Cause::BadWorkbook(_) | Cause::BadParquet(_) | Cause::BadSav(_) => "Write the file again, or save it as CSV".into(),
            Cause::SeveralSheets(_) => {
                "Keep the sheet with the answers alone, or save that sheet as CSV and give that file".into()
            }
            Cause::SameFileTwice(_) => "Give each file once: its rows would count double".into(),
            Cause::SameSiteName { .. } => {
                let site = audience.with(ReadOption::Site, "COLUMN");
                format!("Rename one of the files, or name the column that tells the sites apart with {site}")
            }
            Cause::EmptyFile => "Check the export: a header line and one row per student are needed".into(),
            Cause::NoRows => "Check the export: one row per student is needed below the header".into(),
            Cause::UnclosedQuote => {
                "Close the quote, or remove it; a quote inside quotes is written twice".into()
            }
            Cause::LineTooLong => "Check that the file is CSV, and that every quote is closed".into(),
            Cause::NoHeader => "Add a first line that names the columns".into(),
            Cause::UnnamedColumn(1) => {
                "Name the column, or remove it; if R wrote row numbers, use write.csv(…, row.names = FALSE)"
                    .into()
            }
            Cause::UnnamedColumn(_) => {
                "Name the column, or remove it; a delimiter at the end of the header makes an extra column"
                    .into()
            }
            Cause::DuplicateColumn(..) => {
                format!("Give each item its own name, or leave both out with {}", with(ReadOption::Ignore))
            }
            Cause::UnknownColumn { near, .. } => meant(near, "Check the name against the file's first line"),
            Cause::UnknownIgnored(near) => meant(
                near,
                &format!("Check the name, or leave it out of {}", audience.option(ReadOption::Ignore)),
            ),
            Cause::TwoRoles(first, second) => format!(
                "Name the column with {} or with {}, not with both",
                audience.option(*first),
                audience.option(*second)
            ),
            Cause::TooFewItems { selected: true, .. } => format!(
                "Two or more items are needed: check the names, or say which items others stand for in {}",
                audience.table(ReadOption::Map, "name, item")
            ),
            Cause::TooFewItems { columns: 1, .. } => {
                "Two or more items are needed; if the line has more, separate them by comma, semicolon or tab"
                    .into()
            }
            Cause::TooFewItems { .. } => {
                let ignore = audience.option(ReadOption::Ignore);
                format!("Two or more items are needed: check the header, and {ignore}")
            }
            Cause::LongWithoutId => {
                let id = audience.with(ReadOption::Id, "COLUMN");
                format!(
                    "Name the column that identifies the student with {id}; in a wide file, rename the two"
                )
            }
            Cause::FieldCount { found, expected } if found < expected => {
                "Fill up the line: a missing answer is an empty field between two delimiters".into()
            }
            Cause::FieldCount { .. } => {
                "Remove the extra fields; a field that holds the delimiter must be quoted".into()
            }
            Cause::NoColumns => "Give a table with one column per item and one row per student".into(),
            Cause::ColumnLength { .. } => "Give every column one entry per row".into(),
            Cause::NulByte(_) => {
                "Export the file again as CSV in UTF-8: it is binary, UTF-16 or damaged".into()
            }
            Cause::MixedEncodings(_) => "Export the file again, all of it in UTF-8".into(),
            Cause::NotUtf8 { .. } => match audience {
                Audience::Page => "Save the file as “CSV UTF-8” in the program that wrote it".into(),
                Audience::CommandLine | Audience::Library => {
                    "Save the file as UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8 OLD.csv > NEW.csv".into()
                }
            },
            Cause::NotAScore(value) => {
                format!(
                    "Write the score as a whole number from 0; if it means no answer, add {}",
                    missing(value)
                )
            }
            Cause::Fraction(_) => {
                format!(
                    "Scores are whole numbers from 0; if this is no item, add {}",
                    with(ReadOption::Ignore)
                )
            }
            Cause::Negative(value) | Cause::TooLarge(value) => {
                format!("Scores are 0, 1, 2, …; if it means no answer, add {}", missing(value))
            }
            Cause::Unlisted(value) => {
                format!("Correct the file or the codebook; if it means no answer, add {}", missing(value))
            }
            Cause::Texts(_) => format!(
                "If they are options of which one is right, give {}; if they are words of a scale, give {}; if this is no item, say what it is: {}",
                audience.table(ReadOption::Key, "item, key"),
                audience.table(ReadOption::Codebook, "item, levels"),
                roles(&[ReadOption::Ignore, ReadOption::Site, ReadOption::Id])
            ),
            Cause::NotAnItem { options, .. } => {
                format!("Say what it is: {}", roles(options))
            }
            Cause::GapCodes { beyond, used_by, .. } | Cause::RareCodes { beyond, used_by, .. } => {
                let codes: Vec<String> = beyond.iter().map(u8::to_string).collect();
                let codes = codes.join(",");
                let option = match audience {
                    // Without the quotes that a comma would bring: the shell needs none.
                    Audience::CommandLine => format!("{} {codes}", audience.option(ReadOption::Missing)),
                    Audience::Library | Audience::Page => missing(&codes),
                };
                let codebook = audience.table(ReadOption::Codebook, "item, categories, lowest");
                let no_answer = match used_by {
                    None => format!("add {option}"),
                    Some(item) => {
                        format!("empty these cells ({option} would take the code from item {item} as well)")
                    }
                };
                let mean = if beyond.len() == 1 { "means" } else { "mean" };
                let is = if beyond.len() == 1 { "it is a category" } else { "they are categories" };
                format!("If {codes} {mean} no answer, {no_answer}; if {is}, say so in {codebook}")
            }
            Cause::NamesAlike { other, .. } => format!(
                "If they are one item, rename `{}` to `{other}`, or say so in {}; if not, give them names that differ more",
                column.unwrap_or("COLUMN"),
                audience.table(ReadOption::Map, "name, item")
            ),
            Cause::TwoColumnsOfOneItem(_) => format!("Leave one of them out with {}", audience.option(ReadOption::Ignore)),
            Cause::UnknownItem { near, .. } => meant(near, "Check the name against the files' first lines"),
            Cause::LooksLong(columns) => {
                let LongColumns { id, item, response } = columns;
                let option = audience.option(ReadOption::Long);
                let long = match audience {
                    Audience::CommandLine => {
                        format!("{option} id={},item={},resp={}", argument(id), argument(item), argument(response))
                    }
                    Audience::Library => format!("{option} with id = {id:?}, item = {item:?}, response = {response:?}"),
                    Audience::Page => {
                        return format!("If so, choose these columns under {option}");
                    }
                };
                format!("If so, add {long}; if not, say which columns are no items with {}", audience.option(ReadOption::Ignore))
            }
            Cause::StrangeOption(value) => format!(
                "If it means no answer, add {}; if it is an option, list it in the key as {value}=0 beside the right ones",
                missing(value)
            ),
            Cause::RareOption { option, .. } => format!(
                "If it means no answer, add {}; if it is an option, list it in the key as {option}=0 beside the right one of an item",
                missing(option)
            ),
            Cause::KeyNeverChosen(_) => "Check the key; if it is right and nobody knew the answer, leave the item out".into(),
            Cause::Unkeyed => format!(
                "Add it to {}, say in {} that its codes are scores, or leave it out with {}",
                audience.option(ReadOption::Key),
                audience.table(ReadOption::Codebook, "item, categories, lowest"),
                with(ReadOption::Ignore)
            ),
            Cause::TwoRules => "Leave the item out of the key, or its levels, scores and key out of the codebook".into(),
            Cause::SumOfItems(_)
            | Cause::CopyOfItem(_)
            | Cause::Demographic(_)
            | Cause::GoesWithNothing { .. } => format!(
                "Leave it out with {}, or select the items with {}",
                with(ReadOption::Ignore),
                audience.option(ReadOption::Items)
            ),
            Cause::NothingSelected(near) => meant(near, "Check the name against the file's first line"),
            Cause::NothingAnswered => {
                let missing = audience.option(ReadOption::Missing);
                format!("Check the export, and the codes that {missing} declares")
            }
            Cause::EmptySite => "Fill in the site, or remove the row".into(),
            Cause::EmptyId => format!("Fill in the id, or do without ids: {}", with(ReadOption::Ignore)),
            Cause::DuplicateId { .. } => {
                let ignore = with(ReadOption::Ignore);
                format!("Remove one of the rows; if the column does not identify students, add {ignore}")
            }
            Cause::DuplicateAnswer { .. } => "Keep one of the two lines".into(),
            Cause::TooSparse { .. } => {
                "Check that the columns `id` and `item` are not mistaken for one another".into()
            }
            Cause::EmptyItem => "Fill in the item's name, or remove the line".into(),
            Cause::BadWeight(_) => {
                "Weights are finite numbers from 0, with a decimal point where a comma could separate thousands; none may be missing".into()
            }
            Cause::GroupChanges { .. } => "Give all lines of a student the same group".into(),
            Cause::WeightChanges { .. } => "Give all lines of a student the same weight".into(),
            Cause::MissingColumn { near, name } => {
                meant(near, &format!("Name the column `{name}` in the first line"))
            }
            Cause::DuplicateItem { .. } => "Keep one of the two lines".into(),
            Cause::UnknownModel(_) => format!("The models are {}", alternatives(&model_names())),
            Cause::BadCategoryCount(_) => {
                "Write a whole number from 2 to 100, or leave the field empty".into()
            }
            Cause::CategoriesAndRule { .. } => {
                "Leave `categories` and `lowest` empty where levels, scores or a key are given".into()
            }
            Cause::LevelCount(_) => "List 2 to 100 of them, with | between, such as never|sometimes|always".into(),
            Cause::LevelWithoutCode(_) => "Give each level its code, ascending, such as 1=never|2|3=always, or none".into(),
            Cause::LevelTwice(_) => "List each once; case does not tell levels apart".into(),
            Cause::ScoresAndLevels { .. } => "List one score for each level, in the same order".into(),
            Cause::KeyAndLevels => "Leave either the key or the levels and scores empty".into(),
            Cause::BadKey(_) => {
                "Write the right option (B), several (B|C), or what options are worth (A=2|B=1)".into()
            }
            Cause::NoKey => "Write the right option, or leave the item's line out".into(),
            Cause::NotYesOrNo(_) => "Write yes, or leave the field empty".into(),
            Cause::ReverseWithoutCategories => {
                "Fill in `categories` (and `lowest`, where codes do not begin at 0), `levels` or `scores`".into()
            }
            Cause::BadCollapse(_) => "Write the codes of each group between bars, ascending, such as 0-2|3|4,5, or the fewest answers that a category must have, such as 30".into(),
            Cause::NameOfTwoItems { .. } => "Give each name to one item".into(),
            Cause::BadLowestCode(_) => "Write the lowest code, such as 1; an empty field means 0".into(),
            Cause::BadNumber(_) => "Write a number with a decimal point, such as -0.25".into(),
            Cause::ZeroSlope(_) => "An item with slope 0 says nothing about ability: remove the line".into(),
            Cause::NoSteps(_) => "Fill in d (or d1, d2, …) or b (or b1, b2, …)".into(),
            Cause::StepsTwice { letter, .. } => format!("Fill in either {letter} or {letter}1, {letter}2, …"),
            Cause::StepGap(_) => "Fill in the steps from the first, without gaps".into(),
            Cause::Asymptote(_) => "Remove the column: a fixed item needs a slope and intercepts only".into(),
        }
    }
}

/// The names that users may write for a model.
fn model_names() -> Vec<String> {
    fedirt_model::items::MODELS.iter().map(|model| model.name().to_string()).collect()
}

fn meant(near: &[String], otherwise: &str) -> String {
    if near.is_empty() { otherwise.to_string() } else { format!("Is {} meant?", alternatives(near)) }
}
