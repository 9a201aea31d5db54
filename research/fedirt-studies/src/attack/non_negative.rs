//! min ‖Ax − y‖ over x ≥ 0 (Lawson & Hanson 1974, chapter 23), with factors that are updated.

use super::matrix::Matrix;
use super::qr::Qr;
use super::vectors::{dot, norm};

/// A solution, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solution {
    /// x.
    pub x: Vec<f64>,
    /// ‖Ax − y‖.
    pub distance: f64,
    /// Columns that came in.
    pub steps: usize,
    /// Whether the search was ended because x was good enough.
    pub accepted: bool,
}

/// When the search ends before the minimum.
pub(super) struct Stop<F> {
    /// At this distance.
    pub distance: f64,
    /// After so many columns.
    pub steps: usize,
    /// When this says so; it is asked for x and its distance.
    pub accept: F,
}

/// Of all columns, those that would help most are looked at again first: one in so many.
const SHORT_LIST: usize = 16;

/// Steps with one short list.
const LIST_STEPS: usize = 24;

/// Which column to take in.
struct Pricing<'a> {
    a: &'a Matrix,
    lengths: Vec<f64>,
    /// Columns that may not come in: they are in, or rounding alone speaks for them.
    shut: Vec<bool>,
    list: Vec<usize>,
    steps_left: usize,
    /// The gain of the first column of the list when it was made.
    first: f64,
}

impl<'a> Pricing<'a> {
    fn new(a: &'a Matrix) -> Self {
        let lengths: Vec<f64> = a.each().map(norm).collect();
        let shut = lengths.iter().map(|l| *l <= 0.0).collect();
        Self { a, lengths, shut, list: Vec::new(), steps_left: 0, first: 0.0 }
    }

    fn gain(&self, j: usize, left: &[f64]) -> f64 {
        dot(self.a.column(j), left) / self.lengths[j]
    }

