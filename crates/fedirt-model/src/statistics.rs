//! What a statistic is: a kind of number that can leave a site, with its name, its meaning and the modes in which it
//! may leave.
//!
//! There is no list of all statistics here. A question declares those that belong to it in its own file under
//! [`questions`](crate::questions); [`questions::statistics`](crate::questions::statistics) collects them.

use serde::{Deserialize, Serialize};

/// Who may learn what; see SECURITY.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The coordinator sees each site's sums.
    Plain,
    /// The coordinator sees sums over the cohort.
    Secure,
    /// The coordinator sees noisy sums over the cohort.
    Private,
}

impl Mode {
    /// The name used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Secure => "secure",
            Self::Private => "private",
        }
    }
}

/// How the coordinator combines what sites send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combination {
    /// Added up over sites.
    Sum,
    /// Kept beside the site's name.
    BySite,
}

/// A kind of number that a site can be asked for.
#[derive(Debug, Clone, Copy)]
pub struct Statistic {
    /// Stable name for files, logs and a site's policy.
    pub name: &'static str,
    /// One sentence for the data officer.
    pub meaning: &'static str,
    /// How it is combined.
    pub combination: Combination,
    /// Modes in which it may leave a site.
    pub modes: &'static [Mode],
}

/// Statistics have unique names, which a test of all questions checks.
impl PartialEq for Statistic {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Statistic {}

impl Statistic {
    /// A sum over sites that the coordinator may learn in `plain` and, over the cohort, in `secure`.
    pub(crate) const fn sum(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, combination: Combination::Sum, modes: &[Mode::Plain, Mode::Secure] }
    }

    /// A sum over sites that is sent in `plain` only: algorithms for comparison, which are not meant to hide anything.
    pub(crate) const fn plain_sum(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, combination: Combination::Sum, modes: &[Mode::Plain] }
    }

    /// A number that is kept beside the site's name, in certain modes.
    pub(crate) const fn by_site(name: &'static str, meaning: &'static str, modes: &'static [Mode]) -> Self {
        Self { name, meaning, combination: Combination::BySite, modes }
    }
}
