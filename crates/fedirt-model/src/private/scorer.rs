//! Compact scores of rows at given parameters: the gradient of one row's marginal log-likelihood.
//!
//! g_r = Σ_n P_i(n) ∂ log p(x_ij | t_n)/∂θ_r with t_n = √(1 + site_sd²)·V_n + s_k (Bock & Aitkin 1981). The chain
//! rule from (a, d) to (log a, b) is in the tables: at fixed b, ∂/∂log a = a ∂/∂a + Σ_r d_r ∂/∂d_r. Shifting
//! all difficulties up is shifting ability down, so ∂/∂s = −Σ_j Σ_h ∂/∂b_jh for every model.
//!
//! With shares π of constant rows, Q = (1 − π₀ − π₁)P + π₀ 1[all lowest] + π₁ 1[all highest]:
//! ∂ log Q/∂θ = (1 − π₀ − π₁)(P/Q) g and ∂ log Q/∂π_c = (1[row is constant c] − P)/Q.

use super::coordinates::Coordinates;
use crate::items::{Curves, Order};
use crate::kernel::lanes::{self, PADDING};
use crate::kernel::{LANES, padded};
use crate::quadrature::Grid;
use crate::responses::MISSING;
use multiversion::multiversion;

/// Rows whose posteriors are computed together.
const BLOCK: usize = 64;

/// Where an item's part of the tables begins, and where its scores go.
struct ItemPosition {
    /// Row of `log_p` of the lowest category.
    log_p: usize,
    /// Row of `gradient` of the lowest category and first coordinate.
    gradient: usize,
    /// First coordinate.
    first: usize,
    /// First difficulty.
    difficulties: usize,
    /// One past the last coordinate.
    end: usize,
}

/// Tables of all items at the parameters and the ability of one site.
pub(super) struct Scorer<'a> {
    coordinates: &'a Coordinates,
    width: usize,
    nodes: usize,
    log_prior: Vec<f64>,
    log_p: Vec<f64>,
    gradient: Vec<f64>,
    places: Vec<ItemPosition>,
    shares: Option<[f64; 2]>,
}

impl<'a> Scorer<'a> {
    /// Tables at θ for one site. `spread` is the SD of ability.
    pub(super) fn new(
        coordinates: &'a Coordinates,
        theta: &[f64],
        site: usize,
        spread: f64,
        grid: &Grid,
    ) -> Self {
        let s = if coordinates.contrasts() > 0 { coordinates.effect(theta, site) } else { 0.0 };
        Self::at_effect(coordinates, theta, s, spread, grid)
    }

    /// Tables at θ for a site whose effect is known; contrasts in θ are not looked at.
    pub(super) fn at_effect(
        coordinates: &'a Coordinates,
        theta: &[f64],
        s: f64,
        spread: f64,
        grid: &Grid,
    ) -> Self {
        let design = coordinates.design();
        let (q, width) = (grid.len(), padded(grid.len()));
        let t: Vec<f64> = grid.nodes().iter().map(|v| spread * v + s).collect();
        let mut log_prior = grid.log_weights().to_vec();
        log_prior.resize(width, PADDING);
        let psi = coordinates.psi(theta);
        let (mut log_p, mut gradient) = (vec![0.0; design.cells() * width], Vec::new());
        let mut places = Vec::with_capacity(design.len());
        for j in 0..design.len() {
            let own = &psi[design.span(j)];
            let (a, d) = (own[0], &own[1..]);
            let curves = Curves::new(design.model(j), design.categories(j), own, &t, Order::Score);
            let by_step = coordinates.intercept_slopes(j, a);
            let (span, difficulties) = (coordinates.span(j), coordinates.difficulties(j));
            places.push(ItemPosition {
                log_p: design.cell_offset(j),
                gradient: gradient.len() / width,
                first: span.start,
                difficulties: difficulties.start,
                end: span.end,
            });
            for c in 0..design.categories(j) {
                let at = (design.cell_offset(j) + c) * width;
                log_p[at..at + q].copy_from_slice(curves.log_p(c));
                for r in span.clone() {
                    let start = gradient.len();
                    gradient.resize(start + width, 0.0);
                    let row = &mut gradient[start..start + q];
                    if r < difficulties.start {
                        lanes::axpy(a, curves.score(c, 0), row);
                        d.iter().enumerate().for_each(|(i, d)| lanes::axpy(*d, curves.score(c, i + 1), row));
                    } else {
                        let h = r - difficulties.start;
                        for (i, slopes) in by_step.iter().enumerate() {
                            lanes::axpy(slopes[h], curves.score(c, i + 1), row);
                        }
                    }
                }
            }
        }
        let shares = coordinates.shares(theta);
        Self { coordinates, width, nodes: q, log_prior, log_p, gradient, places, shares }
    }

    /// Number of numbers per row.
    pub(super) fn len(&self) -> usize {
        self.coordinates.compact_len()
    }

