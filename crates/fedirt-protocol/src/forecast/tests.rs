//! Forecasts by themselves. Those of the research crate compare them with runs on simulated data.

use super::*;
use fedirt_model::exchange::Effects;
use fedirt_model::private::{MissingAnswers, PrivateMechanism, PrivateMethod};
use fedirt_privacy::accountant::{Delta, GaussianDp};

fn planned(items: usize, sites: usize, each: u64) -> PlannedStudy {
    PlannedStudy {
        items: vec![("2pl".into(), 2); items],
        sites: (0..sites).map(|k| (format!("s{k}"), each)).collect(),
        effects: Effects::Fixed,
        site_sd: 0.0,
        missing: MissingAnswers::Wrong,
        booklets: Vec::new(),
        mixture: false,
        method: PrivateMethod::default(),
        delta: 1e-6,
        colluders: 0,
    }
}

#[test]
fn many_small_schools_cannot_have_effects() {
    let found = outlook(&planned(15, 50, 7), None, &[1.0, 1e4]).unwrap();
    // More than a prior of SD 1 leaves open; and three quarters of that SD remain when both are put together.
    let alone = found.private[0].sums_alone.s.unwrap();
    assert!((1.1..1.4).contains(&alone), "{alone}");
    assert!(found.private[0].reported.s.unwrap() > 0.75);
    assert!(found.private[0].noise_ratio > 1.0);
    let none = outlook(&PlannedStudy { effects: Effects::None, ..planned(15, 50, 7) }, None, &[1.0]).unwrap();
    assert!(none.private[0].reported.s.is_none());
    assert!(none.private[0].sums_alone.b < found.private[0].sums_alone.b);
}

/// Three times the squared error of a fit without noise is called unusable, in words, and only that.
#[test]
fn a_plan_that_tells_too_little_is_called_unusable() {
    let small = planned(30, 5, 60);
    let found = outlook(&small, None, &[1.0, 6.0]).unwrap();
    let by_hand = |at: &Expected| at.reported.total() / found.without_noise.total();
    assert!(found.private.iter().all(|at| (at.over_no_noise - by_hand(at)).abs() < 1e-12));
    let (strict, light) = (found.private[0].over_no_noise, found.private[1].over_no_noise);
    assert!(strict > UNUSABLE && light < UNUSABLE, "{strict} {light}");
    let told: Vec<String> = remarks(&small, &found).iter().map(|r| r.told("none")).collect();
    assert!(told[0].starts_with("unusable at ε = 1:"), "{told:?}");
    let large = planned(10, 5, 2000);
    let found = outlook(&large, None, &[1.0]).unwrap();
    assert!(!remarks(&large, &found).iter().any(|r| matches!(r, Remark::Unusable { .. })));
}

/// The optimal statistic promises a smaller error than score2 at the same noise, and keeps it for long tests.
#[test]
fn the_optimal_statistic_is_better_than_score2() {
    for (items, sites, each) in [(8, 5, 200), (25, 4, 250)] {
        let optimal = planned(items, sites, each);
        let method = PrivateMethod { mechanism: PrivateMechanism::Score2, ..optimal.method };
        let score2 = PlannedStudy { method, ..optimal.clone() };
        let of = |planned: &PlannedStudy| outlook(planned, None, &[1.0]).unwrap().private[0].reported.total();
        let ratio = of(&optimal) / of(&score2);
        assert!((0.6..0.97).contains(&ratio), "{items} items: {ratio}");
    }
}

