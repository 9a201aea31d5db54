//! A site's own files against the plan's codebook: one table, a column for each item of the plan.

use super::AgentError;
use crate::near::near_names;
use crate::strange_codes::{named_files, strange_codes};
use crate::text::argument;
use crate::{ReadOptions, Reading, SiteResponses};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_privacy::ledger::row_fingerprint;
use fedirt_protocol::plan::StudyPlan;
use std::collections::BTreeSet;
use std::path::PathBuf;

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
    for_plan(crate::read(files, options)?, options, plan)
}

/// What was read, against a plan.
pub(crate) fn for_plan(
    reading: Reading,
    options: &ReadOptions,
    plan: &StudyPlan,
) -> Result<OwnResponses, AgentError> {
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
    let planned =
        |name: &str| plan.items.iter().find(|item| item.name == name).map(|item| item.categories.as_slice());
    for strange in strange_codes(site, options, planned) {
        let codes: Vec<String> =
            planned(&strange.item).unwrap_or_default().iter().map(ToString::to_string).collect();
        problems.push(format!(
            "{strange} is not in the plan's codebook ({}). Correct the file, or declare the code missing with --missing {}",
            codes.join(", "),
            strange.code
        ));
    }
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
