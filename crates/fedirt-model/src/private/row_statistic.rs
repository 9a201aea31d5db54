//! What becomes of a student's score before it is summed.
//!
//! Both statistics are functions of the row and of the question alone, and no longer than a bound. What is broadcast
//! here is not trusted: whatever these numbers are, the site's clipper cuts each row to length C afterwards.

use super::coordinates::Coordinates;
use super::plan::Prior;
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// Which statistic of the rows is summed in both rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrivateMechanism {
    /// Scores whitened by the model's information, and cut to length C.
    Score2,
    /// The bounded function of a score that leaves the smallest error of a, b and s, to first order.
    #[default]
    Optimal,
}

impl PrivateMechanism {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::Optimal, Self::Score2];

    /// The name in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Score2 => "score2",
            Self::Optimal => "optimal",
        }
    }

    /// What it is, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Score2 => "two rounds of whitened, clipped score sums",
            Self::Optimal => {
                "two rounds of sums of bounded scores, chosen for the smallest error of items and site effects"
            }
        }
    }
}

/// What is summed, and what is believed about difficulties before any data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrivateMethod {
    /// What is summed.
    pub mechanism: PrivateMechanism,
    /// SD of difficulties before any data.
    pub difficulty_sd: f64,
}

impl Default for PrivateMethod {
    fn default() -> Self {
        Self { mechanism: PrivateMechanism::default(), difficulty_sd: Prior::default().difficulty_sd }
    }
}

impl PrivateMethod {
    /// What plans meant that were written before they said it.
    pub fn of_first_plans() -> Self {
        Self { mechanism: PrivateMechanism::Score2, difficulty_sd: 1.0 }
    }
}

/// The statistic of a round: a function of the score g of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RowStatistic {
    /// W g, to be cut to length C: W = L⁻¹ of the model's information L Lᵀ per student, lower triangle row by row.
    Whitened(Vec<f64>),
    /// ψ = (A g + c_k)/(h + λ) coordinate by coordinate, with the smallest λ ≥ 0 for which ψ is no longer than the bound.
    Optimal {
        /// A, row by row.
        scores: Vec<f64>,
        /// h ≥ 0.
        curvature: Vec<f64>,
        /// c_k, one vector for each site; without site effects, one for all.
        centres: Vec<Vec<f64>>,
    },
}

impl RowStatistic {
    /// Whether the parts have the lengths that d coordinates and these sites need. No value is refused.
    pub(super) fn fits(&self, coordinates: &Coordinates) -> bool {
        let (d, sites) = (coordinates.len(), coordinates.groups());
        match self {
            Self::Whitened(w) => w.len() == crate::exchange::triangle(d),
            Self::Optimal { scores, curvature, centres } => {
                scores.len() == d.saturating_mul(d)
                    && curvature.len() == d
                    && centres.len() == sites
                    && centres.iter().all(|c| c.len() == d)
            }
        }
    }

