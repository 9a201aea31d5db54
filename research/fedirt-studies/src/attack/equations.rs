//! From a transcript to counts: every number that a school sends is a sum over its students, so each is one linear
//! equation in the counts of the patterns.

use super::matrix::Matrix;
use super::non_negative::{Solution, Stop, non_negative};
use super::vectors::norm;
use super::whole::rounded as rounded_counts;

/// The numbers of one exchange, and what a student of each pattern adds to them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Block {
    /// The numbers that were sent.
    pub told: Vec<f64>,
    /// A column per pattern.
    pub by_pattern: Matrix,
    /// How far each number may be off by fixed point and rounding.
    pub precision: Vec<f64>,
}

impl Block {
    /// What was sent in answer to a request, by one site or as a sum over so many, each number rounded to its step;
    /// `students` are those of all sites.
    pub(super) fn new(
        told: Vec<f64>,
        steps: &[f64],
        by_pattern: Matrix,
        sites: usize,
        students: f64,
    ) -> Self {
        let mut size = vec![0.0; told.len()];
        for column in by_pattern.each() {
            size.iter_mut().zip(column).for_each(|(s, x)| *s += x.abs() / by_pattern.columns() as f64);
        }
        let precision = steps
            .iter()
            .zip(size)
            .map(|(step, size)| (rounding_sd(*step) * (sites as f64).sqrt()).hypot(DOUBLE * students * size))
            .collect();
        Self { told, by_pattern, precision }
    }
}

/// Relative error of a sum of doubles, roughly.
const DOUBLE: f64 = 5e-16;

/// SD of the error of a number that was cut to a whole multiple of one.
fn rounding_sd(unit: f64) -> f64 {
    unit / 12f64.sqrt()
}

/// The number of students is known exactly; as an equation it has this precision.
const STUDENTS_SD: f64 = 1e-9;

/// What of a column is shorter than this, in units of the errors, says nothing about the counts.
const LEAST: f64 = 0.02;

/// So many columns at most, and equations at least, are compressed first: it costs as much as it saves.
const MOST_COMPRESSED: usize = 4096;
const LEAST_COMPRESSED: usize = 300;

/// Most columns that are tried.
const MOST_STEPS: usize = 6000;

/// x to so many decimals.
fn rounded(x: f64, decimals: Option<u32>) -> f64 {
    match decimals {
        None => x,
        Some(decimals) => {
            let unit = 10f64.powi(decimals as i32);
            (x * unit).round() / unit
        }
    }
}

/// A linear system in the counts of the patterns, each equation in units of its error.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Equations {
    matrix: Matrix,
    told: Vec<f64>,
}

impl Equations {
    /// The equations of some exchanges, as they are when numbers are sent with so many decimals. `wanted` says which
    /// numbers of an exchange are used.
    pub(super) fn new(
        blocks: &[Block],
        students: f64,
        decimals: Option<u32>,
        wanted: impl Fn(usize) -> bool,
    ) -> Self {
        let patterns = blocks.first().map_or(0, |b| b.by_pattern.columns());
        let rows: Vec<Vec<usize>> =
            blocks.iter().map(|b| (0..b.told.len()).filter(|r| wanted(*r)).collect()).collect();
        let unit = decimals.map_or(0.0, |d| 10f64.powi(-(d as i32)));
        let sd = |block: &Block, r: usize| rounding_sd(unit).hypot(block.precision[r]);
        let height = rows.iter().map(Vec::len).sum::<usize>() + 1;
        let mut cells = Vec::with_capacity(height * patterns);
        for pattern in 0..patterns {
            for (block, rows) in blocks.iter().zip(&rows) {
                let column = block.by_pattern.column(pattern);
                cells.extend(rows.iter().map(|&r| column[r] / sd(block, r)));
            }
            cells.push(1.0 / STUDENTS_SD);
        }
        let mut told: Vec<f64> = blocks
            .iter()
            .zip(&rows)
            .flat_map(|(block, rows)| rows.iter().map(|&r| rounded(block.told[r], decimals) / sd(block, r)))
            .collect();
        told.push(students / STUDENTS_SD);
        Self { matrix: Matrix::new(height, cells), told }
    }

    /// Number of equations.
    pub(super) fn len(&self) -> usize {
        self.told.len()
    }

    /// Whether counts explain all numbers, but for their errors.
    pub(super) fn explained_by(&self, counts: &[f64]) -> bool {
        within_noise(&self.matrix, &self.told, counts)
    }

    /// The matrix and the numbers, in units of the errors.
    pub(super) fn parts(&self) -> (&Matrix, &[f64]) {
        (&self.matrix, &self.told)
    }

    /// Non-negative counts that fit best. The search ends as soon as whole counts explain all numbers: nobody finds
    /// such counts by chance.
    pub(super) fn solve(&self) -> Solution {
        let small = self.matrix.columns() <= MOST_COMPRESSED && self.len() >= LEAST_COMPRESSED;
        let compressed = small.then(|| self.matrix.compressed(&self.told, LEAST));
        let (matrix, told) = compressed.as_ref().map_or((&self.matrix, &self.told), |(m, t)| (m, t));
        let noise = (matrix.rows() as f64).sqrt();
        let whole = |x: &[f64], distance: f64| {
            distance < 3.0 * noise && within_noise(matrix, told, &rounded_counts(x))
        };
        let stop = Stop { distance: 0.02 * noise, steps: MOST_STEPS, accept: whole };
        non_negative(matrix, told, &stop)
    }
}

/// ‖Ac − y‖ is about the root of the number of equations where nothing but errors is left.
fn within_noise(matrix: &Matrix, told: &[f64], counts: &[f64]) -> bool {
    let explained = matrix.times(counts);
    let left: Vec<f64> = explained.iter().zip(told).map(|(e, t)| t - e).collect();
    norm(&left) < 2.0 * (told.len() as f64).sqrt()
}
