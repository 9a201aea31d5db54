//! What a site must not forget, and a machine restored from it.

use super::state::{Said, State};
use super::{Asked, Pinned, Refusal, SiteMachine};
use crate::declaration::Declarations;
use crate::message::{SharedRoster, ToCoordinator, Turn};
use fedirt_privacy::secure::{Roster, RoundKey, SiteId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use zeroize::Zeroize;

/// What leaves with an upload: the record of a release, without a single number of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// In which round.
    pub turn: Turn,
    /// SHA-256 of what was opened: the attempt's one question.
    pub question: [u8; 32],
    /// With whom.
    pub cohort: Vec<String>,
    /// Hash of each site's key, in the same order, and whether it is verified here; empty in `plain`, and in journals of
    /// earlier versions.
    #[serde(default)]
    pub keys: Vec<([u8; 32], bool)>,
    /// Which statistics, and how many numbers of each.
    pub statistics: Vec<(String, u64)>,
    /// At which points, in the centre's coordinates.
    pub points: Vec<Vec<f64>>,
    /// The question, if it is answered a limited number of times.
    #[serde(default)]
    pub asked: Option<Asked>,
    /// Whether the site's own effect left by name.
    pub by_name: bool,
    /// SHA-256 of the items asked about, once a calibration has its list.
    pub design: Option<[u8; 32]>,
    /// The site's own effect and its standard error, where the round told it.
    pub place: Option<(Option<f64>, Option<f64>)>,
    /// What it costs of a privacy budget; exact sums have no such price.
    pub cost: Option<PrivateCost>,
}

/// The price of a noisy sum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrivateCost {
    /// μ² of Gaussian differential privacy.
    pub mu_squared: f64,
    /// What noise in integers adds: η.
    pub eta: f64,
    /// And κ.
    pub kappa: f64,
}

/// An event of a site's life, to be kept on its disk.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub enum SiteEvent {
    /// The roster was approved here.
    Approved {
        /// Its fingerprint.
        fingerprint: [u8; 32],
        /// The sites that the officer has verified.
        verified: Vec<String>,
    },
    /// The roster with everybody's signatures.
    Pinned(SharedRoster),
    /// A hello, before it is sent. Holds the secret of the round: keep it where only the site can read, and erase it
    /// once the round is closed.
    Hello {
        /// For which turn.
        turn: Turn,
        /// The secret key.
        secret: [u8; 32],
        /// The message.
        hello: Vec<u8>,
    },
    /// An attempt's question: from now on this attempt has no other. Written before the ledger is asked.
    Committed {
        /// Which attempt.
        turn: Turn,
        /// SHA-256 of the broadcast and the hellos.
        question: [u8; 32],
        /// What its answer costs, μ²: spent from now on, whether or not an answer comes of it.
        mu_squared: f64,
    },
    /// Numbers are about to leave: written before the upload.
    Released(Box<Release>),
    /// The upload, before it is sent: resent byte for byte. The round's secret is not needed any more.
    Upload {
        /// Of which turn.
        turn: Turn,
        /// The message.
        message: ToCoordinator,
    },
    /// The study is over here.
    Over,
}

impl std::fmt::Debug for SiteEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Secrets and masked numbers do not print.
        match self {
            Self::Approved { .. } => write!(f, "Approved"),
            Self::Pinned(_) => write!(f, "Pinned"),
            Self::Hello { turn, .. } => write!(f, "Hello({turn})"),
            Self::Committed { turn, .. } => write!(f, "Committed({turn})"),
            Self::Released(release) => write!(f, "Released({})", release.turn),
            Self::Upload { turn, .. } => write!(f, "Upload({turn})"),
            Self::Over => write!(f, "Over"),
        }
    }
}

impl Drop for SiteEvent {
    fn drop(&mut self) {
        if let Self::Hello { secret, .. } = self {
            secret.zeroize();
        }
    }
}

impl SiteMachine {
    /// Stands again where the events left off. Whatever was sent and perhaps not received is sent again when the
    /// coordinator asks for it.
    pub fn restore<'a>(&mut self, events: impl IntoIterator<Item = &'a SiteEvent>) -> Result<(), Refusal> {
        events.into_iter().try_for_each(|event| self.apply(event))
    }

    pub(super) fn apply(&mut self, event: &SiteEvent) -> Result<(), Refusal> {
        match event {
            SiteEvent::Approved { fingerprint, verified } => {
                self.approved = Some((*fingerprint).into());
                let names = verified.iter().map(|name| SiteId::try_from(name.as_str()));
                self.verified = names
                    .collect::<Result<_, _>>()
                    .map_err(|_| Refusal::Mismatch("a site has no proper name"))?;
            }
            SiteEvent::Pinned(shared) => {
                let roster = Roster::decode(&shared.roster)?;
                let items = self.terms.plan.items.len();
                let declarations = Declarations::verify(&roster, &shared.declarations, items)?;
                self.pinned = Some(Pinned { roster, declarations });
                self.private_plan = None;
            }
            SiteEvent::Hello { turn, secret, hello } => {
                self.attempts.said = Some(Said {
                    turn: *turn,
                    key: Some(RoundKey::from_secret(secret)),
                    message: Arc::new(ToCoordinator::Hello(hello.clone())),
                });
            }
            SiteEvent::Committed { turn, question, mu_squared } => {
                self.attempts.committed = Some((*turn, *question));
                self.past.spend(*mu_squared);
            }
            SiteEvent::Released(release) => self.past.add(&self.terms, release)?,
            SiteEvent::Upload { turn, message } => {
                self.attempts.answered = Some((*turn, Arc::new(message.clone())));
                drop(self.attempts.take_key());
            }
            SiteEvent::Over => {
                self.state = State::Over;
                self.attempts.forget_key();
            }
        }
        Ok(())
    }
}
