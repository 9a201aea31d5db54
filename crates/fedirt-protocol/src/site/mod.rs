//! The site's machine: rows stay inside, sums come out.
//!
//! What it must not forget, it hands out as [`SiteEvent`]s to be persisted before anything that follows is sent. A
//! machine that is restored from them never answers a lower attempt, never puts two inputs under one mask, and
//! resends the same bytes.

mod event;
mod givers;
mod hello;
mod open;
mod refusal;

pub use event::{PrivateCost, Release, SiteEvent};
pub use refusal::Refusal;

use crate::declaration::{Declaration, Declarations};
use crate::message::{Notice, ToCoordinator, ToSite, Turn};
use crate::policy::Policy;
use crate::terms::Terms;
use crate::{Timestamp, codec};
use fedirt_model::fit::Fit;
use fedirt_model::private::Score2Plan;
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::{Place, Site};
use fedirt_model::statistics::Statistic;
use fedirt_privacy::secure::{
    BoundCohort, Chain, Enrolment, Fingerprint, Identity, Roster, RoundKey, SiteId,
};
use rand::CryptoRng;
use std::cell::RefCell;
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
    RosterShown {
        /// What to compare.
        fingerprint: Fingerprint,
        /// The sites on it, with the fingerprints of their keys and the students they declare.
        sites: Vec<(SiteId, Fingerprint, u64)>,
        /// What the officer should consider, now that everybody has declared.
        caution: Option<String>,
    },
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

/// A hello that was said, with the key to it.
struct Said {
    turn: Turn,
    key: Option<RoundKey>,
    message: Arc<ToCoordinator>,
}

/// The machine.
pub struct SiteMachine {
    name: SiteId,
    identity: Identity,
    terms: Terms,
    policy: Policy,
    site: Site,
    declaration: Vec<u8>,
    /// The roster that the officer approved, before everybody has.
    approved: Option<Fingerprint>,
    pinned: Option<Pinned>,
    /// What `private` derives for the last cohort: it follows from the terms and the pinned declarations.
    private_plan: RefCell<Option<(BTreeSet<SiteId>, Score2Plan)>>,
    chain: Chain,
    said: Option<Said>,
    answered: Option<(Turn, Arc<ToCoordinator>)>,
    /// Points at which this site has answered, in the centre's coordinates.
    points: Vec<Vec<f64>>,
    /// The turn and cohort for which sums over effects were given.
    totals: Option<(Turn, BTreeSet<SiteId>)>,
    /// The turn in which the effect was given by name.
    published: Option<Turn>,
    /// The cohort and the items of its calibration.
    design: Option<(BTreeSet<SiteId>, [u8; 32])>,
    /// The one question of an attempt: its turn, and the hash of what was opened.
    committed: Option<(Turn, [u8; 32])>,
    /// The cohort of an opening that was found in order and waits for the officer or the ledger.
    verified: Option<(Turn, [u8; 32], Option<BoundCohort>)>,
    /// How often numbers have left, attempts included.
    releases: u32,
    /// μ² that this study has spent here: the price of every question that was accepted.
    spent: f64,
    /// The turn that the officer approved, where the policy wants that.
    /// The question that the officer has approved.
    approved_question: Option<(Turn, [u8; 32])>,
    /// The turn that the ledger has an entry for.
    debited: Option<Turn>,
    /// What waits for the officer or the ledger.
    waiting: Option<Arc<ToSite>>,
    place: Option<Place>,
    over: bool,
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
        let declaration = Declaration::of(&table, &terms).sign(&terms, &name, &identity)?;
        Ok(Self {
            chain: Chain::new(terms.thresholds),
            name,
            identity,
            terms,
            policy,
            site: Site::new(table),
            declaration,
            approved: None,
            pinned: None,
            private_plan: RefCell::new(None),
            said: None,
            answered: None,
            points: Vec::new(),
            totals: None,
            published: None,
            design: None,
            committed: None,
            verified: None,
            releases: 0,
            spent: 0.0,
            approved_question: None,
            debited: None,
            waiting: None,
            place: None,
            over: false,
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

    /// The site's own place, which stays here.
    pub fn place(&self) -> Option<Place> {
        self.place.or_else(|| self.site.place())
    }

    /// The site's own rows, for scoring at home.
    pub fn into_table(self) -> ResponseTable {
        self.site.into_table()
    }

    /// Whether the study is over for this site.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The roster that is pinned.
    pub fn pinned(&self) -> Option<Fingerprint> {
        self.pinned.as_ref().map(|pinned| pinned.roster.fingerprint())
    }

    /// Takes a message. Randomness is for keys and noise, and must be the operating system's outside simulations.
    pub fn handle(&mut self, _now: Timestamp, random: &mut impl CryptoRng, message: &Arc<ToSite>) {
        if self.over {
            return;
        }
        let (turn, result) = match &message.notice {
            Notice::Roster(shared) => (None, self.roster(shared, message)),
            Notice::Call { turn, roster } => (Some(*turn), self.call(random, *turn, roster.as_ref())),
            Notice::Open { turn, hellos, broadcast } => {
                (Some(*turn), self.open(random, *turn, hellos, broadcast, message))
            }
            Notice::Finished(fit) => {
                self.close();
                self.outputs.push_back(SiteOutput::Finished(fit.clone()));
                (None, Ok(()))
            }
            Notice::Ended { reason } => {
                self.close();
                self.outputs.push_back(SiteOutput::Ended { reason: reason.clone() });
                (None, Ok(()))
            }
        };
        if let Err(refusal) = result {
            // A replay deserves no answer: it may be an old message that the network repeated.
            if let (Some(turn), false) = (turn, refusal.is_replay()) {
                self.send(ToCoordinator::Refuse { turn, reason: refusal.for_the_coordinator() });
            }
            self.outputs.push_back(SiteOutput::Refused { turn, refusal });
        }
    }

    /// The officer approves the question that was shown; it is answered now. Another one in the same turn is shown anew.
    pub fn approve_round(
        &mut self,
        now: Timestamp,
        random: &mut impl CryptoRng,
        turn: Turn,
        question: [u8; 32],
    ) {
        self.approved_question = Some((turn, question));
        if let Some(message) = self.waiting.take() {
            self.handle(now, random, &message);
        }
    }

    /// The ledger's word on [`SiteOutput::Debit`]: the round is answered now, or refused.
    pub fn debited(
        &mut self,
        now: Timestamp,
        random: &mut impl CryptoRng,
        turn: Turn,
        word: Result<(), String>,
    ) {
        let Some(message) = self.waiting.take() else { return };
        match word {
            Ok(()) => {
                self.debited = Some(turn);
                self.handle(now, random, &message);
            }
            Err(reason) => {
                let refusal = Refusal::Ledger(reason);
                self.send(ToCoordinator::Refuse { turn, reason: refusal.for_the_coordinator() });
                self.outputs.push_back(SiteOutput::Refused { turn: Some(turn), refusal });
            }
        }
    }

    /// The end: keys are wiped.
    fn close(&mut self) {
        self.over = true;
        self.said = None;
        self.outputs.push_back(SiteOutput::Persist(SiteEvent::Over));
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
