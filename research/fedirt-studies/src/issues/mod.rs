//! What goes wrong where the model is not right: dependent items, ability that is not normal, items that work differently in a group
//! of students, one site of half of them.
//!
//! Each data set is fitted as it is and with the remedy. The study shows what the plain fit gets wrong, whether the diagnostics see
//! it (and how often they speak where nothing is wrong), and what the remedy repairs.

mod page;
mod problem;
mod summary;
mod trial;

pub use problem::Problem;
pub use summary::{Cell, cells};
pub use trial::{CHECKS, FitRecord, Recovery};

use crate::StudyError;
use fedirt_model::statistics::Mode;

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Data sets of each problem.
    pub replications: usize,
    /// Seed of the first one; the others follow.
    pub first_seed: u64,
    /// Students of each.
    pub students: usize,
    /// The problems.
    pub problems: Vec<Problem>,
    /// The modes: `plain`, `secure`.
    pub modes: Vec<Mode>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct IssuesStudy {
    /// What was run.
    pub options: Options,
    /// One record per fit, in the order of problems, modes and seeds.
    pub records: Vec<FitRecord>,
}

/// One data set in one mode.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    problem: Problem,
    mode: Mode,
    students: usize,
    seed: u64,
}

impl Task {
    /// Its name in a journal.
    pub fn key(&self) -> String {
        format!("{} {} N{}, seed {}", self.problem.name(), self.mode.name(), self.students, self.seed)
    }

    /// Draws the data and fits them, as they are and with the remedy.
    pub fn run(&self) -> Result<Vec<FitRecord>, StudyError> {
        trial::run(self.problem, self.mode, self.students, self.seed)
    }
}

impl Options {
    /// All data sets.
    pub fn tasks(&self) -> Vec<Task> {
        let mut tasks = Vec::new();
        for &problem in &self.problems {
            for &mode in &self.modes {
                let seeds = (0..self.replications as u64).map(|t| self.first_seed.wrapping_add(t));
                tasks.extend(seeds.map(|seed| Task { problem, mode, students: self.students, seed }));
            }
        }
        tasks
    }

    /// What makes a journal that of this study, with however many replications.
    pub fn identity(&self) -> String {
        let once = Self { replications: 1, ..self.clone() };
        let names: Vec<String> = once.tasks().iter().map(Task::key).collect();
        format!("issues {} {}", env!("CARGO_PKG_VERSION"), names.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three seeds of each problem: what is wrong is seen, and the remedy brings estimates nearer.
    #[test]
    fn problems_are_seen_and_repaired() {
        let options = Options {
            replications: 3,
            first_seed: 1,
            students: 1000,
            problems: vec![Problem::Dependence, Problem::Skew, Problem::Dif],
            modes: vec![Mode::Plain],
        };
        let records: Vec<FitRecord> =
            options.tasks().iter().flat_map(|task| task.run().expect("fits")).collect();
        let found = cells(&records);
        let cell = |problem: Problem, remedied: bool| {
            let wanted = |cell: &&Cell| cell.problem == problem.name() && cell.remedied == remedied;
            found.iter().find(wanted).expect("a cell")
        };
        let rate = |cell: &Cell, check: &str| {
            let at = CHECKS.iter().position(|name| *name == check).expect("a check");
            cell.checks[at].expect("made").mean
        };
        let dependent = cell(Problem::Dependence, false);
        assert_eq!(rate(dependent, "Q3"), 1.0);
        // Dependence inflates the slopes of the items that share a text.
        assert!(dependent.items[0].bias[0].expect("slopes").mean > 0.0);
        let skewed = cell(Problem::Skew, false);
        assert_eq!(rate(skewed, "latent shape"), 1.0);
        let error = |cell: &Cell| cell.items[1].mse[0].expect("slopes").mean;
        assert!(error(cell(Problem::Skew, true)) < error(skewed));
        // Items that work differently are found by every test, and the others hardly ever; freeing them takes the bias away.
        let different = cell(Problem::Dif, false);
        for test in
            ["Mantel–Haenszel", "DIF score test", "DIF likelihood ratio", "DIF Wald", "logistic regression"]
        {
            assert!(rate(different, test) > 0.6, "{test}");
            let at = CHECKS.iter().position(|name| *name == test).expect("a check");
            assert!(different.false_alarms[at].expect("other items").mean < 0.25, "{test}");
        }
        let bias = |cell: &Cell| cell.items[0].bias[1].expect("difficulties").mean;
        assert!(bias(cell(Problem::Dif, true)).abs() < bias(different));
        let study = IssuesStudy { options, records };
        let output = study.report().expect("a report");
        assert!(output.files.iter().any(|(name, _)| name == "index.html"));
        assert_eq!(study.csv().lines().count(), 19);
    }
}
