//! From estimated counts of patterns to whole rows, and how many of them are right.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Rows that are right when estimated counts are made whole in three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// Each count to the nearest whole number.
    pub rounded: usize,
    /// By largest remainders, so that they add up to the number of students.
    pub remainder: usize,
    /// The likeliest rows, one after the other, if counts are binomial with these means.
    pub likeliest: usize,
}

impl Rows {
    /// Counts estimated as `means` against true ones.
    pub(super) fn new(means: &[f64], truth: &[f64]) -> Self {
        let students = truth.iter().sum::<f64>();
        Self {
            rounded: right(&rounded(means), truth),
            remainder: right(&largest_remainders(means, students), truth),
            likeliest: right(&likeliest(means, students), truth),
        }
    }

    /// The best of the three, chosen when the truth is known. It shows what can be had at all; where attack and guess
    /// are close, it flatters the one whose three ways differ more, and a way must be chosen beforehand.
    pub(super) fn best(self) -> usize {
        self.rounded.max(self.remainder).max(self.likeliest)
    }
}

/// Rows of `found` that exist; rows beyond the number of students count against it.
///
/// This is N − Σ|found − true|/2 where N rows are named. Where fewer are, that formula would credit half of those
/// left out.
pub(super) fn right(found: &[f64], truth: &[f64]) -> usize {
    let both: f64 = found.iter().zip(truth).map(|(f, t)| f.min(*t)).sum();
    let beyond = found.iter().sum::<f64>() - truth.iter().sum::<f64>();
    (both - beyond.max(0.0)).max(0.0) as usize
}

/// To the nearest whole numbers.
pub(super) fn rounded(means: &[f64]) -> Vec<f64> {
    means.iter().map(|m| m.round().max(0.0)).collect()
}

/// Whole parts, and one more for the largest remainders until all students have a row.
pub(super) fn largest_remainders(means: &[f64], students: f64) -> Vec<f64> {
    let mut out: Vec<f64> = means.iter().map(|m| m.floor().max(0.0)).collect();
    let left = (students - out.iter().sum::<f64>()).max(0.0) as usize;
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|a, b| (means[*b] - out[*b]).total_cmp(&(means[*a] - out[*a])).then(a.cmp(b)));
    order.into_iter().take(left).for_each(|j| out[j] += 1.0);
    out
}

/// A row that may be named next.
struct Candidate {
    pattern: usize,
    /// P(count > rows named so far).
    chance: f64,
    named: f64,
    /// log P(count = rows named so far).
    log_mass: f64,
    /// log(p/(1 − p)).
    log_odds: f64,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.chance.total_cmp(&other.chance).then(other.pattern.cmp(&self.pattern))
    }
}

/// A pattern that every student has is one that nearly every student has: logarithms stay finite.
const SURE: f64 = 1.0 - 1e-12;

/// One row for each student, each where one more is likeliest.
///
/// Under a model with the probabilities p_x the count of a pattern is binomial(N, p_x), and the expected number of
/// right rows is Σ P(count ≥ k) over the rows that are named, which falls with k. So this is the Bayes guess under
/// that model: no other choice has more rows right on average.
pub(super) fn likeliest(means: &[f64], students: f64) -> Vec<f64> {
    let mut out = vec![0.0; means.len()];
    let first = |(pattern, mean): (usize, &f64)| {
        let p = (mean / students).clamp(0.0, SURE);
        let log_mass = students * (-p).ln_1p();
        let log_odds = p.ln() - (-p).ln_1p();
        Candidate { pattern, chance: -log_mass.exp_m1(), named: 0.0, log_mass, log_odds }
    };
    let mut heap: BinaryHeap<Candidate> = means.iter().enumerate().map(first).collect();
    for _ in 0..students as usize {
        let Some(mut next) = heap.pop() else { break };
        out[next.pattern] += 1.0;
        next.log_mass += ((students - next.named) / (next.named + 1.0)).ln() + next.log_odds;
        next.named += 1.0;
        next.chance -= next.log_mass.exp();
        heap.push(next);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways_to_make_counts_whole() {
        let means = [2.6, 0.4, 0.4, 0.6];
        assert_eq!(rounded(&means), [3.0, 0.0, 0.0, 1.0]);
        assert_eq!(largest_remainders(&means, 4.0), [3.0, 0.0, 0.0, 1.0]);
        assert_eq!(largest_remainders(&means, 5.0), [3.0, 1.0, 0.0, 1.0]);
        // Of 4 students: P(count ≥ 1, 2, 3, 4) = 0.985, 0.874, 0.563, 0.179 for a mean of 2.6; P(count ≥ 1) = 0.478
        // for 0.6 and 0.344 for 0.4. Of 7: 0.961, 0.801, 0.519, 0.241; 0.466 and 0.337.
        assert_eq!(likeliest(&means, 4.0), [3.0, 0.0, 0.0, 1.0]);
        assert_eq!(likeliest(&means, 7.0), [4.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn rows_beyond_the_students_count_against_the_finder() {
        let truth = [2.0, 0.0, 1.0, 0.0];
        assert_eq!(right(&truth, &truth), 3);
        assert_eq!(right(&[1.0, 1.0, 1.0, 0.0], &truth), 2);
        assert_eq!(right(&[0.0; 4], &truth), 0);
        assert_eq!(right(&[2.0, 2.0, 2.0, 2.0], &truth), 0);
    }

    #[test]
    fn no_other_choice_has_more_rows_right_on_average() {
        // Brute force: all ways to name 3 rows of 4 patterns, by the exact expectation of Σ min(named, count) over all
        // 4³ data sets of three students.
        let means = [1.3, 0.95, 0.4, 0.35];
        let expected = |named: &[f64]| -> f64 {
            let mut sum = 0.0;
            for data in 0..64usize {
                let rows = [data & 3, data >> 2 & 3, data >> 4 & 3];
                let chance: f64 = rows.iter().map(|x| means[*x] / 3.0).product();
                let count = |x: usize| rows.iter().filter(|r| **r == x).count() as f64;
                sum += chance * named.iter().enumerate().map(|(x, n)| n.min(count(x))).sum::<f64>();
            }
            sum
        };
        let mut best: f64 = 0.0;
        for code in 0..256usize {
            let named: Vec<f64> = (0..4).map(|j| (code >> (2 * j) & 3) as f64).collect();
            if named.iter().sum::<f64>() == 3.0 {
                best = best.max(expected(&named));
            }
        }
        assert!((expected(&likeliest(&means, 3.0)) - best).abs() < 1e-12);
    }

    #[test]
    fn whole_counts_stay_as_they_are() {
        // However many students there are: the median of a binomial with a whole mean is that mean.
        let counts = [2900.0, 60.0, 20.0, 12.0, 5.0, 1.0, 1.0, 1.0, 0.0];
        assert_eq!(likeliest(&counts, 3000.0), counts);
        assert_eq!(likeliest(&[7.0, 0.0], 7.0), [7.0, 0.0]);
    }
}
