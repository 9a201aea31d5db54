//! Replications summed up, with what chance alone would do to the sums.

use super::{PaperStudy, Record};
use serde::Serialize;

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

/// What was found, cell by cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// In the order of scenarios, methods and parameters.
    pub cells: Vec<Cell>,
    /// Largest distance of a method from the first one in any replication, by method.
    pub distances: Vec<Option<f64>>,
    /// Replications without estimates, by method, with the first reason.
    pub failures: Vec<(usize, Option<String>)>,
}

impl Summary {
    /// Sums up.
    pub fn new(study: &PaperStudy, records: &[Record]) -> Self {
        let methods = study.methods.len();
        let mut out =
            Self { cells: Vec::new(), distances: vec![None; methods], failures: vec![(0, None); methods] };
        for record in records {
            for (method, outcome) in record.outcomes.iter().enumerate() {
                if let Some(distance) = outcome.distance {
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
            let mine: Vec<&Record> = records.iter().filter(|r| r.scenario == scenario).collect();
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

    /// The largest (by absolute value) of a number over scenarios.
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

    /// Geometric mean over scenarios of the ratio of two methods' mean squared errors.
    pub fn ratio(
        &self,
        study: &PaperStudy,
        (over, under): (&str, &str),
        parameter: &str,
        scenarios: impl Fn(usize) -> bool,
    ) -> Option<f64> {
        let (over, under) = (study.method(over)?, study.method(under)?);
        let logs: Vec<f64> = (0..study.scenarios.len())
            .filter(|s| scenarios(*s))
            .filter_map(|s| {
                let (x, y) = (self.cell(s, over, parameter)?, self.cell(s, under, parameter)?);
                Some((x.mse / y.mse).ln())
            })
            .collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }
}

fn cells(scenario: usize, method: usize, records: &[&Record]) -> Vec<Cell> {
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
}
