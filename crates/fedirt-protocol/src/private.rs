//! `private`: what the plan fixes before any row is read, and what each side derives from it alone.
//!
//! A site trusts nothing that is broadcast but the point θ and the whitening W, and its rows are clipped and blurred
//! whatever these are. Clipping norm, noise and lattice follow from the plan, the declarations and the cohort.

use crate::declaration::Declarations;
use crate::terms::Terms;
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{
    MissingAnswers, PrivateError, ROUND_SHARES, Score2Plan, ScoreRequest, SitePlan, each_whitened_score,
    fedirt_dp,
};
use fedirt_model::quadrature::GridSpec;
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_privacy::accountant::{self, AccountantError, Delta, Epsilon, GaussianDp, noise_multiplier};
use fedirt_privacy::clip::ClipError;
use fedirt_privacy::noise::{self, Lattice, NoiseError, NoiseShare, Shares};
use fedirt_privacy::secure::SiteId;
use rand::rngs::ChaCha20Rng;
use rand::{CryptoRng, SeedableRng};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The parts of ε and of δ that are set aside for noise being made in integers ([`DistributedNoise::keeps`]).
///
/// [`DistributedNoise::keeps`]: fedirt_privacy::accountant::DistributedNoise::keeps
const FOR_INTEGERS: (f64, f64) = (1e-6, 1e-4);

/// Who makes the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseAt {
    /// The sites, each a share: nobody sees an exact sum.
    Sites,
    /// The server, as published: no protection against it.
    Server {
        /// Where its noise comes from: fresh randomness for every run.
        seed: [u8; 32],
    },
}

/// How noisy sums are made and used.
#[derive(Debug, Clone, PartialEq)]
pub enum Mechanism {
    /// Two rounds of whitened scores.
    Score2 {
        /// Whether shares of all-lowest and all-highest rows are modelled apart.
        mixture: bool,
    },
    /// Many rounds of gradients, as published: a baseline, in one process only.
    FedirtDp {
        /// Its settings.
        settings: fedirt_dp::Settings,
        /// Who makes the noise.
        noise: NoiseAt,
    },
}

/// The privacy that a plan promises, and the model's settings that only this mode has.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateTerms {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// The mechanism.
    pub mechanism: Mechanism,
    /// Rows that lack an answer to an item of their booklet.
    pub missing: MissingAnswers,
    /// Without site effects: SD between sites.
    pub site_sd: f64,
    /// Item sets that students were given, as columns of the codebook; empty: all items to everybody.
    pub booklets: Vec<Vec<usize>>,
    /// Public seed of simulated expectations.
    pub seed: u64,
}

/// The question of a private round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ScoreQuestion {
    /// Of score2.
    Whitened(ScoreRequest),
    /// Of FedIRT-DP.
    Gradient(fedirt_dp::Request),
}

impl ScoreQuestion {
    /// How many numbers a site sends.
    pub fn width(&self) -> Result<usize, PrivateError> {
        match self {
            Self::Whitened(request) => request.width(),
            Self::Gradient(request) => request.width(),
        }
    }
}

/// A private calibration of a cohort.
#[derive(Debug, Clone, PartialEq)]
pub enum PrivatePlan {
    /// By score2.
    Score2(Box<Score2Plan>),
    /// By FedIRT-DP.
    FedirtDp(Box<fedirt_dp::Plan>),
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
    pub(crate) fn budget(&self) -> Result<(Epsilon, Delta), AccountantError> {
        let (epsilon, delta) = (Epsilon::new(self.epsilon)?, Delta::new(self.delta)?);
        let rest = (1.0 - FOR_INTEGERS.0, 1.0 - FOR_INTEGERS.1);
        Ok((Epsilon::new(rest.0 * epsilon.value())?, Delta::new(rest.1 * delta.value())?))
    }

    /// μ of Gaussian differential privacy that gives (ε, δ), noise in integers included.
    pub fn mu(&self) -> Result<f64, AccountantError> {
        let (epsilon, delta) = self.budget()?;
        Ok(GaussianDp::for_budget(epsilon, delta).mu())
    }

    /// Whether the server sees exact sums: then nothing is hidden from it.
    pub fn server_makes_the_noise(&self) -> bool {
        matches!(self.mechanism, Mechanism::FedirtDp { noise: NoiseAt::Server { .. }, .. })
    }

    /// ε where a student's answers are replaced by others: the sum then moves up to twice as far.
    pub fn epsilon_replaced(&self) -> Result<f64, AccountantError> {
        let (epsilon, delta) = self.budget()?;
        match &self.mechanism {
            Mechanism::Score2 { .. } => Ok(GaussianDp::for_budget(epsilon, delta).replaced().epsilon(delta)),
            Mechanism::FedirtDp { settings, .. } => {
                let (rate, rounds) = (settings.sampling_rate, settings.rounds as u32);
                let sigma = noise_multiplier((epsilon, delta), rate, rounds)?;
                Ok(accountant::Mechanism::new(rate, sigma, rounds)?.epsilon_replaced(delta))
            }
        }
    }
}

