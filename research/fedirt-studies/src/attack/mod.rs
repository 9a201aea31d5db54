//! Reconstruction attack: response rows from the transcript of an honest run.
//!
//! Every number that a school sends is a sum over its students, and a student's part depends on nothing but the
//! parameters, which are broadcast, and the pattern of answers, of which there are 2^J. So each number is a linear
//! equation in the counts of the patterns. There are fewer equations than patterns, but counts are whole and not
//! negative, and most of them are zero: non-negative least squares finds them.
//!
//! | file | what |
//! | --- | --- |
//! | `condition` | what is run, and what the attacker is given |
//! | `transcript` | what the coordinator sees |
//! | `patterns` | what a student of each pattern adds |
//! | `equations`, `non_negative`, `qr`, `matrix`, `vectors` | from sums to counts |
//! | `tilt` | from noisy sums and a model to the likeliest counts |
//! | `whole` | from counts to rows, and the guess without any attack |
//! | `exact`, `noisy` | the attacks |
//! | `record`, `summary`, `bound`, `words`, `files`, `figures` | results |

mod bound;
mod condition;
mod equations;
mod exact;
mod figures;
mod files;
mod matrix;
mod noisy;
mod non_negative;
mod patterns;
mod qr;
mod record;
mod summary;
mod tilt;
mod transcript;
mod vectors;
mod whole;
mod words;

pub use bound::{AtMost, Bound, bounds};
pub use condition::{Condition, Protocol};
pub use files::report;
pub use record::AttackRecord;
pub use summary::{Cell, cells};

use crate::StudyError;
use crate::harness::{self, Journal, Watch};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// The options of the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Seeds per condition; `private` has a hundred times as many.
    pub replications: u64,
    /// The first of them.
    pub first_seed: u64,
    /// The conditions.
    pub conditions: Vec<Condition>,
}

impl Default for Options {
    fn default() -> Self {
        Self { replications: 3, first_seed: 1, conditions: Condition::all() }
    }
}

impl Options {
    /// Conditions that take seconds.
    pub fn quick() -> Self {
        Self { conditions: Condition::quick(), ..Self::default() }
    }

    /// A text that is the same for the same study: for its journal.
    pub fn identity(&self) -> Result<String, serde_json::Error> {
        let once = Self { replications: 1, ..self.clone() };
        serde_json::to_string(&("fedirt.study.attack/2", env!("CARGO_PKG_VERSION"), once))
    }

    /// Every condition with every seed.
    pub fn tasks(&self) -> Vec<Task> {
        let of = |condition: &Condition| {
            let (condition, first) = (condition.clone(), self.first_seed);
            (0..condition.seeds(self.replications))
                .map(move |at| Task { condition: condition.clone(), seed: first + at })
        };
        self.conditions.iter().flat_map(of).collect()
    }
}

/// A condition with a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The condition.
    pub condition: Condition,
    /// The seed.
    pub seed: u64,
}

impl Task {
    /// Its name in the journal.
    pub fn key(&self) -> String {
        format!("{} seed {}", self.condition.name(), self.seed)
    }

    /// Runs the protocol honestly, and attacks its transcript.
    pub fn run(&self) -> Result<Vec<AttackRecord>, StudyError> {
        match self.condition.protocol {
            Protocol::Private => noisy::attack(&self.condition, self.seed),
            _ => exact::attack(&self.condition, self.seed),
        }
    }
}

/// All records, in the order of conditions and seeds.
pub fn run<W: Write + Send>(
    options: &Options,
    journal: Journal<W>,
    watch: &dyn Watch,
) -> Result<Vec<AttackRecord>, StudyError> {
    let records = harness::run(&options.tasks(), Task::key, Task::run, journal, watch)?;
    Ok(records.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests;
