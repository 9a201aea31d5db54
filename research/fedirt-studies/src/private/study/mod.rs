//! How accurate are private calibrations, and do their intervals hold?
//!
//! On the same simulated answers: the product's mechanisms at ε, the published FedIRT-DP with the settings that are tuned
//! for such data, and the largest posterior without noise. Errors are summed over slopes, difficulties and site effects.

mod condition;
mod page;
mod summary;
mod trial;

pub use condition::{CONDITIONS, Condition, Items};
pub use page::report;
pub use summary::{Cell, Coverage, cells, published_mean};
pub use trial::{Band, Estimator, MethodRecord};

use crate::StudyError;

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Replications of each condition.
    pub replications: u64,
    /// Seed of the first replication; the others follow.
    pub first_seed: u64,
    /// Conditions.
    pub conditions: Vec<Condition>,
}

/// One data set of a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    condition: Condition,
    seed: u64,
}

impl Task {
    /// Its name in a journal.
    pub fn key(&self) -> String {
        format!("{}, seed {}", self.condition.name, self.seed)
    }

    /// Draws the data and estimates from them by every method.
    pub fn run(&self) -> Result<Vec<MethodRecord>, StudyError> {
        trial::run(&self.condition, self.seed)
    }
}

impl Options {
    /// All data sets.
    pub fn tasks(&self) -> Vec<Task> {
        let seeds = (0..self.replications).map(|t| self.first_seed.wrapping_add(t));
        let of = |seed| self.conditions.iter().map(move |c| Task { condition: c.clone(), seed });
        seeds.flat_map(of).collect()
    }

    /// What makes a journal that of this study, with however many replications.
    pub fn identity(&self) -> String {
        format!("{} private {} {:?}", env!("CARGO_PKG_VERSION"), self.first_seed, self.conditions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_study_is_run_and_told() {
        let mut small = CONDITIONS[0].clone();
        (small.items, small.students, small.sites) = (Items::Ordinary(4), 200, 2);
        let mut extremes = CONDITIONS.iter().find(|c| c.items == Items::Extreme).expect("one").clone();
        extremes.students = 300;
        let options = Options { replications: 2, first_seed: 5, conditions: vec![small, extremes] };
        let records: Vec<MethodRecord> =
            options.tasks().iter().flat_map(|task| task.run().expect("estimates")).collect();
        assert_eq!(options.tasks().len(), 4);
        assert!(records.iter().all(|r| r.mse.iter().all(|x| x.is_finite())));
        // The same seed, the same record.
        assert_eq!(options.tasks()[0].run().expect("estimates")[0], records[0]);
        let found = cells(&records);
        let optimal = |name: &str| {
            let of = |c: &&Cell| c.condition == name && c.method == Estimator::Optimal;
            found.iter().find(of).expect("a cell").clone()
        };
        assert_eq!(optimal(options.conditions[0].name).replications, 2);
        assert_eq!(optimal(options.conditions[1].name).extreme.of, 2 * 4);
        let output = report(&options, &records).expect("a page");
        assert!(output.text.contains("optimal") && output.text.contains("score2"), "{}", output.text);
        assert!(output.files.iter().any(|(name, _)| name == "replications.csv"));
    }
}
