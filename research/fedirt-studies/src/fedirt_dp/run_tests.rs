//! Whole runs with both kinds of noise, and what their results say about privacy.

use super::*;
use fedirt_model::centre::{ItemPlan, Secrecy};
use fedirt_model::fit::Fit;
use fedirt_model::private::MissingAnswers;
use fedirt_model::quadrature::GridSpec;
use fedirt_model::simulate::{Missing, SiteEffects, SiteSizes, Spec, simulate};

const ITEMS: usize = 6;

fn sites(sites: usize, students: usize, seed: u64) -> Vec<(String, ResponseTable)> {
    let effect = |k: usize| 0.4 * (k as f64 - (sites - 1) as f64 / 2.0);
    let spec = Spec {
        sites,
        students: SiteSizes::Each(students),
        items: ITEMS,
        model: "2pl".into(),
        categories: 2,
        effects: SiteEffects::Given((0..sites).map(effect).collect()),
        missing: Missing::Complete,
        latent_sd: 1.0,
        seed,
    };
    simulate(&spec).expect("a sound specification").sites()
}

fn terms(epsilon: f64) -> PrivateTerms {
    PrivateTerms {
        epsilon,
        delta: 1e-6,
        mixture: false,
        missing: MissingAnswers::Wrong,
        site_sd: 0.0,
        booklets: Vec::new(),
        method: fedirt_model::private::PrivateMethod::default(),
        seed: 1,
    }
}

fn fit_of(
    effects: Effects,
    epsilon: f64,
    how: (Settings, NoiseAt),
    sites: &[(String, ResponseTable)],
    seed: u64,
) -> Fit {
    let item = |j: usize| ItemPlan {
        name: format!("i{j}"),
        model: Some("2pl".into()),
        codes: Some(vec![0, 1]),
        merged: Vec::new(),
        anchor: None,
    };
    let plan = centre::Plan {
        items: (0..ITEMS).map(item).collect(),
        effects,
        population: GridSpec::default().into(),
        settings: centre::Settings::default(),
        publish_effects: false,
        secrecy: Secrecy::BySite,
        diagnostics: Vec::new(),
        groups: Vec::new(),
        purify: true,
        compare_sites: false,
    };
    let rng = &mut ChaCha20Rng::seed_from_u64(seed);
    calibrate(&plan, &terms(epsilon), how, sites, rng).expect("a result").fit
}

#[test]
fn noise_may_be_made_at_the_sites_and_at_the_server() {
    let sites = sites(3, 200, 9);
    let settings = Settings { rounds: 30, ..Settings::published() };
    let mut shown = Vec::new();
    for noise in [NoiseAt::Sites { colluders: 0 }, NoiseAt::Server] {
        let fit = fit_of(Effects::Fixed, 8.0, (settings, noise), &sites, 5);
        assert_eq!((fit.algorithm.as_str(), fit.rounds), ("fedirt-dp", 30));
        let effects: Vec<f64> = fit.sites.iter().map(|s| s.effect.unwrap()).collect();
        assert!(effects[0] < effects[2], "{effects:?}");
        assert!(effects.iter().sum::<f64>().abs() < 1e-9);
        shown.push((fit.mode.clone(), fit.privacy.unwrap().mechanism));
    }
    assert_eq!(shown[0].0, "private");
    assert_eq!(shown[1].0, "plain", "the server sees exact sums");
    assert!(shown[1].1.contains("everybody but the server"));
    let sampled = Settings { sampling_rate: 0.5, ..settings };
    let fit = fit_of(Effects::None, 8.0, (sampled, NoiseAt::Sites { colluders: 0 }), &sites, 6);
    assert!(fit.items.iter().all(|i| i.a.is_some_and(f64::is_finite)));
}

/// ε for replaced answers: from the table of Balle and Wang's formula at δ = 1e-6.
#[test]
fn results_say_what_replaced_answers_cost_and_against_whom_epsilon_holds() {
    let settings = Settings { rounds: 5, ..Settings::published() };
    let noise = NoiseAt::Sites { colluders: 0 };
    for (epsilon, replaced) in [(1.0, 2.12), (2.0, 4.32), (8.0, 18.7)] {
        let privacy =
            fit_of(Effects::Fixed, epsilon, (settings, noise), &sites(3, 60, 8), 4).privacy.unwrap();
        assert!((privacy.epsilon_replaced / replaced - 1.0).abs() < 2e-2, "{}", privacy.epsilon_replaced);
        assert_eq!((privacy.sites, privacy.colluders), (3, 0));
        // μ(1)·√(3/2) = 0.2899.
        let wanted = "against it ε is 1.245";
        assert_eq!(privacy.holds_against.contains(wanted), epsilon == 1.0, "{}", privacy.holds_against);
    }
}
