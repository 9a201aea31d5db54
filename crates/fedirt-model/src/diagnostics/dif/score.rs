//! Score tests of group differences at the pooled fit: no refit, no further round.

use crate::centre::Structure;
use crate::diagnostics::pair_tables::chi_squared_above;
use nalgebra::{Cholesky, DMatrix, DVector};

/// χ², degrees of freedom and p.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ChiSquared {
    pub statistic: f64,
    pub df: f64,
    pub p: f64,
}

impl ChiSquared {
    pub(crate) fn new(statistic: f64, df: f64) -> Option<Self> {
        (statistic.is_finite() && df > 0.0).then(|| Self {
            statistic,
            df,
            p: chi_squared_above(statistic.max(0.0), df),
        })
    }
}

/// What score tests need of the fit: the information of all coordinates, inverted.
pub(crate) struct ScoreTests {
    jacobian: DMatrix<f64>,
    inverse: DMatrix<f64>,
}

impl ScoreTests {
    /// From the information of all groups together, at the estimates; none where it is not positive definite.
    pub(crate) fn new(jacobian: DMatrix<f64>, groups: &[DMatrix<f64>]) -> Option<Self> {
        let total = groups.iter().skip(1).fold(groups.first()?.clone(), |sum, group| sum + group);
        let information = jacobian.transpose() * total * &jacobian;
        let inverse = Cholesky::new((&information + information.transpose()) * 0.5)?.inverse();
        Some(Self { jacobian, inverse })
    }

    /// Rao's test (1948) that some parameters ψ_r of one group are those of all: g_rᵀ V⁻¹ g_r with
    /// V = I_g,rr − I_g,r· I⁻¹ I_g,·r over all coordinates I.
    pub(crate) fn test(&self, gradient: &[f64], information: &DMatrix<f64>, of: &[usize]) -> Option<Scored> {
        let g = DVector::from_iterator(of.len(), of.iter().map(|r| gradient[*r]));
        let rows = information.select_rows(of);
        let own = rows.select_columns(of);
        let with_all = &rows * &self.jacobian;
        let v = own - &with_all * &self.inverse * with_all.transpose();
        let v = (&v + v.transpose()) * 0.5;
        let step = Cholesky::new(v)?.solve(&g);
        Some(Scored { test: ChiSquared::new(g.dot(&step), of.len() as f64)?, step })
    }
}

/// A score test.
pub(crate) struct Scored {
    pub test: ChiSquared,
    /// By how much the group's parameters differ from those of all others, after one step of Newton's method: V⁻¹ g.
    pub step: DVector<f64>,
}

/// The parameters of an item that are estimated for it alone.
pub(crate) fn own_parameters(structure: &Structure, span: std::ops::Range<usize>) -> Vec<usize> {
    span.filter(|r| structure.is_own(*r)).collect()
}
