//! The lattice that rows are rounded to, and the noise of one attempt in its steps.

use super::gaussian::LARGEST_SD;
use super::share::NoiseShare;
use crate::accountant::{AccountantError, DistributedNoise, Slack, TAIL_EXPONENT};
use crate::clip::{ClipError, Clipper, floor_of_square};
use rand::CryptoRng;

/// The noise has at least this standard deviation in lattice steps.
const LEAST_STEPS_OF_NOISE: f64 = 65_536.0;

/// The clipping norm has at least this many lattice steps: what rounding takes from a row, up to a step per
/// coordinate, then stays far below the noise even when millions of students are summed.
const LEAST_STEPS_OF_CLIP: f64 = 16_777_216.0;

/// Sums stay below this bound, so that they do not wrap around.
const HEADROOM: f64 = 4_611_686_018_427_387_904.0;

/// Standard deviations of noise that fit under the headroom.
const REACH: f64 = 40.0;

/// Why noise with these parameters cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoiseError {
    /// The clipping norm is not a positive number.
    #[error("the clipping norm is {0}; it must be a positive, finite number")]
    Clip(f64),
    /// The noise multiplier is not a positive number.
    #[error("the noise multiplier is {0}; it must be a positive, finite number")]
    NoiseMultiplier(f64),
    /// Every site may work with the coordinator: nobody's noise is left.
    #[error(
        "{colluders} of {sites} sites may work with the coordinator: no honest site is left to add noise"
    )]
    NobodyHonest {
        /// Sites of the cohort.
        sites: u32,
        /// c, the number of sites that may work with the coordinator.
        colluders: u32,
    },
    /// The sum could exceed 63 bits and wrap around.
    #[error(
        "{students} students of norm at most {clip_steps:e} steps, with noise of {sum_sd:e} steps from {sites} \
         sites, do not fit into 62 bits: fewer students, or less noise"
    )]
    Headroom {
        /// N, the number of students.
        students: u64,
        /// C/γ.
        clip_steps: f64,
        /// σC/γ.
        sum_sd: f64,
        /// |U|, the number of sites in the cohort.
        sites: u32,
    },
    /// The accountant does not accept shares of this size.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
}

/// C, σ and γ: the same in every attempt of a study.
///
/// γ is a power of two at or below σC/2¹⁶ (so that integer noise is as good as continuous noise, see
/// [`DistributedNoise::slack`]) and at or below C/2²⁴ (so that rounding is not felt).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lattice {
    clip: f64,
    noise_multiplier: f64,
    step: f64,
}

impl Lattice {
    /// For the clipping norm C and the noise multiplier σ (standard deviation of the noise over C).
    pub fn new(clip: f64, noise_multiplier: f64) -> Result<Self, NoiseError> {
        // Powers of two between these have exact multiples and quotients here.
        let ordinary = |x: f64| (1e-100..1e100).contains(&x);
        if !ordinary(clip) {
            return Err(NoiseError::Clip(clip));
        }
        if !ordinary(noise_multiplier) {
            return Err(NoiseError::NoiseMultiplier(noise_multiplier));
        }
        let coarsest = (noise_multiplier * clip / LEAST_STEPS_OF_NOISE).min(clip / LEAST_STEPS_OF_CLIP);
        let step = f64::from_bits(coarsest.to_bits() & f64::INFINITY.to_bits());
        Ok(Self { clip, noise_multiplier, step })
    }

    /// C, the clipping norm: no row is longer.
    pub fn clip(&self) -> f64 {
        self.clip
    }

    /// σ, the noise multiplier: the standard deviation of the noise over the clipping norm.
    pub fn noise_multiplier(&self) -> f64 {
        self.noise_multiplier
    }

    /// γ, the lattice step: rows are rounded to multiples of it.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// C/γ, how far one row can move a sum, in steps.
    pub fn clip_steps(&self) -> f64 {
        self.clip / self.step
    }

    /// ⌊(C/γ)²⌋, which no row's Σ q² exceeds; for audits. Of no use where C has more than 2⁶² steps, which
    /// [`Self::clipper`] refuses.
    pub fn norm_square(&self) -> u128 {
        floor_of_square(self.clip_steps().min(HEADROOM))
    }

    /// σC/γ, the standard deviation of the honest noise, in steps.
    pub fn sum_sd(&self) -> f64 {
        self.noise_multiplier * self.clip / self.step
    }

    /// A clipper that adds up rows of this width.
    pub fn clipper(&self, width: usize) -> Result<Clipper, ClipError> {
        Clipper::new(self.clip, self.step, width)
    }

    /// The shares of one attempt: `width` coordinates, at most `students` students enrolled, `sites` = |U|, of
    /// which at most `colluders` = c work with the coordinator.
    ///
    /// The variance of a share is (σC/γ)²/(|U| − c), its standard deviation rounded up to a whole number of
    /// steps. Headroom: N·C/γ + 40·(σC/γ)·√|U| < 2⁶², for use, not for privacy: wrapping around costs none.
    pub fn shares(
        &self,
        width: u32,
        students: u64,
        sites: u32,
        colluders: u32,
    ) -> Result<Shares, NoiseError> {
        let honest = sites.saturating_sub(colluders);
        if honest == 0 {
            return Err(NoiseError::NobodyHonest { sites, colluders });
        }
        let (clip_steps, sum_sd) = (self.clip_steps(), self.sum_sd());
        let reach = students as f64 * clip_steps + REACH * sum_sd * f64::from(sites).sqrt();
        let mut sd = (sum_sd / f64::from(honest).sqrt()).ceil();
        if sd * sd * f64::from(honest) < sum_sd * sum_sd {
            sd += 1.0;
        }
        if !(reach < HEADROOM && sd <= LARGEST_SD as f64) {
            return Err(NoiseError::Headroom { students, clip_steps, sum_sd, sites });
        }
        Ok(Shares { sd: sd as u64, width, noise: DistributedNoise::new(width, honest, sd)? })
    }

    /// A released sum in the units of the rows: each word, as a signed number, times γ.
    pub fn decode(&self, words: &[u64]) -> Vec<f64> {
        words.iter().map(|&w| w as i64 as f64 * self.step).collect()
    }
}

/// The noise that each site adds in one attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    sd: u64,
    width: u32,
    noise: DistributedNoise,
}

impl Shares {
    /// Standard deviation of one share, in steps.
    pub fn sd(&self) -> u64 {
        self.sd
    }

    /// The noise of the honest sites, for the accountant.
    pub fn noise(&self) -> DistributedNoise {
        self.noise
    }

    /// What integer noise in shares costs over `rounds` rounds, on top of the Gaussian accountant at σ.
    pub fn slack(&self, rounds: u32) -> Result<Slack, AccountantError> {
        self.noise.slack(rounds, TAIL_EXPONENT)
    }

    /// Draws the share of one site. The randomness must be fresh.
    pub fn draw(&self, random: &mut impl CryptoRng) -> NoiseShare {
        NoiseShare::draw(random, self.sd, self.width as usize)
    }
}
