//! Σ_i Cov_i(score) for panels with few missing answers of models that are linear in their parameters (the divide-by-total
//! family, the nominal model), without a loop over students × parameters².
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
//!
//! A missing answer takes its f away: f_r becomes f_r − φ_ir, where φ_ir is f_r for the parameters of items that student i
//! left out, their part of f_s for the school effect s, and 0 elsewhere. Then
//!
//! Cov_i(f − φ, f' − φ') = Cov_i(f, f') − Cov_i(φ, f') − Cov_i(f, φ') + Cov_i(φ, φ'),
//!
//! so that what is missing costs Σ_n f'(n) A_r(n) with A_r(n) = Σ_i w_i P_i(n)(φ_ir(n) − E_i φ_ir), the few pairs
//! Cov_i(φ_ir, φ_ir') of each student, and α_ir' Cov_i(t, φ_ir).

use super::panel::{Missing, Panel};
use super::sweep::{BLOCK, Expected, LookUp, chunks, unfold_counts};
use crate::design::Design;
use crate::kernel::aligned::Aligned;
use crate::kernel::lanes;
use crate::responses::MISSING;
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
    missing: &Missing,
    psi: &[f64],
    weighted: bool,
) -> (Expected, DMatrix<f64>) {
    let slopes = slopes(look_up.panel, design);
    let functions = Functions::new(look_up, design, psi);
    let sums = sweep(look_up, &slopes, &functions, missing, weighted);
    let (panel, width) = (look_up.panel, look_up.tables.width);
    let size = panel.parameters() + look_up.prior.population_size() + 1;
    let f = DMatrix::from_row_slice(size, width, &functions.f);

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
    if let Some(removed) = sums.removed {
        let with_all = DMatrix::from_row_slice(size, width, &removed.deviations) * f.transpose();
        for r in 0..size {
            for c in 0..size {
                let pair = removed.pairs[r.max(c) * size + r.min(c)];
                covariance[(r, c)] += pair - with_all[(r, c)] - with_all[(c, r)];
            }
            for (j, slope) in slopes.iter().enumerate() {
                let product = removed.with_slopes[r * slopes.len() + j];
                covariance[(slope.at, r)] += product;
                covariance[(r, slope.at)] += product;
            }
        }
    }
    (sums.expected, covariance)
}

/// f_r(n), a padded row per panel parameter, then the population's, then the school effect's.
struct Functions {
    f: Vec<f64>,
    /// Each item's part of the school effect's row.
    of_effect: Vec<f64>,
}

impl Functions {
    fn new(look_up: &LookUp<'_>, design: &Design, psi: &[f64]) -> Self {
        let (panel, tables) = (look_up.panel, look_up.tables);
        let (width, first) = (tables.width, panel.parameters());
        let effect = first + look_up.prior.population_size();
        let mut f = vec![0.0; (effect + 1) * width];
        let mut of_effect = vec![0.0; panel.items.len() * width];
        for h in 0..look_up.prior.population_size() {
            lanes::axpy(-1.0, look_up.prior.population_score(h), &mut f[(first + h) * width..][..width]);
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
                        f[at * width + n] = tables.t[n] * mean;
                        of_effect[k * width + n] += psi[at] * mean;
                    } else {
                        f[at * width + n] = mean;
                    }
                }
            }
            lanes::axpy(1.0, &of_effect[k * width..(k + 1) * width], &mut f[effect * width..]);
        }
        Self { f, of_effect }
    }
}

struct Sums {
    expected: Expected,
    /// D_r(n), a row per slope.
    deviations: Vec<f64>,
    /// Σ_i w_i P_i P_iᵀ.
    outer: Aligned,
    /// w_i·v_i.
    variances: Vec<f64>,
    /// What missing answers take away; none where there are none.
    removed: Option<Removed>,
}

/// Sums over the functions φ_ir of missing answers. Rows are parameters: the panel's, the population's, the effect's.
struct Removed {
    /// A_r(n), a padded row per parameter.
    deviations: Vec<f64>,
    /// Σ_i w_i Cov_i(φ_ir, φ_ir'), the lower triangle of a square matrix.
    pairs: Vec<f64>,
    /// Σ_i w_i α_ij Cov_i(t, φ_ir), a row per parameter and a column per slope j.
    with_slopes: Vec<f64>,
}

impl Removed {
    fn zero(size: usize, slopes: usize, width: usize) -> Self {
        Self {
            deviations: vec![0.0; size * width],
            pairs: vec![0.0; size * size],
            with_slopes: vec![0.0; size * slopes],
        }
    }

    fn add(&mut self, other: &Self) {
        lanes::axpy(1.0, &other.deviations, &mut self.deviations);
        lanes::axpy(1.0, &other.pairs, &mut self.pairs);
        lanes::axpy(1.0, &other.with_slopes, &mut self.with_slopes);
    }
}

