//! The machine against an independent implementation, and at its limits.

use super::*;
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{MissingAnswers, Prior};
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_model::responses::{MISSING, ResponseTable};

fn design(items: &[(&str, u8)]) -> Design {
    let item = |(column, (model, categories)): (usize, &(&str, u8))| DesignItem {
        column,
        model: (*model).to_owned(),
        codes: (0..*categories).collect(),
    };
    items.iter().enumerate().map(item).collect::<Vec<_>>().try_into().expect("a design")
}

fn plan(items: &[(&str, u8)], effects: Effects, sizes: &[u64], settings: Settings) -> Plan {
    let sites = sizes.iter().enumerate().map(|(k, n)| (format!("s{k}"), *n)).collect();
    let mut plan = Plan::new(design(items), effects, sites, settings, 1.0);
    plan.grid = GridSpec { nodes: 21, range: 5.0, weighting: Weighting::Density };
    plan
}

/// Answers of a simple generator: x_j = 1 with probability 0.25 + 0.05 j + 0.1 k, times m for more categories.
fn tables(sites: usize, students: usize, categories: &[u8]) -> Vec<ResponseTable> {
    let mut state = 12_345u64;
    let mut site = |k: usize| {
        let mut cells = Vec::new();
        for _ in 0..students {
            for (j, m) in categories.iter().enumerate() {
                let mut answer = 0;
                for _ in 1..*m {
                    state = (state * 1_103_515_245 + 12_345) % (1 << 31);
                    let u = (state >> 16) as f64 / 32_768.0;
                    answer += u8::from(u < 0.25 + 0.05 * j as f64 + 0.1 * k as f64);
                }
                cells.push(answer);
            }
        }
        ResponseTable::new(students, categories.len(), cells).expect("a table")
    };
    (0..sites).map(&mut site).collect()
}

/// Σ g_i·min(1, C/‖g_i‖), without noise.
fn exact(tables: &[ResponseTable], request: &Request) -> Vec<f64> {
    let mut sums = vec![0.0; request.width().expect("a width")];
    for (k, table) in tables.iter().enumerate() {
        each_gradient(table, k, request, |g| {
            let norm = g.iter().map(|x| x * x).sum::<f64>().sqrt();
            sums.iter_mut().zip(g).for_each(|(s, x)| *s += x * (request.clip / norm.max(1e-300)).min(1.0));
        })
        .expect("gradients");
    }
    sums
}

fn run(plan: Plan, mut sums: impl FnMut(&Request) -> Vec<f64>) -> Estimates {
    let (mut machine, mut request) = FedirtDp::new(plan).expect("a machine");
    loop {
        match machine.advance(&sums(&request)).expect("a step") {
            DpStep::Ask(next) => request = *next,
            DpStep::Done(estimates) => return *estimates,
        }
    }
}

fn settings(rounds: usize, clip: f64, decay: Decay) -> Settings {
    let learning_rates = LearningRates { slope: 0.05, difficulty: 0.08, effect: 0.03 };
    Settings { rounds, clip, decay, learning_rates, ..Settings::published() }
}

#[test]
fn the_path_is_that_of_an_independent_implementation() {
    // numpy, on patterns instead of rows, with the noise left out.
    let cases = [
        (
            Effects::Fixed,
            settings(25, 1.5, Decay::Linear),
            [-0.304201683902, -0.397224503330, 0.078013988067, -0.565636023712, -0.501531332575],
            [0.893359790048, 0.814043546927, -0.054276214356, 0.601366718827, 0.362802971662],
            vec![-0.206447390067, 0.096826706876, 0.109620683191],
        ),
        (
            Effects::None,
            settings(12, 3.0, Decay::Constant),
            [-0.288417309196, -0.311076561775, 0.093525224928, -0.358302853759, -0.337565149280],
            [0.569389941804, 0.547123010261, 0.022599927897, 0.464602596685, 0.374391662843],
            Vec::new(),
        ),
    ];
    let tables = tables(3, 40, &[2; 10]);
    for (effects, settings, log_a, b, s) in cases {
        let plan = plan(&[("2pl", 2); 10], effects, &[40; 3], settings);
        let found = run(plan, |request| exact(&tables, request));
        let near = |x: f64, want: f64| assert!((x - want).abs() < 1e-9, "{x} {want}");
        for j in 0..5 {
            near(found.slope(j).ln(), log_a[j]);
            near(found.difficulties(j)[0], b[j]);
        }
        assert_eq!(found.effects().len(), s.len());
        found.effects().iter().zip(&s).for_each(|(x, want)| near(*x, *want));
    }
}

