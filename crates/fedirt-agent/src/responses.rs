//! A site's own files against the plan's codebook: one table, a column for each item of the plan.

use super::AgentError;
use fedirt_data::{
    Audience, Input, Note, NoteKind, ReadOption, ReadOptions, Responses, SiteResponses, UndeclaredCode,
    near_names, questions, undeclared_codes, with_merged,
};
use fedirt_model::responses::{MISSING, ResponseTable, TableError};
use fedirt_privacy::ledger::{Students, row_fingerprint};
use fedirt_protocol::plan::{PlanItem, StudyPlan};
use fedirt_protocol::policy::Policy;
use std::collections::BTreeSet;
#[cfg(feature = "files")]
use std::path::PathBuf;

/// The answers of this site's students to the plan's items.
#[derive(Debug, Clone)]
pub struct OwnResponses {
    /// A column for each item of the plan, with the codes that the plan merges merged.
    pub table: ResponseTable,
    /// The same with the codes of the files, by which students are known in all studies, where the plan merges any.
    unmerged: Option<ResponseTable>,
    /// The id of each row, where the files have them.
    pub ids: Option<Vec<String>>,
    /// What the reader of the files noted.
    notes: Vec<Note>,
    /// Items of the plan that are no column of the files.
    absent: Vec<String>,
}

/// How files do not fit a plan.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanMismatch {
    /// A column is no item of the plan, and has nearly the name of an item that the files lack.
    UnknownItem {
        /// The files that have it.
        files: Vec<String>,
        /// The column.
        column: String,
        /// Items of the plan that may have been meant.
        near: Vec<String>,
    },
    /// An item has a code that is not in the plan's codebook.
    UndeclaredCode(UndeclaredCode),
    /// No column is an item of the plan.
    NoItems,
    /// The plan compares groups, and no column of the files was named for them.
    NoGroups {
        /// What the plan asks about each student.
        question: String,
        /// The groups of the plan.
        names: Vec<String>,
    },
    /// No student is in any of the plan's groups.
    OtherGroups {
        /// The groups of the plan.
        names: Vec<String>,
        /// What the column holds.
        found: Vec<String>,
    },
    /// Two of the files have a row with this id.
    DuplicateId(String),
    /// The rows do not make a table.
    Table(TableError),
}

impl PlanMismatch {
    /// What is wrong and what would help, for somebody.
    pub fn told(&self, audience: Audience) -> String {
        match self {
            Self::UnknownItem { files, column, near } => {
                format!(
                    "{}, column {column}: the plan has no such item. If it is the plan's {}, say so in {}; if not, leave it out with {}",
                    files.join(", "),
                    near.join(" or "),
                    audience.table(ReadOption::Map, "name, item"),
                    audience.with(ReadOption::Ignore, column)
                )
            }
            Self::UndeclaredCode(found) => {
                let codes: Vec<String> = found.declared.iter().map(ToString::to_string).collect();
                format!(
                    "{found} is not in the plan's codebook ({}). Correct the file, or declare the code missing with {}",
                    codes.join(", "),
                    audience.with(ReadOption::Missing, &found.code.to_string())
                )
            }
            Self::NoItems => {
                "none of the plan's items is a column of the files; items are matched by name".to_owned()
            }
            Self::NoGroups { question, names } => format!(
                "the plan compares groups of students ({}; {question}): say which column of the files has them with {}",
                names.join(", "),
                audience.with(ReadOption::Group, "COLUMN")
            ),
            Self::OtherGroups { names, found } => format!(
                "no student is in a group of the plan ({}): the column has {}. Write the groups as the plan does",
                names.join(", "),
                if found.is_empty() { "no values".to_owned() } else { found.join(", ") }
            ),
            Self::DuplicateId(id) => {
                format!("the id {id} stands in two of the files; a student counts once. Take one of them out")
            }
            Self::Table(error) => error.to_string(),
        }
    }
}

