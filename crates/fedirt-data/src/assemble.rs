//! From the rows of the files to one table per site.

use std::collections::HashMap;

use fedirt_model::responses::{MISSING, ResponseTable, TableError};

use crate::cause::Cause;
use crate::chosen::ChosenOptions;
use crate::notes::{Note, NoteKind, add_note};
use crate::options::ReadOptions;
use crate::problems::{Problem, Problems};
use crate::reading::{SiteResponses, Source};
use crate::text::shown;

/// The rows that one file gives to one site, cells in the order of the file's items.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) file: String,
    /// The place of the file among the inputs.
    pub(crate) input: usize,
    pub(crate) items: Vec<String>,
    pub(crate) cells: Vec<u8>,
    pub(crate) rows: usize,
    /// The line of each row.
    pub(crate) lines: Vec<u64>,
    pub(crate) ids: Option<Ids>,
    pub(crate) weights: Option<Vec<f64>>,
    /// The group of each row, empty for none; no rows where no column is named.
    pub(crate) groups: Vec<String>,
    /// What was chosen in keyed items.
    pub(crate) chosen: Vec<ChosenOptions>,
}

/// Ids of rows, with the name of their column.
pub(crate) struct Ids {
    pub(crate) column: String,
    pub(crate) ids: Vec<String>,
}

impl Ids {
    pub(crate) fn new(column: &str) -> Self {
        Self { column: column.to_string(), ids: Vec::new() }
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

    /// One table per site.
    pub(crate) fn finish(
        mut self,
        options: &ReadOptions,
        problems: &mut Problems,
        notes: &mut Vec<Note>,
    ) -> Result<Vec<SiteResponses>, TableError> {
        for (site, blocks) in &self.sites {
            complain_about_ids(site, blocks, problems);
        }
        if options.missing_is_wrong {
            count_missing_as_wrong(&mut self.sites, options, notes);
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
        for (id, line) in ids.ids.iter().zip(&block.lines) {
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

/// Gives missing answers the lowest code of their item: those of rows with an answer, to items with an answer in the same
/// file and site. The lowest code is that of codebook or key, or else the lowest that occurs; an item with one code alone,
/// which nobody has wrong, takes the lowest of all items.
fn count_missing_as_wrong(sites: &mut [(String, Vec<Block>)], options: &ReadOptions, notes: &mut Vec<Note>) {
    let mut ranges: HashMap<String, (u8, u8)> = HashMap::new();
    for block in sites.iter().flat_map(|(_, blocks)| blocks) {
        for row in block.cells.chunks_exact(block.items.len().max(1)) {
            for (item, code) in block.items.iter().zip(row).filter(|(_, code)| **code != MISSING) {
                match ranges.get_mut(item) {
                    Some((lowest, highest)) => {
                        (*lowest, *highest) = ((*lowest).min(*code), (*highest).max(*code))
                    }
                    None => drop(ranges.insert(item.clone(), (*code, *code))),
                }
            }
        }
    }
    let lowest_of_all = ranges.values().map(|(lowest, _)| *lowest).min().unwrap_or(0);
    let lowest = |item: &String| match (options.lowest_code(item), ranges.get(item)) {
        (Some(declared), _) => declared,
        (None, Some((lowest, highest))) if lowest < highest => *lowest,
        _ => lowest_of_all,
    };
    let mut count = 0;
    for block in sites.iter_mut().flat_map(|(_, blocks)| blocks) {
        let mut given = vec![false; block.items.len()];
        for row in block.cells.chunks_exact(block.items.len().max(1)) {
            given.iter_mut().zip(row).for_each(|(given, code)| *given |= *code != MISSING);
        }
        let wrong: Vec<Option<u8>> =
            block.items.iter().zip(&given).map(|(item, given)| given.then(|| lowest(item))).collect();
        for row in block.cells.chunks_exact_mut(block.items.len().max(1)) {
            if row.iter().all(|code| *code == MISSING) {
                continue;
            }
            for (code, wrong) in row.iter_mut().zip(&wrong) {
                if let Some(wrong) = wrong
                    && *code == MISSING
                {
                    *code = *wrong;
                    count += 1;
                }
            }
        }
    }
    if count > 0 {
        add_note(notes, None, NoteKind::MissingAsWrong(count));
    }
}

/// The blocks of a site as one table: the union of their items, missing where a file lacks one.
fn join(name: String, blocks: Vec<Block>, notes: &mut Vec<Note>) -> Result<SiteResponses, TableError> {
    let source = |block: &Block| Source { file: block.file.clone(), rows: block.rows, input: block.input };
    let sources = blocks.iter().map(source).collect();
    let lines = blocks.iter().flat_map(|block| block.lines.iter().copied()).collect();
    let chosen = join_chosen(&blocks);
    let rows = blocks.iter().map(|block| block.rows).sum();
    let with_ids = blocks.iter().filter(|block| block.ids.is_some()).count();
    if with_ids > 0 && with_ids < blocks.len() {
        add_note(notes, None, NoteKind::IdsDropped(name.clone()));
    }
    let (mut items, mut cells): (Vec<String>, Vec<u8>) = Default::default();
    let (mut ids, mut weights, mut groups) = (Vec::new(), Vec::new(), Vec::new());
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
        groups.append(&mut block.groups);
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
    let groups = (rows > 0 && groups.len() == rows).then_some(groups);
    Ok(SiteResponses { name, items, ids, groups, table, sources, lines, chosen })
}

/// What was chosen in keyed items, over all files of a site.
fn join_chosen(blocks: &[Block]) -> Vec<ChosenOptions> {
    let mut joined: Vec<ChosenOptions> = Vec::new();
    let mut before = 0;
    for block in blocks {
        for chosen in &block.chosen {
            let at = joined.iter().position(|other| other.item == chosen.item).unwrap_or_else(|| {
                joined.push(ChosenOptions::new(&chosen.item));
                joined.len() - 1
            });
            joined[at].fill(before);
            joined[at].append(chosen);
        }
        before += block.rows;
        joined.iter_mut().for_each(|chosen| chosen.fill(before));
    }
    joined
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
