//! Formulas against brute force: differences, and sums over all answer patterns.

use super::cells::{ExpectedStudents, Purpose, Sample};
use super::expectation::{Release, information, moments};
use super::fisher::{packed, unpacked, whitening};
use super::optimal::{Aim, optimal};
use super::plan::{MissingAnswers, PrivatePlan, SitePlan};
use super::row_statistic::{PrivateMechanism, RowStatistic, bound};
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
fn plan(effects: Effects, mixture: bool, missing: MissingAnswers) -> PrivatePlan {
    let sites = (0..3).map(|k| (format!("s{k}"), 100)).collect();
    let mut plan = PrivatePlan::new(mixed(), effects, sites, 0.5).expect("a plan");
    plan.booklets = vec![vec![0, 1, 2, 3], vec![1, 2]];
    plan.sites = (0..3).map(|k| SitePlan { name: format!("s{k}"), rows: vec![50 + 30 * k, 40] }).collect();
    (plan.mixture, plan.missing) = (mixture, missing);
    plan.site_sd = 0.4;
    plan.noise_sd = plan.central_noise().expect("noise");
    plan
}

fn theta(plan: &PrivatePlan) -> Vec<f64> {
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

fn plans() -> Vec<PrivatePlan> {
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

/// The questions of two rounds, one of each mechanism or two of score2.
fn asked(
    p: &ExpectedStudents,
    at: &[f64],
    clip: f64,
    second: PrivateMechanism,
) -> Vec<(Vec<f64>, RowStatistic)> {
    let first: Vec<f64> = at.iter().map(|x| 0.7 * x).collect();
    let whitened = |t: &[f64]| RowStatistic::Whitened(packed(&whitening(p, t, 0).expect("regular")));
    let second = match second {
        PrivateMechanism::Score2 => whitened(at),
        PrivateMechanism::Optimal => {
            let known = DMatrix::identity(at.len(), at.len());
            let aim = Aim { theta: at, known: &known, noise_sd: 8.0, bound: bound(clip, p.counted()) };
            optimal(p, &aim, 1).expect("regular")
        }
    };
    vec![(first.clone(), whitened(&first)), (at.to_vec(), second)]
}

fn releases(p: &ExpectedStudents, asked: &[(Vec<f64>, RowStatistic)], clip: f64) -> Vec<Release> {
    asked.iter().map(|(t, statistic)| Release::new(p, t.clone(), statistic, clip)).collect()
}

/// ψ of a score, by its definition: λ by bisection.
fn by_definition(statistic: &RowStatistic, site: usize, g: &[f64], clip: f64, counted: bool) -> Vec<f64> {
    let d = g.len();
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    match statistic {
        RowStatistic::Whitened(w) => {
            let w = unpacked(w, d);
            let u: Vec<f64> = (0..d).map(|r| (0..d).map(|c| w[(r, c)] * g[c]).sum()).collect();
            let norm = length(&u).hypot(f64::from(u8::from(counted)));
            u.iter().map(|x| x * (clip / norm).min(1.0)).collect()
        }
        RowStatistic::Optimal { scores, curvature, centres } => {
            let right: Vec<f64> = (0..d)
                .map(|r| centres[site][r] + (0..d).map(|c| scores[r * d + c] * g[c]).sum::<f64>())
                .collect();
            let at = |lambda: f64| -> Vec<f64> {
                right.iter().zip(curvature).map(|(x, h)| x / (h + lambda)).collect()
            };
            let most = if counted { (clip * clip - 1.0).sqrt() } else { clip };
            let (mut low, mut high) = (0.0, length(&right) / most);
            if length(&at(0.0)) <= most {
                return at(0.0);
            }
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if length(&at(middle)) > most { low = middle } else { high = middle }
            }
            at(high)
        }
    }
}

#[test]
fn the_derivative_of_the_expected_sums_is_a_covariance() {
    let both = |plan: PrivatePlan| PrivateMechanism::ALL.map(|second| (plan.clone(), second));
    for (plan, second) in plans().into_iter().flat_map(both) {
        let (p, at) = (ExpectedStudents::new(&plan).expect("population"), theta(&plan));
        // Short enough that many patterns are clipped.
        let clip = 0.7 * (at.len() as f64).sqrt();
        let releases = releases(&p, &asked(&p, &at, clip, second), clip);
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
    PrivateMechanism::ALL.into_iter().for_each(moments_of);
}

fn moments_of(second: PrivateMechanism) {
    let plan = plan(Effects::Fixed, false, MissingAnswers::Counted);
    let (p, at) = (ExpectedStudents::new(&plan).expect("population"), theta(&plan));
    let clip = 0.7 * (at.len() as f64).sqrt();
    let counts = p.counts.len();
    assert_eq!(counts, 6, "three sites with two booklets");
    let rho: Vec<f64> = (0..counts).map(|c| 0.95 - 0.15 * c as f64).collect();
    let wide = at.len() + counts;
    let asked = asked(&p, &at, clip, second);
    let releases = releases(&p, &asked, clip);
    let got = moments(&p, &at, &rho, &releases, EXACT).expect("moments");
    let (mut mean, mut cov) = (vec![0.0; 2 * wide], DMatrix::<f64>::zeros(2 * wide, 2 * wide));
    for (cell, c) in p.cells.iter().enumerate() {
        let probability = scores(&p, &at, cell);
        let psi: Vec<Vec<f64>> = (0..probability.len())
            .map(|i| {
                let mut v = Vec::new();
                for (theta, statistic) in &asked {
                    let g = &scores(&p, theta, cell)[i].1;
                    let mut psi = by_definition(statistic, c.site, g, clip, true);
                    let one = match statistic {
                        // The count is cut with the rest.
                        RowStatistic::Whitened(w) => {
                            let whole =
                                by_definition(&RowStatistic::Whitened(w.clone()), c.site, g, 1e9, true);
                            let length = whole.iter().map(|x| x * x).sum::<f64>().sqrt().hypot(1.0);
                            (clip / length).min(1.0)
                        }
                        RowStatistic::Optimal { .. } => 1.0,
                    };
                    psi.extend((0..counts).map(|h| if h == 2 * c.site + c.booklet { one } else { 0.0 }));
                    assert!(psi.iter().map(|x| x * x).sum::<f64>() <= clip * clip * (1.0 + 1e-12));
                    v.extend(psi);
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
    PrivateMechanism::ALL.into_iter().for_each(simulated_moments_of);
}

fn simulated_moments_of(second: PrivateMechanism) {
    let mut plan = plan(Effects::Fixed, true, MissingAnswers::Counted);
    let exact = ExpectedStudents::new(&plan).expect("population");
    let at = theta(&plan);
    let clip = 0.9 * (at.len() as f64).sqrt();
    let rho = match second {
        PrivateMechanism::Score2 => [0.9, 0.5, 0.8, 0.7, 0.9, 0.6],
        // All rows are complete, so that the information is known below.
        PrivateMechanism::Optimal => [1.0; 6],
    };
    let asked = asked(&exact, &at, clip, second);
    let releases_exact = releases(&exact, &asked, clip);
    let want = moments(&exact, &at, &rho, &releases_exact, EXACT).expect("moments");
    plan.seed = 5;
    let mut simulated = ExpectedStudents::new(&plan).expect("population");
    simulated.simulate_only();
    let releases = releases(&simulated, &asked, clip);
    let sample = Sample { draws: 20_000.0, purpose: Purpose::Steps(0) };
    let got = moments(&simulated, &at, &rho, &releases, sample).expect("moments");
    // The mean is off by a small part of the sampling error of the sums, thanks to the control variate.
    // What is left is spread over the students of all cells: in the counts of single ones a little more.
    let (d, wide) = (at.len(), want.mean.len() / 2);
    if second == PrivateMechanism::Optimal {
        // Bounded scores are less like scores: the variate leaves S − GF⁻¹Gᵀ of their variance, times N/M.
        let f = information(&exact, &at, EXACT).cholesky().expect("regular");
        let g = want.jacobian.columns(0, d).into_owned();
        let left = &want.covariance - &g * f.solve(&g.transpose());
        let part = exact.students / simulated.all_draws(sample);
        for r in (0..d).chain(wide..wide + d) {
            let z = (got.mean[r] - want.mean[r]) / (left[(r, r)] * part).sqrt();
            assert!(z.abs() < 4.0, "{r}: {z}");
        }
        assert!((&got.covariance - &want.covariance).amax() < 0.1 * want.covariance.amax());
        assert!((&got.jacobian - &want.jacobian).amax() < 0.1 * want.jacobian.amax());
        return;
    }
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

/// The mean squared error to first order, tr(W (GᵀV⁻¹G + Λ)⁻¹), of a statistic at the point where it is chosen.
fn loss(p: &ExpectedStudents, at: &[f64], statistic: &RowStatistic, clip: f64, noise_sd: f64) -> f64 {
    let release = Release::new(p, at.to_vec(), statistic, clip);
    let found = moments(p, at, &[], &[release], EXACT).expect("moments");
    let told = found.information(&[noise_sd]).expect("regular") + DMatrix::identity(at.len(), at.len());
    let inverse = told.cholesky().expect("regular").inverse();
    let coordinates = &p.coordinates;
    let design = coordinates.design();
    let free: Vec<usize> = (0..design.len()).filter(|j| coordinates.slope_is_free(*j)).collect();
    let b = (coordinates.items() - free.len()) as f64;
    let mut sum = 0.0;
    for j in 0..design.len() {
        if coordinates.slope_is_free(j) {
            let at_j = coordinates.span(j).start;
            sum += (2.0 * at[at_j]).exp() * inverse[(at_j, at_j)] / free.len() as f64;
        }
        sum += coordinates.difficulties(j).map(|r| inverse[(r, r)]).sum::<f64>() / b;
    }
    sum + coordinates.contrast_span().map(|r| inverse[(r, r)]).sum::<f64>() / 3.0
}

#[test]
fn no_statistic_nearby_is_better_than_the_optimal_one() {
    let plan = plan(Effects::Fixed, false, MissingAnswers::Wrong);
    let (p, at) = (ExpectedStudents::new(&plan).expect("population"), theta(&plan));
    let known = DMatrix::identity(at.len(), at.len());
    let (clip, noise_sd) = ((at.len() as f64).sqrt(), 30.0);
    let best = optimal(&p, &Aim { theta: &at, known: &known, noise_sd, bound: clip }, 1).expect("regular");
    let least = loss(&p, &at, &best, clip, noise_sd);
    let whitened = RowStatistic::Whitened(packed(&whitening(&p, &at, 1).expect("regular")));
    let before = loss(&p, &at, &whitened, clip, noise_sd);
    assert!(least < 0.97 * before, "{least} {before}");
    // Any change of the numbers costs: the loss is flat to first order.
    let RowStatistic::Optimal { scores, curvature, centres } = &best else { panic!("optimal") };
    for seed in 0..40u64 {
        let wobble = |x: f64, i: usize, by: f64| x * (1.0 + by * ((seed * 31 + i as u64 * 17) as f64).sin());
        for by in [0.02, -0.02, 0.3] {
            let changed = RowStatistic::Optimal {
                scores: scores.iter().enumerate().map(|(i, x)| wobble(*x, i, by)).collect(),
                curvature: curvature.iter().enumerate().map(|(i, x)| wobble(*x, i + 7, by)).collect(),
                centres: centres.clone(),
            };
            let other = loss(&p, &at, &changed, clip, noise_sd);
            assert!(other > least * (1.0 - 2e-4), "{seed} {by}: {other} {least}");
        }
    }
}