#[test]
fn booklets_and_a_mixture_cost_precision() {
    let whole = planned(6, 3, 401);
    let halves = PlannedStudy { booklets: vec![vec![0, 1, 2, 3], vec![2, 3, 4, 5]], ..whole.clone() };
    let apart = PlannedStudy { mixture: true, ..whole.clone() };
    let b = |planned: &PlannedStudy| {
        let found = outlook(planned, None, &[4.0]).unwrap();
        assert_eq!(found.students, 3 * 401, "students are spread over booklets, none is lost");
        (found.maximum_likelihood.b, found.private[0].reported.b)
    };
    let (all, half, mixed) = (b(&whole), b(&halves), b(&apart));
    // Two of three answers of a student are left: errors grow by a factor of about √1.5.
    assert!((1.15..1.6).contains(&(half.0 / all.0)) && half.1 > all.1, "{half:?} {all:?}");
    assert!(mixed.0 > all.0 && mixed.1 > all.1, "{mixed:?} {all:?}");
}

#[test]
fn hardly_any_noise_is_none() {
    let mut planned = planned(6, 3, 400);
    for (model, categories) in [("2pl", 2), ("rasch-sd1", 2), ("gpcm", 4), ("grm", 4)] {
        planned.items = vec![(model.into(), categories); 6];
        let found = outlook(&planned, None, &[0.5, 8.0, 1e5]).unwrap();
        let b: Vec<f64> = found.private.iter().map(|p| p.reported.b).collect();
        assert!(b[0] > b[1] && b[1] > b[2] && b[2] >= 0.999 * found.without_noise.b, "{model}: {found:?}");
        // What is left is what clipping loses.
        assert!(b[2] < 1.1 * found.without_noise.b, "{model}: {found:?}");
        assert_eq!(found.without_noise.a.is_none(), model == "rasch-sd1");
        // Counting complete rows changes nothing where all are.
        let counted = PlannedStudy { missing: MissingAnswers::Counted, ..planned.clone() };
        let counted = outlook(&counted, None, &[1e5]).unwrap();
        assert!((counted.private[0].reported.b / b[2] - 1.0).abs() < 0.01, "{model}: {counted:?}");
        assert!((counted.without_noise.b / found.without_noise.b - 1.0).abs() < 1e-9, "{model}");
    }
}

/// ε + 2η at δ with room for κ, by [`fedirt_privacy::accountant::Slack::epsilon`]: never above the ε that is quoted.
#[test]
fn the_quoted_epsilon_covers_noise_in_integers() {
    let delta = Delta::new(1e-6).unwrap();
    for epsilon in [0.1, 1.0, 8.0, 16.0] {
        let study =
            StudyAtEpsilon::new(&PlannedStudy { colluders: 1, ..planned(6, 10, 100) }, epsilon).unwrap();
        // Any L will do; this one leaves little of δ to the tail.
        let tail = 40.0 + epsilon - delta.value().ln();
        let of = |stage: usize| study.noise(stage).unwrap().shares.noise().slack(1, tail).unwrap();
        let slack = of(0).and(of(1));
        assert!(slack.eta > 0.0 && slack.kappa > 0.0);
        let gaussian = GaussianDp::new(study.plan.mu).unwrap();
        let whole = slack.epsilon(delta, |delta| gaussian.epsilon(delta)).unwrap();
        assert!(whole <= epsilon && whole > epsilon * (1.0 - 1e-4), "{epsilon}: {whole}");
    }
}

#[test]
fn colluders_cost() {
    let errors =
        |colluders: usize| outlook(&PlannedStudy { colluders, ..planned(6, 10, 100) }, None, &[1.0]).unwrap();
    let (none, five) = (errors(0), errors(5));
    let ratio = five.private[0].noise_sd[0] / none.private[0].noise_sd[0];
    assert!((ratio - 2f64.sqrt()).abs() < 1e-4, "{ratio}");
    // |U|/(|U| − c) of the variance, and the ratio says so.
    let ratio = five.private[0].noise_ratio / none.private[0].noise_ratio;
    assert!((ratio - 2.0).abs() < 1e-3, "{ratio}");
    assert!(five.private[0].reported.b > none.private[0].reported.b);
    assert!(outlook(&PlannedStudy { colluders: 10, ..planned(6, 10, 100) }, None, &[1.0]).is_err());
}