    fn best(&self, among: impl Iterator<Item = usize>, left: &[f64]) -> Option<(f64, usize)> {
        let open = among.filter(|j| !self.shut[*j]).map(|j| (self.gain(j, left), j));
        open.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The column that points most in the direction of what is left; none if no one does.
    fn next(&mut self, left: &[f64]) -> Option<usize> {
        let rounding = 1e-14 * norm(left);
        if self.steps_left > 0 {
            self.steps_left -= 1;
            let best = self.best(self.list.iter().copied(), left);
            // Half as good as the best of all was is good enough.
            if let Some((gain, j)) = best.filter(|(gain, _)| *gain > 0.5 * self.first && *gain > rounding) {
                return Some(j).filter(|_| gain > 0.0);
            }
        }
        let mut gains: Vec<(f64, usize)> = (0..self.a.columns())
            .filter(|j| !self.shut[*j])
            .map(|j| (self.gain(j, left), j))
            .filter(|(gain, _)| *gain > rounding)
            .collect();
        gains.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let kept = (self.a.columns() / SHORT_LIST).max(32);
        self.list = gains.iter().take(kept).map(|(_, j)| *j).collect();
        self.steps_left = LIST_STEPS;
        let (gain, j) = *gains.first()?;
        self.first = gain;
        Some(j)
    }
}

/// Solves the problem, or stops before.
pub(super) fn non_negative<F: Fn(&[f64], f64) -> bool>(a: &Matrix, y: &[f64], stop: &Stop<F>) -> Solution {
    let mut x = vec![0.0; a.columns()];
    let mut qr = Qr::new(y);
    let mut passive: Vec<usize> = Vec::new();
    let mut pricing = Pricing::new(a);
    let mut left = y.to_vec();
    let (mut steps, mut accepted) = (0, false);
    while !accepted && norm(&left) > stop.distance && steps < stop.steps {
        let Some(next) = pricing.next(&left) else { break };
        steps += 1;
        pricing.shut[next] = true;
        if !qr.push(a.column(next)) {
            continue;
        }
        passive.push(next);
        let mut z = qr.solution();
        if z.last().is_none_or(|z| *z <= 0.0) {
            qr.remove(passive.len() - 1);
            passive.pop();
            continue;
        }
        while let Some((alpha, first)) = reach(&x, &z, &passive) {
            for (z, &j) in z.iter().zip(&passive) {
                x[j] += alpha * (z - x[j]);
            }
            // What meets zero leaves, and what is as near as rounding can tell.
            for at in (0..passive.len()).rev().filter(|&at| at == first || z[at] <= 0.0) {
                let j = passive[at];
                if at == first || x[j] <= 1e-12 {
                    x[j] = 0.0;
                    passive.remove(at);
                    qr.remove(at);
                }
            }
            z = qr.solution();
        }
        passive.iter().zip(&z).for_each(|(j, z)| x[*j] = *z);
        left = qr.residual();
        accepted = (stop.accept)(&x, norm(&left));
        pricing.shut.iter_mut().zip(&pricing.lengths).for_each(|(s, l)| *s = *l <= 0.0);
        passive.iter().for_each(|j| pricing.shut[*j] = true);
    }
    Solution { distance: norm(&left), x, steps, accepted }
}

/// How far one may go from x to z before an entry is negative, and which; none: all the way.
fn reach(x: &[f64], z: &[f64], passive: &[usize]) -> Option<(f64, usize)> {
    let crossing = z.iter().zip(passive).enumerate().filter(|(_, (z, _))| **z <= 0.0);
    crossing
        .map(|(at, (z, &j))| (if x[j] > 0.0 { x[j] / (x[j] - z) } else { 0.0 }, at))
        .min_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::vectors::add;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn to_the_end<'a>() -> Stop<impl Fn(&[f64], f64) -> bool + 'a> {
        Stop { distance: 0.0, steps: 10_000, accept: |_: &[f64], _: f64| false }
    }

    fn random(rows: usize, columns: usize, seed: u64) -> (Matrix, Vec<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.random_range(-1.0..1.0)).collect() };
        let cells = draw(rows * columns);
        (Matrix::new(rows, cells), draw(rows))
    }

    fn left(a: &Matrix, x: &[f64], y: &[f64]) -> Vec<f64> {
        let mut out = y.to_vec();
        add(-1.0, &a.times(x), &mut out);
        out
    }

    /// Karush, Kuhn and Tucker: x ≥ 0, Aᵀ(y − Ax) ≤ 0, and zero where x > 0.
    #[test]
    fn solutions_satisfy_the_conditions_of_a_minimum() {
        for (seed, (rows, columns)) in [(12, 5), (30, 30), (20, 80), (40, 700)].into_iter().enumerate() {
            let (a, y) = random(rows, columns, seed as u64);
            let solution = non_negative(&a, &y, &to_the_end());
            let rest = left(&a, &solution.x, &y);
            assert!((norm(&rest) - solution.distance).abs() < 1e-9);
            for (column, x) in a.each().zip(&solution.x) {
                let w = dot(column, &rest);
                assert!(*x >= 0.0 && w < 1e-9, "{rows}×{columns}: {x} {w}");
                assert!(*x == 0.0 || w.abs() < 1e-9, "{rows}×{columns}: {x} {w}");
            }
        }
    }

    /// The best of all least-squares fits on subsets of columns that happen to be positive.
    #[test]
    fn no_subset_of_columns_does_better() {
        for seed in 0..20 {
            let (a, y) = random(5, 6, 100 + seed);
            let mut best = norm(&y);
            for subset in 1..64usize {
                let columns: Vec<usize> = (0..6).filter(|j| subset >> j & 1 == 1).collect();
                let mut qr = Qr::new(&y);
                if columns.iter().all(|j| qr.push(a.column(*j))) && qr.solution().iter().all(|z| *z >= 0.0) {
                    best = best.min(norm(&qr.residual()));
                }
            }
            let found = non_negative(&a, &y, &to_the_end()).distance;
            assert!((found - best).abs() < 1e-9, "seed {seed}: {found} {best}");
        }
    }

    #[test]
    fn columns_come_and_go() {
        let (a, y) = random(9, 6, 7);
        let mut qr = Qr::new(&y);
        (0..6).for_each(|j| assert!(qr.push(a.column(j))));
        qr.remove(4);
        qr.remove(1);
        let mut fresh = Qr::new(&y);
        [0, 2, 3, 5].iter().for_each(|j| assert!(fresh.push(a.column(*j))));
        for (x, z) in qr.solution().iter().zip(fresh.solution()) {
            assert!((x - z).abs() < 1e-10);
        }
        assert!(!fresh.push(a.column(2)), "a column that is there already");
    }

    #[test]
    fn compressed_systems_keep_distances() {
        let (a, y) = random(40, 12, 9);
        let (small, told) = a.compressed(&y, 1e-9);
        assert_eq!(small.rows(), 12);
        let x: Vec<f64> = (0..12).map(|j| f64::from(j % 3)).collect();
        let (mut whole, mut part) = (left(&a, &x, &y), left(&small, &x, &told));
        // What of y is outside of the columns' span is lost, the same for every x.
        let outside = |whole: &[f64], part: &[f64]| dot(whole, whole) - dot(part, part);
        let one = outside(&whole, &part);
        let z = vec![0.5; 12];
        (whole, part) = (left(&a, &z, &y), left(&small, &z, &told));
        assert!((outside(&whole, &part) - one).abs() < 1e-9);
    }
}
