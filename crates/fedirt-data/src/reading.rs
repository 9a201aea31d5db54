//! Reading response files: the whole way from inputs to one table per site.

use std::fmt;
use std::path::{Path, PathBuf};

use fedirt_model::responses::ResponseTable;

use crate::assemble::Sites;
use crate::cause::Cause;
use crate::chosen::ChosenOptions;
use crate::codebook::CodebookItem;
use crate::file_facts::{FileFacts, ValueLabels};
use crate::file_rows::FileRows;
use crate::header::{Layout, columns};
use crate::input::Input;
use crate::item_names::{self, FileItems, ItemNames};
use crate::key::KeyedItem;
use crate::near::near_names;
use crate::notes::{Note, NoteKind, add_note};
use crate::opened::open;
use crate::options::ReadOptions;
use crate::problems::{Complaints, Problem, Problems};
use crate::scoring_rule::ScoringRule;
use crate::selection::Selection;
use crate::{long, wide};

/// What was read: the sites in order of first appearance, and what is worth knowing.
#[derive(Debug, Clone)]
pub struct Responses {
    /// The sites.
    pub sites: Vec<SiteResponses>,
    /// What is worth knowing although nothing is wrong.
    pub notes: Vec<Note>,
    /// What was said about the items before they were read.
    pub(crate) said: Said,
}

/// What was said about items before they were read, and where their codes stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// Whether the items were selected, so that every column that was read is one.
    pub(crate) selected: bool,
    /// The codebook, with the keyed items in it.
    pub(crate) codebook: Option<Vec<CodebookItem>>,
    /// Items with a key.
    pub(crate) keyed: Vec<KeyedItem>,
    /// For each file its items, each with its codes and the line on which each code occurs first.
    pub(crate) first_lines: Vec<(String, FirstLines)>,
    /// What the files say that values stand for.
    pub(crate) labels: Vec<ValueLabels>,
}

impl Said {
    /// The key of an item.
    pub(crate) fn rule(&self, item: &str) -> Option<&ScoringRule> {
        self.keyed.iter().find(|keyed| keyed.item == item).map(|keyed| &keyed.rule)
    }
}

/// Items with their codes, and the line on which each code occurs first.
pub(crate) type FirstLines = Vec<(String, Vec<(u8, u64)>)>;

impl Responses {
    /// Responses of sites that were made without files.
    pub fn of_sites(sites: Vec<SiteResponses>) -> Self {
        Self { sites, notes: Vec::new(), said: Said { selected: true, ..Said::default() } }
    }

    /// The same, with every column taken for an item because the caller has chosen them: nothing asks whether one is a sum
    /// or describes students.
    pub fn items_are_chosen(mut self) -> Self {
        self.said.selected = true;
        self
    }

    /// The codes that key or codebook give an item.
    pub(crate) fn declared_codes(&self, item: &str) -> Option<Vec<u8>> {
        let known = self.codebook().into_iter().flatten().find(|known| known.name == item);
        self.said.rule(item).map(ScoringRule::categories).or_else(|| known?.categories.clone())
    }

    /// The codebook with which the responses were read.
    pub fn codebook(&self) -> Option<&[CodebookItem]> {
        self.said.codebook.as_deref()
    }
}

/// The answers of one site.
#[derive(Clone)]
pub struct SiteResponses {
    /// The site's name: the value of the site column, or the name of the file without its extension.
    pub name: String,
    /// Item names, in the order of the table's columns. Other sites may have other items, or another order.
    pub items: Vec<String>,
    /// The id of each row, where the files have one.
    pub ids: Option<Vec<String>>,
    /// The group of each row, where the options name a column of them; empty for none.
    pub groups: Option<Vec<String>>,
    /// Category codes as they stand in the file, without any recode; weights where the options name a column of them.
    pub table: ResponseTable,
    /// The files that the rows come from, in order: the first source gives the first rows.
    pub sources: Vec<Source>,
    /// The line of each row in its file.
    pub lines: Vec<u64>,
    /// What was chosen in keyed items.
    pub chosen: Vec<ChosenOptions>,
}

impl SiteResponses {
    /// For each row the place of its file among the inputs, and its line: rows in this order stand as in the files.
    pub fn places(&self) -> Vec<(usize, u64)> {
        let inputs = self.sources.iter().flat_map(|source| std::iter::repeat_n(source.input, source.rows));
        inputs.zip(self.lines.iter().copied()).collect()
    }
}

/// A file that gives rows to a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name of the input.
    pub file: String,
    /// Rows that it gives to this site.
    pub rows: usize,
    /// Its place among the inputs.
    pub input: usize,
}

/// Name and sizes only: ids and rows must not reach a log.
impl fmt::Debug for SiteResponses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SiteResponses")
            .field("name", &self.name)
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

