//! The agent: a site's machine with a store, a clock, randomness and a transport.
//!
//! It does what the machine puts out, in that order: what is to be persisted is in the store before what follows is
//! sent. Whatever happens, it can be started again: the machine is restored from the journal, the coordinator repeats
//! its last message, and an answer that was given is given again byte for byte.

use super::AgentError;
use super::account::{Account, check_journal, check_ledger, known_populations};
use super::approve;
use super::home::Home;
use super::journal::{JournalEvent, sha256};
use super::machine_log::{MachineLog, has_heard};
use super::officer::{Answer, News, Officer, RosterAnswer};
use super::responses::OwnResponses;
use super::store::Lock;
use super::study::Study;
use super::transcript::Transcript;
use super::transport::{Transport, TransportError};
use fedirt_model::fit::Fit;
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::EffectEstimate;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Identity, SiteId};
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::envelope::{self, Poll};
use fedirt_protocol::message::{Broadcast, Notice, ToCoordinator, ToSite, Turn};
use fedirt_protocol::policy::Policy;
use fedirt_protocol::site::{DebitRefusal, Release, RosterShown, SiteOutput};
use fedirt_protocol::{SiteMachine, Timestamp, codec};
use rand::Rng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How long a poll waits for news, in seconds.
const WAIT_SECONDS: u32 = 50;
/// The first and the longest pause after a network error.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Where a study stands for this site.
#[derive(Debug)]
pub enum End {
    /// The calibration is over.
    Finished(Box<Fit>),
    /// The study ended without a result.
    Ended(String),
    /// The officer has to compare this roster first.
    RosterNotApproved(Box<RosterShown>),
    /// The officer has to approve this round first.
    RoundNotApproved(Turn),
}

/// What the agent did about the coordinator's last message, for what the officer is told afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// What was asked for was done, or nothing was asked for.
    Done,
    /// The coordinator did not take this site's message.
    NotTaken,
    /// The site refused.
    Refused,
}

/// An agent at work on a study.
pub struct Agent<T: Transport> {
    home: Home,
    study: Study,
    identity: Identity,
    machine: SiteMachine,
    log: MachineLog,
    account: Account,
    transcript: Transcript,
    /// The way out.
    pub transport: T,
    random: UnwrapErr<SysRng>,
    /// What is asked at present.
    question: Option<(Turn, Broadcast)>,
    seen: u64,
    joined: bool,
    reaction: Reaction,
    /// Whether the policy takes rosters on the coordinator's word.
    trusts_rosters: bool,
    /// How long polls wait, in seconds.
    wait_seconds: u32,
    _lock: Lock,
}

impl<T: Transport> std::fmt::Debug for Agent<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Agent({} in {})", self.study.site, self.study.folder.name())
    }
}

impl<T: Transport> Agent<T> {
    /// An agent for a study with a site's answers: restored from its home. Gives notes for the officer.
    pub fn new(
        home: &Home,
        study: Study,
        policy: Policy,
        own: OwnResponses,
        population: Option<&str>,
        transport: T,
    ) -> Result<(Self, Vec<String>), AgentError> {
        if study.terms.mode == Mode::Private && own.table.weights().is_some() {
            return Err(AgentError::PrivateWeights);
        }
        // Everything that is declared, noted and summed is about the same students.
        let own = own.with_open_groups(&policy);
        let lock = study.folder.lock()?;
        check_ledger(home)?;
        check_journal(home, &study.folder)?;
        let (mut log, note) = MachineLog::open(&study.folder)?;
        let notes = note.into_iter().collect();
        let events = log.events()?;
        let identity = study.folder.own_identity()?;
        let declaration = Declaration::of(&own.table, &study.terms);
        let pooled = study.plan.pooled_rows_may_be_inferred();
        let mut refusals = policy.check_plan(&study.terms, declaration.students, pooled);
        refusals.extend(policy.check_booklets(&declaration.booklets));
        if !refusals.is_empty() {
            return Err(AgentError::Policy(refusals));
        }
        let population = population_of(home, &log, population)?;
        let account = Account::new(home, &population, &study, &own, &policy)?;
        let signed = declaration.sign(&study.terms, &study.site, &identity)?;
        let joined = JournalEvent::Joined {
            population,
            students: declaration.students,
            rows_sha256: sha256(
                &account.rows().iter().flat_map(|row| row.to_le_bytes()).collect::<Vec<u8>>(),
            ),
            declaration_sha256: sha256(&signed),
        };
        check_joined(&mut log, joined, &account, &study)?;
        let trusts_rosters = policy.trust_roster_from_coordinator;
        let copy = Identity::from_secret(&identity.secret());
        let mut machine = SiteMachine::new(study.site.clone(), copy, study.terms.clone(), policy, own.table)?;
        machine.restore(&events)?;
        let transcript = Transcript::open(&study.folder)?;
        let has_heard = has_heard(log.journal.entries());
        let agent = Self {
            home: home.clone(),
            study,
            identity,
            machine,
            log,
            account,
            transcript,
            transport,
            random: UnwrapErr(SysRng),
            question: None,
            seen: 0,
            joined: has_heard,
            reaction: Reaction::Done,
            trusts_rosters,
            wait_seconds: WAIT_SECONDS,
            _lock: lock,
        };
        Ok((agent, notes))
    }

