//! The estimates of each method.

use super::method::{Estimator, Method, SchoolEffects};
use crate::StudyError;
use crate::fedirt_dp;
use crate::private;
use fedirt_model::centre::{AlgorithmKind, ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::items;
use fedirt_model::private::PrivatePlan;
use fedirt_model::quadrature::GridSpec;
use fedirt_model::responses::ResponseTable;
use fedirt_model::scoring::{Method as ScoringMethod, Prior, ScoredItem, Scorer};
use fedirt_protocol::coordinator::Robust;
use fedirt_protocol::in_process::{self, Unobserved};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Tolerance of what is maximised to the end: the largest gradient per student.
const TOLERANCE: f64 = 1e-8;

/// Items and sites of a data set, which are public.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemsAndSites {
    /// Items: name, model, and the codes of their categories, lowest first.
    pub items: Vec<(String, String, Vec<u8>)>,
    /// Sites with their students.
    pub sites: Vec<(String, u64)>,
}

/// The estimates of a method.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimates {
    /// Slopes.
    pub a: Vec<f64>,
    /// Difficulties of each item, one a step.
    pub b: Vec<Vec<f64>>,
    /// School effects, where the method has any; not a number for a school without a finite one.
    #[serde(deserialize_with = "with_gaps")]
    pub s: Vec<f64>,
    /// Standard errors of the slopes, where the method has any.
    pub se_a: Vec<Option<f64>>,
    /// Standard errors of the difficulties.
    pub se_b: Vec<Vec<Option<f64>>>,
    /// Standard errors of the school effects.
    pub se_s: Vec<Option<f64>>,
}

/// Reads `null` as NaN, because JSON has no NaN.
fn with_gaps<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(from)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

impl Method {
    /// Estimates from these tables. Noise comes from `rng`.
    pub fn estimate(
        &self,
        frame: &ItemsAndSites,
        tables: &[ResponseTable],
        rng: &mut ChaCha8Rng,
    ) -> Result<Estimates, StudyError> {
        let effects = match self.schools {
            SchoolEffects::None | SchoolEffects::AveragedEap => Effects::None,
            SchoolEffects::Fixed => Effects::Fixed,
            SchoolEffects::Random => Effects::Random,
        };
        let run = |algorithm, rounds| Plan {
            items: item_plans(frame),
            effects,
            population: GridSpec::default().into(),
            settings: Settings { algorithm, tolerance: TOLERANCE, max_rounds: rounds, ..Settings::default() },
            publish_effects: true,
            secrecy: Secrecy::BySite,
            diagnostics: Vec::new(),
            groups: Vec::new(),
            purify: true,
            compare_sites: false,
        };
        let sites = || frame.sites.iter().map(|(name, _)| name.clone()).zip(tables.iter().cloned()).collect();
        let named = |plan| in_process::run(plan, sites(), &mut Unobserved);
        let mut found = match &self.how {
            Estimator::Likelihood => read(&named(run(AlgorithmKind::Newton, 100))?.0.fit)?,
            Estimator::Pooled => {
                let all = vec![("all".to_owned(), pool(tables)?)];
                let plan = run(AlgorithmKind::Bfgs, 1000);
                read(&in_process::run(plan, all, &mut Unobserved)?.0.fit)?
            }
            Estimator::Algorithm { algorithm, rounds, learning_rate, local_epochs } => {
                let mut plan = run(*algorithm, *rounds);
                plan.settings.learning_rate = *learning_rate;
                plan.settings.local_epochs = *local_epochs;
                read(&named(plan)?.0.fit)?
            }
            Estimator::Robust { trimmed, rounds } => {
                let robust = if *trimmed >= 0.5 { Robust::Median } else { Robust::TrimmedMean(*trimmed) };
                let plan = run(AlgorithmKind::Fedsgd, *rounds);
                read(&in_process::run_robust(plan, sites(), robust, &mut Unobserved)?.0.fit)?
            }
            Estimator::Published { settings, noise_multiplier, .. } => {
                let mut plan = fedirt_dp::Plan::new(
                    design(frame)?,
                    effects,
                    frame.sites.clone(),
                    *settings,
                    *noise_multiplier,
                );
                plan.grid = fedirt_dp::PAPER_GRID;
                let found = fedirt_dp::run(plan, tables, rng)?;
                let items = 0..frame.items.len();
                Estimates {
                    a: items.clone().map(|j| found.slope(j)).collect(),
                    b: items.map(|j| found.difficulties(j).to_vec()).collect(),
                    s: found.effects().to_vec(),
                    ..Estimates::default()
                }
            }
            Estimator::Score2 { mu, mixture, .. } => {
                let mut plan = PrivatePlan::new(design(frame)?, effects, frame.sites.clone(), *mu)?;
                plan.mixture = *mixture;
                // The mixture adds coordinates, and with them noise.
                plan.noise_sd = plan.central_noise()?;
                let found = private::run(plan, tables, rng)?;
                let items = found.items();
                Estimates {
                    a: items.iter().map(|item| item.a).collect(),
                    b: items.iter().map(|item| item.b.clone()).collect(),
                    s: found.sites().into_iter().map(|(s, _)| s).collect(),
                    se_a: items.iter().map(|item| item.se_a).collect(),
                    se_b: items.iter().map(|item| item.se_b.iter().copied().map(Some).collect()).collect(),
                    se_s: found.sites().into_iter().map(|(_, se)| Some(se)).collect(),
                }
            }
            Estimator::External { package } => {
                return Err(StudyError::NoPackage { package: package.clone() });
            }
        };
        match self.schools {
            SchoolEffects::AveragedEap => found.s = averaged_eaps(frame, &found, tables)?,
            SchoolEffects::None => found.s.clear(),
            SchoolEffects::Fixed | SchoolEffects::Random => {}
        }
        Ok(found)
    }
}

