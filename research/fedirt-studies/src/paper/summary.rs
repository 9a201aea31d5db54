//! Summaries over replications with Monte Carlo errors.

use super::verdict::Paired;
use super::{PaperStudy, Replication};
use serde::Serialize;
use std::collections::HashMap;

/// All replications of a scenario, one method and one kind of parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Position of the scenario.
    pub scenario: usize,
    /// Position of the method.
    pub method: usize,
    /// `a`, `b`, `s`, or the name of a school.
    pub parameter: String,
    /// Replications with estimates.
    pub replications: usize,
    /// Mean of the replications' mean squared errors.
    pub mse: f64,
    /// Its Monte Carlo standard error.
    pub mse_se: Option<f64>,
    /// Mean of the replications' mean errors.
    pub bias: f64,
    /// Its Monte Carlo standard error.
    pub bias_se: Option<f64>,
}

/// Mean, and its standard error where there are two numbers at least.
fn mean(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    (mean, (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt()))
}

/// The summary of all replications.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// In the order of scenarios, methods and parameters.
    pub cells: Vec<Cell>,
    /// Largest distance of a method from the first one in any replication, by method.
    pub distances: Vec<Option<f64>>,
    /// Replications in which there was such a distance, by method.
    pub compared: Vec<usize>,
    /// Mean squared errors of every replication, by scenario, method and parameter: for ratios.
    squares: HashMap<(usize, usize, String), HashMap<u64, f64>>,
    /// Replications without estimates, by method, with the first reason.
    pub failures: Vec<(usize, Option<String>)>,
}

impl Summary {
    /// Summarises the replications.
    pub fn new(study: &PaperStudy, records: &[Replication]) -> Self {
        let methods = study.methods.len();
        let mut out = Self {
            cells: Vec::new(),
            distances: vec![None; methods],
            compared: vec![0; methods],
            squares: HashMap::new(),
            failures: vec![(0, None); methods],
        };
        for record in records {
            for (method, outcome) in record.outcomes.iter().enumerate() {
                for errors in &outcome.errors {
                    let key = (record.scenario, method, errors.parameter.clone());
                    out.squares.entry(key).or_default().insert(record.replication, errors.mse);
                }
                if let Some(distance) = outcome.distance {
                    out.compared[method] += 1;
                    let most = &mut out.distances[method];
                    *most = Some(most.map_or(distance, |m| f64::max(m, distance)));
                }
                if let Some(failure) = &outcome.failure {
                    out.failures[method].0 += 1;
                    out.failures[method].1.get_or_insert_with(|| failure.clone());
                }
            }
        }
        for scenario in 0..study.scenarios.len() {
            let mine: Vec<&Replication> = records.iter().filter(|r| r.scenario == scenario).collect();
            for method in 0..methods {
                out.cells.extend(cells(scenario, method, &mine));
            }
        }
        out
    }

    /// A cell.
    pub fn cell(&self, scenario: usize, method: usize, parameter: &str) -> Option<&Cell> {
        self.cells.iter().find(|c| c.scenario == scenario && c.method == method && c.parameter == parameter)
    }

    /// The smallest and the largest of a number over scenarios.
    pub fn range(
        &self,
        study: &PaperStudy,
        method: &str,
        parameter: &str,
        scenarios: impl Fn(usize) -> bool,
        number: impl Fn(&Cell) -> f64,
    ) -> Option<(f64, f64)> {
        let method = study.method(method)?;
        let mine = self.cells.iter().filter(|c| c.method == method && c.parameter == parameter);
        let values: Vec<f64> = mine.filter(|c| scenarios(c.scenario)).map(number).collect();
        let (low, high) =
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        Some((low, high))
    }

    /// Mean squared errors of two methods in every replication that both have.
    fn pairs(
        &self,
        scenario: usize,
        (over, under): (usize, usize),
        parameter: &str,
    ) -> Option<Vec<(f64, f64)>> {
        let squares = |method: usize| self.squares.get(&(scenario, method, parameter.to_owned()));
        let (x, y) = (squares(over)?, squares(under)?);
        let mut both: Vec<u64> = x.keys().filter(|t| y.contains_key(t)).copied().collect();
        both.sort_unstable();
        Some(both.iter().map(|t| (x[t], y[t])).collect())
    }

