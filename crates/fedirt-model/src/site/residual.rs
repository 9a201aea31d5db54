//! Σ_i Cov_i(score) for complete panels of models that are linear in their parameters (the divide-by-total family, the
//! nominal model), without a loop over students × parameters².
//!
//! Louis (1982): the observed information is the complete one minus Σ_i Cov_i(score | answers). In these models the
//! score of a parameter with category weights w_r is S_r = w_rx·z − z·Σ_c w_rc p_c(t), with z = t for a slope and 1 for
//! an intercept. So S_r = α_r·t + β_r − f_r(t), where only slopes have an α, which is w_rx; β depends on the answers
//! alone; and f is t·Σ_c w_rc p_c(t) for a slope, Σ_c w_rc p_c(t) for an intercept, −∂ log w(t)/∂φ for a parameter of the
//! population, Σ_r a_r Σ_c w_rc p_c(t) over all slopes for the school effect. Then
//!
//! Cov_i(S_r, S_r') = α α' v_i − α Cov_i(t, f_r') − α' Cov_i(t, f_r) + Cov_i(f_r, f_r'),
//!
//! and summed over students: cross products of α weighted by posterior variances v_i; Σ_n f(n) D_r(n) with
//! D_r(n) = Σ_i w_i α_ir P_i(n)(t_n − τ_i); and F K Fᵀ with K = diag(Σ_i w_i P_i) − Σ_i w_i P_i P_iᵀ.

use super::panel::Panel;
use super::sweep::{BLOCK, Expected, LookUp, chunks, unfold_counts};
use crate::design::Design;
use crate::kernel::aligned::Aligned;
use crate::kernel::lanes;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// A slope of the panel, and the weight w_c of each category in it; categories of weight 0 are left out.
struct Slope {
    /// Position among the panel's parameters.
    at: usize,
    /// Position among the panel's cells, and weight.
    weights: Vec<(usize, f64)>,
}

/// The panel's slopes.
fn slopes(panel: &Panel, design: &Design) -> Vec<Slope> {
    let mut out = Vec::with_capacity(panel.items.len());
    for (k, &j) in panel.items.iter().enumerate() {
        let weights = design.model(j).category_weights(design.categories(j)).unwrap_or_default();
        let cells = panel.cell_offsets[k]..panel.cell_offsets[k + 1];
        for (r, row) in weights.iter().enumerate().take(design.slopes(j).len()) {
            let weights = cells.clone().zip(row.iter().copied()).filter(|(_, w)| *w != 0.0).collect();
            out.push(Slope { at: panel.offsets[k] + r, weights });
        }
    }
    out
}

/// Expected counts, and Σ_i w_i Cov_i(score) over (panel parameters, population, school effect).
pub(crate) fn expected_and_covariance(
    look_up: &LookUp<'_>,
    design: &Design,
    psi: &[f64],
    weighted: bool,
) -> (Expected, DMatrix<f64>) {
    let slopes = slopes(look_up.panel, design);
    let sums = sweep(look_up, &slopes, weighted);
    let (panel, width) = (look_up.panel, look_up.tables.width);
    let size = panel.parameters() + look_up.tables.population_size() + 1;
    let f = functions(look_up, design, psi);

    let mut k = -DMatrix::from_row_slice(width, width, &sums.outer);
    for n in 0..width {
        k[(n, n)] += sums.expected.mass[n];
    }
    let mut covariance = (&f * k) * f.transpose();

    let d = DMatrix::from_row_slice(slopes.len(), width, &sums.deviations);
    let cross = d * f.transpose();
    let products = slope_products(panel, &slopes, &sums.variances);
    for (j, slope) in slopes.iter().enumerate() {
        for r in 0..size {
            covariance[(slope.at, r)] -= cross[(j, r)];
            covariance[(r, slope.at)] -= cross[(j, r)];
        }
        for (l, other) in slopes.iter().enumerate() {
            covariance[(slope.at, other.at)] += products[j * slopes.len() + l];
        }
    }
    (sums.expected, covariance)
}

/// f_r(n): one row per panel parameter, those of the population, and the school effect last.
fn functions(look_up: &LookUp<'_>, design: &Design, psi: &[f64]) -> DMatrix<f64> {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let size = panel.parameters() + tables.population_size() + 1;
    let mut f = DMatrix::zeros(size, tables.width);
    for h in 0..tables.population_size() {
        for (n, x) in tables.population_score(h).iter().enumerate() {
            f[(panel.parameters() + h, n)] = -x;
        }
    }
    for (k, &j) in panel.items.iter().enumerate() {
        let curves = &tables.curves[j];
        let weights = design.model(j).category_weights(design.categories(j)).unwrap_or_default();
        let slopes = design.slopes(j).len();
        for n in 0..curves.nodes() {
            let p: Vec<f64> = (0..curves.categories()).map(|c| curves.log_p(c)[n].exp()).collect();
            for (r, weights) in weights.iter().enumerate() {
                let at = panel.offsets[k] + r;
                let mean: f64 = weights.iter().zip(&p).map(|(w, p)| w * p).sum();
                if r < slopes {
                    f[(at, n)] = tables.t[n] * mean;
                    f[(size - 1, n)] += psi[at] * mean;
                } else {
                    f[(at, n)] = mean;
                }
            }
        }
    }
    f
}

struct Sums {
    expected: Expected,
    /// D_r(n), a row per slope.
    deviations: Vec<f64>,
    /// Σ_i w_i P_i P_iᵀ.
    outer: Aligned,
    /// w_i·v_i.
    variances: Vec<f64>,
}

fn sweep(look_up: &LookUp<'_>, slopes: &[Slope], weighted: bool) -> Sums {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let width = tables.width;
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
            let mut deviations = vec![0.0; slopes.len() * width];
            for (slope, out) in slopes.iter().zip(deviations.chunks_exact_mut(width)) {
                for &(cell, weight) in &slope.weights {
                    lanes::axpy(weight, &by_category[cell * width..(cell + 1) * width], out);
                }
            }
            let expected = Expected { loglik, counts: unfold_counts(panel, width, &counts), mass };
            Sums { expected, deviations, outer, variances }
        })
        .collect();
    let mut total = Sums {
        expected: Expected::zero(panel, width),
        deviations: vec![0.0; slopes.len() * width],
        outer: Aligned::zeros(width * width),
        variances: Vec::with_capacity(panel.students()),
    };
    for part in parts {
        total.expected.add(&part.expected);
        lanes::axpy(1.0, &part.deviations, &mut total.deviations);
        lanes::axpy(1.0, &part.outer, &mut total.outer);
        total.variances.extend(part.variances);
    }
    total
}

/// Σ_i u_i α_ir α_ir' over the slopes.
fn slope_products(panel: &Panel, slopes: &[Slope], weights: &[f64]) -> Vec<f64> {
    let size = panel.cells();
    let table = panel.cross_table(weights);
    let mut products = vec![0.0; slopes.len() * slopes.len()];
    for (j, slope) in slopes.iter().enumerate() {
        for (l, other) in slopes.iter().enumerate() {
            let mut sum = 0.0;
            for &(c, weight) in &slope.weights {
                for &(h, other_weight) in &other.weights {
                    sum += weight * other_weight * table[c * size + h];
                }
            }
            products[j * slopes.len() + l] = sum;
        }
    }
    products
}
