//! Σ_i Cov_i(score) for complete panels of divide-by-total items, without a loop over students × parameters².
//!
//! Louis (1982): the observed information is the complete one minus Σ_i Cov_i(score | answers). Here every
//! score is S_r = α_r·t + β_r − f_r(t), where only the slope of item j has α = x_j, β depends on the answers
//! alone, and f is t·E_j(t) for the slope, p_c(t) for an intercept, Σ_j a_j E_j(t) for the school effect. So
//!
//! Cov_i(S_r, S_r') = α α' v_i − α Cov_i(t, f_r') − α' Cov_i(t, f_r) + Cov_i(f_r, f_r'),
//!
//! and summed over students: cross products of item scores weighted by posterior variances v_i; Σ_n f(n) D_j(n)
//! with D_j(n) = Σ_i w_i x_ij P_i(n)(t_n − τ_i); and F K Fᵀ with K = diag(Σ_i w_i P_i) − Σ_i w_i P_i P_iᵀ.

use super::panel::Panel;
use super::sweep::{BLOCK, Expected, LookUp, chunks, unfold_counts};
use crate::kernel::aligned::Aligned;
use crate::kernel::lanes;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Expected counts, and Σ_i w_i Cov_i(score) over (panel parameters, school effect).
pub(crate) fn expected_and_covariance(
    look_up: &LookUp<'_>,
    psi: &[f64],
    weighted: bool,
) -> (Expected, DMatrix<f64>) {
    let sums = sweep(look_up, weighted);
    let (panel, width) = (look_up.panel, look_up.tables.width);
    let size = panel.parameters() + 1;
    let f = functions(look_up, psi);

    let mut k = -DMatrix::from_row_slice(width, width, &sums.outer);
    for n in 0..width {
        k[(n, n)] += sums.mass[n];
    }
    let mut covariance = (&f * k) * f.transpose();

    let items = panel.items.len();
    let d = DMatrix::from_row_slice(items, width, &sums.deviations);
    let cross = d * f.transpose();
    let products = score_products(panel, &sums.variances);
    for (j, &slope) in panel.offsets[..items].iter().enumerate() {
        for r in 0..size {
            covariance[(slope, r)] -= cross[(j, r)];
            covariance[(r, slope)] -= cross[(j, r)];
        }
        for (l, &other) in panel.offsets[..items].iter().enumerate() {
            covariance[(slope, other)] += products[j * items + l];
        }
    }
    (sums.expected, covariance)
}

/// f_r(n): one row per panel parameter, and the school effect last.
fn functions(look_up: &LookUp<'_>, psi: &[f64]) -> DMatrix<f64> {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let size = panel.parameters() + 1;
    let mut f = DMatrix::zeros(size, tables.width);
    for (k, &j) in panel.items.iter().enumerate() {
        let curves = &tables.curves[j];
        for n in 0..curves.nodes() {
            let mean = curves.expected_score(n);
            f[(panel.offsets[k], n)] = tables.t[n] * mean;
            for c in 1..panel.categories[k] {
                f[(panel.offsets[k] + c, n)] = curves.log_p(c)[n].exp();
            }
            f[(size - 1, n)] += psi[panel.offsets[k]] * mean;
        }
    }
    f
}

struct Sums {
    expected: Expected,
    /// D_j(n), a row per item.
    deviations: Vec<f64>,
    /// Σ_i w_i P_i P_iᵀ.
    outer: Aligned,
    /// Σ_i w_i P_i.
    mass: Vec<f64>,
    /// w_i·v_i.
    variances: Vec<f64>,
}

fn sweep(look_up: &LookUp<'_>, weighted: bool) -> Sums {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let width = tables.width;
    let items = panel.items.len();
    let parts: Vec<Sums> = chunks(panel.students())
        .into_par_iter()
        .map(|chunk| {
            let mut loglik = 0.0;
            let mut counts = look_up.group_sums();
            let mut weighted_counts = look_up.group_sums();
            let mut outer = Aligned::zeros(width * width);
            let mut mass = vec![0.0; width];
            let mut variances = Vec::with_capacity(chunk.len());
            let mut means = vec![0.0; chunk.len()];
            let mut spread = Vec::new();
            let mut deviation = Aligned::zeros(BLOCK * width);
            look_up.posteriors(chunk, |block, rows, log_marginal| {
                let weights = &panel.weights[block.clone()];
                let n = block.len();
                loglik += weights.iter().zip(log_marginal).map(|(w, l)| w * l).sum::<f64>();
                spread.resize(n, 0.0);
                lanes::moments(rows, width, &tables.t, &mut means[..n], &mut spread);
                variances.extend(spread.iter().zip(weights).map(|(v, w)| v * w));
                lanes::outer_products(rows, width, weights, &mut outer);
                if weighted {
                    lanes::scale_rows(rows, width, weights);
                }
                for row in rows.chunks_exact(width) {
                    lanes::axpy(1.0, row, &mut mass);
                }
                look_up.scatter(block.clone(), rows, &mut counts);
                let deviation = &mut deviation[..rows.len()];
                lanes::deviations(rows, width, &tables.t, &means[..n], deviation);
                look_up.scatter(block, deviation, &mut weighted_counts);
            });
            let by_category = unfold_counts(panel, width, &weighted_counts);
            let mut deviations = vec![0.0; items * width];
            for (j, out) in deviations.chunks_exact_mut(width).enumerate() {
                for c in 1..panel.categories[j] {
                    let at = (panel.offsets[j] + c) * width;
                    lanes::axpy(c as f64, &by_category[at..at + width], out);
                }
            }
            let expected = Expected { loglik, counts: unfold_counts(panel, width, &counts) };
            Sums { expected, deviations, outer, mass, variances }
        })
        .collect();
    let mut total = Sums {
        expected: Expected { loglik: 0.0, counts: vec![0.0; panel.parameters() * width] },
        deviations: vec![0.0; items * width],
        outer: Aligned::zeros(width * width),
        mass: vec![0.0; width],
        variances: Vec::with_capacity(panel.students()),
    };
    for part in parts {
        total.expected.loglik += part.expected.loglik;
        lanes::axpy(1.0, &part.expected.counts, &mut total.expected.counts);
        lanes::axpy(1.0, &part.deviations, &mut total.deviations);
        lanes::axpy(1.0, &part.outer, &mut total.outer);
        lanes::axpy(1.0, &part.mass, &mut total.mass);
        total.variances.extend(part.variances);
    }
    total
}

/// Σ_i u_i x_ij x_il over item scores x.
fn score_products(panel: &Panel, weights: &[f64]) -> Vec<f64> {
    let (items, size) = (panel.items.len(), panel.parameters());
    let table = panel.cross_table(weights);
    let mut products = vec![0.0; items * items];
    for j in 0..items {
        for l in 0..items {
            let mut sum = 0.0;
            for c in 1..panel.categories[j] {
                for h in 1..panel.categories[l] {
                    sum += (c * h) as f64 * table[(panel.offsets[j] + c) * size + panel.offsets[l] + h];
                }
            }
            products[j * items + l] = sum;
        }
    }
    products
}
