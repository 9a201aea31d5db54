//! Tetrachoric and polychoric correlations of two-way tables of answers.

use nalgebra::DMatrix;
use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2, TAU};

/// Correlations stay this far within ±1.
const LARGEST: f64 = 0.999;

/// Half of the nodes and weights of 20-point Gauss–Legendre quadrature on [−1, 1]; the others are mirrored.
const LEGENDRE: [(f64, f64); 10] = [
    (0.076_526_521_133_497_33, 0.152_753_387_130_725_85),
    (0.227_785_851_141_645_08, 0.149_172_986_472_603_75),
    (0.373_706_088_715_419_56, 0.142_096_109_318_382_05),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_63),
    (0.636_053_680_726_515, 0.118_194_531_961_518_42),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_44),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_75),
    (0.912_234_428_251_326, 0.062_672_048_334_109_06),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_118),
];

fn normal_below(x: f64) -> f64 {
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// P(X ≤ h, Y ≤ k) of standard normal X and Y with correlation r: Φ(h)Φ(k) + ∫₀^{asin r} exp(−(h² − 2hk sin θ + k²)/(2cos² θ)) dθ/2π
/// (Drezner & Wesolowsky 1990, equation 3).
fn both_below(h: f64, k: f64, r: f64) -> f64 {
    if h.is_infinite() || k.is_infinite() {
        // One of the two events is certain or impossible.
        return normal_below(h).min(normal_below(k));
    }
    let half = 0.5 * r.asin();
    let (square, product) = (h * h + k * k, 2.0 * h * k);
    let at = |x: f64| {
        let (sin, cos) = (half * (1.0 + x)).sin_cos();
        (-(square - product * sin) / (2.0 * cos * cos)).exp()
    };
    let sum: f64 = LEGENDRE.iter().map(|(x, w)| w * (at(*x) + at(-*x))).sum();
    normal_below(h) * normal_below(k) + half * sum / TAU
}

/// The density of the same at (h, k), which is the derivative of [`both_below`] in r.
fn density(h: f64, k: f64, r: f64) -> f64 {
    if h.is_infinite() || k.is_infinite() {
        return 0.0;
    }
    let rest = 1.0 - r * r;
    (-(h * h - 2.0 * h * k * r + k * k) / (2.0 * rest)).exp() / (TAU * rest.sqrt())
}

/// Where a standard normal is cut so that its parts have these shares: one threshold more than there are shares.
fn thresholds(counts: &[f64]) -> Vec<f64> {
    let total: f64 = counts.iter().sum();
    let mut below = 0.0;
    let mut out = vec![f64::NEG_INFINITY];
    for count in &counts[..counts.len() - 1] {
        below += count;
        out.push(-SQRT_2 * erfc_inv(2.0 * below / total));
    }
    out.push(f64::INFINITY);
    out
}

/// The correlation of two normal variables behind a two-way table, with thresholds from its margins: the two-step estimate of
/// Olsson (1979). An empty cell of a 2 × 2 table counts as half a student, with the same margins. `None` where a variable does
/// not vary.
pub(super) fn polychoric(table: &DMatrix<f64>) -> Option<f64> {
    let mut table = table.clone();
    if table.shape() == (2, 2)
        && let Some(empty) = (0..4).find(|&cell| table[cell] <= 0.0)
    {
        // In a 2 × 2 matrix, cells 0 and 3 stand across from each other, as do 1 and 2.
        for cell in 0..4 {
            table[cell] += if cell == empty || cell == 3 - empty { 0.5 } else { -0.5 };
        }
    }
    let margin = |sums: &[f64]| sums.iter().filter(|n| **n > 0.0).count();
    let rows: Vec<f64> = table.row_iter().map(|row| row.sum()).collect();
    let columns: Vec<f64> = table.column_iter().map(|column| column.sum()).collect();
    if margin(&rows) < 2 || margin(&columns) < 2 {
        return None;
    }
    let (h, k) = (thresholds(&rows), thresholds(&columns));
    let total = table.sum();
    let mut r = 0.0f64;
    for _ in 0..60 {
        let corner =
            |of: fn(f64, f64, f64) -> f64| DMatrix::from_fn(h.len(), k.len(), |a, b| of(h[a], k[b], r));
        let (below, slope) = (corner(both_below), corner(density));
        let cell = |m: &DMatrix<f64>, a: usize, b: usize| {
            m[(a + 1, b + 1)] - m[(a, b + 1)] - m[(a + 1, b)] + m[(a, b)]
        };
        let (mut score, mut information) = (0.0, 0.0);
        for a in 0..rows.len() {
            for b in 0..columns.len() {
                let (p, dp) = (cell(&below, a, b).max(1e-12), cell(&slope, a, b));
                score += table[(a, b)] * dp / p;
                information += total * dp * dp / p;
            }
        }
        let next = (r + (score / information).clamp(-0.4, 0.4)).clamp(-LARGEST, LARGEST);
        let moved = (next - r).abs();
        r = next;
        if moved < 1e-9 {
            break;
        }
    }
    Some(r).filter(|r| r.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of SciPy 1.16: its bivariate normal distribution, and the maximum of the likelihood that follows from it.
    #[test]
    fn distribution_and_correlation_are_those_of_another_program() {
        for (h, k, r, want) in [
            (0.3, -1.2, 0.6, 0.108_425_504_246_807_08),
            (1.5, 1.1, -0.4, 0.798_972_481_713_392_3),
            (-0.7, 0.2, 0.97, 0.241_960_902_844_059_47),
        ] {
            assert!((both_below(h, k, r) - want).abs() < 1e-9, "{h} {k} {r}");
            let slope = (both_below(h, k, r + 1e-5) - both_below(h, k, r - 1e-5)) / 2e-5;
            assert!((density(h, k, r) - slope).abs() < 1e-6);
        }
        let table = DMatrix::from_row_slice(3, 3, &[13.0, 69.0, 41.0, 6.0, 113.0, 132.0, 0.0, 22.0, 104.0]);
        assert!((polychoric(&table).unwrap() - 0.491_371_949).abs() < 1e-6);
    }

    #[test]
    fn what_does_not_vary_has_no_correlation_and_empty_cells_a_finite_one() {
        assert_eq!(polychoric(&DMatrix::from_row_slice(2, 2, &[0.0, 40.0, 0.0, 60.0])), None);
        let r = polychoric(&DMatrix::from_row_slice(2, 2, &[30.0, 20.0, 0.0, 50.0])).unwrap();
        assert!(r > 0.8 && r < LARGEST, "{r}");
    }

    #[test]
    fn halves_correlate_by_the_arcsine() {
        // Sheppard (1899): P(X ≤ 0, Y ≤ 0) = 1/4 + asin(r)/2π.
        for r in [-0.9f64, -0.3, 0.0, 0.5, 0.95] {
            let both = 0.25 + r.asin() / TAU;
            assert!((both_below(0.0, 0.0, r) - both).abs() < 1e-12, "{r}");
            let table = DMatrix::from_row_slice(2, 2, &[both, 0.5 - both, 0.5 - both, both]) * 1000.0;
            assert!((polychoric(&table).unwrap() - r).abs() < 1e-8, "{r}");
        }
    }
}
