//! Wide files: one row per student, one column per item.

use std::io::BufRead;

use fedirt_model::responses::MISSING;

use crate::assemble::{Block, Ids};
use crate::cause::Cause;
use crate::cells::CellReader;
use crate::file_rows::{BySite, FileRows};
use crate::header::{Columns, Layout};
use crate::opened::{complain, complain_about_bytes};
use crate::options::ReadOptions;
use crate::problems::Complaints;
use crate::records::{Fields, Records};
use crate::row_keys::{filled, weight};
use crate::tally::{Tally, complain_about_columns};

/// Reads the rows of a wide file.
pub(crate) fn read<R: BufRead>(
    mut records: Records<R>,
    columns: &Columns,
    options: &ReadOptions,
    complaints: &mut Complaints<'_>,
) -> FileRows {
    let Layout::Wide(items) = &columns.layout else { return FileRows::default() };
    let reader = CellReader::new(&options.missing);
    let mut tallies = vec![Tally::default(); items.len()];
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
        let block = sites.find(&fields, columns, complaints).unwrap_or_else(|| {
            nowhere.cells.clear();
            &mut nowhere
        });
        let start = block.cells.len();
        block.cells.extend(items.iter().zip(&mut tallies).map(|(column, tally)| {
            let cell = fields.get(*column);
            match reader.read(cell) {
                Ok(code) => tally.count(code),
                Err(fault) => tally.fault(fault, cell, &fields),
            }
        }));
        if block.cells[start..].iter().all(|code| *code == MISSING) {
            out.empty_rows.push(fields.line);
        }
        add_keys(block, &fields, columns, complaints);
    }
    let names: Vec<&str> = items.iter().map(|column| columns.names[*column].as_str()).collect();
    complain_about_columns(&names, &tallies, complaints);
    out.nothing_answered = !items.is_empty() && tallies.iter().all(Tally::is_empty);
    out.empty_items = empty_items(&names, &tallies);
    out.blank = records.blank().clone();
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

/// Adds a row's id and weight to its block.
fn add_keys(block: &mut Block, fields: &Fields<'_>, columns: &Columns, complaints: &mut Complaints<'_>) {
    block.rows += 1;
    if let Some(column) = columns.id {
        let ids = block.ids.get_or_insert_with(|| Ids::new(&columns.names[column]));
        ids.ids.push(filled(fields, columns, column, Cause::EmptyId, complaints).into_owned());
        ids.lines.push(fields.line);
    }
    if let Some(column) = columns.weight {
        block.weights.get_or_insert_default().push(weight(fields, columns, column, complaints));
    }
}
