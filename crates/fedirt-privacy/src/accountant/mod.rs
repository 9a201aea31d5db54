//! What noise buys: (ε, δ) of rounds of clipped sums with Gaussian noise, and the noise for a wanted ε.
//!
//! A round draws each student with probability q, adds the clipped vectors (L2 norm at most C) and normal
//! noise of standard deviation σC per coordinate. Three accountants answer for the same rounds:
//!
//! | file | method | answers |
//! | --- | --- | --- |
//! | `gaussian` | Gaussian DP | exact, for q = 1 |
//! | `pld` | privacy-loss distribution on a grid | tight, from above |
//! | `rdp` | Rényi DP | looser; the published algorithm's, and an independent check |
//!
//! `calibrate` finds the noise for a budget; `discrete` pays for integer noise made in shares.

mod calibrate;
mod discrete;
mod gaussian;
mod pld;
mod rdp;
mod solve;
mod special;

pub use calibrate::noise_multiplier;
pub use discrete::{DistributedNoise, Slack, TAIL_EXPONENT};
pub use gaussian::GaussianDp;
pub use rdp::{Conversion, RdpEpsilon, amplified_rdp, rdp_epsilon};

pub(crate) use special::normal_cdf;

/// What the ε of this module is about, for officers and readers of results.
pub const ADJACENCY: &str = "Adjacency: zero-out. Two data sets are neighbours when one student's row, within \
one site, is replaced by an empty contribution (a vector of zeros). The number of students enrolled at each \
site is public and fixed before the data are read; where there are booklets, which booklet a row falls into is \
public. Sampling, where there is any, is by independent draws that \
stay secret at the site. Epsilon is for the planned rounds, all of them.";

/// Rounds that double precision can compose without its rounding showing in δ.
const MOST_ROUNDS: u32 = 10_000_000;

/// Noise multipliers that are accounted for under sampling.
const LEAST_SAMPLED: f64 = 0.01;
const MOST_SAMPLED: f64 = 1e6;

/// Why the accountant cannot answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AccountantError {
    /// ε is not a positive number.
    #[error("epsilon is {0}; it must be a positive, finite number")]
    Epsilon(f64),
    /// δ is not a probability strictly inside (0, 1).
    #[error("delta is {0}; it must lie strictly between 0 and 1, and well below 1/N for N students")]
    Delta(f64),
    /// δ allows to publish a student outright.
    #[error("delta is {delta:e}, not below 1/N = {limit:e} for {students} students: it would allow one of them to be published", limit = 1.0 / *students as f64)]
    DeltaForStudents {
        /// δ.
        delta: f64,
        /// Students enrolled.
        students: u64,
    },
    /// The sampling rate q is not in (0, 1].
    #[error("the sampling rate is {0}; it must be above 0 and at most 1")]
    SamplingRate(f64),
    /// The noise multiplier is not a positive number.
    #[error("the noise multiplier is {0}; it must be a positive, finite number")]
    NoiseMultiplier(f64),
    /// Under sampling, noise so small or so large that the losses of a round do not fit on a grid.
    #[error(
        "the noise multiplier is {0}; under sampling it must be from {LEAST_SAMPLED} to {MOST_SAMPLED}: with less a student who is drawn is told with certainty"
    )]
    NoiseUnderSampling(f64),
    /// No rounds, or more than rounding leaves room for.
    #[error("the number of rounds is {0}; it must be from 1 to {MOST_ROUNDS}")]
    Rounds(u32),
    /// μ is not a positive number.
    #[error("mu is {0}; it must be a positive, finite number")]
    Mu(f64),
    /// No mechanism was given.
    #[error("no mechanism was given: nothing is released, and there is nothing to account for")]
    NoMechanism,
    /// No noise multiplier within reach gives the wanted ε.
    #[error(
        "epsilon = {epsilon} at delta = {delta:e} is not reached by any noise multiplier from {least} to {most}; change delta, the sampling rate or the rounds"
    )]
    OutOfReach {
        /// ε wanted.
        epsilon: f64,
        /// δ wanted.
        delta: f64,
        /// Smallest noise multiplier tried.
        least: f64,
        /// Largest noise multiplier tried.
        most: f64,
    },
    /// Integer noise of no dimension, of no honest site, or narrower than half a lattice step.
    #[error(
        "{honest_sites} honest sites with shares of sd {share_sd} in {dimension} coordinates: at least 1 site, 1 coordinate and sd 0.5 are needed"
    )]
    Shares {
        /// The number of coordinates.
        dimension: u32,
        /// Honest sites.
        honest_sites: u32,
        /// Standard deviation of one share, in lattice steps.
        share_sd: f64,
    },
    /// The lattice is too coarse for the comparison with continuous noise.
    #[error(
        "the honest noise has sd {sum_sd:.1} lattice steps in shares of {share_sd:.1}; the bound needs at least 65536 and 4: choose a finer lattice"
    )]
    CoarseLattice {
        /// Standard deviation of the honest sum, in lattice steps.
        sum_sd: f64,
        /// Standard deviation of one share, in lattice steps.
        share_sd: f64,
    },
    /// The price of integer noise is above δ.
    #[error(
        "at epsilon = {epsilon:.2} the tail of the integer noise costs more than delta = {delta:e}; choose a larger tail exponent"
    )]
    SlackAboveDelta {
        /// ε of the continuous noise.
        epsilon: f64,
        /// δ wanted.
        delta: f64,
    },
}

/// ε of a budget: positive and finite.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Epsilon(f64);

