//! Records of the same condition and algorithm, summed up.

use super::{CalibrationRecord, MAX_ROUNDS};
use serde::{Serialize, Serializer};

/// A number of rounds over replications: there may be none.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Rounds {
    /// Arrived in so many; a median may lie between two numbers.
    In(f64),
    /// Not arrived.
    Never,
}

impl Serialize for Rounds {
    /// `null` where it did not arrive.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::In(rounds) => serializer.serialize_some(rounds),
            Self::Never => serializer.serialize_none(),
        }
    }
}

impl std::fmt::Display for Rounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::In(rounds) => write!(f, "{rounds}"),
            Self::Never => f.write_str("–"),
        }
    }
}

/// All replications of a condition with one algorithm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Name of the size.
    pub size: String,
    /// Model.
    pub model: String,
    /// Site effects of the calibration.
    pub effects: String,
    /// `complete` or `booklets`.
    pub missing: String,
    /// Algorithm.
    pub algorithm: String,
    /// Replications.
    pub replications: usize,
    /// Those that arrived.
    pub converged: usize,
    /// Median of the rounds.
    pub median_rounds: Rounds,
    /// Most rounds.
    pub max_rounds: Rounds,
    /// Most rounds that were spent, arrived or not.
    pub spent_rounds: usize,
    /// Median of the numbers that one site sent.
    pub numbers_sent: f64,
    /// Bytes that these numbers take: eight each.
    pub bytes_sent: f64,
    /// Median of the largest distances of a slope from that of Newton's method.
    pub slope_error: Option<f64>,
}

impl Cell {
    /// Median and maximum, as a table shows them.
    pub fn text(&self) -> String {
        match (self.median_rounds, self.max_rounds) {
            (median @ Rounds::In(_), max @ Rounds::In(_)) => format!("{median} ({max})"),
            (median @ Rounds::In(_), Rounds::Never) => format!("{median} (not in {})", self.spent_rounds),
            // What stops by itself has not arrived, but has not used up its rounds either.
            (Rounds::Never, _) if self.spent_rounds < MAX_ROUNDS => format!("ends at {}", self.spent_rounds),
            (Rounds::Never, _) => format!("not in {}", self.spent_rounds),
        }
    }
}

/// Cells in the order in which their first record stands.
pub fn cells(records: &[CalibrationRecord]) -> Vec<Cell> {
    let same = |a: &CalibrationRecord, b: &CalibrationRecord| {
        a.size == b.size
            && a.model == b.model
            && a.effects == b.effects
            && a.missing == b.missing
            && a.algorithm == b.algorithm
    };
    let mut groups: Vec<Vec<&CalibrationRecord>> = Vec::new();
    for record in records {
        match groups.iter_mut().find(|g| same(g[0], record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups.iter().map(|group| cell(group)).collect()
}

fn cell(group: &[&CalibrationRecord]) -> Cell {
    let first = group[0];
    let mut rounds: Vec<f64> =
        group.iter().map(|r| if r.converged { r.rounds as f64 } else { f64::INFINITY }).collect();
    let of = |x: f64| if x.is_finite() { Rounds::In(x) } else { Rounds::Never };
    let mut sent: Vec<f64> = group.iter().map(|r| r.numbers_sent as f64).collect();
    let mut errors: Vec<f64> = group.iter().filter_map(|r| r.slope_error).collect();
    Cell {
        size: first.size.clone(),
        model: first.model.clone(),
        effects: first.effects.clone(),
        missing: first.missing.clone(),
        algorithm: first.algorithm.clone(),
        replications: group.len(),
        converged: group.iter().filter(|r| r.converged).count(),
        median_rounds: of(median(&mut rounds)),
        max_rounds: of(rounds.iter().copied().fold(0.0, f64::max)),
        spent_rounds: group.iter().map(|r| r.rounds).max().unwrap_or(0),
        numbers_sent: median(&mut sent),
        bytes_sent: 8.0 * median(&mut sent),
        slope_error: (!errors.is_empty()).then(|| median(&mut errors)),
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { f64::NAN } else { (values[(n - 1) / 2] + values[n / 2]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&mut [4.0, f64::INFINITY]), f64::INFINITY);
        assert!(median(&mut []).is_nan());
    }
}