    /// All numbers, to be changed: what a hostile coordinator may do.
    pub fn numbers(&mut self) -> Box<dyn Iterator<Item = &mut f64> + '_> {
        match self {
            Self::Whitened(w) => Box::new(w.iter_mut()),
            Self::Optimal { scores, curvature, centres } => {
                Box::new(scores.iter_mut().chain(curvature).chain(centres.iter_mut().flatten()))
            }
        }
    }

    /// The scores themselves, neither whitened nor bounded, of so many coordinates.
    pub fn scores(coordinates: usize) -> Self {
        let row = |r: usize| (0..=r).map(move |c| f64::from(u8::from(c == r)));
        Self::Whitened((0..coordinates).flat_map(row).collect())
    }

    /// Multiplies what is made of a score: what a hostile coordinator does to make every row as long as it may be.
    pub fn amplify(&mut self, factor: f64) {
        match self {
            Self::Whitened(w) => w.iter_mut().for_each(|w| *w *= factor),
            Self::Optimal { scores, centres, .. } => {
                scores.iter_mut().chain(centres.iter_mut().flatten()).for_each(|x| *x *= factor);
            }
        }
    }

    /// Which mechanism asks this.
    pub fn mechanism(&self) -> PrivateMechanism {
        match self {
            Self::Whitened(_) => PrivateMechanism::Score2,
            Self::Optimal { .. } => PrivateMechanism::Optimal,
        }
    }

    /// The statistic of a site's rows. An optimal one is no longer than `bound`.
    pub(super) fn at_site(&self, coordinates: &Coordinates, site: usize, bound: f64) -> SiteStatistic<'_> {
        match self {
            Self::Whitened(whitening) => SiteStatistic::Whitened {
                whitening,
                map: coordinates.compact(site),
                score: vec![0.0; coordinates.len()],
            },
            Self::Optimal { scores, curvature, centres } => SiteStatistic::Optimal(BoundedScore::new(
                coordinates,
                site,
                (scores, curvature, centres),
                bound,
            )),
        }
    }
}

/// The length that is left for the statistic of a row of which one coordinate says 1 if it is complete: R, with
/// R² + 1 = C². Without such counts, C.
pub(super) fn bound(clip: f64, counted: bool) -> f64 {
    if counted { (clip * clip - 1.0).sqrt() } else { clip }
}

/// A statistic at one site: from compact scores.
pub(super) enum SiteStatistic<'a> {
    /// Scores as they are to be whitened.
    Whitened {
        /// W.
        whitening: &'a [f64],
        /// Where each coordinate's score comes from.
        map: Vec<(usize, f64)>,
        /// Scratch: the score in all coordinates.
        score: Vec<f64>,
    },
    /// Bounded scores.
    Optimal(BoundedScore),
}

impl SiteStatistic<'_> {
    /// Of one compact score.
    pub(super) fn of(&mut self, u: &[f64], out: &mut [f64]) {
        match self {
            Self::Whitened { whitening, map, score } => {
                score.iter_mut().zip(map).for_each(|(g, (from, factor))| *g = u[*from] * *factor);
                let mut at = 0;
                for (r, out) in out.iter_mut().enumerate() {
                    *out = whitening[at..=at + r].iter().zip(&*score).map(|(w, g)| w * g).sum();
                    at += r + 1;
                }
            }
            Self::Optimal(bounded) => bounded.of(u, out),
        }
    }
}

/// The optimal statistic at one site, for compact scores.
#[derive(Debug, Clone)]
pub(super) struct BoundedScore {
    /// A E: coordinates × compact scores.
    scores: DMatrix<f64>,
    centre: DVector<f64>,
    curvature: Vec<f64>,
    bound: f64,
}

/// Most Newton steps for λ. They converge quadratically; hostile numbers must end, too.
const STEPS: usize = 60;
/// Relative excess over the bound at which they stop. What is left is cut off.
const CLOSE: f64 = 1e-10;

impl BoundedScore {
    /// Of A (row by row), h and all c; ψ is no longer than `bound`.
    pub(super) fn new(
        coordinates: &Coordinates,
        site: usize,
        (scores, curvature, centres): (&[f64], &[f64], &[Vec<f64>]),
        bound: f64,
    ) -> Self {
        let d = coordinates.len();
        let mut compact = DMatrix::zeros(d, coordinates.compact_len());
        for (column, (at, factor)) in coordinates.compact(site).iter().enumerate() {
            for row in 0..d {
                compact[(row, *at)] += scores[row * d + column] * factor;
            }
        }
        let centre = DVector::from_column_slice(&centres[coordinates.group(site)]);
        Self { scores: compact, centre, curvature: curvature.to_vec(), bound }
    }

