//! A cache of the fits of finished studies.

use super::{CoordinatorState, CoordinatorStudy};
use crate::PageError;
use fedirt_coordinator::status::Ending;
use fedirt_model::fit::Fit;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

type Known = BTreeMap<String, (SystemTime, u64, Arc<Fit>)>;

/// The fits that were read, by study, with the modification time and length of their files.
#[derive(Debug, Default)]
pub(crate) struct Fits(Mutex<Known>);

impl Fits {
    fn read(&self, study: &str, path: &Path) -> Option<Arc<Fit>> {
        let about = std::fs::metadata(path).ok()?;
        let (changed, length) = (about.modified().ok()?, about.len());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, size, fit)) = known.get(study)
            && (*at, *size) == (changed, length)
        {
            return Some(fit.clone());
        }
        let fit: Arc<Fit> = Arc::new(serde_json::from_slice(&std::fs::read(path).ok()?).ok()?);
        known.insert(study.to_owned(), (changed, length, fit.clone()));
        Some(fit)
    }
}

impl CoordinatorState {
    /// The fit of a study that has one.
    pub(crate) fn fit(&self, name: &str) -> Option<Arc<Fit>> {
        self.fits.read(name, &self.folder.results_of(name).join("fit.json"))
    }

    /// The fit of a study, or a page that says why there is none.
    pub(crate) fn needs_fit(&self, seen: &CoordinatorStudy) -> Result<Arc<Fit>, PageError> {
        let name = seen.study.name.as_str();
        self.fit(name).ok_or_else(|| {
            PageError::not_found(why_none(seen))
                .leading(&format!("/studies/{name}"), "Show the state of the study")
        })
    }
}

/// Why a study has no results.
pub(super) fn why_none(seen: &CoordinatorStudy) -> String {
    match &seen.status.outcome {
        Some(Ending::Ended { reason }) => format!("The study ended without results: {reason}"),
        Some(Ending::Finished { .. }) | None => {
            "The study has no results yet. They appear when its last round is over.".to_owned()
        }
    }
}