/// Reads response files, or says everything that is wrong with them.
///
/// Each input is a site unless `options.site` names a column; then rows with the same value form a site, from
/// whichever input they come. Items are matched by name.
///
/// ```
/// use fedirt_data::{Input, ReadOptions, read};
///
/// let exam = "school,I1,I2\nnorth,0,1\nsouth,1,1\nnorth,1,\n";
/// let options = ReadOptions { site: Some("school".into()), ..ReadOptions::default() };
/// let reading = read([Input::new("exam.csv", exam.as_bytes())], &options)?;
/// let sizes: Vec<_> = reading.sites.iter().map(|s| (s.name.as_str(), s.table.students())).collect();
/// assert_eq!(sizes, [("north", 2), ("south", 1)]);
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
pub fn read<'a>(
    inputs: impl IntoIterator<Item = Input<'a>>,
    options: &ReadOptions,
) -> Result<Responses, Problems> {
    let mut problems = Problems::default();
    let mut notes = Vec::new();
    let mut sites = Sites::default();
    let mut ignored = Ignored::new(options);
    let mut seen = SeenInputs::default();
    let mut said = said_beforehand(options, &mut problems);
    let mut files: Vec<FileItems> = Vec::new();
    let mut given = false;
    for (at, input) in inputs.into_iter().enumerate() {
        given = true;
        let file = input.name.clone();
        let mut complaints = Complaints { file: &file, problems: &mut problems };
        let known = seen.look(&input, options, &mut complaints);
        if known == Known::Input {
            continue;
        }
        let Some(opened) = open(input, &mut complaints) else { continue };
        ignored.found(&opened.names);
        let header_line = opened.header_line;
        tell(opened.facts, options, &mut complaints, &mut notes, &mut said);
        let columns = columns(opened.names, header_line, options, &mut complaints, &mut notes);
        let mut rows = match columns.layout {
            Layout::Wide(_) => wide::read(opened.records, &columns, options, &mut complaints),
            Layout::Long { .. } => long::read(opened.records, &columns, options, &mut complaints),
        };
        if let Some(long) = rows.long {
            complaints.line(header_line, Cause::LooksLong(long));
            continue;
        }
        ignored.found(&rows.dropped_items);
        // Whose rows they are is unknown, so that nothing can be said about ids that stand twice in a site.
        if known == Known::Name || (options.site.is_some() && columns.site.is_none()) {
            rows.blocks.clear();
        }
        files.push(FileItems {
            file: file.clone(),
            items: rows.first_lines.iter().map(|(item, _)| item.clone()).collect(),
            unselected: columns.unselected.iter().chain(&rows.unselected).cloned().collect(),
        });
        said.first_lines.push((file.clone(), std::mem::take(&mut rows.first_lines)));
        finish_file(rows, at, &mut complaints, &mut notes, &mut sites);
    }
    if !given {
        problems.add(Problem { file: None, line: None, column: None, cause: Cause::NoFiles });
    }
    ignored.complain(&mut problems);
    item_names::complain(options, &files, &mut problems);
    match sites.finish(options, &mut problems, &mut notes) {
        Ok(sites) => problems.unless_empty(Responses { sites, notes, said }),
        // Cells and weights are counted and checked above. Should a table still be refused, that is told.
        Err(error) => {
            problems.add(Problem {
                file: None,
                line: None,
                column: None,
                cause: Cause::Unreadable(error.to_string()),
            });
            Err(problems)
        }
    }
}

/// What the options say about items. Items with a key have its codes, whether or not they are in the codebook.
fn said_beforehand(options: &ReadOptions, problems: &mut Problems) -> Said {
    let selection = Selection::new(options);
    let mut codebook = options.codebook.clone();
    for keyed in &options.key {
        let Some(item) = codebook.iter_mut().flatten().find(|item| item.name == keyed.item) else { continue };
        if item.rule.is_some() {
            let (column, cause) = (Some(keyed.item.clone()), Cause::TwoRules);
            problems.add(Problem { file: None, line: None, column, cause });
        }
        item.categories = Some(keyed.rule.categories());
    }
    if let Some(items) = &mut codebook {
        items.retain(|item| selection.selects(&item.name));
    }
    let in_book = options.codebook.iter().flatten().filter_map(|item| {
        let rule = item.rule.clone().filter(|rule| rule.otherwise.is_some())?;
        Some(KeyedItem { item: item.name.clone(), rule })
    });
    Said {
        selected: !matches!(selection, Selection::All),
        codebook,
        keyed: options.key.iter().cloned().chain(in_book).collect(),
        first_lines: Vec::new(),
        labels: Vec::new(),
    }
}

