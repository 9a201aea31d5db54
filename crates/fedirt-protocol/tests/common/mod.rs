//! Small data sets made from a seed, and fits of them through the machines.
#![allow(dead_code, reason = "each test file uses a part of this one")]

pub(crate) mod lab;

use fedirt_model::centre::{AlgorithmKind, Anchor, ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::items::{self, Curves, Order};
use fedirt_model::population::Population;
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_protocol::coordinator::Finished;
use fedirt_protocol::in_process::{self, RunError};

/// SplitMix64: enough for test data, and the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform().max(1e-300), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// True parameters of items with the given models and numbers of categories.
pub(crate) fn truth(models: &[(&str, usize)], seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random(seed);
    models
        .iter()
        .map(|(name, categories)| {
            let model =
                items::model(name).and_then(|m| m.one_slope()).expect("tests name models of one slope");
            let free = matches!(*name, "2pl" | "gpcm" | "grm");
            let a = if free { (0.35 * random.normal()).exp() } else { 1.0 };
            let mut b: Vec<f64> = (1..*categories).map(|_| random.normal()).collect();
            b.sort_by(f64::total_cmp);
            b.iter_mut().enumerate().for_each(|(c, b)| *b += 0.3 * c as f64);
            std::iter::once(a).chain(model.intercepts(a, &b)).collect()
        })
        .collect()
}

/// Answers of `students` with ability N(mean, sd²); `missing` is the share of answers not given.
pub(crate) fn answers(
    models: &[(&str, usize)],
    truth: &[Vec<f64>],
    students: usize,
    (mean, sd): (f64, f64),
    missing: f64,
    random: &mut Random,
) -> Vec<Vec<u8>> {
    (0..students)
        .map(|_| {
            let t = mean + sd * random.normal();
            models
                .iter()
                .zip(truth)
                .map(|((name, _), psi)| {
                    let curves = Curves::new(
                        items::model(name).expect("tests name models that exist"),
                        psi.len(),
                        psi,
                        &[t],
                        Order::Probability,
                    );
                    let (u, skip) = (random.uniform(), random.uniform());
                    if skip < missing { MISSING } else { curves.draw(0, u) as u8 }
                })
                .collect()
        })
        .collect()
}

pub(crate) fn table(rows: &[Vec<u8>]) -> ResponseTable {
    ResponseTable::new(rows.len(), rows[0].len(), rows.concat()).expect("rows have equal length")
}

pub(crate) fn named(models: &[(&str, usize)]) -> Vec<ItemPlan> {
    models
        .iter()
        .enumerate()
        .map(|(j, (model, _))| ItemPlan {
            name: format!("I{}", j + 1),
            model: Some((*model).to_owned()),
            codes: None,
            merged: Vec::new(),
            anchor: None,
        })
        .collect()
}

pub(crate) fn plan(items: Vec<ItemPlan>, effects: Effects) -> Plan {
    let settings = Settings::default();
    Plan {
        items,
        effects,
        population: Population::default(),
        settings,
        publish_effects: true,
        secrecy: Secrecy::BySite,
        diagnostics: Vec::new(),
        groups: Vec::new(),
        purify: true,
        compare_sites: false,
    }
}

pub(crate) fn with_algorithm(mut plan: Plan, algorithm: AlgorithmKind) -> Plan {
    plan.settings.algorithm = algorithm;
    plan
}

pub(crate) fn anchor(a: f64, d: &[f64]) -> Option<Anchor> {
    Some(Anchor::one_slope(a, d))
}

pub(crate) fn run(plan: Plan, sites: Vec<ResponseTable>) -> Result<Finished, RunError> {
    let sites = sites.into_iter().enumerate().map(|(k, t)| (format!("S{}", k + 1), t)).collect();
    in_process::run(plan, sites, &mut in_process::Unobserved).map(|(finished, _)| finished)
}

pub(crate) fn fit(plan: Plan, sites: Vec<ResponseTable>) -> Fit {
    run(plan, sites).expect("the fit succeeds").fit
}

/// A test at 5 % rejects a true model in 3 to 7 % of so many data sets: with fewer than 1,000, by three Monte Carlo errors more or less.
pub(crate) fn assert_size(share: f64, sets: f64) {
    let margin = if sets < 1_000.0 { 3.0 * (0.05_f64 * 0.95 / sets).sqrt() } else { 0.0 };
    assert!((0.03 - margin..=0.07 + margin).contains(&share), "{share} of {sets}");
}

/// Largest difference of slopes and intercepts between two fits.
pub(crate) fn distance(a: &Fit, b: &Fit) -> f64 {
    let numbers = |f: &Fit| -> Vec<f64> {
        f.items
            .iter()
            .flat_map(|i| i.a.iter().chain(i.d.iter().flatten()).copied().collect::<Vec<_>>())
            .collect()
    };
    let (a, b) = (numbers(a), numbers(b));
    assert_eq!(a.len(), b.len());
    a.iter().zip(&b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}