#[cfg(feature = "files")]
/// Reads files for a plan: items are matched by name, codes must be the codebook's.
pub fn read_for_plan(
    files: &[PathBuf],
    options: &ReadOptions,
    plan: &StudyPlan,
) -> Result<OwnResponses, AgentError> {
    let options = options_for_plan(options, plan);
    let reading = fedirt_data::read(files.iter().map(|file| Input::file(file)), &options)?;
    for_plan(reading, &options, plan, |file| Some(Input::file(std::path::Path::new(file))))
}

/// Options that select the plan's items, as a codebook does: other columns are left out and named, and names that differ from
/// an item's only in spelling are questions. What the caller says about items stays.
pub fn options_for_plan(options: &ReadOptions, plan: &StudyPlan) -> ReadOptions {
    let item = |planned: &PlanItem| {
        let mut codes = planned.categories.clone();
        codes.extend(planned.merged.iter().map(|merged| merged.code));
        codes.sort_unstable();
        (planned.name.clone(), codes)
    };
    options.selecting(plan.items.iter().map(item))
}

/// What was read with [`options_for_plan`], against a plan. `open` opens a file once more by its name, to find the lines of codes that are not in the
/// codebook; without lines the codes are named all the same.
pub fn for_plan<'a>(
    mut reading: Responses,
    options: &ReadOptions,
    plan: &StudyPlan,
    open: impl Fn(&str) -> Option<Input<'a>>,
) -> Result<OwnResponses, AgentError> {
    let planned: Vec<&str> = plan.items.iter().map(|item| item.name.as_str()).collect();
    // What the officer alone knows, such as whether a 9 among A–D is an option, is asked here, before anything is sent.
    let asked = questions(&reading, &planned)?;
    reading.notes.extend(asked);
    let mut problems = complain_about_columns(&reading, plan);
    for site in &reading.sites {
        complain_about_codes(site, plan, options, &open, &mut problems);
    }
    let given: BTreeSet<&str> =
        reading.sites.iter().flat_map(|s| s.items.iter().map(String::as_str)).collect();
    let absent: Vec<String> =
        plan.items.iter().map(|i| i.name.clone()).filter(|name| !given.contains(name.as_str())).collect();
    if absent.len() == plan.items.len() && problems.is_empty() {
        problems.push(PlanMismatch::NoItems);
    }
    complain_about_groups(&reading, plan, &mut problems);
    if !problems.is_empty() {
        return Err(AgentError::Columns(problems));
    }
    join(reading, plan, absent)
}

/// Columns that the plan does not select, but that have nearly the name of an item that no file has.
fn complain_about_columns(reading: &Responses, plan: &StudyPlan) -> Vec<PlanMismatch> {
    let has = |name: &str| reading.sites.iter().any(|site| site.items.iter().any(|item| item == name));
    let absent: Vec<&str> =
        plan.items.iter().map(|item| item.name.as_str()).filter(|name| !has(name)).collect();
    let mut problems = Vec::new();
    for note in &reading.notes {
        let NoteKind::NotSelected(columns) = &note.kind else { continue };
        for column in columns {
            let near = near_names(column, absent.iter().copied());
            if !near.is_empty() {
                let (files, column) = (note.files.clone(), column.clone());
                problems.push(PlanMismatch::UnknownItem { files, column, near });
            }
        }
    }
    problems
}

/// Most values of a column of groups that a message names.
const SHOWN_GROUPS: usize = 5;

fn complain_about_groups(reading: &Responses, plan: &StudyPlan, problems: &mut Vec<PlanMismatch>) {
    let Some(groups) = &plan.groups else { return };
    if reading.sites.iter().any(|site| site.groups.is_none()) {
        let (question, names) = (groups.question.clone(), groups.names.clone());
        return problems.push(PlanMismatch::NoGroups { question, names });
    }
    let found: BTreeSet<&String> = reading
        .sites
        .iter()
        .flat_map(|site| site.groups.iter().flatten())
        .filter(|g| !g.is_empty())
        .collect();
    if groups.names.iter().all(|name| !found.contains(name)) {
        let found = found.into_iter().take(SHOWN_GROUPS).cloned().collect();
        problems.push(PlanMismatch::OtherGroups { names: groups.names.clone(), found });
    }
}

