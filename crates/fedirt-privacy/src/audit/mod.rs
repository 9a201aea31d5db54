//! Audits: checks that fail when the privacy is gone.
//!
//! The accountant believes what the plan says about the mechanism. These checks look at what leaves the sites
//! and ask whether it is so:
//!
//! | file | check | finds |
//! | --- | --- | --- |
//! | `rows` | [`norm`]: one row alone moves the released integers by a norm of at most C/γ | a wrong clip, none, one on the wrong norm |
//! | `rows` | [`coupling`]: with the same randomness, a row taken away changes the release by that row's own integers and nothing else | quantities shared by students, weights normalised at a site, warnings and sizes that depend on rows |
//! | `noise` | [`noise`]: variance, distribution and correlations of the noise | noise that is missing, small, shared, used again |
//! | `worlds` | [`two_worlds`]: how well the released integers tell whether a student took part | anything that makes it easier than μ |
//!
//! The first two have power 1: one run decides. The others are statistics; a finding is beyond [`ALARM`]
//! standard errors, so that an audit of sound code raises no alarm in a lifetime of audits.
//!
//! What is audited is a [`Subject`]: the program's own code, run with seeds in place of the operating system's
//! randomness. Its parameters are fixed beforehand in every round; they do not follow from released sums, or
//! one row would move the next round's integers of all others, which is no fault.
//!
//! Not promised: that code without findings is private. The one-run audit of Steinke, Nasr and Jagielski (2023)
//! has no power with so few coordinates.

mod noise;
mod rows;
mod worlds;

pub use noise::noise;
pub use rows::{coupling, norm};
pub use worlds::{Estimate, estimate, two_worlds};

/// Standard errors beyond which a statistic is a finding (3 in [`two_worlds`], which is one-sided and asked
/// once).
pub const ALARM: f64 = 5.5;

/// Identifies a student's row by its site and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowId {
    /// Index of the site, from 0.
    pub site: usize,
    /// Index of the row, from 0.
    pub row: usize,
}

/// Which rows have answers. The others count as enrolled but contribute nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// All rows.
    All,
    /// All rows but one.
    Without(RowId),
    /// Only one row.
    Only(RowId),
    /// No row, so that what is released is noise alone.
    Nobody,
}

impl Rows {
    /// Whether a row has answers.
    pub fn have(&self, row: RowId) -> bool {
        match *self {
            Self::All => true,
            Self::Without(other) => other != row,
            Self::Only(other) => other == row,
            Self::Nobody => false,
        }
    }
}

/// What a site releases in one attempt, before masks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    /// Index of the site, from 0.
    pub site: usize,
    /// The round.
    pub round: u64,
    /// The attempt at the round.
    pub attempt: u64,
    /// Signed numbers modulo 2⁶⁴, in lattice steps.
    pub words: Vec<u64>,
}

/// Everything that leaves the sites during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The numbers: the same sites, rounds and attempts in the same order in every run.
    pub released: Vec<Released>,
    /// Everything else that anyone outside a site can see: warnings, refusals, sizes.
    pub remarks: Vec<String>,
}

/// The privacy that the plan claims, in numbers that an audit can test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// ⌊(C/γ)²⌋ ([`crate::noise::Lattice::norm_square`]).
    pub norm_square: u128,
    /// Standard deviation of one site's noise, in steps ([`crate::noise::Shares::sd`]).
    pub share_sd: f64,
    /// Sites that work with the coordinator: their noise is known.
    pub colluders: usize,
    /// μ of all releases of a run together: √(releases)/σ.
    pub mu: f64,
}

/// A mechanism that is audited.
pub trait Subject: Sync {
    /// What the mechanism claims.
    fn claim(&self) -> Claim;

    /// Rows to try: all patterns of answers where there are few, and rows that hostile parameters make huge,
    /// infinite or not a number.
    fn rows(&self) -> Vec<RowId>;

    /// A run with these rows and all randomness from a seed.
    fn run(&self, rows: Rows, seed: u64) -> Transcript;
}

/// The checks of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// One row changes the release by more than the clipping norm.
    Norm,
    /// One row changes more than its own contribution.
    Coupling,
    /// The mean or the variance of the noise is wrong.
    Moments,
    /// The distribution of the noise is wrong.
    Distribution,
    /// Noise that should be independent is correlated.
    Correlation,
    /// Whether a student took part can be told better than μ allows.
    TwoWorlds,
}

/// A finding of an audit: something that private code must not do.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The check that found it.
    pub check: Check,
    /// What the check measured.
    pub detail: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {}", self.check, self.detail)
    }
}

/// The number of runs of an audit, and their seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Runs from which the noise is estimated.
    pub noise_runs: u64,
    /// Runs in each of the two worlds.
    pub world_runs: u64,
    /// The first seed.
    pub seed: u64,
}

impl Effort {
    /// 20,000 runs of each: variances to 1 % per coordinate and 0.2 % over 24 of them; at ε = 8 the two worlds
    /// show 3 % of inflation.
    pub const FULL: Self = Self { noise_runs: 20_000, world_runs: 20_000, seed: 0 };
}

/// Runs all checks. Without findings there is no objection.
pub fn audit(subject: &impl Subject, effort: Effort) -> Vec<Finding> {
    let mut findings = norm(subject, effort.seed);
    findings.extend(coupling(subject, effort.seed));
    findings.extend(noise(subject, effort.noise_runs, effort.seed));
    findings.extend(two_worlds(subject, effort.world_runs, effort.seed).err());
    findings
}

#[cfg(test)]
mod tests;
