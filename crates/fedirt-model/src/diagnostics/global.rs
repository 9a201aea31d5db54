//! Global fit from first and second moments: M2 for items of two categories, C2 otherwise.
//!
//! With the moments π of the model (shares of categories above the lowest, and means of products of scores), their
//! derivatives Δ and the covariance Ξ of a student's own, N·e'Ce with e = p − π and
//! C = Ξ⁻¹ − Ξ⁻¹Δ(Δ'Ξ⁻¹Δ)⁻¹Δ'Ξ⁻¹ is χ² (Maydeu-Olivares & Joe 2006; Cai & Monroe 2014). Ξ comes from the model alone.

use super::Fitted;
use super::cholesky;
use super::pair_tables::chi_squared_above;
use crate::design::Design;
use crate::fit::GlobalFit;
use crate::items::{Curves, Order};
use crate::quadrature::Grid;
use nalgebra::{DMatrix, DVector};

/// Most moments: their covariance has the square of it.
const MOST_MOMENTS: usize = 6_000;

/// Why there is no global fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoGlobalFit {
    /// Some students did not answer all items.
    Incomplete,
    /// Too many moments.
    TooLarge,
    /// No degrees of freedom.
    NoDegreesOfFreedom,
    /// The moments depend on each other.
    Singular,
}

impl NoGlobalFit {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Incomplete => {
                "M2 and C2 need complete rows, and some students did not answer all items; rows are not left out silently"
            }
            Self::TooLarge => {
                "there are too many items: the covariance of their moments would not fit into memory"
            }
            Self::NoDegreesOfFreedom => "there are as many parameters as moments: more items are needed",
            Self::Singular => "some moments determine others, as where a category is hardly ever chosen",
        }
    }
}

/// Where the moments stand: those of single items first, then those of pairs l < j.
struct Layout<'a> {
    design: &'a Design,
}

impl Layout<'_> {
    fn singles(&self) -> usize {
        self.design.cells() - self.design.len()
    }

    fn len(&self) -> usize {
        self.singles() + self.design.len() * (self.design.len() - 1) / 2
    }

    /// Place of category c ≥ 1 of an item.
    fn single(&self, item: usize, c: usize) -> usize {
        self.design.cell_offset(item) - item + c - 1
    }

    fn pair(&self, j: usize, l: usize) -> usize {
        let (high, low) = (j.max(l), j.min(l));
        self.singles() + high * (high - 1) / 2 + low
    }
}

/// An item at the nodes: probabilities of its categories, mean and mean square of its score.
struct AtNodes {
    curves: Curves,
    mean: Vec<f64>,
    square: Vec<f64>,
}

