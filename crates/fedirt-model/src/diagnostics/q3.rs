//! Q3: correlations of residuals, against those of data simulated from the fitted model.

use super::Fitted;
use super::simulated::Simulator;
use crate::centre::symmetric;
use crate::fit::Q3;
use crate::questions::diagnose::DiagnoseReply;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Simulated data sets.
const REPLICATIONS: usize = 100;

/// Students in each; sampling errors are brought to the real number.
const STUDENTS: usize = 500;

/// Sums over the students who answered both of two items.
pub(super) struct Pairs {
    counts: DMatrix<f64>,
    sums: DMatrix<f64>,
    squares: DMatrix<f64>,
    products: DMatrix<f64>,
}

impl Pairs {
    /// The sums of a reply, if they were asked for.
    pub(super) fn of(reply: &DiagnoseReply) -> Option<Self> {
        let (counts, products) = (reply.pair_counts.as_ref()?, reply.pair_products.as_ref()?);
        let (sums, squares) = (reply.pair_sums.as_ref()?, reply.pair_squares.as_ref()?);
        let items = (sums.len() as f64).sqrt().round() as usize;
        Some(Self {
            counts: symmetric(items, counts),
            sums: DMatrix::from_row_slice(items, items, sums),
            squares: DMatrix::from_row_slice(items, items, squares),
            products: symmetric(items, products),
        })
    }

    /// Q3 of a pair: the correlation over the students who answered both.
    fn correlation(&self, j: usize, l: usize) -> Option<f64> {
        let n = self.counts[(j, l)];
        let (mean_j, mean_l) = (self.sums[(j, l)] / n, self.sums[(l, j)] / n);
        let covariance = self.products[(j, l)] / n - mean_j * mean_l;
        let variances =
            (self.squares[(j, l)] / n - mean_j * mean_j) * (self.squares[(l, j)] / n - mean_l * mean_l);
        (n > 2.0 && variances > 0.0).then(|| covariance / variances.sqrt()).filter(|r| r.is_finite())
    }

    fn matrix(&self) -> DMatrix<Option<f64>> {
        let items = self.counts.nrows();
        DMatrix::from_fn(items, items, |j, l| if j == l { Some(1.0) } else { self.correlation(j, l) })
    }
}

/// The pairs j < l with their numbers, where there are such.
fn upper(matrix: &DMatrix<Option<f64>>) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
    let pairs = (0..matrix.nrows()).flat_map(|j| (j + 1..matrix.nrows()).map(move |l| (j, l)));
    pairs.filter_map(|(j, l)| Some((j, l, matrix[(j, l)]?)))
}

fn mean(matrix: &DMatrix<Option<f64>>) -> f64 {
    let (sum, count) = upper(matrix).fold((0.0, 0.0), |(sum, n), (_, _, x)| (sum + x, n + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Q3 of all pairs, with the pairs that stand out.
pub(super) fn q3(fitted: &Fitted<'_>, pairs: &Pairs, students: f64) -> Option<Q3> {
    let matrix = pairs.matrix();
    upper(&matrix).next()?;
    let mean = mean(&matrix);
    let (critical, critical_se) = critical(fitted, &pairs.counts, students);
    let mut flagged: Vec<(String, String, f64)> = upper(&matrix)
        .filter(|(_, _, x)| x - mean > critical)
        .map(|(j, l, x)| (fitted.names[j].clone(), fitted.names[l].clone(), x))
        .collect();
    flagged.sort_by(|a, b| b.2.total_cmp(&a.2));
    Some(Q3 {
        items: fitted.names.to_vec(),
        matrix: matrix.row_iter().map(|row| row.iter().copied().collect()).collect(),
        mean,
        critical,
        critical_se,
        seed: fitted.seed,
        replications: REPLICATIONS,
        flagged,
    })
}

/// The 95th percentile of max(Q3 − mean) under the fitted model, by a parametric bootstrap, with its Monte Carlo error.
///
/// A pair's Q3 deviates from its expectation by about 1/√n. So few students are drawn, and their deviations from the mean
/// of all replications are shrunk from the number drawn to the number of students who answered both items.
fn critical(fitted: &Fitted<'_>, counts: &DMatrix<f64>, students: f64) -> (f64, f64) {
    let items = counts.nrows();
    let share = |j: usize| if students > 0.0 { (counts[(j, j)] / students).min(1.0) } else { 1.0 };
    let simulator = Simulator::new(fitted, (0..items).map(share).collect());
    let drawn = (students as usize).clamp(2, STUDENTS);
    let sets: Vec<(DMatrix<Option<f64>>, DMatrix<f64>)> = (0..REPLICATIONS)
        .into_par_iter()
        .map(|replication| {
            let data = simulator.draw(replication, drawn);
            let sums = data.residuals(fitted.psi, 0.0, fitted.population, true);
            let pairs = Pairs {
                counts: sums.counts,
                sums: sums.sums,
                squares: sums.squares,
                products: sums.products,
            };
            (pairs.matrix(), pairs.counts)
        })
        .collect();
    let expected = DMatrix::from_fn(items, items, |j, l| {
        let there: Vec<f64> = sets.iter().filter_map(|(matrix, _)| matrix[(j, l)]).collect();
        there.iter().sum::<f64>() / there.len().max(1) as f64
    });
    let mut largest: Vec<f64> = sets
        .iter()
        .filter_map(|(matrix, drawn)| {
            let scaled = DMatrix::from_fn(items, items, |j, l| {
                let shrink = (drawn[(j, l)] / counts[(j, l)]).sqrt();
                let there = matrix[(j, l)].filter(|_| counts[(j, l)] > 2.0);
                there.map(|x| expected[(j, l)] + (x - expected[(j, l)]) * shrink)
            });
            let mean = mean(&scaled);
            upper(&scaled).map(|(_, _, x)| x - mean).max_by(f64::total_cmp)
        })
        .collect();
    quantile(&mut largest, 0.95)
}

/// A quantile of simulated numbers, and its standard error from the order statistics one binomial SD to either side.
pub(super) fn quantile(numbers: &mut [f64], share: f64) -> (f64, f64) {
    numbers.sort_by(f64::total_cmp);
    let n = numbers.len() as f64;
    let at = |rank: f64| {
        let place = rank.clamp(0.0, (n - 1.0).max(0.0));
        let (low, part) = (place.floor() as usize, place.fract());
        let of = |k: usize| numbers.get(k.min(numbers.len().saturating_sub(1))).copied().unwrap_or(f64::NAN);
        of(low) * (1.0 - part) + if part > 0.0 { of(low + 1) * part } else { 0.0 }
    };
    let (rank, sd) = (share * (n - 1.0), (n * share * (1.0 - share)).sqrt());
    (at(rank), 0.5 * (at(rank + sd) - at(rank - sd)))
}
