//! Agents at work: a thread for each study, and what it says of itself.

use super::desk::{Asked, Desk};
use super::looked::file_hash;
use super::officer::AtThePages;
use crate::agent::{
    self, Agent, AgentError, End, Home, Https, OwnResponses, Study, StudyFolder, Transport, TransportError,
};
use fedirt_model::fit::Fit;
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::Place;
use fedirt_privacy::secure::Fingerprint;
use fedirt_protocol::message::Turn;
use fedirt_protocol::policy::Approval;
use fedirt_protocol::site::RoundShown;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long polls wait, in seconds: as long, at most, until a pause takes hold.
const WAIT: u32 = 5;
/// The same while the officer is asked something.
const SHORT_WAIT: u32 = 1;
/// How long a stop waits for the exchange that is under way.
const PATIENCE: Duration = Duration::from_secs(20);

/// The site's own part of a result, to be scored and written down.
#[derive(Debug)]
pub struct Own {
    /// Its place.
    pub place: Option<Place>,
    /// Its rows.
    pub table: ResponseTable,
    /// Their identifiers, where the file has them.
    pub ids: Option<Vec<String>>,
}

/// Writes the results of a study into its folder.
pub trait Results: Send + Sync {
    /// Everything: the fit, the site's own place, its students' scores.
    fn write(&self, home: &Home, study: &Study, fit: &Fit, own: Own) -> Result<(), String>;
}

/// What an agent does at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Reads the file.
    #[default]
    Starting,
    /// Takes part.
    Working,
    /// Was stopped.
    Stopped,
    /// Cannot go on; `problem` says why.
    Failed,
    /// The study is over.
    Over,
}

/// A roster that waits for the officer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RosterShown {
    pub(crate) fingerprint: Fingerprint,
    /// Site, fingerprint of its key, students.
    pub(crate) sites: Vec<(String, String, u64)>,
}

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) waiting: String,
    /// The coordinator does not answer.
    pub(crate) trouble: Option<String>,
    pub(crate) problem: Option<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) refusals: Vec<String>,
    pub(crate) roster: Option<RosterShown>,
    pub(crate) round: Option<RoundShown>,
}

#[derive(Debug, Default)]
struct Inside {
    state: State,
    roster_approved: Option<Fingerprint>,
    round_approved: Option<(Turn, [u8; 32])>,
    stopping: bool,
}

/// What a thread and the pages share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    inside: Mutex<Inside>,
    told: Condvar,
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the agent says of itself.
    pub(crate) fn state(&self) -> State {
        self.inside().state.clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.inside().state);
    }

    pub(crate) fn stopping(&self) -> bool {
        self.inside().stopping
    }

    fn stop(&self) {
        self.inside().stopping = true;
        self.told.notify_all();
    }

    /// Sleeps, unless it is told to stop.
    pub(crate) fn sleep(&self, duration: Duration) {
        let inside = self.inside();
        let asleep = self.told.wait_timeout_while(inside, duration, |inside| !inside.stopping);
        drop(asleep.unwrap_or_else(PoisonError::into_inner));
    }

    /// The officer says yes to the roster that is shown, if it is this one.
    pub(crate) fn approve_roster(&self, fingerprint: &str) -> bool {
        let mut inside = self.inside();
        let shown = inside.state.roster.take_if(|shown| shown.fingerprint.matches(fingerprint));
        inside.roster_approved = shown.map(|shown| shown.fingerprint);
        inside.roster_approved.is_some()
    }

    /// The officer says yes to the question that is shown, if it is this one.
    pub(crate) fn approve_round(&self, question: [u8; 32]) -> bool {
        let mut inside = self.inside();
        let shown = inside.state.round.take_if(|shown| shown.question == question);
        inside.round_approved = shown.map(|shown| (shown.turn, shown.question));
        inside.round_approved.is_some()
    }
}

/// The coordinator, as long as nobody calls the agent away.
struct Interruptible {
    https: Https,
    shared: Arc<Shared>,
}

impl Interruptible {
    fn going<T>(
        &mut self,
        call: impl FnOnce(&mut Https) -> Result<T, TransportError>,
    ) -> Result<T, TransportError> {
        if self.shared.stopping() {
            return Err(TransportError::Stopped);
        }
        let answer = call(&mut self.https);
        if !matches!(answer, Err(TransportError::Unreachable(_))) {
            self.shared.change(|state| state.trouble = None);
        }
        answer
    }
}

impl Transport for Interruptible {
    fn plan(&mut self, study: &str) -> Result<String, TransportError> {
        self.going(|https| https.plan(study))
    }

    fn enrol(&mut self, request: &[u8]) -> Result<(), TransportError> {
        self.going(|https| https.enrol(request))
    }