    /// The same with another patience.
    pub fn with_wait_seconds(mut self, seconds: u32) -> Self {
        self.wait_seconds(seconds);
        self
    }

    /// From now on polls wait this long.
    pub fn wait_seconds(&mut self, seconds: u32) {
        self.wait_seconds = seconds;
    }

    /// The officer approves a roster that [`End::RosterNotApproved`] named, having called the officers of these sites.
    pub fn approve_roster(
        &mut self,
        shown: &RosterShown,
        called: &BTreeSet<SiteId>,
        officer: &mut dyn Officer,
    ) -> Result<Option<End>, AgentError> {
        if let Some(end) = self.roster_approved(shown, called)? {
            return Ok(Some(end));
        }
        self.obey(officer)
    }

    /// Sites of a roster that were verified before.
    fn verified(&self, shown: &RosterShown) -> Result<BTreeSet<SiteId>, AgentError> {
        approve::verified_of(&self.home, &self.study.site, shown)
    }

    /// Writes down whom the officer has called, and approves, if those are enough.
    fn roster_approved(
        &mut self,
        shown: &RosterShown,
        called: &BTreeSet<SiteId>,
    ) -> Result<Option<End>, AgentError> {
        Ok(match approve::enough(&self.home, &self.study, shown, called, self.trusts_rosters)? {
            Ok(verified) => {
                self.machine.approve_roster(shown.fingerprint, &verified);
                None
            }
            Err(_) => Some(End::RosterNotApproved(Box::new(shown.clone()))),
        })
    }

    /// The officer approves the question of a round that was shown.
    pub fn approve_round(
        &mut self,
        turn: Turn,
        question: [u8; 32],
        officer: &mut dyn Officer,
    ) -> Result<Option<End>, AgentError> {
        self.machine.approve_round(turn, question);
        self.obey(officer)
    }

    fn now(&self) -> Timestamp {
        self.study.folder.home().now()
    }

    /// The study.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// The site's own effect, which stays here.
    pub fn own_effect(&self) -> Option<EffectEstimate> {
        self.machine.own_effect()
    }

    /// The study, and the site's own rows for scoring at home.
    pub fn into_parts(self) -> (Study, ResponseTable) {
        (self.study, self.machine.into_table())
    }

    /// Runs until the study is over, or the officer is needed. Network errors do not end it.
    pub fn run(&mut self, officer: &mut dyn Officer) -> Result<End, AgentError> {
        loop {
            if let Some(end) = self.step(officer)? {
                return Ok(end);
            }
        }
    }

