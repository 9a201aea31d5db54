//! Cholesky's factor of a large matrix, block by block: thousands of rows in seconds.

use nalgebra::DMatrix;

/// Columns that are done together.
const BLOCK: usize = 64;

/// L with L Lᵀ = `matrix`, of which the lower triangle is read and overwritten; none where it is not positive definite.
/// The upper triangle of what comes back is not defined.
pub(super) fn factor(mut matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = matrix.nrows();
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        let width = end - start;
        let corner = matrix.view((start, start), (width, width)).into_owned().cholesky()?.unpack();
        matrix.view_mut((start, start), (width, width)).copy_from(&corner);
        if end == n {
            break;
        }
        // The rows below: X Lᵀ = A, so L Xᵀ = Aᵀ.
        let below = matrix.view((end, start), (n - end, width)).transpose();
        let below = corner.solve_lower_triangular(&below)?;
        let rows = below.transpose();
        matrix.view_mut((end, start), (n - end, width)).copy_from(&rows);
        for column in (end..n).step_by(BLOCK) {
            let width = BLOCK.min(n - column);
            let across = below.columns(column - end, width);
            let down = rows.rows(column - end, n - column);
            matrix.view_mut((column, column), (n - column, width)).gemm(-1.0, &down, &across, 1.0);
        }
    }
    Some(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_factor_of_the_library() {
        let n = 2 * BLOCK + 17;
        let root = DMatrix::from_fn(n, n, |r, c| ((r * 31 + c * 17) % 23) as f64 / 23.0 - 0.5);
        let matrix = &root * root.transpose() + DMatrix::identity(n, n);
        let want = matrix.clone().cholesky().unwrap().l();
        let got = factor(matrix).unwrap().lower_triangle();
        assert!((want - got).amax() < 1e-12);
        assert_eq!(factor(DMatrix::from_diagonal_element(3, 3, -1.0)), None);
    }
}