    fn send(&mut self, study: &str, envelope: &[u8]) -> Result<(), TransportError> {
        self.going(|https| https.send(study, envelope))
    }

    fn poll(
        &mut self,
        study: &str,
        envelope: &[u8],
        wait: Duration,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        self.going(|https| https.poll(study, envelope, wait))
    }

    fn pause(&mut self, duration: Duration) {
        self.shared.sleep(duration);
    }
}

struct Running {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// All agents of a home.
pub(crate) struct Runners {
    home: Home,
    results: Arc<dyn Results>,
    /// Approves everything after this pause: for demonstrations.
    automatic: Option<Duration>,
    running: Mutex<BTreeMap<String, Running>>,
}

impl Runners {
    pub(crate) fn new(home: Home, results: Arc<dyn Results>, automatic: Option<Duration>) -> Self {
        Self { home, results, automatic, running: Mutex::new(BTreeMap::new()) }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the agent of a study says of itself, if it was started.
    pub(crate) fn shared(&self, study: &str) -> Option<Arc<Shared>> {
        let all = self.running();
        let running = all.get(study)?;
        if running.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            // A thread that ends says how; one that could not has met a fault of ours.
            running.shared.change(|state| {
                if matches!(state.phase, Phase::Starting | Phase::Working) {
                    state.phase = Phase::Failed;
                    state.problem =
                        Some("a fault of the program; the terminal says more. Nothing is lost: go on".into());
                }
            });
        }
        Some(running.shared.clone())
    }

    /// Starts the agent of a study, unless it works already.
    pub(crate) fn start(&self, study: &str) {
        let mut all = self.running();
        if all.get(study).is_some_and(|r| r.thread.as_ref().is_some_and(|thread| !thread.is_finished())) {
            return;
        }
        let shared = Arc::new(Shared::default());
        let (home, results, automatic) = (self.home.clone(), self.results.clone(), self.automatic);
        let (name, told) = (study.to_owned(), shared.clone());
        let work = move || {
            let end = work(&home, &name, &*results, &told, automatic);
            told.change(|state| {
                (state.roster, state.round, state.trouble) = (None, None, None);
                state.phase = match end {
                    Ok(phase) => phase,
                    Err(error) => {
                        state.problem = Some(error);
                        Phase::Failed
                    }
                };
            });
        };
        let spawned = std::thread::Builder::new().name(format!("agent {study}")).spawn(work);
        if let Err(error) = &spawned {
            shared.change(|state| {
                state.phase = Phase::Failed;
                state.problem = Some(format!("no thread can be started: {error}"));
            });
        }
        all.insert(study.to_owned(), Running { shared, thread: spawned.ok() });
    }

    /// Whether the agent of a study is at work, or about to stop.
    pub(crate) fn is_working(&self, study: &str) -> bool {
        let all = self.running();
        all.get(study).is_some_and(|r| r.thread.as_ref().is_some_and(|thread| !thread.is_finished()))
    }

