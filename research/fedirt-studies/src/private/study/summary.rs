//! Records of a condition and method, summed up.

use super::trial::{Band, Estimator, MethodRecord};

/// Intervals of all replications.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Coverage {
    /// Intervals.
    pub of: u32,
    /// Share of those that hold the truth, with its standard error.
    pub covered: (f64, f64),
    /// Share of those whose item is named as leaning on the prior.
    pub named: f64,
}

/// A method in a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Name of the condition.
    pub condition: String,
    /// The method.
    pub method: Estimator,
    /// Data sets.
    pub replications: usize,
    /// Mean squared errors of a, b and s.
    pub mse: [f64; 3],
    /// Their sum over that of score2, with its standard error.
    pub over_score2: (f64, f64),
    /// Their sum over that without noise.
    pub over_no_noise: (f64, f64),
    /// Slopes.
    pub slopes: Coverage,
    /// |b| ≤ 2.
    pub regular: Coverage,
    /// |b| ≥ 3.
    pub extreme: Coverage,
    /// Fits that did not come to rest.
    pub unfinished: usize,
}

/// One cell for each condition and method, in the order of the records.
pub fn cells(records: &[MethodRecord]) -> Vec<Cell> {
    let mut keys: Vec<(&str, Estimator)> = Vec::new();
    for r in records {
        if !keys.contains(&(r.condition.as_str(), r.method)) {
            keys.push((&r.condition, r.method));
        }
    }
    keys.sort_by_key(|(condition, _)| records.iter().position(|r| r.condition == *condition));
    let of = |condition: &str, method: Estimator| -> Vec<&MethodRecord> {
        records.iter().filter(|r| r.condition == condition && r.method == method).collect()
    };
    let cell = |(condition, method): &(&str, Estimator)| {
        let own = of(condition, *method);
        let n = own.len() as f64;
        let coverage = |band: &dyn Fn(&MethodRecord) -> Band| {
            let [mut all, mut covered, mut named] = [0u32; 3];
            for band in own.iter().map(|r| band(r)) {
                all += band.of;
                covered += band.covered;
                named += band.named;
            }
            let share = |x: u32| f64::from(x) / f64::from(all.max(1));
            let p = share(covered);
            let se = (p * (1.0 - p) / f64::from(all.max(1))).sqrt();
            Coverage { of: all, covered: (p, se), named: share(named) }
        };
        Cell {
            condition: (*condition).to_owned(),
            method: *method,
            replications: own.len(),
            mse: [0, 1, 2].map(|k| own.iter().map(|r| r.mse[k]).sum::<f64>() / n),
            over_score2: ratio(&own, &of(condition, Estimator::Score2)),
            over_no_noise: ratio(&own, &of(condition, Estimator::WithoutNoise)),
            slopes: coverage(&|r| r.slopes),
            regular: coverage(&|r| r.regular),
            extreme: coverage(&|r| r.extreme),
            unfinished: own.iter().filter(|r| r.converged == Some(false)).count(),
        }
    };
    keys.iter().map(cell).collect()
}

fn total(record: &MethodRecord) -> f64 {
    record.mse.iter().sum()
}

/// The ratio of means over the same data sets, and its standard error by the delta method.
fn ratio(own: &[&MethodRecord], other: &[&MethodRecord]) -> (f64, f64) {
    let pairs: Vec<(f64, f64)> = own
        .iter()
        .filter_map(|x| Some((total(x), total(other.iter().find(|y| y.seed == x.seed)?))))
        .collect();
    let n = pairs.len() as f64;
    let (x, y) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let r = x / y;
    (r, pairs.iter().map(|(x, y)| (x - r * y).powi(2)).sum::<f64>().sqrt() / n / y)
}

/// Geometric mean over conditions of the error of `method` over that of FedIRT-DP, at each the better of its settings.
pub fn published_mean(cells: &[Cell], method: Estimator) -> Option<f64> {
    let sum = |c: &Cell| c.mse.iter().sum::<f64>();
    let mut logs = Vec::new();
    for own in cells.iter().filter(|c| c.method == method) {
        let published = |c: &&Cell| {
            c.condition == own.condition
                && matches!(c.method, Estimator::PublishedLow | Estimator::PublishedHigh)
        };
        let best = cells.iter().filter(published).map(sum).reduce(f64::min);
        logs.extend(best.map(|best| (sum(own) / best).ln()));
    }
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}
