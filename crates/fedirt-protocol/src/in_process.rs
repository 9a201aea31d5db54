//! Coordinator and all sites in one process: the same machines that run over a network, without one.

use crate::coordinator::{
    Aggregator, Coordinator, CoordinatorError, ExactSum, Finished, Input, Output, Rejection, Robust,
};
use crate::declaration::{Bounds, Declaration};
use crate::encoding::{self, Precision};
use crate::message::{Broadcast, Notice, Question, Sums, ToCoordinator, ToSite, Turn};
use crate::policy::Policy;
use crate::private::PrivateTerms;
use crate::site::{SiteMachine, SiteOutput};
use crate::terms::{Deadlines, OnLoss, Terms};
use crate::{SiteId, StudyId, Timestamp, codec};
use fedirt_model::centre::Plan;
use fedirt_model::fit::TraceEntry;
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::EffectEstimate;
use fedirt_model::statistics::{Combination, Mode, Statistic};
use fedirt_privacy::secure::{Identity, ThresholdError, Thresholds};
use rand::rngs::ChaCha20Rng;
use rand::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// A round is complete.
    fn round(&mut self, entry: &TraceEntry);
    /// A site declares what it has.
    fn declared(&mut self, site: &str, declaration: &Declaration);
    /// A site answers a round.
    fn sent(&mut self, site: &str, turn: Turn, question: &Question, sent: Sent<'_>);
    /// Whether [`Observer::declared`] and [`Observer::sent`] want to be called.
    fn wants_numbers(&self) -> bool;
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
    /// A message was rejected, or none came.
    #[error("{0}")]
    Stuck(String),
}

/// Nothing in one process depends on the time.
const NOW: Timestamp = Timestamp(0);

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
        on_loss: OnLoss::End,
        deadlines: Deadlines::default(),
        sites,
    })
}

/// Runs a calibration in `plain` mode: sites and coordinator are in the same hands, and hide nothing from each other.
pub fn run(
    plan: Plan,
    sites: Vec<(String, ResponseTable)>,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    // Keys hide nothing here: no message of this mode depends on them.
    run_as(Setting::of(Mode::Plain), plan, sites, &mut ChaCha20Rng::from_seed([0; 32]), observer)
}

/// [`run`] with another way to combine the sites' gradients, each of which the coordinator sees.
pub fn run_robust(
    plan: Plan,
    sites: Vec<(String, ResponseTable)>,
    robust: Robust,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    let random = &mut ChaCha20Rng::from_seed([0; 32]);
    run_with(Setting::of(Mode::Plain), Box::new(robust), plan, sites, random, observer)
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
    run_with(setting, Box::new(ExactSum), plan, sites, random, observer)
}

