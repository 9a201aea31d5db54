//! Tests of one item's parameters in a group of students against those in all others.

use crate::fit::{Covariance, Dif, Fit, FitItem};
use nalgebra::{Cholesky, DMatrix, DVector};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Likelihood ratio and Wald's test of an item in a group: from the log-likelihood and the parameters of the fit in which it has
/// the parameters of all, and the fit in which it has its own there, under a name of its own.
pub fn test_group(
    row: &mut Dif,
    (loglik, npar): (f64, usize),
    own: &str,
    free: &Fit,
    covariance: &Covariance,
) {
    let more = free.npar.saturating_sub(npar);
    let p = |statistic: f64, df: usize| ChiSquared::new(df as f64).ok().map(|chi| chi.sf(statistic));
    if let (Some(other), true) = (free.loglik.filter(|_| free.converged == Some(true)), more > 0) {
        let statistic = (2.0 * (other - loglik)).max(0.0);
        (row.lr, row.lr_df, row.lr_p) = (Some(statistic), Some(more as f64), p(statistic, more));
    }
    if let Some((statistic, df)) = wald([&row.item, own], free, covariance) {
        (row.wald, row.wald_p) = (Some(statistic), p(statistic, df));
    }
}

/// δᵀ (C Σ Cᵀ)⁻¹ δ with the differences δ = Cβ of the item's parameters.
fn wald(names: [&str; 2], free: &Fit, covariance: &Covariance) -> Option<(f64, usize)> {
    // By item, nothing is known of two items together.
    let [matrix] = &covariance.blocks[..] else { return None };
    let item = |name: &str| free.items.iter().find(|item| item.name == name);
    let [common, own] = [item(names[0])?, item(names[1])?];
    let parameters = |item: &FitItem| -> Vec<(String, f64)> {
        item.parameters.iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    };
    let place = |item: &str, parameter: &str| {
        let name = format!("{item}.{parameter}");
        covariance.names.iter().position(|other| *other == name).filter(|at| matrix[(*at, *at)] > 0.0)
    };
    let (common, own) = (parameters(common), parameters(own));
    let pairs: Vec<(f64, usize, usize)> = common
        .iter()
        .filter_map(|(name, value)| {
            let (_, other) = own.iter().find(|(other, _)| other == name)?;
            Some((other - value, place(names[0], name)?, place(names[1], name)?))
        })
        .collect();
    let n = pairs.len();
    let v = DMatrix::from_fn(n, n, |r, c| {
        let ((_, a, b), (_, k, l)) = (pairs[r], pairs[c]);
        let at = |i: usize, j: usize| matrix[(i, j)];
        at(a, k) - at(a, l) - at(b, k) + at(b, l)
    });
    let difference = DVector::from_iterator(n, pairs.iter().map(|(difference, ..)| *difference));
    let statistic = difference.dot(&Cholesky::new(v).filter(|_| n > 0)?.solve(&difference));
    Some((statistic, n))
}
