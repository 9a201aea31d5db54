//! Populations that are not normal: estimated together with the items, in rounds of the same kind, from sums.

mod common;

use common::*;
use fedirt_model::centre::{AlgorithmKind, Plan};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::population::{Component, Family, Population};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, Setting};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

const ITEMS: &[(&str, usize)] = &[("2pl", 2); 15];

/// Ability of one part in four lies 2.4 above that of the others: mean 0.6, skewed to the right.
fn skewed(students: usize, seed: u64) -> Vec<Vec<u8>> {
    let truth = truth(ITEMS, seed);
    let mut random = Random(seed ^ 3);
    let able = students / 4;
    let mut rows = answers(ITEMS, &truth, students - able, (0.0, 0.5), 0.05, &mut random);
    rows.extend(answers(ITEMS, &truth, able, (2.4, 0.7), 0.05, &mut random));
    rows
}

fn shaped(family: Family, effects: Effects) -> Plan {
    Plan { population: Population { family, ..Population::default() }, ..plan(named(ITEMS), effects) }
}

fn mixture(effects: Effects) -> Plan {
    shaped(Family::Mixture { components: 2 }, effects)
}

/// Rows dealt out to sites, so that all of them have the same population.
fn dealt(rows: &[Vec<u8>], sites: usize) -> Vec<ResponseTable> {
    let of = |k: usize| rows.iter().skip(k).step_by(sites).cloned().collect::<Vec<_>>();
    (0..sites).map(|k| table(&of(k))).collect()
}

/// The density of a mixture.
fn of_components(components: &[Component]) -> impl Fn(f64) -> f64 {
    move |t: f64| -> f64 {
        components
            .iter()
            .map(|c| {
                let z = (t - c.mean) / c.sd;
                c.weight * (-0.5 * z * z).exp() / (c.sd * std::f64::consts::TAU.sqrt())
            })
            .sum()
    }
}

/// Σ_i log ∫ Π_j P_j(x_ij | t) f(t) dt by the trapezoidal rule on 4001 points.
fn brute_force(fit: &Fit, rows: &[Vec<u8>], density: impl Fn(f64) -> f64) -> f64 {
    let step = 0.005;
    let points: Vec<f64> = (-2000..=2000).map(|k| f64::from(k) * step).collect();
    let log_p: Vec<Vec<[f64; 2]>> = fit
        .items
        .iter()
        .map(|item| {
            let (a, d) = (item.a.expect("a slope"), item.d[0].expect("an intercept"));
            points.iter().map(|t| a * t + d).map(|e| [-(e.exp().ln_1p()), -((-e).exp().ln_1p())]).collect()
        })
        .collect();
    let weights: Vec<f64> = points.iter().map(|t| step * density(*t)).collect();
    rows.iter()
        .map(|row| {
            let at = |n: usize| -> f64 {
                let given = row.iter().zip(&log_p).filter(|(x, _)| **x < 2);
                given.map(|(x, item)| item[n][usize::from(*x)]).sum::<f64>().exp() * weights[n]
            };
            (0..points.len()).map(at).sum::<f64>().ln()
        })
        .sum()
}

#[test]
fn a_skewed_population_is_found() {
    let rows = skewed(1500, 8);
    let normal = fit(plan(named(ITEMS), Effects::None), dealt(&rows, 1));
    let fitted = fit(mixture(Effects::None), dealt(&rows, 1));
    assert_eq!(fitted.converged, Some(true));
    assert!(fitted.rounds <= 12, "{} rounds", fitted.rounds);
    assert_eq!(fitted.npar, normal.npar + 3);
    let gain = fitted.loglik.unwrap() - normal.loglik.unwrap();
    assert!(gain > 10.0, "{gain}");
    let shape = fitted.latent.shape.as_ref().unwrap();
    assert_eq!(shape.population, "mixture:2");
    let mean: f64 = shape.theta.iter().zip(&shape.weights).map(|(t, w)| t * w).sum();
    let square: f64 = shape.theta.iter().zip(&shape.weights).map(|(t, w)| t * t * w).sum();
    let cube: f64 = shape.theta.iter().zip(&shape.weights).map(|(t, w)| t.powi(3) * w).sum();
    assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-6, "{mean} {square}");
    // The skewness of the truth: (Σ π (m³ + 3 m s²))/σ³ about the mean 0.6.
    let truth = [(0.75, -0.6, 0.5), (0.25, 1.8, 0.7)];
    let moment = |f: &dyn Fn(f64, f64) -> f64| {
        truth.iter().map(|(p, m, s): &(f64, f64, f64)| p * f(*m, *s)).sum::<f64>()
    };
    let sd = moment(&|m, s| m * m + s * s).sqrt();
    let skewness = moment(&|m, s| m.powi(3) + 3.0 * m * s * s) / sd.powi(3);
    assert!((cube - skewness).abs() < 0.2, "{cube} {skewness}");
    assert!(shape.parameters.iter().all(|p| p.se.is_some_and(|se| se > 0.0 && se < 1.0)), "{shape:?}");
    let exact = brute_force(&fitted, &rows, of_components(&shape.components));
    assert!((fitted.loglik.unwrap() - exact).abs() < 1e-3, "{:?} {exact}", fitted.loglik);
}

