//! The site's machine: rows stay inside, sums come out.
//!
//! What it must not forget, it hands out as [`SiteEvent`]s to be persisted before anything that follows is sent. A
//! machine that is restored from them never answers a lower attempt, never puts two inputs under one mask, and
//! resends the same bytes. The order of calls, and what happens after a crash, is told in the [crate's
//! documentation](crate).

mod asked;
mod event;
mod givers;
mod hello;
mod ledger_entry;
mod open;
mod past;
mod refusal;
mod state;

pub use asked::Asked;
pub use event::{PrivateCost, Release, SiteEvent};
pub use ledger_entry::{DebitRefusal, EntryError, Subjects};
pub use refusal::Refusal;

use crate::declaration::{Declaration, Declarations};
use crate::message::{Notice, ToCoordinator, ToSite, Turn, shown_reason};
use crate::policy::Policy;
use crate::terms::Terms;
use crate::{Timestamp, codec};
use fedirt_model::fit::Fit;
use fedirt_model::private::PrivatePlan;
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::{EffectEstimate, Site};
use fedirt_model::statistics::Statistic;
use fedirt_privacy::secure::{Enrolment, Fingerprint, Identity, Roster, SiteId};
use open::Shown;
use past::Past;
use rand::CryptoRng;
use state::{Attempts, State};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// A round that waits for the officer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundShown {
    /// Which.
    pub turn: Turn,
    /// Hash of what is asked: the officer approves this question, and no other.
    pub question: [u8; 32],
    /// Releases so far, attempts too.
    pub released: u32,
    /// The statistics and their sizes.
    pub statistics: Vec<(Statistic, usize)>,
}

/// A roster that waits for the officer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosterShown {
    /// What to compare.
    pub fingerprint: Fingerprint,
    /// The sites on it, this one among them, with the fingerprints of their keys and the students they declare.
    pub sites: Vec<(SiteId, Fingerprint, u64)>,
    /// How many of the other sites the officer must have verified: all but those that may work with the coordinator.
    pub calls: usize,
    /// What the officer should consider, now that everybody has declared.
    pub caution: Option<String>,
}

impl RosterShown {
    /// The names of all sites.
    pub fn names(&self) -> BTreeSet<SiteId> {
        self.sites.iter().map(|(site, ..)| site.clone()).collect()
    }
}

/// What a site's shell must do, in this order.
#[derive(Debug)]
pub enum SiteOutput {
    /// Write this down before anything that follows is done.
    Persist(SiteEvent),
    /// Send this to the coordinator, until it is acknowledged.
    Send(Arc<ToCoordinator>),
    /// Numbers are about to leave: enter this in the site's ledger, on disk, and say what the ledger says with
    /// [`SiteMachine::debited`]. An entry for the same study, round, attempt
    /// and question that is there already counts.
    Debit(Release),
    /// The officer must compare this roster and approve it.
    RosterShown(RosterShown),
    /// The officer must approve this round before it is answered.
    RoundShown(RoundShown),
    /// Something was asked that this site does not do. Nothing was sent but the refusal.
    Refused {
        /// In which round.
        turn: Option<Turn>,
        /// Why.
        refusal: Refusal,
    },
    /// The calibration is over.
    Finished(Box<Fit>),
    /// The study ended without a result.
    Ended {
        /// Why.
        reason: String,
    },
}

/// The roster that every site signed, with what they declared.
#[derive(Debug, Clone)]
struct Pinned {
    roster: Roster,
    declarations: Declarations,
}

/// The machine.
pub struct SiteMachine {
    name: SiteId,
    identity: Identity,
    terms: Terms,
    policy: Policy,
    site: Site,
    /// What this site declares about its data, signed.
    declaration: Vec<u8>,
    /// The roster that the officer approved, before everybody has.
    approved: Option<Fingerprint>,
    /// Sites of which the officer knows that they are who they say.
    verified: BTreeSet<SiteId>,
    /// The roster that everybody approved.
    pinned: Option<Pinned>,
    /// What `private` derives for the last cohort from the terms and the pinned declarations: a cache, because finding the
    /// noise that keeps an ε takes longer than a round.
    private_plan: Option<(BTreeSet<SiteId>, Arc<PrivatePlan>)>,
    /// The latest hello, question and answer.
    attempts: Attempts,
    /// What has left this site in this study.
    past: Past,
    /// What the machine waits for.
    state: State,
    outputs: VecDeque<SiteOutput>,
}

impl std::fmt::Debug for SiteMachine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SiteMachine({})", self.name)
    }
}

impl SiteMachine {
    /// A site with a table whose columns are the plan's items.
    pub fn new(
        name: SiteId,
        identity: Identity,
        terms: Terms,
        policy: Policy,
        table: ResponseTable,
    ) -> Result<Self, codec::CodecError> {
        let table = policy.with_open_groups(table);
        let declaration = Declaration::of(&table, &terms).sign(&terms, &name, &identity)?;
        Ok(Self {
            past: Past::new(&terms),
            name,
            identity,
            terms,
            policy,
            site: Site::new(table),
            declaration,
            approved: None,
            verified: BTreeSet::new(),
            pinned: None,
            private_plan: None,
            attempts: Attempts::default(),
            state: State::Waiting,
            outputs: VecDeque::new(),
        })
    }