/// Room for one student's missing answers.
struct Student<'a> {
    look_up: &'a LookUp<'a>,
    functions: &'a Functions,
    /// The slopes, with their weights, that each cell of the panel counts in.
    by_cell: Vec<Vec<(usize, f64)>>,
    /// The parameters of the missing items in ascending order, and the effect.
    rows: Vec<usize>,
    /// φ_ir of the effect.
    of_effect: Vec<f64>,
    /// w P_i(n)(φ_ir(n) − E_i φ_ir), a padded row per entry of `rows`.
    deviations: Vec<f64>,
    /// α_ij of each slope.
    alpha: Vec<f64>,
}

impl<'a> Student<'a> {
    fn new(look_up: &'a LookUp<'a>, functions: &'a Functions, slopes: &[Slope]) -> Self {
        let mut by_cell = vec![Vec::new(); look_up.panel.cells()];
        for (j, slope) in slopes.iter().enumerate() {
            slope.weights.iter().for_each(|&(cell, weight)| by_cell[cell].push((j, weight)));
        }
        Self {
            look_up,
            functions,
            by_cell,
            rows: Vec::new(),
            of_effect: vec![0.0; look_up.tables.width],
            deviations: Vec::new(),
            alpha: vec![0.0; slopes.len()],
        }
    }

    /// Adds what a student's missing answers take away; `posterior` carries the student's weight.
    fn add(&mut self, student: usize, missing: &[u32], weight: f64, posterior: &[f64], out: &mut Removed) {
        let (panel, tables) = (self.look_up.panel, self.look_up.tables);
        let (width, effect) = (tables.width, panel.parameters() + self.look_up.prior.population_size());
        let f = |r: usize| &self.functions.f[r * width..(r + 1) * width];
        self.rows.clear();
        self.of_effect.fill(0.0);
        for &k in missing {
            let k = k as usize;
            self.rows.extend(panel.offsets[k]..panel.offsets[k + 1]);
            lanes::axpy(1.0, &self.functions.of_effect[k * width..(k + 1) * width], &mut self.of_effect);
        }
        self.rows.push(effect);
        self.alpha.fill(0.0);
        for (k, first) in panel.cell_offsets[..panel.items.len()].iter().enumerate() {
            let c = panel.column(k)[student];
            if c != MISSING {
                self.by_cell[first + usize::from(c)].iter().for_each(|&(j, w)| self.alpha[j] = w);
            }
        }
        self.deviations.resize(self.rows.len() * width, 0.0);
        for (a, &r) in self.rows.iter().enumerate() {
            let function = if r == effect { &self.of_effect } else { f(r) };
            let mean = lanes::dot(posterior, function) / weight;
            let (before, own) = self.deviations.split_at_mut(a * width);
            let own = &mut own[..width];
            own.iter_mut().zip(posterior).zip(function).for_each(|((o, p), f)| *o = p * (f - mean));
            lanes::axpy(1.0, own, &mut out.deviations[r * width..(r + 1) * width]);
            let size = effect + 1;
            for (b, &c) in self.rows[..a].iter().enumerate() {
                out.pairs[r * size + c] += lanes::dot(&before[b * width..(b + 1) * width], function);
            }
            out.pairs[r * size + r] += lanes::dot(own, function);
            let product = lanes::dot(own, &tables.t);
            let slopes = self.alpha.len();
            lanes::axpy(product, &self.alpha, &mut out.with_slopes[r * slopes..(r + 1) * slopes]);
        }
    }
}

fn sweep(
    look_up: &LookUp<'_>,
    slopes: &[Slope],
    functions: &Functions,
    missing: &Missing,
    weighted: bool,
) -> Sums {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let width = tables.width;
    let size = panel.parameters() + look_up.prior.population_size() + 1;
    let nothing_removed = || (!missing.is_empty()).then(|| Removed::zero(size, slopes.len(), width));
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
            let mut removed = nothing_removed();
            let mut student = Student::new(look_up, functions, slopes);
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
                if let Some(removed) = &mut removed {
                    for (i, row) in block.clone().zip(rows.chunks_exact(width)) {
                        let left_out = missing.of_student(i);
                        if !left_out.is_empty() {
                            student.add(i, left_out, panel.weights[i], row, removed);
                        }
                    }
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
            Sums { expected, deviations, outer, variances, removed }
        })
        .collect();
    let mut total = Sums {
        expected: Expected::zero(panel, width),
        deviations: vec![0.0; slopes.len() * width],
        outer: Aligned::zeros(width * width),
        variances: Vec::with_capacity(panel.students()),
        removed: nothing_removed(),
    };
    for part in parts {
        total.expected.add(&part.expected);
        lanes::axpy(1.0, &part.deviations, &mut total.deviations);
        lanes::axpy(1.0, &part.outer, &mut total.outer);
        total.variances.extend(part.variances);
        if let (Some(total), Some(part)) = (&mut total.removed, &part.removed) {
            total.add(part);
        }
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
