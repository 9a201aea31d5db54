//! The chain of cohorts: which sums may follow which.
//!
//! Sums over U and over U without one site, near the same parameters, give that site's numbers, and a
//! coordinator need only *claim* that the site dropped. So U₁ ⊇ U₂ ⊇ …, where each step removes nobody or at
//! least n_min sites, and nobody comes back. Every site keeps its own chain and refuses otherwise. A site's
//! first upload counts as the first release, since it cannot know whether the sum opened.
//!
//! Not promised: that a removed group of n_min sites is hidden from one another, or that sums far apart in
//! the parameters are safe. The rule limits what differences of sums are *about*: never fewer than n_min sites.

use super::name::{SiteId, list};
use super::thresholds::{Protection, ThresholdError, Thresholds};
use std::collections::BTreeSet;

/// Why a cohort may not follow the last one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainRefusal {
    /// The cohort is too small.
    #[error(transparent)]
    Size(#[from] ThresholdError),
    /// Sites that left the study would come back.
    #[error(
        "{} left this study and may not come back: a sum with them and one without them would show their numbers",
        list(sites)
    )]
    Readmitted {
        /// The sites.
        sites: BTreeSet<SiteId>,
    },
    /// Sites that were not in the first sum would join.
    #[error(
        "{} had no part in the first sum and may not join now: the next sum less the last one would show their numbers",
        list(sites)
    )]
    Joined {
        /// The sites.
        sites: BTreeSet<SiteId>,
    },
    /// Fewer than n_min sites would leave at once.
    #[error(
        "a sum without {} is refused: subtracted from the last sum, it would show what they sent. Sites leave at \
         least {n_min} together or not at all; wait for them, or end the study",
        list(sites)
    )]
    TooFewRemoved {
        /// Who would be left out.
        sites: BTreeSet<SiteId>,
        /// n_min, the smallest number of sites in a sum.
        n_min: usize,
    },
    /// Another study on the same students has almost the same cohort.
    #[error(
        "an earlier study of these students differs from this one only by {}: at least {n_min} sites must \
         differ, or none",
        list(sites)
    )]
    NearlyTheSame {
        /// Who is in one of the two only.
        sites: BTreeSet<SiteId>,
        /// n_min, the smallest number of sites in a sum.
        n_min: usize,
    },
}

/// How a cohort follows the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CohortChange {
    /// The first release.
    First,
    /// The same sites as before.
    Same,
    /// At least n_min sites fewer.
    Fewer,
    /// Fewer than n_min sites are gone: the sum, less the last one, shows what they sent.
    Revealing,
}

/// The chain of one study at one site. It grows before each upload, on disk first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    thresholds: Thresholds,
    current: Option<BTreeSet<SiteId>>,
    departed: BTreeSet<SiteId>,
}

impl Chain {
    /// A chain without releases: the cohort is still whoever says hello.
    pub fn new(thresholds: Thresholds) -> Self {
        Self { thresholds, current: None, departed: BTreeSet::new() }
    }

    /// The cohort of the last release.
    pub fn current(&self) -> Option<&BTreeSet<SiteId>> {
        self.current.as_ref()
    }

    /// Whether a cohort may follow.
    pub fn check(&self, next: &BTreeSet<SiteId>) -> Result<CohortChange, ChainRefusal> {
        Protection::Sums(self.thresholds).check_size(next.len())?;
        let Some(current) = &self.current else { return Ok(CohortChange::First) };
        let back: BTreeSet<SiteId> = next.intersection(&self.departed).cloned().collect();
        if !back.is_empty() {
            return Err(ChainRefusal::Readmitted { sites: back });
        }
        let joined: BTreeSet<SiteId> = next.difference(current).cloned().collect();
        if !joined.is_empty() {
            return Err(ChainRefusal::Joined { sites: joined });
        }
        let removed: BTreeSet<SiteId> = current.difference(next).cloned().collect();
        let n_min = self.thresholds.n_min();
        match removed.len() {
            0 => Ok(CohortChange::Same),
            n if n >= n_min => Ok(CohortChange::Fewer),
            _ => Err(ChainRefusal::TooFewRemoved { sites: removed, n_min }),
        }
    }

    /// Whether a cohort may follow when the officers have agreed in the plan (`on_loss = reveal_lost_site`)
    /// that what a lost site sent may become known: fewer than n_min sites may then leave at once. All else
    /// holds: nobody joins or comes back, and n_min sites are left.
    pub fn check_revealing_lost_sites(&self, next: &BTreeSet<SiteId>) -> Result<CohortChange, ChainRefusal> {
        match self.check(next) {
            Err(ChainRefusal::TooFewRemoved { .. }) => Ok(CohortChange::Revealing),
            other => other,
        }
    }

    /// Checks a cohort and makes it the last release. Store it before the upload leaves.
    pub fn extend(&mut self, next: &BTreeSet<SiteId>) -> Result<CohortChange, ChainRefusal> {
        let step = self.check(next)?;
        self.follow(next);
        Ok(step)
    }

    /// [`Self::extend`] by the rule of [`Self::check_revealing_lost_sites`]. Only for a plan with the officers'
    /// consent: **it gives away the numbers of the sites that left.**
    pub fn extend_revealing_lost_sites(
        &mut self,
        next: &BTreeSet<SiteId>,
    ) -> Result<CohortChange, ChainRefusal> {
        let step = self.check_revealing_lost_sites(next)?;
        self.follow(next);
        Ok(step)
    }

    fn follow(&mut self, next: &BTreeSet<SiteId>) {
        if let Some(current) = self.current.replace(next.clone()) {
            self.departed.extend(current.difference(next).cloned());
        }
    }
}

/// Across studies of the same students: the cohorts are the same, or at least n_min sites are in one of the
/// two only.
pub fn check_other_study(
    thresholds: Thresholds,
    earlier: &BTreeSet<SiteId>,
    now: &BTreeSet<SiteId>,
) -> Result<(), ChainRefusal> {
    let sites: BTreeSet<SiteId> = earlier.symmetric_difference(now).cloned().collect();
    let n_min = thresholds.n_min();
    if sites.is_empty() || sites.len() >= n_min {
        Ok(())
    } else {
        Err(ChainRefusal::NearlyTheSame { sites, n_min })
    }
}