    /// One exchange with the coordinator: joins if that is not done, and answers its next message.
    pub fn step(&mut self, officer: &mut dyn Officer) -> Result<Option<End>, AgentError> {
        if !self.joined && !self.machine.is_over() {
            self.machine.join();
            if let Some(end) = self.obey(officer)? {
                return Ok(Some(end));
            }
            self.joined = true;
        }
        let Some(message) = self.news(officer)? else {
            // A coordinator without a notice for a site that has had some was restored from a back-up: it may not know that the
            // site joined.
            self.joined &= self.seen > 0;
            return Ok(None);
        };
        self.seen = self.seen.max(message.step);
        if let Some((turn, broadcast)) = message.notice.opens() {
            self.question = codec::decode(broadcast).ok().map(|told| (turn, told));
        }
        if self.machine.is_over() {
            // The end was written down, and the program stopped before the results were.
            return Ok(match &message.notice {
                Notice::Finished(fit) => Some(End::Finished(fit.clone())),
                Notice::Ended { reason } => Some(End::Ended(reason.clone())),
                _ => None,
            });
        }
        self.reaction = Reaction::Done;
        self.machine.handle(self.now(), &mut self.random, &message);
        let end = self.obey(officer)?;
        if end.is_none() {
            officer.news(News::Waiting(&waiting_for(&message.notice, self.reaction)));
        }
        Ok(end)
    }

    /// Does what the machine says, in its order.
    fn obey(&mut self, officer: &mut dyn Officer) -> Result<Option<End>, AgentError> {
        let mut end = None;
        while let Some(output) = self.machine.poll() {
            match output {
                SiteOutput::Persist(event) => self.log.keep(&event)?,
                SiteOutput::Send(message) => self.send(&message, officer)?,
                SiteOutput::Debit(release) => {
                    let answer = self.debit(&release)?;
                    self.machine.debited(self.now(), &mut self.random, release.turn, answer);
                }
                SiteOutput::RosterShown(shown) => {
                    if let Some(text) = &shown.caution {
                        officer.news(News::Caution(text));
                    }
                    end = match officer.roster(&shown, &self.verified(&shown)?) {
                        RosterAnswer::Verified(called) => self.roster_approved(&shown, &called)?,
                        RosterAnswer::NotNow => {
                            approve::keep(&self.study.folder, &shown)?;
                            Some(End::RosterNotApproved(Box::new(shown)))
                        }
                    };
                }
                SiteOutput::RoundShown(shown) => match officer.round(&shown) {
                    Answer::Yes => {
                        self.machine.approve_round(shown.turn, shown.question);
                    }
                    Answer::NotNow => end = Some(End::RoundNotApproved(shown.turn)),
                },
                SiteOutput::Refused { turn, refusal } => {
                    let reason = refusal.to_string();
                    self.reaction = Reaction::Refused;
                    officer.news(News::Refused { turn, reason: &reason });
                    if !refusal.is_replay() {
                        self.log.refused(turn, reason)?;
                    }
                }
                SiteOutput::Finished(fit) => end = Some(End::Finished(fit)),
                SiteOutput::Ended { reason } => end = Some(End::Ended(reason)),
            }
        }
        Ok(end)
    }

