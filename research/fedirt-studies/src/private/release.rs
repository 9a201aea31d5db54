//! The release of a round as the product makes it: rows clipped and cut to a lattice, summed as integers, with noise.

use fedirt_model::private::{
    PrivateCalibration, PrivateError, PrivatePlan, PrivateResult, PrivateStep, ScoreRequest,
    each_row_statistic,
};
use fedirt_model::responses::ResponseTable;
use rand::Rng;
use rand_distr::{Distribution, Normal};

/// Lattice steps in one SD of the noise, at least.
const STEPS: f64 = 65_536.0;

/// Σ_i ψ_i over all sites plus noise of this SD in every coordinate, rounded to the lattice.
pub(crate) fn release(
    tables: &[ResponseTable],
    request: &ScoreRequest,
    noise_sd: f64,
    rng: &mut impl Rng,
) -> Result<Vec<f64>, PrivateError> {
    let unit = (noise_sd / STEPS).log2().floor().exp2();
    let mut sums = vec![0i64; request.width()?];
    for (site, table) in tables.iter().enumerate() {
        each_row_statistic(table, site, request, |row| {
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            if !norm.is_finite() {
                return;
            }
            let factor = (request.clip / norm).min(1.0);
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum += (x * factor / unit).trunc() as i64;
            }
        })?;
    }
    let noise = Normal::new(0.0, noise_sd / unit).map_err(|_| PrivateError::Plan("no such noise".into()))?;
    Ok(sums.into_iter().map(|sum| (sum + noise.sample(rng).round() as i64) as f64 * unit).collect())
}

/// Runs a plan over the sites' tables.
pub(crate) fn run(
    plan: PrivatePlan,
    tables: &[ResponseTable],
    rng: &mut impl Rng,
) -> Result<PrivateResult, PrivateError> {
    let noise = plan.noise_sd.clone();
    let (mut machine, mut request) = PrivateCalibration::new(plan)?;
    let mut round = 0;
    loop {
        let sums = release(tables, &request, noise[round], rng)?;
        match machine.advance(&sums)? {
            PrivateStep::Ask(next) => request = *next,
            PrivateStep::Done(result) => return Ok(*result),
        }
        round += 1;
    }
}
