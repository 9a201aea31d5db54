//! The files of a study's results: those of `fedirt fit`, without what only sites know.

use fedirt_data::files::{FileError, Fill, ResultFolder};
use fedirt_data::results::{csv, fit_json, recoded};
use fedirt_protocol::coordinator::Finished;
use std::path::Path;

/// Writes all files to a folder, `fit.json` last: where it stands, the results are complete.
pub fn write(path: &Path, finished: &Finished) -> Result<(), FileError> {
    let folder = ResultFolder::prepare(path)?;
    let mut fit = finished.fit.clone();
    fit.warnings.splice(0..0, recoded(&fit.items));
    let fit = &fit;
    let files: Vec<(&'static str, Fill<'_>)> = vec![
        ("items.csv", Box::new(|out| csv::items(out, fit))),
        ("sites.csv", Box::new(|out| csv::sites(out, &fit.sites))),
        ("covariance.csv", Box::new(|out| csv::covariance(out, &finished.covariance))),
        ("report.html", Box::new(|out| out.write_all(fedirt_figures::report(fit).as_bytes()))),
        ("fit.json", Box::new(|out| out.write_all(fit_json(fit)?.as_bytes()))),
    ];
    folder.write(files).map(drop)
}
