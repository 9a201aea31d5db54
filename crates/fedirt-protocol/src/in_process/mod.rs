//! Coordinator and all sites in one process.
//!
//! In `plain` mode sites and coordinator are in the same hands and hide nothing from each other: the coordinator's centre asks the
//! sites directly, and their sums are added up one after the other (`direct.rs`). In the other modes the machines that run over
//! a network exchange their messages here (`messages.rs`).

mod direct;
mod messages;

use crate::coordinator::{CoordinatorError, ExactSum, Finished, Robust};
use crate::declaration::Declaration;
use crate::message::{Question, Turn};
use crate::private::PrivateTerms;
use crate::terms::{Deadlines, Masking, OnLoss, Terms};
use crate::{SiteId, StudyId, codec};
use fedirt_model::centre::Plan;
use fedirt_model::fit::TraceEntry;
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::EffectEstimate;
use fedirt_model::statistics::{Mode, Statistic};
use fedirt_privacy::secure::{ThresholdError, Thresholds};
use rand::rngs::ChaCha20Rng;
use rand::{CryptoRng, SeedableRng};
use std::collections::BTreeMap;

/// How a run hides what it hides.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Mode.
    pub mode: Mode,
    /// What `private` promises.
    pub private: Option<PrivateTerms>,
    /// Sites that may work with the coordinator.
    pub colluders: usize,
}

impl Setting {
    /// A mode that needs no more to be said.
    pub fn of(mode: Mode) -> Self {
        Self { mode, private: None, colluders: 0 }
    }
}

/// What a site sends, as an observer sees it.
#[derive(Debug)]
pub enum Sent<'a> {
    /// Numbers.
    Numbers(&'a [(Statistic, Vec<f64>)]),
    /// Masked words: their hash.
    Masked(&'a [u8]),
}

/// What a run may be watched by.
pub trait Observer {
    /// All sites are about to be asked.
    fn asks(&mut self, _turn: Turn, _question: &Question) {}
    /// A round is complete.
    fn round(&mut self, entry: &TraceEntry);
    /// A site declares what it has.
    fn declared(&mut self, site: &str, declaration: &Declaration);
    /// A site answers a round.
    fn sent(&mut self, site: &str, turn: Turn, question: &Question, sent: Sent<'_>);
    /// Whether [`Observer::declared`] and [`Observer::sent`] want to be called.
    fn wants_numbers(&self) -> bool;
    /// Whether the run should end without a result, which is asked before each round.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn round(&mut self, _entry: &TraceEntry) {}
    fn declared(&mut self, _site: &str, _declaration: &Declaration) {}
    fn sent(&mut self, _site: &str, _turn: Turn, _question: &Question, _sent: Sent<'_>) {}
    fn wants_numbers(&self) -> bool {
        false
    }
}

/// A site after a run.
#[derive(Debug)]
pub struct SiteAfter {
    /// Its rows.
    pub table: ResponseTable,
    /// Its own effect, which it alone knows in `secure`.
    pub own_effect: Option<EffectEstimate>,
}

/// Why a run in one process ends without a result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The coordinator gave up.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
    /// Too few sites to hide among.
    #[error(transparent)]
    Sites(#[from] ThresholdError),
    /// A message could not be built.
    #[error(transparent)]
    Codec(#[from] codec::CodecError),
    /// The observer wanted it.
    #[error("stopped before the end")]
    Stopped,
    /// A message was rejected, or none came.
    #[error("{0}")]
    Stuck(String),
}

/// Fewest sites of a sum.
const N_MIN: usize = 3;

/// Terms of a run in one process: sites are numbered, so that their order is that of the files.
pub fn terms(plan: Plan, setting: Setting, names: &[String]) -> Result<Terms, RunError> {
    let stuck = |e: &dyn std::fmt::Display| RunError::Stuck(e.to_string());
    let study = StudyId::try_from("in one process").map_err(|e| stuck(&e))?;
    let mut sites = BTreeMap::new();
    for (k, name) in names.iter().enumerate() {
        let id = SiteId::try_from(format!("{k:09}").as_str()).map_err(|e| stuck(&e))?;
        sites.insert(id, name.clone());
    }
    Ok(Terms {
        study,
        plan_hash: [0; 32],
        plan,
        mode: setting.mode,
        private: setting.private,
        thresholds: Thresholds::new(N_MIN + setting.colluders, setting.colluders)?,
        masking: Masking::Full,
        on_loss: OnLoss::End,
        deadlines: Deadlines::default(),
        sites,
    })
}

/// Runs a calibration in `plain` mode.
pub fn run(
    plan: Plan,
    sites: Vec<(String, ResponseTable)>,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    direct::run(terms(plan, Setting::of(Mode::Plain), &names(&sites))?, sites, observer)
}

/// [`run`] with another way to combine the sites' gradients, each of which the coordinator sees.
pub fn run_robust(
    plan: Plan,
    sites: Vec<(String, ResponseTable)>,
    robust: Robust,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    // Keys hide nothing here: no message of this mode depends on them.
    let random = &mut ChaCha20Rng::from_seed([0; 32]);
    let terms = terms(plan, Setting::of(Mode::Plain), &names(&sites))?;
    messages::run(terms, Box::new(robust), sites, random, observer)
}

/// Runs a calibration of named sites to its end in a mode, and hands their tables back. Each table has one column per
/// item of the plan. Randomness is for keys and noise.
pub fn run_as(
    setting: Setting,
    plan: Plan,
    sites: Vec<(String, ResponseTable)>,
    random: &mut impl CryptoRng,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    match setting.mode {
        Mode::Plain => run(plan, sites, observer),
        Mode::Secure | Mode::Private => run_by_messages(setting, plan, sites, random, observer),
    }
}

/// [`run_as`] with messages between the machines in every mode, as over a network.
pub fn run_by_messages(
    setting: Setting,
    plan: Plan,
    sites: Vec<(String, ResponseTable)>,
    random: &mut impl CryptoRng,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    messages::run(terms(plan, setting, &names(&sites))?, Box::new(ExactSum), sites, random, observer)
}

fn names(sites: &[(String, ResponseTable)]) -> Vec<String> {
    sites.iter().map(|(name, _)| name.clone()).collect()
}
