//! What coordinator and sites say to each other.

use crate::declaration::Bounds;
use fedirt_model::exchange::Request;
use fedirt_model::fit::Fit;
use fedirt_model::private::ScoreRequest;
use fedirt_model::questions::NOISY_SCORES;
use fedirt_model::statistics::Statistic;
use fedirt_privacy::secure::{Roster, SiteId, is_unseen};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A round and which try at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// Round, counted from 1.
    pub round: u32,
    /// Attempt, counted from 1.
    pub attempt: u32,
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "round {}, attempt {}", self.round, self.attempt)
    }
}

/// Everything that a site's answer depends on, beside the cohort: hashed into the masks, byte for byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Broadcast {
    /// SHA-256 of all sites' declarations, by which numbers are bounded and counted.
    pub declarations: [u8; 32],
    /// The sites whose sums are added, in order; none where a [`SparseView`] says who they are.
    pub cohort: Vec<String>,
    /// Bounds of the encoding.
    pub bounds: Bounds,
    /// The question.
    pub question: Question,
}

/// What a round asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// Sums over students.
    Sums(Request),
    /// Noisy sums of clipped scores (`private`).
    Scores {
        /// Which of the mechanism's questions, from 0.
        stage: usize,
        /// Where scores are taken.
        request: ScoreRequest,
    },
}

impl Question {
    /// The statistics that are asked for, and how many numbers of each.
    pub fn statistics(&self) -> Vec<(Statistic, usize)> {
        match self {
            Self::Sums(request) => request.tensors().iter().map(|t| (t.statistic, t.len())).collect(),
            Self::Scores { request, .. } => vec![(NOISY_SCORES, request.width().unwrap_or(0))],
        }
    }

    /// How many numbers are added up.
    pub fn summed_len(&self) -> usize {
        match self {
            Self::Sums(request) => crate::encoding::summed_len(request),
            Self::Scores { request, .. } => request.width().unwrap_or(0),
        }
    }
}

/// Longest reason that is passed on, in characters.
const LONGEST_REASON: usize = 500;

/// A reason as it is shown to people: not longer than a few lines, and without characters that cannot be seen or that turn the
/// direction of a text.
pub fn shown_reason(text: &str) -> String {
    text.chars().map(|c| if is_unseen(c) { ' ' } else { c }).take(LONGEST_REASON).collect()
}

/// From the coordinator to a site. Only the latest matters: a site that missed some has missed nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToSite {
    /// Counts the coordinator's steps.
    pub step: u64,
    /// What it says.
    pub notice: Notice,
}

/// Who takes part: keys, declarations, and the sites' signatures under both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedRoster {
    /// The roster's bytes.
    pub roster: Vec<u8>,
    /// Each site's signed declaration.
    pub declarations: Vec<Vec<u8>>,
    /// Signatures so far.
    pub approvals: Vec<(String, Vec<u8>)>,
}

/// A large cohort as one of its sites is shown it: who is in it, and the hellos of those with which the site masks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SparseView {
    /// A bit for each site of the roster, in the order of their names, the lowest first: whether it is in the cohort.
    pub members: Vec<u8>,
    /// Root of the hash tree over all hellos.
    pub root: [u8; 32],
    /// From this site's hello to the root.
    pub path: Vec<[u8; 32]>,
    /// The signed hellos of this site and its neighbours.
    pub hellos: Vec<Vec<u8>>,
}

impl SparseView {
    /// A cohort as bits.
    pub fn members_of(roster: &Roster, cohort: &BTreeSet<SiteId>) -> Vec<u8> {
        let mut bits = vec![0; roster.entries().len().div_ceil(8)];
        for (k, _) in roster.entries().keys().enumerate().filter(|(_, site)| cohort.contains(*site)) {
            bits[k / 8] |= 1 << (k % 8);
        }
        bits
    }