impl PrivatePlan {
    /// Rows enrolled.
    pub fn students(&self) -> u64 {
        match self {
            Self::Score2(plan) => plan.students(),
            Self::FedirtDp(plan) => plan.students(),
        }
    }

    /// How many numbers a site sends in a round.
    pub fn width(&self) -> Result<usize, PrivateRefusal> {
        self.sum(0).map(|(_, _, width)| width)
    }

    /// C: no row's score may be longer.
    pub fn clip(&self) -> Result<f64, PrivateRefusal> {
        self.sum(0).map(|(clip, _, _)| clip)
    }

    pub(crate) fn sites(&self) -> usize {
        match self {
            Self::Score2(plan) => plan.sites.len(),
            Self::FedirtDp(plan) => plan.sites.len(),
        }
    }

    /// Planned rounds.
    fn rounds(&self) -> usize {
        match self {
            Self::Score2(_) => ROUND_SHARES.len(),
            Self::FedirtDp(plan) => plan.settings.rounds,
        }
    }

    /// C, the noise multiplier σ and the number of coordinates of a stage's sum.
    fn sum(&self, stage: usize) -> Result<(f64, f64, usize), PrivateRefusal> {
        match self {
            Self::Score2(plan) => {
                let share =
                    ROUND_SHARES.get(stage).ok_or(PrivateRefusal::Question("there are two rounds only"))?;
                Ok((plan.clip()?, 1.0 / (plan.mu * share.sqrt()), plan.width()?))
            }
            Self::FedirtDp(plan) if stage < plan.settings.rounds => {
                Ok((plan.settings.clip, plan.noise_multiplier, plan.layout()?.len()))
            }
            Self::FedirtDp(_) => Err(PrivateRefusal::Question("there are no more rounds")),
        }
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
pub fn rows_by_booklet(terms: &Terms, table: &ResponseTable) -> Vec<u64> {
    let booklets = terms.private.as_ref().map_or(&[][..], |p| &p.booklets);
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

/// The calibration of a cohort, the same at the centre and at every site.
pub fn plan_of(
    terms: &Terms,
    declarations: &Declarations,
    cohort: &BTreeSet<SiteId>,
) -> Result<PrivatePlan, PrivateRefusal> {
    let private = terms.private.as_ref().ok_or(PrivateRefusal::NoTerms)?;
    let plan = &terms.plan;
    let items = plan.items.iter().enumerate().map(|(column, item)| {
        let codes = item.codes.clone().unwrap_or_default();
        let usual = if codes.len() > 2 { "gpcm" } else { "2pl" };
        DesignItem { column, model: item.model.clone().unwrap_or_else(|| usual.to_owned()), codes }
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
    let booklets = if private.booklets.is_empty() {
        vec![(0..design.len()).collect()]
    } else {
        private.booklets.clone()
    };
    match &private.mechanism {
        Mechanism::Score2 { mixture } => {
            let mut out = Score2Plan::new(design, effects, Vec::new(), private.mu()?)?;
            (out.sites, out.booklets) = (sites, booklets);
            // Left alone, the grid is as fine as the test's length asks for.
            if plan.grid != GridSpec::default() {
                out.grid = plan.grid;
            }
            (out.site_sd, out.missing) = (private.site_sd, private.missing);
            (out.mixture, out.seed) = (*mixture, private.seed);
            out.noise_sd = out.central_noise()?;
            Ok(PrivatePlan::Score2(Box::new(out)))
        }
        Mechanism::FedirtDp { settings, .. } => {
            let sigma = noise_multiplier(private.budget()?, settings.sampling_rate, settings.rounds as u32)?;
            let mut out = fedirt_dp::Plan::new(design, effects, Vec::new(), *settings, sigma);
            (out.sites, out.booklets, out.grid) = (sites, booklets, plan.grid);
            (out.site_sd, out.missing) = (private.site_sd, private.missing);
            Ok(PrivatePlan::FedirtDp(Box::new(out)))
        }
    }
}

/// How many sites of a cohort may work with the coordinator, and the noise of the others is still enough: the plan's c;
/// with one or two sites each carries the whole noise.
pub fn colluders(terms: &Terms, sites: usize) -> usize {
    if sites <= 2 { sites.saturating_sub(1) } else { terms.thresholds.colluders() }
}

/// The noise of a stage (the first, the second … question) for a cohort.
pub fn noise(terms: &Terms, plan: &PrivatePlan, stage: usize) -> Result<Noise, PrivateRefusal> {
    let (clip, sigma, width) = plan.sum(stage)?;
    let lattice = Lattice::new(clip, sigma)?;
    let sites = plan.sites();
    let colluders = colluders(terms, sites) as u32;
    let shares = lattice.shares(width as u32, plan.students(), sites as u32, colluders)?;
    let private = terms.private.as_ref().ok_or(PrivateRefusal::NoTerms)?;
    let (epsilon, delta) = private.budget()?;
    let (inner, whole) = ((epsilon.value(), delta.value()), (private.epsilon, private.delta));
    if !shares.noise().keeps(plan.rounds() as u32, inner, whole)? {
        return Err(PrivateRefusal::Integers);
    }
    // Sampling only helps: what it saves is in σ already, and a filter may count the whole.
    Ok(Noise { lattice, shares, mu_squared: sigma.powi(-2), sites })
}

/// Whether a question is one of the plan's: everything but θ and W.
pub fn check_question(plan: &PrivatePlan, question: &ScoreQuestion) -> Result<(), PrivateRefusal> {
    let same = match (plan, question) {
        (PrivatePlan::Score2(plan), ScoreQuestion::Whitened(asked)) => vec![
            (asked.design == plan.design, "items, models or categories differ"),
            (asked.effects == plan.effects && asked.site_sd == plan.site_sd, "site effects differ"),
            (asked.sites == plan.sites.len(), "the number of sites differs"),
            (asked.grid == plan.grid, "the grid over ability differs"),
            (asked.mixture == plan.mixture && asked.missing == plan.missing, "the treatment of rows differs"),
            (asked.booklets == plan.booklets, "booklets differ"),
            (asked.clip == plan.clip()?, "the clipping norm differs"),
        ],
        (PrivatePlan::FedirtDp(plan), ScoreQuestion::Gradient(asked)) => vec![
            (asked.design == plan.design, "items, models or categories differ"),
            (asked.effects == plan.effects && asked.site_sd == plan.site_sd, "site effects differ"),
            (asked.sites == plan.sites.len(), "the number of sites differs"),
            (asked.grid == plan.grid, "the grid over ability differs"),
            (asked.missing == plan.missing && asked.booklets == plan.booklets, "booklets or rows differ"),
            (asked.clip == plan.settings.clip, "the clipping norm differs"),
            (asked.sampling_rate == plan.settings.sampling_rate, "the sampling rate differs"),
        ],
        _ => vec![(false, "it is of another mechanism")],
    };
    match same.iter().find(|(fine, _)| !fine) {
        Some((_, what)) => Err(PrivateRefusal::Question(what)),
        None => Ok(()),
    }
}

/// A site's answer: its rows clipped and summed, with its share of the noise. There is no other way to the numbers,
/// unless the terms name the server as the one who makes the noise.
pub fn answer(
    terms: &Terms,
    table: &ResponseTable,
    index: usize,
    question: &ScoreQuestion,
    noise: &Noise,
    random: &mut impl CryptoRng,
) -> Result<Vec<u64>, PrivateRefusal> {
    let mut clipper = noise.lattice.clipper(question.width()?)?;
    match question {
        ScoreQuestion::Whitened(request) => {
            each_whitened_score(table, index, request, |row| clipper.add(row))?;
        }
        ScoreQuestion::Gradient(request) => {
            let rate = request.sampling_rate;
            fedirt_dp::each_gradient(table, index, request, |row| {
                // Drawn for every row, whether it counts or not.
                if rate >= 1.0 || noise::sample(random, rate) {
                    clipper.add(row);
                }
            })?;
        }
    }
    let sum = clipper.finish();
    if terms.private.as_ref().is_some_and(PrivateTerms::server_makes_the_noise) {
        return Ok(sum.exact_sum_for_a_trusted_server());
    }
    Ok(sum.with_noise(noise.shares.draw(random))?.into_words())
}

/// The server's own noise on an exact sum, where the terms say so; gives the SD of the noise in the sum.
pub fn server_noise(
    terms: &Terms,
    noise: &Noise,
    stage: usize,
    total: &mut [u64],
) -> Result<f64, PrivateRefusal> {
    let Some(Mechanism::FedirtDp { noise: NoiseAt::Server { seed }, .. }) =
        terms.private.as_ref().map(|private| &private.mechanism)
    else {
        return Ok(noise.sum_sd());
    };
    let mut random = ChaCha20Rng::from_seed(*seed);
    random.set_stream(stage as u64);
    let sd = noise.lattice.sum_sd().ceil();
    NoiseShare::draw(&mut random, sd as u64, total.len()).add_at_a_trusted_server(total)?;
    Ok(sd * noise.lattice.step())
}
