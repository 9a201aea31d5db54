//! The likeliest counts, given noisy sums and a model.
//!
//! Counts c_x are Poisson with the model's means e_x, and y = Ac + noise of variance 1 is seen. With log c! ≈ c log c − c
//! the posterior's maximum is λ_x = e_x exp(a_xᵀβ), where β maximises the concave βᵀy − Σ_x e_x exp(a_xᵀβ) − ‖β‖²/2
//! (the dual of a Kullback–Leibler projection; Csiszár 1975). It stays positive by itself, and it leaves the model's
//! counts alone in all directions of which the sums say nothing.

use super::matrix::Matrix;
use super::vectors::{add, dot};

/// Most Newton steps.
const STEPS: usize = 200;

/// λ from the model's expected counts and the sums.
pub(super) fn likeliest_counts(a: &Matrix, y: &[f64], expected: &[f64]) -> Vec<f64> {
    let m = a.rows();
    let tilted = |beta: &[f64]| -> Vec<f64> {
        a.each().zip(expected).map(|(column, e)| e * dot(column, beta).min(600.0).exp()).collect()
    };
    let value =
        |beta: &[f64], counts: &[f64]| dot(beta, y) - counts.iter().sum::<f64>() - 0.5 * dot(beta, beta);
    let mut beta = vec![0.0; m];
    let mut counts = tilted(&beta);
    let mut here = value(&beta, &counts);
    for _ in 0..STEPS {
        let mut gradient: Vec<f64> = y.iter().zip(&beta).map(|(y, b)| y - b).collect();
        // Lower triangle of A diag(λ) Aᵀ + 1, row by row.
        let mut curvature: Vec<Vec<f64>> = (0..m).map(|r| vec![0.0; r + 1]).collect();
        for (column, count) in a.each().zip(&counts) {
            add(-count, column, &mut gradient);
            for (r, row) in curvature.iter_mut().enumerate() {
                add(count * column[r], &column[..=r], row);
            }
        }
        curvature.iter_mut().enumerate().for_each(|(r, row)| row[r] += 1.0);
        let Some(step) = solved(curvature, &gradient) else { break };
        let promised = dot(&step, &gradient);
        if promised < 1e-10 {
            break;
        }
        let mut length = 1.0;
        loop {
            let trial: Vec<f64> = beta.iter().zip(&step).map(|(b, s)| b + length * s).collect();
            let there = tilted(&trial);
            let reached = value(&trial, &there);
            if reached >= here + 1e-4 * length * promised {
                (beta, counts, here) = (trial, there, reached);
                break;
            }
            length /= 3.0;
            if length < 1e-12 {
                return counts;
            }
        }
    }
    counts
}

/// Solves a positive definite system by its Cholesky factor; the lower triangle is given.
fn solved(mut l: Vec<Vec<f64>>, right: &[f64]) -> Option<Vec<f64>> {
    let m = right.len();
    for r in 0..m {
        for c in 0..=r {
            let (above, below) = l.split_at_mut(r);
            let row = &mut below[0];
            if c < r {
                row[c] = (row[c] - dot(&row[..c], &above[c][..c])) / above[c][c];
            } else {
                let pivot = row[r] - dot(&row[..r], &row[..r]);
                row[r] = Some(pivot).filter(|p| *p > 0.0)?.sqrt();
            }
        }
    }
    let mut x = right.to_vec();
    for r in 0..m {
        x[r] = (x[r] - dot(&l[r][..r], &x[..r])) / l[r][r];
    }
    for r in (0..m).rev() {
        x[r] /= l[r][r];
        let (above, here) = x.split_at_mut(r);
        add(-here[0], &l[r][..r], above);
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_the_posterior_vanishes() {
        let a = Matrix::new(2, vec![1.0, 0.3, 0.5, -1.0, -0.2, 0.8, 1.5, 0.1]);
        let (y, expected) = ([4.0, -1.0], [0.5, 1.0, 2.0, 0.7]);
        let counts = likeliest_counts(&a, &y, &expected);
        // log(λ/e) = Aᵀ(y − Aλ): the derivative of Σ λ log(λ/e) − λ + ‖y − Aλ‖²/2 in each λ.
        let sums = a.times(&counts);
        let left: Vec<f64> = y.iter().zip(&sums).map(|(y, s)| y - s).collect();
        for (x, column) in a.each().enumerate() {
            assert!(((counts[x] / expected[x]).ln() - dot(column, &left)).abs() < 1e-6);
        }
    }

    #[test]
    fn sums_that_say_nothing_leave_the_model_alone() {
        let a = Matrix::new(1, vec![1e-9, -1e-9, 0.0]);
        let counts = likeliest_counts(&a, &[3.0], &[1.0, 2.0, 3.0]);
        counts.iter().zip([1.0, 2.0, 3.0]).for_each(|(c, e)| assert!((c - e).abs() < 1e-6));
    }
}
