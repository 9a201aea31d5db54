//! The machine of score2 through the public interface.

use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Privacy;
use fedirt_model::private::{
    PrivateCalibration, PrivateError, PrivatePlan, PrivateResult, PrivateStep, each_row_statistic, fit,
};
use fedirt_model::responses::ResponseTable;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const SITES: usize = 4;
const ROWS: usize = 500;

fn design(items: usize) -> Design {
    let item = |column| DesignItem { column, model: "2pl".into(), codes: vec![0, 1] };
    (0..items).map(item).collect::<Vec<_>>().try_into().expect("a design")
}

fn plan(items: usize, effects: Effects, mu: f64) -> PrivatePlan {
    let sites = (0..SITES).map(|k| (format!("s{k}"), ROWS as u64)).collect();
    PrivatePlan::new(design(items), effects, sites, mu).expect("a plan")
}

/// Slopes of 0.8 and 1.6, difficulties from −1 to 1, effects ±0.5.
fn truth(items: usize, j: usize) -> (f64, f64) {
    (if j.is_multiple_of(2) { 0.8 } else { 1.6 }, 2.0 * j as f64 / (items - 1) as f64 - 1.0)
}

fn effect(k: usize) -> f64 {
    if k < SITES / 2 { 0.5 } else { -0.5 }
}

fn tables(items: usize) -> Vec<ResponseTable> {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    (0..SITES)
        .map(|k| {
            let mut cells = Vec::new();
            for _ in 0..ROWS {
                // Box and Muller.
                let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
                let t = effect(k) + radius * (std::f64::consts::TAU * rng.random::<f64>()).cos();
                for j in 0..items {
                    let (a, b) = truth(items, j);
                    let p = 1.0 / (1.0 + (-a * (t - b)).exp());
                    cells.push(u8::from(rng.random::<f64>() < p));
                }
            }
            ResponseTable::new(ROWS, items, cells).expect("a table")
        })
        .collect()
}

/// Clipped sums without noise.
fn run(plan: PrivatePlan, tables: &[ResponseTable]) -> Result<PrivateResult, PrivateError> {
    let (mut machine, mut request) = PrivateCalibration::new(plan)?;
    loop {
        let mut sums = vec![0.0; request.width()?];
        for (k, table) in tables.iter().enumerate() {
            each_row_statistic(table, k, &request, |row| {
                let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                let factor = (request.clip / norm).min(1.0);
                sums.iter_mut().zip(row).for_each(|(s, x)| *s += factor * x);
            })?;
        }
        match machine.advance(&sums)? {
            PrivateStep::Ask(next) => request = *next,
            PrivateStep::Done(result) => return Ok(*result),
        }
    }
}

#[test]
fn clipped_sums_are_free_of_bias() {
    // 8 items are enumerated, 20 simulated; nearly half of the rows are clipped.
    for items in [8, 20] {
        let result = run(plan(items, Effects::Fixed, 5.0), &tables(items)).expect("a run");
        for (j, item) in result.items().iter().enumerate() {
            let (a, b) = truth(items, j);
            assert!((item.a - a).abs() < 4.0 * item.se_a.expect("an error"), "{j}: {item:?}");
            assert!((item.b[0] - b).abs() < 4.0 * item.se_b[0], "{j}: {item:?}");
            assert!(item.se_b[0] < 0.2 && item.se_d[0] < 0.2);
        }
        let sites = result.sites();
        assert!(sites.iter().map(|s| s.0).sum::<f64>().abs() < 1e-9);
        for (k, (s, se)) in sites.iter().enumerate() {
            assert!((s - effect(k)).abs() < 4.0 * se && *se < 0.1, "{k}: {s} ± {se}");
        }
    }
}

#[test]
fn without_effects_the_sd_between_sites_is_part_of_ability() {
    let mut plan = plan(8, Effects::None, 5.0);
    plan.site_sd = 0.5;
    let result = run(plan, &tables(8)).expect("a run");
    assert!(result.sites().is_empty());
    for (j, item) in result.items().iter().enumerate() {
        let (a, b) = truth(8, j);
        assert!((item.a - a).abs() < 4.0 * item.se_a.expect("an error"), "{j}: {item:?}");
        assert!((item.b[0] - b).abs() < 4.0 * item.se_b[0], "{j}: {item:?}");
    }
}

#[test]
fn the_same_sums_give_the_same_estimates_for_any_number_of_threads() {
    for items in [8, 14] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| run(plan(items, Effects::Fixed, 1.0), &tables(items)).expect("a run"))
        };
        assert_eq!(with(1), with(3));
    }
}

#[test]
fn the_question_does_not_depend_on_data_before_the_first_answer() {
    let (mut machine, first) = PrivateCalibration::new(plan(8, Effects::Fixed, 0.3)).expect("a run");
    assert!(first.theta.iter().all(|x| *x == 0.0));
    // Nonsense within the noise still gives an answer; nonsense beyond numbers does not.
    let expected = first.width().expect("a width");
    for sums in [vec![f64::NAN; expected], vec![0.0; expected + 1], Vec::new()] {
        assert_eq!(machine.advance(&sums).err(), Some(PrivateError::Sums { round: 1, expected }));
    }
    let Ok(PrivateStep::Ask(_)) = machine.advance(&vec![1e4; expected]) else { panic!("a second round") };
    let Ok(PrivateStep::Done(result)) = machine.advance(&vec![-1e4; expected]) else { panic!("an end") };
    assert!(result.theta.iter().all(|x| x.is_finite()));
    assert!(machine.advance(&vec![0.0; expected]).is_err());
}

