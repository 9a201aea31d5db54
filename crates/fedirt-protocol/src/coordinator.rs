//! The coordinator's machine: enrolment, rounds, end.

use crate::Timestamp;
use crate::codebook;
use crate::encoding::{self, EncodingError};
use crate::message::{Bounds, Enrolment, SiteId, ToCoordinator, ToSite, Turn};
use fedirt_model::centre::{Calibration, CentreError, Enrolled, Outcome, Plan, Step, total_weight};
use fedirt_model::exchange::{Aggregate, Request};
use fedirt_model::fit::{Fit, TraceEntry};
use fedirt_model::statistics::{Combination, Mode};
use fedirt_privacy::fixed_point;
use std::collections::{BTreeMap, VecDeque};

/// What ends a calibration before its time.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CoordinatorError {
    /// The centre cannot go on.
    #[error(transparent)]
    Centre(#[from] CentreError),
    /// A site's answer cannot be read.
    #[error("site {site}: {error}")]
    Encoding {
        /// Name of the site.
        site: String,
        /// What is wrong.
        error: EncodingError,
    },
    /// A site refused.
    #[error("site {site} refused round {round}: {reason}")]
    Refused {
        /// Name of the site.
        site: String,
        /// Round.
        round: u32,
        /// Its reason.
        reason: String,
    },
    /// The sites' tables do not have one column per item of the codebook.
    #[error("site {site} enrolled {got} items, and the codebook has {want}")]
    Codebook {
        /// Name of the site.
        site: String,
        /// Items enrolled.
        got: usize,
        /// Items of the codebook.
        want: usize,
    },
}

/// A finished calibration: what is published, and what only the coordinator needs.
#[derive(Debug, Clone)]
pub struct Finished {
    /// `fit.json`.
    pub fit: Fit,
    /// Everything behind it.
    pub outcome: Outcome,
}

/// What the coordinator's shell must do.
#[derive(Debug)]
pub enum CoordinatorOutput {
    /// Write down that a site's message was taken, before it is acknowledged.
    Persist {
        /// From whom.
        site: SiteId,
        /// What.
        message: ToCoordinator,
    },
    /// Send this to a site.
    Send {
        /// To whom.
        to: SiteId,
        /// What.
        message: ToSite,
    },
    /// A round is complete.
    Progress(TraceEntry),
    /// The end.
    Finished(Box<Result<Finished, CoordinatorError>>),
}

/// Combines the sites' ring elements; the sum is the default, and the only one that can be masked.
pub trait Aggregator: Send {
    /// One aggregate from all answers, in the order of the cohort.
    fn aggregate(
        &self,
        request: &Request,
        bounds: Bounds,
        answers: &[&[u64]],
    ) -> Result<Aggregate, EncodingError>;
}

/// Exact sums modulo 2⁶⁴.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactSum;

impl Aggregator for ExactSum {
    fn aggregate(
        &self,
        request: &Request,
        bounds: Bounds,
        answers: &[&[u64]],
    ) -> Result<Aggregate, EncodingError> {
        let schema = request.schema();
        let mut total = vec![0u64; schema.iter().map(|s| s.len).sum()];
        answers.iter().for_each(|words| fixed_point::add(&mut total, words));
        let mut sums = encoding::decode(request, bounds, &total)?;
        let kept = schema.iter().any(|s| s.statistic.info().combination == Combination::BySite);
        let mut by_site = Vec::new();
        if kept {
            for words in answers {
                by_site.push(encoding::decode(request, bounds, words)?);
            }
        }
        for (slot, sum) in schema.iter().zip(&mut sums) {
            if slot.statistic.info().combination == Combination::BySite {
                sum.clear();
            }
        }
        Ok(Aggregate::new(schema, sums, by_site))
    }
}

/// The machine.
pub struct Coordinator {
    plan: Plan,
    mode: Mode,
    aggregator: Box<dyn Aggregator>,
    enrolments: Vec<Option<Enrolment>>,
    calibration: Option<Calibration>,
    turn: Turn,
    request: Option<Box<Request>>,
    answers: BTreeMap<SiteId, Vec<u64>>,
    reported: usize,
    outputs: VecDeque<CoordinatorOutput>,
    over: bool,
}

impl std::fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Coordinator({} sites, {:?})", self.enrolments.len(), self.turn)
    }
}

impl Coordinator {
    /// A coordinator for a plan and a number of sites.
    pub fn new(plan: Plan, mode: Mode, sites: usize) -> Self {
        Self {
            plan,
            mode,
            aggregator: Box::new(ExactSum),
            enrolments: vec![None; sites],
            calibration: None,
            turn: Turn { round: 0, attempt: 1 },
            request: None,
            answers: BTreeMap::new(),
            reported: 0,
            outputs: VecDeque::new(),
            over: false,
        }
    }

    /// The same with another way to combine answers (in `plain` only: others see no single site's numbers).
    pub fn with_aggregator(mut self, aggregator: Box<dyn Aggregator>) -> Self {
        self.aggregator = aggregator;
        self
    }

