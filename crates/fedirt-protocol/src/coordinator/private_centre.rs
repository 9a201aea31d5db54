//! The centre of a private study: whichever mechanism the plan names.

use super::Finished;
use super::centre::Next;
use crate::codebook;
use crate::message::Question;
use crate::private::{self, PrivatePlan, PrivateRefusal, ScoreQuestion};
use crate::statement::statement;
use crate::terms::Terms;
use fedirt_model::fit::{Covariance, Fit};
use fedirt_model::private::{Score2, Step, fedirt_dp};

/// The machine of a mechanism, with the plan of its cohort.
pub(super) struct PrivateCentre {
    plan: PrivatePlan,
    machine: Machine,
    stage: usize,
}

enum Machine {
    Score2(Box<Score2>),
    FedirtDp(Box<fedirt_dp::FedirtDp>),
}

impl PrivateCentre {
    pub(super) fn new(plan: PrivatePlan) -> Result<(Self, Question), PrivateRefusal> {
        let (machine, request) = match &plan {
            PrivatePlan::Score2(plan) => {
                let (machine, request) = Score2::new((**plan).clone())?;
                (Machine::Score2(Box::new(machine)), ScoreQuestion::Whitened(request))
            }
            PrivatePlan::FedirtDp(plan) => {
                let (machine, request) = fedirt_dp::FedirtDp::new((**plan).clone())?;
                (Machine::FedirtDp(Box::new(machine)), ScoreQuestion::Gradient(request))
            }
        };
        Ok((Self { plan, machine, stage: 0 }, Question::Scores { stage: 0, request }))
    }

    /// Takes an opened sum.
    pub(super) fn advance(&mut self, terms: &Terms, mut total: Vec<u64>) -> Result<Next, PrivateRefusal> {
        let noise = private::noise(terms, &self.plan, self.stage)?;
        let noise_sd = private::server_noise(terms, &noise, self.stage, &mut total)?;
        let sums = noise.lattice.decode(&total);
        self.stage += 1;
        let stage = self.stage;
        let ask = |request| Ok(Next::Ask(Box::new(Question::Scores { stage, request })));
        let names: Vec<String> = terms.plan.items.iter().map(|item| item.name.clone()).collect();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        match (&mut self.machine, &self.plan) {
            (Machine::Score2(machine), PrivatePlan::Score2(plan)) => {
                match machine.advance_with_noise(&sums, noise_sd)? {
                    Step::Ask(request) => ask(ScoreQuestion::Whitened(*request)),
                    Step::Done(result) => {
                        let (none, statement) = (String::new(), statement(terms, &self.plan)?);
                        let fit = fedirt_model::private::fit(plan, &result, &names, statement, none, version);
                        let sites: Vec<String> = plan.sites.iter().map(|site| site.name.clone()).collect();
                        let covariance = Covariance {
                            names: result.covariance_names(&names, &sites),
                            matrix: result.reported_covariance(),
                        };
                        Ok(done(terms, fit, covariance))
                    }
                }
            }
            (Machine::FedirtDp(machine), PrivatePlan::FedirtDp(plan)) => match machine.advance(&sums)? {
                fedirt_dp::Step::Ask(request) => ask(ScoreQuestion::Gradient(*request)),
                fedirt_dp::Step::Done(estimates) => {
                    let (none, statement) = (String::new(), statement(terms, &self.plan)?);
                    let fit = fedirt_dp::fit(plan, &estimates, &names, statement, none, version);
                    Ok(done(terms, fit, Covariance::default()))
                }
            },
            _ => Err(PrivateRefusal::Question("it is of another mechanism")),
        }
    }
}

fn done(terms: &Terms, mut fit: Fit, covariance: Covariance) -> Next {
    fit.codebook_hash = codebook::hash(&fit.items);
    if terms.private.as_ref().is_some_and(private::PrivateTerms::server_makes_the_noise) {
        // The server has seen exact sums: that is not what `private` means.
        fit.mode = "plain".into();
    }
    Next::Done(Box::new(Finished { fit, covariance }))
}