#[test]
fn plans_that_cannot_be_run_are_refused() {
    let refused = |change: &dyn Fn(&mut PrivatePlan)| {
        let mut plan = plan(8, Effects::Fixed, 1.0);
        change(&mut plan);
        assert!(matches!(PrivateCalibration::new(plan), Err(PrivateError::Plan(_))));
    };
    refused(&|p| p.noise_sd = vec![1.0]);
    refused(&|p| p.noise_sd[1] = 0.0);
    refused(&|p| p.mu = f64::NAN);
    refused(&|p| p.sites[0].rows.push(3));
    refused(&|p| p.sites.clear());
    refused(&|p| p.booklets = vec![vec![]]);
    refused(&|p| p.prior.effect_sd = 0.0);
    refused(&|p| p.grid.nodes = 1);
    refused(&|p| p.site_sd = -1.0);
}

#[test]
fn a_fit_that_ends_on_a_bound_or_nowhere_says_so() {
    let names: Vec<String> = (0..8).map(|j| format!("i{j}")).collect();
    let codes = |result: &PrivateResult| -> Vec<(String, String)> {
        result.warnings(&names, &names[..SITES]).into_iter().map(|w| (w.code, w.message)).collect()
    };
    // Nobody solves the first item, and the prior has nothing against it.
    let mut plan = plan(8, Effects::Fixed, 50.0);
    plan.prior.difficulty_sd = 50.0;
    let unsolved: Vec<ResponseTable> = (tables(8).iter())
        .map(|table| {
            let mut cells: Vec<u8> = table.rows().flatten().copied().collect();
            cells.chunks_exact_mut(8).for_each(|row| row[0] = 0);
            ResponseTable::new(ROWS, 8, cells).expect("a table")
        })
        .collect();
    let result = run(plan.clone(), &unsolved).expect("a run");
    let told = codes(&result);
    assert!(told.iter().any(|(code, text)| code == "on_a_bound" && text.starts_with("i0: ")), "{told:?}");
    let sound = run(plan.clone(), &tables(8)).expect("a run");
    assert!(sound.converged && sound.on_bound.is_empty() && codes(&sound).is_empty(), "{:?}", codes(&sound));

    // Sums that contradict each other.
    let (mut machine, first) = PrivateCalibration::new(plan.clone()).expect("a run");
    let width = first.width().expect("a width");
    machine.advance(&vec![1e4; width]).expect("a second question");
    let Ok(PrivateStep::Done(result)) = machine.advance(&vec![-1e4; width]) else { panic!("an end") };
    let told = codes(&result);
    assert!(told.iter().any(|(code, _)| code == "no_convergence" || code == "on_a_bound"), "{told:?}");
    assert_eq!(result.converged, told.iter().all(|(code, _)| code != "no_convergence"));
}

#[test]
fn nothing_but_estimates_is_reported() {
    let plan = plan(8, Effects::Fixed, 0.1);
    let result = run(plan.clone(), &tables(8)).expect("a run");
    let privacy = Privacy {
        epsilon: 0.4,
        delta: 1e-6,
        epsilon_replaced: 2.1,
        mechanism: "score2".into(),
        error_sources: Vec::new(),
        adjacency: "zero-out".into(),
        noise_multiplier: 10.0,
        rounds: 2,
        sites: 3,
        colluders: 1,
        holds_against: "the coordinator together with any 1 of the 3 sites".into(),
    };
    let names: Vec<String> = (0..8).map(|j| format!("i{j}")).collect();
    let fit = fit(&plan, &result, &names, privacy, String::new(), String::new());
    assert_eq!((fit.n, fit.npar, fit.rounds, fit.exchanges), (2000, 19, 2, 2));
    assert_eq!(fit.numbers_sent, 2 * 19);
    let numbers = [fit.loglik, fit.aic, fit.bic, fit.sabic, fit.max_gradient, fit.condition_number];
    assert_eq!(numbers, [None; 6]);
    // Whether the fit of noisy sums came to rest is a function of these sums.
    assert_eq!((fit.converged, fit.seed), (Some(true), None));
    assert!(fit.curves.is_none() && fit.ability_histogram.is_none());
    assert!(fit.items.iter().all(|i| i.n.is_none() && i.se_a.is_some() && i.se_b[0].is_some()));
    assert!(fit.sites.iter().all(|s| s.effect.is_some() && s.se.is_some() && s.n == 500));
    let sites: Vec<String> = plan.sites.iter().map(|s| s.name.clone()).collect();
    assert_eq!(result.covariance_names(&names, &sites).len(), result.reported_covariance().nrows());
    // d/(μ²N) = 19/20.
    assert!((result.noise_ratio - 0.95).abs() < 1e-12 && fit.warnings.is_empty());
}
