//! How many sites a sum must have: the numbers of the plan, and what they must satisfy.

/// Fewest sites that may ever share a sum.
const FEWEST: usize = 3;

/// Fewest honest sites that may ever share a sum: one alone would be seen by the others.
const FEWEST_HONEST: usize = 2;

/// Why numbers of sites are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// n_min is below 3.
    #[error(
        "n_min is {n_min}, and must be at least {FEWEST}: in a sum of two, each sees the other's numbers"
    )]
    TooSmall {
        /// n_min, the smallest number of sites in a sum.
        n_min: usize,
    },
    /// n_min − c is below 2: too few honest sites would be left.
    #[error(
        "n_min is {n_min} with {colluders} sites that may work with the coordinator: fewer than \
         {FEWEST_HONEST} others would be left to hide among"
    )]
    TooManyColluders {
        /// n_min, the smallest number of sites in a sum.
        n_min: usize,
        /// c, the number of sites that may work with the coordinator.
        colluders: usize,
    },
    /// There are two sites in a study with exact sums.
    #[error("with two sites each can subtract its own numbers and read the other's: exact sums need three")]
    TwoSites,
    /// There are fewer sites than n_min, or none.
    #[error("{sites} sites take part, and the plan asks for at least {n_min}")]
    TooFewSites {
        /// Sites in the cohort.
        sites: usize,
        /// n_min, or 1 with noise.
        n_min: usize,
    },
}

/// n_min and c of a plan: every sum has at least `n_min` sites, of which at most `colluders` work with the
/// coordinator (c counts every site whose key the coordinator could hold).
///
/// These are the plan's numbers, the same at every site. A site whose own policy wants a larger n_min must
/// refuse the plan, not send zeros: its zeros would leave fewer than n_min sites in a sum that the others
/// believe to be large enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    n_min: usize,
    colluders: usize,
}

impl Thresholds {
    /// n_min ≥ 3 and n_min − c ≥ 2, or a refusal.
    pub fn new(n_min: usize, colluders: usize) -> Result<Self, ThresholdError> {
        if n_min < FEWEST {
            return Err(ThresholdError::TooSmall { n_min });
        }
        if n_min.saturating_sub(colluders) < FEWEST_HONEST {
            return Err(ThresholdError::TooManyColluders { n_min, colluders });
        }
        Ok(Self { n_min, colluders })
    }

    /// The smallest number of sites in a sum.
    pub fn n_min(&self) -> usize {
        self.n_min
    }

    /// The largest number of sites that may work with the coordinator.
    pub fn colluders(&self) -> usize {
        self.colluders
    }
}

/// What protects the numbers in the sum, which decides how small a cohort may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Exact sums (`secure`): being one of many is all the protection there is.
    Sums(Thresholds),
    /// Every site's numbers carry noise of their own (`private`): any number of sites, one too.
    Noise,
}

impl Protection {
    /// Whether a cohort is large enough.
    pub fn check_size(&self, sites: usize) -> Result<(), ThresholdError> {
        match *self {
            Self::Sums(_) if sites == 2 => Err(ThresholdError::TwoSites),
            Self::Sums(Thresholds { n_min, .. }) if sites < n_min => {
                Err(ThresholdError::TooFewSites { sites, n_min })
            }
            Self::Noise if sites == 0 => Err(ThresholdError::TooFewSites { sites, n_min: 1 }),
            _ => Ok(()),
        }
    }
}
