//! Residuals r = x − E(x | θ̂) of all answers at the EAP θ̂, summed by item and by pair of items.

use crate::items::{Curves, ItemModel, Order};
use crate::kernel::lanes;
use crate::population::Population;
use crate::responses::MISSING;
use crate::site::{BLOCK, LookUp, SiteData, Tables, chunks};
use nalgebra::DMatrix;
use rayon::prelude::*;
use std::ops::Range;

/// Variances of answers below √1e-5 are raised to it, as mirt does: extreme students would dominate outfit.
pub(crate) const FLOOR: f64 = 3.162_277_660_168_379_5e-3;

/// Zh below this is called unlikely.
const UNLIKELY: f64 = -2.0;

/// Numbers in [`ItemMoments`].
pub(crate) const ITEM_MOMENTS: usize = 6;

/// With the variance W and the fourth central moment C of an answer at θ̂, sums over the students who gave one: their
/// number, Σ r²/W, Σ r², Σ W, Σ C/W² and Σ (C − W²) (Wright & Masters 1982, ch. 5).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ItemMoments(pub [f64; ITEM_MOMENTS]);

impl ItemMoments {
    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(x, y)| *x += y);
    }
}

/// Sums over students, weighted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResidualSums {
    /// Σ θ̂, Σ θ̂², Σ Var(θ | answers).
    pub ability: [f64; 3],
    /// Students with Zh < −2.
    pub unlikely: f64,
    /// By item.
    pub moments: Vec<ItemMoments>,
    /// Students who answered both items. This and the matrices below are empty unless pairs are wanted.
    pub counts: DMatrix<f64>,
    /// Σ r_j over the students who answered j (row) and l (column).
    pub sums: DMatrix<f64>,
    /// Σ r_j² over the same students.
    pub squares: DMatrix<f64>,
    /// Σ r_j r_l.
    pub products: DMatrix<f64>,
}

impl ResidualSums {
    /// No students.
    pub(crate) fn none(items: usize, pairs: bool) -> Self {
        let zeros = || DMatrix::zeros(if pairs { items } else { 0 }, if pairs { items } else { 0 });
        Self {
            ability: [0.0; 3],
            unlikely: 0.0,
            moments: vec![ItemMoments::default(); items],
            counts: zeros(),
            sums: zeros(),
            squares: zeros(),
            products: zeros(),
        }
    }

    /// Adds the sums of a panel, whose k-th item is item `items[k]` here.
    fn add(&mut self, panel: &Self, items: &[usize]) {
        self.ability.iter_mut().zip(panel.ability).for_each(|(x, y)| *x += y);
        self.unlikely += panel.unlikely;
        for (k, &j) in items.iter().enumerate() {
            self.moments[j].add(&panel.moments[k]);
        }
        let into = [
            (&mut self.counts, &panel.counts),
            (&mut self.sums, &panel.sums),
            (&mut self.squares, &panel.squares),
            (&mut self.products, &panel.products),
        ];
        for (to, from) in into {
            for c in 0..from.ncols() {
                for r in 0..from.nrows() {
                    to[(items[r], items[c])] += from[(r, c)];
                }
            }
        }
    }
}

impl SiteData {
    /// Residuals of all students at school effect s, and of their pairs where wanted.
    pub(crate) fn residuals(
        &self,
        psi: &[f64],
        s: f64,
        population: &Population,
        pairs: bool,
    ) -> ResidualSums {
        let tables = Tables::new(&self.design, psi, s, population, Order::Probability);
        let mut total = ResidualSums::none(self.design.len(), pairs);
        for panel in &self.panels {
            let look_up = LookUp::new(&self.design, panel, &tables);
            let parts: Vec<ResidualSums> = chunks(panel.students())
                .into_par_iter()
                .map(|chunk| self.panel_residuals(psi, &look_up, chunk, pairs))
                .collect();
            parts.iter().for_each(|part| total.add(part, &panel.items));
        }
        total
    }

    fn panel_residuals(
        &self,
        psi: &[f64],
        look_up: &LookUp<'_>,
        chunk: Range<usize>,
        pairs: bool,
    ) -> ResidualSums {
        let (panel, tables) = (look_up.panel, look_up.tables);
        let complete = !panel.columns.contains(&MISSING);
        let mut out = ResidualSums::none(panel.items.len(), pairs);
        let (mut mean, mut variance) = (vec![0.0; BLOCK], vec![0.0; BLOCK]);
        look_up.posteriors(chunk, |block, rows, _| {
            let n = block.len();
            lanes::moments(rows, tables.width, &tables.t, &mut mean[..n], &mut variance[..n]);
            let abilities = &mean[..n];
            let weights = &panel.weights[block.clone()];
            let mut students = Block::new(abilities, weights, panel.items.len());
            for (k, &j) in panel.items.iter().enumerate() {
                let item = (self.design.model(j), &psi[self.design.span(j)], panel.categories[k]);
                students.item(k, item, &panel.column(k)[block.clone()], &mut out.moments[k]);
            }
            for ((t, w), variance) in abilities.iter().zip(weights).zip(&variance) {
                out.ability.iter_mut().zip([*t, t * t, *variance]).for_each(|(sum, x)| *sum += w * x);
            }
            out.unlikely += students.unlikely();
            if pairs {
                students.add_pairs(complete, &mut out);
            }
        });
        out
    }
}