    /// Stops the agent of a study, and waits until it has let go; false if an exchange keeps it.
    pub(crate) fn stop(&self, study: &str) -> bool {
        if let Some(running) = self.running().get(study) {
            running.shared.stop();
        }
        let begin = Instant::now();
        while self.is_working(study) {
            if begin.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Starts every agent that was at work when the program ended, and erases copies of answers that are needed no more.
    /// Gives what is wrong with single studies; the others do not suffer from it.
    pub(crate) fn start_all(&self) -> Result<Vec<String>, AgentError> {
        let mut broken = Vec::new();
        for name in self.home.studies()? {
            let start = || -> Result<(), AgentError> {
                let folder = self.home.study(&name)?;
                let mut desk = Desk::read(&folder)?;
                if is_over(&folder)? || desk.ended.is_some() {
                    desk.erase_copy(&folder)?;
                } else if desk.works() {
                    self.start(&name);
                }
                Ok(())
            };
            broken.extend(start().err().map(|error| error.to_string()));
        }
        Ok(broken)
    }

    /// Stops all of them.
    pub(crate) fn stop_all(&self) {
        let names: Vec<String> = self.running().keys().cloned().collect();
        self.running().values().for_each(|running| running.shared.stop());
        for name in names {
            self.stop(&name);
        }
    }
}

/// Whether a study is over for this site, with its results written where there are some.
pub(crate) fn is_over(folder: &StudyFolder) -> Result<bool, AgentError> {
    let entries = folder.entries()?;
    let has = |wanted: fn(&agent::Record) -> bool| entries.iter().any(|entry| wanted(&entry.record));
    if has(|record| matches!(record, agent::Record::Withdrawn)) {
        return Ok(true);
    }
    let desk = Desk::read(folder)?;
    let written = folder.results().join("fit.json").is_file();
    // A study that ended while its results could not be written is not over for the pages: they try again.
    Ok(has(|record| matches!(record, agent::Record::Over))
        && (written || desk.ended.is_some() || desk.approved_by.is_none()))
}

fn work(
    home: &Home,
    name: &str,
    results: &dyn Results,
    shared: &Arc<Shared>,
    automatic: Option<Duration>,
) -> Result<Phase, String> {
    let told = |error: AgentError| error.to_string();
    let folder = home.known_study(name).map_err(told)?;
    let desk = Desk::read(&folder).map_err(told)?;
    if !desk.works() {
        return Err("nothing is approved: look at the file and at what will be sent, and approve it".into());
    }
    check_file(&folder, &desk).map_err(told)?;
    let study = folder.load().map_err(told)?;
    let mut policy = home.policy().map_err(told)?;
    let asked = if policy.approval == Approval::EachRound { Asked::EachRound } else { desk.asked };
    // Every round is shown to the officer who sits at the pages, and who answers by what was approved.
    policy.approval = Approval::EachRound;
    let own = agent::read_for_plan(&desk.files(), &desk.options(), &study.plan).map_err(told)?;
    let ids = own.ids.clone();
    let mut officer = AtThePages {
        shared: shared.clone(),
        asked,
        trusting: policy.trust_roster_from_coordinator,
        automatic,
    };
    let mut agent = open(home, study, policy, own, desk.population.as_deref(), shared).map_err(told)?;
    shared.change(|state| state.phase = Phase::Working);
    let end = loop {
        if shared.stopping() {
            return Ok(Phase::Stopped);
        }
        match step(&mut agent, &mut officer, shared) {
            Ok(Some(end @ (End::Finished(_) | End::Ended(_)))) => break end,
            Ok(_) => {}
            Err(AgentError::Transport(TransportError::Stopped)) => return Ok(Phase::Stopped),
            Err(error) => return Err(error.to_string()),
        }
    };
    if let End::Finished(fit) = &end {
        let place = agent.place();
        let (study, table) = agent.into_parts();
        results.write(home, &study, fit, Own { place, table, ids })?;
    }
    // Read again: the officer may have called a pause meanwhile.
    let mut desk = Desk::read(&folder).map_err(told)?;
    if let End::Ended(reason) = end {
        desk.ended = Some(format!("The coordinator says: {}", shortened(&reason)));
    }
    desk.write(&folder).and_then(|()| desk.erase_copy(&folder)).map_err(told)?;
    Ok(Phase::Over)
}

/// The coordinator's words, as far as a page has room for them.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(500).collect()
}

/// Whether the file is the one that was approved.
fn check_file(folder: &StudyFolder, desk: &Desk) -> Result<(), AgentError> {
    let approved = folder.entries()?.into_iter().rev().find_map(|entry| match entry.record {
        agent::Record::Consented { file_sha256, .. } => Some(file_sha256),
        _ => None,
    });
    let Some(file) = desk.file.as_deref() else { return Ok(()) };
    if approved.is_some_and(|approved| file_hash(file).is_ok_and(|hash| hash != approved)) {
        return Err(AgentError::Mismatch(format!(
            "{} has changed since it was approved. Put the file back as it was; or, if this site has not joined yet, look at it \
             once more and approve it",
            file.display()
        )));
    }
    Ok(())
}

fn open(
    home: &Home,
    study: Study,
    policy: fedirt_protocol::policy::Policy,
    own: OwnResponses,
    population: Option<&str>,
    shared: &Arc<Shared>,
) -> Result<Agent<Interruptible>, AgentError> {
    let https = Https::new(&study.connection.address, study.connection.authority()?.as_deref())?;
    let transport = Interruptible { https, shared: shared.clone() };
    let (agent, notes) = Agent::new(home, study, policy, own, population, transport)?;
    shared.change(|state| state.cautions.extend(notes));
    Ok(agent)
}

/// What the officer has decided, or one exchange with the coordinator.
fn step(
    agent: &mut Agent<Interruptible>,
    officer: &mut AtThePages,
    shared: &Shared,
) -> Result<Option<End>, AgentError> {
    let (roster, round, asking) = {
        let mut inside = shared.inside();
        let asking = inside.state.roster.is_some() || inside.state.round.is_some();
        let roster = inside.roster_approved.take();
        let round = if roster.is_none() { inside.round_approved.take() } else { None };
        (roster, round, asking)
    };
    agent.wait_seconds(if asking { SHORT_WAIT } else { WAIT });
    match (roster, round) {
        (Some(fingerprint), _) => agent.approve_roster(fingerprint, officer),
        (None, Some((turn, question))) => agent.approve_round(turn, question, officer),
        (None, None) => agent.step(officer),
    }
}
