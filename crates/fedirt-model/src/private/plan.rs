//! What a private calibration is to do: everything in it is public before any row is read.

use super::PrivateError;
use super::coordinates::Coordinates;
use super::counts::Counts;
use super::row_statistic::PrivateMechanism;
use crate::design::Design;
use crate::exchange::Effects;
use crate::quadrature::GridSpec;
use serde::{Deserialize, Serialize};
use statrs::function::erf::erf_inv;

/// Parts of μ² that the two rounds spend: the first only has to say where the second should look.
pub const ROUND_SHARES: [f64; 2] = [0.3, 0.7];

/// What becomes of a row that lacks an answer to an item of its booklet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingAnswers {
    /// The row counts for nothing; complete rows are counted by site and booklet, in coordinates that are clipped and
    /// blurred like the others.
    Counted,
    /// Missing answers are scored in the lowest category.
    Wrong,
}

/// A site as the plan knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SitePlan {
    /// Name.
    pub name: String,
    /// Rows enrolled, by booklet.
    pub rows: Vec<u64>,
}

/// Independent normal priors; what few noisy sums cannot tell comes from here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// SD of log a, around 0.
    pub log_slope_sd: f64,
    /// SD of difficulties, around the normal quantiles c/(m + 1) of their step.
    pub difficulty_sd: f64,
    /// SD of site effects, around 0.
    pub effect_sd: f64,
    /// Mean and SD of the shares of constant rows.
    pub share: (f64, f64),
}

impl Default for Prior {
    fn default() -> Self {
        Self { log_slope_sd: 0.5, difficulty_sd: 2.0, effect_sd: 1.0, share: (0.02, 0.4) }
    }
}

/// Φ⁻¹(c/(m + 1)): steps spread as the difficulties of m items would.
pub(super) fn step_difficulty(step: usize, steps: usize) -> f64 {
    std::f64::consts::SQRT_2 * erf_inv(2.0 * step as f64 / (steps + 1) as f64 - 1.0)
}

impl Prior {
    /// Prior means and precisions in the order of the coordinates.
    pub fn vectors(&self, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>) {
        let (mut mean, mut precision) = (Vec::new(), Vec::new());
        let mut push = |m: f64, sd: f64| {
            mean.push(m);
            precision.push(sd.powi(-2));
        };
        for j in 0..coordinates.design().len() {
            if coordinates.slope_is_free(j) {
                push(0.0, self.log_slope_sd);
            }
            let steps = coordinates.design().categories(j) - 1;
            (1..=steps).for_each(|c| push(step_difficulty(c, steps), self.difficulty_sd));
        }
        (0..coordinates.contrasts()).for_each(|_| push(0.0, self.effect_sd));
        if coordinates.mixture() {
            (0..2).for_each(|_| push(self.share.0, self.share.1));
        }
        (mean, precision)
    }
}

/// The plan of a private calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivatePlan {
    /// Items, their models and categories, from the codebook alone.
    pub design: Design,
    /// Fixed site effects or none.
    pub effects: Effects,
    /// Without effects: SD between sites, so that ability is N(0, 1 + site_sd²).
    pub site_sd: f64,
    /// Integration over ability; its nodes must be no further apart than the smallest posterior SD.
    pub grid: GridSpec,
    /// Item sets that students were given, as positions in the design.
    pub booklets: Vec<Vec<usize>>,
    /// Sites with their enrolled rows.
    pub sites: Vec<SitePlan>,
    /// Rows that lack answers.
    pub missing: MissingAnswers,
    /// Whether shares of all-lowest and all-highest rows are estimated.
    pub mixture: bool,
    /// Priors.
    pub prior: Prior,
    /// What is summed.
    pub mechanism: PrivateMechanism,
    /// C/√d (d + 1 where complete rows are counted); the default is 1, and 0.9 for score2 where answer patterns are simulated.
    /// (The scale of an optimal statistic follows from C; it makes a difference to counts of complete rows alone.)
    pub clip_factor: Option<f64>,
    /// μ of the whole run (Gaussian differential privacy; Dong, Roth & Su 2022).
    pub mu: f64,
    /// SD of the noise in each coordinate of the sum, round by round, as released.
    pub noise_sd: Vec<f64>,
    /// Public seed of the simulated expectations.
    pub seed: u64,
}

