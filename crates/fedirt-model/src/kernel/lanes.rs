//! Loops over padded rows of nodes, compiled for several instruction sets and chosen at run time.
//!
//! Plain Rust: the compiler turns the fixed inner loops of eight into vector instructions.

use super::LANES;
use crate::responses::MISSING;
use multiversion::multiversion;

/// Log-likelihoods of padding nodes: low enough that their posterior vanishes.
pub(crate) const PADDING: f64 = -1e9;

/// exp(x) for x ≤ 0, relative error below 3e-16·few; below −700 it is about 1e-304.
///
/// Cody–Waite reduction x = n·ln 2 + r and the Taylor polynomial of degree 12 on |r| ≤ ln 2/2; the shifter
/// 1.5·2⁵² rounds x/ln 2 to an integer whose low bits then go straight into the exponent.
#[inline(always)]
fn exp_nonpositive(x: f64) -> f64 {
    const SHIFTER: f64 = 6_755_399_441_055_744.0;
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = if x > -700.0 { x } else { -700.0 };
    let shifted = x * std::f64::consts::LOG2_E + SHIFTER;
    let n = shifted - SHIFTER;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    let middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let high = (1.0 / 40320.0 + r * (1.0 / 362_880.0)) + r2 * (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0));
    let p = low + r4 * (middle + r4 * (high + r4 * (1.0 / 479_001_600.0)));
    f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// ln(x) for positive normal x: x = 2ᵏ·m with m within a factor √2 of 1, and ln m = 2·artanh((m − 1)/(m + 1)) by its series,
/// whose first omitted term is below 1e-17.
#[inline(always)]
fn ln_positive(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let m = f64::from_bits(bits & MANTISSA | 1023 << 52);
    // The exponent as a double without a conversion of integers: 2⁵² + k has k as its lowest bits.
    let k = f64::from_bits(bits >> 52 | 1075 << 52) - (f64::from_bits(1075 << 52) + 1023.0);
    let high = m > std::f64::consts::SQRT_2;
    let (m, k) = (if high { 0.5 * m } else { m }, if high { k + 1.0 } else { k });
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let tail = 1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0 + z * (1.0 / 19.0 + z * (1.0 / 21.0))));
    let head = 1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0 + z * tail))));
    k * std::f64::consts::LN_2 + 2.0 * (s + s * z * head)
}

#[inline(always)]
fn lanes(row: &[f64]) -> &[[f64; LANES]] {
    row.as_chunks::<LANES>().0
}

#[inline(always)]
fn lanes_mut(row: &mut [f64]) -> &mut [[f64; LANES]] {
    row.as_chunks_mut::<LANES>().0
}

/// rows[i] += table[code[i]], for every student i of the block.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn add_rows(rows: &mut [f64], width: usize, codes: &[u8], table: &[f64]) {
    for (row, &code) in rows.chunks_exact_mut(width).zip(codes) {
        let add = &table[usize::from(code) * width..][..width];
        row.iter_mut().zip(add).for_each(|(x, a)| *x += a);
    }
}

/// The same for two groups in one pass: half the traffic on `rows`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn add_rows_twice(
    rows: &mut [f64],
    width: usize,
    (codes, table): (&[u8], &[f64]),
    (codes2, table2): (&[u8], &[f64]),
) {
    for ((row, &code), &code2) in rows.chunks_exact_mut(width).zip(codes).zip(codes2) {
        let add = &table[usize::from(code) * width..][..width];
        let add2 = &table2[usize::from(code2) * width..][..width];
        row.iter_mut().zip(add).zip(add2).for_each(|((x, a), b)| *x += a + b);
    }
}

/// row += table[cell], for every cell of a list.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn add_listed(row: &mut [f64], cells: &[u32], table: &[f64]) {
    let width = row.len();
    for &cell in cells {
        let add = &table[cell as usize * width..][..width];
        row.iter_mut().zip(add).for_each(|(x, a)| *x += a);
    }
}

/// sums[cell] += row, for every cell of a list.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn scatter_listed(row: &[f64], cells: &[u32], sums: &mut [f64]) {
    let width = row.len();
    for &cell in cells {
        let sum = &mut sums[cell as usize * width..][..width];
        sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
}

