//! Questions that a cohort answers a limited number of times, as a site remembers them.

use super::{Refusal, Release};
use crate::message::Turn;
use crate::policy;
use crate::terms::Terms;
use fedirt_model::exchange::Request;
use fedirt_model::questions::{Pass, Times};
use fedirt_privacy::secure::SiteId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Such a question, and the items that it was about where later ones must be about fewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The name of the question.
    pub question: String,
    /// Items of the design.
    pub about: Vec<usize>,
}

/// How often a cohort of so many sites answers a request.
fn times(terms: &Terms, request: &Request, sites: usize) -> Result<Times, Refusal> {
    Ok(request.ask.planned(&terms.calibration_of(sites)).map_err(policy::PolicyRefusal::from)?)
}

impl Asked {
    /// What to remember of a request, if it is answered a limited number of times.
    pub(super) fn of(terms: &Terms, request: &Request, sites: usize) -> Result<Option<Self>, Refusal> {
        let about = match times(terms, request, sites)? {
            Times::EachRound => return Ok(None),
            Times::Once => Vec::new(),
            Times::Passes { pass, .. } => pass.about,
        };
        Ok(Some(Self { question: request.ask.name().to_owned(), about }))
    }
}

/// A limited question that was answered.
struct AnsweredOnce {
    turn: Turn,
    cohort: BTreeSet<SiteId>,
    asked: Asked,
    points: Vec<Vec<f64>>,
}

/// The limited questions that were answered, in their order.
#[derive(Default)]
pub(super) struct Answered(Vec<AnsweredOnce>);

impl Answered {
    pub(super) fn add(&mut self, cohort: &BTreeSet<SiteId>, release: &Release) {
        if let Some(asked) = &release.asked {
            self.0.push(AnsweredOnce {
                turn: release.turn,
                cohort: cohort.clone(),
                asked: asked.clone(),
                points: release.points.clone(),
            });
        }
    }

    /// Whether a request may be answered now. An answer that is made anew after a crash is of the same attempt: it does not
    /// count. Cohorts count for themselves: a calibration begins again where enough sites have left together.
    pub(super) fn check(
        &self,
        terms: &Terms,
        turn: Turn,
        request: &Request,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(), Refusal> {
        let name = request.ask.name();
        let earlier: Vec<_> = (self.0.iter())
            .filter(|last| last.turn != turn && last.cohort == *cohort && last.asked.question == name)
            .collect();
        let last = earlier.last();
        match times(terms, request, cohort.len())? {
            Times::EachRound => Ok(()),
            Times::Once => last.map_or(Ok(()), |last| Err(Refusal::AskedBefore(name, last.turn))),
            Times::Passes { most, .. } if earlier.len() >= most => {
                let turn = last.map_or(turn, |last| last.turn);
                Err(Refusal::AskedBefore(name, turn))
            }
            Times::Passes { pass, .. } => check_pass(name, request, &pass, last.copied()),
        }
    }
}

fn check_pass(
    name: &'static str,
    request: &Request,
    pass: &Pass,
    before: Option<&AnsweredOnce>,
) -> Result<(), Refusal> {
    let here: Vec<Vec<f64>> = request.points().iter().map(|psi| policy::coordinates(request, psi)).collect();
    let elsewhere = before.is_some_and(|before| before.points != here);
    if elsewhere || !pass.follows(request, before.map(|before| before.asked.about.as_slice())) {
        return Err(Refusal::OtherPass(name));
    }
    Ok(())
}
