//! Mantel–Haenszel statistics of one item between a reference and a focal group, stratum by stratum of the sum score.

use super::tables::Stratum;
use crate::diagnostics::pair_tables::chi_squared_above;
use nalgebra::{DMatrix, DVector};

/// The common odds ratio of an item with two categories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OddsRatio {
    /// Σ A D/T over Σ B C/T: above 1 where the item is easier for the reference group (Mantel & Haenszel 1959).
    pub alpha: f64,
    /// Standard error of its logarithm (Robins, Breslow & Greenland 1986).
    pub se_log: f64,
    /// χ² with continuity correction.
    pub chi2_cc: f64,
}

/// The odds ratio; none where it is 0, infinite or undefined.
pub(super) fn odds_ratio(strata: &[Stratum]) -> Option<OddsRatio> {
    let (mut r, mut s) = (0.0, 0.0);
    let (mut pr, mut mixed, mut qs) = (0.0, 0.0, 0.0);
    for stratum in strata {
        let ([b, a], [d, c]) = (two(&stratum.reference)?, two(&stratum.focal)?);
        let t = stratum.n();
        let (p, q) = ((a + d) / t, (b + c) / t);
        let (ad, bc) = (a * d / t, b * c / t);
        (r, s) = (r + ad, s + bc);
        (pr, mixed, qs) = (pr + p * ad, mixed + p * bc + q * ad, qs + q * bc);
    }
    let variance = pr / (2.0 * r * r) + mixed / (2.0 * r * s) + qs / (2.0 * s * s);
    let (difference, v) = difference(strata);
    // A correction beyond the difference itself would turn its sign.
    let corrected = (difference.abs() - 0.5).max(0.0);
    let found = OddsRatio { alpha: r / s, se_log: variance.sqrt(), chi2_cc: corrected * corrected / v };
    [found.alpha.ln(), found.se_log, found.chi2_cc].iter().all(|x| x.is_finite()).then_some(found)
}

fn two(answers: &[f64]) -> Option<[f64; 2]> {
    answers.try_into().ok()
}

/// Σ F − E(F), the focal group's sum of item scores less what it would be without DIF, and its variance (Mantel 1963).
fn difference(strata: &[Stratum]) -> (f64, f64) {
    let (mut difference, mut variance) = (0.0, 0.0);
    for stratum in strata {
        let (n, n_f) = (stratum.n(), stratum.n_focal());
        let moment = |power: i32| -> f64 {
            let both = stratum.reference.iter().zip(&stratum.focal);
            both.enumerate().map(|(c, (r, f))| (c as f64).powi(power) * (r + f)).sum()
        };
        let observed: f64 = stratum.focal.iter().enumerate().map(|(c, f)| c as f64 * f).sum();
        difference += observed - n_f * moment(1) / n;
        variance += n_f * (n - n_f) / (n * n * (n - 1.0)) * (n * moment(2) - moment(1).powi(2));
    }
    (difference, variance)
}

/// Mantel's test: z, positive where the focal group scores higher than its match; its square is χ² with one degree of
/// freedom, and for two categories Mantel & Haenszel's χ² without correction.
pub(super) fn mantel(strata: &[Stratum]) -> Option<f64> {
    let (difference, variance) = difference(strata);
    let z = difference / variance.sqrt();
    z.is_finite().then_some(z)
}

/// The generalised test of Mantel & Haenszel for nominal categories (Somes 1986): χ², degrees of freedom, p.
pub(super) fn generalised(strata: &[Stratum]) -> Option<(f64, f64, f64)> {
    let steps = strata.first()?.focal.len() - 1;
    let (mut d, mut v) = (DVector::zeros(steps), DMatrix::<f64>::zeros(steps, steps));
    for stratum in strata {
        let (n, n_f) = (stratum.n(), stratum.n_focal());
        let all: Vec<f64> = stratum.reference.iter().zip(&stratum.focal).map(|(r, f)| r + f).collect();
        let factor = n_f * (n - n_f) / (n * n * (n - 1.0));
        for c in 0..steps {
            d[c] += stratum.focal[c] - n_f * all[c] / n;
            for h in 0..steps {
                v[(c, h)] += factor * (if c == h { n * all[c] } else { 0.0 } - all[c] * all[h]);
            }
        }
    }
    let statistic = d.dot(&v.cholesky()?.solve(&d));
    let df = steps as f64;
    statistic.is_finite().then(|| (statistic, df, chi_squared_above(statistic, df)))
}

/// The standardised mean difference (Dorans & Schmitt 1991): the focal group's mean item score less that of its match, and
/// the same over the SD of the item within groups.
pub(super) fn mean_difference(strata: &[Stratum]) -> Option<(f64, f64)> {
    let (mut reference, mut focal) = (Moments::default(), Moments::default());
    let (mut sum, mut n_focal) = (0.0, 0.0);
    for stratum in strata {
        let (own, other) = (Moments::of(&stratum.focal), Moments::of(&stratum.reference));
        if own.n > 0.0 && other.n > 0.0 {
            sum += own.n * (own.sum / own.n - other.sum / other.n);
            n_focal += own.n;
        }
        focal.add(&own);
        reference.add(&other);
    }
    let spread = reference.spread() + focal.spread();
    let sd = (spread / (reference.n + focal.n - 2.0)).sqrt();
    let smd = sum / n_focal;
    (smd / sd).is_finite().then_some((smd, smd / sd))
}

/// Students, Σ x and Σ x² of item scores x.
#[derive(Default)]
struct Moments {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn of(answers: &[f64]) -> Self {
        let mut out = Self::default();
        for (c, n) in answers.iter().enumerate() {
            let score = c as f64;
            out.add(&Self { n: *n, sum: n * score, squares: n * score * score });
        }
        out
    }

    fn add(&mut self, other: &Self) {
        self.n += other.n;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Σ (x − x̄)².
    fn spread(&self) -> f64 {
        self.squares - self.sum * self.sum / self.n
    }
}
