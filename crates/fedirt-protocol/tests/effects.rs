//! School effects against computations that share no code with the engine.

mod common;

use common::*;
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::items::{self, Curves, Order};
use fedirt_model::responses::{MISSING, ResponseTable};

const MODELS: &[(&str, usize)] = &[("2pl", 2), ("gpcm", 3), ("2pl", 2), ("grm", 3), ("2pl", 2)];

fn rows(sizes: &[usize], effects: &[f64], missing: f64) -> Vec<Vec<Vec<u8>>> {
    let truth = truth(MODELS, 21);
    let mut random = Random(22);
    let draw = |(&n, &s): (&usize, &f64)| answers(MODELS, &truth, n, (s, 1.0), missing, &mut random);
    sizes.iter().zip(effects).map(draw).collect()
}

fn tables(rows: &[Vec<Vec<u8>>]) -> Vec<ResponseTable> {
    rows.iter().map(|r| table(r)).collect()
}

/// log p(rows | shift s of ability), by a plain loop on 121 nodes over ±6 SDs.
fn site_loglik(fit: &Fit, rows: &[Vec<u8>], s: f64) -> f64 {
    let sd = fit.latent.sd;
    let nodes: Vec<f64> = (0..121).map(|n| -6.0 + 0.1 * f64::from(n)).collect();
    let weights: Vec<f64> = nodes.iter().map(|v| (-0.5 * v * v).exp()).collect();
    let total: f64 = weights.iter().sum();
    let t: Vec<f64> = nodes.iter().map(|v| sd * v + s).collect();
    let curves: Vec<Curves> = fit
        .items
        .iter()
        .map(|item| {
            let psi: Vec<f64> = item.a.into_iter().chain(item.d.iter().flatten().copied()).collect();
            let model = items::model(&item.model).expect("fits name models that exist");
            Curves::new(model, psi.len(), &psi, &t, Order::Probability)
        })
        .collect();
    rows.iter()
        .map(|row| {
            let sum: f64 = (0..nodes.len())
                .map(|n| {
                    let given = row.iter().zip(&curves).filter(|(x, _)| **x != MISSING);
                    weights[n] / total * given.map(|(x, c)| c.log_p(usize::from(*x))[n]).sum::<f64>().exp()
                })
                .sum();
            sum.ln()
        })
        .sum()
}