/// Students who are looked at together.
struct Block<'a> {
    abilities: &'a [f64],
    weights: &'a [f64],
    /// Residuals, a row per student; zero where there is no answer.
    residuals: DMatrix<f64>,
    /// 1 where there is an answer.
    answered: DMatrix<f64>,
    /// Σ_j (log p_x − Σ_c p_c log p_c), by student.
    surprise: Vec<f64>,
    /// Σ_j Var(log p), by student.
    spread: Vec<f64>,
}

impl<'a> Block<'a> {
    fn new(abilities: &'a [f64], weights: &'a [f64], items: usize) -> Self {
        let n = abilities.len();
        let zeros = || DMatrix::zeros(n, items);
        let (residuals, answered) = (zeros(), zeros());
        Self { abilities, weights, residuals, answered, surprise: vec![0.0; n], spread: vec![0.0; n] }
    }

    /// Takes the answers to the k-th item: its model, parameters and number of categories.
    fn item(
        &mut self,
        k: usize,
        (model, psi, categories): (&dyn ItemModel, &[f64], usize),
        answers: &[u8],
        moments: &mut ItemMoments,
    ) {
        // At all abilities at once: one by one this takes several times as long.
        let curves = Curves::new(model, categories, psi, self.abilities, Order::Probability);
        let chances: Vec<Vec<f64>> =
            (0..categories).map(|c| curves.log_p(c).iter().map(|x| x.exp()).collect()).collect();
        for (i, &answer) in answers.iter().enumerate() {
            if answer == MISSING {
                continue;
            }
            let (mut mean, mut entropy) = (0.0, 0.0);
            for (c, p) in chances.iter().enumerate() {
                mean += c as f64 * p[i];
                entropy += curves.log_p(c)[i] * p[i];
            }
            let (mut variance, mut fourth, mut spread) = (0.0, 0.0, 0.0);
            for (c, p) in chances.iter().enumerate() {
                let (log_p, p, square) = (curves.log_p(c)[i], p[i], (c as f64 - mean).powi(2));
                variance += p * square;
                fourth += p * square * square;
                spread += p * (log_p - entropy).powi(2);
            }
            let residual = f64::from(answer) - mean;
            let (w, floored) = (self.weights[i], variance.max(FLOOR));
            let sums = [
                1.0,
                residual * residual / floored,
                residual * residual,
                floored,
                fourth / (floored * floored),
                fourth - floored * floored,
            ];
            moments.add(&ItemMoments(sums.map(|x| w * x)));
            self.residuals[(i, k)] = residual;
            self.answered[(i, k)] = 1.0;
            self.surprise[i] += curves.log_p(usize::from(answer))[i] - entropy;
            self.spread[i] += spread;
        }
    }

    /// Weighted students with Zh below −2 (Drasgow, Levine & Williams 1985).
    fn unlikely(&self) -> f64 {
        let students = self.surprise.iter().zip(&self.spread).zip(self.weights);
        students.filter(|((x, v), _)| **v > 0.0 && **x < UNLIKELY * v.sqrt()).map(|(_, w)| w).sum()
    }

    /// Adds the sums over pairs of items. Where nobody lacks an answer they follow from one product.
    fn add_pairs(&self, complete: bool, out: &mut ResidualSums) {
        let weigh = |matrix: &DMatrix<f64>| {
            DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, k| self.weights[i] * matrix[(i, k)])
        };
        let (residuals, transposed) = (weigh(&self.residuals), self.residuals.transpose());
        out.products.gemm(1.0, &transposed, &residuals, 1.0);
        if complete {
            let n: f64 = self.weights.iter().sum();
            out.counts.add_scalar_mut(n);
            for (k, (residuals, weighted)) in
                self.residuals.column_iter().zip(residuals.column_iter()).enumerate()
            {
                out.sums.row_mut(k).add_scalar_mut(weighted.sum());
                out.squares.row_mut(k).add_scalar_mut(residuals.dot(&weighted));
            }
        } else {
            let answered = weigh(&self.answered);
            out.counts.gemm(1.0, &self.answered.transpose(), &answered, 1.0);
            out.sums.gemm(1.0, &transposed, &answered, 1.0);
            out.squares.gemm(1.0, &transposed.component_mul(&transposed), &answered, 1.0);
        }
    }
}
