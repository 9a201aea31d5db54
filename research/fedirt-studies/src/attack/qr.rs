//! The factors of a matrix whose columns come and go.

use super::vectors::{add, dot, norm, rotate};

/// A = QR for the columns that were pushed, and Qᵀy.
///
/// The condition of the columns is not squared, as it would be by normal equations: the systems here are so
/// ill-conditioned that half of the digits would not do.
#[derive(Debug, Clone)]
pub(super) struct Qr<'a> {
    y: &'a [f64],
    q: Vec<Vec<f64>>,
    /// Columns of R down to their diagonal.
    r: Vec<Vec<f64>>,
    /// Qᵀy.
    told: Vec<f64>,
}

impl<'a> Qr<'a> {
    /// No columns.
    pub(super) fn new(y: &'a [f64]) -> Self {
        Self { y, q: Vec::new(), r: Vec::new(), told: Vec::new() }
    }

    /// Adds a column at the end, unless the others span it.
    pub(super) fn push(&mut self, column: &[f64]) -> bool {
        let mut q = column.to_vec();
        let mut r = vec![0.0; self.q.len()];
        for _ in 0..2 {
            for (r, b) in r.iter_mut().zip(&self.q) {
                let along = dot(b, &q);
                add(-along, b, &mut q);
                *r += along;
            }
        }
        let length = norm(&q);
        if length <= 1e-13 * norm(column) {
            return false;
        }
        q.iter_mut().for_each(|x| *x /= length);
        r.push(length);
        self.told.push(dot(&q, self.y));
        self.q.push(q);
        self.r.push(r);
        true
    }

    /// Takes a column out. R keeps its shape by plane rotations (Golub & Van Loan 2013, 6.5.2).
    pub(super) fn remove(&mut self, at: usize) {
        self.r.remove(at);
        for k in at..self.r.len() {
            let (a, b) = (self.r[k][k], self.r[k][k + 1]);
            let length = a.hypot(b);
            let (c, s) = if length > 0.0 { (a / length, b / length) } else { (1.0, 0.0) };
            for column in &mut self.r[k..] {
                (column[k], column[k + 1]) =
                    (c * column[k] + s * column[k + 1], c * column[k + 1] - s * column[k]);
            }
            self.r[k].truncate(k + 1);
            let (left, right) = self.q.split_at_mut(k + 1);
            rotate(c, s, &mut left[k], &mut right[0]);
            (self.told[k], self.told[k + 1]) =
                (c * self.told[k] + s * self.told[k + 1], c * self.told[k + 1] - s * self.told[k]);
        }
        self.q.pop();
        self.told.pop();
    }

    /// The least-squares solution, in the order of the columns.
    pub(super) fn solution(&self) -> Vec<f64> {
        let mut x = self.told.clone();
        for k in (0..x.len()).rev() {
            x[k] /= self.r[k][k];
            let (above, here) = x.split_at_mut(k);
            add(-here[0], &self.r[k][..k], above);
        }
        x
    }

    /// y − QQᵀy. Projected out twice: y is up to 10¹⁵ times as long as what is left of it.
    pub(super) fn residual(&self) -> Vec<f64> {
        let mut left = self.y.to_vec();
        for _ in 0..2 {
            for q in &self.q {
                let along = dot(q, &left);
                add(-along, q, &mut left);
            }
        }
        left
    }
}
