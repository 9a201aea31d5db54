//! The coordinator's machine: gathering sites, rounds, losses, end.
//!
//! It is driven by [`Input`]s. Each one that it accepts is handed back to be persisted before anything else is
//! done, and a machine that is given the same inputs again stands where the first one stood: that is how a
//! coordinator resumes.

mod aggregate;
pub(crate) mod centre;
mod error;
mod gathering;
pub(crate) mod private_centre;
mod resemblance;
mod robust;
mod rounds;
mod stored_input;

pub use aggregate::{Aggregator, ExactSum};
pub use error::{CoordinatorError, Rejection, ReplayRefusal};
pub use robust::Robust;
pub use stored_input::{StoredInput, StoredInputError};

use crate::Timestamp;
use crate::declaration::{Declaration, Declarations};
use crate::message::{Announcement, Notice, SharedRoster, ToCoordinator, ToSite, Turn, shown_reason};
use crate::terms::Terms;
use centre::Centre;
use fedirt_model::fit::{Covariance, Fit, TraceEntry};
use fedirt_privacy::secure::{PublicIdentity, Roster, SignedRoster, SiteId};
use gathering::Gathering;
use rounds::{Attempt, Calling, Open};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Longest reason of a refusal that is taken, in bytes.
const LONGEST_REFUSAL: usize = 4096;

/// What the machine is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A site's message; the shell has checked that it comes from this site.
    Message {
        /// From whom.
        from: SiteId,
        /// What.
        message: ToCoordinator,
    },
    /// The deadline that the machine asked for has passed.
    Deadline,
    /// Go on with the sites that are there: the operator will not wait for the others to join.
    Begin,
    /// Go on without some sites, where the chain of cohorts allows it.
    Drop {
        /// Which.
        sites: BTreeSet<SiteId>,
    },
    /// The operator ends the study.
    End {
        /// Why.
        reason: String,
    },
}

/// A finished calibration: what is published, and what only the coordinator needs.
#[derive(Debug, Clone)]
pub struct Finished {
    /// `fit.json`.
    pub fit: Fit,
    /// Covariance of the estimates.
    pub covariance: Covariance,
}

/// What the coordinator's shell must do, in this order.
#[derive(Debug)]
pub enum Output {
    /// Write down that an input was taken, before it is acknowledged and before anything that follows is done.
    Persist {
        /// When.
        at: Timestamp,
        /// What.
        input: Input,
        /// What was computed from it and will be announced to sites: to be stored with it, and given back to
        /// [`Coordinator::replay`].
        announced: Option<Announcement>,
    },
    /// Tell a site this; it replaces whatever the site has not fetched yet.
    Send {
        /// Whom.
        to: SiteId,
        /// What.
        message: Arc<ToSite>,
    },
    /// A round is complete.
    Progress(TraceEntry),
    /// The end.
    Finished(Box<Result<Finished, CoordinatorError>>),
}

/// What a study is doing. Every transition is one function: `join`, `begin` and `gathering_is_late` leave
/// [`State::Gathering`], `approve` and `approving_is_late` leave [`State::Approving`], `call` begins an attempt, `hello`
/// opens it, `upload` completes it, `leave_out` begins again without some sites, and `end` is the end.
enum State {
    /// Waits for sites to enrol and to declare what they have.
    Gathering(Gathering),
    /// Waits for everybody's signature under the roster.
    Approving(Approving),
    /// Waits for hellos to an attempt.
    Calling(Box<Calling>),
    /// Waits for answers to an attempt.
    Open(Box<Open>),
    /// Nothing is taken any more.
    Over,
}

struct Approving {
    roster: SignedRoster,
    shared: SharedRoster,
    deadline: Option<Timestamp>,
}

/// The machine.
pub struct Coordinator {
    terms: Terms,
    aggregator: Box<dyn Aggregator>,
    state: State,
    /// Keys of the sites that enrolled with an invitation.
    keys: BTreeMap<SiteId, PublicIdentity>,
    /// Signed declarations of the sites that joined.
    joined: BTreeMap<SiteId, Vec<u8>>,
    edition: u64,
    roster: Option<Roster>,
    declarations: Option<Declarations>,
    /// The roster with all signatures, until a round has been completed under it.
    shared_roster: Option<SharedRoster>,
    /// The sites that still take part.
    cohort: BTreeSet<SiteId>,
    /// Sites that fell out, for the record.
    lost: BTreeSet<SiteId>,
    /// Whether any site has ever uploaded: from then on the chain of cohorts binds.
    released: bool,
    centre: Option<Centre>,
    reported: usize,
    /// Attempts at rounds that have been called, in all calibrations of this study.
    calls: u32,
    step: u64,
    /// What the input under way has led to.
    announced: Option<Announcement>,
    /// What the input under way led to when it was first taken, during a replay.
    stored: Option<Announcement>,
    outputs: VecDeque<Output>,
}

/// Where a study stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Sites are joining.
    Gathering,
    /// Sites compare and sign the roster.
    Approving,
    /// Sites announce that they take part in a round.
    Calling,
    /// Sites answer a round.
    Open,
    /// The study has ended, with results or without.
    Over,
}