impl Epsilon {
    /// Refuses ε ≤ 0, infinite or not a number.
    pub fn new(epsilon: f64) -> Result<Self, AccountantError> {
        if epsilon.is_finite() && epsilon > 0.0 {
            Ok(Self(epsilon))
        } else {
            Err(AccountantError::Epsilon(epsilon))
        }
    }

    /// The value as a number.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// δ of a budget: strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Delta(f64);

impl Delta {
    /// Refuses δ outside (0, 1), and what no double-precision logarithm can carry (below 1e-300).
    pub fn new(delta: f64) -> Result<Self, AccountantError> {
        if (1e-300..1.0).contains(&delta) { Ok(Self(delta)) } else { Err(AccountantError::Delta(delta)) }
    }

    /// The value as a number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Refuses δ ≥ 1/N, and says whether δ deserves a warning: above 1/(10 N).
    pub fn is_large_for(self, students: u64) -> Result<bool, AccountantError> {
        if self.0 * students as f64 >= 1.0 {
            return Err(AccountantError::DeltaForStudents { delta: self.0, students });
        }
        Ok(self.0 * students as f64 > 0.1)
    }
}

/// Rounds of one kind: Poisson-sampled, clipped sums with Gaussian noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mechanism {
    sampling_rate: f64,
    noise_multiplier: f64,
    rounds: u32,
}

impl Mechanism {
    /// With sampling rate q in (0, 1], noise multiplier σ > 0 (sd of the noise over the clipping norm; with q < 1 from 0.01 to
    /// 1e6) and 1 to 10,000,000 rounds.
    pub fn new(sampling_rate: f64, noise_multiplier: f64, rounds: u32) -> Result<Self, AccountantError> {
        if !(sampling_rate > 0.0 && sampling_rate <= 1.0) {
            return Err(AccountantError::SamplingRate(sampling_rate));
        }
        if !(noise_multiplier.is_finite() && noise_multiplier > 0.0) {
            return Err(AccountantError::NoiseMultiplier(noise_multiplier));
        }
        if sampling_rate < 1.0 && !(LEAST_SAMPLED..=MOST_SAMPLED).contains(&noise_multiplier) {
            return Err(AccountantError::NoiseUnderSampling(noise_multiplier));
        }
        if !(1..=MOST_ROUNDS).contains(&rounds) {
            return Err(AccountantError::Rounds(rounds));
        }
        Ok(Self { sampling_rate, noise_multiplier, rounds })
    }

    /// Probability q with which a student takes part in a round.
    pub fn sampling_rate(&self) -> f64 {
        self.sampling_rate
    }

    /// Standard deviation σ of the noise, in units of the clipping norm.
    pub fn noise_multiplier(&self) -> f64 {
        self.noise_multiplier
    }

    /// Planned rounds.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The same mechanism for another number of rounds.
    pub fn with_rounds(self, rounds: u32) -> Result<Self, AccountantError> {
        Self::new(self.sampling_rate, self.noise_multiplier, rounds)
    }

    /// The tight ε at δ: [`epsilon`] of this mechanism alone.
    pub fn epsilon(&self, delta: Delta) -> f64 {
        epsilon_of_some(std::slice::from_ref(self), delta)
    }

    /// The tight δ at ε ≥ 0.
    pub fn delta(&self, epsilon: f64) -> f64 {
        delta_of_some(std::slice::from_ref(self), epsilon)
    }

    /// ε at δ when a student's answers are *replaced* instead of zeroed.
    ///
    /// Without sampling exact, by 2μ. With sampling an upper bound through the empty row in between:
    /// δ'(2ε) ≤ (1 + e^ε) δ(ε), since A ≤ e^ε Z + δ and Z ≤ e^ε B + δ on any event (group privacy).
    pub fn epsilon_replaced(&self, delta: Delta) -> f64 {
        let mechanisms = std::slice::from_ref(self);
        if let Some(gdp) = GaussianDp::of(mechanisms) {
            return gdp.replaced().epsilon(delta);
        }
        2.0 * pld::epsilon_of_pair(mechanisms, delta)
    }
}

/// The tight ε at δ of several mechanisms in sequence: by Gaussian DP when none of them samples, otherwise by
/// the privacy-loss distribution, which errs upwards.
pub fn epsilon(mechanisms: &[Mechanism], delta: Delta) -> Result<f64, AccountantError> {
    if mechanisms.is_empty() {
        Err(AccountantError::NoMechanism)
    } else {
        Ok(epsilon_of_some(mechanisms, delta))
    }
}

/// The tight δ at ε ≥ 0 of several mechanisms in sequence; see [`epsilon`].
pub fn delta(mechanisms: &[Mechanism], epsilon: f64) -> Result<f64, AccountantError> {
    if mechanisms.is_empty() {
        Err(AccountantError::NoMechanism)
    } else {
        Ok(delta_of_some(mechanisms, epsilon))
    }
}

fn epsilon_of_some(mechanisms: &[Mechanism], delta: Delta) -> f64 {
    match GaussianDp::of(mechanisms) {
        Some(gdp) => gdp.epsilon(delta),
        None => pld::epsilon(mechanisms, delta),
    }
}

fn delta_of_some(mechanisms: &[Mechanism], epsilon: f64) -> f64 {
    match GaussianDp::of(mechanisms) {
        Some(gdp) => gdp.delta(epsilon.max(0.0)),
        None => pld::delta(mechanisms, epsilon.max(0.0)),
    }
}
