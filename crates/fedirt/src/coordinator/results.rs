//! The files of a study's results: those of `fedirt fit`, without what only sites know.

use crate::error::CliError;
use crate::output::folder::{Fill, Folder};
use crate::output::{csv, json};
use crate::remarks;
use fedirt_coordinator::ResultWriter;
use fedirt_protocol::coordinator::Finished;
use std::path::Path;

/// Writes the files of a finished study.
#[derive(Debug)]
pub(crate) struct Files;

impl ResultWriter for Files {
    fn write(&self, folder: &Path, finished: &Finished) -> Result<(), String> {
        write(folder, finished).map_err(|error| error.to_string())
    }
}

/// Writes everything, `fit.json` last.
pub(super) fn write(path: &Path, finished: &Finished) -> Result<(), CliError> {
    let folder = Folder::prepare(path)?;
    let mut fit = finished.fit.clone();
    fit.warnings.splice(0..0, remarks::recodes(&fit.items));
    let fit = &fit;
    let files: Vec<(&'static str, Fill<'_>)> = vec![
        ("items.csv", Box::new(|out| csv::items(out, fit))),
        ("sites.csv", Box::new(|out| csv::sites(out, &fit.sites))),
        ("covariance.csv", Box::new(|out| csv::covariance(out, &finished.covariance))),
        ("report.html", Box::new(|out| out.write_all(fedirt_figures::report(fit).as_bytes()))),
        ("fit.json", Box::new(|out| out.write_all(json::fit_json(fit)?.as_bytes()))),
    ];
    folder.write(files).map(drop)
}
