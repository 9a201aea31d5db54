//! What a private result says about itself: how much, how, and against whom.

use crate::private::{Mechanism, NoiseAt, PrivatePlan, PrivateRefusal, PrivateTerms, colluders};
use crate::terms::Terms;
use fedirt_model::fit::Privacy;
use fedirt_model::private::ROUND_SHARES;
use fedirt_privacy::accountant::{self, ADJACENCY, Delta, GaussianDp, noise_multiplier};

/// The statement that every result of a cohort carries.
pub fn statement(terms: &Terms, plan: &PrivatePlan) -> Result<Privacy, PrivateRefusal> {
    let private = terms.private.as_ref().ok_or(PrivateRefusal::NoTerms)?;
    let sites = plan.sites();
    let (mechanism, noise_multiplier, rounds) = match &private.mechanism {
        Mechanism::Score2 { .. } => (
            "score2: two rounds of whitened, clipped score sums; discrete Gaussian noise made at the sites",
            1.0 / private.mu()?,
            ROUND_SHARES.len(),
        ),
        Mechanism::FedirtDp { settings, noise } => (
            match noise {
                NoiseAt::Sites => {
                    "fedirt-dp: clipped gradient sums; discrete Gaussian noise made at the sites"
                }
                NoiseAt::Server { .. } => {
                    "fedirt-dp: clipped gradient sums; noise added by the server (central), which protects against everybody but the server"
                }
            },
            noise_multiplier(private.budget()?, settings.sampling_rate, settings.rounds as u32)?,
            settings.rounds,
        ),
    };
    Ok(Privacy {
        epsilon: private.epsilon,
        delta: private.delta,
        epsilon_replaced: private.epsilon_replaced()?,
        mechanism: mechanism.into(),
        adjacency: ADJACENCY.to_owned(),
        noise_multiplier,
        rounds,
        sites,
        colluders: if private.server_makes_the_noise() { sites } else { colluders(terms, sites) },
        holds_against: holds_against(private, sites, colluders(terms, sites))?,
    })
}

/// Against whom ε holds, in words.
pub fn holds_against(
    private: &PrivateTerms,
    sites: usize,
    colluders: usize,
) -> Result<String, PrivateRefusal> {
    if private.server_makes_the_noise() {
        return Ok("everybody but the server, who makes the noise".into());
    }
    Ok(match (sites, colluders) {
        (0 | 1, _) => "everybody outside the site".into(),
        (2, _) => "the coordinator together with the other site".into(),
        (_, 0) => format!(
            "the coordinator and everybody outside the sites; each of the {sites} sites could remove its own part of the noise, and against it ε is {:.3}",
            against_a_site(private, sites)?
        ),
        (_, 1) => format!("the coordinator together with any one of the {sites} sites"),
        (_, c) => format!("the coordinator together with any {c} of the {sites} sites"),
    })
}

/// ε against another of three or more sites when none is thought to collude: without its own share the noise has the
/// variance (|U| − 1)/|U| of what ε asks for, which is μ·√(|U|/(|U| − 1)).
pub fn against_a_site(private: &PrivateTerms, sites: usize) -> Result<f64, PrivateRefusal> {
    let delta = Delta::new(private.delta)?;
    let left = (sites.saturating_sub(1).max(1) as f64 / sites.max(1) as f64).sqrt();
    Ok(match &private.mechanism {
        Mechanism::Score2 { .. } => GaussianDp::new(private.mu()? / left)?.epsilon(delta),
        Mechanism::FedirtDp { settings, .. } => {
            let rounds = settings.rounds as u32;
            let sigma = noise_multiplier(private.budget()?, settings.sampling_rate, rounds)?;
            accountant::Mechanism::new(settings.sampling_rate, sigma * left, rounds)?.epsilon(delta)
        }
    })
}
