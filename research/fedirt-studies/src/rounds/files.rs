//! The study in files: tidy rows, and settings with summaries.

use super::condition::{BOOKLETS, CATEGORIES, SITE_SD};
use super::{CalibrationRecord, Cell, MAX_ROUNDS, RoundsStudy, TOLERANCE, cells};
use serde::Serialize;

/// More rounds than this, and the JSON tells what happened in each.
const SLOW_ROUNDS: usize = 6;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: &'static str,
    settings: Settings<'a>,
    seeds: Vec<u64>,
    cells: Vec<Cell>,
    /// Runs of Newton's method that took long, round by round.
    slow: Vec<&'a CalibrationRecord>,
}

#[derive(Serialize)]
struct Settings<'a> {
    replications: usize,
    tolerance: f64,
    max_rounds: usize,
    sizes: Vec<&'static str>,
    algorithms: Vec<&'static str>,
    models: &'a [String],
    effects: Vec<&'static str>,
    categories: usize,
    booklets: usize,
    site_sd: f64,
}

impl RoundsStudy {
    /// `rounds.csv`: one row per calibration.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "size,model,effects,missing,algorithm,seed,rounds,numbers_sent,converged,max_gradient,slope_error\n",
        );
        let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:e}"));
        for r in &self.records {
            out += &format!(
                "{},{},{},{},{},{},{},{},{},{},{}\n",
                r.size,
                r.model,
                r.effects,
                r.missing,
                r.algorithm,
                r.seed,
                r.rounds,
                r.numbers_sent,
                r.converged,
                number(r.max_gradient),
                number(r.slope_error)
            );
        }
        out
    }

    /// `rounds.json`: settings, seeds, cells, and the slow runs of Newton's method round by round.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let options = &self.options;
        let slow =
            |r: &&CalibrationRecord| r.algorithm == "newton" && (!r.converged || r.rounds > SLOW_ROUNDS);
        let document = Document {
            format: "fedirt.study.rounds/1",
            version: env!("CARGO_PKG_VERSION"),
            settings: Settings {
                replications: options.replications,
                tolerance: TOLERANCE,
                max_rounds: MAX_ROUNDS,
                sizes: options.sizes.iter().map(|s| s.name).collect(),
                algorithms: options.algorithms.iter().map(|a| a.name()).collect(),
                models: &options.models,
                effects: options.effects.iter().map(|e| e.name()).collect(),
                categories: CATEGORIES,
                booklets: BOOKLETS,
                site_sd: SITE_SD,
            },
            seeds: options.seeds().collect(),
            cells: cells(&self.records),
            slow: self.records.iter().filter(slow).collect(),
        };
        serde_json::to_string_pretty(&document)
    }
}