    /// Takes a message.
    pub fn handle(&mut self, _now: Timestamp, from: SiteId, message: ToCoordinator) {
        if self.over || from.0 >= self.enrolments.len() {
            return;
        }
        let result = match message {
            ToCoordinator::Enrol(enrolment) => self.enrol(from, enrolment),
            ToCoordinator::Upload { turn, words } if turn == self.turn => self.take(from, turn, words),
            ToCoordinator::Refuse { turn, reason } if turn == self.turn => {
                Err(CoordinatorError::Refused { site: self.name(from), round: turn.round, reason })
            }
            // Late or repeated: the turn is over.
            ToCoordinator::Upload { .. } | ToCoordinator::Refuse { .. } => Ok(()),
        };
        if let Err(error) = result {
            self.end(Err(error));
        }
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<CoordinatorOutput> {
        self.outputs.pop_front()
    }

    fn name(&self, site: SiteId) -> String {
        self.enrolments[site.0].as_ref().map_or_else(|| site.0.to_string(), |e| e.name.clone())
    }

    fn enrol(&mut self, from: SiteId, enrolment: Enrolment) -> Result<(), CoordinatorError> {
        if self.enrolments[from.0].is_some() || self.calibration.is_some() {
            return Ok(());
        }
        if enrolment.codes.len() != self.plan.items.len() {
            let (got, want) = (enrolment.codes.len(), self.plan.items.len());
            return Err(CoordinatorError::Codebook { site: enrolment.name, got, want });
        }
        let message = ToCoordinator::Enrol(enrolment.clone());
        self.outputs.push_back(CoordinatorOutput::Persist { site: from, message });
        self.enrolments[from.0] = Some(enrolment);
        let all: Option<Vec<Enrolled>> = self
            .enrolments
            .iter()
            .map(|e| {
                e.as_ref().map(|e| Enrolled {
                    name: e.name.clone(),
                    students: e.students,
                    codes: e.codes.clone(),
                    weighted: e.weighted,
                    total_weight: e.total_weight,
                })
            })
            .collect();
        if let Some(sites) = all {
            let (calibration, request) = Calibration::new(self.plan.clone(), sites)?;
            self.calibration = Some(calibration);
            self.open(request);
        }
        Ok(())
    }

    fn bounds(&self) -> Bounds {
        let students: u64 = self.enrolments.iter().flatten().map(|e| e.students).sum();
        let largest = self.enrolments.iter().flatten().map(|e| e.largest_weight).fold(0.0, f64::max);
        let total = total_weight(self.enrolments.iter().flatten().map(|e| e.total_weight));
        let scaled = largest * students as f64 / total.max(f64::MIN_POSITIVE);
        // Rows without an answer are left out after the opening: a little room for the scale to move.
        let largest_weight = (2.0 * scaled).ceil().clamp(1.0, 1e12) as u64;
        Bounds { students, sites: self.enrolments.len() as u64, largest_weight }
    }

    fn open(&mut self, request: Box<Request>) {
        self.turn = Turn { round: self.turn.round + 1, attempt: 1 };
        self.answers.clear();
        let cohort: Vec<SiteId> = (0..self.enrolments.len()).map(SiteId).collect();
        let bounds = self.bounds();
        for &to in &cohort {
            let message =
                ToSite::Open { turn: self.turn, cohort: cohort.clone(), bounds, request: request.clone() };
            self.outputs.push_back(CoordinatorOutput::Send { to, message });
        }
        self.request = Some(request);
    }

    fn take(&mut self, from: SiteId, turn: Turn, words: Vec<u64>) -> Result<(), CoordinatorError> {
        let Some(request) = self.request.clone() else { return Ok(()) };
        if self.answers.contains_key(&from) {
            return Ok(());
        }
        let bounds = self.bounds();
        encoding::decode(&request, bounds, &words)
            .map_err(|error| CoordinatorError::Encoding { site: self.name(from), error })?;
        let message = ToCoordinator::Upload { turn, words: words.clone() };
        self.outputs.push_back(CoordinatorOutput::Persist { site: from, message });
        self.answers.insert(from, words);
        if self.answers.len() < self.enrolments.len() {
            return Ok(());
        }
        let answers: Vec<&[u64]> = self.answers.values().map(Vec::as_slice).collect();
        let aggregate = self
            .aggregator
            .aggregate(&request, bounds, &answers)
            .map_err(|error| CoordinatorError::Encoding { site: "all".into(), error })?;
        let Some(calibration) = self.calibration.as_mut() else { return Ok(()) };
        let step = calibration.advance(&request, &aggregate)?;
        let trace: Vec<TraceEntry> = calibration.trace().iter().skip(self.reported).cloned().collect();
        self.reported += trace.len();
        self.outputs.extend(trace.into_iter().map(CoordinatorOutput::Progress));
        match step {
            Step::Ask(request) => self.open(request),
            Step::Done(outcome) => {
                let version = env!("CARGO_PKG_VERSION").to_owned();
                let fit = outcome.fit(self.mode, codebook::hash(&outcome.items), version);
                for k in 0..self.enrolments.len() {
                    let message = ToSite::Finished(Box::new(fit.clone()));
                    self.outputs.push_back(CoordinatorOutput::Send { to: SiteId(k), message });
                }
                self.end(Ok(Finished { fit, outcome: *outcome }));
            }
        }
        Ok(())
    }

    fn end(&mut self, result: Result<Finished, CoordinatorError>) {
        self.over = true;
        self.outputs.push_back(CoordinatorOutput::Finished(Box::new(result)));
    }
}
