//! FedIRT-DP over tables in one process, with the noise added by the server or made in shares by the sites.
//!
//! The noise always comes from the exact discrete sampler, because floating-point Gaussians leak their low bits.

use super::{DpStep, Estimates, FedirtDp, Plan, Request, Settings, each_gradient, fit};
use crate::StudyError;
use fedirt_model::centre;
use fedirt_model::exchange::Effects;
use fedirt_model::fit::{Covariance, Privacy};
use fedirt_model::private::SitePlan;
use fedirt_model::responses::ResponseTable;
use fedirt_privacy::accountant::{ADJACENCY, Delta, Epsilon, Mechanism, noise_multiplier};
use fedirt_privacy::fixed_point;
use fedirt_privacy::noise::{Lattice, Shares, sample};
use fedirt_protocol::codebook;
use fedirt_protocol::coordinator::Finished;
use fedirt_protocol::private::{PrivateRefusal, PrivateTerms, design_of, rows_by_booklet};
use fedirt_protocol::statement::holds_against;
use rand::{CryptoRng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

/// Who adds the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseAt {
    /// Each site adds a share, so that nobody sees an exact sum.
    Sites {
        /// Sites that may work with the coordinator: the noise of the others is still enough.
        colluders: usize,
    },
    /// The server, as published. This protects against everybody but the server.
    Server,
}

/// The sum over all sites of the sampled and clipped gradients, with discrete noise added once by the server.
pub fn release(
    tables: &[ResponseTable],
    request: &Request,
    noise_multiplier: f64,
    rng: &mut impl CryptoRng,
) -> Result<Vec<f64>, StudyError> {
    let (lattice, width) = (Lattice::new(request.clip, noise_multiplier)?, request.width()?);
    let mut clipper = lattice.clipper(width)?;
    for (site, table) in tables.iter().enumerate() {
        each_gradient(table, site, request, |row| {
            if sample(rng, request.sampling_rate) {
                clipper.add(row);
            }
        })?;
    }
    let students = tables.iter().map(|t| t.students() as u64).sum();
    let shares = lattice.shares(u32::try_from(width).unwrap_or(u32::MAX), students, 1, 0)?;
    let sum = clipper.finish().with_noise(shares.draw(rng))?;
    Ok(lattice.decode(sum.words()))
}

/// The same sum, to which every site adds its share of the noise.
fn release_in_shares(
    tables: &[ResponseTable],
    request: &Request,
    lattice: &Lattice,
    shares: &Shares,
    rng: &mut impl CryptoRng,
) -> Result<Vec<f64>, StudyError> {
    let width = request.width()?;
    let generators: Vec<ChaCha20Rng> = tables.iter().map(|_| ChaCha20Rng::from_rng(rng)).collect();
    let of_site = |((site, table), mut random): ((usize, &ResponseTable), ChaCha20Rng)| {
        let mut clipper = lattice.clipper(width)?;
        each_gradient(table, site, request, |row| {
            // Whether a row takes part is drawn for every row, also for those that do not count.
            if sample(&mut random, request.sampling_rate) {
                clipper.add(row);
            }
        })?;
        Ok(clipper.finish().with_noise(shares.draw(&mut random))?.into_words())
    };
    let sums: Vec<Result<Vec<u64>, StudyError>> =
        tables.par_iter().enumerate().zip(generators).map(of_site).collect();
    let mut total = vec![0; width];
    for sum in sums {
        fixed_point::add(&mut total, &sum?);
    }
    Ok(lattice.decode(&total))
}

fn drive(
    plan: Plan,
    mut release: impl FnMut(&Request) -> Result<Vec<f64>, StudyError>,
) -> Result<Estimates, StudyError> {
    let (mut machine, mut request) = FedirtDp::new(plan)?;
    loop {
        match machine.advance(&release(&request)?)? {
            DpStep::Ask(next) => request = *next,
            DpStep::Done(estimates) => return Ok(*estimates),
        }
    }
}

/// Runs a plan over the sites' tables with noise of the server.
pub fn run(plan: Plan, tables: &[ResponseTable], rng: &mut impl CryptoRng) -> Result<Estimates, StudyError> {
    let noise_multiplier = plan.noise_multiplier;
    drive(plan, |request| release(tables, request, noise_multiplier, rng))
}

