//! What the coordinator makes of a round's sum: the next question, or the result.

use super::{Aggregator, CoordinatorError, Finished};
use crate::codebook;
use crate::declaration::Declarations;
use crate::encoding;
use crate::message::Question;
use crate::private;
use crate::terms::Terms;
use fedirt_model::centre::{Calibration, Secrecy, Step};
use fedirt_model::exchange::Aggregate;
use fedirt_model::fit::TraceEntry;
use fedirt_model::private::{Score2, Step as PrivateStep, fit as private_fit};
use fedirt_model::statistics::{Combination, Mode};
use fedirt_privacy::secure::SiteId;
use std::collections::BTreeSet;

/// The centre of a study.
pub(super) enum Centre {
    /// Exact sums.
    Exact(Box<Calibration>),
    /// Noisy sums, at the first or second question.
    Private { machine: Box<Score2>, stage: usize },
}

/// What it wants next.
pub(super) enum Next {
    Ask(Box<Question>),
    Done(Box<Finished>),
}

/// What a round brought.
pub(super) enum Brought<'a> {
    /// The opened sum.
    Total(Vec<u64>),
    /// Each site's words (`plain`), and how to combine them.
    Single(Vec<&'a [u64]>, &'a dyn Aggregator),
}

impl Centre {
    /// The centre for a cohort, with its first question.
    pub(super) fn new(
        terms: &Terms,
        declarations: &Declarations,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(Self, Question), CoordinatorError> {
        if terms.mode == Mode::Private {
            let plan = private::plan_of(terms, declarations, cohort)?;
            let (machine, request) = Score2::new(plan).map_err(private::PrivateRefusal::from)?;
            let centre = Self::Private { machine: Box::new(machine), stage: 0 };
            return Ok((centre, Question::Scores { stage: 0, request }));
        }
        let mut plan = terms.plan.clone();
        if terms.mode == Mode::Secure {
            plan.secrecy = Secrecy::Sums {
                n_min: terms.thresholds.n_min(),
                honest: cohort.len().saturating_sub(terms.thresholds.colluders()),
            };
        }
        let (calibration, request) = Calibration::new(plan, declarations.enrolled(terms, cohort))?;
        Ok((Self::Exact(Box::new(calibration)), Question::Sums(*request)))
    }

    /// Takes what a round brought; `by_name` has each site's published words.
    pub(super) fn advance(
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
                let bounds = declarations.bounds(cohort);
                let all = |error| CoordinatorError::Encoding { site: "all".into(), error };
                let sums = match brought {
                    Brought::Total(total) => encoding::decode(request, bounds, Combination::Sum, &total),
                    Brought::Single(words, aggregator) => aggregator.aggregate(request, bounds, &words),
                }
                .map_err(all)?;
                let mut by_site = Vec::new();
                for (site, words) in by_name {
                    let kept = encoding::decode(request, bounds, Combination::BySite, words);
                    by_site.push(
                        kept.map_err(|error| CoordinatorError::Encoding { site: terms.label(site), error })?,
                    );
                }
                match calibration.advance(request, &Aggregate::new(sums, by_site))? {
                    Step::Ask(request) => Ok(Next::Ask(Box::new(Question::Sums(*request)))),
                    Step::Done(outcome) => {
                        let fit = outcome.fit(terms.mode, codebook::hash(&outcome.items), version);
                        Ok(Next::Done(Box::new(Finished { fit, covariance: outcome.covariance_table() })))
                    }
                }
            }
            (Self::Private { machine, stage }, Question::Scores { .. }) => {
                let Brought::Total(total) = brought else {
                    return Err(CoordinatorError::Internal("noisy sums come under masks only".into()));
                };
                let noise = private::noise(terms, machine.plan(), *stage)?;
                let sums = noise.lattice.decode(&total);
                let step = machine
                    .advance_with_noise(&sums, noise.sum_sd())
                    .map_err(private::PrivateRefusal::from)?;
                *stage += 1;
                match step {
                    PrivateStep::Ask(request) => {
                        Ok(Next::Ask(Box::new(Question::Scores { stage: *stage, request: *request })))
                    }
                    PrivateStep::Done(result) => {
                        let private = terms.private.as_ref().ok_or(private::PrivateRefusal::NoTerms)?;
                        let statement = private.statement().map_err(private::PrivateRefusal::from)?;
                        let names: Vec<String> = terms.plan.items.iter().map(|i| i.name.clone()).collect();
                        let mut fit =
                            private_fit(machine.plan(), &result, &names, statement, String::new(), version);
                        fit.codebook_hash = codebook::hash(&fit.items);
                        let covariance = result.covariance_table(&names);
                        Ok(Next::Done(Box::new(Finished { fit, covariance })))
                    }
                }
            }
            _ => Err(CoordinatorError::Internal("the question does not belong to this study".into())),
        }
    }

    /// Rounds so far, after those that were reported.
    pub(super) fn trace_after(&self, reported: usize) -> Vec<TraceEntry> {
        match self {
            Self::Exact(calibration) => calibration.trace().iter().skip(reported).cloned().collect(),
            Self::Private { .. } => Vec::new(),
        }
    }
}