impl PrivatePlan {
    /// A plan for complete data with the noise that one trusted adder would use, and defaults for the rest.
    pub fn new(
        design: Design,
        effects: Effects,
        sites: Vec<(String, u64)>,
        mu: f64,
    ) -> Result<Self, PrivateError> {
        let booklets = vec![(0..design.len()).collect()];
        let grid = grid(&design);
        let mut plan = Self {
            design,
            effects,
            site_sd: 0.0,
            grid,
            booklets,
            sites: sites.into_iter().map(|(name, n)| SitePlan { name, rows: vec![n] }).collect(),
            missing: MissingAnswers::Wrong,
            mixture: false,
            prior: Prior::default(),
            mechanism: PrivateMechanism::default(),
            clip_factor: None,
            mu,
            noise_sd: Vec::new(),
            seed: 1,
        };
        plan.noise_sd = plan.central_noise()?;
        Ok(plan)
    }

    /// The coordinates of the fit.
    pub fn coordinates(&self) -> Result<Coordinates, PrivateError> {
        Coordinates::new(&self.design, self.effects, self.sites.len(), self.mixture)
    }

    /// How many numbers a site sends in a round.
    pub fn width(&self) -> Result<usize, PrivateError> {
        Ok(self.coordinates()?.len() + self.counts().len())
    }

    /// How complete rows are counted.
    pub(super) fn counts(&self) -> Counts {
        Counts::new(self.missing, self.effects, self.sites.len(), self.booklets.len())
    }

    /// The bound C on the norm of a row's statistic: near √(d + 1), the root mean square of the norm of d whitened
    /// scores and a count.
    pub fn clip(&self) -> Result<f64, PrivateError> {
        let usual = match self.mechanism {
            PrivateMechanism::Score2 if !self.enumerated() => 0.9,
            PrivateMechanism::Score2 | PrivateMechanism::Optimal => 1.0,
        };
        let factor = self.clip_factor.unwrap_or(usual);
        let square = self.coordinates()?.len() + usize::from(self.counts().any());
        Ok(factor * (square as f64).sqrt())
    }

    /// C/μ_r of each round: noise that a trusted party adds to the whole sum. Distributed noise is larger.
    pub fn central_noise(&self) -> Result<Vec<f64>, PrivateError> {
        let clip = self.clip()?;
        Ok(ROUND_SHARES.iter().map(|share| clip / (self.mu * share.sqrt())).collect())
    }

    /// Rows enrolled at all sites.
    pub fn students(&self) -> u64 {
        self.sites.iter().flat_map(|s| &s.rows).sum()
    }

    /// SD of ability.
    pub(super) fn spread(&self) -> f64 {
        if self.effects == Effects::None { self.site_sd.hypot(1.0) } else { 1.0 }
    }

    /// Answer patterns of each booklet, or `None` beyond count.
    fn patterns(&self) -> Option<usize> {
        let mut most = 0usize;
        for booklet in &self.booklets {
            let mut count = 1usize;
            for &j in booklet {
                count = count.checked_mul(self.design.categories(j)).filter(|n| *n <= MOST_PATTERNS)?;
            }
            most = most.max(count);
        }
        Some(most)
    }