/// Calibrates the items of a plan with FedIRT-DP and makes the result that `fit.json` holds.
///
/// Each table has one column for each item of the plan, whose codes must be given. Of the plan, the items, the site
/// effects and the grid are used; of the terms, everything but the mixture, which FedIRT-DP does not know.
pub fn calibrate(
    plan: &centre::Plan,
    terms: &PrivateTerms,
    (settings, noise): (Settings, NoiseAt),
    sites: &[(String, ResponseTable)],
    rng: &mut impl CryptoRng,
) -> Result<Finished, StudyError> {
    let tables: Vec<ResponseTable> = sites.iter().map(|(_, table)| table.clone()).collect();
    let rounds = u32::try_from(settings.rounds).unwrap_or(u32::MAX);
    let budget = terms.continuous_budget()?;
    let sigma = noise_multiplier(budget, settings.sampling_rate, rounds)?;
    // With one site there is nothing that it could differ from.
    let effects = if sites.len() < 2 { Effects::None } else { plan.effects };
    let mut own = Plan::new(design_of(&plan.items)?, effects, Vec::new(), settings, sigma);
    if !terms.booklets.is_empty() {
        own.booklets.clone_from(&terms.booklets);
    }
    let site = |(name, table): &(String, ResponseTable)| SitePlan {
        name: name.clone(),
        rows: rows_by_booklet(&terms.booklets, table),
    };
    own.sites = sites.iter().map(site).collect();
    (own.grid, own.site_sd, own.missing) = (plan.population.grid(), terms.site_sd, terms.missing);
    let statement = statement(terms, &own, noise, budget)?;
    let estimates = match noise {
        NoiseAt::Server => run(own.clone(), &tables, rng)?,
        NoiseAt::Sites { colluders } => {
            let lattice = Lattice::new(settings.clip, sigma)?;
            let width = u32::try_from(own.layout()?.len()).unwrap_or(u32::MAX);
            let known = known_shares(sites.len(), colluders);
            let shares = lattice.shares(width, own.students(), sites.len() as u32, known as u32)?;
            let (inner, whole) = ((budget.0.value(), budget.1.value()), (terms.epsilon, terms.delta));
            if !shares.noise().keeps(rounds, inner, whole)? {
                return Err(PrivateRefusal::Integers.into());
            }
            drive(own.clone(), |request| release_in_shares(&tables, request, &lattice, &shares, rng))?
        }
    };
    let names: Vec<String> = plan.items.iter().map(|item| item.name.clone()).collect();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let mut fit = fit(&own, &estimates, &names, statement, String::new(), version);
    fit.codebook_hash = codebook::hash(&fit.items);
    if noise == NoiseAt::Server {
        // The server sees exact sums, and that is not what the mode `private` means.
        fit.mode = "plain".into();
    }
    Ok(Finished { fit, covariance: Covariance::default() })
}

/// How many shares of the noise may be known to the coordinator. With one or two sites each makes the whole noise.
fn known_shares(sites: usize, colluders: usize) -> usize {
    if sites <= 2 { sites.saturating_sub(1) } else { colluders }
}

/// What the result says about its privacy.
fn statement(
    terms: &PrivateTerms,
    plan: &Plan,
    noise: NoiseAt,
    budget: (Epsilon, Delta),
) -> Result<Privacy, StudyError> {
    let (sites, settings) = (plan.sites.len(), &plan.settings);
    let rounds = u32::try_from(settings.rounds).unwrap_or(u32::MAX);
    let mechanism = |sigma: f64| Mechanism::new(settings.sampling_rate, sigma, rounds);
    let (words, colluders, against) = match noise {
        NoiseAt::Server => (
            "fedirt-dp: clipped gradient sums; noise added by the server (central), which protects against everybody but the server",
            sites,
            "everybody but the server, who makes the noise".to_owned(),
        ),
        NoiseAt::Sites { colluders } => {
            let known = known_shares(sites, colluders);
            let delta = Delta::new(terms.delta)?;
            // Without a site's own share the noise has (K − 1)/K of its variance.
            let alone = |left: f64| mechanism(plan.noise_multiplier * left).map(|left| left.epsilon(delta));
            (
                "fedirt-dp: clipped gradient sums; discrete Gaussian noise made at the sites",
                known,
                holds_against(sites, known, alone)?,
            )
        }
    };
    Ok(Privacy {
        epsilon: terms.epsilon,
        delta: terms.delta,
        epsilon_replaced: mechanism(plan.noise_multiplier)?.epsilon_replaced(budget.1),
        mechanism: words.into(),
        error_sources: Vec::new(),
        adjacency: ADJACENCY.to_owned(),
        noise_multiplier: plan.noise_multiplier,
        rounds: settings.rounds,
        sites,
        colluders,
        holds_against: against,
    })
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
