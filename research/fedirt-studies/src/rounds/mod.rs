//! How many rounds does each algorithm need?
//!
//! A round is one question to all sites and one answer from each, the opening sums included. An algorithm has
//! arrived when no gradient per student exceeds 1e-6. What never arrives is shown with its distance from the
//! maximum that Newton's method found.

mod condition;
mod files;
mod page;
mod summary;
mod table;
mod trial;

pub use condition::{Condition, MODELS, SIZES, Size};
pub use summary::{Cell, Rounds, cells};
pub use table::tables;
pub use trial::CalibrationRecord;

use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Effects;

/// Arrived when the largest absolute gradient per student is below this.
pub const TOLERANCE: f64 = 1e-6;

/// Most rounds that an algorithm gets.
pub const MAX_ROUNDS: usize = 300;

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Replications of each condition.
    pub replications: usize,
    /// Seed of the first replication; the others follow.
    pub first_seed: u64,
    /// Sizes.
    pub sizes: Vec<Size>,
    /// Algorithms of the first table. Newton's method always runs: it is the reference.
    pub algorithms: Vec<AlgorithmKind>,
    /// Models of the second table.
    pub models: Vec<String>,
    /// Site effects of the second table.
    pub effects: Vec<Effects>,
    /// Whether to compare algorithms.
    pub algorithm_table: bool,
    /// Whether to compare models.
    pub model_table: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            replications: 5,
            first_seed: 1,
            sizes: SIZES.to_vec(),
            algorithms: AlgorithmKind::ALL.to_vec(),
            models: MODELS.iter().map(|m| (*m).to_owned()).collect(),
            effects: vec![Effects::Fixed, Effects::Random],
            algorithm_table: true,
            model_table: true,
        }
    }
}

impl Options {
    /// Seeds of the replications.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        (0..self.replications as u64).map(|t| self.first_seed.wrapping_add(t))
    }

    /// The conditions with the algorithms that run in them, each condition once.
    fn conditions(&self) -> Vec<(Condition, Vec<AlgorithmKind>)> {
        let mut all: Vec<(Condition, Vec<AlgorithmKind>)> = Vec::new();
        if self.algorithm_table {
            let others = self.algorithms.iter().copied().filter(|a| *a != AlgorithmKind::Newton);
            let algorithms: Vec<_> = std::iter::once(AlgorithmKind::Newton).chain(others).collect();
            all.extend(self.sizes.iter().map(|size| (Condition::plain(size), algorithms.clone())));
        }
        if self.model_table {
            for model in &self.models {
                for &effects in &self.effects {
                    for booklets in [false, true] {
                        for size in &self.sizes {
                            let condition =
                                Condition { size: size.clone(), model: model.clone(), effects, booklets };
                            if all.iter().all(|(c, _)| *c != condition) {
                                all.push((condition, vec![AlgorithmKind::Newton]));
                            }
                        }
                    }
                }
            }
        }
        all
    }
}

/// What was found.
#[derive(Debug, Clone)]
pub struct RoundsStudy {
    /// What was run.
    pub options: Options,
    /// One record per calibration, in the order of the conditions, seeds and algorithms.
    pub records: Vec<CalibrationRecord>,
}

/// One data set, and the algorithms that calibrate it.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    condition: Condition,
    algorithms: Vec<AlgorithmKind>,
    seed: u64,
}

impl Task {
    /// Its name in a journal.
    pub fn key(&self) -> String {
        let Condition { size, model, effects, .. } = &self.condition;
        let (missing, effects) = (self.condition.missing(), effects.name());
        format!("{} {model} {effects} {missing}, seed {}", size.name, self.seed)
    }

    /// Draws the data and calibrates them.
    pub fn run(&self) -> Vec<CalibrationRecord> {
        trial::run(&self.condition, &self.algorithms, self.seed)
    }
}

impl Options {
    /// All data sets.
    pub fn tasks(&self) -> Vec<Task> {
        let mut tasks = Vec::new();
        for (condition, algorithms) in self.conditions() {
            let task = |seed| Task { condition: condition.clone(), algorithms: algorithms.clone(), seed };
            tasks.extend(self.seeds().map(task));
        }
        tasks
    }

    /// What makes a journal that of this study, with however many replications.
    pub fn identity(&self) -> String {
        let once = Self { replications: 1, ..self.clone() };
        let names: Vec<String> =
            once.tasks().iter().map(|t| format!("{} {:?}", t.key(), t.algorithms)).collect();
        format!("{} {TOLERANCE:e} {MAX_ROUNDS} {}", env!("CARGO_PKG_VERSION"), names.join("; "))
    }
}
