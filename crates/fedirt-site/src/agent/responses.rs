//! A site's own files against the plan's codebook: one table, a column for each item of the plan.

use super::AgentError;
use crate::cells::CellReader;
use crate::header::{Layout, columns};
use crate::near::near_names;
use crate::problems::{Complaints, Problems};
use crate::text::argument;
use crate::{ReadOptions, SiteResponses, open};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_privacy::ledger::row_fingerprint;
use fedirt_protocol::plan::StudyPlan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Lines that are named for one item and code.
const NAMED: usize = 5;

/// The answers of this site's students to the plan's items.
#[derive(Debug)]
pub struct OwnResponses {
    /// A column for each item of the plan.
    pub table: ResponseTable,
    /// The id of each row, where the files have them.
    pub ids: Option<Vec<String>>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Reads files for a plan: items are matched by name, codes must be the codebook's.
pub fn read_for_plan(
    files: &[PathBuf],
    options: &ReadOptions,
    plan: &StudyPlan,
) -> Result<OwnResponses, AgentError> {
    let reading = crate::read(files, options)?;
    let mut notes: Vec<String> = reading.notes.iter().map(ToString::to_string).collect();
    let mut problems = Vec::new();
    for site in &reading.sites {
        complain_about_columns(site, plan, &mut problems);
        complain_about_codes(site, plan, options, &mut problems);
    }
    let given: BTreeSet<&str> =
        reading.sites.iter().flat_map(|s| s.items.iter().map(String::as_str)).collect();
    let absent: Vec<&str> =
        plan.items.iter().map(|i| i.name.as_str()).filter(|name| !given.contains(name)).collect();
    if absent.len() == plan.items.len() && problems.is_empty() {
        problems.push("none of the plan's items is a column of the files; items are matched by name".into());
    }
    if !problems.is_empty() {
        return Err(AgentError::Columns(problems));
    }
    if !absent.is_empty() {
        notes.push(format!(
            "not in the files, so that this site gives no answers to them: {}",
            absent.join(", ")
        ));
    }
    join(reading.sites, plan, notes)
}

fn named_files(site: &SiteResponses) -> String {
    let names: Vec<String> = site.sources.iter().map(|s| s.file.display().to_string()).collect();
    names.join(", ")
}

fn complain_about_columns(site: &SiteResponses, plan: &StudyPlan, problems: &mut Vec<String>) {
    for name in site.items.iter().filter(|name| plan.items.iter().all(|item| item.name != **name)) {
        let near = near_names(name, plan.items.iter().map(|item| item.name.as_str()));
        let hint = match near.as_slice() {
            [] => String::new(),
            near => format!(" (is it the plan's {}? Then rename the column)", near.join(" or ")),
        };
        problems.push(format!(
            "{}, column {name}: the plan has no such item{hint}. Leave it out with --ignore {}",
            named_files(site),
            argument(name)
        ));
    }
}

fn complain_about_codes(
    site: &SiteResponses,
    plan: &StudyPlan,
    options: &ReadOptions,
    problems: &mut Vec<String>,
) {
    // Item and code, in the order of the plan.
    let mut strange: BTreeMap<(usize, u8), u64> = BTreeMap::new();
    for (column, name) in site.items.iter().enumerate() {
        let Some(at) = plan.items.iter().position(|item| item.name == *name) else { continue };
        for row in site.table.rows() {
            let code = row[column];
            if code != MISSING && !plan.items[at].categories.contains(&code) {
                *strange.entry((at, code)).or_default() += 1;
            }
        }
    }
    for ((at, code), count) in strange {
        let item = &plan.items[at];
        let lines = places(site, &item.name, code, options);
        let codes: Vec<String> = item.categories.iter().map(ToString::to_string).collect();
        problems.push(format!(
            "{lines}, column {}: code {code} ({count} time{}) is not in the plan's codebook ({}). Correct the file, or declare the code missing with --missing {code}",
            item.name,
            if count == 1 { "" } else { "s" },
            codes.join(", ")
        ));
    }
}

/// Files and lines in which an item has a code.
fn places(site: &SiteResponses, item: &str, code: u8, options: &ReadOptions) -> String {
    let mut out = Vec::new();
    for source in &site.sources {
        let lines = lines_with(&source.file, item, code, options);
        if lines.is_empty() {
            continue;
        }
        let some: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if lines.len() > NAMED { ", …" } else { "" };
        let word = if lines.len() == 1 { "line" } else { "lines" };
        out.push(format!("{}, {word} {}{more}", source.file.display(), some.join(", ")));
    }
    if out.is_empty() { named_files(site) } else { out.join("; ") }
}

/// The lines of a file in which an item has a code: found by reading it again, as this happens to bad files only.
fn lines_with(file: &Path, item: &str, code: u8, options: &ReadOptions) -> Vec<u64> {
    let (mut problems, mut notes, mut lines) = (Problems::default(), Vec::new(), Vec::new());
    let mut complaints = Complaints { file, problems: &mut problems };
    let Some(opened) = open::open(file, &mut complaints) else { return lines };
    let columns = columns(opened.names, opened.header_line, options, &mut complaints, &mut notes);
    let reader = CellReader::new(&options.missing);
    let mut records = opened.records;
    while let Ok(Some(fields)) = records.next() {
        if fields.len() != columns.names.len() {
            continue;
        }
        let cell = match &columns.layout {
            Layout::Wide(items) => items.iter().find(|c| columns.names[**c] == item).map(|c| fields.get(*c)),
            Layout::Long { item: name, response } => {
                (fields.get(*name).trim_ascii() == item.as_bytes()).then(|| fields.get(*response))
            }
        };
        if cell.is_some_and(|cell| reader.read(cell) == Ok(code)) {
            lines.push(fields.line);
            if lines.len() > NAMED {
                break;
            }
        }
    }
    lines
}

/// All files as one table with the plan's columns.
fn join(sites: Vec<SiteResponses>, plan: &StudyPlan, notes: Vec<String>) -> Result<OwnResponses, AgentError> {
    let columns = plan.items.len();
    let (mut cells, mut weights, mut ids, mut rows) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for site in sites {
        let places: Vec<Option<usize>> =
            plan.items.iter().map(|p| site.items.iter().position(|name| *name == p.name)).collect();
        cells.reserve(site.table.students() * columns);
        for row in site.table.rows() {
            cells.extend(places.iter().map(|place| place.map_or(MISSING, |at| row[at])));
        }
        rows += site.table.students();
        weights.extend(site.table.weights().unwrap_or_default());
        ids.extend(site.ids.unwrap_or_default());
    }
    let unique: BTreeSet<&String> = ids.iter().collect();
    if unique.len() < ids.len() {
        let twice = ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id)).map(|(_, id)| id.clone());
        return Err(AgentError::Columns(vec![format!(
            "the id {} stands in two of the files; a student counts once. Take one of them out",
            twice.unwrap_or_default()
        )]));
    }
    let wrong = |error: fedirt_model::responses::TableError| AgentError::Columns(vec![error.to_string()]);
    let mut table = ResponseTable::new(rows, columns, cells).map_err(wrong)?;
    if !weights.is_empty() {
        table = table.with_weights(weights).map_err(wrong)?;
    }
    let ids = (rows > 0 && ids.len() == rows).then_some(ids);
    Ok(OwnResponses { table, ids, notes })
}

impl OwnResponses {
    /// A salted fingerprint of each row, sorted: whether rows changed between studies, and nothing else. Columns stand
    /// in the order of their names, so that another order in another plan is no change.
    pub(super) fn fingerprints(&self, plan: &StudyPlan, salt: &[u8; 32]) -> Vec<u64> {
        let mut order: Vec<usize> = (0..plan.items.len()).collect();
        order.sort_by(|a, b| plan.items[*a].name.cmp(&plan.items[*b].name));
        let mut bytes = Vec::new();
        let mut prints: Vec<u64> = self
            .table
            .rows()
            .enumerate()
            .map(|(at, row)| {
                bytes.clear();
                if let Some(ids) = &self.ids {
                    bytes.extend_from_slice(ids[at].as_bytes());
                }
                bytes.push(0);
                if let Some(weights) = self.table.weights() {
                    bytes.extend_from_slice(&weights[at].to_le_bytes());
                }
                bytes.extend(order.iter().map(|column| row[*column]));
                row_fingerprint(salt, &bytes)
            })
            .collect();
        prints.sort_unstable();
        prints
    }
}
