//! Complete rows, counted apart wherever the model expects different scores.
//!
//! A row that lacks an answer counts for nothing, and sites differ in how many of theirs do. What is expected of a sum
//! is Σ_c ρ_c N_c E_c[ψ] over cells c of students who are alike to the model (one site, one booklet); with one ρ for all
//! of them it is wrong wherever E_c[ψ] is not zero, which it is far from the truth. So each cell has its own ρ_c and its
//! own count, one more coordinate of the sum.
//!
//! Counts cost no noise. A complete row adds 1 to one of them and 0 to the others, so that they add 1 to the square of
//! its length whatever their number; clipping norm and noise depend on that length alone.

use super::plan::MissingAnswers;
use crate::exchange::Effects;
use nalgebra::DMatrix;

/// Prior mean and SD of a share of complete rows.
const COMPLETE: (f64, f64) = (0.95, 0.5);
/// SD of the part of it that cells do not have in common.
const APART: f64 = 0.25;
/// Most cells that are counted one by one; beyond, the booklets of a site are counted together.
const MOST: usize = 200;

/// Which counts there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    sites: usize,
    booklets: usize,
}

impl Counts {
    /// Of a plan or a question. Without effects sites are alike to the model, and booklets alone are counted.
    pub(super) fn new(missing: MissingAnswers, effects: Effects, sites: usize, booklets: usize) -> Self {
        let sites = match (missing, effects) {
            (MissingAnswers::Wrong, _) => 0,
            (MissingAnswers::Counted, Effects::None) => 1,
            (MissingAnswers::Counted, _) => sites,
        };
        Self { sites, booklets: if sites.saturating_mul(booklets) > MOST { 1 } else { booklets } }
    }

    /// How many.
    pub(super) fn len(self) -> usize {
        // Saturating: a request may name any number of sites, and is refused by its length.
        self.sites.saturating_mul(self.booklets)
    }

    /// Whether rows are counted at all.
    pub(super) fn any(self) -> bool {
        self.len() > 0
    }

    /// The count of a complete row.
    pub(super) fn of(self, site: usize, booklet: usize) -> usize {
        let site = if self.sites > 1 { site } else { 0 };
        site * self.booklets + if self.booklets > 1 { booklet } else { 0 }
    }

    /// Prior means and precisions of (θ, ρ), from those of θ: ρ_c = 0.95 + e + e_c with SDs √(0.5² − 0.25²) and 0.25, so
    /// that a cell with few students leans on the others. The covariance s²11ᵀ + t²I of G shares has the inverse
    /// (I − 11ᵀ s²/(t² + G s²))/t² (Sherman & Morrison 1950).
    pub(super) fn prior(self, mut mean: Vec<f64>, precision: &[f64]) -> (Vec<f64>, DMatrix<f64>) {
        let (d, g) = (precision.len(), self.len());
        mean.resize(d + g, COMPLETE.0);
        let mut out = DMatrix::zeros(d + g, d + g);
        precision.iter().enumerate().for_each(|(r, p)| out[(r, r)] = *p);
        let own = APART.powi(2);
        let common = COMPLETE.1.powi(2) - own;
        let between = -common / (own * (own + g as f64 * common));
        out.view_mut((d, d), (g, g)).fill(between);
        (d..d + g).for_each(|r| out[(r, r)] += 1.0 / own);
        (mean, out)
    }
}

/// How large a part of the rows is complete, in all and by site: estimates with their standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Complete {
    /// In all.
    pub share: (f64, f64),
    /// At each site; empty where sites are not told apart.
    pub by_site: Vec<(f64, f64)>,
}

impl Counts {
    /// From shares ρ and their covariance; `students` are those of each count.
    pub(super) fn complete(
        self,
        rho: &[f64],
        covariance: &DMatrix<f64>,
        students: &[f64],
    ) -> Option<Complete> {
        let mean = |part: std::ops::Range<usize>| {
            let total: f64 = students[part.clone()].iter().sum();
            let weight = |c: usize| students[c] / total.max(1.0);
            let mut variance = 0.0;
            for a in part.clone() {
                part.clone().for_each(|b| variance += weight(a) * weight(b) * covariance[(a, b)]);
            }
            (part.map(|c| weight(c) * rho[c]).sum::<f64>(), variance.max(0.0).sqrt())
        };
        let site = |k: usize| mean(k * self.booklets..(k + 1) * self.booklets);
        self.any().then(|| Complete {
            share: mean(0..self.len()),
            by_site: if self.sites > 1 { (0..self.sites).map(site).collect() } else { Vec::new() },
        })
    }
}