    /// Says who it is and what it has: the key counts with an invitation only.
    pub fn introduce(&mut self) {
        let enrolment = Enrolment::sign(self.terms.study.clone(), self.name.clone(), &self.identity);
        self.send(ToCoordinator::Enrol(enrolment.encode()));
        self.join();
    }

    /// Declares what it has, once its key is enrolled. Repeating it does no harm.
    pub fn join(&mut self) {
        self.send(ToCoordinator::Join(self.declaration.clone()));
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<SiteOutput> {
        self.outputs.pop_front()
    }

    /// The terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The site's name.
    pub fn name(&self) -> &SiteId {
        &self.name
    }

    /// The site's own effect, which stays here.
    pub fn own_effect(&self) -> Option<EffectEstimate> {
        self.past.own_effect().or_else(|| self.site.own_effect())
    }

    /// The site's own rows, for scoring at home.
    pub fn into_table(self) -> ResponseTable {
        self.site.into_table()
    }

    /// Whether the study is over for this site.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// The roster that is pinned.
    pub fn pinned(&self) -> Option<Fingerprint> {
        self.pinned.as_ref().map(|pinned| pinned.roster.fingerprint())
    }

    /// Takes a message. Randomness is for keys and noise, and must be the operating system's outside simulations.
    pub fn handle(&mut self, _now: Timestamp, random: &mut impl CryptoRng, message: &Arc<ToSite>) {
        if self.is_over() {
            return;
        }
        let (turn, result) = match &message.notice {
            Notice::Roster(shared) => (None, self.show_roster(shared)),
            Notice::Call { turn, roster } => (Some(*turn), self.call(random, *turn, roster.as_ref())),
            Notice::Open { turn, hellos, broadcast } => {
                (Some(*turn), self.open(*turn, Shown::Whole(hellos), broadcast))
            }
            Notice::OpenSparse { turn, view, broadcast } => {
                (Some(*turn), self.open(*turn, Shown::Sparse(view), broadcast))
            }
            Notice::Finished(fit) => {
                self.close(SiteOutput::Finished(fit.clone()));
                (None, Ok(()))
            }
            Notice::Ended { reason } => {
                self.close(SiteOutput::Ended { reason: shown_reason(reason) });
                (None, Ok(()))
            }
        };
        if let Err(refusal) = result {
            self.refuse(turn, refusal);
        }
    }

    /// The officer approves the question that was shown, and it is accepted now. A yes to another question approves
    /// nothing: what is asked is shown again.
    pub fn approve_round(&mut self, turn: Turn, question: [u8; 32]) {
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::RoundShown(opening) if (opening.turn, opening.question) == (turn, question) => {
                if let Err(refusal) = self.accept(opening) {
                    self.refuse(Some(turn), refusal);
                }
            }
            State::RoundShown(opening) => self.show_round(opening),
            other => self.state = other,
        }
    }

    /// The ledger's answer to [`SiteOutput::Debit`]: the round is answered now, or refused.
    pub fn debited(
        &mut self,
        _now: Timestamp,
        random: &mut impl CryptoRng,
        turn: Turn,
        answer: Result<(), DebitRefusal>,
    ) {
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::AskingLedger(opening) if opening.turn == turn => {
                let answered = answer
                    .map_err(|refusal| Refusal::Ledger(Box::new(refusal)))
                    .and_then(|()| self.answer(&opening, random));
                if let Err(refusal) = answered {
                    self.refuse(Some(turn), refusal);
                }
            }
            other => self.state = other,
        }
    }

    /// Tells the coordinator and the officer that something is not done. A repetition of an old message, as networks make
    /// them, deserves no answer.
    fn refuse(&mut self, turn: Option<Turn>, refusal: Refusal) {
        if let (Some(turn), false) = (turn, refusal.is_replay()) {
            self.send(ToCoordinator::Refuse { turn, reason: shown_reason(&refusal.for_the_coordinator()) });
        }
        let ended = refusal.ends_the_study().then(|| SiteOutput::Ended { reason: refusal.to_string() });
        self.outputs.push_back(SiteOutput::Refused { turn, refusal });
        if let Some(end) = ended {
            self.close(end);
        }
    }

    /// The end: keys are wiped. Persists [`SiteEvent::Over`].
    fn close(&mut self, end: SiteOutput) {
        self.attempts.forget_key();
        self.state = State::Over;
        self.outputs.push_back(SiteOutput::Persist(SiteEvent::Over));
        self.outputs.push_back(end);
    }

    fn send(&mut self, message: ToCoordinator) {
        self.outputs.push_back(SiteOutput::Send(Arc::new(message)));
    }

    /// Writes an event down and lives by it.
    fn persist(&mut self, event: SiteEvent) -> Result<(), Refusal> {
        self.apply(&event)?;
        self.outputs.push_back(SiteOutput::Persist(event));
        Ok(())
    }
}
