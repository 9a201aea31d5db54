//! Inner products and sums of long vectors, compiled for several instruction sets and chosen at run time.

use multiversion::multiversion;

const LANES: usize = 8;

/// Σ x_i y_i. The order of the sum is fixed: the same numbers on every run.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for l in 0..LANES {
            sums[l] += x[l] * y[l];
        }
    }
    sums.iter().sum::<f64>() + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// y += factor · x.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub(super) fn add(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// (x, y) ← (cx + sy, cy − sx).
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub(super) fn rotate(c: f64, s: f64, x: &mut [f64], y: &mut [f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
    }
}

/// ‖x‖.
pub(super) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}