    /// Two methods compared on the answers of one scenario.
    pub(super) fn paired(
        &self,
        study: &PaperStudy,
        (over, under): (&str, &str),
        parameter: &str,
        scenario: usize,
    ) -> Option<Paired> {
        let pairs = self.pairs(scenario, (study.method(over)?, study.method(under)?), parameter)?;
        let (log, error) = log_ratio(&pairs)?;
        let differences: Vec<f64> = pairs.iter().map(|(x, y)| x - y).collect();
        let ratio = log.exp();
        Some(Paired {
            ratio: (ratio, error.map(|e| ratio * e)),
            difference: mean(&differences),
            replications: pairs.len(),
        })
    }

    /// Geometric mean over scenarios of the ratio of two methods' mean squared errors, with its Monte Carlo standard
    /// error.
    ///
    /// Both methods see the same answers, so replications are paired: log(x̄/ȳ) has the variance of the mean of
    /// x_t/x̄ − y_t/ȳ (the delta method), and scenarios are independent. Replications that one of them lacks are left out.
    pub fn ratio(
        &self,
        study: &PaperStudy,
        (over, under): (&str, &str),
        parameter: &str,
        scenarios: impl Fn(usize) -> bool,
    ) -> Option<(f64, Option<f64>)> {
        let (over, under) = (study.method(over)?, study.method(under)?);
        let logs: Vec<(f64, Option<f64>)> = (0..study.scenarios.len())
            .filter(|s| scenarios(*s))
            .filter_map(|s| log_ratio(&self.pairs(s, (over, under), parameter)?))
            .collect();
        let n = logs.len() as f64;
        let variances: Option<Vec<f64>> = logs.iter().map(|(_, error)| error.map(|e| e * e)).collect();
        (!logs.is_empty()).then(|| {
            let ratio = (logs.iter().map(|(log, _)| log).sum::<f64>() / n).exp();
            (ratio, variances.map(|v| ratio * v.iter().sum::<f64>().sqrt() / n))
        })
    }
}

/// log(x̄/ȳ) of paired numbers, and its standard error.
fn log_ratio(pairs: &[(f64, f64)]) -> Option<(f64, Option<f64>)> {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (mx, my) = (mean(&x).0, mean(&y).0);
    if !(mx > 0.0 && my > 0.0) {
        return None;
    }
    let differences: Vec<f64> = pairs.iter().map(|(x, y)| x / mx - y / my).collect();
    Some(((mx / my).ln(), mean(&differences).1))
}

fn cells(scenario: usize, method: usize, records: &[&Replication]) -> Vec<Cell> {
    let mut names: Vec<&str> = Vec::new();
    for errors in records.iter().flat_map(|r| &r.outcomes[method].errors) {
        if !names.contains(&errors.parameter.as_str()) {
            names.push(&errors.parameter);
        }
    }
    let cell = |parameter: &str| {
        let mine =
            records.iter().flat_map(|r| &r.outcomes[method].errors).filter(|e| e.parameter == parameter);
        let (squares, errors): (Vec<f64>, Vec<f64>) = mine.map(|e| (e.mse, e.bias)).unzip();
        let ((mse, mse_se), (bias, bias_se)) = (mean(&squares), mean(&errors));
        let replications = squares.len();
        Cell { scenario, method, parameter: parameter.into(), replications, mse, mse_se, bias, bias_se }
    };
    names.into_iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_errors() {
        let (m, se) = mean(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(m, 3.0);
        // SD is √(14/3).
        assert!((se.expect("an error") - (14.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        assert_eq!(mean(&[2.0]), (2.0, None));
    }

    #[test]
    fn ratios_have_errors_too() {
        // Proportional numbers have a ratio without error.
        let (log, error) = log_ratio(&[(1.0, 2.0), (3.0, 6.0), (2.0, 4.0)]).expect("a ratio");
        assert!((log + 2f64.ln()).abs() < 1e-12 && error.expect("an error") < 1e-12);
        // x/2 − y/3 is −1/6, 1/6, 0, 0 where x = 1, 3, 2, 2 and y = 2, 4, 3, 3: SD √(2/36/3), error half of it.
        let pairs = [(1.0, 2.0), (3.0, 4.0), (2.0, 3.0), (2.0, 3.0)];
        let (log, error) = log_ratio(&pairs).expect("a ratio");
        assert!((log - (2.0f64 / 3.0).ln()).abs() < 1e-12);
        assert!((error.expect("an error") - (2.0f64 / 36.0 / 3.0).sqrt() / 2.0).abs() < 1e-12);
        assert_eq!(log_ratio(&[(1.0, 2.0)]).expect("a ratio").1, None);
    }
}
