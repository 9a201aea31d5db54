//! `private`: what the plan fixes before any row is read, and what each side derives from it alone.
//!
//! A site takes from a broadcast the point θ and the numbers of the statistic and nothing else, and its rows are clipped and
//! blurred whatever these are. Clipping norm, noise and lattice follow from the plan, the declarations and the cohort.

use crate::declaration::Declarations;
use crate::terms::Terms;
use fedirt_model::centre::ItemPlan;
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::Effects;
use fedirt_model::items::default_model;
use fedirt_model::population::Population;
use fedirt_model::private::{
    MissingAnswers, PrivateError, PrivateMethod, PrivatePlan, ROUND_SHARES, ScoreRequest, SitePlan,
    each_row_statistic,
};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_privacy::accountant::{AccountantError, Delta, Epsilon, GaussianDp};
use fedirt_privacy::clip::ClipError;
use fedirt_privacy::noise::{Lattice, NoiseError, Shares};
use fedirt_privacy::secure::SiteId;
use rand::CryptoRng;
use std::collections::BTreeSet;

/// The parts of ε and of δ that are set aside for noise being made in integers ([`DistributedNoise::keeps`]).
///
/// [`DistributedNoise::keeps`]: fedirt_privacy::accountant::DistributedNoise::keeps
const FOR_INTEGERS: (f64, f64) = (1e-6, 1e-4);

/// The privacy that a plan promises, and the model's settings that only this mode has.
#[derive(Debug, Clone, PartialEq)]
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
    /// What is summed, and what is believed before any data.
    pub method: PrivateMethod,
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
    /// Integers would cost more than is set aside for them.
    #[error(
        "noise in integers would cost more of ε and δ than is set aside for it: too many numbers or rounds"
    )]
    Integers,
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
    /// What continuous noise has to keep, so that the same noise in integers keeps (ε, δ).
    pub fn continuous_budget(&self) -> Result<(Epsilon, Delta), AccountantError> {
        let (epsilon, delta) = (Epsilon::new(self.epsilon)?, Delta::new(self.delta)?);
        let rest = (1.0 - FOR_INTEGERS.0, 1.0 - FOR_INTEGERS.1);
        Ok((Epsilon::new(rest.0 * epsilon.value())?, Delta::new(rest.1 * delta.value())?))
    }

    /// μ of Gaussian differential privacy that gives (ε, δ), noise in integers included.
    pub fn mu(&self) -> Result<f64, AccountantError> {
        let (epsilon, delta) = self.continuous_budget()?;
        Ok(GaussianDp::for_budget(epsilon, delta).mu())
    }

    /// ε where a student's answers are replaced by others: the sum then moves up to twice as far.
    pub fn epsilon_replaced(&self) -> Result<f64, AccountantError> {
        let (epsilon, delta) = self.continuous_budget()?;
        Ok(GaussianDp::for_budget(epsilon, delta).replaced().epsilon(delta))
    }
}

/// What an officer should know about a δ above one in ten times the students.
pub(crate) fn large_delta(delta: f64, students: u64) -> String {
    format!(
        "δ is {delta:e}, more than one in ten times the {students} students: with that probability the promise may fail altogether, and a smaller one promises more"
    )
}

/// Rows by booklet: the smallest that holds all answers of a row, or most of them where none holds all. Every row is in
/// one, so that their number is that of the students whatever they answered. Without booklets, all rows.
pub fn rows_by_booklet(booklets: &[Vec<usize>], table: &ResponseTable) -> Vec<u64> {
    if booklets.is_empty() {
        return vec![table.students() as u64];
    }
    let mut rows = vec![0; booklets.len()];
    for row in table.rows() {
        let outside =
            |b: &[usize]| row.iter().enumerate().filter(|(j, c)| **c != MISSING && !b.contains(j)).count();
        let nearest = booklets.iter().enumerate().min_by_key(|(_, b)| (outside(b), b.len()));
        if let Some((at, _)) = nearest {
            rows[at] += 1;
        }
    }
    rows
}

/// Rows that lack an answer to an item of their booklet (or fit none). For the site's own eyes.
pub fn incomplete_rows(given: &[Vec<usize>], table: &ResponseTable) -> u64 {
    let all: Vec<usize> = (0..table.items()).collect();
    let booklets: Vec<&[usize]> =
        if given.is_empty() { vec![&all] } else { given.iter().map(Vec::as_slice).collect() };
    let complete = |row: &&[u8]| {
        let answered: Vec<usize> = (0..row.len()).filter(|&j| row[j] != MISSING).collect();
        booklets.iter().any(|booklet| *booklet == answered)
    };
    (table.students() - table.rows().filter(complete).count()) as u64
}

