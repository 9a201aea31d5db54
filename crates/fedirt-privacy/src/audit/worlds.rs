//! Two worlds: how well released integers tell whether a student took part.

use super::rows::gain;
use super::{Check, Finding, RowId, Rows, Subject, Transcript};
use rayon::prelude::*;

/// Standard errors of μ̂ above the claim that make a finding.
const ONE_SIDED_ALARM: f64 = 3.0;

/// μ of the best test between the worlds, and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate of μ.
    pub mu: f64,
    /// The standard error of the estimate.
    pub se: f64,
}

/// μ̂ from releases with and without a student, whose contribution is known.
///
/// T = Σ_j q_j Y_j/v_j is the best test when coordinates are independent normal: it tells N(0, 1) from N(μ, 1),
/// μ̂ = (mean of T with − mean of T without)/sd of T, and se² = 2/n + μ̂²/4n for n runs in each world. A
/// coordinate that never varies and carries something of the student tells for certain: μ̂ = ∞.
///
/// Symbols: Y released integers, q the student's (`contribution`), v variances within worlds.
pub fn estimate(with: &[Vec<f64>], without: &[Vec<f64>], contribution: &[f64]) -> Estimate {
    let n = with.len().min(without.len()) as f64;
    let within = |world: &[Vec<f64>], value: &dyn Fn(&Vec<f64>) -> f64| {
        let count = world.len() as f64;
        let mean = world.iter().map(value).sum::<f64>() / count;
        (mean, world.iter().map(|y| (value(y) - mean).powi(2)).sum::<f64>() / (count - 1.0))
    };
    let mut weights = Vec::with_capacity(contribution.len());
    for (j, q) in contribution.iter().enumerate() {
        let value = |y: &Vec<f64>| y.get(j).copied().unwrap_or(0.0);
        let variance = 0.5 * (within(with, &value).1 + within(without, &value).1);
        match *q {
            0.0 => weights.push(0.0),
            _ if variance == 0.0 => return Estimate { mu: f64::INFINITY, se: 0.0 },
            q => weights.push(q / variance),
        }
    }
    let test = |y: &Vec<f64>| y.iter().zip(&weights).map(|(y, w)| y * w).sum::<f64>();
    let ((mean_with, v), (mean_without, u)) = (within(with, &test), within(without, &test));
    let sd = (0.5 * (v + u)).sqrt();
    let mu = if sd > 0.0 { (mean_with - mean_without) / sd } else { 0.0 };
    Estimate { mu, se: (2.0 / n + mu * mu / (4.0 * n)).sqrt() }
}

/// The sums that the coordinator sees, without the noise that colluding sites know: one number for each
/// coordinate of each attempt. The last sites collude, but never the student's own.
fn seen(transcript: &Transcript, row: RowId, colluders: usize) -> Vec<f64> {
    let sites = transcript.released.iter().map(|r| r.site + 1).max().unwrap_or(0);
    let colludes = |site: usize| {
        let place = if row.site >= site { site } else { site - 1 };
        site != row.site && place + colluders >= sites.saturating_sub(1)
    };
    let mut sums: Vec<((u64, u64), Vec<u64>)> = Vec::new();
    for released in transcript.released.iter().filter(|r| !colludes(r.site)) {
        let turn = (released.round, released.attempt);
        match sums.iter_mut().find(|(known, _)| *known == turn) {
            Some((_, sum)) => crate::fixed_point::add(sum, &released.words),
            None => sums.push((turn, released.words.clone())),
        }
    }
    sums.into_iter().flat_map(|(_, sum)| sum).map(|w| w as i64 as f64).collect()
}

/// Tells the world with the student who contributes most from the world without, `runs` times each; a finding
/// if μ̂ − 3 se is above the claim.
pub fn two_worlds(subject: &impl Subject, runs: u64, seed: u64) -> Result<Estimate, Finding> {
    let claim = subject.claim();
    let finding = |detail: String| Finding { check: Check::TwoWorlds, detail };
    let nobody = subject.run(Rows::Nobody, seed);
    let size = |row: &RowId| -> f64 {
        let gains = gain(&subject.run(Rows::Only(*row), seed), &nobody).unwrap_or_default();
        gains.iter().flat_map(|(_, q)| q).map(|&q| (q as f64).powi(2)).sum()
    };
    let rows = subject.rows();
    let Some(row) = rows.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b))) else {
        return Err(finding("there are no rows to try".into()));
    };
    let look = |transcript: &Transcript| seen(transcript, row, claim.colluders);
    let (one, none) = (look(&subject.run(Rows::Only(row), seed)), look(&nobody));
    let contribution: Vec<f64> = one.iter().zip(&none).map(|(a, b)| a - b).collect();
    let world = |rows: Rows, offset: u64| -> Vec<Vec<f64>> {
        let run = |i: u64| look(&subject.run(rows, seed.wrapping_add(2 * i + offset)));
        (0..runs).into_par_iter().map(run).collect()
    };
    let found = estimate(&world(Rows::All, 0), &world(Rows::Without(row), 1), &contribution);
    if found.mu - ONE_SIDED_ALARM * found.se > claim.mu {
        let Estimate { mu, se } = found;
        return Err(finding(format!(
            "a student is told with mu = {mu:.3} (standard error {se:.3}), and the plan says {:.3}",
            claim.mu
        )));
    }
    Ok(found)
}