#[test]
fn a_smooth_curve_finds_the_same_tail() {
    let rows = skewed(1500, 8);
    let normal = fit(plan(named(ITEMS), Effects::None), dealt(&rows, 1));
    let fitted = fit(shaped(Family::Davidian { degree: 2 }, Effects::None), dealt(&rows, 1));
    assert_eq!((fitted.converged, fitted.npar), (Some(true), normal.npar + 2));
    assert!(fitted.loglik.unwrap() > normal.loglik.unwrap() + 10.0);
    let shape = fitted.latent.shape.as_ref().unwrap();
    assert!(shape.skewness > 0.4, "{}", shape.skewness);
    // Woods & Lin (2009): with the monomials' coefficients m = B⁻¹c for degree 2, B'B = E z^(i+j).
    let (one, two) = (shape.parameters[0].estimate, shape.parameters[1].estimate);
    let c = [one.sin(), one.cos() * two.sin(), one.cos() * two.cos()];
    let root = 2f64.sqrt();
    let m = [c[0] - c[2] / root, c[1], c[2] / root];
    let h = |z: f64| {
        (m[0] + m[1] * z + m[2] * z * z).powi(2) * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
    };
    let points = || (-2400..=2400).map(|k| f64::from(k) * 0.005);
    let moment = |power: i32| points().map(|z| 0.005 * z.powi(power) * h(z)).sum::<f64>();
    let (mean, sd) = (moment(1), (moment(2) - moment(1).powi(2)).sqrt());
    let exact = brute_force(&fitted, &rows, |t| sd * h(mean + sd * t));
    assert!((fitted.loglik.unwrap() - exact).abs() < 1e-3, "{:?} {exact}", fitted.loglik);
}

#[test]
fn a_mixture_is_the_same_federated_pooled_masked_and_by_em() {
    let rows = skewed(900, 5);
    let pooled = fit(mixture(Effects::None), dealt(&rows, 1));
    let sites = || dealt(&rows, 6);
    let split = fit(mixture(Effects::None), sites());
    let same = |a: &Fit, b: &Fit, tolerance: f64| {
        let (x, y) = (a.latent.shape.as_ref().unwrap(), b.latent.shape.as_ref().unwrap());
        let apart = x.parameters.iter().zip(&y.parameters).map(|(x, y)| (x.estimate - y.estimate).abs());
        assert!(apart.fold(distance(a, b), f64::max) < tolerance);
    };
    same(&pooled, &split, 1e-6);
    let named_sites = sites().into_iter().enumerate().map(|(k, t)| (format!("S{k}"), t)).collect();
    let random = &mut ChaCha20Rng::from_seed([3; 32]);
    let (masked, _) = in_process::run_as(
        Setting::of(Mode::Secure),
        mixture(Effects::None),
        named_sites,
        random,
        &mut in_process::Unobserved,
    )
    .unwrap();
    same(&split, &masked.fit, 1e-3);
    same(&split, &fit(with_algorithm(mixture(Effects::None), AlgorithmKind::Em), sites()), 2e-3);
    let refused = run(with_algorithm(mixture(Effects::None), AlgorithmKind::Bfgs), sites());
    assert!(refused.unwrap_err().to_string().contains("normal population only"));
}

/// Dealt-out rows with site effects.
fn with_effects(family: Family, effects: Effects) {
    let fitted = fit(shaped(family, effects), dealt(&skewed(900, 11), 6));
    assert_eq!(fitted.converged, Some(true), "{family} {effects:?}");
    assert!(fitted.rounds <= 20, "{family} {effects:?} {}", fitted.rounds);
    // Rows were dealt out: sites hardly differ.
    assert!(fitted.sites.iter().all(|site| {
        let (effect, se) = (site.effect.expect("an effect"), site.se.expect("its error"));
        effect.abs() < 4.0 * se
    }));
}

#[test]
fn random_effects_go_with_a_mixture() {
    with_effects(Family::Mixture { components: 2 }, Effects::Random);
}

#[test]
fn fixed_effects_go_with_a_smooth_curve() {
    with_effects(Family::Davidian { degree: 2 }, Effects::Fixed);
}

/// `cargo test -p fedirt-protocol --test population -- --ignored`
#[test]
#[ignore = "does not come to rest on these data, and says so (docs/limitations.md, Shapes of ability)"]
fn fixed_effects_go_with_a_mixture() {
    with_effects(Family::Mixture { components: 2 }, Effects::Fixed);
}
