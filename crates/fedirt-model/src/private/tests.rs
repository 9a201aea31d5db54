//! Formulas against brute force: differences, and sums over all answer patterns.

use super::cells::{ExpectedStudents, Purpose, Sample};
use super::expectation::{Release, information, moments};
use super::fisher::whitening;
use super::plan::{MissingAnswers, Score2Plan, SitePlan};
use crate::design::{Design, DesignItem};
use crate::exchange::Effects;
use crate::site::SiteData;
use nalgebra::DMatrix;

const EXACT: Sample = Sample { draws: 0.0, purpose: Purpose::Last };

fn design(items: &[(&str, u8)]) -> Design {
    let item = |(column, (model, categories)): (usize, &(&str, u8))| DesignItem {
        column,
        model: (*model).to_owned(),
        codes: (0..*categories).collect(),
    };
    items.iter().enumerate().map(item).collect::<Vec<_>>().try_into().expect("a design")
}

fn mixed() -> Design {
    design(&[("2pl", 2), ("gpcm", 3), ("grm", 3), ("rasch-sd1", 2)])
}

/// Two booklets, three sites, shares of constant rows.
fn plan(effects: Effects, mixture: bool, missing: MissingAnswers) -> Score2Plan {
    let sites = (0..3).map(|k| (format!("s{k}"), 100)).collect();
    let mut plan = Score2Plan::new(mixed(), effects, sites, 0.5).expect("a plan");
    plan.booklets = vec![vec![0, 1, 2, 3], vec![1, 2]];
    plan.sites = (0..3).map(|k| SitePlan { name: format!("s{k}"), rows: vec![50 + 30 * k, 40] }).collect();
    (plan.mixture, plan.missing) = (mixture, missing);
    plan.site_sd = 0.4;
    plan.noise_sd = plan.central_noise().expect("noise");
    plan
}

fn theta(plan: &Score2Plan) -> Vec<f64> {
    let b = vec![vec![0.4], vec![-0.8, 0.5], vec![-0.3, 0.7], vec![-0.2]];
    let coordinates = plan.coordinates().expect("coordinates");
    coordinates.theta(&[1.3, 0.8, 1.1, 1.0], &b, &[0.5, -0.1, -0.4], [0.05, 0.1])
}

/// log Q and full score of every pattern of a cell.
fn scores(p: &ExpectedStudents, theta: &[f64], cell: usize) -> Vec<(f64, Vec<f64>)> {
    let scorer = p.scorer(theta, p.cells[cell].site);
    let rows = p.rows(cell, &scorer, theta, EXACT).0;
    let items = p.coordinates.design().len();
    let (n, c) = (rows.len() / items, scorer.len());
    let (mut u, mut log_p) = (vec![0.0; n * c], vec![0.0; n]);
    scorer.score(&rows, c, &mut u, &mut log_p);
    let map = p.coordinates.compact(p.cells[cell].site);
    (0..n)
        .map(|i| {
            let log_q = scorer.probability(&rows[i * items..(i + 1) * items], log_p[i]).ln();
            (log_q, map.iter().map(|(at, x)| x * u[i * c + at]).collect())
        })
        .collect()
}

fn plans() -> Vec<Score2Plan> {
    let mut plans = Vec::new();
    for effects in [Effects::None, Effects::Fixed] {
        for mixture in [false, true] {
            plans.push(plan(effects, mixture, MissingAnswers::Wrong));
            plans.push(plan(effects, mixture, MissingAnswers::Counted));
        }
    }
    plans
}

