//! A study: its machine in a thread, and what requests may see of it.

mod activity;
mod actor;
mod enrol;
mod load;
mod machine;
mod results;

pub use activity::{AnsweredAttempt, StudyActivity, Traffic};
pub(crate) use actor::DONE;
pub use actor::spawn;
pub use enrol::EnrolRefusal;
pub(crate) use enrol::shows_plan;
pub use load::{Loaded, bind, load, plan_files};
pub use machine::{Consequences, Machine, Outcome, ReplayError, Sent};

use crate::status::StudyStatus;
use crate::store::OperatorInput;
use axum::body::Bytes;
use fedirt_model::fit::TraceEntry;
use fedirt_privacy::secure::{Enrolment, NameError, PublicIdentity};
use fedirt_protocol::coordinator::Rejection;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::message::ToCoordinator;
use fedirt_protocol::{SiteId, StudyId, Terms};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{PoisonError, RwLock};
use tokio::sync::{oneshot, watch};

/// The latest message for a site, encoded.
#[derive(Debug, Clone)]
pub struct Mail {
    /// Its step.
    pub step: u64,
    /// Its bytes.
    pub bytes: Bytes,
}

/// What the thread is told.
pub enum Order {
    /// A message whose signature holds.
    Message {
        /// From whom.
        from: SiteId,
        /// What.
        message: ToCoordinator,
        /// Told once it is on the disk.
        reply: oneshot::Sender<Result<(), Rejection>>,
    },
    /// A key with the hash of an invitation's secret.
    Enrol {
        /// Hash of the secret.
        invitation: [u8; 32],
        /// The key, whose signature holds.
        enrolment: Box<Enrolment>,
        /// Told once it is on the disk.
        reply: oneshot::Sender<Result<(), EnrolRefusal>>,
    },
    /// What an operator does on the pages.
    Act {
        /// What.
        input: OperatorInput,
        /// Told once it is on the disk and shown, or why it is refused.
        reply: oneshot::Sender<Result<(), CommandRefusal>>,
    },
    /// An operator's command, which another process left in the store.
    Operator {
        /// Its number.
        command: i64,
        /// What; none if it could not be read.
        input: Option<OperatorInput>,
    },
    /// The end of the thread.
    Stop,
}

/// Why an operator's command is not carried out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandRefusal {
    /// It was written by another version of the program.
    #[error("refused: the command cannot be read")]
    Unreadable,
    /// It names a site in a way that no site is named.
    #[error("refused: {0}")]
    Site(#[from] NameError),
    /// The study does not take it.
    #[error("refused: {0}")]
    Rejected(#[from] Rejection),
}

/// Why an order is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// Too many wait.
    Busy,
    /// The thread has ended.
    Stopped,
}

/// What requests see of a study.
#[derive(Debug)]
pub struct Study {
    /// Its name.
    pub name: StudyId,
    /// The plan's text.
    pub plan: Bytes,
    keys: RwLock<BTreeMap<SiteId, PublicIdentity>>,
    mail: BTreeMap<SiteId, watch::Sender<Option<Mail>>>,
    last_seen: BTreeMap<SiteId, AtomicU64>,
    status: RwLock<Option<StudyStatus>>,
    seen: StudyActivity,
    orders: SyncSender<Order>,
}

impl Study {
    fn new(terms: &Terms, plan: &str, orders: SyncSender<Order>) -> Self {
        Self {
            name: terms.study.clone(),
            plan: Bytes::copy_from_slice(plan.as_bytes()),
            keys: RwLock::default(),
            mail: terms.sites.keys().map(|site| (site.clone(), watch::channel(None).0)).collect(),
            last_seen: terms.sites.keys().map(|site| (site.clone(), AtomicU64::new(0))).collect(),
            status: RwLock::default(),
            seen: StudyActivity::default(),
            orders,
        }
    }

    /// Hands an order over, without waiting.
    pub fn order(&self, order: Order) -> Result<(), NotTaken> {
        self.orders.try_send(order).map_err(|error| match error {
            TrySendError::Full(_) => NotTaken::Busy,
            TrySendError::Disconnected(_) => NotTaken::Stopped,
        })
    }

    /// Ends the thread, after what waits.
    pub fn stop(&self) {
        let _ = self.orders.send(Order::Stop);
    }

    /// The key of a site that enrolled.
    pub fn key(&self, site: &SiteId) -> Option<PublicIdentity> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).get(site).copied()
    }

    /// The mail of a site, to wait for.
    pub fn mail(&self, site: &SiteId) -> Option<watch::Receiver<Option<Mail>>> {
        self.mail.get(site).map(watch::Sender::subscribe)
    }

    /// A site was heard of.
    pub fn seen(&self, site: &SiteId, at: u64) {
        if let Some(last) = self.last_seen.get(site) {
            last.fetch_max(at, Ordering::Relaxed);
        }
    }

    /// When a site was last heard of; 0: never.
    pub fn last_seen(&self, site: &SiteId) -> u64 {
        self.last_seen.get(site).map_or(0, |last| last.load(Ordering::Relaxed))
    }

    /// How many sites were heard of since a time.
    pub fn seen_since(&self, time: u64) -> usize {
        self.last_seen.values().filter(|last| last.load(Ordering::Relaxed) >= time).count()
    }

    /// What it was last doing.
    pub fn status(&self) -> Option<StudyStatus> {
        self.status.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_status(&self, status: StudyStatus) {
        *self.status.write().unwrap_or_else(PoisonError::into_inner) = Some(status);
        self.seen.note_change();
    }

    /// What has been seen of it so far, for pages.
    pub fn so_far(&self) -> &StudyActivity {
        &self.seen
    }

    fn note_rounds(&self, rounds: Vec<TraceEntry>) {
        self.seen.note_rounds(rounds);
        self.seen.note_change();
    }

    fn note_sent(&self, sent: Vec<Sent>) {
        self.seen.note_sent(sent);
        self.seen.note_change();
    }

    fn note_declared(&self, site: &SiteId, declared: Option<Declaration>) {
        self.seen.note_declared(site, declared);
        self.seen.note_change();
    }

    fn set_key(&self, site: SiteId, key: PublicIdentity) {
        self.keys.write().unwrap_or_else(PoisonError::into_inner).insert(site, key);
    }

    fn deliver(&self, site: &SiteId, mail: Mail) {
        if let Some(sender) = self.mail.get(site) {
            sender.send_replace(Some(mail));
        }
    }
}
