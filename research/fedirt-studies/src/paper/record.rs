//! One replication of a scenario: how far each method is from the truth.

use super::estimate::Estimates;
use crate::StudyError;
use fedirt_model::simulate::Truth;
use serde::{Deserialize, Serialize};

/// Errors of one kind of parameters in one replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// `a`, `b`, `s` for all schools, or the name of one school.
    pub parameter: String,
    /// Mean squared error.
    pub mse: f64,
    /// Mean error.
    pub bias: f64,
}

/// One method in one replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the method.
    pub method: String,
    /// Errors by kind of parameter; none where there are no estimates.
    pub errors: Vec<Errors>,
    /// Largest distance of an item parameter from that of the study's first method.
    pub distance: Option<f64>,
    /// Why there are no estimates.
    pub failure: Option<String>,
}

/// All methods on the answers of one replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replication {
    /// Position of the scenario.
    pub scenario: usize,
    /// Number of the replication.
    pub replication: u64,
    /// One for each method, in their order.
    pub outcomes: Vec<Outcome>,
}

fn errors(parameter: &str, differences: &[f64]) -> Option<Errors> {
    let n = differences.len() as f64;
    if differences.is_empty() || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let mse = differences.iter().map(|d| d * d).sum::<f64>() / n;
    Some(Errors { parameter: parameter.into(), mse, bias: differences.iter().sum::<f64>() / n })
}

impl Outcome {
    /// What a method found, against the truth and against the reference.
    pub fn new(
        method: &str,
        found: Result<&Estimates, &StudyError>,
        truth: &Truth,
        reference: Option<&Estimates>,
    ) -> Self {
        let mut out = Self { method: method.into(), errors: Vec::new(), distance: None, failure: None };
        let found = match found {
            Ok(found) => found,
            Err(error) => return Self { failure: Some(error.to_string()), ..out },
        };
        let slopes: Vec<f64> = found.a.iter().zip(&truth.items).map(|(a, t)| a - t.a).collect();
        let difficulties: Vec<f64> =
            found.b.iter().flatten().zip(truth.items.iter().flat_map(|t| &t.b)).map(|(b, t)| b - t).collect();
        let schools: Vec<f64> = found.s.iter().zip(&truth.sites).map(|(s, t)| s - t.effect).collect();
        let Some(items) = errors("a", &slopes).zip(errors("b", &difficulties)) else {
            return Self { failure: Some("an estimate is not finite".into()), ..out };
        };
        out.errors.extend([items.0, items.1]);
        out.errors.extend(errors("s", &schools));
        for (school, difference) in truth.sites.iter().zip(&schools) {
            out.errors.extend(errors(&school.name, &[*difference]));
        }
        out.distance = reference.map(|reference| {
            let slopes = found.a.iter().zip(&reference.a);
            let difficulties = found.b.iter().flatten().zip(reference.b.iter().flatten());
            slopes.chain(difficulties).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::scenario::{Ranges, items, sites};

    #[test]
    fn errors_are_those_of_the_definition() {
        let ranges = Ranges { slopes: (1.0, 2.0), difficulties: (0.0, 1.0) };
        let truth = Truth { latent_sd: 1.0, items: items(1, 1, 2, ranges), sites: sites(3, &[-0.5, 0.5]) };
        let mut found = Estimates {
            a: truth.items.iter().map(|i| i.a + 0.1).collect(),
            b: vec![vec![truth.items[0].b[0] - 0.2], vec![truth.items[1].b[0] + 0.4]],
            s: vec![-0.3, 0.5],
            ..Estimates::default()
        };
        let a = truth.items.iter().map(|i| i.a).collect();
        let reference = Estimates { a, b: found.b.clone(), ..Estimates::default() };
        let outcome = Outcome::new("m", Ok(&found), &truth, Some(&reference));
        let of = |parameter: &str| {
            let e = outcome.errors.iter().find(|e| e.parameter == parameter).expect("errors");
            ((e.mse * 1e9).round() / 1e9, (e.bias * 1e9).round() / 1e9)
        };
        assert_eq!(of("a"), (0.01, 0.1));
        assert_eq!(of("b"), (0.1, 0.1));
        assert_eq!(of("s"), (0.02, 0.1));
        assert_eq!(of("s01"), (0.04, 0.2));
        assert!((outcome.distance.expect("a reference") - 0.1).abs() < 1e-12);
        found.a[0] = f64::NAN;
        assert!(Outcome::new("m", Ok(&found), &truth, None).failure.is_some());
    }
}
