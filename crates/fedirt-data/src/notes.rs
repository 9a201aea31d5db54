//! What the reader should know although nothing is wrong.

use std::fmt;

use crate::audience::{Audience, ReadOption};
use crate::file_facts::ColumnMissing;
use crate::text::{Lines, counted, shown};

/// Columns that a note lists.
const LISTED: usize = 5;

/// Something worth knowing about one or more files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The names of the files that it is about.
    pub files: Vec<String>,
    /// What it is.
    pub kind: NoteKind,
}

/// What is worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteKind {
    /// A column called `id` was taken as the id.
    IdColumn(String),
    /// A column called `site`, `weight`, `group` or `form` was left out, or any further column of a long file.
    UnusedColumn {
        /// Its name.
        column: String,
        /// The option that would use it, if there is one.
        option: Option<ReadOption>,
    },
    /// The file is in long format.
    LongFormat,
    /// Items without a single answer.
    EmptyItems(Vec<String>),
    /// Rows without any answer, which are kept.
    EmptyRows(Lines),
    /// Blank lines between rows, which are skipped.
    BlankLines(Lines),
    /// The file is read as Windows-1252 from this line on, where it has the first letter beyond ASCII.
    Windows1252(u64),
    /// Rows of a site whose answers are all missing.
    EmptySite(String),
    /// The site column says `NA`, which is taken as a name.
    SiteCalledNa,
    /// The ids of a site were dropped because one of its files has none.
    IdsDropped(String),
    /// Columns that the user's selection of items leaves out.
    NotSelected(Vec<String>),
    /// Missing answers that count as wrong, as the caller wants.
    MissingAsWrong(u64),
    /// Values that the file declares missing, by column.
    DeclaredMissing(Vec<ColumnMissing>),
    /// Items that go with no other item.
    NoCorrelation(Vec<String>),
    /// An item whose codes are neither 0 nor 1 in any file.
    NoLowCode {
        /// The item.
        item: String,
        /// Its lowest code.
        lowest: u8,
        /// Its highest code.
        highest: u8,
    },
}

impl Note {
    /// The note for somebody: files, and what was found in them.
    pub fn told(&self, audience: Audience) -> String {
        let kind = self.kind.told(audience);
        match self.files.as_slice() {
            [] => kind,
            [file] => format!("{file}: {kind}"),
            [first, rest @ ..] => {
                format!("{first} and {}: {kind}", counted(rest.len() as u64, "other file", "other files"))
            }
        }
    }
}

impl fmt::Display for Note {
    /// As somebody reads it who calls a library.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(Audience::Library))
    }
}

impl NoteKind {
    /// The note without the files that it is about, for somebody.
    pub fn told(&self, audience: Audience) -> String {
        let name = |text: &str| shown(text.as_bytes());
        match self {
            NoteKind::IdColumn(column) => format!("column `{}` is used as the id", name(column)),
            NoteKind::UnusedColumn { column, option: None } => {
                format!("column `{}` is not used", name(column))
            }
            NoteKind::UnusedColumn { column, option: Some(option) } => format!(
                "column `{}` is not used; {} would use it",
                name(column),
                audience.with(*option, column)
            ),
            NoteKind::LongFormat => "long format: one line per answer, turned into one row per id".into(),
            NoteKind::EmptyItems(items) => {
                let has = counted(items.len() as u64, "item has", "items have");
                format!("{has} no answer at all: {}", first_names(items))
            }
            NoteKind::NotSelected(columns) => {
                let are = counted(columns.len() as u64, "column is", "columns are");
                format!("{are} not among the selected items: {}", first_names(columns))
            }
            NoteKind::MissingAsWrong(count) => {
                format!("{} as wrong", counted(*count, "missing answer counts", "missing answers count"))
            }
            NoteKind::DeclaredMissing(columns) => {
                let each = |missing: &ColumnMissing| {
                    let answers = counted(missing.count, "cell", "cells");
                    format!("`{}` {} ({answers})", name(&missing.column), missing.declared)
                };
                let first: Vec<String> = columns.iter().take(LISTED).map(each).collect();
                let more = if columns.len() > LISTED { "; …" } else { "" };
                let have = counted(columns.len() as u64, "column has", "columns have");
                format!(
                    "{have} values that the file declares missing, and that count as no answer: {}{more}",
                    first.join("; ")
                )
            }
            NoteKind::NoCorrelation(items) => {
                let have = counted(items.len() as u64, "item has", "items have");
                let ignore = audience.option(ReadOption::Ignore);
                format!(
                    "{have} an item-rest correlation near zero: {}; {ignore} leaves out what is no item",
                    first_names(items)
                )
            }
            NoteKind::EmptyRows(lines) => {
                let rows = counted(lines.count, "row has", "rows have");
                format!("{rows} no answer at all and stay in the table: {lines}")
            }
            NoteKind::BlankLines(lines) => {
                format!("{} skipped: {lines}", counted(lines.count, "blank line is", "blank lines are"))
            }
            NoteKind::Windows1252(line) => {
                format!("read as Windows-1252, which line {line} is and UTF-8 is not: look at its letters")
            }
            NoteKind::EmptySite(site) => format!("site `{}` has no answer at all", name(site)),
            NoteKind::SiteCalledNa => "`NA` in the site column is taken as the name of a site".into(),
            NoteKind::IdsDropped(site) => {
                format!("ids of site `{}` are not used: not all of its files have an id column", name(site))
            }
            NoteKind::NoLowCode { item, lowest, highest } => format!(
                "item `{}` has codes from {lowest} to {highest}, never 0 or 1; if it is no item: {}",
                name(item),
                audience.with(ReadOption::Ignore, item)
            ),
        }
    }
}

/// The first of some names.
fn first_names(names: &[String]) -> String {
    let first: Vec<String> =
        names.iter().take(5).map(|name| format!("`{}`", shown(name.as_bytes()))).collect();
    let more = if names.len() > 5 { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Adds a note; one that other files have too is told once for all of them.
pub(crate) fn add_note(notes: &mut Vec<Note>, file: Option<&str>, kind: NoteKind) {
    match notes.iter_mut().find(|note| note.kind == kind) {
        Some(note) => note.files.extend(file.map(str::to_owned)),
        None => notes.push(Note { files: file.map(str::to_owned).into_iter().collect(), kind }),
    }
}