fn complain_about_codes<'a>(
    site: &SiteResponses,
    plan: &StudyPlan,
    options: &ReadOptions,
    open: impl Fn(&str) -> Option<Input<'a>>,
    problems: &mut Vec<PlanMismatch>,
) {
    let planned =
        |name: &str| plan.items.iter().find(|item| item.name == name).map(|item| item.categories.as_slice());
    let merged = |found: &UndeclaredCode| {
        let item = plan.items.iter().find(|item| item.name == found.item);
        item.is_some_and(|item| item.merged.iter().any(|merged| merged.code == found.code))
    };
    for mut found in undeclared_codes(site, planned) {
        if merged(&found) {
            continue;
        }
        found.locate(options, &open);
        problems.push(PlanMismatch::UndeclaredCode(found));
    }
}

/// All files as one table with the plan's columns.
fn join(reading: Responses, plan: &StudyPlan, absent: Vec<String>) -> Result<OwnResponses, AgentError> {
    let columns = plan.items.len();
    let (mut cells, mut weights, mut ids, mut rows) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut groups = Vec::new();
    for site in reading.sites {
        let places: Vec<Option<usize>> =
            plan.items.iter().map(|p| site.items.iter().position(|name| *name == p.name)).collect();
        cells.reserve(site.table.students() * columns);
        for row in site.table.rows() {
            cells.extend(places.iter().map(|place| place.map_or(MISSING, |at| row[at])));
        }
        rows += site.table.students();
        weights.extend(site.table.weights().unwrap_or_default());
        if let (Some(planned), Some(labels)) = (&plan.groups, &site.groups) {
            let code = |label: &String| planned.names.iter().position(|name| name == label);
            groups
                .extend(labels.iter().map(|l| code(l).and_then(|g| u8::try_from(g).ok()).unwrap_or(MISSING)));
        }
        ids.extend(site.ids.unwrap_or_default());
    }
    let unique: BTreeSet<&String> = ids.iter().collect();
    if unique.len() < ids.len() {
        let twice = ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id)).map(|(_, id)| id.clone());
        return Err(AgentError::Columns(vec![PlanMismatch::DuplicateId(twice.unwrap_or_default())]));
    }
    let wrong = |error: TableError| AgentError::Columns(vec![PlanMismatch::Table(error)]);
    let mut table = ResponseTable::new(rows, columns, cells).map_err(wrong)?;
    if !weights.is_empty() {
        table = table.with_weights(weights).map_err(wrong)?;
    }
    if plan.groups.is_some() {
        table = table.with_groups(groups).map_err(wrong)?;
    }
    let ids = (rows > 0 && ids.len() == rows).then_some(ids);
    let mut unmerged = None;
    if plan.items.iter().any(|item| !item.merged.is_empty()) {
        let merged =
            with_merged(&table, plan.items.iter().map(|item| item.merged.as_slice())).map_err(wrong)?;
        unmerged = Some(std::mem::replace(&mut table, merged));
    }
    Ok(OwnResponses { table, unmerged, ids, notes: reading.notes, absent })
}

impl OwnResponses {
    /// What is worth knowing about the files, for somebody.
    pub fn remarks(&self, audience: Audience) -> Vec<String> {
        let mut remarks: Vec<String> = self.notes.iter().map(|note| note.told(audience)).collect();
        if !self.absent.is_empty() {
            let names = self.absent.join(", ");
            remarks.push(format!("not in the files, so that this site gives no answers to them: {names}"));
        }
        let none = self.table.groups().map_or(0, |groups| groups.iter().filter(|g| **g == MISSING).count());
        if none > 0 {
            remarks.push(format!("{none} rows are in no group of the plan, and are left out of all sums"));
        }
        remarks
    }