/// The fit of the model's moments to those of `observed`, the two-way tables of so many students. The derivatives in
/// the free parameters follow from [`Fitted::jacobian`].
pub(super) fn global_fit(
    fitted: &Fitted<'_>,
    observed: &DMatrix<f64>,
    students: f64,
) -> Result<GlobalFit, NoGlobalFit> {
    let Fitted { design, psi, grid, .. } = fitted;
    let layout = Layout { design };
    let (items, size) = (design.len(), layout.len());
    let block = |j: usize, l: usize| {
        let (rows, columns) = (design.cell_span(j), design.cell_span(l));
        observed.view((rows.start, columns.start), (rows.len(), columns.len()))
    };
    let complete = |j: usize| (0..=j).all(|l| (block(j, l).sum() - students).abs() < 0.5);
    if !(0..items).all(complete) {
        return Err(NoGlobalFit::Incomplete);
    }
    if size > MOST_MOMENTS {
        return Err(NoGlobalFit::TooLarge);
    }
    let jacobian = (fitted.jacobian)();
    let parameters = jacobian.ncols();
    if size <= parameters {
        return Err(NoGlobalFit::NoDegreesOfFreedom);
    }
    let at: Vec<AtNodes> = (0..items)
        .map(|j| {
            let (model, own) = (design.model(j), &psi[design.span(j)]);
            let curves = Curves::new(model, design.categories(j), own, grid.nodes(), Order::Score);
            let moment = |q: usize, power: i32| {
                (1..curves.categories()).map(|c| (c as f64).powi(power) * curves.log_p(c)[q].exp()).sum()
            };
            let mean = (0..grid.len()).map(|q| moment(q, 1)).collect();
            let square = (0..grid.len()).map(|q| moment(q, 2)).collect();
            AtNodes { curves, mean, square }
        })
        .collect();
    let weights: Vec<f64> = grid.log_weights().iter().map(|w| w.exp()).collect();

    // Moments given ability, and their means.
    let given = moments_given_ability(&layout, &at, grid.len());
    let moments: DVector<f64> = given.transpose() * DVector::from_column_slice(&weights);
    let mut observed_moments = DVector::zeros(size);
    for j in 0..items {
        let own = block(j, j);
        (1..own.nrows()).for_each(|c| observed_moments[layout.single(j, c)] = own[(c, c)] / students);
        for l in 0..j {
            let table = block(j, l);
            let mut product = 0.0;
            for r in 1..table.nrows() {
                for c in 1..table.ncols() {
                    product += (r * c) as f64 * table[(r, c)];
                }
            }
            observed_moments[layout.pair(j, l)] = product / students;
        }
    }
    let residual = &observed_moments - &moments;
    let root = cholesky::factor(covariance(&layout, &at, &weights, &given, &moments));
    let root = root.ok_or(NoGlobalFit::Singular)?;
    let derivatives = derivatives(&layout, &at, &weights, psi.len(), &given, grid) * jacobian;
    let singular = NoGlobalFit::Singular;
    let scaled = root.solve_lower_triangular(&derivatives).ok_or(singular)?;
    let whitened = root.solve_lower_triangular(&residual).ok_or(singular)?;
    let inner = (scaled.transpose() * &scaled).cholesky().ok_or(singular)?;
    let along = scaled.transpose() * &whitened;
    let statistic = students * (whitened.norm_squared() - along.dot(&inner.solve(&along))).max(0.0);
    let df = (size - parameters) as f64;

    let spread = |moments: &DVector<f64>, j: usize| {
        let sums = (1..design.categories(j)).fold((0.0, 0.0), |(mean, square), c| {
            let p = moments[layout.single(j, c)];
            (mean + c as f64 * p, square + (c * c) as f64 * p)
        });
        (sums.0, sums.1 - sums.0 * sums.0)
    };
    let correlation = |moments: &DVector<f64>, j: usize, l: usize| {
        let ((mean_j, variance_j), (mean_l, variance_l)) = (spread(moments, j), spread(moments, l));
        (moments[layout.pair(j, l)] - mean_j * mean_l) / (variance_j * variance_l).sqrt()
    };
    let pairs: Vec<(f64, f64)> = (0..items)
        .flat_map(|j| (0..j).map(move |l| (j, l)))
        .map(|(j, l)| (correlation(&observed_moments, j, l), correlation(&moments, j, l)))
        .collect();
    let count = pairs.len() as f64;
    // Where items are independent, products of centred scores are too, and the statistic is that of the correlations.
    let independent = students * pairs.iter().map(|(observed, _)| observed * observed).sum::<f64>();
    let excess = (statistic - df).max(0.0);
    let binary = (0..items).all(|j| design.categories(j) == 2);
    let bound = |share: f64| (noncentrality(statistic, df, share) / (students * df)).sqrt();
    Ok(GlobalFit {
        kind: if binary { "M2" } else { "C2" }.to_owned(),
        statistic,
        df,
        p: chi_squared_above(statistic, df),
        rmsea: (excess / df / (students - 1.0)).sqrt(),
        rmsea_5: bound(0.95),
        rmsea_95: bound(0.05),
        srmsr: (pairs.iter().map(|(o, e)| (o - e).powi(2)).sum::<f64>() / count).sqrt(),
        tli: (independent / count - statistic / df) / (independent / count - 1.0),
        cfi: 1.0 - excess / (independent - count).max(excess).max(f64::MIN_POSITIVE),
    })
}

/// The moments given ability, a row per node.
fn moments_given_ability(layout: &Layout<'_>, at: &[AtNodes], nodes: usize) -> DMatrix<f64> {
    let mut given = DMatrix::zeros(nodes, layout.len());
    for (j, item) in at.iter().enumerate() {
        for q in 0..nodes {
            for c in 1..item.curves.categories() {
                given[(q, layout.single(j, c))] = item.curves.log_p(c)[q].exp();
            }
            for (l, other) in at[..j].iter().enumerate() {
                given[(q, layout.pair(j, l))] = item.mean[q] * other.mean[q];
            }
        }
    }
    given
}

