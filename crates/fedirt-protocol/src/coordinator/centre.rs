//! What the coordinator makes of a round's sum: the next question, or the result.

use super::private_centre::PrivateCentre;
use super::{Aggregator, CoordinatorError, Finished};
use crate::codebook;
use crate::declaration::Declarations;
use crate::encoding;
use crate::message::Question;
use crate::private;
use crate::terms::Terms;
use fedirt_model::centre::{Calibration, CalibrationStep};
use fedirt_model::fit::TraceEntry;
use fedirt_model::questions::Aggregate;
use fedirt_model::statistics::{Combination, Mode};
use fedirt_privacy::secure::SiteId;
use std::collections::BTreeSet;

/// The centre of a study.
pub(crate) enum Centre {
    /// Exact sums.
    Exact(Box<Calibration>),
    /// Noisy sums.
    Private(Box<PrivateCentre>),
}

/// What it wants next.
pub(crate) enum Next {
    Ask(Box<Question>),
    Done(Box<Finished>),
}

/// What a round brought.
pub(crate) enum Brought<'a> {
    /// The opened sum.
    Total(Vec<u64>),
    /// Each site's words (`plain`), and how to combine them.
    Single(Vec<&'a [u64]>, &'a dyn Aggregator),
}

impl Centre {
    /// The centre for a cohort that has this many rounds of estimation left, with its first question.
    pub(crate) fn new(
        terms: &Terms,
        rounds: u32,
        declarations: &Declarations,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(Self, Question), CoordinatorError> {
        if terms.mode == Mode::Private {
            let (centre, question) = PrivateCentre::new(private::plan_of(terms, declarations, cohort)?)?;
            return Ok((Self::Private(Box::new(centre)), question));
        }
        let mut plan = terms.calibration_of(cohort.len());
        plan.settings.max_rounds = usize::try_from(rounds).unwrap_or(usize::MAX);
        let (calibration, request) = Calibration::new(plan, declarations.enrolled(terms, cohort))?;
        Ok((Self::Exact(Box::new(calibration)), Question::Sums(*request)))
    }

    /// Goes on from a question that was asked before, and differs in the last bits from the one computed now. The centre
    /// of a private study keeps no copy of what it asked; its noise is larger than any such difference.
    pub(crate) fn adopt(&mut self, asked: &Question) {
        if let (Self::Exact(calibration), Question::Sums(request)) = (self, asked) {
            calibration.adopt(request);
        }
    }

    /// Takes what a round brought; `by_name` has each site's published words.
    pub(crate) fn advance(
        &mut self,
        terms: &Terms,
        declarations: &Declarations,
        cohort: &BTreeSet<SiteId>,
        question: &Question,
        brought: Brought<'_>,
        by_name: &[(&SiteId, &[u64])],
    ) -> Result<Next, CoordinatorError> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        match (self, question) {
            (Self::Exact(calibration), Question::Sums(request)) => {
                let (bounds, precision) = (declarations.bounds(cohort), terms.precision());
                let all = |error| CoordinatorError::Encoding { site: "all".into(), error };
                let sums = match brought {
                    Brought::Total(total) => {
                        encoding::decode(request, bounds, precision, Combination::Sum, &total)
                    }
                    Brought::Single(words, aggregator) => aggregator.aggregate(request, bounds, &words),
                }
                .map_err(all)?;
                let mut by_site = Vec::new();
                for (site, words) in by_name {
                    let kept = encoding::decode(request, bounds, precision, Combination::BySite, words);
                    by_site.push(
                        kept.map_err(|error| CoordinatorError::Encoding { site: terms.label(site), error })?,
                    );
                }
                match calibration.advance(request, Aggregate::new(sums, by_site))? {
                    CalibrationStep::Ask(request) => Ok(Next::Ask(Box::new(Question::Sums(*request)))),
                    CalibrationStep::Done(outcome) => {
                        let fit = outcome.fit(terms.mode, codebook::hash(&outcome.items), version);
                        Ok(Next::Done(Box::new(Finished { fit, covariance: outcome.covariance_table() })))
                    }
                }
            }
            (Self::Private(centre), Question::Scores { .. }) => {
                let Brought::Total(total) = brought else {
                    return Err(CoordinatorError::Internal("noisy sums come under masks only".into()));
                };
                Ok(centre.advance(terms, &total)?)
            }
            (Self::Exact(_), Question::Scores { .. }) | (Self::Private(_), Question::Sums(_)) => {
                Err(CoordinatorError::Internal("the question does not belong to this study".into()))
            }
        }
    }

    /// Rounds so far, after those that were reported.
    pub(crate) fn trace_after(&self, reported: usize) -> Vec<TraceEntry> {
        match self {
            Self::Exact(calibration) => calibration.trace().iter().skip(reported).cloned().collect(),
            Self::Private(_) => Vec::new(),
        }
    }
}