#[test]
fn a_gradient_is_the_papers() {
    let plan =
        plan(&[("2pl", 2), ("rasch-sd1", 2), ("2pl", 2)], Effects::Fixed, &[1, 1], Settings::published());
    let (_, mut request) = FedirtDp::new(plan).expect("a machine");
    request.theta = vec![0.3, -0.4, 0.8, -0.2, 0.5, 0.25, -0.25];
    let (a, b, x) = ([0.3f64.exp(), 1.0, (-0.2f64).exp()], [-0.4, 0.8, 0.5], [1u8, 0, 1]);
    let table = ResponseTable::new(1, 3, x.to_vec()).expect("a table");
    for (site, s) in [(0, 0.25), (1, -0.25)] {
        // Σ_n p(n) α(V(n) + s − β)(x − π(n)), and so on, by brute force.
        let nodes: Vec<f64> = (0..21).map(|n| -5.0 + 0.5 * n as f64).collect();
        let pi = |v: f64, j: usize| 1.0 / (1.0 + (-a[j] * (v + s - b[j])).exp());
        let p = |v: f64| {
            let each = (0..3).map(|j| if x[j] == 1 { pi(v, j) } else { 1.0 - pi(v, j) });
            each.product::<f64>() * (-0.5 * v * v).exp()
        };
        let total: f64 = nodes.iter().map(|v| p(*v)).sum();
        let mean = |f: &dyn Fn(f64) -> f64| nodes.iter().map(|v| p(*v) * f(*v)).sum::<f64>() / total;
        let residual = |j: usize| move |v: f64| f64::from(x[j]) - pi(v, j);
        let slope = |j: usize| a[j] * mean(&|v| (v + s - b[j]) * residual(j)(v));
        let difficulty = |j: usize| -a[j] * mean(&residual(j));
        let mut want = vec![slope(0), difficulty(0), difficulty(1), slope(2), difficulty(2), 0.0, 0.0];
        want[5 + site] = -(difficulty(0) + difficulty(1) + difficulty(2));
        each_gradient(&table, site, &request, |g| {
            g.iter().zip(&want).for_each(|(g, w)| assert!((g - w).abs() < 1e-12, "{g} {w}"));
        })
        .expect("a gradient");
    }
}

#[test]
fn without_noise_all_models_reach_the_largest_posterior() {
    let models: [&[(&str, u8)]; 4] =
        [&[("2pl", 2); 6], &[("rasch-sd1", 2); 6], &[("gpcm", 4); 4], &[("grm", 4), ("grm", 3), ("2pl", 2)]];
    for items in models {
        let categories: Vec<u8> = items.iter().map(|i| i.1).collect();
        let tables = tables(2, 300, &categories);
        // Without a prior on difficulties those of flat polytomous items are too far for Adam.
        let fixed = categories.iter().all(|m| *m == 2).then_some(Effects::Fixed);
        for effects in [Effects::None].into_iter().chain(fixed) {
            let settings = Settings {
                rounds: 1200,
                clip: 1e3,
                learning_rates: LearningRates::all(0.04),
                ..Settings::published()
            };
            let mut plan = plan(items, effects, &[300, 300], settings);
            if effects == Effects::Fixed {
                // Nothing pulls all difficulties, see the remark on centring.
                plan.prior.difficulty_sd = 1e3;
            }
            let (mean, precision) = plan.layout().expect("a layout").prior(&plan.prior);
            let (_, mut request) = FedirtDp::new(plan.clone()).expect("a machine");
            let found = run(plan, |request| exact(&tables, request));
            request.theta = found.theta.clone();
            // The pull of 600 students and that of the prior cancel out, to a quarter of the sampling error of
            // about 10.
            let slopes = || exact(&tables, &request).into_iter().enumerate();
            for (r, slope) in slopes().map(|(r, sum)| (r, sum - precision[r] * (found.theta[r] - mean[r]))) {
                assert!(slope.abs() < 2.5, "{items:?} {effects:?} {r}: {slope}");
            }
            assert!(found.effects().iter().sum::<f64>().abs() < 1e-12);
            assert_eq!(found.effects().len(), if effects == Effects::Fixed { 2 } else { 0 });
        }
    }
}

