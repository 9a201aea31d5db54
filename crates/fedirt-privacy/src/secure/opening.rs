//! Opening the sum: when the whole cohort has uploaded, and not before.

use super::cohort::BoundCohort;
use super::name::{SiteId, list};
use super::upload::{Upload, UploadError};
use crate::fixed_point::add;
use std::collections::{BTreeMap, BTreeSet};

/// Why the sum stays closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// An upload is refused.
    #[error(transparent)]
    Upload(#[from] UploadError),
    /// A site signed two different vectors in one attempt, which an honest site never does.
    #[error("{site} sent two different answers in one attempt")]
    TwoAnswers {
        /// Site.
        site: SiteId,
    },
    /// Not everybody has uploaded.
    #[error("the sum opens when everybody has answered; still missing: {}", list(missing))]
    Missing {
        /// Who is missing.
        missing: BTreeSet<SiteId>,
    },
}

/// A sum that is being collected. Before everybody has uploaded, what it holds is noise, and there is no way
/// to read it.
pub struct Opening<'a> {
    cohort: &'a BoundCohort,
    total: Vec<u64>,
    hashes: BTreeMap<SiteId, [u8; 32]>,
}

impl<'a> Opening<'a> {
    /// Starts a sum of vectors of a length.
    pub fn new(cohort: &'a BoundCohort, length: usize) -> Self {
        Self { cohort, total: vec![0; length], hashes: BTreeMap::new() }
    }

    /// Verifies an upload and adds it. The same upload again changes nothing; a refused one neither.
    pub fn add(&mut self, upload: &Upload) -> Result<(), OpenError> {
        let hash = upload.verify(self.cohort, self.total.len())?;
        match self.hashes.get(upload.site()) {
            Some(known) if *known == hash => Ok(()),
            Some(_) => Err(OpenError::TwoAnswers { site: upload.site().clone() }),
            None => {
                add(&mut self.total, upload.words());
                self.hashes.insert(upload.site().clone(), hash);
                Ok(())
            }
        }
    }

    /// Who has not uploaded.
    pub fn missing(&self) -> BTreeSet<SiteId> {
        let members = self.cohort.cohort().members();
        members.keys().filter(|s| !self.hashes.contains_key(*s)).cloned().collect()
    }

    /// The sum modulo 2⁶⁴, if nobody is missing.
    pub fn finish(self) -> Result<Vec<u64>, OpenError> {
        let missing = self.missing();
        if missing.is_empty() { Ok(self.total) } else { Err(OpenError::Missing { missing }) }
    }
}

impl std::fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Opening(waits for {})", list(&self.missing()))
    }
}

/// The sum of a whole cohort's uploads.
pub fn open(cohort: &BoundCohort, length: usize, uploads: &[Upload]) -> Result<Vec<u64>, OpenError> {
    let mut opening = Opening::new(cohort, length);
    uploads.iter().try_for_each(|upload| opening.add(upload))?;
    opening.finish()
}