    /// Enters a release in the ledger, unless that was done before the program stopped.
    fn debit(&mut self, release: &Release) -> Result<Result<(), DebitRefusal>, AgentError> {
        if self.log.is_debited(release) {
            return Ok(Ok(()));
        }
        match self.account.debit(&self.study.terms, release)? {
            Ok(head) => {
                self.log.debited(release, head)?;
                Ok(Ok(()))
            }
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    /// Sends until it is taken. What is refused because the study has gone on does not matter: the next poll tells.
    fn send(&mut self, message: &Arc<ToCoordinator>, officer: &mut dyn Officer) -> Result<(), AgentError> {
        self.transcript.write(message, self.question.as_ref())?;
        let sealed = self.seal(envelope::MESSAGE, &**message)?;
        let name = self.study.folder.name().to_owned();
        let mut pause = Pause::default();
        loop {
            match self.transport.send(&name, &sealed) {
                Ok(delivery) => {
                    self.transcript.delivered(message, delivery)?;
                    officer.news(News::Sent { kind: message.kind(), bytes: sealed.len(), delivery });
                    return Ok(());
                }
                Err(error) if error.is_temporary() => self.rest(&mut pause, &error, officer),
                Err(error) if error.is_final() => return Err(error.into()),
                // A declaration that cannot be leaves nothing to wait for.
                Err(error @ TransportError::Refused { status: 400 | 422, .. })
                    if matches!(**message, ToCoordinator::Join(_)) =>
                {
                    return Err(error.into());
                }
                Err(error) => {
                    if self.reaction == Reaction::Done {
                        self.reaction = Reaction::NotTaken;
                    }
                    officer.news(News::NotTaken { kind: message.kind(), error: &error });
                    return Ok(());
                }
            }
        }
    }

    /// The coordinator's latest message, if there is a new one.
    fn news(&mut self, officer: &mut dyn Officer) -> Result<Option<Arc<ToSite>>, AgentError> {
        let poll = Poll { seen: self.seen, wait_seconds: self.wait_seconds };
        let sealed = self.seal(envelope::POLL, &poll)?;
        let name = self.study.folder.name().to_owned();
        let wait = Duration::from_secs(u64::from(self.wait_seconds));
        let mut pause = Pause::default();
        loop {
            match self.transport.poll(&name, &sealed, wait) {
                Ok(None) => return Ok(None),
                Ok(Some(bytes)) => return Ok(Some(Arc::new(codec::decode(&bytes)?))),
                Err(error) if error.is_temporary() => self.rest(&mut pause, &error, officer),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn seal<M: serde::Serialize>(&self, topic: &str, message: &M) -> Result<Vec<u8>, AgentError> {
        Ok(envelope::seal(&self.study.terms.study, &self.study.site, &self.identity, topic, message)?)
    }

    fn rest(&mut self, pause: &mut Pause, error: &TransportError, officer: &mut dyn Officer) {
        let duration = pause.next(&mut self.random);
        officer.news(News::Unreachable { error, pause: duration });
        self.transport.pause(duration);
    }
}

/// The population: as the officer says, or as before. Nobody else names it: a name that the coordinator chose for this site would
/// open a new account with every new name.
fn population_of(home: &Home, log: &MachineLog, given: Option<&str>) -> Result<String, AgentError> {
    let before = log.journal.entries().iter().find_map(|entry| match &entry.record {
        JournalEvent::Joined { population, .. } => Some(population.as_str()),
        _ => None,
    });
    match given.or(before) {
        Some(name) => Ok(name.to_owned()),
        None => Err(AgentError::NoPopulation { known: known_populations(home)? }),
    }
}

/// Joining is written down once; afterwards the same students must be there, under the same name.
fn check_joined(
    log: &mut MachineLog,
    now: JournalEvent,
    account: &Account,
    study: &Study,
) -> Result<(), AgentError> {
    let before = log.journal.entries().iter().find(|e| matches!(e.record, JournalEvent::Joined { .. }));
    match before {
        Some(entry) if entry.record == now => Ok(()),
        Some(entry) => Err(AgentError::Mismatch(format!(
            "the answers, the weights, the ids or the population are not those with which this site joined on {}: sums of other \
             rows would show the difference. Give the same files and flags; to take part with other data, withdraw and ask for a new invitation",
            entry.time
        ))),
        None => {
            if let Err(refusal) = account.foresee(&study.terms)? {
                return Err(AgentError::LedgerRefuses { refusal: Box::new(refusal) });
            }
            log.journal.append(now)
        }
    }
}

/// What a site waits for after a message.
fn waiting_for(notice: &Notice, reaction: Reaction) -> String {
    let (place, done) = match notice {
        Notice::Roster(_) => {
            (String::new(), "the roster is approved here; waiting for the other sites' officers")
        }
        Notice::Call { turn, .. } => (format!("{turn}: "), "hello said; waiting for the other sites"),
        Notice::Open { turn, .. } | Notice::OpenSparse { turn, .. } => {
            (format!("{turn}: "), "answered; waiting for the other sites")
        }
        Notice::Finished(_) | Notice::Ended { .. } => return "the study is over".into(),
    };
    match reaction {
        Reaction::Done => place + done,
        Reaction::NotTaken => {
            place + "the coordinator did not take this site's message; waiting for its next one"
        }
        Reaction::Refused => place + "refused, not answered; waiting for the coordinator's next message",
    }
}

/// Exponential backoff with jitter: each pause is up to twice as long as the one before, and a random share of it is
/// left out so that sites do not all come back at the same moment.
#[derive(Debug, Default)]
struct Pause(u32);

impl Pause {
    fn next(&mut self, random: &mut impl Rng) -> Duration {
        let longest = FIRST_PAUSE.saturating_mul(1 << self.0.min(6)).min(LONGEST_PAUSE);
        self.0 += 1;
        let share = 0.5 + 0.5 * f64::from(random.next_u32()) / f64::from(u32::MAX);
        longest.mul_f64(share)
    }
}
