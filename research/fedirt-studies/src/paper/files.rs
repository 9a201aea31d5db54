//! The study in files: replications and cells as tidy tables, settings and seeds as JSON.

use super::{PaperStudy, Replication, Summary};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    format: String,
    version: &'static str,
    study: u8,
    title: &'a str,
    seed: u64,
    /// Where random numbers come from, so that another program could draw them.
    random_numbers: &'static str,
    replications: u64,
    delta: f64,
    methods: &'a [super::Method],
    scenarios: &'a [super::Scenario],
    /// Replications without estimates, by method.
    failures: Vec<Failure<'a>>,
}

#[derive(Serialize)]
struct Failure<'a> {
    method: &'a str,
    replications: usize,
    first_reason: Option<&'a str>,
}

const RANDOM_NUMBERS: &str = "ChaCha8 with the seed; items: stream = group of scenarios; scenario i (its index): abilities stream 2^32 (i + 1), answers of replication t (from 0) that + 16 (t + 1), noise of method m (from 0, packages of R not counted) that + 1 + m mod 15";

/// A number in a file; nothing where there is none.
fn number(x: Option<f64>) -> String {
    x.map_or(String::new(), |x| format!("{x:.10e}"))
}

impl PaperStudy {
    /// What makes a journal that of this study: everything that the records depend on.
    pub fn identity(&self) -> Result<String, serde_json::Error> {
        let version = env!("CARGO_PKG_VERSION");
        serde_json::to_string(&(
            version,
            self.number.get(),
            self.options.seed,
            &self.methods,
            &self.scenarios,
        ))
    }

    fn factor_names(&self) -> Vec<&'static str> {
        self.scenarios.first().map_or(Vec::new(), |s| s.factors.iter().map(|(name, _)| *name).collect())
    }

    /// `replications.csv`: one row per replication, method and kind of parameters.
    pub fn replications_csv(&self, records: &[Replication]) -> String {
        let mut out = self.factor_names().join(",");
        out += ",replication,method,parameter,mse,bias,largest_distance,failure\n";
        for record in records {
            let factors: Vec<&str> =
                self.scenarios[record.scenario].factors.iter().map(|(_, value)| value.as_str()).collect();
            for outcome in &record.outcomes {
                let start = format!("{},{},{}", factors.join(","), record.replication + 1, outcome.method);
                for e in &outcome.errors {
                    let (mse, bias) = (number(Some(e.mse)), number(Some(e.bias)));
                    out += &format!("{start},{},{mse},{bias},{},\n", e.parameter, number(outcome.distance));
                }
                if let Some(failure) = &outcome.failure {
                    out += &format!("{start},,,,,\"{}\"\n", failure.replace('"', "'"));
                }
            }
        }
        out
    }

    /// `cells.csv`: one row per scenario, method and kind of parameters, with Monte Carlo standard errors.
    pub fn cells_csv(&self, summary: &Summary) -> String {
        let mut out = self.factor_names().join(",");
        out += ",method,parameter,replications,mse,mse_se,bias,bias_se\n";
        for cell in &summary.cells {
            let factors: Vec<&str> =
                self.scenarios[cell.scenario].factors.iter().map(|(_, value)| value.as_str()).collect();
            out += &format!(
                "{},{},{},{},{},{},{},{}\n",
                factors.join(","),
                self.methods[cell.method].name,
                cell.parameter,
                cell.replications,
                number(Some(cell.mse)),
                number(cell.mse_se),
                number(Some(cell.bias)),
                number(cell.bias_se)
            );
        }
        out
    }

    /// `settings.json`: everything that is needed to do it again.
    pub fn settings_json(&self, summary: &Summary) -> Result<String, serde_json::Error> {
        let mut failures = Vec::new();
        for (method, (replications, reason)) in self.methods.iter().zip(&summary.failures) {
            if *replications > 0 {
                let first_reason = reason.as_deref();
                failures.push(Failure { method: &method.name, replications: *replications, first_reason });
            }
        }
        let document = Document {
            format: "fedirt.study.paper/1".into(),
            version: env!("CARGO_PKG_VERSION"),
            study: self.number.get(),
            title: self.title,
            seed: self.options.seed,
            random_numbers: RANDOM_NUMBERS,
            replications: self.options.replications,
            delta: super::DELTA,
            methods: &self.methods,
            scenarios: &self.scenarios,
            failures,
        };
        serde_json::to_string_pretty(&document)
    }
}
