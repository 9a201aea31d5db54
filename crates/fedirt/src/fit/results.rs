//! The files of a run.

use crate::error::CliError;
use crate::transcript::Transcript;
use fedirt_data::files::{Fill, ResultFolder};
use fedirt_data::results::{csv, fit_json};
use fedirt_data::{ItemBank, ScoreOptions, SiteScores};
use fedirt_model::fit::Fit;
use fedirt_model::scoring::Method;
use fedirt_protocol::coordinator::Finished;
use fedirt_protocol::in_process::SiteAfter;
use std::path::Path;

/// What stands in the folder now.
#[derive(Debug)]
pub(super) struct Written {
    names: Vec<&'static str>,
    removed: Vec<&'static str>,
}

impl Written {
    /// For people.
    pub(super) fn sentence(&self, path: &Path) -> String {
        let mut text = format!("Written to {}: {}", path.display(), self.names.join(", "));
        if !self.removed.is_empty() {
            text.push_str(&format!("; removed, as of an earlier run: {}", self.removed.join(", ")));
        }
        text
    }
}

/// EAP scores of all students, each under the prior of its site.
pub(super) fn scores(
    fit: &Fit,
    sites: &[SiteAfter],
    ids: Vec<Option<Vec<String>>>,
) -> Result<Vec<SiteScores>, CliError> {
    let bank = ItemBank::new(fit)?;
    let names: Vec<String> = fit.items.iter().map(|item| item.name.clone()).collect();
    let options = ScoreOptions::default();
    let mut rows = 0;
    let mut out = Vec::new();
    for ((site, after), ids) in fit.sites.iter().zip(sites).zip(ids) {
        // Where effects are not published, the site knows its own.
        let effect = site.effect.or_else(|| after.place.and_then(|place| place.effect));
        let students = bank.score(&after.table, &names, effect.unwrap_or(0.0), &options, rows)?;
        rows += students.len();
        out.push(SiteScores { name: site.name.clone(), ids, students });
    }
    Ok(out)
}

/// Writes everything, `fit.json` last.
pub(super) fn write(
    folder: ResultFolder,
    finished: &Finished,
    scores: Option<Vec<SiteScores>>,
    transcript: Option<Transcript>,
) -> Result<Written, CliError> {
    let Finished { fit, covariance } = finished;
    let mut files: Vec<(&'static str, Fill<'_>)> = vec![
        ("items.csv", Box::new(|out| csv::items(out, fit))),
        ("sites.csv", Box::new(|out| csv::sites(out, &fit.sites))),
    ];
    if let Some(scores) = &scores {
        files.push(("scores.csv", Box::new(|out| csv::scores(out, Method::Eap, scores))));
    }
    files.push(("covariance.csv", Box::new(|out| csv::covariance(out, covariance))));
    files.push(("report.html", Box::new(|out| out.write_all(fedirt_figures::report(fit).as_bytes()))));
    if let Some(transcript) = transcript {
        files.push(("transcript.jsonl", Box::new(|out| transcript.copy_to(out))));
    }
    files.push(("fit.json", Box::new(|out| out.write_all(fit_json(fit)?.as_bytes()))));
    let names = files.iter().map(|(name, _)| *name).collect();
    let removed = folder.write(files)?;
    Ok(Written { names, removed })
}