    /// ψ of one compact score.
    pub(super) fn of(&self, u: &[f64], psi: &mut [f64]) {
        for (r, (psi, centre)) in psi.iter_mut().zip(self.centre.iter()).enumerate() {
            *psi = centre + self.scores.row(r).iter().zip(u).map(|(a, u)| a * u).sum::<f64>();
        }
        shrink(psi, &self.curvature, self.bound);
    }

    /// ψ of many compact scores, one column each.
    pub(super) fn of_all(&self, u: &DMatrix<f64>) -> DMatrix<f64> {
        let mut psi = &self.scores * u;
        for mut column in psi.column_iter_mut() {
            column += &self.centre;
            shrink(column.as_mut_slice(), &self.curvature, self.bound);
        }
        psi
    }
}

/// r ↦ r/(h + λ) with the smallest λ ≥ 0 for which the result is no longer than the bound.
///
/// 1/‖r/(h + λ)‖ is concave in λ, so Newton steps for 1/‖ψ‖ = 1/bound from the left never go beyond the root (Moré &
/// Sorensen 1983). ‖ψ‖ ≥ ‖r‖/(max h + λ) gives a start on that side.
fn shrink(r: &mut [f64], h: &[f64], bound: f64) {
    let most = h.iter().copied().fold(0.0, f64::max);
    let size = r.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut lambda = (size / bound - most).max(0.0);
    let mut norm = 0.0;
    for _ in 0..STEPS {
        let (mut square, mut falls) = (0.0, 0.0);
        for (r, h) in r.iter().zip(h) {
            let x = r / (h + lambda);
            square += x * x;
            falls += x * x / (h + lambda);
        }
        norm = square.sqrt();
        // Also where it is not a number: the clipper makes such a row 0.
        if norm.is_nan() || norm <= bound * (1.0 + CLOSE) {
            break;
        }
        lambda += (norm / bound - 1.0) * square / falls;
    }
    let cut = if norm > bound { bound / norm } else { 1.0 };
    r.iter_mut().zip(h).for_each(|(r, h)| *r *= cut / (h + lambda));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root by bisection.
    fn by_bisection(r: &[f64], h: &[f64], bound: f64) -> Vec<f64> {
        let at = |lambda: f64| -> Vec<f64> { r.iter().zip(h).map(|(r, h)| r / (h + lambda)).collect() };
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm(&at(0.0)) <= bound {
            return at(0.0);
        }
        let (mut low, mut high) = (0.0, norm(r) / bound);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if norm(&at(middle)) > bound { low = middle } else { high = middle }
        }
        at(high)
    }

    #[test]
    fn the_multiplier_is_the_root() {
        for (scale, bound) in [(1e-6, 1.0), (0.3, 1.0), (1.0, 2.0), (50.0, 0.1), (1e9, 3.0)] {
            let r: Vec<f64> = (0..7).map(|i| scale * f64::from(i * i % 5 - 2)).collect();
            let h: Vec<f64> = (0..7).map(|i| 10f64.powi(-2 * i)).collect();
            let want = by_bisection(&r, &h, bound);
            let mut got = r.clone();
            shrink(&mut got, &h, bound);
            for (x, y) in got.iter().zip(&want) {
                assert!((x - y).abs() < 1e-8 * bound, "{scale} {bound}: {got:?} {want:?}");
            }
        }
    }

    #[test]
    fn hostile_numbers_end_and_stay_within_the_bound() {
        let odd = [0.0, -1.0, 1e-300, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for a in odd {
            for b in odd {
                for bound in [1e-3, 1.0, 1e9] {
                    let mut r = vec![a, 1.0, b];
                    shrink(&mut r, &[b, 1.0, a], bound);
                    let norm = r.iter().map(|x| x * x).sum::<f64>().sqrt();
                    // Whatever is not a number or too long after all is the clipper's affair.
                    assert!(
                        norm.is_nan() || norm <= bound * (1.0 + 1e-9) || a < 0.0 || b < 0.0,
                        "{a} {b}: {r:?}"
                    );
                }
            }
        }
    }
}