    /// The cohort; none where there are more or fewer bits than sites.
    pub fn cohort(&self, roster: &Roster) -> Option<BTreeSet<SiteId>> {
        let is_in = |k: usize| self.members.get(k / 8).is_some_and(|byte| byte >> (k % 8) & 1 == 1);
        let sites = roster.entries().keys().enumerate();
        let cohort: BTreeSet<SiteId> =
            sites.filter(|(k, _)| is_in(*k)).map(|(_, site)| site.clone()).collect();
        (Self::members_of(roster, &cohort) == self.members).then_some(cohort)
    }
}

/// What the coordinator says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Notice {
    /// Who takes part. A site signs the roster, and pins it once everybody has.
    Roster(SharedRoster),
    /// A round is about to begin: say hello.
    Call {
        /// Which.
        turn: Turn,
        /// The roster with all signatures, for sites that have not pinned it yet: in the first round under it.
        roster: Option<SharedRoster>,
    },
    /// A round is open: answer.
    Open {
        /// Which.
        turn: Turn,
        /// The signed hellos of the cohort; none in `plain`.
        hellos: Vec<Vec<u8>>,
        /// The bytes of a [`Broadcast`].
        broadcast: Vec<u8>,
    },
    /// The calibration is over.
    Finished(Box<Fit>),
    /// The study has ended without a result.
    Ended {
        /// Why, for people.
        reason: String,
    },
    /// A round of a large cohort is open, in which sites mask with a few others: answer.
    OpenSparse {
        /// Which.
        turn: Turn,
        /// What this site is shown of the cohort.
        view: SparseView,
        /// The bytes of a [`Broadcast`].
        broadcast: Vec<u8>,
    },
}

/// What the coordinator computed when it took an input, and announced to the sites. It is stored with that input, byte
/// for byte: a coordinator that is restarted, perhaps as a newer program or on another processor, repeats what it
/// said and does not rely on computing the same bits again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Announcement {
    /// The question of a round: the bytes of a [`Broadcast`].
    Question(Vec<u8>),
    /// The result.
    Result(Box<Fit>),
}

/// A site's sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Sums {
    /// As they are: ring elements, vector after vector of the summed slots.
    Plain(Vec<u64>),
    /// A signed upload of masked words.
    Masked(Vec<u8>),
}

/// From a site to the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToCoordinator {
    /// The site's key, signed with itself. It counts only with an invitation, which the shell checks.
    Enrol(Vec<u8>),
    /// What the site declares about its data, signed.
    Join(Vec<u8>),
    /// The site's signature under the roster.
    Approve {
        /// Edition of the roster.
        edition: u64,
        /// Signature.
        signature: Vec<u8>,
    },
    /// A signed hello with a fresh key.
    Hello(Vec<u8>),
    /// The answer of a round.
    Upload {
        /// Of which.
        turn: Turn,
        /// What is added up.
        sums: Sums,
        /// What the plan publishes by name: ring elements.
        by_name: Vec<u64>,
    },
    /// The site will not answer.
    Refuse {
        /// Which round.
        turn: Turn,
        /// Why, for people.
        reason: String,
    },
}

impl ToCoordinator {
    /// What kind of message this is, for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Enrol(_) => "enrol",
            Self::Join(_) => "join",
            Self::Approve { .. } => "approve",
            Self::Hello(_) => "hello",
            Self::Upload { .. } => "upload",
            Self::Refuse { .. } => "refuse",
        }
    }
}

impl Notice {
    /// The round that it opens, and the bytes of its question.
    pub fn opens(&self) -> Option<(Turn, &[u8])> {
        match self {
            Self::Open { turn, broadcast, .. } | Self::OpenSparse { turn, broadcast, .. } => {
                Some((*turn, broadcast))
            }
            Self::Roster(_) | Self::Call { .. } | Self::Finished(_) | Self::Ended { .. } => None,
        }
    }

    /// What kind of notice this is, for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Roster(_) => "roster",
            Self::Call { .. } => "call",
            Self::Open { .. } | Self::OpenSparse { .. } => "open",
            Self::Finished(_) => "finished",
            Self::Ended { .. } => "ended",
        }
    }
}