fn run_with(
    setting: Setting,
    aggregator: Box<dyn Aggregator>,
    plan: Plan,
    sites: Vec<(String, ResponseTable)>,
    random: &mut impl CryptoRng,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    let names: Vec<String> = sites.iter().map(|(name, _)| name.clone()).collect();
    let terms = terms(plan, setting, &names)?;
    if let Some(protection) = terms.protection() {
        protection.check_size(names.len())?;
    }
    let ids: Vec<SiteId> = terms.sites.keys().cloned().collect();
    let mut machines = Vec::with_capacity(ids.len());
    for (id, (name, table)) in ids.iter().zip(sites) {
        if observer.wants_numbers() {
            observer.declared(&name, &Declaration::of(&table, &terms));
        }
        let identity = Identity::generate(random);
        let mut machine = SiteMachine::new(id.clone(), identity, terms.clone(), Policy::unlimited(), table)?;
        machine.introduce();
        machines.push((machine, ChaCha20Rng::from_rng(random)));
    }
    let mut coordinator = Coordinator::new(terms, NOW).with_aggregator(aggregator);
    let mut inbox: BTreeMap<SiteId, Arc<ToSite>> = BTreeMap::new();
    let mut open: Option<(Turn, Bounds, Box<Question>)> = None;
    loop {
        let answers = site_outputs(&mut machines, &mut inbox);
        let quiet = answers.iter().all(Vec::is_empty);
        for (k, outputs) in answers.into_iter().enumerate() {
            for message in outputs {
                if observer.wants_numbers()
                    && let (ToCoordinator::Upload { sums, by_name, .. }, Some((turn, bounds, question))) =
                        (&*message, &open)
                {
                    show(observer, &names[k], *turn, *bounds, question, sums, by_name);
                }
                let input = Input::Message { from: ids[k].clone(), message: Arc::unwrap_or_clone(message) };
                match coordinator.handle(NOW, input) {
                    // Others' refusals may come after the one that ended it.
                    Ok(()) | Err(Rejection::Over) => {}
                    Err(rejection) => return Err(RunError::Stuck(rejection.to_string())),
                }
            }
        }
        let mut idle = quiet;
        while let Some(output) = coordinator.poll() {
            idle = false;
            match output {
                Output::Persist { .. } => {}
                Output::Progress(entry) => observer.round(&entry),
                Output::Send { to, message } => {
                    if let Notice::Open { turn, broadcast, .. } = &message.notice
                        && open.as_ref().is_none_or(|(known, ..)| known != turn)
                    {
                        let told: Broadcast = codec::decode(broadcast)?;
                        open = Some((*turn, told.bounds, Box::new(told.question)));
                    }
                    inbox.insert(to, message);
                }
                Output::Finished(result) => {
                    let finished = (*result)?;
                    // The last notices close the sites.
                    site_outputs(&mut machines, &mut inbox);
                    let after = machines.into_iter().map(|(machine, _)| SiteAfter {
                        own_effect: machine.own_effect(),
                        table: machine.into_table(),
                    });
                    return Ok((finished, after.collect()));
                }
            }
        }
        if idle {
            return Err(RunError::Stuck("coordinator and sites wait for each other".into()));
        }
    }
}

/// What the sites have to say to their messages, site by site. All work with rows happens here, in parallel.
fn site_outputs(
    machines: &mut [(SiteMachine, ChaCha20Rng)],
    inbox: &mut BTreeMap<SiteId, Arc<ToSite>>,
) -> Vec<Vec<Arc<ToCoordinator>>> {
    let mail: Vec<Option<Arc<ToSite>>> =
        machines.iter().map(|(machine, _)| inbox.remove(machine.name())).collect();
    machines
        .par_iter_mut()
        .zip(mail)
        .map(|((machine, random), message)| {
            if let Some(message) = message {
                machine.handle(NOW, random, &message);
            }
            let mut sent = Vec::new();
            // All sites are in the same hands here, and nothing leaves them.
            while let Some(output) = machine.poll() {
                match output {
                    SiteOutput::Send(message) => sent.push(message),
                    SiteOutput::RosterShown(shown) => {
                        machine.approve_roster(shown.fingerprint, &shown.names())
                    }
                    SiteOutput::Debit(release) => machine.debited(NOW, random, release.turn, Ok(())),
                    _ => {}
                }
            }
            sent
        })
        .collect()
}

fn show(
    observer: &mut dyn Observer,
    site: &str,
    turn: Turn,
    bounds: Bounds,
    question: &Question,
    sums: &Sums,
    by_name: &[u64],
) {
    match (sums, question) {
        (Sums::Masked(bytes), _) => observer.sent(site, turn, question, Sent::Masked(bytes)),
        (Sums::Plain(_), Question::Scores { .. }) => {}
        (Sums::Plain(words), Question::Sums(request)) => {
            let decode =
                |combination, words| encoding::decode(request, bounds, Precision::Full, combination, words);
            if let (Ok(mut numbers), Ok(named)) =
                (decode(Combination::Sum, words), decode(Combination::BySite, by_name))
            {
                numbers.extend(named);
                observer.sent(site, turn, question, Sent::Numbers(&numbers));
            }
        }
    }
}