impl Phase {
    /// All of them, in the order in which a study passes through them.
    pub const ALL: [Self; 5] = [Self::Gathering, Self::Approving, Self::Calling, Self::Open, Self::Over];

    /// The name in files, messages and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gathering => "gathering",
            Self::Approving => "approving",
            Self::Calling => "calling",
            Self::Open => "open",
            Self::Over => "over",
        }
    }
}

/// What a study is doing, for people and status pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Where it stands.
    pub phase: Phase,
    /// The round, once there is one.
    pub turn: Option<Turn>,
    /// Whom it waits for.
    pub waiting_for: Vec<String>,
    /// Sites that take part.
    pub sites: Vec<String>,
    /// Sites that fell out.
    pub lost: Vec<String>,
    /// Whether exact sums have left a site.
    pub released: bool,
}

impl std::fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Coordinator({}, {:?})", self.terms.study, self.status())
    }
}

impl Coordinator {
    /// A coordinator for a study, at a time from which the first deadline counts.
    pub fn new(terms: Terms, now: Timestamp) -> Self {
        let deadline = terms.deadlines.join.map(|wait| now.after(wait));
        Self {
            state: State::Gathering(Gathering { deadline }),
            aggregator: Box::new(ExactSum),
            keys: BTreeMap::new(),
            joined: BTreeMap::new(),
            edition: 0,
            roster: None,
            declarations: None,
            shared_roster: None,
            cohort: BTreeSet::new(),
            lost: BTreeSet::new(),
            released: false,
            centre: None,
            reported: 0,
            calls: 0,
            step: 0,
            announced: None,
            stored: None,
            outputs: VecDeque::new(),
            terms,
        }
    }

    /// The same with another way to combine answers (in `plain` only: others see no single site's numbers).
    pub fn with_aggregator(mut self, aggregator: Box<dyn Aggregator>) -> Self {
        self.aggregator = aggregator;
        self
    }

    /// The terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The key of a site that enrolled, for the shell to check who speaks.
    pub fn key(&self, site: &SiteId) -> Option<&PublicIdentity> {
        self.keys.get(site)
    }

    /// Who takes part, once everybody has joined.
    pub fn roster(&self) -> Option<&Roster> {
        self.roster.as_ref()
    }

    /// What a site has declared about its data, once it has joined.
    pub fn declared(&self, site: &SiteId) -> Option<Declaration> {
        let (key, bytes) = (self.keys.get(site)?, self.joined.get(site)?);
        let roster = Roster::of(self.terms.study.clone(), 0, [(site.clone(), *key)]).ok()?;
        let items = self.terms.plan.items.len();
        let declared = Declarations::verify(&roster, std::slice::from_ref(bytes), items).ok()?;
        declared.get(site).cloned()
    }

