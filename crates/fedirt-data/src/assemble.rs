//! From the rows of the files to one table per site.

use std::collections::HashMap;

use fedirt_model::responses::{MISSING, ResponseTable, TableError};

use crate::cause::Cause;
use crate::notes::{Note, NoteKind, add_note};
use crate::problems::{Problem, Problems};
use crate::reading::{SiteResponses, Source};
use crate::text::shown;

/// The rows that one file gives to one site, cells in the order of the file's items.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) file: String,
    pub(crate) items: Vec<String>,
    pub(crate) cells: Vec<u8>,
    pub(crate) rows: usize,
    pub(crate) ids: Option<Ids>,
    pub(crate) weights: Option<Vec<f64>>,
}

/// Ids of rows, with the name of their column.
pub(crate) struct Ids {
    pub(crate) column: String,
    pub(crate) ids: Vec<String>,
    pub(crate) lines: Vec<u64>,
}

impl Ids {
    pub(crate) fn new(column: &str) -> Self {
        Self { column: column.to_string(), ids: Vec::new(), lines: Vec::new() }
    }
}

/// The sites in order of first appearance.
#[derive(Default)]
pub(crate) struct Sites {
    order: HashMap<String, usize>,
    sites: Vec<(String, Vec<Block>)>,
}

impl Sites {
    pub(crate) fn add(&mut self, name: String, block: Block) {
        let at = *self.order.entry(name).or_insert_with_key(|name| {
            self.sites.push((name.clone(), Vec::new()));
            self.sites.len() - 1
        });
        self.sites[at].1.push(block);
    }

    /// The names of all items, once for each file and site that has them.
    pub(crate) fn items(&self) -> impl Iterator<Item = &str> {
        self.sites.iter().flat_map(|(_, blocks)| blocks).flat_map(|b| b.items.iter().map(String::as_str))
    }

    /// One table per site.
    pub(crate) fn finish(
        self,
        problems: &mut Problems,
        notes: &mut Vec<Note>,
    ) -> Result<Vec<SiteResponses>, TableError> {
        for (site, blocks) in &self.sites {
            complain_about_ids(site, blocks, problems);
        }
        let sites: Result<Vec<_>, _> =
            self.sites.into_iter().map(|(name, blocks)| join(name, blocks, notes)).collect();
        if let Ok(sites) = &sites {
            note_low_codes(sites, notes);
        }
        sites
    }
}

fn complain_about_ids(site: &str, blocks: &[Block], problems: &mut Problems) {
    let mut first: HashMap<&str, (usize, u64)> = HashMap::new();
    for (at, block) in blocks.iter().enumerate() {
        let Some(ids) = &block.ids else { continue };
        for (id, line) in ids.ids.iter().zip(&ids.lines) {
            // Rows without an id are complained about where they are read.
            if id.is_empty() {
                continue;
            }
            let (before, first_line) = *first.entry(id).or_insert((at, *line));
            if (before, first_line) != (at, *line) {
                let first_file = (before != at).then(|| blocks[before].file.clone());
                let (id, site) = (shown(id.as_bytes()), shown(site.as_bytes()));
                let cause = Cause::DuplicateId { id, site, first_line, first_file };
                let (file, column) = (Some(block.file.clone()), Some(ids.column.clone()));
                problems.add(Problem { file, line: Some(*line), column, cause });
            }
        }
    }
}

/// The blocks of a site as one table: the union of their items, missing where a file lacks one.
fn join(name: String, blocks: Vec<Block>, notes: &mut Vec<Note>) -> Result<SiteResponses, TableError> {
    let sources = blocks.iter().map(|block| Source { file: block.file.clone(), rows: block.rows }).collect();
    let rows = blocks.iter().map(|block| block.rows).sum();
    let with_ids = blocks.iter().filter(|block| block.ids.is_some()).count();
    if with_ids > 0 && with_ids < blocks.len() {
        add_note(notes, None, NoteKind::IdsDropped(name.clone()));
    }
    let (mut items, mut cells): (Vec<String>, Vec<u8>) = Default::default();
    let (mut ids, mut weights) = (Vec::new(), Vec::new());
    let same_items = blocks.iter().all(|block| block.items == blocks[0].items);
    let mut places: HashMap<String, usize> = HashMap::new();
    if !same_items {
        for item in blocks.iter().flat_map(|block| &block.items) {
            places.entry(item.clone()).or_insert_with(|| {
                items.push(item.clone());
                items.len() - 1
            });
        }
    }
    for mut block in blocks {
        ids.extend(block.ids.take().map(|ids| ids.ids).unwrap_or_default());
        weights.extend(block.weights.take().unwrap_or_default());
        if !same_items {
            let targets: Vec<usize> =
                block.items.iter().filter_map(|item| places.get(item).copied()).collect();
            for row in block.cells.chunks_exact(block.items.len().max(1)) {
                let start = cells.len();
                cells.resize(start + items.len(), MISSING);
                for (target, code) in targets.iter().zip(row) {
                    cells[start + target] = *code;
                }
            }
        } else if cells.is_empty() {
            // One file: its cells become the table's, without a copy.
            (items, cells) = (block.items, block.cells);
        } else {
            cells.extend_from_slice(&block.cells);
        }
    }
    cells.shrink_to_fit();
    if !cells.is_empty() && cells.iter().all(|code| *code == MISSING) {
        add_note(notes, None, NoteKind::EmptySite(name.clone()));
    }
    let mut table = ResponseTable::new(rows, items.len(), cells)?;
    if !weights.is_empty() {
        table = table.with_weights(weights)?;
    }
    let ids = (rows > 0 && ids.len() == rows).then_some(ids);
    Ok(SiteResponses { name, items, ids, table, sources })
}

/// Notes items that never have 0 or 1: ages and grades look like that.
fn note_low_codes(sites: &[SiteResponses], notes: &mut Vec<Note>) {
    let mut order: Vec<&str> = Vec::new();
    let mut ranges: HashMap<&str, (u8, u8)> = HashMap::new();
    for site in sites {
        let mut range = vec![(MISSING, 0_u8); site.items.len()];
        for row in site.table.rows() {
            for ((lowest, highest), code) in range.iter_mut().zip(row) {
                // A missing answer is the largest byte: it never lowers the lowest code.
                *lowest = (*lowest).min(*code);
                *highest = (*highest).max(if *code == MISSING { 0 } else { *code });
            }
        }
        for (item, (lowest, highest)) in site.items.iter().zip(range) {
            let union = ranges.entry(item).or_insert_with(|| {
                order.push(item);
                (MISSING, 0)
            });
            *union = (union.0.min(lowest), union.1.max(highest));
        }
    }
    for item in order {
        let (lowest, highest) = ranges[item];
        if (2..MISSING).contains(&lowest) {
            notes.push(Note {
                files: Vec::new(),
                kind: NoteKind::NoLowCode { item: item.to_string(), lowest, highest },
            });
        }
    }
}
