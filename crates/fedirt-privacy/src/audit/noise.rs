//! What sites release when there are no rows: noise, and whether it is the noise of the plan.

use super::{ALARM, Check, Finding, Released, Rows, Subject};
use crate::accountant::normal_cdf;
use rayon::prelude::*;

/// Up to this standard deviation cells have exact probabilities; beyond, the normal's, which are within 1e-8.
const EXACT_SD: f64 = 4096.0;

/// A χ² or a mean square on n degrees of freedom, per degree, as a standard normal number (Wilson and Hilferty
/// 1931).
fn wilson_hilferty(mean_square: f64, n: f64) -> f64 {
    let spread = 2.0 / (9.0 * n);
    (mean_square.cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// Cells of whole numbers: the last number of each, and probabilities under the discrete Gaussian.
struct Cells {
    last: Vec<i64>,
    probability: Vec<f64>,
}

impl Cells {
    fn new(sd: f64) -> Self {
        let mut last: Vec<i64> = (-11..=11).map(|k| (0.25 * f64::from(k) * sd).round() as i64).collect();
        last.dedup();
        let below: Vec<f64> = if sd <= EXACT_SD {
            let reach = (12.0 * sd).ceil() as i64;
            let weight = |x: i64| (-0.5 * (x as f64 / sd).powi(2)).exp();
            let total: f64 = (-reach..=reach).map(weight).sum();
            last.iter().map(|&k| (-reach..=k).map(weight).sum::<f64>() / total).collect()
        } else {
            last.iter().map(|&k| normal_cdf((k as f64 + 0.5) / sd)).collect()
        };
        let edges: Vec<f64> = [0.0].into_iter().chain(below).chain([1.0]).collect();
        Self { last, probability: edges.windows(2).map(|w| w[1] - w[0]).collect() }
    }

    /// Pearson's χ² of draws, as a standard normal number.
    fn score(&self, draws: impl Iterator<Item = i64>) -> f64 {
        let mut counts = vec![0.0; self.probability.len()];
        draws.for_each(|x| counts[self.last.partition_point(|&k| k < x)] += 1.0);
        let n: f64 = counts.iter().sum();
        let term = |(count, p): (&f64, &f64)| (count - n * p).powi(2) / (n * p);
        let df = counts.len() as f64 - 1.0;
        wilson_hilferty(counts.iter().zip(&self.probability).map(term).sum::<f64>() / df, df)
    }
}

/// One coordinate of one release over all runs, in standard deviations of the plan.
struct Series {
    /// Place in the transcript.
    place: usize,
    coordinate: usize,
    values: Vec<f64>,
    size: f64,
}

impl Series {
    fn correlation(&self, other: &Self) -> f64 {
        let product: f64 = self.values.iter().zip(&other.values).map(|(a, b)| a * b).sum();
        if self.size * other.size > 0.0 { product / (self.size * other.size) } else { 0.0 }
    }
}

/// The noise of every release, over `runs` runs: mean 0 and the plan's variance, per coordinate and pooled
/// over coordinates; the exact distribution, by χ²; and no correlation between sites, rounds, attempts and
/// coordinates. Every statistic is a standard normal number when the code is right.
pub fn noise(subject: &impl Subject, runs: u64, seed: u64) -> Vec<Finding> {
    let sd = subject.claim().share_sd;
    let run = |i: u64| subject.run(Rows::Nobody, seed.wrapping_add(i)).released;
    let all: Vec<Vec<Released>> = (0..runs).into_par_iter().map(run).collect();
    let Some(first) = all.first() else { return Vec::new() };
    if first.is_empty() {
        return vec![Finding { check: Check::Coupling, detail: "nothing is released".into() }];
    }
    let named = |r: &Released| format!("site {}, round {}, attempt {}", r.site, r.round, r.attempt);
    let shape = |released: &[Released]| -> Vec<(usize, u64, u64, usize)> {
        released.iter().map(|r| (r.site, r.round, r.attempt, r.words.len())).collect()
    };
    if all.iter().any(|released| shape(released) != shape(first)) {
        let detail = "who releases how much differs between runs".into();
        return vec![Finding { check: Check::Coupling, detail }];
    }
    let (mut findings, cells, n) = (Vec::new(), Cells::new(sd), runs as f64);
    let mut series: Vec<Series> = Vec::new();
    for (place, released) in first.iter().enumerate() {
        let start = series.len();
        for coordinate in 0..released.words.len() {
            let values: Vec<f64> =
                all.iter().map(|r| r[place].words[coordinate] as i64 as f64 / sd).collect();
            let square: f64 = values.iter().map(|x| x * x).sum();
            let (mean, variance) = (values.iter().sum::<f64>() / n, square / n);
            if (mean * n.sqrt()).abs() > ALARM || wilson_hilferty(variance, n).abs() > ALARM {
                let detail = format!(
                    "{}, coordinate {coordinate}: mean {mean:.3}, variance {variance:.3} (should be 0 and 1)",
                    named(released)
                );
                findings.push(Finding { check: Check::Moments, detail });
            }
            series.push(Series { place, coordinate, values, size: square.sqrt() });
        }
        let here = &series[start..];
        let (squares, draws) = (here.iter().map(|s| s.size * s.size).sum::<f64>(), n * here.len() as f64);
        if wilson_hilferty(squares / draws, draws).abs() > ALARM {
            let detail = format!("{}: variance {:.4} (should be 1)", named(released), squares / draws);
            findings.push(Finding { check: Check::Moments, detail });
        }
        let integers = all.iter().flat_map(|r| r[place].words.iter().map(|&w| w as i64));
        let score = cells.score(integers);
        // A χ² that is too small is as suspicious as one that is too large.
        if score.abs() > ALARM {
            let detail = format!("{}: not a discrete Gaussian (z = {score:.1})", named(released));
            findings.push(Finding { check: Check::Distribution, detail });
        }
    }
    findings.extend(correlations(&series, first, n));
    findings
}

/// Pairs of one coordinate in different releases, and of different coordinates in one release.
fn correlations(series: &[Series], first: &[Released], n: f64) -> Vec<Finding> {
    let of = |i: usize| {
        let a = &series[i];
        let partners =
            series[i + 1..].iter().filter(move |b| (b.place == a.place) != (b.coordinate == a.coordinate));
        partners.filter_map(move |b| {
            let r = a.correlation(b);
            ((r.clamp(-0.999_999, 0.999_999).atanh() * (n - 3.0).max(0.0).sqrt()).abs() > ALARM).then(|| {
                let name = |s: &Series| {
                    let at = &first[s.place];
                    let coordinate = s.coordinate;
                    format!(
                        "site {}, round {}, attempt {}, coordinate {coordinate}",
                        at.site, at.round, at.attempt
                    )
                };
                let detail = format!("{} and {}: correlation {r:.3}", name(a), name(b));
                Finding { check: Check::Correlation, detail }
            })
        })
    };
    (0..series.len()).into_par_iter().flat_map_iter(of).collect()
}