fn design(frame: &ItemsAndSites) -> Result<Design, StudyError> {
    let item = |(column, (_, model, codes)): (usize, &(String, String, Vec<u8>))| DesignItem {
        column,
        model: model.clone(),
        codes: codes.clone(),
    };
    Ok(Design::try_from(frame.items.iter().enumerate().map(item).collect::<Vec<_>>())?)
}

fn item_plans(frame: &ItemsAndSites) -> Vec<ItemPlan> {
    let plan = |(name, model, codes): &(String, String, Vec<u8>)| ItemPlan {
        name: name.clone(),
        model: Some(model.clone()),
        codes: Some(codes.clone()),
        merged: Vec::new(),
        anchor: None,
    };
    frame.items.iter().map(plan).collect()
}

/// All rows in one table.
pub(super) fn pool(tables: &[ResponseTable]) -> Result<ResponseTable, StudyError> {
    let cells: Vec<u8> =
        tables.iter().flat_map(|t| t.rows().flatten().copied().collect::<Vec<_>>()).collect();
    let students = tables.iter().map(ResponseTable::students).sum();
    let items = tables.first().map_or(0, ResponseTable::items);
    Ok(ResponseTable::new(students, items, cells)?)
}

/// The estimates of a fit; an error if one is not finite.
fn read(fit: &Fit) -> Result<Estimates, StudyError> {
    let mut out = Estimates::default();
    for item in &fit.items {
        let steps: Option<Vec<f64>> = item.b.iter().copied().collect();
        let (Some(a), Some(b)) = (item.a, steps) else {
            return Err(StudyError::NoFiniteEstimate { item: item.name.clone() });
        };
        out.a.push(a);
        out.b.push(b);
        out.se_a.push(item.se_a);
        out.se_b.push(item.se_b.clone());
    }
    // A school whose students are all right, or all wrong, has no finite effect. The others keep their places.
    if fit.sites.iter().any(|site| site.effect.is_some()) {
        out.s = fit.sites.iter().map(|site| site.effect.unwrap_or(f64::NAN)).collect();
        out.se_s = fit.sites.iter().map(|site| site.se).collect();
    }
    Ok(out)
}

/// Σ_i E(θ | x_i)/N_k with ability N(0, 1) in every school.
fn averaged_eaps(
    frame: &ItemsAndSites,
    found: &Estimates,
    tables: &[ResponseTable],
) -> Result<Vec<f64>, StudyError> {
    let mut scored = Vec::with_capacity(frame.items.len());
    for ((_, name, _), (a, b)) in frame.items.iter().zip(found.a.iter().zip(&found.b)) {
        let model = items::model(name).ok_or_else(|| StudyError::UnknownModel { model: name.clone() })?;
        let steps = model.one_slope().ok_or_else(|| StudyError::NoDifficulties { model: name.clone() })?;
        let psi = std::iter::once(*a).chain(steps.intercepts(*a, b)).collect();
        scored.push(ScoredItem { model, categories: b.len() + 1, psi });
    }
    let scorer = Scorer::new(scored, Prior { mean: 0.0, sd: 1.0 }, GridSpec::default())?;
    let mean = |table: &ResponseTable| -> Result<f64, StudyError> {
        let scores = scorer.score_table(table, ScoringMethod::Eap)?;
        Ok(scores.iter().filter_map(|s| s.estimate).sum::<f64>() / scores.len().max(1) as f64)
    };
    tables.iter().map(mean).collect()
}
