//! Wide files: one row per student, one column per item.

use fedirt_model::responses::MISSING;

use crate::assemble::{Block, Ids};
use crate::cause::Cause;
use crate::cells::{CellReader, CellReaders};
use crate::chosen::ChosenOptions;
use crate::file_rows::{BySite, FileRows};
use crate::header::{Columns, Layout};
use crate::long_file::LongFile;
use crate::opened::{complain, complain_about_bytes};
use crate::options::ReadOptions;
use crate::problems::Complaints;
use crate::records::{Fields, Rows};
use crate::row_keys::{filled, group, weight};
use crate::tally::{Tally, complain_about_columns};

/// Reads the rows of a wide file.
pub(crate) fn read(
    mut records: Box<dyn Rows + '_>,
    columns: &Columns,
    options: &ReadOptions,
    complaints: &mut Complaints<'_>,
) -> FileRows {
    let Layout::Wide(items) = &columns.layout else { return FileRows::default() };
    let names: Vec<&str> = items.iter().map(|column| columns.names[*column].as_str()).collect();
    let readers = CellReaders::new(options);
    let item_readers: Vec<&CellReader> = names.iter().map(|name| readers.of(name)).collect();
    let keyed: Vec<usize> = (0..items.len()).filter(|at| item_readers[*at].keeps_options()).collect();
    let mut tallies: Vec<Tally> = names.iter().map(|name| Tally::new(options.declares(name))).collect();
    let mut lines_are_answers = LongFile::new(columns, options);
    let mut out = FileRows { site_column: columns.site.is_some(), ..FileRows::default() };
    let mut sites: BySite<Block> = BySite::new();
    // Where rows without a site go: their cells are checked, and then nobody wants them.
    let mut nowhere = Block::default();
    loop {
        let fields = match records.next() {
            Ok(Some(fields)) => fields,
            Ok(None) => break,
            Err(failure) => {
                out.refused += 1;
                complain(failure, complaints);
                break;
            }
        };
        if fields.len() != columns.names.len() {
            out.refused += 1;
            refuse(&fields, columns, complaints);
            continue;
        }
        out.rows += 1;
        lines_are_answers.look(&fields);
        let block = sites.find(&fields, columns, complaints).unwrap_or_else(|| {
            nowhere.cells.clear();
            &mut nowhere
        });
        let start = block.cells.len();
        let columns_of_items = items.iter().zip(&item_readers).zip(&mut tallies);
        block.cells.extend(columns_of_items.map(|((column, reader), tally)| {
            let cell = fields.get(*column);
            match reader.read(cell) {
                Ok(code) => tally.count(code, fields.line),
                Err(fault) => tally.fault(fault, cell, &fields),
            }
        }));
        if block.chosen.is_empty() {
            block.chosen = keyed.iter().map(|at| ChosenOptions::new(names[*at])).collect();
        }
        for (at, chosen) in keyed.iter().zip(&mut block.chosen) {
            let answered = block.cells[start + at] != MISSING;
            chosen.push(answered.then(|| fields.get(items[*at])), fields.line);
        }
        if block.cells[start..].iter().all(|code| *code == MISSING) {
            out.empty_rows.push(fields.line);
        }
        add_keys(block, &fields, columns, options, complaints);
    }
    out.long = lines_are_answers.columns();
    if out.long.is_some() {
        return out;
    }
    complain_about_columns(&names, &tallies, complaints);
    out.first_lines = first_lines(&names, &tallies);
    out.nothing_answered = !items.is_empty() && tallies.iter().all(Tally::is_empty);
    out.empty_items = empty_items(&names, &tallies);
    out.blank = records.blank().clone();
    out.windows_1252 = records.windows_1252();
    out.blocks = sites.parts;
    for (_, block) in &mut out.blocks {
        block.file = complaints.file.to_owned();
        block.items = names.iter().map(|name| name.to_string()).collect();
    }
    out
}

/// Complains about a line with too few or too many fields, or about the bytes that make it so.
pub(crate) fn refuse(fields: &Fields<'_>, columns: &Columns, complaints: &mut Complaints<'_>) {
    if !complain_about_bytes(fields, None, complaints) {
        let (expected, found) = (columns.names.len(), fields.len());
        complaints.line(fields.line, Cause::FieldCount { expected, found });
    }
}

pub(crate) fn empty_items(names: &[&str], tallies: &[Tally]) -> Vec<String> {
    names
        .iter()
        .zip(tallies)
        .filter(|(_, tally)| tally.is_empty())
        .map(|(name, _)| name.to_string())
        .collect()
}

/// For each item the codes that occur, with the line on which each does first.
pub(crate) fn first_lines(names: &[&str], tallies: &[Tally]) -> Vec<(String, Vec<(u8, u64)>)> {
    names.iter().zip(tallies).map(|(name, tally)| (name.to_string(), tally.first_lines.clone())).collect()
}

/// Adds a row's id, weight and group to its block.
fn add_keys(
    block: &mut Block,
    fields: &Fields<'_>,
    columns: &Columns,
    options: &ReadOptions,
    complaints: &mut Complaints<'_>,
) {
    block.rows += 1;
    block.lines.push(fields.line);
    if let Some(column) = columns.id {
        let ids = block.ids.get_or_insert_with(|| Ids::new(&columns.names[column]));
        ids.ids.push(filled(fields, columns, column, Cause::EmptyId, complaints).into_owned());
    }
    if let Some(column) = columns.weight {
        block.weights.get_or_insert_default().push(weight(fields, columns, column, complaints));
    }
    if let Some(column) = columns.group {
        block.groups.push(group(fields, columns, column, &options.missing, complaints));
    }
}
