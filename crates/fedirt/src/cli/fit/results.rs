//! The output files of `fedirt fit`.

use super::origin;
use crate::error::CliError;
use fedirt::results::{csv, fit_json, workbook};
use fedirt::{Calibration, Scores, Transcript, report};
use fedirt_data::files::{Fill, ResultFolder};
use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError, Seek};
use std::path::Path;

/// The files that were written and removed.
#[derive(Debug)]
pub(super) struct Written {
    names: Vec<&'static str>,
    removed: Vec<&'static str>,
}

impl Written {
    /// The files in a sentence.
    pub(super) fn sentence(&self, path: &Path) -> String {
        let mut text = format!("Written to {}: {}", path.display(), self.names.join(", "));
        if !self.removed.is_empty() {
            text.push_str(&format!("; removed files of an earlier run: {}", self.removed.join(", ")));
        }
        text
    }
}

/// Writes all files, `fit.json` last.
pub(super) fn write(
    folder: ResultFolder,
    calibration: &Calibration,
    scores: Option<&Scores>,
    transcript: Option<Transcript<BufWriter<File>>>,
) -> Result<Written, CliError> {
    let Calibration { fit, covariance, .. } = calibration;
    let mut files: Vec<(&'static str, Fill<'_>)> = vec![
        ("items.csv", Box::new(|out| csv::items(out, fit))),
        ("sites.csv", Box::new(|out| csv::sites(out, &fit.sites))),
    ];
    if let Some(scores) = scores {
        files.push(("scores.csv", Box::new(|out| csv::scores(out, scores))));
    }
    files.push(("covariance.csv", Box::new(|out| csv::covariance(out, covariance))));
    let diagnostics = fit.diagnostics.as_ref();
    if let Some(items) = diagnostics.and_then(|d| d.item_fit.as_ref()) {
        files.push(("diagnostics/items.csv", Box::new(|out| csv::item_fit(out, items))));
    }
    if let Some(q3) = diagnostics.and_then(|d| d.q3.as_ref()) {
        files.push(("diagnostics/pairs.csv", Box::new(|out| csv::pairs(out, q3))));
    }
    if let Some(found) = diagnostics.and_then(|d| d.dimensionality.as_ref()) {
        files.push(("diagnostics/dimensions.csv", Box::new(|out| csv::dimensions(out, found))));
    }
    if let Some(check) = diagnostics.and_then(|d| d.latent.as_ref()) {
        files.push(("diagnostics/ability.csv", Box::new(|out| csv::latent(out, check))));
    }
    if let Some(sites) = diagnostics.and_then(|d| d.influence.as_ref()?.sites.as_deref()) {
        files.push(("diagnostics/sites.csv", Box::new(|out| csv::influence(out, sites))));
    }
    if let Some(rows) = diagnostics.and_then(|d| d.dif.as_ref()) {
        files.push(("diagnostics/dif.csv", Box::new(|out| csv::dif(out, rows))));
    }
    if let Some(rows) = diagnostics.and_then(|d| d.site_heterogeneity.as_ref()) {
        files
            .push(("diagnostics/site_heterogeneity.csv", Box::new(|out| csv::site_heterogeneity(out, rows))));
    }
    if let Some(rows) = diagnostics.and_then(|d| d.score_table.as_ref()) {
        files.push(("score_table.csv", Box::new(|out| csv::score_table(out, rows))));
    }
    let book = workbook(fit, &[]).map_err(CliError::because)?;
    files.push(("fit.xlsx", Box::new(move |out| out.write_all(&book))));
    if let Some(script) = origin::script(fit, folder.path()) {
        files.push(("repeat.sh", Box::new(move |out| out.write_all(script.as_bytes()))));
    }
    files.push(("report.html", Box::new(|out| out.write_all(report(fit).as_bytes()))));
    if let Some(transcript) = transcript {
        files.push((
            "transcript.jsonl",
            Box::new(|out| {
                let mut scratch = transcript.finish()?.into_inner().map_err(IntoInnerError::into_error)?;
                scratch.rewind()?;
                io::copy(&mut scratch, out).map(drop)
            }),
        ));
    }
    files.push(("fit.json", Box::new(|out| out.write_all(fit_json(fit)?.as_bytes()))));
    let names = files.iter().map(|(name, _)| *name).collect();
    let removed = folder.write(files)?;
    Ok(Written { names, removed })
}
