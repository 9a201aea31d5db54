//! What was read: the numbers behind `fedirt check`. Counts only, no row.

use std::collections::HashMap;

use fedirt_model::responses::MISSING;

use crate::HIGHEST_CODE;
use crate::classical::{Classical, ClassicalItem, classical};
use crate::notes::Note;
use crate::reading::{Responses, SiteResponses, Source};

/// What is in the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The files with their rows and the number of sites that they give rows to.
    pub files: Vec<FileSummary>,
    /// The sites, in order of first appearance.
    pub sites: Vec<SiteSummary>,
    /// The items of all sites, in order of first appearance.
    pub items: Vec<ItemSummary>,
    /// Cronbach's alpha over rows that answer all items; `None` where there are too few.
    pub alpha: Option<f64>,
    /// Rows that answer all items of all sites.
    pub complete_rows: u64,
    /// What the reader noted.
    pub notes: Vec<Note>,
}

/// What one file gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSummary {
    /// The file, as it was given.
    pub file: String,
    /// Its rows.
    pub rows: u64,
    /// Sites that it gives rows to.
    pub sites: usize,
}

/// What one site has.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteSummary {
    /// The site's name.
    pub name: String,
    /// The files that its rows come from.
    pub sources: Vec<Source>,
    /// Rows.
    pub rows: u64,
    /// Items that its files have.
    pub items: usize,
    /// Missing answers among rows × items.
    pub missing: u64,
    /// Rows with the highest code in every answer. Items with one code only are not looked at.
    pub all_highest: u64,
    /// Rows with the lowest code in every answer.
    pub all_lowest: u64,
    /// Rows without any answer.
    pub empty_rows: u64,
    /// Items to which all answers of the site are the same.
    pub constant_items: Vec<String>,
    /// The sum of the weights, where rows have weights.
    pub weight: Option<f64>,
}

/// What is known of one item, over all sites.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemSummary {
    /// The item's name.
    pub name: String,
    /// Sites whose files have the item.
    pub sites: usize,
    /// Answers.
    pub answered: u64,
    /// Missing answers among the rows of the sites that have the item.
    pub missing: u64,
    /// Codes that occur, ascending, with the number of answers.
    pub counts: Vec<(u8, u64)>,
    /// Difficulty, item-rest correlation, options.
    pub classical: ClassicalItem,
}

impl ItemSummary {
    /// Whether all answers are the same.
    pub fn constant(&self) -> bool {
        self.counts.len() == 1
    }
}

impl Description {
    /// Rows of all sites.
    pub fn rows(&self) -> u64 {
        self.sites.iter().map(|site| site.rows).sum()
    }

    /// Items that fewer than half of the sites have.
    pub fn few_sites(&self) -> impl Iterator<Item = &ItemSummary> {
        self.items.iter().filter(|item| item.sites * 2 < self.sites.len())
    }
}

/// Share of missing answers; 0 where there is nothing.
pub(crate) fn share(missing: u64, cells: u64) -> f64 {
    if cells == 0 { 0.0 } else { missing as f64 / cells as f64 }
}

/// Counts of the codes 0..=63 of an item, and of missing answers.
#[derive(Clone)]
struct Counts {
    sites: usize,
    codes: [u64; HIGHEST_CODE as usize + 1],
    missing: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self { sites: 0, codes: [0; HIGHEST_CODE as usize + 1], missing: 0 }
    }
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.sites += 1;
        self.missing += other.missing;
        self.codes.iter_mut().zip(other.codes).for_each(|(sum, count)| *sum += count);
    }

    fn used(&self) -> Vec<(u8, u64)> {
        (0..=HIGHEST_CODE).zip(self.codes).filter(|(_, count)| *count > 0).collect()
    }
}

/// What is in the files.
pub fn describe(reading: &Responses) -> Description {
    let mut order: Vec<&str> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut union: Vec<Counts> = Vec::new();
    let mut constant: Vec<Vec<String>> = Vec::new();
    for site in &reading.sites {
        let counts = count(site);
        for (item, counts) in site.items.iter().zip(&counts) {
            let place = *places.entry(item).or_insert_with(|| {
                order.push(item);
                union.push(Counts::default());
                order.len() - 1
            });
            union[place].add(counts);
        }
        let same = site.items.iter().zip(&counts).filter(|(_, counts)| counts.used().len() == 1);
        constant.push(same.map(|(item, _)| item.clone()).collect());
    }
    // Lowest and highest code of each item that has more than one.
    let ranges: Vec<Option<(u8, u8)>> = union
        .iter()
        .map(|counts| match counts.used().as_slice() {
            [(lowest, _), .., (highest, _)] => Some((*lowest, *highest)),
            _ => None,
        })
        .collect();
    let sites = reading.sites.iter().zip(constant).map(|(site, constant_items)| {
        let range_of = |item: &String| places.get(item.as_str()).and_then(|place| ranges[*place]);
        let ranges: Vec<Option<(u8, u8)>> = site.items.iter().map(range_of).collect();
        summarise(site, &ranges, constant_items)
    });
    let Classical { items: classical, alpha, complete_rows } = classical(reading);
    let items = order.iter().zip(&union).zip(classical).map(|((name, counts), classical)| ItemSummary {
        name: name.to_string(),
        sites: counts.sites,
        answered: counts.codes.iter().sum(),
        missing: counts.missing,
        counts: counts.used(),
        classical,
    });
    Description {
        files: files(&reading.sites),
        sites: sites.collect(),
        items: items.collect(),
        alpha,
        complete_rows,
        notes: reading.notes.clone(),
    }
}

fn count(site: &SiteResponses) -> Vec<Counts> {
    let mut counts = vec![Counts::default(); site.items.len()];
    for row in site.table.rows() {
        for (count, code) in counts.iter_mut().zip(row) {
            match count.codes.get_mut(usize::from(*code)) {
                Some(cell) => *cell += 1,
                None => count.missing += 1,
            }
        }
    }
    counts
}

fn summarise(site: &SiteResponses, ranges: &[Option<(u8, u8)>], constant_items: Vec<String>) -> SiteSummary {
    let (mut missing, mut all_highest, mut all_lowest, mut empty_rows) = (0, 0, 0, 0);
    for row in site.table.rows() {
        let absent = row.iter().filter(|code| **code == MISSING).count();
        missing += absent as u64;
        empty_rows += u64::from(absent == row.len());
        let (mut looked_at, mut highest, mut lowest) = (false, true, true);
        for (code, range) in row.iter().zip(ranges) {
            if let Some((low, high)) = range
                && *code != MISSING
            {
                looked_at = true;
                highest &= code == high;
                lowest &= code == low;
            }
        }
        all_highest += u64::from(looked_at && highest);
        all_lowest += u64::from(looked_at && lowest);
    }
    SiteSummary {
        name: site.name.clone(),
        sources: site.sources.clone(),
        rows: site.table.students() as u64,
        items: site.items.len(),
        missing,
        all_highest,
        all_lowest,
        empty_rows,
        constant_items,
        weight: site.table.weights().map(|weights| weights.iter().sum()),
    }
}

fn files(sites: &[SiteResponses]) -> Vec<FileSummary> {
    let mut files: Vec<FileSummary> = Vec::new();
    let mut places: HashMap<&String, usize> = HashMap::new();
    for source in sites.iter().flat_map(|site| &site.sources) {
        let place = *places.entry(&source.file).or_insert_with(|| {
            files.push(FileSummary { file: source.file.clone(), rows: 0, sites: 0 });
            files.len() - 1
        });
        files[place].rows += source.rows as u64;
        files[place].sites += 1;
    }
    files
}