/// Turns log joint densities into posteriors, in place; writes log Σ_n exp(·) of each row.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn normalise(rows: &mut [f64], width: usize, log_marginal: &mut [f64]) {
    for (row, out) in rows.chunks_exact_mut(width).zip(log_marginal) {
        let row = lanes_mut(row);
        let mut top = [f64::NEG_INFINITY; LANES];
        for x in row.iter() {
            for l in 0..LANES {
                top[l] = if x[l] > top[l] { x[l] } else { top[l] };
            }
        }
        let top = top.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let mut sum = [0.0; LANES];
        for x in row.iter_mut() {
            for l in 0..LANES {
                x[l] = exp_nonpositive(x[l] - top);
                sum[l] += x[l];
            }
        }
        let total: f64 = sum.iter().sum();
        let scale = 1.0 / total;
        for x in row.iter_mut() {
            for l in 0..LANES {
                x[l] *= scale;
            }
        }
        *out = top + total.ln();
    }
}

/// Log-probabilities and probabilities from linear predictors: x_c(n) becomes x_c(n) − ln Σ_h exp x_h(n). Each has a row of
/// `nodes` nodes per category.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn log_probabilities(x: &mut [f64], nodes: usize, p: &mut [f64]) {
    let (mut top, mut total) = (vec![f64::NEG_INFINITY; nodes], vec![0.0; nodes]);
    for x in x.chunks_exact(nodes) {
        top.iter_mut().zip(x).for_each(|(top, x)| *top = if *x > *top { *x } else { *top });
    }
    for (x, p) in x.chunks_exact(nodes).zip(p.chunks_exact_mut(nodes)) {
        for (((p, x), top), total) in p.iter_mut().zip(x).zip(&top).zip(&mut total) {
            *p = exp_nonpositive(x - top);
            *total += *p;
        }
    }
    top.iter_mut().zip(&total).for_each(|(top, total)| *top += ln_positive(*total));
    for (x, p) in x.chunks_exact_mut(nodes).zip(p.chunks_exact_mut(nodes)) {
        x.iter_mut().zip(&top).for_each(|(x, shift)| *x -= shift);
        p.iter_mut().zip(&total).for_each(|(p, total)| *p /= total);
    }
}

/// sums[code[i]] += rows[i], for every student i of the block.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn scatter_rows(rows: &[f64], width: usize, codes: &[u8], sums: &mut [f64]) {
    for (row, &code) in rows.chunks_exact(width).zip(codes) {
        let sum = &mut sums[usize::from(code) * width..][..width];
        sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
}

/// The same for two groups in one pass.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn scatter_rows_twice(
    rows: &[f64],
    width: usize,
    (codes, sums): (&[u8], &mut [f64]),
    (codes2, sums2): (&[u8], &mut [f64]),
) {
    for ((row, &code), &code2) in rows.chunks_exact(width).zip(codes).zip(codes2) {
        let sum = &mut sums[usize::from(code) * width..][..width];
        let sum2 = &mut sums2[usize::from(code2) * width..][..width];
        // Two plain loops: a joint one is vectorised across the wrong index.
        sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
        sum2.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
}

/// Posterior mean and variance of the nodes' values `t` for each student.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn moments(rows: &[f64], width: usize, t: &[f64], mean: &mut [f64], variance: &mut [f64]) {
    for ((row, mean), variance) in rows.chunks_exact(width).zip(mean).zip(variance) {
        let mut first = [0.0; LANES];
        for (p, t) in lanes(row).iter().zip(lanes(t)) {
            for l in 0..LANES {
                first[l] += p[l] * t[l];
            }
        }
        let m: f64 = first.iter().sum();
        let mut second = [0.0; LANES];
        for (p, t) in lanes(row).iter().zip(lanes(t)) {
            for l in 0..LANES {
                second[l] += p[l] * (t[l] - m) * (t[l] - m);
            }
        }
        *mean = m;
        *variance = second.iter().sum();
    }
}

/// out[i][n] = rows[i][n]·(t[n] − mean[i]): the posterior weighted by the deviation of ability.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn deviations(rows: &[f64], width: usize, t: &[f64], mean: &[f64], out: &mut [f64]) {
    for ((row, m), out) in rows.chunks_exact(width).zip(mean).zip(out.chunks_exact_mut(width)) {
        for ((p, t), o) in lanes(row).iter().zip(lanes(t)).zip(lanes_mut(out)) {
            for l in 0..LANES {
                o[l] = p[l] * (t[l] - m);
            }
        }
    }
}

