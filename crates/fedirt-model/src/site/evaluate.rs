//! A site's log-likelihood, gradient and Hessian at given item parameters and school effect.

use super::hessian::Hessian;
use super::panel::SiteData;
use super::sweep::{self, Expected, LookUp, Moments};
use super::tables::Tables;
use super::{by_item, general, residual};
use crate::items::Order;
use crate::kernel::lanes;
use crate::population::Population;
use nalgebra::DMatrix;

/// What to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// Log-likelihood and gradient.
    Gradient,
    /// And the Hessian of the complete data (expected answers taken as observed).
    Complete,
    /// And those entries of the observed Hessian that stand by item: each item's own, and those of what all items share.
    ObservedByItem,
    /// And the observed Hessian, by Louis' identity.
    Observed,
}

/// Derivatives over (item parameters, population, school effect): the school effect is the last coordinate.
#[derive(Debug, Clone)]
pub(crate) struct Evaluation {
    pub loglik: f64,
    pub gradient: Vec<f64>,
    /// Empty unless asked for.
    pub hessian: Hessian,
    /// Expected counts by category (position in the design) and padded node.
    pub counts: Vec<f64>,
}

impl SiteData {
    /// Log-likelihood and posterior moments at school effect s.
    pub(crate) fn moments(&self, psi: &[f64], s: f64, population: &Population) -> Moments {
        let tables = Tables::new(&self.design, psi, s, population, Order::Probability);
        let mut total = Moments::default();
        for panel in &self.panels {
            total.add(sweep::moments(&LookUp::new(&self.design, panel, &tables)));
        }
        total
    }

    /// Everything at school effect s.
    pub(crate) fn evaluate(&self, psi: &[f64], s: f64, population: &Population, depth: Depth) -> Evaluation {
        let order = if depth == Depth::Gradient { Order::Score } else { Order::Curvature };
        let tables = Tables::new(&self.design, psi, s, population, order);
        let (items, size) = (self.design.parameters(), psi.len() + 1);
        let mut out = Evaluation {
            loglik: 0.0,
            gradient: vec![0.0; size],
            hessian: Hessian::full(0),
            counts: vec![0.0; self.design.cells() * tables.width],
        };
        let mut mass = vec![vec![0.0; tables.width]; tables.priors.len()];
        let mut hessian = match depth {
            Depth::Gradient => Hessian::full(0),
            Depth::Complete | Depth::ObservedByItem => Hessian::by_item(&self.design, size),
            Depth::Observed => Hessian::full(size),
        };
        for panel in &self.panels {
            let look_up = LookUp::new(&self.design, panel, &tables);
            let mut positions = panel.positions(&self.design);
            positions.extend(items..size);
            let expected = match (depth, &panel.missing) {
                (Depth::Gradient | Depth::Complete, _) => sweep::expected(&look_up, self.weighted),
                (Depth::ObservedByItem, _) => {
                    let (expected, found) =
                        by_item::expected_and_covariances(&look_up, &self.design, self.weighted);
                    add_by_item(&found, &panel.offsets, &positions, &mut hessian);
                    expected
                }
                (Depth::Observed, Some(missing)) => {
                    let mine: Vec<f64> = panel.positions(&self.design).iter().map(|&r| psi[r]).collect();
                    let (expected, found) = residual::expected_and_covariance(
                        &look_up,
                        &self.design,
                        missing,
                        &mine,
                        self.weighted,
                    );
                    add_at(&found, &positions, &mut hessian);
                    expected
                }
                (Depth::Observed, None) => {
                    let (expected, found) = general::expected_and_covariance(&look_up);
                    add_at(&found, &positions, &mut hessian);
                    expected
                }
            };
            self.add_counts(&panel.cell_positions(&self.design), &expected, tables.width, &mut out);
            lanes::axpy(1.0, &expected.mass, &mut mass[panel.group.min(tables.priors.len() - 1)]);
        }
        self.add_gradient(&tables, &mut out);
        let of_groups = || mass.iter().zip(&tables.priors);
        for (h, g) in out.gradient[items..size - 1].iter_mut().enumerate() {
            *g = of_groups().map(|(mass, prior)| lanes::dot(mass, prior.population_score(h))).sum();
        }
        if depth > Depth::Gradient {
            self.add_complete(&tables, &out.counts, size - 1, &mut hessian);
            // Σ_n n̄(n) ∂² log w_n/∂φ∂φ'.
            for (mass, prior) in of_groups() {
                for h in 0..prior.population_size() {
                    for l in 0..prior.population_size() {
                        let terms = mass.iter().zip(prior.grid.curvature(h, l));
                        hessian.add(items + h, items + l, terms.map(|(n, c)| n * c).sum());
                    }
                }
            }
            out.hessian = hessian;
        }
        out
    }

    fn add_counts(&self, positions: &[usize], expected: &Expected, width: usize, out: &mut Evaluation) {
        out.loglik += expected.loglik;
        for (&at, row) in positions.iter().zip(expected.counts.chunks_exact(width)) {
            for (o, x) in out.counts[at * width..(at + 1) * width].iter_mut().zip(row) {
                *o += x;
            }
        }
    }

    /// g_r = Σ_c Σ_n counts_c(n) ∂ log p_c(n)/∂r.
    fn add_gradient(&self, tables: &Tables, out: &mut Evaluation) {
        let s = out.gradient.len() - 1;
        for j in 0..self.design.len() {
            let at = self.design.offset(j);
            let (p, cell) = (self.design.span(j).len(), self.design.cell_offset(j));
            for c in 0..self.design.categories(j) {
                let row = &out.counts[(cell + c) * tables.width..(cell + c + 1) * tables.width];
                for r in 0..=p {
                    let sum = lanes::dot(row, tables.score(j, c, r));
                    out.gradient[if r == p { s } else { at + r }] += sum;
                }
            }
        }
    }

    /// Σ_c Σ_n counts_c(n) ∂² log p_c(n)/∂r∂h: block by item, and the school effect across.
    fn add_complete(&self, tables: &Tables, counts: &[f64], s: usize, hessian: &mut Hessian) {
        for j in 0..self.design.len() {
            let at = self.design.offset(j);
            let (p, cell) = (self.design.span(j).len(), self.design.cell_offset(j));
            let curves = &tables.curves[j];
            let position = |r: usize| if r == p { s } else { at + r };
            for c in 0..self.design.categories(j) {
                let row = &counts[(cell + c) * tables.width..(cell + c + 1) * tables.width];
                for r in 0..=p {
                    for h in 0..=p {
                        let sum: f64 = row.iter().zip(curves.curvature(c, r, h)).map(|(n, g)| n * g).sum();
                        hessian.add(position(r), position(h), sum);
                    }
                }
            }
        }
    }
}

/// Adds a matrix over some positions.
fn add_at(matrix: &DMatrix<f64>, positions: &[usize], hessian: &mut Hessian) {
    for (c, &to) in positions.iter().enumerate() {
        for (r, &at) in positions.iter().enumerate() {
            hessian.add(at, to, matrix[(r, c)]);
        }
    }
}

/// Adds what is known by item, whose parameters begin at `offsets` among the positions.
fn add_by_item(found: &by_item::Covariances, offsets: &[usize], positions: &[usize], hessian: &mut Hessian) {
    for (own, &first) in found.own.iter().zip(offsets) {
        add_at(own, &positions[first..first + own.nrows()], hessian);
    }
    let shared = &positions[positions.len() - found.border.nrows()..];
    for (c, &to) in positions.iter().enumerate() {
        for (r, &at) in shared.iter().enumerate() {
            hessian.add(at, to, found.border[(r, c)]);
        }
    }
}
