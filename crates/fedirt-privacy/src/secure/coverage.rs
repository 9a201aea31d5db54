//! Which numbers of a vector may be sent: those that enough sites of the cohort give.
//!
//! The plan lists which site gives which item and group, so every site can count for itself; a coordinator's
//! word is no suppression. All sites of a cohort count with the same plan and so drop the same numbers: were
//! one to drop more than the others, a sum of fewer than n_min sites would open. That is why the rule for
//! single steps of the chain refuses the whole step and does not drop numbers: sites that joined the chain at
//! different releases would drop different ones.
//!
//! Numbers under noise of the sites' own need no such rule.

use super::name::{SiteId, list};
use super::thresholds::Thresholds;
use std::collections::BTreeSet;

/// Why a step, or a vector, is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoverageRefusal {
    /// A step of the chain leaves out a few of the sites that give a number.
    #[error(
        "a sum without {} is refused: for number {coordinate} it would differ from the last sum by fewer \
         than {n_min} sites, and show what they sent",
        list(sites)
    )]
    TooFewRemoved {
        /// The number's place in the vector.
        coordinate: usize,
        /// The sites that gave it and are left out.
        sites: BTreeSet<SiteId>,
        /// n_min, the smallest number of sites in a sum.
        n_min: usize,
    },
    /// The vector has another length than the list of what may be sent.
    #[error("{words} numbers, and a list of {listed} that may be sent")]
    Length {
        /// Length of the vector.
        words: usize,
        /// Length of the list.
        listed: usize,
    },
}

/// For each number, whether at least n_min sites of the cohort give it. `gives(site, coordinate)` is read from
/// the plan.
pub fn sendable(
    thresholds: Thresholds,
    cohort: &BTreeSet<SiteId>,
    coordinates: usize,
    gives: impl Fn(&SiteId, usize) -> bool,
) -> Vec<bool> {
    let givers = |coordinate: usize| cohort.iter().filter(|site| gives(site, coordinate)).count();
    (0..coordinates).map(|coordinate| givers(coordinate) >= thresholds.n_min()).collect()
}

/// Sets to 0 what may not be sent, before masking: after it, a 0 cannot be told from any other number.
pub fn suppress(words: &mut [u64], sendable: &[bool]) -> Result<(), CoverageRefusal> {
    if words.len() != sendable.len() {
        return Err(CoverageRefusal::Length { words: words.len(), listed: sendable.len() });
    }
    words.iter_mut().zip(sendable).filter(|(_, may)| !**may).for_each(|(word, _)| *word = 0);
    Ok(())
}

/// The chain's rule, number by number: a step that removes n_min sites may still remove just one of those that
/// give a certain item, and that item's two sums would show the site. Numbers that the smaller cohort does not
/// send are free.
pub fn check_coordinate_steps(
    thresholds: Thresholds,
    previous: &BTreeSet<SiteId>,
    next: &BTreeSet<SiteId>,
    coordinates: usize,
    gives: impl Fn(&SiteId, usize) -> bool,
) -> Result<(), CoverageRefusal> {
    let removed: Vec<&SiteId> = previous.difference(next).collect();
    if removed.is_empty() {
        return Ok(());
    }
    let n_min = thresholds.n_min();
    let sent = sendable(thresholds, next, coordinates, &gives);
    for coordinate in (0..coordinates).filter(|&coordinate| sent[coordinate]) {
        let sites: BTreeSet<SiteId> =
            removed.iter().filter(|site| gives(site, coordinate)).map(|site| (*site).clone()).collect();
        if (1..n_min).contains(&sites.len()) {
            return Err(CoverageRefusal::TooFewRemoved { coordinate, sites, n_min });
        }
    }
    Ok(())
}
