//! The chosen file, read and summarised for the check, the preview and the approval.

use super::{SiteStudy, aside};
use crate::PageError;
use fedirt_agent::{self as agent, AgentError, OwnResponses, StoreError};
use fedirt_data::{ColumnValues, Input, Problems, ReadOptions, Responses, SiteSummary};
use fedirt_figures::{ItemAnswers, MissingMap};
use fedirt_model::responses::MISSING;
use fedirt_protocol::plan::StudyPlan;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// Number of blocks of rows in the map of missing answers.
const BLOCKS: usize = 40;

/// The responses of a file, with summaries.
pub(super) struct Looked {
    pub(super) own: OwnResponses,
    pub(super) summary: SiteSummary,
    pub(super) items: Vec<ItemAnswers>,
    pub(super) missing: MissingMap,
    /// Students by sum score.
    pub(super) scores: Vec<u64>,
    /// SHA-256 of the file.
    pub(super) hash: String,
}

/// The names of a file's columns.
pub(super) fn column_names(file: &Path) -> Result<Vec<String>, Problems> {
    fedirt_data::column_names(Input::file(file))
}

/// The texts of a file's columns.
pub(super) fn column_values(file: &Path) -> Result<Vec<ColumnValues>, Problems> {
    fedirt_data::column_values(Input::file(file))
}

/// Reads the chosen file and matches it with the plan. The outer error is an error page, the inner one a problem with the file.
pub(super) async fn look(seen: &SiteStudy) -> Result<Result<Looked, AgentError>, PageError> {
    if seen.settings.file.is_none() {
        let text = "No file is chosen yet, or its copy was deleted when the study was over.";
        return Err(PageError::bad(text).leading(&super::at(&seen.study, "/file"), "Choose your file"));
    }
    let (settings, plan) = (seen.settings.clone(), seen.study.plan.clone());
    aside(move || {
        let options = agent::options_for_plan(&settings.options()?, &plan);
        let reading = fedirt_data::read(settings.files().iter().map(|file| Input::file(file)), &options)?;
        let hash = settings.file.as_deref().map_or_else(|| Ok(String::new()), file_hash)?;
        looked(reading, &options, &plan, hash)
    })
    .await
}

/// SHA-256 of a file.
pub(super) fn file_hash(path: &Path) -> Result<String, AgentError> {
    let wrong = |error| StoreError { location: path.display().to_string(), error };
    let mut file = std::fs::File::open(path).map_err(wrong)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        match file.read(&mut chunk).map_err(wrong)? {
            0 => break,
            length => hasher.update(&chunk[..length]),
        }
    }
    Ok(data_encoding::HEXLOWER.encode(&hasher.finalize()))
}

fn looked(
    reading: Responses,
    options: &ReadOptions,
    plan: &StudyPlan,
    hash: String,
) -> Result<Looked, AgentError> {
    let description = fedirt_data::describe(&reading);
    let summary = description.sites.into_iter().next();
    let own = agent::for_plan(reading, options, plan, |file| Some(Input::file(Path::new(file))))?;
    let summary = summary.ok_or_else(|| AgentError::Mismatch("the file has no rows".into()))?;
    let items = answers(&own, plan);
    let missing = missing_map(&own, plan);
    let scores = scores(&own, plan);
    Ok(Looked { own, summary, items, missing, scores, hash })
}

fn answers(own: &OwnResponses, plan: &StudyPlan) -> Vec<ItemAnswers> {
    let mut counts: Vec<[u64; 256]> = vec![[0; 256]; plan.items.len()];
    for row in own.table.rows() {
        row.iter().zip(&mut counts).for_each(|(code, counts)| counts[usize::from(*code)] += 1);
    }
    plan.items
        .iter()
        .zip(counts)
        .map(|(item, counts)| ItemAnswers {
            name: item.name.clone(),
            counts: item.categories.iter().map(|code| (*code, counts[usize::from(*code)])).collect(),
            missing: counts[usize::from(MISSING)],
        })
        .collect()
}

fn missing_map(own: &OwnResponses, plan: &StudyPlan) -> MissingMap {
    let rows = own.table.students();
    let number = BLOCKS.min(rows.max(1));
    let blocks: Vec<(usize, usize)> =
        (0..number).map(|b| (b * rows / number + 1, (b + 1) * rows / number)).collect();
    let mut shares = vec![vec![0.0; number]; plan.items.len()];
    let mut block = 0;
    for (at, row) in own.table.rows().enumerate() {
        while at >= blocks[block].1 {
            block += 1;
        }
        let each = 1.0 / (blocks[block].1 + 1 - blocks[block].0) as f64;
        for (code, shares) in row.iter().zip(&mut shares) {
            if *code == MISSING {
                shares[block] += each;
            }
        }
    }
    MissingMap { items: plan.items.iter().map(|item| item.name.clone()).collect(), blocks, shares }
}

/// Students by sum score; those without an answer are left out.
fn scores(own: &OwnResponses, plan: &StudyPlan) -> Vec<u64> {
    let highest: usize = plan.items.iter().map(|item| item.categories.len().saturating_sub(1)).sum();
    let mut counts = vec![0; highest + 1];
    for row in own.table.rows() {
        let answered = row.iter().zip(&plan.items).filter(|(code, _)| **code != MISSING);
        let places = answered.map(|(code, item)| item.categories.iter().position(|c| c == code).unwrap_or(0));
        let (n, sum) = places.fold((0, 0), |(n, sum), place| (n + 1, sum + place));
        if n > 0 {
            counts[sum] += 1;
        }
    }
    counts
}
