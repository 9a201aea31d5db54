//! One replication: data are drawn, and every algorithm calibrates them.

use super::condition::Condition;
use super::{MAX_ROUNDS, TOLERANCE};
use crate::StudyError;
use fedirt_model::centre::{AlgorithmKind, Plan, Secrecy, Settings};
use fedirt_model::fit::Fit;
use fedirt_model::quadrature::GridSpec;
use fedirt_model::simulate::{self, Simulated};
use fedirt_protocol::in_process::{self, Unobserved};
use serde::{Deserialize, Serialize};

/// One calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRecord {
    /// Name of the size.
    pub size: String,
    /// Model.
    pub model: String,
    /// Site effects of the calibration.
    pub effects: String,
    /// `complete` or `booklets`.
    pub missing: String,
    /// Algorithm.
    pub algorithm: String,
    /// Seed of the data.
    pub seed: u64,
    /// Round in which the gradient fell below the tolerance, or all rounds where it did not.
    pub rounds: usize,
    /// Numbers that one site sent in all exchanges, the closing one included.
    pub numbers_sent: u64,
    /// Whether the gradient fell below the tolerance.
    pub converged: bool,
    /// Largest absolute gradient per student at the estimates.
    pub max_gradient: Option<f64>,
    /// Largest distance of a slope from that of Newton's method.
    pub slope_error: Option<f64>,
    /// Largest gradient of each round, where the round had one.
    pub gradients: Vec<Option<f64>>,
    /// Why there is no result.
    pub failure: Option<String>,
}

/// Calibrates one data set with Newton's method, which must come first, and the others.
pub(super) fn run(condition: &Condition, algorithms: &[AlgorithmKind], seed: u64) -> Vec<CalibrationRecord> {
    let data = simulate::simulate(&condition.spec(seed));
    let mut reference: Option<Fit> = None;
    let mut records = Vec::new();
    for &algorithm in algorithms {
        let mut record = CalibrationRecord {
            size: condition.size.name.into(),
            model: condition.model.clone(),
            effects: condition.effects.name().into(),
            missing: condition.missing().into(),
            algorithm: algorithm.name().into(),
            seed,
            rounds: 0,
            numbers_sent: 0,
            converged: false,
            max_gradient: None,
            slope_error: None,
            gradients: Vec::new(),
            failure: None,
        };
        let result = match &data {
            Ok(data) => calibrate(condition, data, algorithm),
            Err(error) => Err(error.clone().into()),
        };
        match result {
            Ok(fit) => {
                read(&mut record, &fit);
                let reference = reference.get_or_insert_with(|| fit.clone());
                record.slope_error = slope_error(&fit, reference);
            }
            Err(error) => record.failure = Some(error.to_string()),
        }
        records.push(record);
    }
    records
}

fn calibrate(condition: &Condition, data: &Simulated, algorithm: AlgorithmKind) -> Result<Fit, StudyError> {
    let plan = Plan {
        items: data.items(),
        effects: condition.effects,
        population: GridSpec::default().into(),
        settings: Settings { algorithm, tolerance: TOLERANCE, max_rounds: MAX_ROUNDS, ..Settings::default() },
        publish_effects: true,
        secrecy: Secrecy::BySite,
        diagnostics: Vec::new(),
        groups: Vec::new(),
        purify: true,
        compare_sites: false,
    };
    let (finished, _) = in_process::run(plan, data.sites(), &mut Unobserved)?;
    Ok(finished.fit)
}

/// Rounds are counted from the trace: an algorithm that never saw the information spends one more round on
/// standard errors, which says nothing about how it maximises.
fn read(record: &mut CalibrationRecord, fit: &Fit) {
    let arrived = fit.trace.iter().find(|entry| entry.max_gradient.is_some_and(|g| g < TOLERANCE));
    record.converged = arrived.is_some();
    record.rounds = arrived.map_or(fit.rounds.min(MAX_ROUNDS), |entry| entry.round);
    record.numbers_sent = fit.numbers_sent;
    record.max_gradient = fit.max_gradient;
    record.gradients = fit.trace.iter().map(|entry| entry.max_gradient).collect();
}

fn slope_error(fit: &Fit, reference: &Fit) -> Option<f64> {
    let distances = fit.items.iter().zip(&reference.items).filter_map(|(x, y)| Some((x.a? - y.a?).abs()));
    distances.reduce(f64::max)
}