#[test]
fn the_prior_keeps_its_weight_under_sampling() {
    let tables = tables(2, 50, &[2; 5]);
    let with = |sampling_rate: f64, sample_weight: SampleWeight| {
        let settings = Settings { sampling_rate, sample_weight, rounds: 60, ..Settings::published() };
        let plan = plan(&[("2pl", 2); 5], Effects::Fixed, &[50; 2], settings);
        run(plan, |request| exact(&tables, request).iter().map(|s| s * request.sampling_rate).collect())
    };
    let all = with(1.0, SampleWeight::Students);
    assert_eq!(all.theta, with(1.0, SampleWeight::Sample).theta);
    assert_eq!(all.theta, with(0.125, SampleWeight::Students).theta);
    // As printed, an eighth of the students meets the whole prior, and slopes are drawn to 1.
    let printed = with(0.125, SampleWeight::Sample);
    let spread = |e: &Estimates| (0..5).map(|j| e.slope(j).ln().abs()).sum::<f64>();
    assert!(spread(&printed) < 0.7 * spread(&all), "{} {}", spread(&printed), spread(&all));
}

#[test]
fn bounds_hold_whatever_the_noise() {
    let items = [("2pl", 2), ("grm", 5), ("gpcm", 3)];
    let settings = Settings { learning_rates: LearningRates::all(3.0), ..Settings::published() };
    let plan = plan(&items, Effects::Fixed, &[9; 4], settings);
    let mut round = 0u32;
    let found = run(plan, |request| {
        round += 1;
        let b = &request.theta[3..7];
        assert!(b.windows(2).all(|w| w[1] > w[0]), "{b:?}");
        if round > 1 && round <= 11 {
            assert!((0.2f64.ln() - 1e-12..=3f64.ln() + 1e-12).contains(&request.theta[0]));
        }
        assert!(request.theta[10..].iter().sum::<f64>().abs() < 1e-9);
        (0..14u32).map(|r| f64::from((round * 7 + r * 13 + round * r) % 11) * 1e6 - 5e6).collect()
    });
    assert_eq!(found.rounds, 100);
    assert!(found.theta.iter().all(|x| x.abs() <= 16.0));
}

#[test]
fn a_run_may_stop_early_and_no_sooner() {
    let tables = tables(2, 50, &[2; 4]);
    let early = Settings { stop: Some(0.05), rounds: 2000, clip: 100.0, ..settings(1, 1.0, Decay::Constant) };
    let plan = plan(&[("2pl", 2); 4], Effects::None, &[50; 2], early);
    let found = run(plan.clone(), |request| exact(&tables, request));
    assert!((20..2000).contains(&found.rounds), "{}", found.rounds);
    let (mut machine, request) =
        FedirtDp::new(Plan { settings: Settings { rounds: 1, ..plan.settings }, ..plan }).expect("a machine");
    let sums = exact(&tables, &request);
    let refused = |machine: &mut FedirtDp, sums: &[f64]| {
        assert!(matches!(machine.advance(sums), Err(PrivateError::Sums { .. })));
    };
    refused(&mut machine, &sums[1..]);
    refused(&mut machine, &vec![f64::NAN; sums.len()]);
    assert!(matches!(machine.advance(&sums), Ok(DpStep::Done(_))));
    refused(&mut machine, &sums);
}