    /// Whether expectations are exact sums over answer patterns.
    pub fn enumerated(&self) -> bool {
        let sites = if self.effects == Effects::None { 1 } else { self.sites.len() };
        let most = match self.mechanism {
            PrivateMechanism::Score2 => MOST_ROWS,
            // Moments of all coordinates are taken, not of a site's own.
            PrivateMechanism::Optimal => {
                MOST_NUMBERS / self.coordinates().map_or(usize::MAX, |c| c.len().max(1))
            }
        };
        self.patterns().is_some_and(|n| n.saturating_mul(self.booklets.len() * sites) <= most)
    }

    /// Checks what can be checked before any row is read.
    pub(super) fn check(&self) -> Result<(), PrivateError> {
        let fail = |what: &str| Err(PrivateError::Plan(what.to_owned()));
        let positive = |x: f64| x.is_finite() && x > 0.0;
        check_booklets(&self.design, &self.booklets).or_else(fail)?;
        check_grid(self.grid).or_else(fail)?;
        if self.sites.iter().any(|s| s.rows.len() != self.booklets.len()) {
            return fail("every site needs a number of rows for each booklet");
        }
        if self.students() == 0 {
            return fail("there are no students");
        }
        if !positive(self.mu) || self.clip_factor.is_some_and(|c| !positive(c)) {
            return fail("μ and the clip factor must be positive");
        }
        if self.noise_sd.len() != ROUND_SHARES.len() || !self.noise_sd.iter().all(|s| positive(*s)) {
            return fail("one positive SD of the noise is needed for each of the two rounds");
        }
        if self.mechanism == PrivateMechanism::Optimal && self.counts().any() && self.clip()? <= 1.0 {
            return fail("the clip factor leaves no room beside the count of complete rows");
        }
        let p = &self.prior;
        if ![p.log_slope_sd, p.difficulty_sd, p.effect_sd, p.share.1].iter().all(|s| positive(*s)) {
            return fail("SDs of priors must be positive");
        }
        if !(0.0..=10.0).contains(&self.site_sd) || !(0.0..0.5).contains(&p.share.0) {
            return fail("the SD between sites or the share of constant rows is out of range");
        }
        Ok(())
    }
}

/// The default grid, finer for long tests: nodes no further apart than the posterior SD of a student when every
/// step of every item tells about ability what a binary item of slope 1.5 does at its best, 1.5²/4.
fn grid(design: &Design) -> GridSpec {
    let grid = GridSpec::default();
    let steps = (design.cells() - design.len()) as f64;
    let nodes = (2.0 * grid.range * (1.0 + 0.5625 * steps).sqrt()).ceil().min(1000.0) as usize | 1;
    GridSpec { nodes: nodes.max(grid.nodes), ..grid }
}

const MOST_BOOKLETS: usize = 1000;
/// Most answer patterns of a booklet that are enumerated.
const MOST_PATTERNS: usize = 4096;
/// Most patterns over all booklets and sites that are enumerated.
const MOST_ROWS: usize = 400_000;
/// Most coordinates times patterns that are enumerated for the optimal statistic.
const MOST_NUMBERS: usize = 4_000_000;

/// Checks item sets against a design: one at least, none empty, positions ascending and within the design.
pub fn check_booklets(design: &Design, booklets: &[Vec<usize>]) -> Result<(), &'static str> {
    if design.is_empty() || !(1..=MOST_BOOKLETS).contains(&booklets.len()) {
        return Err("there must be an item, and 1 to 1000 booklets");
    }
    let sound = |b: &Vec<usize>| {
        !b.is_empty() && b.is_sorted_by(|x, y| x < y) && b.last().is_some_and(|j| *j < design.len())
    };
    if booklets.iter().all(sound) { Ok(()) } else { Err("booklets must be ascending positions of items") }
}

/// Checks that a grid over ability has a sensible number of nodes and a sensible range.
pub fn check_grid(grid: GridSpec) -> Result<(), &'static str> {
    let sound = (3..=1001).contains(&grid.nodes) && grid.range > 0.0 && grid.range <= 50.0;
    if sound { Ok(()) } else { Err("the grid needs 3 to 1001 nodes within 50") }
}
