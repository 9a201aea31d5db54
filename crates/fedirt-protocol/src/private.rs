//! `private`: what the plan fixes before any row is read, and what each side derives from it alone.
//!
//! A site trusts nothing that is broadcast but the point θ and the whitening W, and its rows are clipped and blurred
//! whatever these are. Clipping norm, noise and lattice follow from the plan, the declarations and the cohort.

use crate::declaration::Declarations;
use crate::terms::Terms;
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Privacy;
use fedirt_model::private::{
    MissingAnswers, PrivateError, ROUND_SHARES, Score2Plan, ScoreRequest, SitePlan, each_whitened_score,
};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_privacy::accountant::{ADJACENCY, AccountantError, Delta, Epsilon, GaussianDp};
use fedirt_privacy::clip::{ClipError, NoisySum};
use fedirt_privacy::noise::{Lattice, NoiseError, Shares};
use fedirt_privacy::secure::SiteId;
use rand::CryptoRng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The privacy that a plan promises, and the model's settings that only this mode has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivateTerms {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// Whether shares of all-lowest and all-highest rows are modelled apart.
    pub mixture: bool,
    /// Rows that lack an answer to an item of their booklet.
    pub missing: MissingAnswers,
    /// Without site effects: SD between sites.
    pub site_sd: f64,
    /// Item sets that students were given, as columns of the codebook; empty: all items to everybody.
    pub booklets: Vec<Vec<usize>>,
    /// Public seed of simulated expectations.
    pub seed: u64,
}

/// Why a private round cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PrivateRefusal {
    /// The model.
    #[error(transparent)]
    Model(#[from] PrivateError),
    /// ε or δ.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
    /// The noise.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The clipping.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// The question is not the plan's.
    #[error("the question is not the plan's: {0}")]
    Question(&'static str),
    /// The plan has no privacy terms.
    #[error("the plan does not say which ε and δ it promises")]
    NoTerms,
}

/// One round's noise.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    /// Lattice, clipping norm and noise multiplier.
    pub lattice: Lattice,
    /// Each site's share.
    pub shares: Shares,
    /// What the round costs: μ².
    pub mu_squared: f64,
    sites: usize,
}

impl Noise {
    /// SD of the noise in each coordinate of the sum, in the units of the rows.
    pub fn sum_sd(&self) -> f64 {
        self.shares.sd() as f64 * self.lattice.step() * (self.sites as f64).sqrt()
    }
}

impl PrivateTerms {
    /// μ of Gaussian differential privacy that gives (ε, δ).
    pub fn mu(&self) -> Result<f64, AccountantError> {
        Ok(GaussianDp::for_budget(Epsilon::new(self.epsilon)?, Delta::new(self.delta)?).mu())
    }

    /// The statement that every result carries.
    pub fn statement(&self) -> Result<Privacy, AccountantError> {
        Ok(Privacy {
            epsilon: self.epsilon,
            delta: self.delta,
            mechanism: "score2: two rounds of whitened, clipped score sums; discrete Gaussian noise made at the sites".into(),
            adjacency: ADJACENCY.to_owned(),
            noise_multiplier: 1.0 / self.mu()?,
            rounds: ROUND_SHARES.len(),
        })
    }
}

/// Rows by booklet: the smallest that holds all answers of a row. Without booklets, all rows.
pub fn rows_by_booklet(terms: &Terms, table: &ResponseTable) -> Vec<u64> {
    let booklets = terms.private.as_ref().map_or(&[][..], |p| &p.booklets);
    if booklets.is_empty() {
        return vec![table.students() as u64];
    }
    let mut rows = vec![0; booklets.len()];
    for row in table.rows() {
        let holds = |b: &[usize]| row.iter().enumerate().all(|(j, c)| *c == MISSING || b.contains(&j));
        let fitting = booklets.iter().enumerate().filter(|(_, b)| holds(b));
        if let Some((at, _)) = fitting.min_by_key(|(_, b)| b.len()) {
            rows[at] += 1;
        }
    }
    rows
}

