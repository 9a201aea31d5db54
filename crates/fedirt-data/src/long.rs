//! Long files: one line per answer, turned into one row per id.

use std::collections::{HashMap, HashSet};

use fedirt_model::responses::MISSING;

use crate::assemble::{Block, Ids};
use crate::cause::Cause;
use crate::cells::CellReaders;
use crate::chosen::ChosenOptions;
use crate::file_rows::{BySite, FileRows};
use crate::header::{Columns, Layout};
use crate::item_names::ItemNames;
use crate::opened::complain;
use crate::options::ReadOptions;
use crate::problems::Complaints;
use crate::records::{Fields, Rows};
use crate::row_keys::{filled, group, weight};
use crate::selection::Selection;
use crate::tally::{Tally, complain_about_columns};
use crate::text::shown;
use crate::wide::{empty_items, first_lines, refuse};

/// A table with more than so many cells per answer is refused, unless it is small.
const SPARSEST: usize = 200;
const SMALL: usize = 100_000_000;

/// One line of the file. Sixteen bytes: a long file has as many as a table has cells.
struct Answer {
    row: u32,
    item: u32,
    line: u32,
    code: u8,
    /// The place of its option among those of a keyed item.
    option: u8,
}

/// The answers of one site.
#[derive(Default)]
struct Part {
    rows: HashMap<String, u32>,
    /// First line of each row.
    lines: Vec<u64>,
    weights: Vec<f64>,
    groups: Vec<String>,
    answers: Vec<Answer>,
    /// Options of keyed items.
    chosen: HashMap<u32, ChosenOptions>,
}

/// The items of the file in order of first appearance.
#[derive(Default)]
struct Items {
    places: HashMap<String, u32>,
    names: Vec<String>,
    tallies: Vec<Tally>,
}

/// Reads the lines of a long file.
pub(crate) fn read(
    mut records: Box<dyn Rows + '_>,
    columns: &Columns,
    options: &ReadOptions,
    complaints: &mut Complaints<'_>,
) -> FileRows {
    let Layout::Long { item: item_column, response } = columns.layout else { return FileRows::default() };
    let (readers, item_names) = (CellReaders::new(options), ItemNames::new(options));
    let mut out = FileRows { site_column: columns.site.is_some(), ..FileRows::default() };
    let mut sites: BySite<Part> = BySite::new();
    let mut items = Items::default();
    let (selection, mut unselected) = (Selection::new(options), Vec::<String>::new());
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
        let item = filled(&fields, columns, item_column, Cause::EmptyItem, complaints);
        if options.ignore.iter().any(|ignored| *ignored == item) {
            if !out.dropped_items.iter().any(|dropped| *dropped == item) {
                out.dropped_items.push(item.into_owned());
            }
            continue;
        }
        let item = item_names.item(&item);
        if !selection.selects(&item) {
            if !unselected.iter().any(|other| *other == item) {
                unselected.push(item.into_owned());
            }
            continue;
        }
        out.rows += 1;
        let place = items.place(&item, options);
        let (cell, reader) = (fields.get(response), readers.of(&item));
        let tally = &mut items.tallies[place as usize];
        let code = match reader.read(cell) {
            Ok(code) => tally.count(code, fields.line),
            Err(fault) => tally.fault(fault, cell, &fields),
        };
        let Some(part) = sites.find(&fields, columns, complaints) else { continue };
        if let Some(row) = part.row(&fields, columns, options, complaints) {
            let option = match code {
                MISSING => MISSING,
                _ if !reader.keeps_options() => MISSING,
                _ => {
                    let chosen = part.chosen.entry(place).or_insert_with(|| ChosenOptions::new(&item));
                    chosen.place(cell, fields.line)
                }
            };
            part.answers.push(Answer { row, item: place, line: fields.line as u32, code, option });
        }
    }
    let names: Vec<&str> = items.names.iter().map(String::as_str).collect();
    complain_about_columns(&names, &items.tallies, complaints);
    out.first_lines = first_lines(&names, &items.tallies);
    if names.len() < 2 && out.rows > 0 {
        let selected = !matches!(selection, Selection::All);
        complaints.file(Cause::TooFewItems { items: names.len(), columns: columns.names.len(), selected });
    }
    out.nothing_answered = !names.is_empty() && items.tallies.iter().all(Tally::is_empty);
    out.empty_items = empty_items(&names, &items.tallies);
    out.blank = records.blank().clone();
    out.windows_1252 = records.windows_1252();
    out.unselected = unselected;
    let id_column = columns.id.map(|column| columns.names[column].as_str()).unwrap_or_default();
    for (site, part) in sites.parts {
        let block = part.block(&items.names, id_column, columns.weight.is_some(), complaints, &mut out);
        out.blocks.push((site, block));
    }
    out
}

impl Items {
    fn place(&mut self, item: &str, options: &ReadOptions) -> u32 {
        if let Some(place) = self.places.get(item) {
            return *place;
        }
        let place = self.names.len() as u32;
        self.names.push(item.to_string());
        self.tallies.push(Tally::new(options.declares(item)));
        self.places.insert(item.to_string(), place);
        place
    }
}

