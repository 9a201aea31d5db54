//! How much more than the guess noisy sums can give away: one statement for all comparisons together.
//!
//! A condition's data sets are independent, and attack and guess are made on the same ones: the mean of their paired
//! differences over n seeds has Student's distribution with n − 1 degrees of freedom, nearly. With m comparisons at the
//! same ε, each limit is taken at 1 − 0.05/m, so that all of them hold together with 95 % (Bonferroni), however the
//! comparisons depend on each other.

use super::condition::Protocol;
use super::summary::Cell;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Confidence of all limits of one ε together.
const CONFIDENCE: f64 = 0.95;

/// The largest limit among comparisons that look for the same number of rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtMost {
    /// Rows that were looked for.
    pub rows: usize,
    /// So many rows beyond the guess at most.
    pub beyond: f64,
}

/// All comparisons at one ε.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// ε; none: there was no noise.
    pub epsilon: Option<f64>,
    /// Attacks that are compared with the guess.
    pub comparisons: usize,
    /// Confidence with which all of this holds together.
    pub confidence: f64,
    /// Attacks that found more rows than the guess.
    pub above: usize,
    /// Upper limits, most rows last.
    pub at_most: Vec<AtMost>,
}

/// Limits of the mean of a comparison: mean ∓ t·error.
fn limits(cell: &Cell, comparisons: usize) -> Option<(f64, f64)> {
    let error = cell.beyond_error?;
    let student = StudentsT::new(0.0, 1.0, cell.seeds as f64 - 1.0).ok()?;
    let t = student.inverse_cdf(1.0 - (1.0 - CONFIDENCE) / comparisons as f64);
    Some((cell.beyond - t * error, cell.beyond + t * error))
}

/// Gives each comparison of `private` its limits. One seed says nothing, and gets none.
pub(super) fn limit(cells: &mut [Cell]) {
    let private: Vec<usize> = (0..cells.len()).filter(|c| cells[*c].protocol == Protocol::Private).collect();
    for &at in &private {
        let family = private.iter().filter(|c| cells[**c].epsilon == cells[at].epsilon).count();
        cells[at].beyond_limits = limits(&cells[at], family);
    }
}

/// What is known at each ε: without noise first, then the largest ε first.
pub fn bounds(cells: &[Cell]) -> Vec<Bound> {
    let mut epsilons: Vec<Option<f64>> = Vec::new();
    let limited = || cells.iter().filter(|c| c.beyond_limits.is_some());
    for cell in limited() {
        if !epsilons.contains(&cell.epsilon) {
            epsilons.push(cell.epsilon);
        }
    }
    let strength = |epsilon: &Option<f64>| epsilon.unwrap_or(f64::INFINITY);
    epsilons.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    let bound = |epsilon: Option<f64>| {
        let mine: Vec<&Cell> = limited().filter(|c| c.epsilon == epsilon).collect();
        let mut at_most: Vec<AtMost> = Vec::new();
        for cell in &mine {
            let Some((_, beyond)) = cell.beyond_limits else { continue };
            match at_most.iter_mut().find(|a| a.rows == cell.rows) {
                Some(held) => held.beyond = held.beyond.max(beyond),
                None => at_most.push(AtMost { rows: cell.rows, beyond }),
            }
        }
        at_most.sort_by_key(|a| a.rows);
        let above = mine.iter().filter(|c| c.beyond_the_guess()).count();
        Bound { epsilon, comparisons: mine.len(), confidence: CONFIDENCE, above, at_most }
    };
    epsilons.into_iter().map(bound).collect()
}

#[cfg(test)]
mod tests {
    use super::super::condition::Condition;
    use super::super::record::AttackRecord;
    use super::super::summary::cells;
    use super::super::whole::Rows;
    use super::*;

    /// Attacks with these differences from a guess of 5, one after the other on the same seeds.
    fn compared(attacks: &[(&str, [usize; 4])]) -> Vec<Cell> {
        let condition = Condition::quick().into_iter().find(|c| c.protocol == Protocol::Private);
        let condition = condition.expect("a private condition");
        let rows = |likeliest| Rows { rounded: 9, remainder: 9, likeliest };
        let mut records = Vec::new();
        for (name, found) in attacks {
            for (seed, found) in found.iter().enumerate() {
                let (found, guess) = (rows(*found), rows(5));
                let record = AttackRecord::new(&condition, seed as u64, name, &[4.0, 6.0], found, guess);
                records.push(AttackRecord { epsilon: Some(1.0), ..record });
            }
        }
        cells(&records)
    }

    #[test]
    fn limits_hold_for_all_comparisons_together() {
        // Differences 0, 2, 0, 2: mean 1, SD 2/√3, error 1/√3.
        let one = compared(&[("a", [5, 7, 5, 7])]);
        let two = compared(&[("a", [5, 7, 5, 7]), ("b", [5, 4, 5, 4])]);
        // Student's t with 3 degrees of freedom at 0.95 and 0.975, from tables: 2.3534 and 3.1824.
        for (cells, t) in [(&one, 2.3534), (&two, 3.1824)] {
            let (low, high) = cells[0].beyond_limits.expect("limits");
            assert!((low - (1.0 - t / 3f64.sqrt())).abs() < 1e-4, "{low}");
            assert!((high - (1.0 + t / 3f64.sqrt())).abs() < 1e-4, "{high}");
        }
        let bound = bounds(&two).remove(0);
        assert_eq!((bound.epsilon, bound.comparisons, bound.above), (Some(1.0), 2, 0));
        assert_eq!(bound.at_most.len(), 1);
        assert_eq!(
            (bound.at_most[0].rows, bound.at_most[0].beyond),
            (10, two[0].beyond_limits.expect("b").1)
        );
    }

    #[test]
    fn what_stands_out_alone_need_not_stand_out_among_many() {
        // Differences 1, 2, 3, 2: mean 2, error 1/√6: t = 4.90.
        let found = ("a", [6, 7, 8, 7]);
        assert_eq!(bounds(&compared(&[found]))[0].above, 1);
        let mut many = vec![found];
        many.extend(["b", "c", "d", "e", "f", "g", "h"].map(|name| (name, [5, 4, 5, 4])));
        // At 0.05/8 with 3 degrees of freedom t is 5.28.
        assert_eq!(bounds(&compared(&many))[0].above, 0);
    }

    #[test]
    fn one_seed_says_nothing() {
        let mut cells = compared(&[("a", [9, 9, 9, 9])]);
        assert!(cells[0].beyond_the_guess());
        cells[0].beyond_error = None;
        limit(&mut cells);
        assert!(!cells[0].beyond_the_guess() && bounds(&cells).is_empty());
    }
}