/// The calibration of a cohort, the same at the centre and at every site.
pub fn plan_of(
    terms: &Terms,
    declarations: &Declarations,
    cohort: &BTreeSet<SiteId>,
) -> Result<Score2Plan, PrivateRefusal> {
    let private = terms.private.as_ref().ok_or(PrivateRefusal::NoTerms)?;
    let plan = &terms.plan;
    let items = plan.items.iter().enumerate().map(|(column, item)| {
        let codes = item.codes.clone().unwrap_or_default();
        let model =
            item.model.clone().unwrap_or_else(|| if codes.len() > 2 { "gpcm" } else { "2pl" }.to_owned());
        DesignItem { column, model, codes }
    });
    let design = Design::try_from(items.collect::<Vec<_>>())
        .map_err(|_| PrivateRefusal::Question("the codebook is no design"))?;
    let sites: Vec<SitePlan> = cohort
        .iter()
        .filter_map(|site| Some((site, declarations.get(site)?)))
        .map(|(site, declared)| SitePlan { name: terms.label(site), rows: declared.booklets.clone() })
        .collect();
    // One site has no effect of its own.
    let effects = if sites.len() < 2 { Effects::None } else { plan.effects };
    let mut out = Score2Plan::new(design, effects, Vec::new(), private.mu()?)?;
    out.sites = sites;
    out.site_sd = private.site_sd;
    out.grid = plan.grid;
    if !private.booklets.is_empty() {
        out.booklets.clone_from(&private.booklets);
    }
    out.missing = private.missing;
    out.mixture = private.mixture;
    out.seed = private.seed;
    out.noise_sd = out.central_noise()?;
    Ok(out)
}

/// The noise of a stage (the first or the second question) for a cohort.
pub fn noise(terms: &Terms, plan: &Score2Plan, stage: usize) -> Result<Noise, PrivateRefusal> {
    let share = ROUND_SHARES.get(stage).ok_or(PrivateRefusal::Question("there are two rounds only"))?;
    let mu_squared = plan.mu * plan.mu * share;
    let lattice = Lattice::new(plan.clip()?, 1.0 / mu_squared.sqrt())?;
    let sites = plan.sites.len() as u32;
    // With one or two sites every honest one carries the whole noise.
    let colluders = if sites <= 2 { sites.saturating_sub(1) } else { terms.thresholds.colluders() as u32 };
    let shares = lattice.shares(plan.width()? as u32, plan.students(), sites, colluders)?;
    Ok(Noise { lattice, shares, mu_squared, sites: plan.sites.len() })
}

/// Whether a question is one of the plan's: everything but θ and W.
pub fn check_question(plan: &Score2Plan, request: &ScoreRequest) -> Result<(), PrivateRefusal> {
    let same = [
        (request.design == plan.design, "items, models or categories differ"),
        (request.effects == plan.effects && request.site_sd == plan.site_sd, "site effects differ"),
        (request.sites == plan.sites.len(), "the number of sites differs"),
        (request.grid == plan.grid, "the grid over ability differs"),
        (request.mixture == plan.mixture && request.missing == plan.missing, "the treatment of rows differs"),
        (request.booklets == plan.booklets, "booklets differ"),
        (request.clip == plan.clip()?, "the clipping norm differs"),
    ];
    match same.iter().find(|(fine, _)| !fine) {
        Some((_, what)) => Err(PrivateRefusal::Question(what)),
        None => Ok(()),
    }
}

/// A site's answer: its rows clipped and summed, with its share of the noise. There is no other way to the numbers.
pub fn answer(
    table: &ResponseTable,
    index: usize,
    request: &ScoreRequest,
    noise: &Noise,
    random: &mut impl CryptoRng,
) -> Result<NoisySum, PrivateRefusal> {
    let mut clipper = noise.lattice.clipper(request.width()?)?;
    each_whitened_score(table, index, request, |row| clipper.add(row))?;
    Ok(clipper.finish().with_noise(noise.shares.draw(random))?)
}
