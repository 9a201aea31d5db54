//! Forecasts against runs on simulated data.

use super::{run, uniform_truth};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{Forecast, MissingAnswers, PrivateResult};
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::{Missing, SiteEffects, SiteRows, SiteSizes, Spec};
use fedirt_protocol::forecast::{Errors, PlannedStudy, StudyAtEpsilon};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// 8 items, 5 sites of 600 students, ε = 2, one colluder: the forecast at the truth, the errors that runs report, and
/// how far their estimates scatter over fresh answers and fresh noise. (Priors matter little here: they pull estimates
/// together by 2 %.)
fn compare(replications: u64) -> ([f64; 3], [f64; 3], [f64; 3]) {
    let planned = PlannedStudy {
        items: vec![("2pl".into(), 2); 8],
        sites: (0..5).map(|k| (format!("s{k}"), 600)).collect(),
        effects: Effects::Fixed,
        site_sd: 0.0,
        missing: MissingAnswers::Wrong,
        booklets: Vec::new(),
        mixture: false,
        method: fedirt_model::private::PrivateMethod::default(),
        delta: 1e-6,
        colluders: 1,
    };
    let mut study = StudyAtEpsilon::new(&planned, 2.0).unwrap();
    study.plan.noise_sd = study.noise_sd().unwrap().to_vec();
    let truth = uniform_truth(8, &[600; 5], &mut ChaCha8Rng::seed_from_u64(3));
    let a: Vec<f64> = truth.items.iter().map(|i| i.a).collect();
    let b: Vec<Vec<f64>> = truth.items.iter().map(|i| i.b.clone()).collect();
    let s: Vec<f64> = truth.sites.iter().map(|s| s.effect).collect();
    let theta = study.plan.coordinates().unwrap().theta(&a, &b, &s, [0.0; 2]);
    let forecast = Forecast::new(&study.plan, &theta).unwrap();
    let said = forecast.at(study.noise_sd().unwrap()).unwrap().reported;
    let results: Vec<PrivateResult> = (0..replications)
        .into_par_iter()
        .map(|seed| {
            let spec = Spec {
                sites: 5,
                students: SiteSizes::Each(600),
                items: 8,
                model: "2pl".into(),
                categories: 2,
                effects: SiteEffects::Given(s.clone()),
                missing: Missing::Complete,
                latent_sd: 1.0,
                seed: 700 + seed,
            };
            let tables: Vec<ResponseTable> =
                (0..5).map(|k| SiteRows::new(&spec, &truth, k).into_table()).collect();
            run(study.plan.clone(), &tables, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap()
        })
        .collect();
    let errors = |r: &PrivateResult| {
        let e = Errors::of(r);
        [e.a.unwrap(), e.b, e.s.unwrap()]
    };
    let n = replications as f64;
    let mean = |k: usize| results.iter().map(|r| errors(r)[k]).sum::<f64>() / n;
    let estimates = |r: &PrivateResult| -> [Vec<f64>; 3] {
        let items = r.items();
        [
            items.iter().map(|i| i.a).collect(),
            items.iter().map(|i| i.b[0]).collect(),
            r.sites().iter().map(|s| s.0).collect(),
        ]
    };
    let all: Vec<[Vec<f64>; 3]> = results.iter().map(estimates).collect();
    let scatter = |k: usize| {
        let count = all[0][k].len();
        let variance = |p: usize| {
            let mean = all.iter().map(|e| e[k][p]).sum::<f64>() / n;
            all.iter().map(|e| (e[k][p] - mean).powi(2)).sum::<f64>() / (n - 1.0)
        };
        ((0..count).map(variance).sum::<f64>() / count as f64).sqrt()
    };
    (errors(&said), [mean(0), mean(1), mean(2)], [scatter(0), scatter(1), scatter(2)])
}

#[test]
fn forecasts_are_what_runs_report_and_how_far_they_scatter() {
    let (said, reported, scatter) = compare(100);
    println!("forecast {said:.4?}, reported {reported:.4?}, scatter {scatter:.4?}");
    for k in 0..3 {
        assert!((reported[k] / said[k] - 1.0).abs() < 0.05, "{said:?} {reported:?}");
        // The SD of 100 runs has an error of 7 % in one parameter, and about 4 % over those of a kind.
        assert!((scatter[k] / said[k] - 1.0).abs() < 0.12, "{said:?} {scatter:?}");
    }
}
