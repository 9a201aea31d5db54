//! How often a question may be asked. Each answer is one more set of exact sums: a question that may be varied and repeated at
//! will reads out tables of answers.

use super::Request;

/// How often one cohort of sites answers a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Times {
    /// In every round, within the limits on rounds and parameters.
    EachRound,
    /// In one round.
    Once,
    /// In some rounds, all at the same parameters; see [`Pass`].
    Passes {
        /// Most of them.
        most: usize,
        /// The present one.
        pass: Pass,
    },
}

/// One of several rounds about fewer and fewer items: the first is about all of them, each later one leaves out some of those
/// before, and at least half of all stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// Whether it is the first, in which more may be asked than later.
    pub first: bool,
    /// The items (of the design), ascending.
    pub about: Vec<usize>,
}

impl Pass {
    /// Whether this pass may follow one about these items; the first one follows none.
    pub fn follows(&self, request: &Request, before: Option<&[usize]>) -> bool {
        let items = request.design.len();
        match before {
            None => self.first && self.about.iter().copied().eq(0..items),
            Some(before) => {
                let fewer = self.about.len() < before.len() && 2 * self.about.len() >= items;
                !self.first && fewer && self.about.iter().all(|item| before.binary_search(item).is_ok())
            }
        }
    }
}

/// What of a question its plan does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unplanned {
    /// A diagnostic that it does not list.
    #[error("it asks for diagnostics that the plan does not list")]
    Diagnostics,
    /// Groups of students that it does not compare.
    #[error("it asks about groups of students that the plan does not compare")]
    Groups,
}
