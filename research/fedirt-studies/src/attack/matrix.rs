//! A matrix by columns, one column per response pattern.

use super::vectors::{add, dot, norm};

/// Numbers column after column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    rows: usize,
    cells: Vec<f64>,
}

impl Matrix {
    /// A matrix from its cells, column after column.
    pub(super) fn new(rows: usize, cells: Vec<f64>) -> Self {
        debug_assert_eq!(cells.len() % rows.max(1), 0);
        Self { rows, cells }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub(super) fn columns(&self) -> usize {
        self.cells.len() / self.rows.max(1)
    }

    /// One column.
    pub(super) fn column(&self, at: usize) -> &[f64] {
        &self.cells[at * self.rows..(at + 1) * self.rows]
    }

    /// All columns in order.
    pub(super) fn each(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.cells.chunks_exact(self.rows.max(1))
    }

    /// Its first rows.
    pub(super) fn top(&self, rows: usize) -> Self {
        Self::new(rows, self.each().flat_map(|column| &column[..rows]).copied().collect())
    }

    /// The matrix times a vector.
    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows];
        for (column, x) in self.each().zip(x).filter(|(_, x)| **x != 0.0) {
            add(*x, column, &mut out);
        }
        out
    }

    /// The system QᵀA x = Qᵀy, where Q spans the columns of A up to `least`: what a column has outside of Q is
    /// shorter than that. Rounds that say nothing new are dropped, and distances are kept.
    ///
    /// Gram–Schmidt, the longest remaining column first (Golub & Van Loan 2013, 5.4.2).
    pub(super) fn compressed(&self, y: &[f64], least: f64) -> (Self, Vec<f64>) {
        let mut left: Vec<f64> = self.each().map(|c| dot(c, c)).collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut told: Vec<Vec<f64>> = Vec::new();
        while basis.len() < self.rows {
            let Some(longest) = (0..left.len()).max_by(|a, b| left[*a].total_cmp(&left[*b])) else { break };
            let mut q = self.column(longest).to_vec();
            // Twice is enough (Giraud et al. 2005).
            for _ in 0..2 {
                for b in &basis {
                    let along = dot(b, &q);
                    add(-along, b, &mut q);
                }
            }
            let length = norm(&q);
            // Differences of squares lose digits: what they call long may be short.
            left[longest] = if length > least { 0.0 } else { length * length };
            if length <= least {
                if left.iter().all(|l| l.sqrt() <= least) {
                    break;
                }
                continue;
            }
            q.iter_mut().for_each(|x| *x /= length);
            let row: Vec<f64> = self.each().map(|c| dot(&q, c)).collect();
            left.iter_mut().zip(&row).for_each(|(l, r)| *l = (*l - r * r).max(0.0));
            left[longest] = 0.0;
            basis.push(q);
            told.push(row);
        }
        let rows = basis.len();
        let mut cells = vec![0.0; rows * self.columns()];
        for (r, row) in told.iter().enumerate() {
            row.iter().enumerate().for_each(|(c, x)| cells[c * rows + r] = *x);
        }
        (Self::new(rows, cells), basis.iter().map(|q| dot(q, y)).collect())
    }
}