#[test]
fn scores_are_derivatives_of_the_log_likelihood() {
    for plan in plans() {
        let (p, at) = (ExpectedStudents::new(&plan).expect("population"), theta(&plan));
        for cell in 0..p.cells.len() {
            let here = scores(&p, &at, cell);
            assert!((here.iter().map(|(l, _)| l.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
            for r in 0..at.len() {
                let h = 1e-5;
                let moved = |by: f64| {
                    let mut at = at.clone();
                    at[r] += by;
                    scores(&p, &at, cell)
                };
                for ((up, down), (_, g)) in moved(h).iter().zip(&moved(-h)).zip(&here) {
                    let want = (up.0 - down.0) / (2.0 * h);
                    assert!((g[r] - want).abs() < 1e-6 * (1.0 + want.abs()), "{r}: {} {want}", g[r]);
                }
            }
        }
    }
}

#[test]
fn information_is_the_expected_product_of_scores() {
    for plan in plans() {
        let (p, at) = (ExpectedStudents::new(&plan).expect("population"), theta(&plan));
        let mut want = DMatrix::zeros(at.len(), at.len());
        for (cell, c) in p.cells.iter().enumerate() {
            for (log_q, g) in scores(&p, &at, cell) {
                for i in 0..at.len() {
                    for j in 0..at.len() {
                        want[(i, j)] += c.students * log_q.exp() * g[i] * g[j];
                    }
                }
            }
        }
        let got = information(&p, &at, EXACT);
        assert!((&got - &want).amax() < 1e-9 * want.amax());
        // And whitened scores have unit covariance.
        let w = whitening(&p, &at, 0).expect("regular");
        let unit = &w * (want / p.students) * w.transpose();
        assert!((unit - DMatrix::identity(at.len(), at.len())).amax() < 1e-3);
    }
}

fn releases(p: &ExpectedStudents, at: &[f64], clip: f64) -> Vec<Release> {
    let first: Vec<f64> = at.iter().map(|x| 0.7 * x).collect();
    [first, at.to_vec()]
        .into_iter()
        .map(|t| {
            let w = whitening(p, &t, 0).expect("regular");
            Release::new(p, t, w, clip)
        })
        .collect()
}

#[test]
fn the_derivative_of_the_expected_sums_is_a_covariance() {
    for plan in plans() {
        let (p, at) = (ExpectedStudents::new(&plan).expect("population"), theta(&plan));
        // Short enough that many patterns are clipped.
        let releases = releases(&p, &at, 0.7 * (at.len() as f64).sqrt());
        let rho: Vec<f64> = (0..p.counts.len()).map(|c| 0.9 - 0.1 * c as f64).collect();
        let mean = |at: &[f64], rho: &[f64]| moments(&p, at, rho, &releases, EXACT).expect("moments");
        let here = mean(&at, &rho);
        let h = 1e-5;
        for r in 0..here.jacobian.ncols() {
            let moved = |by: f64| {
                let (mut at, mut rho) = (at.clone(), rho.clone());
                let d = at.len();
                if r < d {
                    at[r] += by
                } else {
                    rho[r - d] += by
                }
                mean(&at, &rho).mean
            };
            let want = (moved(h) - moved(-h)) / (2.0 * h);
            let error = (here.jacobian.column(r) - &want).amax();
            assert!(error < 1e-6 * (1.0 + want.amax()), "{r}: {error:e}");
        }
    }
}

#[test]
fn moments_agree_with_sums_over_patterns() {
    let plan = plan(Effects::Fixed, false, MissingAnswers::Counted);
    let (p, at) = (ExpectedStudents::new(&plan).expect("population"), theta(&plan));
    let clip = 0.7 * (at.len() as f64).sqrt();
    let counts = p.counts.len();
    assert_eq!(counts, 6, "three sites with two booklets");
    let rho: Vec<f64> = (0..counts).map(|c| 0.95 - 0.15 * c as f64).collect();
    let (d, wide) = (at.len(), at.len() + counts);
    let releases = releases(&p, &at, clip);
    let got = moments(&p, &at, &rho, &releases, EXACT).expect("moments");
    let (mut mean, mut cov) = (vec![0.0; 2 * wide], DMatrix::<f64>::zeros(2 * wide, 2 * wide));
    for (cell, c) in p.cells.iter().enumerate() {
        let probability = scores(&p, &at, cell);
        let psi: Vec<Vec<f64>> = (0..probability.len())
            .map(|i| {
                let mut v = Vec::new();
                for release in &releases {
                    let g = &scores(&p, &release.theta, cell)[i].1;
                    let mut w: Vec<f64> =
                        (0..d).map(|r| (0..=r).map(|c| release.whitening[(r, c)] * g[c]).sum()).collect();
                    w.extend((0..counts).map(|h| f64::from(u8::from(h == 2 * c.site + c.booklet))));
                    let norm = w.iter().map(|x| x * x).sum::<f64>().sqrt();
                    v.extend(w.iter().map(|x| x * (clip / norm).min(1.0)));
                }
                v
            })
            .collect();
        let rho = rho[2 * c.site + c.booklet];
        let mut own = vec![0.0; 2 * wide];
        for ((log_q, _), psi) in probability.iter().zip(&psi) {
            own.iter_mut().zip(psi).for_each(|(m, x)| *m += rho * log_q.exp() * x);
        }
        for i in 0..2 * wide {
            mean[i] += c.students * own[i];
            for j in 0..2 * wide {
                let second: f64 =
                    probability.iter().zip(&psi).map(|((l, _), x)| rho * l.exp() * x[i] * x[j]).sum();
                cov[(i, j)] += c.students * (second - own[i] * own[j]);
            }
        }
    }
    let error = mean.iter().zip(got.mean.iter()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(error < 1e-9 * p.students, "{error:e}");
    assert!((&cov - &got.covariance).amax() < 1e-9 * p.students);
}

#[test]
fn simulated_moments_agree_with_enumerated_ones() {
    let mut plan = plan(Effects::Fixed, true, MissingAnswers::Counted);
    let exact = ExpectedStudents::new(&plan).expect("population");
    let at = theta(&plan);
    let clip = 0.9 * (at.len() as f64).sqrt();
    let rho = [0.9, 0.5, 0.8, 0.7, 0.9, 0.6];
    let releases_exact = releases(&exact, &at, clip);
    let want = moments(&exact, &at, &rho, &releases_exact, EXACT).expect("moments");
    plan.seed = 5;
    let mut simulated = ExpectedStudents::new(&plan).expect("population");
    simulated.simulate_only();
    let releases: Vec<Release> = releases_exact
        .iter()
        .map(|r| Release::new(&simulated, r.theta.clone(), r.whitening.clone(), clip))
        .collect();
    let sample = Sample { draws: 20_000.0, purpose: Purpose::Steps(0) };
    let got = moments(&simulated, &at, &rho, &releases, sample).expect("moments");
    // The mean is off by a small part of the sampling error of the sums, thanks to the control variate.
    // What is left is spread over the students of all cells: in the counts of single ones a little more.
    let (d, wide) = (at.len(), want.mean.len() / 2);
    for r in 0..want.mean.len() {
        let z = (got.mean[r] - want.mean[r]) / want.covariance[(r, r)].sqrt();
        assert!(z.abs() < if r % wide < d { 0.05 } else { 0.15 }, "{r}: {z}");
    }
    for counts in [d..wide, wide + d..2 * wide] {
        let of = |m: &nalgebra::DVector<f64>| counts.clone().map(|r| m[r]).sum::<f64>();
        let variance: f64 = counts.clone().map(|r| want.covariance[(r, r)]).sum();
        let z = (of(&got.mean) - of(&want.mean)) / variance.sqrt();
        assert!(z.abs() < 0.05, "{counts:?}: {z}");
    }
    assert!((&got.covariance - &want.covariance).amax() < 0.1 * want.covariance.amax());
    assert!((&got.jacobian - &want.jacobian).amax() < 0.1 * want.jacobian.amax());
}

#[test]
fn scores_agree_with_those_of_calibrations() {
    // The site's own scores over (ψ, s), by another route: panels and look-up tables.
    let plan = plan(Effects::Fixed, false, MissingAnswers::Wrong);
    let (p, at) = (ExpectedStudents::new(&plan).expect("population"), theta(&plan));
    let coordinates = &p.coordinates;
    let scorer = p.scorer(&at, 1);
    let row = [1u8, 2, 0, 1];
    let (mut u, mut log_p) = (vec![0.0; scorer.len()], [0.0]);
    scorer.score(&row, scorer.len(), &mut u, &mut log_p);
    let table = crate::responses::ResponseTable::new(1, 4, row.to_vec()).expect("a table");
    let data = SiteData::new(&table, &mixed(), 1.0);
    let (psi, s) = (coordinates.psi(&at), coordinates.effect(&at, 1));
    let normal = crate::population::Population::default();
    let mut seen = 0;
    data.each_student_score(&psi, s, &normal, |_, g| {
        seen += 1;
        assert!((g[g.len() - 1] - u[coordinates.items()]).abs() < 1e-10);
        // 2pl: ∂/∂b = −a ∂/∂d, ∂/∂log a = a ∂/∂a + d ∂/∂d.
        assert!((u[1] + psi[0] * g[1]).abs() < 1e-10);
        assert!((u[0] - psi[0] * g[0] - psi[1] * g[1]).abs() < 1e-10);
    });
    assert_eq!(seen, 1);
}