impl Part {
    /// The row of the record's id; `None` without an id, which is complained about.
    fn row(
        &mut self,
        fields: &Fields<'_>,
        columns: &Columns,
        options: &ReadOptions,
        complaints: &mut Complaints<'_>,
    ) -> Option<u32> {
        let column = columns.id?;
        let id = filled(fields, columns, column, Cause::EmptyId, complaints);
        if id.is_empty() {
            return None;
        }
        let weight = columns.weight.map(|column| (column, weight(fields, columns, column, complaints)));
        let group = columns
            .group
            .map(|column| (column, group(fields, columns, column, &options.missing, complaints)));
        if let Some(row) = self.rows.get(id.as_ref()) {
            let first = *row as usize;
            if let Some((column, value)) = weight
                && value != self.weights[first]
            {
                let value = shown(fields.get(column).trim_ascii());
                let cause =
                    Cause::WeightChanges { value, id: shown(id.as_bytes()), first_line: self.lines[first] };
                complaints.cell(fields.line, &columns.names[column], cause);
            }
            if let Some((column, value)) = group
                && value != self.groups[first]
            {
                let (value, id) = (shown(value.as_bytes()), shown(id.as_bytes()));
                let cause = Cause::GroupChanges { value, id, first_line: self.lines[first] };
                complaints.cell(fields.line, &columns.names[column], cause);
            }
            return Some(*row);
        }
        let row = self.lines.len() as u32;
        self.lines.push(fields.line);
        self.weights.extend(weight.map(|(_, value)| value));
        self.groups.extend(group.map(|(_, value)| value));
        self.rows.insert(id.into_owned(), row);
        Some(row)
    }

    /// The wide table of the site.
    fn block(
        self,
        items: &[String],
        id_column: &str,
        weighted: bool,
        complaints: &mut Complaints<'_>,
        out: &mut FileRows,
    ) -> Block {
        let mut ids = Ids { column: id_column.to_string(), ids: vec![String::new(); self.rows.len()] };
        for (id, row) in self.rows {
            ids.ids[row as usize] = id;
        }
        // A site lists just the items that its lines name.
        let mut places: Vec<Option<usize>> = vec![None; items.len()];
        for answer in &self.answers {
            places[answer.item as usize] = Some(0);
        }
        let mut own_items = Vec::new();
        for (place, item) in places.iter_mut().zip(items) {
            if let Some(place) = place {
                *place = own_items.len();
                own_items.push(item.clone());
            }
        }
        // Columns that were taken for one another make a table of nearly nothing that no memory holds.
        let (rows, answers) = (ids.ids.len(), self.answers.len());
        if rows.saturating_mul(own_items.len()) > SPARSEST * answers + SMALL {
            complaints.file(Cause::TooSparse { ids: rows, items: own_items.len(), answers });
            return Block { file: complaints.file.to_owned(), ..Block::default() };
        }
        let mut cells = vec![MISSING; rows * own_items.len()];
        let mut given = vec![false; cells.len()];
        let mut twice: HashSet<usize> = HashSet::new();
        let cell_of = |answer: &Answer| {
            answer.row as usize * own_items.len() + places[answer.item as usize].unwrap_or_default()
        };
        for answer in &self.answers {
            let cell = cell_of(answer);
            if std::mem::replace(&mut given[cell], true) {
                twice.insert(cell);
            }
            cells[cell] = answer.code;
        }
        if !twice.is_empty() {
            let mut first: HashMap<usize, u32> = HashMap::new();
            for answer in self.answers.iter().filter(|answer| twice.contains(&cell_of(answer))) {
                let line = *first.entry(cell_of(answer)).or_insert(answer.line);
                if line != answer.line {
                    let id = shown(ids.ids[answer.row as usize].as_bytes());
                    let cause = Cause::DuplicateAnswer { id, first_line: line.into() };
                    complaints.cell(u64::from(answer.line), &items[answer.item as usize], cause);
                }
            }
        }
        for (row, line) in cells.chunks_exact(own_items.len().max(1)).zip(&self.lines) {
            if row.iter().all(|code| *code == MISSING) {
                out.empty_rows.push(*line);
            }
        }
        let mut chosen = self.chosen;
        chosen.values_mut().for_each(|chosen| chosen.fill(rows));
        for answer in &self.answers {
            if let Some(chosen) = chosen.get_mut(&answer.item) {
                chosen.set(answer.row as usize, answer.option);
            }
        }
        let mut chosen: Vec<(u32, ChosenOptions)> = chosen.into_iter().collect();
        chosen.sort_by_key(|(item, _)| *item);
        Block {
            file: complaints.file.to_owned(),
            input: 0,
            items: own_items,
            cells,
            rows,
            lines: self.lines,
            ids: Some(ids),
            weights: weighted.then_some(self.weights),
            groups: self.groups,
            chosen: chosen.into_iter().map(|(_, chosen)| chosen).collect(),
        }
    }
}