/// Multiplies each row by its weight.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn scale_rows(rows: &mut [f64], width: usize, weights: &[f64]) {
    for (row, w) in rows.chunks_exact_mut(width).zip(weights) {
        for x in lanes_mut(row) {
            for v in x {
                *v *= w;
            }
        }
    }
}

/// gram[n][·] += Σ_i weight_i·rows[i][n]·rows[i][·], the sum of outer products of posteriors.
///
/// Nodes whose posterior is below 1e-18 cannot change a sum of order one and are passed over.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn outer_products(rows: &[f64], width: usize, weights: &[f64], gram: &mut [f64]) {
    for (row, w) in rows.chunks_exact(width).zip(weights) {
        for (n, &p) in row.iter().enumerate() {
            if p < 1e-18 {
                continue;
            }
            let factor = p * w;
            let out = &mut gram[n * width..(n + 1) * width];
            out.iter_mut().zip(row).for_each(|(o, x)| *o += factor * x);
        }
    }
}

/// A range of nodes of a padded row, whole lanes.
pub(crate) type Window = (u16, u16);

/// The lanes of each posterior outside of which no node has a mass of `least`.
pub(crate) fn windows(rows: &[f64], width: usize, least: f64) -> impl Iterator<Item = Window> + '_ {
    rows.chunks_exact(width).map(move |row| {
        let holds = |lane: &[f64; LANES]| lane.iter().any(|p| *p >= least);
        let first = lanes(row).iter().position(holds).unwrap_or(0);
        let last = lanes(row).iter().rposition(holds).map_or(first, |last| last + 1);
        ((first * LANES) as u16, (last * LANES) as u16)
    })
}

/// sums[first[i]·others + second[i]] += rows[i] within each student's window, where both answers are given; whether any are.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn scatter_pairs(
    (rows, width, windows): (&[f64], usize, &[Window]),
    first: &[u8],
    (second, others): (&[u8], usize),
    sums: &mut [f64],
) -> bool {
    let mut any = false;
    for (((row, &(from, to)), &c), &h) in rows.chunks_exact(width).zip(windows).zip(first).zip(second) {
        if c == MISSING || h == MISSING {
            continue;
        }
        any = true;
        let at = (usize::from(c) * others + usize::from(h)) * width;
        let (from, to) = (usize::from(from), usize::from(to));
        for (s, x) in lanes_mut(&mut sums[at + from..at + to]).iter_mut().zip(lanes(&row[from..to])) {
            for l in 0..LANES {
                s[l] += x[l];
            }
        }
    }
    any
}

/// Σ_n x_n·y_n in a fixed order.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = [0.0; LANES];
    for (x, y) in lanes(x).iter().zip(lanes(y)) {
        for l in 0..LANES {
            sum[l] += x[l] * y[l];
        }
    }
    sum.iter().sum()
}

/// y += factor·x, any length.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn axpy(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_agrees_with_the_standard_library() {
        let mut worst = 0.0f64;
        for i in 0..200_000 {
            let x = -690.0 * f64::from(i) / 200_000.0;
            worst = worst.max((exp_nonpositive(x) / x.exp() - 1.0).abs());
        }
        assert!(worst < 1e-15, "{worst:e}");
        assert!(exp_nonpositive(PADDING) < 1e-300);
        assert_eq!(exp_nonpositive(0.0), 1.0);
    }

    #[test]
    fn logarithm_agrees_with_the_standard_library() {
        for i in 0..100_000 {
            let x = 1.0 + 31.0 * f64::from(i) / 100_000.0;
            assert!((ln_positive(x) - x.ln()).abs() < 4e-16 * x.ln().max(1.0), "{x}");
        }
    }

    #[test]
    fn normalise_gives_posteriors_and_log_marginals() {
        let mut row: Vec<f64> =
            (0..16).map(|n| if n < 13 { -0.3 * f64::from(n) - 50.0 } else { PADDING }).collect();
        let want: f64 = row.iter().map(|x| (x + 50.0).exp()).sum::<f64>().ln() - 50.0;
        let mut got = [0.0];
        normalise(&mut row, 16, &mut got);
        assert!((got[0] - want).abs() < 1e-13);
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        assert!(row[13..].iter().all(|p| *p < 1e-300));
    }
}