#[test]
fn rows_bear_hostile_requests_and_depend_on_themselves_alone() {
    let items = [("2pl", 2), ("grm", 3), ("gpcm", 3)];
    let mut plan = plan(&items, Effects::Fixed, &[3; 3], Settings::published());
    plan.missing = MissingAnswers::Counted;
    let (_, request) = FedirtDp::new(plan).expect("a machine");
    let rows = |cells: &[u8], request: &Request| {
        let table = ResponseTable::new(cells.len() / 3, 3, cells.to_vec()).expect("a table");
        let mut out = Vec::new();
        each_gradient(&table, 1, request, |g| out.push(g.to_vec())).expect("gradients");
        out
    };
    let here = rows(&[1, 2, 0, 0, MISSING, 1, 0, 1, 2], &request);
    assert_eq!(here[0], rows(&[1, 2, 0, 1, 1, 1], &request)[0]);
    assert!(here[1].iter().all(|x| *x == 0.0) && here[2].iter().any(|x| *x != 0.0));
    // Only its own site's effect moves.
    let at = here[0].len() - 3;
    assert!(here[0][at] == 0.0 && here[0][at + 1] != 0.0 && here[0][at + 2] == 0.0);
    for bad in [f64::NAN, f64::INFINITY, -1e308, 1e300, 0.0] {
        for r in 0..request.theta.len() {
            let mut theta = request.theta.clone();
            theta[r] = bad;
            assert_eq!(rows(&[1, 2, 0, 0, 0, 0], &Request { theta, ..request.clone() }).len(), 2);
        }
    }
    let table = ResponseTable::new(1, 3, vec![1, 1, 1]).expect("a table");
    let short = Request { theta: vec![0.0; 3], ..request.clone() };
    let many = Request { sites: usize::MAX, ..request.clone() };
    for (site, request) in [(3, &request), (1, &short), (1, &many)] {
        let answer = each_gradient(&table, site, request, |_| panic!("no row may be looked at"));
        assert!(matches!(answer, Err(PrivateError::Request(_))));
    }
}

#[test]
fn a_plan_that_cannot_be_run_is_refused() {
    let good = plan(&[("2pl", 2); 2], Effects::Fixed, &[5; 2], Settings::published());
    assert!(FedirtDp::new(good.clone()).is_ok());
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = good.clone();
        change(&mut plan);
        assert!(FedirtDp::new(plan).is_err());
    };
    refused(&|p| p.settings.rounds = 0);
    refused(&|p| p.settings.sampling_rate = 0.0);
    refused(&|p| p.settings.sampling_rate = 1.1);
    refused(&|p| p.settings.clip = f64::NAN);
    refused(&|p| p.settings.learning_rates.slope = 0.0);
    refused(&|p| p.noise_multiplier = 0.0);
    refused(&|p| p.prior = Prior { effect_sd: 0.0, ..Prior::default() });
    refused(&|p| p.sites.clear());
    refused(&|p| p.effects = Effects::Random);
    refused(&|p| p.booklets = vec![vec![7]]);
}

#[test]
fn reports_tell_no_more_than_sums_did() {
    let settings = Settings { rounds: 5, ..Settings::published() };
    let plan = plan(&[("2pl", 2), ("grm", 3)], Effects::Fixed, &[30; 2], settings);
    let tables = tables(2, 30, &[2, 3]);
    let found = run(plan.clone(), |request| exact(&tables, request));
    let privacy = fedirt_model::fit::Privacy {
        epsilon: 1.0,
        delta: 1e-6,
        epsilon_replaced: 2.1,
        mechanism: "fedirt_dp".into(),
        error_sources: Vec::new(),
        adjacency: "zero-out".into(),
        noise_multiplier: plan.noise_multiplier,
        rounds: 5,
        sites: 3,
        colluders: 1,
        holds_against: "the coordinator together with any 1 of the 3 sites".into(),
    };
    let fit = fit(&plan, &found, &["a".into(), "b".into()], privacy, String::new(), String::new());
    assert_eq!((fit.rounds, fit.npar, fit.numbers_sent), (5, 6, 35));
    assert!(fit.loglik.is_none() && fit.converged.is_none() && fit.max_gradient.is_none());
    assert!(fit.se_type.is_none() && fit.seed.is_none() && fit.curves.is_none());
    for item in &fit.items {
        assert!(item.n.is_none() && item.se_a.is_none() && item.se_b.iter().all(Option::is_none));
        assert!(item.se_d.len() == item.d.len() && item.se_d.iter().all(Option::is_none));
    }
    assert!(fit.sites.iter().all(|s| s.effect.is_some() && s.se.is_none() && s.n == 30));
    assert_eq!(fit.sites[1].name, "s1");
    assert!(fit.warnings.iter().any(|w| w.code == "no_standard_errors"));
}
