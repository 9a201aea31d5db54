//! The centre of a private study: it asks the two questions of score2, and fits what the noisy sums say.

use super::Finished;
use super::centre::Next;
use crate::codebook;
use crate::message::Question;
use crate::private::{self, PrivateRefusal};
use crate::statement::statement;
use crate::terms::Terms;
use fedirt_model::fit::Covariance;
use fedirt_model::private::{PrivateCalibration, PrivatePlan, PrivateStep};

/// The machine of score2, with the plan of its cohort.
pub(crate) struct PrivateCentre {
    plan: PrivatePlan,
    machine: PrivateCalibration,
    stage: usize,
}

impl PrivateCentre {
    pub(super) fn new(plan: PrivatePlan) -> Result<(Self, Question), PrivateRefusal> {
        let (machine, request) = PrivateCalibration::new(plan.clone())?;
        Ok((Self { plan, machine, stage: 0 }, Question::Scores { stage: 0, request }))
    }

    /// Takes an opened sum.
    pub(super) fn advance(&mut self, terms: &Terms, total: &[u64]) -> Result<Next, PrivateRefusal> {
        let noise = private::noise(terms, &self.plan, self.stage)?;
        let sums = noise.lattice.decode(total);
        self.stage += 1;
        match self.machine.advance_with_noise(&sums, noise.sum_sd())? {
            PrivateStep::Ask(request) => {
                Ok(Next::Ask(Box::new(Question::Scores { stage: self.stage, request: *request })))
            }
            PrivateStep::Done(result) => {
                let names: Vec<String> = terms.plan.items.iter().map(|item| item.name.clone()).collect();
                let sites: Vec<String> = self.plan.sites.iter().map(|site| site.name.clone()).collect();
                let (statement, version) =
                    (statement(terms, &self.plan)?, env!("CARGO_PKG_VERSION").to_owned());
                let mut fit = fedirt_model::private::fit(
                    &self.plan,
                    &result,
                    &names,
                    statement,
                    String::new(),
                    version,
                );
                for (item, planned) in fit.items.iter_mut().zip(&terms.plan.items) {
                    item.merged.clone_from(&planned.merged);
                }
                fit.codebook_hash = codebook::hash(&fit.items);
                let covariance = Covariance {
                    names: result.covariance_names(&names, &sites),
                    blocks: vec![result.reported_covariance()],
                };
                Ok(Next::Done(Box::new(Finished { fit, covariance })))
            }
        }
    }
}