/// The covariance of one student's moments: as if all items of a product were different, and what is added where an item
/// stands in both.
fn covariance(
    layout: &Layout<'_>,
    at: &[AtNodes],
    weights: &[f64],
    given: &DMatrix<f64>,
    moments: &DVector<f64>,
) -> DMatrix<f64> {
    let weighted = DMatrix::from_fn(given.nrows(), given.ncols(), |q, r| weights[q] * given[(q, r)]);
    let mut out = given.transpose() * weighted;
    out.ger(-1.0, moments, moments, 1.0);
    let sum = |of: &dyn Fn(usize) -> f64| (0..weights.len()).map(|q| weights[q] * of(q)).sum::<f64>();
    for (j, item) in at.iter().enumerate() {
        let p = |c: usize, q: usize| item.curves.log_p(c)[q].exp();
        let categories = item.curves.categories();
        for c in 1..categories {
            for d in 1..categories {
                let own = |q: usize| if c == d { p(c, q) } else { 0.0 } - p(c, q) * p(d, q);
                out[(layout.single(j, c), layout.single(j, d))] += sum(&own);
            }
            for (l, other) in at.iter().enumerate().filter(|(l, _)| *l != j) {
                let added = sum(&|q| (c as f64 - item.mean[q]) * p(c, q) * other.mean[q]);
                out[(layout.pair(j, l), layout.single(j, c))] += added;
                out[(layout.single(j, c), layout.pair(j, l))] += added;
            }
        }
        let variance: Vec<f64> =
            (0..weights.len()).map(|q| weights[q] * (item.square[q] - item.mean[q].powi(2))).collect();
        for (l, first) in at.iter().enumerate().filter(|(l, _)| *l != j) {
            for (m, second) in at.iter().enumerate().filter(|(m, _)| *m != j && *m != l) {
                let added = (0..weights.len()).map(|q| variance[q] * first.mean[q] * second.mean[q]);
                out[(layout.pair(j, l), layout.pair(j, m))] += added.sum::<f64>();
            }
        }
        for (l, other) in at[..j].iter().enumerate() {
            let both =
                |q: usize| item.square[q] * other.square[q] - item.mean[q].powi(2) * other.mean[q].powi(2);
            out[(layout.pair(j, l), layout.pair(j, l))] += sum(&both);
        }
    }
    out
}

/// Derivatives of the moments in the parameters of items and population.
fn derivatives(
    layout: &Layout<'_>,
    at: &[AtNodes],
    weights: &[f64],
    parameters: usize,
    given: &DMatrix<f64>,
    grid: &Grid,
) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(layout.len(), parameters);
    for h in 0..grid.parameters() {
        let moved: Vec<f64> = weights.iter().zip(grid.score(h)).map(|(w, score)| w * score).collect();
        let column = given.transpose() * DVector::from_vec(moved);
        out.set_column(layout.design.parameters() + h, &column);
    }
    for (j, item) in at.iter().enumerate() {
        for (k, r) in layout.design.span(j).enumerate() {
            let slope = |c: usize, q: usize| item.curves.log_p(c)[q].exp() * item.curves.score(c, k)[q];
            let mut mean = vec![0.0; weights.len()];
            for c in 1..item.curves.categories() {
                for (q, w) in weights.iter().enumerate() {
                    out[(layout.single(j, c), r)] += w * slope(c, q);
                    mean[q] += w * c as f64 * slope(c, q);
                }
            }
            for (l, other) in at.iter().enumerate().filter(|(l, _)| *l != j) {
                out[(layout.pair(j, l), r)] = mean.iter().zip(&other.mean).map(|(x, y)| x * y).sum();
            }
        }
    }
    out
}

/// P(χ² ≤ x) of a noncentral χ²: a Poisson mixture of central ones.
fn noncentral_below(x: f64, df: f64, noncentrality: f64) -> f64 {
    let half = 0.5 * noncentrality;
    let reach = 10.0 * half.sqrt() + 20.0;
    let (first, last) = ((half - reach).max(0.0).floor() as u64, (half + reach).ceil() as u64);
    (first..=last)
        .map(|k| {
            let k = k as f64;
            let log_share = if half > 0.0 {
                k * half.ln() - half - statrs::function::gamma::ln_gamma(k + 1.0)
            } else if k == 0.0 {
                0.0
            } else {
                f64::NEG_INFINITY
            };
            log_share.exp() * (1.0 - chi_squared_above(x, df + 2.0 * k))
        })
        .sum()
}

/// The noncentrality at which a χ² stays below `x` with this probability; 0 where it does so less often without any.
fn noncentrality(x: f64, df: f64, share: f64) -> f64 {
    if noncentral_below(x, df, 0.0) < share {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, x.max(1.0));
    while noncentral_below(x, df, high) > share {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if noncentral_below(x, df, middle) > share { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