    /// The same answers without groups that the site's policy holds to be too rare.
    #[must_use]
    pub fn with_open_groups(&self, policy: &Policy) -> Self {
        Self { table: policy.with_open_groups(self.table.clone()), ..self.clone() }
    }

    /// The answers as they stand in the files.
    fn as_read(&self) -> &ResponseTable {
        self.unmerged.as_ref().unwrap_or(&self.table)
    }

    /// A salted fingerprint of each row, sorted: whether rows changed between studies, and nothing else. Columns stand
    /// in the order of their names, so that another order in another plan is no change.
    pub(super) fn fingerprints(&self, plan: &StudyPlan, salt: &[u8; 32]) -> Vec<u64> {
        let mut order: Vec<usize> = (0..plan.items.len()).collect();
        order.sort_by(|a, b| plan.items[*a].name.cmp(&plan.items[*b].name));
        let mut bytes = Vec::new();
        let mut prints: Vec<u64> = self
            .as_read()
            .rows()
            .enumerate()
            .filter(|(at, _)| self.table.counts(*at))
            .map(|(at, row)| {
                bytes.clear();
                if let Some(ids) = &self.ids {
                    bytes.extend_from_slice(ids[at].as_bytes());
                }
                bytes.push(0);
                if let Some(weights) = self.table.weights() {
                    bytes.extend_from_slice(&weights[at].to_le_bytes());
                }
                // A student who changes groups changes the sums of both.
                bytes.extend(self.table.groups().map(|groups| groups[at]));
                bytes.extend(order.iter().map(|column| row[*column]));
                row_fingerprint(salt, &bytes)
            })
            .collect();
        prints.sort_unstable();
        prints
    }

    /// The students who count, as the ledger compares them, whatever the items of a study: by id, and by how often each answer was
    /// given to each item and, where there are ids, by whom. One column says how many students there are, one how often each
    /// weight occurs, and one the sizes of groups.
    pub(super) fn students(&self, plan: &StudyPlan, salt: &[u8; 32]) -> Students {
        let print = |kind: &str, parts: [&[u8]; 2]| {
            row_fingerprint(salt, &[kind.as_bytes(), b"\0", parts[0], b"\0", parts[1]].concat())
        };
        let items: Vec<u64> =
            plan.items.iter().map(|item| print("item", [item.name.as_bytes(), b""])).collect();
        let (student, weight, group) =
            (print("student", [b"", b""]), print("weights", [b"", b""]), print("groups", [b"", b""]));
        let (mut ids, mut cells, mut who) = (Vec::new(), Vec::new(), Vec::new());
        for (at, row) in self.as_read().rows().enumerate().filter(|(at, _)| self.table.counts(*at)) {
            let from = cells.len();
            let given = items.iter().zip(row).filter(|(_, code)| **code != MISSING);
            cells.extend(given.map(|(item, code)| (*item, print("answer", [&item.to_le_bytes(), &[*code]]))));
            // Everybody has a weight, so that a plan with weights is compared with one without.
            let own = self.table.weights().map_or(1.0, |weights| weights[at]);
            cells.push((weight, print("weight", [&own.to_le_bytes(), b""])));
            cells.extend(self.table.groups().map(|groups| (group, print("group", [&[groups[at]], b""]))));
            cells.push((student, 0));
            if let Some(id) = self.ids.as_ref().map(|ids| ids[at].as_bytes()) {
                ids.push(print("id", [id, b""]));
                who.extend(
                    cells[from..]
                        .iter()
                        .map(|(column, value)| (*column, print("who", [&value.to_le_bytes(), id]))),
                );
            }
        }
        Students::new(ids, cells).with_who(who)
    }
}
