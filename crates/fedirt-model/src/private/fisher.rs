//! The whitening of a round: from the model's information at θ, which needs no data.

use super::cells::{ExpectedStudents, Purpose, Sample};
use super::expectation::information;
use nalgebra::{DMatrix, DVector};

/// Simulated students for the information of long tests. Its error cannot bias: any W would do.
const DRAWS: f64 = 8000.0;
/// Added to the information per student, so that what answers cannot tell is not blown up.
pub(super) const RIDGE: f64 = 1e-6;

/// W = L⁻¹ with F + 10⁻⁶ = L Lᵀ, F = Σ_k (N_k/N) E_k[g gᵀ] at θ.
pub(super) fn whitening(population: &ExpectedStudents, theta: &[f64], round: usize) -> Option<DMatrix<f64>> {
    let sample = Sample { draws: DRAWS, purpose: Purpose::Whitening(round) };
    let mut f = information(population, theta, sample) / population.students;
    let d = f.nrows();
    f += DMatrix::from_diagonal(&DVector::from_element(d, RIDGE));
    let l = f.cholesky()?.unpack();
    l.solve_lower_triangular(&DMatrix::identity(d, d))
}

/// Lower triangle, row by row.
pub(super) fn packed(w: &DMatrix<f64>) -> Vec<f64> {
    (0..w.nrows()).flat_map(|r| (0..=r).map(move |c| w[(r, c)])).collect()
}

/// The other way round.
pub(super) fn unpacked(packed: &[f64], d: usize) -> DMatrix<f64> {
    let at = |r: usize, c: usize| if c <= r { packed[r * (r + 1) / 2 + c] } else { 0.0 };
    DMatrix::from_fn(d, d, at)
}
