//! Records of the same problem, mode and remedy, summed up.

use super::trial::{CHECKS, FitRecord, Recovery};
use serde::Serialize;

/// A mean over data sets with its Monte Carlo standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub se: f64,
}

/// All data sets of a problem in a mode, as they are or with the remedy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Problem.
    pub problem: String,
    /// Mode.
    pub mode: String,
    /// Whether the remedy was applied.
    pub remedied: bool,
    /// Data sets.
    pub replications: usize,
    /// How often each check speaks, in the order of [`CHECKS`].
    pub checks: [Option<Mean>; CHECKS.len()],
    /// How often of items that the problem is not about.
    pub false_alarms: [Option<Mean>; CHECKS.len()],
    /// The affected items, then the others.
    pub items: [ItemSummary; 2],
}

/// Means of the fields of [`Recovery`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ItemSummary {
    /// Bias of slopes and difficulties.
    pub bias: [Option<Mean>; 2],
    /// Their mean squared error.
    pub mse: [Option<Mean>; 2],
    /// The share of 95 % intervals that hold the truth.
    pub coverage: [Option<Mean>; 2],
}

fn mean(numbers: impl Iterator<Item = Option<f64>>) -> Option<Mean> {
    let there: Vec<f64> = numbers.flatten().collect();
    let n = there.len() as f64;
    let mean = there.iter().sum::<f64>() / n;
    let variance = there.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (n > 0.0).then(|| Mean { mean, se: (variance / n).sqrt() })
}

/// The cells in the order in which they first appear.
pub fn cells(records: &[FitRecord]) -> Vec<Cell> {
    let mut groups: Vec<Vec<&FitRecord>> = Vec::new();
    let key = |r: &FitRecord| (r.problem.clone(), r.mode.clone(), r.remedied);
    for record in records {
        match groups.iter_mut().find(|group| key(group[0]) == key(record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    let of = |group: &Vec<&FitRecord>| {
        let items = |part: usize| {
            let both = |of: fn(&Recovery) -> [Option<f64>; 2]| {
                [0, 1].map(|k| mean(group.iter().map(|record| of(&record.items[part])[k])))
            };
            ItemSummary { bias: both(|r| r.bias), mse: both(|r| r.mse), coverage: both(|r| r.coverage) }
        };
        Cell {
            problem: group[0].problem.clone(),
            mode: group[0].mode.clone(),
            remedied: group[0].remedied,
            replications: group.len(),
            checks: std::array::from_fn(|k| mean(group.iter().map(|record| record.checks[k]))),
            false_alarms: std::array::from_fn(|k| mean(group.iter().map(|record| record.false_alarms[k]))),
            items: [items(0), items(1)],
        }
    };
    groups.iter().map(of).collect()
}