/// The items of a private calibration: models and categories come from the codebook, never from answers.
pub fn design_of(items: &[ItemPlan]) -> Result<Design, PrivateRefusal> {
    let items = items.iter().enumerate().map(|(column, item)| {
        let codes = item.codes.clone().unwrap_or_default();
        let usual = default_model(codes.len()).name();
        DesignItem { column, model: item.model.clone().unwrap_or_else(|| usual.to_owned()), codes }
    });
    Design::try_from(items.collect::<Vec<_>>())
        .map_err(|_| PrivateRefusal::Question("the codebook is no design"))
}

/// The calibration of a cohort, the same at the centre and at every site.
pub fn plan_of(
    terms: &Terms,
    declarations: &Declarations,
    cohort: &BTreeSet<SiteId>,
) -> Result<PrivatePlan, PrivateRefusal> {
    let private = terms.private.as_ref().ok_or(PrivateRefusal::NoTerms)?;
    let plan = &terms.plan;
    let design = design_of(&plan.items)?;
    let sites: Vec<SitePlan> = cohort
        .iter()
        .filter_map(|site| Some((site, declarations.get(site)?)))
        .map(|(site, declared)| SitePlan { name: terms.label(site), rows: declared.booklets.clone() })
        .collect();
    // One site has no effect of its own.
    let effects = if sites.len() < 2 { Effects::None } else { plan.effects };
    let booklets = if private.booklets.is_empty() {
        vec![(0..design.len()).collect()]
    } else {
        private.booklets.clone()
    };
    let mut out = PrivatePlan::new(design, effects, Vec::new(), private.mu()?)?;
    (out.sites, out.booklets) = (sites, booklets);
    // Unless the plan names a grid, it is as fine as the length of the test requires.
    if plan.population != Population::default() {
        out.grid = plan.population.grid();
    }
    (out.site_sd, out.missing) = (private.site_sd, private.missing);
    (out.mixture, out.seed) = (private.mixture, private.seed);
    (out.mechanism, out.prior.difficulty_sd) = (private.method.mechanism, private.method.difficulty_sd);
    out.noise_sd = out.central_noise()?;
    Ok(out)
}

/// How many sites of a cohort may work with the coordinator, and the noise of the others is still enough: the plan's c;
/// with one or two sites each carries the whole noise.
pub fn colluders(terms: &Terms, sites: usize) -> usize {
    if sites <= 2 { sites.saturating_sub(1) } else { terms.thresholds.colluders() }
}

/// The noise of a stage (the first, the second … question) for a cohort.
pub fn noise(terms: &Terms, plan: &PrivatePlan, stage: usize) -> Result<Noise, PrivateRefusal> {
    let share = ROUND_SHARES.get(stage).ok_or(PrivateRefusal::Question("there are two rounds only"))?;
    let sigma = 1.0 / (plan.mu * share.sqrt());
    let lattice = Lattice::new(plan.clip()?, sigma)?;
    let sites = plan.sites.len();
    let colluders = colluders(terms, sites) as u32;
    let shares = lattice.shares(plan.width()? as u32, plan.students(), sites as u32, colluders)?;
    let private = terms.private.as_ref().ok_or(PrivateRefusal::NoTerms)?;
    let (epsilon, delta) = private.continuous_budget()?;
    let (inner, whole) = ((epsilon.value(), delta.value()), (private.epsilon, private.delta));
    // The cheapest question may be asked several times before the budget is spent.
    let cheapest = ROUND_SHARES.iter().copied().fold(f64::INFINITY, f64::min);
    if !shares.noise().keeps((1.0 / cheapest) as u32, inner, whole)? {
        return Err(PrivateRefusal::Integers);
    }
    Ok(Noise { lattice, shares, mu_squared: sigma.powi(-2), sites })
}

/// Whether a question is one of the plan's: everything but θ and the numbers of the statistic.
pub fn check_question(plan: &PrivatePlan, asked: &ScoreRequest) -> Result<(), PrivateRefusal> {
    let same = [
        (asked.design == plan.design, "items, models or categories differ"),
        (asked.effects == plan.effects && asked.site_sd == plan.site_sd, "site effects differ"),
        (asked.sites == plan.sites.len(), "the number of sites differs"),
        (asked.grid == plan.grid, "the grid over ability differs"),
        (asked.mixture == plan.mixture && asked.missing == plan.missing, "the treatment of rows differs"),
        (asked.booklets == plan.booklets, "booklets differ"),
        (asked.statistic.mechanism() == plan.mechanism, "the mechanism differs"),
        (asked.clip == plan.clip()?, "the clipping norm differs"),
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
    question: &ScoreRequest,
    noise: &Noise,
    random: &mut impl CryptoRng,
) -> Result<Vec<u64>, PrivateRefusal> {
    let mut clipper = noise.lattice.clipper(question.width()?)?;
    each_row_statistic(table, index, question, |row| clipper.add(row))?;
    Ok(clipper.finish().with_noise(noise.shares.draw(random))?.into_words())
}
