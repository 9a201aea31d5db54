//! What coordinator and sites say to each other.

use fedirt_model::exchange::Request;
use fedirt_model::fit::Fit;
use serde::{Deserialize, Serialize};

/// Place of a site in the cohort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteId(pub usize);

/// A round and which try at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Turn {
    /// Round, counted from 1.
    pub round: u32,
    /// Attempt, counted from 1.
    pub attempt: u32,
}

/// What a site tells about itself before the first round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Enrolment {
    /// Name of the site.
    pub name: String,
    /// Students whose answers count: weight above zero.
    pub students: u64,
    /// For each item of the codebook, the codes it uses as a bit mask; 0 where the site does not give the item.
    pub codes: Vec<u64>,
    /// Whether its students carry weights.
    pub weighted: bool,
    /// Sum of the weights (the number of students without them).
    pub total_weight: f64,
    /// The largest weight.
    pub largest_weight: f64,
}

/// What bounds the numbers of a round, so that everyone encodes alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Students of the cohort.
    pub students: u64,
    /// Sites of the cohort.
    pub sites: u64,
    /// Largest weight of a student when weights add up to the number of students, rounded up.
    pub largest_weight: u64,
}

/// From the coordinator to a site.
#[derive(Debug, Clone, PartialEq)]
pub enum ToSite {
    /// A round opens.
    Open {
        /// Which.
        turn: Turn,
        /// The sites whose sums are added.
        cohort: Vec<SiteId>,
        /// Bounds of the encoding.
        bounds: Bounds,
        /// The question.
        request: Box<Request>,
    },
    /// The calibration is over.
    Finished(Box<Fit>),
}

/// From a site to the coordinator.
#[derive(Debug, Clone, PartialEq)]
pub enum ToCoordinator {
    /// The site takes part.
    Enrol(Enrolment),
    /// Its sums, in fixed point, vector after vector of the request's schema.
    Upload {
        /// Of which round.
        turn: Turn,
        /// Ring elements.
        words: Vec<u64>,
    },
    /// The site will not answer.
    Refuse {
        /// Which round.
        turn: Turn,
        /// Why, for people.
        reason: String,
    },
}
