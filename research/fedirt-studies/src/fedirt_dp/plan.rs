//! What a run of FedIRT-DP is to do: everything in it is public before any row is read.

use super::settings::Settings;
use fedirt_model::design::Design;
use fedirt_model::exchange::Effects;
use fedirt_model::private::{
    Coordinates, MissingAnswers, Prior, PrivateError, SitePlan, check_booklets, check_grid,
};
use fedirt_model::quadrature::GridSpec;

/// The plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Items, their models and categories, from the codebook alone.
    pub design: Design,
    /// Fixed site effects or none.
    pub effects: Effects,
    /// Without effects: SD between sites, so that ability is N(0, 1 + site_sd²).
    pub site_sd: f64,
    /// Integration over ability.
    pub grid: GridSpec,
    /// Item sets that students were given, as positions in the design.
    pub booklets: Vec<Vec<usize>>,
    /// Sites with their enrolled rows.
    pub sites: Vec<SitePlan>,
    /// Rows that lack answers. The published algorithm has no coordinate that counts complete rows: with
    /// [`MissingAnswers::Counted`] incomplete ones are left out, and nobody learns how many.
    pub missing: MissingAnswers,
    /// Priors: τ_a, τ_β and τ_s are its first three numbers.
    pub prior: Prior,
    /// How the run descends.
    pub settings: Settings,
    /// σ: the noise in each coordinate of a round's sum has standard deviation σC.
    pub noise_multiplier: f64,
}

impl Plan {
    /// A plan for complete data with defaults for the rest.
    ///
    /// Without sampling σ = √R/μ(ε, δ); with it, an accountant has to say (Poisson-subsampled Gaussian mechanism).
    pub fn new(
        design: Design,
        effects: Effects,
        sites: Vec<(String, u64)>,
        settings: Settings,
        noise_multiplier: f64,
    ) -> Self {
        let booklets = vec![(0..design.len()).collect()];
        Self {
            design,
            effects,
            site_sd: 0.0,
            grid: GridSpec::default(),
            booklets,
            sites: sites.into_iter().map(|(name, n)| SitePlan { name, rows: vec![n] }).collect(),
            missing: MissingAnswers::Wrong,
            // As published and tuned: τ_β = 1.
            prior: Prior { difficulty_sd: 1.0, ..Prior::default() },
            settings,
            noise_multiplier,
        }
    }

    /// Where parameters stand.
    pub fn layout(&self) -> Result<Layout, PrivateError> {
        Layout::new(&self.design, self.effects, self.sites.len())
    }

    /// σC, the standard deviation of the noise in each coordinate of a round's sum.
    pub fn noise_sd(&self) -> f64 {
        self.noise_multiplier * self.settings.clip
    }

    /// Rows enrolled at all sites.
    pub fn students(&self) -> u64 {
        self.sites.iter().flat_map(|s| &s.rows).sum()
    }

    /// Checks what can be checked before any row is read.
    pub(super) fn check(&self) -> Result<(), PrivateError> {
        let fail = |what: &str| Err(PrivateError::Plan(what.to_owned()));
        let positive = |x: f64| x.is_finite() && x > 0.0;
        check_booklets(&self.design, &self.booklets).or_else(fail)?;
        check_grid(self.grid).or_else(fail)?;
        self.settings.problem().map_or(Ok(()), fail)?;
        if self.sites.iter().any(|s| s.rows.len() != self.booklets.len()) {
            return fail("every site needs a number of rows for each booklet");
        }
        if self.students() == 0 {
            return fail("there are no students");
        }
        if !positive(self.noise_multiplier) || !positive(self.noise_sd()) {
            return fail("the noise multiplier must be positive");
        }
        let p = &self.prior;
        if ![p.log_slope_sd, p.difficulty_sd, p.effect_sd].iter().all(|s| positive(*s)) {
            return fail("SDs of priors must be positive");
        }
        if !(0.0..=10.0).contains(&self.site_sd) {
            return fail("the SD between sites is out of range");
        }
        Ok(())
    }
}

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// log a of an item.
    Slope,
    /// A difficulty.
    Difficulty,
    /// The effect of a site.
    Effect,
}

/// θ = (log a_j, b_j1..b_jm for each item; s_1..s_K). Items whose slope is fixed at 1 have no log a; there are no
/// s_k without fixed effects, or where a single site has nothing to differ from.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    coordinates: Coordinates,
    kinds: Vec<Kind>,
    sites: usize,
}

impl Layout {
    /// The parameters of a design at that many sites.
    pub fn new(design: &Design, effects: Effects, sites: usize) -> Result<Self, PrivateError> {
        let coordinates = Coordinates::new(design, effects, sites, false)?;
        let mut kinds = Vec::with_capacity(coordinates.items());
        for j in 0..design.len() {
            kinds.extend(coordinates.slope_is_free(j).then_some(Kind::Slope));
            kinds.extend(coordinates.difficulties(j).map(|_| Kind::Difficulty));
        }
        let sites = if coordinates.contrasts() > 0 { sites } else { 0 };
        Ok(Self { coordinates, kinds, sites })
    }

    /// Number of parameters, and of numbers in a round's sum.
    pub fn len(&self) -> usize {
        // Saturating: a request may name any number of sites, and is refused by its length.
        self.coordinates.items().saturating_add(self.sites)
    }

    /// Whether there is nothing to estimate.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the parameters of items stand.
    pub fn items(&self) -> &Coordinates {
        &self.coordinates
    }

    /// Where the effect of a site stands.
    pub fn effect(&self, site: usize) -> Option<usize> {
        (site < self.sites).then(|| self.coordinates.items() + site)
    }

    /// Where effects stand.
    pub fn effects(&self) -> std::ops::Range<usize> {
        self.coordinates.items()..self.len()
    }

    /// What each parameter is.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.kinds.iter().copied().chain(std::iter::repeat_n(Kind::Effect, self.sites))
    }

    /// Means and precisions of the priors. Difficulties of items with two categories are around 0, as in the
    /// paper; those of others around the normal quantiles of their steps, which have to differ.
    pub(super) fn prior(&self, prior: &Prior) -> (Vec<f64>, Vec<f64>) {
        let (mut mean, mut precision) = prior.vectors(&self.coordinates);
        mean.truncate(self.coordinates.items());
        precision.truncate(self.coordinates.items());
        mean.resize(self.len(), 0.0);
        precision.resize(self.len(), prior.effect_sd.powi(-2));
        (mean, precision)
    }
}
