//! What the reader should know although nothing is wrong.

use std::fmt;
use std::path::PathBuf;

use crate::text::{Lines, argument, counted, shown};

/// Something worth knowing about one or more files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The files that it is about.
    pub files: Vec<PathBuf>,
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
        flag: Option<&'static str>,
    },
    /// The file is in long format.
    LongFormat,
    /// Items without a single answer.
    EmptyItems(Vec<String>),
    /// Rows without any answer, which are kept.
    EmptyRows(Lines),
    /// Blank lines between rows, which are skipped.
    BlankLines(Lines),
    /// Rows of a site whose answers are all missing.
    EmptySite(String),
    /// The site column says `NA`, which is taken as a name.
    SiteCalledNa,
    /// The ids of a site were dropped because one of its files has none.
    IdsDropped(String),
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

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.files.as_slice() {
            [] => {}
            [file] => write!(f, "{}: ", file.display())?,
            [first, rest @ ..] => {
                write!(
                    f,
                    "{} and {}: ",
                    first.display(),
                    counted(rest.len() as u64, "other file", "other files")
                )?;
            }
        }
        write!(f, "{}", self.kind)
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |text: &str| shown(text.as_bytes());
        match self {
            NoteKind::IdColumn(column) => write!(f, "column `{}` is used as the id", name(column)),
            NoteKind::UnusedColumn { column, flag } => {
                write!(f, "column `{}` is not used", name(column))?;
                match flag {
                    Some(flag) => write!(f, "; {flag} {} would use it", argument(column)),
                    None => Ok(()),
                }
            }
            NoteKind::LongFormat => write!(f, "long format: one line per answer, turned into one row per id"),
            NoteKind::EmptyItems(items) => {
                let first: Vec<String> =
                    items.iter().take(5).map(|item| format!("`{}`", name(item))).collect();
                let has = counted(items.len() as u64, "item has", "items have");
                write!(f, "{has} no answer at all: {}", first.join(", "))?;
                if items.len() > 5 { write!(f, ", …") } else { Ok(()) }
            }
            NoteKind::EmptyRows(lines) => {
                let rows = counted(lines.count, "row has", "rows have");
                write!(f, "{rows} no answer at all and stay in the table: {lines}")
            }
            NoteKind::BlankLines(lines) => {
                write!(f, "{} skipped: {lines}", counted(lines.count, "blank line is", "blank lines are"))
            }
            NoteKind::EmptySite(site) => write!(f, "site `{}` has no answer at all", name(site)),
            NoteKind::SiteCalledNa => write!(f, "`NA` in the site column is taken as the name of a site"),
            NoteKind::IdsDropped(site) => {
                write!(f, "ids of site `{}` are not used: not all of its files have an id column", name(site))
            }
            NoteKind::NoLowCode { item, lowest, highest } => write!(
                f,
                "item `{}` has codes from {lowest} to {highest}, never 0 or 1; if it is no item: --ignore {}",
                name(item),
                argument(item)
            ),
        }
    }
}

/// Adds a note; one that other files have too is told once for all of them.
pub(crate) fn add_note(notes: &mut Vec<Note>, file: Option<&std::path::Path>, kind: NoteKind) {
    match notes.iter_mut().find(|note| note.kind == kind) {
        Some(note) => note.files.extend(file.map(PathBuf::from)),
        None => notes.push(Note { files: file.map(PathBuf::from).into_iter().collect(), kind }),
    }
}