    /// When [`Input::Deadline`] is wanted.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        match &self.state {
            State::Gathering(gathering) => gathering.deadline,
            State::Approving(approving) => approving.deadline,
            State::Calling(calling) => Some(calling.deadline),
            State::Open(open) => Some(open.deadline),
            State::Over => None,
        }
    }

    /// Takes an input. A rejected one changes nothing, and is not persisted.
    pub fn handle(&mut self, now: Timestamp, input: Input) -> Result<(), Rejection> {
        if matches!(self.state, State::Over) {
            return Err(Rejection::Over);
        }
        let before = self.outputs.len();
        let record = input.clone();
        match self.take(now, input) {
            Ok(Taken::Changed) => {
                self.persist(before, now, record);
                Ok(())
            }
            Ok(Taken::Known) => Ok(()),
            Err(Stop::Rejected(rejection)) => Err(rejection),
            Err(Stop::Ended(error)) => {
                self.persist(before, now, record);
                self.end(Err(*error));
                Ok(())
            }
        }
    }

    /// Takes an input that an earlier coordinator took and stored, with what it announced then. The machine announces
    /// the same bytes again, whatever it would compute today, and goes on from them. Stores of older versions hold no
    /// announcements: then it computes them anew.
    pub fn replay(
        &mut self,
        at: Timestamp,
        input: Input,
        announced: Option<Announcement>,
    ) -> Result<(), ReplayRefusal> {
        self.stored = announced;
        self.handle(at, input)?;
        match self.stored.take() {
            None => Ok(()),
            Some(_) => Err(ReplayRefusal::Diverged { turn: self.turn() }),
        }
    }

    /// The input goes out before everything that followed from it.
    fn persist(&mut self, before: usize, at: Timestamp, input: Input) {
        let announced = self.announced.take();
        self.outputs.insert(before, Output::Persist { at, input, announced });
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn take(&mut self, now: Timestamp, input: Input) -> Result<Taken, Stop> {
        match input {
            Input::Message { from, message } => {
                if !self.terms.sites.contains_key(&from) {
                    return Err(Rejection::NotInvited { site: from }.into());
                }
                match message {
                    ToCoordinator::Enrol(bytes) => self.enrol(&from, &bytes),
                    ToCoordinator::Join(bytes) => self.join(now, &from, bytes),
                    ToCoordinator::Approve { edition, signature } => {
                        self.approve(now, &from, edition, &signature)
                    }
                    ToCoordinator::Hello(bytes) => self.hello(now, &from, &bytes),
                    ToCoordinator::Upload { turn, sums, by_name } => {
                        self.upload(now, &from, turn, sums, by_name)
                    }
                    ToCoordinator::Refuse { turn, reason } => self.refused(&from, turn, reason),
                }
            }
            Input::Deadline => match self.next_deadline() {
                Some(deadline) if deadline <= now => self.deadline(now),
                Some(_) | None => Ok(Taken::Known),
            },
            Input::Begin => self.begin(now),
            Input::Drop { sites } => self.drop_sites(now, &sites),
            Input::End { reason } => Err(CoordinatorError::EndedByOperator { reason }.into()),
        }
    }

    fn deadline(&mut self, now: Timestamp) -> Result<Taken, Stop> {
        match &self.state {
            State::Gathering(_) => self.gathering_is_late(now),
            State::Approving(_) => self.approving_is_late(now),
            State::Calling(_) | State::Open(_) => self.round_is_late(now),
            State::Over => Ok(Taken::Known),
        }
    }

    fn refused(&mut self, from: &SiteId, turn: Turn, reason: String) -> Result<Taken, Stop> {
        // What is rejected is not stored, and passed on to nobody.
        if reason.len() > LONGEST_REFUSAL {
            return Err(Rejection::Invalid(format!("a reason of {} bytes is too long", reason.len())).into());
        }
        let reason = shown_reason(&reason);
        match self.attempt() {
            Some(attempt) if attempt.turn == turn && attempt.expected.contains(from) => {
                Err(CoordinatorError::Refused { site: self.terms.label(from), round: turn.round, reason }
                    .into())
            }
            Some(_) | None => Err(Rejection::WrongTurn { got: turn, now: self.turn() }.into()),
        }
    }

    /// The attempt that is going on.
    fn attempt(&self) -> Option<&Attempt> {
        match &self.state {
            State::Calling(calling) => Some(&calling.attempt),
            State::Open(open) => Some(&open.attempt),
            State::Gathering(_) | State::Approving(_) | State::Over => None,
        }
    }

    fn turn(&self) -> Option<Turn> {
        self.attempt().map(|attempt| attempt.turn)
    }

    /// Says something to some sites.
    fn tell(&mut self, to: &BTreeSet<SiteId>, notice: Notice) {
        self.step += 1;
        let message = Arc::new(ToSite { step: self.step, notice });
        for site in to {
            self.outputs.push_back(Output::Send { to: site.clone(), message: message.clone() });
        }
    }

    /// Says something of its own to each of some sites, in one step.
    fn tell_each(&mut self, notices: impl IntoIterator<Item = (SiteId, Notice)>) {
        self.step += 1;
        let step = self.step;
        let sends = notices
            .into_iter()
            .map(|(to, notice)| Output::Send { to, message: Arc::new(ToSite { step, notice }) });
        self.outputs.extend(sends);
    }

    fn end(&mut self, mut result: Result<Finished, CoordinatorError>) {
        self.state = State::Over;
        if let Ok(finished) = &mut result {
            match self.stored.take() {
                Some(Announcement::Result(fit)) => finished.fit = *fit,
                other => self.stored = other,
            }
            self.announced = Some(Announcement::Result(Box::new(finished.fit.clone())));
        }
        let notice = match &result {
            Ok(finished) => Notice::Finished(Box::new(finished.fit.clone())),
            Err(error) => Notice::Ended { reason: error.to_string() },
        };
        let everyone = self.keys.keys().cloned().collect();
        self.tell(&everyone, notice);
        self.outputs.push_back(Output::Finished(Box::new(result)));
    }

    /// What the study is doing.
    pub fn status(&self) -> Status {
        let (phase, waiting) = match &self.state {
            State::Gathering(_) => (
                Phase::Gathering,
                self.terms.sites.keys().filter(|s| !self.joined.contains_key(*s)).collect(),
            ),
            State::Approving(a) => (
                Phase::Approving,
                self.cohort.iter().filter(|s| !a.roster.approvals().contains_key(*s)).collect(),
            ),
            State::Calling(calling) => (Phase::Calling, calling.waiting_for()),
            State::Open(open) => (Phase::Open, open.waiting_for()),
            State::Over => (Phase::Over, Vec::new()),
        };
        let names = |sites: &mut dyn Iterator<Item = &SiteId>| sites.map(SiteId::to_string).collect();
        Status {
            phase,
            turn: self.turn(),
            waiting_for: waiting.into_iter().map(SiteId::to_string).collect(),
            sites: names(&mut self.cohort.iter()),
            lost: names(&mut self.lost.iter()),
            released: self.released,
        }
    }
}

/// Whether an input changed anything.
enum Taken {
    Changed,
    /// A repetition: acknowledged again, and not written down again.
    Known,
}

/// Why an input was not taken.
enum Stop {
    Rejected(Rejection),
    Ended(Box<CoordinatorError>),
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl From<CoordinatorError> for Stop {
    fn from(error: CoordinatorError) -> Self {
        Self::Ended(Box::new(error))
    }
}
