//! Estimates find the parameters that the answers were drawn from, and are as uncertain as they say.
//!
//! For each model, over replications with new parameters and new answers: the Wald distance
//! (ψ̂ − ψ)ᵀ C⁻¹ (ψ̂ − ψ) of all item parameters, with the reported covariance C, is χ² with as many degrees of
//! freedom; 95 % intervals of slopes, difficulties and site effects cover in 95 of 100 cases.

use fedirt_model::centre::{Plan, Secrecy, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::quadrature::GridSpec;
use fedirt_model::simulate::{Missing, Simulated, SiteEffects, SiteSizes, Spec, simulate};
use fedirt_protocol::coordinator::Finished;
use fedirt_protocol::in_process::{self, Unobserved};
use nalgebra::{Cholesky, DMatrix, DVector};
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const REPLICATIONS: u64 = 12;

struct Case {
    model: &'static str,
    effects: Effects,
    missing: Missing,
    weighted: bool,
    latent_sd: f64,
}

impl Case {
    fn new(model: &'static str, effects: Effects) -> Self {
        Self { model, effects, missing: Missing::Complete, weighted: false, latent_sd: 1.0 }
    }

    fn spec(&self, seed: u64) -> Spec {
        let random = self.effects == Effects::Random;
        Spec {
            sites: if random { 40 } else { 8 },
            students: SiteSizes::Each(if random { 50 } else { 250 }),
            items: 8,
            model: self.model.into(),
            categories: if matches!(self.model, "2pl" | "rasch") { 2 } else { 3 },
            effects: SiteEffects::Drawn {
                sd: if self.effects == Effects::None { 0.0 } else { 0.5 },
                centred: !random,
            },
            missing: self.missing,
            latent_sd: self.latent_sd,
            seed,
        }
    }

    fn calibrate(&self, data: &Simulated) -> Finished {
        let plan = Plan {
            items: data.items(),
            effects: self.effects,
            population: GridSpec::default().into(),
            settings: Settings::default(),
            publish_effects: true,
            secrecy: Secrecy::BySite,
            diagnostics: Vec::new(),
            groups: Vec::new(),
            purify: true,
            compare_sites: false,
        };
        let mut sites = data.sites();
        if self.weighted {
            for (_, table) in &mut sites {
                // Weights that have nothing to do with the answers: estimates stay right, but fewer students count.
                let weights = (0..table.students()).map(|i| [0.1, 1.0, 5.0][i % 3]).collect();
                *table = table.clone().with_weights(weights).expect("positive weights");
            }
        }
        in_process::run(plan, sites, &mut Unobserved).expect("a calibration").0
    }
}

/// What one replication says about the standard errors.
#[derive(Default)]
struct Tally {
    wald: f64,
    freedom: f64,
    /// (covered, intervals) of slopes, difficulties and site effects.
    intervals: [(usize, usize); 3],
}

impl Tally {
    fn cover(&mut self, kind: usize, estimate: Option<f64>, truth: f64, error: Option<f64>) {
        if let (Some(estimate), Some(error)) = (estimate, error) {
            self.intervals[kind].0 += usize::from((estimate - truth).abs() < 1.959_964 * error);
            self.intervals[kind].1 += 1;
        }
    }

    fn replication(case: &Case, seed: u64) -> Self {
        let data = simulate(&case.spec(seed)).expect("a specification");
        let Finished { fit, covariance } = case.calibrate(&data);
        assert_eq!(fit.converged, Some(true), "{} seed {seed}", case.model);
        assert_eq!(fit.se_type.as_deref(), Some(if case.weighted { "sandwich" } else { "observed" }));
        let mut tally = Self::default();
        let (mut found, mut truth) = (Vec::new(), Vec::new());
        for (item, true_item) in fit.items.iter().zip(&data.truth.items) {
            assert_eq!(item.categories, true_item.categories, "seed {seed}: an unused category");
            tally.cover(0, item.a, true_item.a, item.se_a);
            found.push(item.a.expect("a slope"));
            truth.push(true_item.a);
            for c in 0..true_item.d.len() {
                tally.cover(1, item.b[c], true_item.b[c], item.se_b[c]);
                found.push(item.d[c].expect("an intercept"));
                truth.push(true_item.d[c]);
            }
        }
        for (site, true_site) in fit.sites.iter().zip(&data.truth.sites) {
            tally.cover(2, site.effect, true_site.effect, site.se);
        }
        // The row after the items is the SD's, where it is estimated.
        if covariance.names.get(found.len()).is_some_and(|name| name == "latent.sd") {
            found.push(fit.latent.sd);
            truth.push(data.truth.latent_sd);
        }
        // What is not estimated has no variance.
        let free: Vec<usize> = (0..found.len()).filter(|&r| covariance.blocks[0][(r, r)] > 1e-12).collect();
        let c = DMatrix::from_fn(free.len(), free.len(), |r, s| covariance.blocks[0][(free[r], free[s])]);
        let e = DVector::from_fn(free.len(), |r, _| found[free[r]] - truth[free[r]]);
        tally.wald = e.dot(&Cholesky::new(c).expect("a covariance matrix").solve(&e));
        tally.freedom = free.len() as f64;
        tally
    }
}

/// Within limits that a right answer leaves about once in a thousand times.
fn check(name: &str, case: &Case) {
    let all: Vec<Tally> =
        (1..=REPLICATIONS).into_par_iter().map(|seed| Tally::replication(case, seed)).collect();
    let wald: f64 = all.iter().map(|t| t.wald).sum();
    let chi = ChiSquared::new(all.iter().map(|t| t.freedom).sum()).expect("degrees of freedom");
    let (low, high) = (chi.inverse_cdf(0.0005), chi.inverse_cdf(0.9995));
    assert!((low..=high).contains(&wald), "{name}: Wald {wald:.1}, not {low:.1} to {high:.1}");
    for (kind, what) in ["slopes", "difficulties", "effects"].iter().enumerate() {
        let n: usize = all.iter().map(|t| t.intervals[kind].1).sum();
        if n == 0 {
            continue;
        }
        let covered: usize = all.iter().map(|t| t.intervals[kind].0).sum();
        let share = covered as f64 / n as f64;
        // Intervals of one replication share an origin and a unit, and miss together: the spread between
        // replications tells by how much (t with 11 degrees of freedom), unless it is small by chance.
        let shares = || all.iter().map(|t| t.intervals[kind].0 as f64 / t.intervals[kind].1 as f64);
        let variance = shares().map(|x| (x - share).powi(2)).sum::<f64>() / (all.len() - 1) as f64;
        let clustered = 4.44 * (variance / all.len() as f64).sqrt();
        let limit = clustered.max(3.29 * (0.95 * 0.05 / n as f64).sqrt());
        assert!((share - 0.95).abs() < limit, "{name}: {what} covered in {covered} of {n}");
    }
}

#[test]
fn fixed_effects() {
    for model in ["2pl", "gpcm", "grm"] {
        check(model, &Case::new(model, Effects::Fixed));
    }
}

#[test]
fn random_effects() {
    for model in ["2pl", "gpcm", "grm"] {
        check(&format!("{model} random"), &Case::new(model, Effects::Random));
    }
}

#[test]
fn missing_answers() {
    let booklets = Case { missing: Missing::Booklets(4), ..Case::new("2pl", Effects::Fixed) };
    check("2pl in booklets", &booklets);
    check("grm with holes", &Case { missing: Missing::AtRandom(0.3), ..Case::new("grm", Effects::Fixed) });
}

#[test]
fn free_latent_sd() {
    for (model, effects) in [("rasch", Effects::Fixed), ("pcm", Effects::Random)] {
        check(model, &Case { latent_sd: 1.4, ..Case::new(model, effects) });
    }
}

#[test]
fn weights_need_the_sandwich() {
    check("2pl weighted", &Case { weighted: true, ..Case::new("2pl", Effects::Fixed) });
    check("gpcm weighted", &Case { weighted: true, ..Case::new("gpcm", Effects::None) });
}
