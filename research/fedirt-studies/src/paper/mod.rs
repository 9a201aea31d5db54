//! The paper's simulation studies with the same design, parameters and criteria, and with more methods.

mod estimate;
mod files;
mod method;
mod page1;
mod page2;
mod page3;
mod record;
mod scenario;
mod study1;
mod study2;
mod study3;
mod summary;
mod verdict;
mod words;

pub use estimate::{Estimates, ItemsAndSites};
pub use method::{AVERAGING, DELTA, Estimator, Method, SGD_ROUNDS, SchoolEffects};
pub use record::{Errors, Outcome, Replication};
pub use scenario::{Abilities, Extreme, Ranges, Scenario};
pub use study1::SIZES;
pub use summary::{Cell, Summary};

use crate::StudyError;
use fedirt_model::responses::ResponseTable;

/// Which of the paper's studies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// FedIRT against pooled fits, meta-analysis and others.
    One,
    /// School effects as parameters or as averages.
    Two,
    /// Extreme rows.
    Three,
}

impl Number {
    /// The number.
    pub fn get(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Replications of each scenario, T.
    pub replications: u64,
    /// Seed of everything.
    pub seed: u64,
    /// Where abilities come from.
    pub abilities: Abilities,
    /// Packages of R that are run for comparison.
    pub packages: Vec<String>,
    /// Students of a school, where a study has several sizes; empty for all of them.
    pub sizes: Vec<usize>,
}

impl Default for Options {
    fn default() -> Self {
        let packages = Vec::new();
        Self { replications: 100, seed: 1, abilities: Abilities::Fixed, packages, sizes: Vec::new() }
    }
}

/// A study: its scenarios and methods.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperStudy {
    /// Which one.
    pub number: Number,
    /// The title.
    pub title: &'static str,
    /// The options.
    pub options: Options,
    /// Conditions.
    pub scenarios: Vec<Scenario>,
    /// Methods; the first is what the others are compared with.
    pub methods: Vec<Method>,
}

/// One replication of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Position of the scenario.
    pub scenario: usize,
    /// Number of the replication, from 0.
    pub replication: u64,
}

/// Runs other packages on pooled rows.
pub trait External: Sync {
    /// The estimates of a package.
    fn estimate(&self, package: &str, table: &ResponseTable) -> Result<Estimates, StudyError>;
}

/// No other packages.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoExternal;

impl External for NoExternal {
    fn estimate(&self, package: &str, _table: &ResponseTable) -> Result<Estimates, StudyError> {
        Err(StudyError::NoPackage { package: package.to_owned() })
    }
}

impl PaperStudy {
    /// One of the studies.
    pub fn new(number: Number, options: Options) -> Result<Self, StudyError> {
        match number {
            Number::One => study1::study(options),
            Number::Two => study2::study(options),
            Number::Three => study3::study(options),
        }
    }

    /// All replications, the longest first, so that all threads finish at about the same time.
    pub fn tasks(&self) -> Vec<Task> {
        let replications = 0..self.options.replications;
        let mut tasks: Vec<Task> = (0..self.scenarios.len())
            .flat_map(|scenario| replications.clone().map(move |replication| Task { scenario, replication }))
            .collect();
        tasks.sort_by_key(|t| std::cmp::Reverse(self.scenarios[t.scenario].students()));
        tasks
    }

    /// The name of a task in a journal.
    pub fn key(&self, task: &Task) -> String {
        format!("{}, replication {}", self.scenarios[task.scenario].title(), task.replication + 1)
    }

    /// Simulates the answers and runs every method.
    pub fn run(&self, task: &Task, external: &dyn External) -> Replication {
        let scenario = &self.scenarios[task.scenario];
        let (frame, tables) = (scenario.frame(), scenario.draw(task.replication));
        let mut reference: Option<Estimates> = None;
        let mut outcomes = Vec::with_capacity(self.methods.len());
        // Packages of R use no random numbers, so that the other methods draw the same noise with and without them.
        let mut stream = 0;
        for (at, method) in self.methods.iter().enumerate() {
            let found = match &method.how {
                Estimator::External { package } => {
                    estimate::pool(&tables).and_then(|table| external.estimate(package, &table))
                }
                _ => {
                    stream += 1;
                    method.estimate(&frame, &tables, &mut scenario.noise(task.replication, stream - 1))
                }
            };
            let outcome = Outcome::new(&method.name, found.as_ref(), &scenario.truth, reference.as_ref());
            outcomes.push(outcome);
            if at == 0 {
                reference = found.ok();
            }
        }
        Replication { scenario: task.scenario, replication: task.replication, outcomes }
    }

    /// The position of a method.
    pub fn method(&self, name: &str) -> Option<usize> {
        self.methods.iter().position(|m| m.name == name)
    }
}
