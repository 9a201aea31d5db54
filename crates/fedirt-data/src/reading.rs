//! Reading response files: the whole way from inputs to one table per site.

use std::fmt;
use std::path::{Path, PathBuf};

use fedirt_model::responses::ResponseTable;

use crate::assemble::Sites;
use crate::cause::Cause;
use crate::file_rows::FileRows;
use crate::header::{Layout, columns};
use crate::input::Input;
use crate::near::near_names;
use crate::notes::{Note, NoteKind, add_note};
use crate::opened::open;
use crate::options::ReadOptions;
use crate::problems::{Complaints, Problem, Problems};
use crate::selection::Selection;
use crate::{long, wide};

/// What was read: the sites in order of first appearance, and what is worth knowing.
#[derive(Debug, Clone)]
pub struct Responses {
    /// The sites.
    pub sites: Vec<SiteResponses>,
    /// What is worth knowing although nothing is wrong.
    pub notes: Vec<Note>,
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
    /// Category codes as they stand in the file, without any recode; weights where the options name a column of them.
    pub table: ResponseTable,
    /// The files that the rows come from, in order: the first source gives the first rows.
    pub sources: Vec<Source>,
}

/// A file that gives rows to a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name of the input.
    pub file: String,
    /// Rows that it gives to this site.
    pub rows: usize,
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
    let mut given = false;
    for input in inputs {
        given = true;
        let file = input.name.clone();
        let mut complaints = Complaints { file: &file, problems: &mut problems };
        let known = seen.look(&input, options, &mut complaints);
        if known == Known::Input {
            continue;
        }
        let Some(opened) = open(input, &mut complaints) else { continue };
        ignored.found(&opened.names);
        let columns = columns(opened.names, opened.header_line, options, &mut complaints, &mut notes);
        let mut rows = match columns.layout {
            Layout::Wide(_) => wide::read(opened.records, &columns, options, &mut complaints),
            Layout::Long { .. } => long::read(opened.records, &columns, options, &mut complaints),
        };
        ignored.found(&rows.dropped_items);
        // Whose rows they are is unknown, so that nothing can be said about ids that stand twice in a site.
        if known == Known::Name || (options.site.is_some() && columns.site.is_none()) {
            rows.blocks.clear();
        }
        finish_file(rows, &mut complaints, &mut notes, &mut sites);
    }
    if !given {
        problems.add(Problem { file: None, line: None, column: None, cause: Cause::NoFiles });
    }
    ignored.complain(&mut problems);
    complain_about_selection(options, &sites, &notes, &mut problems);
    match sites.finish(&mut problems, &mut notes) {
        Ok(sites) => problems.unless_empty(Responses { sites, notes }),
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

/// Complains about parts of the selection of items that select nothing in any file.
fn complain_about_selection(options: &ReadOptions, sites: &Sites, notes: &[Note], problems: &mut Problems) {
    let items: Vec<&str> = sites.items().collect();
    let left_out = notes.iter().filter_map(|note| match &note.kind {
        NoteKind::NotSelected(names) => Some(names),
        _ => None,
    });
    let left_out: Vec<&str> = left_out.flatten().map(String::as_str).collect();
    // If no header could be read, other complaints say so.
    if items.is_empty() && left_out.is_empty() {
        return;
    }
    for wanted in &options.items {
        let selection = Selection::new(std::slice::from_ref(wanted));
        if !items.iter().any(|item| selection.selects(item)) {
            let mut near = near_names(wanted, left_out.iter().copied());
            near.dedup();
            let (column, cause) = (Some(wanted.clone()), Cause::NothingSelected(near));
            problems.add(Problem { file: None, line: None, column, cause });
        }
    }
}

/// What holds for a whole file, once its rows are read.
fn finish_file(rows: FileRows, complaints: &mut Complaints<'_>, notes: &mut Vec<Note>, sites: &mut Sites) {
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
    for (site, block) in rows.blocks {
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
        let site = site_of_file(&input.name);
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