#[test]
fn random_effects_equal_a_brute_force_integral() {
    let rows = rows(&[25, 40, 10, 30, 18, 22], &[-0.9, 0.2, 0.8, -0.1, 0.5, -0.6], 0.15);
    let f = fit(plan(named(MODELS), Effects::Random), tables(&rows));
    let sd = f.site_sd.unwrap();
    // 801 nodes over ±8 SDs of the effect.
    let mut loglik = 0.0;
    for (site, reported) in rows.iter().zip(&f.sites) {
        let s: Vec<f64> = (0..801).map(|m| sd * (-8.0 + 0.02 * f64::from(m))).collect();
        let joint: Vec<f64> = s
            .iter()
            .map(|s| {
                site_loglik(&f, site, *s) - 0.5 * (s / sd).powi(2) - (std::f64::consts::TAU.sqrt()).ln()
                    + 0.02f64.ln()
            })
            .collect();
        let top = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = joint.iter().map(|x| (x - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        loglik += top + total.ln();
        let mean = weights.iter().zip(&s).map(|(w, s)| w * s).sum::<f64>() / total;
        let square = weights.iter().zip(&s).map(|(w, s)| w * s * s).sum::<f64>() / total;
        assert!((reported.effect.unwrap() - mean).abs() < 1e-5);
        // The error adds the uncertainty of items and SD to the posterior's.
        let posterior = (square - mean * mean).sqrt();
        assert!(reported.se.unwrap() > posterior && reported.se.unwrap() < 1.7 * posterior);
    }
    assert!((f.loglik.unwrap() - loglik).abs() < 1e-5, "{} {loglik}", f.loglik.unwrap());
}

#[test]
fn fixed_effects_maximise_each_sites_likelihood_and_sum_to_zero() {
    let rows = rows(&[60, 45, 80], &[-0.7, 0.0, 0.9], 0.1);
    let f = fit(plan(named(MODELS), Effects::Fixed), tables(&rows));
    assert!(f.sites.iter().map(|s| s.effect.unwrap()).sum::<f64>().abs() < 1e-12);
    let mut loglik = 0.0;
    for (site, reported) in rows.iter().zip(&f.sites) {
        let s = reported.effect.unwrap();
        let here = site_loglik(&f, site, s);
        loglik += here;
        assert!(here > site_loglik(&f, site, s + 1e-3) && here > site_loglik(&f, site, s - 1e-3));
    }
    assert!((f.loglik.unwrap() - loglik).abs() < 1e-7);
}

#[test]
fn random_effect_estimates_shrink_towards_zero() {
    let sizes = [8usize; 20];
    let effects: Vec<f64> = (0..20).map(|k| 0.1 * f64::from(k) - 0.95).collect();
    let rows = rows(&sizes, &effects, 0.0);
    let fixed = fit(plan(named(MODELS), Effects::Fixed), tables(&rows));
    let random = fit(plan(named(MODELS), Effects::Random), tables(&rows));
    let spread = |f: &Fit| f.sites.iter().map(|s| s.effect.unwrap().powi(2)).sum::<f64>();
    assert!(spread(&random) < 0.8 * spread(&fixed));
    assert!(fixed.warnings.iter().any(|w| w.code == "small_sites"));
    assert!(random.site_sd.unwrap() > 0.2 && random.se_site_sd.unwrap() > 0.0);
}

#[test]
fn no_difference_between_sites_is_reported_as_such() {
    let rows = rows(&[60; 12], &[0.0; 12], 0.0);
    let f = fit(plan(named(MODELS), Effects::Random), tables(&rows));
    assert!(f.site_sd.unwrap() < 0.25);
    assert_eq!(f.converged, Some(true));
}

/// A fit's free numbers, and how to put others in their place.
struct Numbers {
    x: Vec<f64>,
    se: Vec<f64>,
    set: fn(&mut Fit, &[f64]),
}

/// Standard errors of numbers x from the joint log-likelihood of items and effects: plain loops, second differences,
/// inverted under Σ s = 0 (the last K numbers are the effects).
fn joint_errors(f: &Fit, rows: &[Vec<Vec<u8>>], numbers: &Numbers) -> Vec<f64> {
    let (n, k, h) = (numbers.x.len(), rows.len(), 2e-3);
    let value = |x: &[f64]| -> f64 {
        let mut g = f.clone();
        (numbers.set)(&mut g, x);
        rows.iter().zip(&x[n - k..]).map(|(r, s)| site_loglik(&g, r, *s)).sum()
    };
    let mut m = vec![vec![0.0; n + 1]; n + 1];
    for r in 0..n {
        for c in 0..=r {
            let at = |dr: f64, dc: f64| {
                let mut x = numbers.x.clone();
                x[r] += dr;
                x[c] += dc;
                value(&x)
            };
            let second = (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4.0 * h * h);
            m[r][c] = -second;
            m[c][r] = -second;
        }
    }
    for site in n - k..n {
        m[n][site] = 1.0;
        m[site][n] = 1.0;
    }
    let inverse = invert(m);
    (0..n).map(|r| inverse[r][r].sqrt()).collect()
}

fn check_errors(models: &[(&str, usize)], sd: f64, numbers: fn(&Fit) -> Numbers) {
    let truth = truth(models, 31);
    let mut random = Random(32);
    let rows: Vec<Vec<Vec<u8>>> = [(70, -0.5), (90, 0.6), (50, 0.2)]
        .iter()
        .map(|(n, s)| answers(models, &truth, *n, (*s, sd), 0.0, &mut random))
        .collect();
    let f = fit(plan(named(models), Effects::Fixed), tables(&rows));
    let numbers = numbers(&f);
    for (r, (got, want)) in numbers.se.iter().zip(joint_errors(&f, &rows, &numbers)).enumerate() {
        assert!((got / want - 1.0).abs() < 1e-3, "{r}: {got} {want}");
    }
}

#[test]
fn standard_errors_equal_those_of_the_joint_information() {
    check_errors(&[("2pl", 2), ("2pl", 2), ("gpcm", 3), ("2pl", 2)], 1.0, |f| Numbers {
        x: f.items
            .iter()
            .flat_map(|i| i.a.into_iter().chain(i.d.iter().flatten().copied()))
            .chain(f.sites.iter().filter_map(|s| s.effect))
            .collect(),
        se: f
            .items
            .iter()
            .flat_map(|i| i.se_a.into_iter().chain(i.se_d.iter().flatten().copied()))
            .chain(f.sites.iter().filter_map(|s| s.se))
            .collect(),
        set: |f, x| {
            let mut x = x.iter().copied();
            for item in &mut f.items {
                item.a = x.next();
                item.d.iter_mut().for_each(|d| *d = x.next());
            }
        },
    });
}

#[test]
fn standard_errors_with_a_free_sd_equal_those_of_the_joint_information() {
    check_errors(&[("rasch", 2), ("pcm", 3), ("rasch", 2), ("rasch", 2)], 1.6, |f| Numbers {
        x: f.items
            .iter()
            .flat_map(|i| i.d.iter().flatten().copied())
            .chain([f.latent.sd])
            .chain(f.sites.iter().filter_map(|s| s.effect))
            .collect(),
        se: f
            .items
            .iter()
            .flat_map(|i| i.se_d.iter().flatten().copied())
            .chain(f.latent.se_sd)
            .chain(f.sites.iter().filter_map(|s| s.se))
            .collect(),
        set: |f, x| {
            let mut x = x.iter().copied();
            f.items.iter_mut().flat_map(|i| &mut i.d).for_each(|d| *d = x.next());
            f.latent.sd = x.next().unwrap_or(1.0);
        },
    });
}

/// Gauss–Jordan with pivoting.
fn invert(mut m: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = m.len();
    let mut out: Vec<Vec<f64>> =
        (0..n).map(|r| (0..n).map(|c| f64::from(u8::from(r == c))).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| m[*a][k].abs().total_cmp(&m[*b][k].abs())).unwrap_or(k);
        m.swap(k, pivot);
        out.swap(k, pivot);
        let scale = m[k][k];
        for c in 0..n {
            m[k][c] /= scale;
            out[k][c] /= scale;
        }
        for r in (0..n).filter(|r| *r != k) {
            let factor = m[r][k];
            for c in 0..n {
                m[r][c] -= factor * m[k][c];
                out[r][c] -= factor * out[k][c];
            }
        }
    }
    out
}