    /// Scores rows of categories ([`MISSING`] where an item was not given), one after the other; `stride` numbers
    /// apart, the first [`Self::len`] of them are written. Also writes log P (without the shares).
    pub(super) fn score(&self, rows: &[u8], stride: usize, out: &mut [f64], log_marginal: &mut [f64]) {
        let items = self.places.len();
        let mut posterior = vec![0.0; BLOCK * self.width];
        let blocks = rows.chunks(BLOCK * items).zip(out.chunks_mut(BLOCK * stride));
        for ((rows, out), log_marginal) in blocks.zip(log_marginal.chunks_mut(BLOCK)) {
            let posterior = &mut posterior[..log_marginal.len() * self.width];
            for row in posterior.chunks_exact_mut(self.width) {
                row.copy_from_slice(&self.log_prior);
            }
            add_log_p(posterior, self.width, rows, &self.places, &self.log_p);
            lanes::normalise(posterior, self.width, log_marginal);
            let effect = (self.coordinates.contrasts() > 0).then(|| self.coordinates.items());
            expect(posterior, self.width, rows, &self.places, &self.gradient, effect, stride, out);
            if let Some(shares) = self.shares {
                let each = rows.chunks_exact(items).zip(out.chunks_exact_mut(stride)).zip(log_marginal);
                each.for_each(|((row, g), log_p)| self.mix(shares, row, *log_p, g));
            }
        }
    }

    /// The score of the mixture from that of the model.
    fn mix(&self, [low, high]: [f64; 2], row: &[u8], log_p: f64, g: &mut [f64]) {
        let (p, [lowest, highest]) = (log_p.exp(), self.constant(row));
        let q = mixed([low, high], p, [lowest, highest]);
        let at = self.len() - 2;
        g[..at].iter_mut().for_each(|g| *g *= (1.0 - low - high) * p / q);
        g[at] = (lowest - p) / q;
        g[at + 1] = (highest - p) / q;
    }

    /// Whether a row is all lowest and all highest, as numbers.
    fn constant(&self, row: &[u8]) -> [f64; 2] {
        let design = self.coordinates.design();
        let all = |top: bool| {
            let answer = |(j, c): (usize, &u8)| {
                *c == MISSING || usize::from(*c) == if top { design.categories(j) - 1 } else { 0 }
            };
            f64::from(u8::from(row.iter().enumerate().all(answer)))
        };
        [all(false), all(true)]
    }

    /// Q of a row, from its log P.
    pub(super) fn probability(&self, row: &[u8], log_p: f64) -> f64 {
        match self.shares {
            None => log_p.exp(),
            Some(shares) => mixed(shares, log_p.exp(), self.constant(row)),
        }
    }

    /// Probabilities of the nodes, and cumulative probabilities of categories: entry
    /// (`cell_offset(j)` + c)·nodes + n is P(x_j ≤ c) at node n.
    pub(super) fn cumulative(&self) -> (Vec<f64>, Vec<f64>) {
        let design = self.coordinates.design();
        let nodes = self.log_prior[..self.nodes].iter().map(|w| w.exp()).collect();
        let mut out = vec![0.0; design.cells() * self.nodes];
        for j in 0..design.len() {
            for c in 0..design.categories(j) {
                for n in 0..self.nodes {
                    let at = (design.cell_offset(j) + c) * self.nodes + n;
                    let below = if c == 0 { 0.0 } else { out[at - self.nodes] };
                    out[at] = below + self.log_p[(design.cell_offset(j) + c) * self.width + n].exp();
                }
            }
        }
        (nodes, out)
    }
}

fn mixed([low, high]: [f64; 2], p: f64, [lowest, highest]: [f64; 2]) -> f64 {
    (1.0 - low - high) * p + low * lowest + high * highest
}

/// posterior[i] += Σ_j log p of row i's answers.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn add_log_p(posterior: &mut [f64], width: usize, rows: &[u8], places: &[ItemPosition], log_p: &[f64]) {
    for (posterior, row) in posterior.chunks_exact_mut(width).zip(rows.chunks_exact(places.len())) {
        for (place, &c) in places.iter().zip(row) {
            if c != MISSING {
                let add = &log_p[(place.log_p + usize::from(c)) * width..][..width];
                posterior.iter_mut().zip(add).for_each(|(x, a)| *x += a);
            }
        }
    }
}

/// Expected scores of items under each row's posterior, and their sum for the site's effect.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
#[expect(clippy::too_many_arguments, reason = "a kernel: slices and strides")]
fn expect(
    posterior: &[f64],
    width: usize,
    rows: &[u8],
    places: &[ItemPosition],
    gradient: &[f64],
    effect: Option<usize>,
    stride: usize,
    out: &mut [f64],
) {
    let each = posterior.chunks_exact(width).zip(rows.chunks_exact(places.len()));
    for ((posterior, row), g) in each.zip(out.chunks_exact_mut(stride)) {
        let mut shift = 0.0;
        for (place, &c) in places.iter().zip(row) {
            if c == MISSING {
                g[place.first..place.end].fill(0.0);
                continue;
            }
            let size = place.end - place.first;
            let tables = &gradient[(place.gradient + usize::from(c) * size) * width..][..size * width];
            for (r, table) in (place.first..place.end).zip(tables.chunks_exact(width)) {
                let mut sum = [0.0; LANES];
                for (p, t) in posterior.as_chunks::<LANES>().0.iter().zip(table.as_chunks::<LANES>().0) {
                    for l in 0..LANES {
                        sum[l] += p[l] * t[l];
                    }
                }
                let sum: f64 = sum.iter().sum();
                g[r] = sum;
                if r >= place.difficulties {
                    shift -= sum;
                }
            }
        }
        if let Some(at) = effect {
            g[at] = shift;
        }
    }
}
