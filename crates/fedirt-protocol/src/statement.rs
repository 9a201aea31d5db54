//! What a private result says about itself: how much, how, and against whom.

use crate::private::{PrivateRefusal, PrivateTerms, colluders};
use crate::terms::Terms;
use fedirt_model::fit::Privacy;
use fedirt_model::private::{PrivatePlan, ROUND_SHARES};
use fedirt_privacy::accountant::{ADJACENCY, Delta, GaussianDp};

/// The statement that every result of a cohort carries.
pub fn statement(terms: &Terms, plan: &PrivatePlan) -> Result<Privacy, PrivateRefusal> {
    let private = terms.private.as_ref().ok_or(PrivateRefusal::NoTerms)?;
    let sites = plan.sites.len();
    Ok(Privacy {
        epsilon: private.epsilon,
        delta: private.delta,
        epsilon_replaced: private.epsilon_replaced()?,
        mechanism: format!(
            "{}: {}; discrete Gaussian noise made at the sites",
            private.method.mechanism.name(),
            private.method.mechanism.meaning()
        ),
        adjacency: ADJACENCY.to_owned(),
        noise_multiplier: 1.0 / private.mu()?,
        rounds: ROUND_SHARES.len(),
        sites,
        colluders: colluders(terms, sites),
        error_sources: Vec::new(),
        holds_against: holds_against(sites, colluders(terms, sites), |left| epsilon_with(private, left))?,
    })
}

/// Against whom ε holds, in words. `epsilon_with` gives ε when the standard deviation of the noise is this part of what
/// was planned.
pub fn holds_against<E>(
    sites: usize,
    colluders: usize,
    epsilon_with: impl Fn(f64) -> Result<f64, E>,
) -> Result<String, E> {
    Ok(match (sites, colluders) {
        (0 | 1, _) => "everybody outside the site".into(),
        (2, _) => "the coordinator together with the other site".into(),
        (_, 0) => format!(
            "the coordinator and everybody outside the sites; each of the {sites} sites could remove its own part of the noise, and against it ε is {:.3}",
            epsilon_with(without_own_share(sites))?
        ),
        (_, 1) => format!("the coordinator together with any one of the {sites} sites"),
        (_, c) => format!("the coordinator together with any {c} of the {sites} sites"),
    })
}

/// The part √((K − 1)/K) of the noise's standard deviation that is left when one of K sites takes off its own share.
fn without_own_share(sites: usize) -> f64 {
    (sites.saturating_sub(1).max(1) as f64 / sites.max(1) as f64).sqrt()
}

/// ε against another of three or more sites when none is thought to collude.
pub fn against_a_site(private: &PrivateTerms, sites: usize) -> Result<f64, PrivateRefusal> {
    epsilon_with(private, without_own_share(sites))
}

/// ε if the noise has only this part of its planned standard deviation: μ grows by the inverse.
fn epsilon_with(private: &PrivateTerms, left: f64) -> Result<f64, PrivateRefusal> {
    Ok(GaussianDp::new(private.mu()? / left)?.epsilon(Delta::new(private.delta)?))
}
