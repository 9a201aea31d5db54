//! The paper's empirical study on any file: FedIRT and FedIRT-DP side by side, and the private default beside them.
//!
//! Private methods are run several times with different noise, which shows its influence. The noise comes from a seed, which
//! makes the study reproducible and therefore not private.

mod agreement;
mod page;

use crate::StudyError;
use crate::fedirt_dp::Settings;
use crate::paper::{Estimates, ItemsAndSites, Method, SchoolEffects};
use fedirt_model::responses::{MISSING, ResponseTable};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// ε of the private methods.
    pub epsilon: f64,
    /// Number of draws of the noise.
    pub draws: u64,
    /// Seed of the noise.
    pub seed: u64,
}

/// Responses of sites that are to be compared.
#[derive(Debug)]
pub struct Data {
    /// Items and sites.
    pub frame: ItemsAndSites,
    /// One table per site, one column per item.
    pub tables: Vec<ResponseTable>,
    /// What was left out, in sentences.
    pub remarks: Vec<String>,
}

impl Data {
    /// Complete rows of sites that have any, and items with two codes at least: as the paper's data, so that all
    /// methods see the same.
    pub fn new(items: &[String], sites: Vec<(String, ResponseTable)>) -> Result<Self, StudyError> {
        let mut remarks = Vec::new();
        let rows = sites.iter().map(|(_, table)| table.students()).sum::<usize>();
        let complete = |row: &&[u8]| row.iter().all(|x| *x != MISSING);
        let kept: usize = sites.iter().map(|(_, table)| table.rows().filter(complete).count()).sum();
        if kept < rows {
            remarks.push(format!(
                "{} of {rows} rows lack an answer, and are left out of all methods: FedIRT-DP is defined for complete rows, and all are to see the same.",
                rows - kept
            ));
        }
        let mut seen = vec![[false; 256]; items.len()];
        for row in sites.iter().flat_map(|(_, table)| table.rows()).filter(complete) {
            row.iter().zip(&mut seen).for_each(|(code, seen)| seen[usize::from(*code)] = true);
        }
        let codes = |seen: &[bool; 256]| (0..MISSING).filter(|c| seen[usize::from(*c)]).collect::<Vec<u8>>();
        let codes: Vec<Vec<u8>> = seen.iter().map(codes).collect();
        let used: Vec<usize> = (0..items.len()).filter(|j| codes[*j].len() > 1).collect();
        for (name, codes) in items.iter().zip(&codes).filter(|(_, codes)| codes.len() < 2) {
            remarks.push(format!("Item {name} has {} kind of answer, and is left out.", codes.len()));
        }
        let (mut tables, mut named) = (Vec::new(), Vec::new());
        for (name, table) in sites {
            let cells: Vec<u8> =
                table.rows().filter(complete).flat_map(|row| used.iter().map(|j| row[*j])).collect();
            let students = cells.len() / used.len().max(1);
            if students == 0 {
                remarks.push(format!("Site {name} has no complete row, and is left out."));
                continue;
            }
            named.push((name, students as u64));
            tables.push(ResponseTable::new(students, used.len(), cells)?);
        }
        if used.len() < 2 || tables.len() < 2 {
            return Err(StudyError::TooFewData { items: used.len(), sites: tables.len() });
        }
        let item = |j: usize| {
            let model = if codes[j].len() == 2 { "2pl" } else { "gpcm" };
            (items[j].clone(), model.to_owned(), codes[j].clone())
        };
        let frame = ItemsAndSites { items: used.into_iter().map(item).collect(), sites: named };
        Ok(Self { frame, tables, remarks })
    }

    /// Students of all sites.
    pub fn students(&self) -> u64 {
        self.frame.sites.iter().map(|(_, n)| n).sum()
    }
}

/// The study.
#[derive(Debug)]
pub struct Empirical {
    /// What was asked for.
    pub options: Options,
    /// The data.
    pub data: Data,
    /// FedIRT, FedIRT-DP, the private default.
    pub methods: Vec<Method>,
}

/// One run of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Position of the method.
    pub method: usize,
    /// Number of the draw of noise.
    pub draw: u64,
}

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodRun {
    /// Position of the method.
    pub method: usize,
    /// Number of the draw of noise.
    pub draw: u64,
    /// Estimates.
    pub estimates: Estimates,
}

impl Empirical {
    /// A study of these data.
    pub fn new(data: Data, options: Options) -> Result<Self, StudyError> {
        let epsilon = options.epsilon;
        let methods = vec![
            Method::fedirt(SchoolEffects::Fixed),
            Method::published(epsilon, Settings::published(), SchoolEffects::Fixed, ("", ""))?,
            Method::score2(epsilon, false, SchoolEffects::Fixed)?,
        ];
        Ok(Self { options, data, methods })
    }

    /// All runs: what has no noise is run once.
    pub fn tasks(&self) -> Vec<Task> {
        let mut tasks = vec![Task { method: 0, draw: 0 }];
        for method in 1..self.methods.len() {
            tasks.extend((0..self.options.draws).map(|draw| Task { method, draw }));
        }
        tasks
    }

    /// The name of a task in a journal.
    pub fn key(&self, task: &Task) -> String {
        format!("{}, draw {}", self.methods[task.method].name, task.draw + 1)
    }

    /// Estimates.
    pub fn run(&self, task: &Task) -> Result<MethodRun, StudyError> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
        rng.set_stream(16 * (task.draw + 1) + task.method as u64);
        let estimates = self.methods[task.method].estimate(&self.data.frame, &self.data.tables, &mut rng)?;
        Ok(MethodRun { method: task.method, draw: task.draw, estimates })
    }

    /// What makes a journal that of this study: a digest of the answers stands for them.
    pub fn identity(&self) -> Result<String, serde_json::Error> {
        let mut digest = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.data.tables.iter().flat_map(|t| t.rows().flatten()) {
            // FNV-1a, because the hash need not be cryptographic.
            digest = (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        let frame = (&self.data.frame.items, &self.data.frame.sites);
        let version = env!("CARGO_PKG_VERSION");
        serde_json::to_string(&(version, "empirical", digest, frame, self.options.seed, &self.methods))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_methods_see_complete_rows() {
        let items: Vec<String> = ["x", "y", "z"].map(str::to_owned).to_vec();
        let table = |cells: &[u8]| ResponseTable::new(cells.len() / 3, 3, cells.to_vec()).expect("a table");
        let sites = vec![
            ("A".to_owned(), table(&[1, 0, 5, 2, 1, 5, MISSING, 0, 5])),
            ("B".to_owned(), table(&[3, 1, 5])),
            ("C".to_owned(), table(&[3, MISSING, 5])),
        ];
        let data = Data::new(&items, sites).expect("data");
        assert_eq!(data.frame.sites, [("A".to_owned(), 2), ("B".to_owned(), 1)]);
        assert_eq!(data.frame.items[0], ("x".into(), "gpcm".into(), vec![1, 2, 3]));
        assert_eq!(data.frame.items[1], ("y".into(), "2pl".into(), vec![0, 1]));
        assert_eq!(data.tables[0].row(1), [2, 1]);
        assert_eq!(data.remarks.len(), 3, "{:?}", data.remarks);
    }
}
