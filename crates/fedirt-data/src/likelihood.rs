//! How likely other answers are under a fit: what cross-validation compares.

use crate::errors::Errors;
use crate::reading::Responses;
use crate::scores::{ItemBank, PriorChoice, ScoreError};
use fedirt_model::fit::Fit;

/// The likelihood of answers under a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    /// The sum of the students' marginal log-likelihoods, each with the effect of its site; a site that the fit has no effect for
    /// counts as an average one.
    pub loglik: f64,
    /// Students with an answer.
    pub students: u64,
}

/// The marginal log-likelihood of answers under the estimates of a fit. Items are matched by name, and so are sites.
pub fn log_likelihood(fit: &Fit, responses: &Responses) -> Result<Likelihood, Errors<ScoreError>> {
    let bank = ItemBank::new(fit)?;
    bank.compare_items(responses)?;
    let mut found = Likelihood { loglik: 0.0, students: 0 };
    for site in &responses.sites {
        let effect = fit.sites.iter().find(|known| known.name == site.name).and_then(|known| known.effect);
        let prior = bank.prior(effect.unwrap_or(0.0), PriorChoice::Site);
        let (loglik, students) = bank.log_likelihood(&site.table, &site.items, prior)?;
        found.loglik += loglik;
        found.students += students;
    }
    Ok(found)
}