/// What a file says about its columns: values that it declares missing are told, and so are weights that nobody asked for.
fn tell(
    facts: FileFacts,
    options: &ReadOptions,
    complaints: &mut Complaints<'_>,
    notes: &mut Vec<Note>,
    said: &mut Said,
) {
    if !facts.missing.is_empty() {
        add_note(notes, Some(complaints.file), NoteKind::DeclaredMissing(facts.missing));
    }
    if let Some(weight) =
        facts.weight.filter(|weight| options.weight.is_none() && !options.ignore.contains(weight))
    {
        complaints.column(&weight, Cause::DeclaredWeight);
    }
    let item_names = ItemNames::new(options);
    for mut labels in facts.labels {
        labels.column = item_names.item(&labels.column).into_owned();
        if !said.labels.iter().any(|known| known.column == labels.column) {
            said.labels.push(labels);
        }
    }
}

/// What holds for a whole file, once its rows are read.
fn finish_file(
    rows: FileRows,
    input: usize,
    complaints: &mut Complaints<'_>,
    notes: &mut Vec<Note>,
    sites: &mut Sites,
) {
    let file = complaints.file;
    if rows.rows == 0 {
        // Lines that were all refused are complained about already.
        if rows.refused == 0 {
            complaints.file(Cause::NoRows);
        }
    } else if rows.nothing_answered {
        complaints.file(Cause::NothingAnswered);
    } else {
        if !rows.empty_items.is_empty() {
            add_note(notes, Some(file), NoteKind::EmptyItems(rows.empty_items));
        }
        if rows.empty_rows.count > 0 {
            add_note(notes, Some(file), NoteKind::EmptyRows(rows.empty_rows));
        }
    }
    if !rows.unselected.is_empty() {
        add_note(notes, Some(file), NoteKind::NotSelected(rows.unselected));
    }
    if rows.blank.count > 0 {
        add_note(notes, Some(file), NoteKind::BlankLines(rows.blank));
    }
    if let Some(line) = rows.windows_1252 {
        add_note(notes, Some(file), NoteKind::Windows1252(line));
    }
    for (site, mut block) in rows.blocks {
        block.input = input;
        // A spelling of a missing site in R, and the code of Namibia: only a person can tell.
        if rows.site_column && site == "NA" {
            add_note(notes, Some(file), NoteKind::SiteCalledNa);
        }
        sites.add(site, block);
    }
}

/// The name of an input's site: the input's name without folder and extension.
pub(crate) fn site_of_file(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Inputs and site names that were given before.
#[derive(Default)]
struct SeenInputs {
    files: Vec<(PathBuf, String)>,
    names: Vec<(String, String)>,
}

/// What of an input was there before.
#[derive(PartialEq)]
enum Known {
    Nothing,
    /// The input itself: it must not be read again.
    Input,
    /// The name of its site. It is read nevertheless, to tell what else is wrong in the same run.
    Name,
}

impl SeenInputs {
    fn look(&mut self, input: &Input<'_>, options: &ReadOptions, complaints: &mut Complaints<'_>) -> Known {
        let full = input.identity.clone().unwrap_or_else(|| PathBuf::from(&input.name));
        if let Some((_, given)) = self.files.iter().find(|(other, _)| *other == full) {
            complaints.file(Cause::SameFileTwice((*given != input.name).then(|| given.clone())));
            return Known::Input;
        }
        self.files.push((full, input.name.clone()));
        if options.site.is_some() {
            return Known::Nothing;
        }
        let site = input.site();
        if let Some((_, first)) = self.names.iter().find(|(other, _)| *other == site) {
            complaints.file(Cause::SameSiteName { site, first: first.clone() });
            return Known::Name;
        }
        self.names.push((site, input.name.clone()));
        Known::Nothing
    }
}

/// Which of the names in `ReadOptions::ignore` some file has.
struct Ignored<'a> {
    unseen: Vec<&'a String>,
    /// Names in the files, to suggest from.
    names: Vec<String>,
}

impl<'a> Ignored<'a> {
    fn new(options: &'a ReadOptions) -> Self {
        Self { unseen: options.ignore.iter().collect(), names: Vec::new() }
    }

    fn found(&mut self, names: &[String]) {
        if self.unseen.is_empty() {
            return;
        }
        self.unseen.retain(|wanted| !names.contains(wanted));
        self.names.extend(names.iter().take(10_000).cloned());
    }

    fn complain(self, problems: &mut Problems) {
        // If no header could be read, other complaints say so.
        if self.names.is_empty() {
            return;
        }
        for wanted in self.unseen {
            let mut near = near_names(wanted, self.names.iter().map(String::as_str));
            near.dedup();
            let (column, cause) = (Some(wanted.clone()), Cause::UnknownIgnored(near));
            problems.add(Problem { file: None, line: None, column, cause });
        }
    }
}
