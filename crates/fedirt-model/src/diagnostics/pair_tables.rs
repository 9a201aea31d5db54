//! Two-way tables of answers: what the fitted model expects of them, and where they depart from it.

use super::Fitted;
use crate::design::Design;
use crate::fit::Ld;
use crate::items::{Curves, Order};
use crate::quadrature::Grid;
use nalgebra::DMatrix;
use statrs::function::gamma::gamma_ur;

/// The probability that a χ² of so many degrees of freedom is as large.
pub(super) fn chi_squared_above(x: f64, df: f64) -> f64 {
    if x <= 0.0 { 1.0 } else { gamma_ur(df / 2.0, x / 2.0) }
}

/// P(x_j = c, x_l = d) for all pairs of cells of different items, Σ_q A(q) P_jc(q) P_ld(q), at school effect s.
fn expected_shares(design: &Design, psi: &[f64], grid: &Grid, s: f64) -> DMatrix<f64> {
    let abilities: Vec<f64> = grid.nodes().iter().map(|v| v + s).collect();
    let mut weighted = DMatrix::zeros(design.cells(), grid.len());
    for j in 0..design.len() {
        let (model, own) = (design.model(j), &psi[design.span(j)]);
        let curves = Curves::new(model, design.categories(j), own, &abilities, Order::Probability);
        for (c, cell) in design.cell_span(j).enumerate() {
            for (q, log_weight) in grid.log_weights().iter().enumerate() {
                weighted[(cell, q)] = (curves.log_p(c)[q] + 0.5 * log_weight).exp();
            }
        }
    }
    &weighted * weighted.transpose()
}

/// Expected counts of all pairs of cells, from the students who answered both items, which `observed` tells.
pub(crate) fn expected_counts(
    (design, psi): (&Design, &[f64]),
    grid: &Grid,
    observed: &DMatrix<f64>,
    s: f64,
) -> DMatrix<f64> {
    let mut expected = expected_shares(design, psi, grid, s);
    for j in 0..design.len() {
        for l in 0..design.len() {
            let (rows, columns) = (design.cell_span(j), design.cell_span(l));
            let n = observed.view((rows.start, columns.start), (rows.len(), columns.len())).sum();
            let mut block = expected.view_mut((rows.start, columns.start), (rows.len(), columns.len()));
            block *= n;
        }
    }
    expected
}

/// Concordant minus discordant pairs over both (Goodman & Kruskal 1954).
fn gamma(table: &DMatrix<f64>) -> f64 {
    let (mut concordant, mut discordant) = (0.0, 0.0);
    let (rows, columns) = table.shape();
    for r in 0..rows {
        for c in 0..columns {
            for r2 in r + 1..rows {
                for c2 in 0..columns {
                    let product = table[(r, c)] * table[(r2, c2)];
                    concordant += if c2 > c { product } else { 0.0 };
                    discordant += if c2 < c { product } else { 0.0 };
                }
            }
        }
    }
    (concordant - discordant) / (concordant + discordant)
}

/// LD-X² of all pairs of items (Chen & Thissen 1997), and its signed Cramér's V: positive where answers go together more
/// than the model says.
pub(super) fn local_dependence(fitted: &Fitted<'_>, observed: &DMatrix<f64>, expected: &DMatrix<f64>) -> Ld {
    let design = fitted.design;
    let empty = || vec![vec![None; design.len()]; design.len()];
    let mut ld = Ld { x2: empty(), df: empty(), p: empty(), v_signed: empty() };
    for j in 0..design.len() {
        for l in 0..j {
            let (rows, columns) = (design.cell_span(j), design.cell_span(l));
            let shape = (rows.len(), columns.len());
            let block = |m: &DMatrix<f64>| m.view((rows.start, columns.start), shape).into_owned();
            let (o, e) = (block(observed), block(expected));
            let n = o.sum();
            let x2: f64 = o.iter().zip(&e).map(|(o, e)| (o - e).powi(2) / e).sum();
            if n <= 0.0 || !x2.is_finite() {
                continue;
            }
            let df = ((shape.0 - 1) * (shape.1 - 1)) as f64;
            let sign = if gamma(&o) - gamma(&e) < 0.0 { -1.0 } else { 1.0 };
            let v = sign * (x2 / (n * (shape.0.min(shape.1) - 1) as f64)).sqrt();
            for (r, c) in [(j, l), (l, j)] {
                ld.x2[r][c] = Some(x2);
                ld.df[r][c] = Some(df);
                ld.p[r][c] = Some(chi_squared_above(x2, df));
                ld.v_signed[r][c] = Some(v);
            }
        }
    }
    ld
}
