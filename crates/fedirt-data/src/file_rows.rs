//! What one file gives, before the files of a site are joined.

use std::collections::HashMap;

use crate::assemble::Block;
use crate::cause::Cause;
use crate::header::Columns;
use crate::options::LongColumns;
use crate::problems::Complaints;
use crate::records::Fields;
use crate::row_keys::filled;
use crate::text::Lines;

/// What a file gives.
#[derive(Default)]
pub(crate) struct FileRows {
    /// Rows by site, in order of first appearance.
    pub(crate) blocks: Vec<(String, Block)>,
    /// Whether a column names the sites.
    pub(crate) site_column: bool,
    /// Rows (in a long file: answers) that were read.
    pub(crate) rows: u64,
    /// Lines that were refused.
    pub(crate) refused: u64,
    pub(crate) nothing_answered: bool,
    pub(crate) empty_items: Vec<String>,
    pub(crate) empty_rows: Lines,
    pub(crate) blank: Lines,
    /// The first line that was read as Windows-1252.
    pub(crate) windows_1252: Option<u64>,
    /// Columns, or items of a long file, that the selection of items leaves out.
    pub(crate) unselected: Vec<String>,
    /// For each item its codes, with the line on which each occurs first.
    pub(crate) first_lines: Vec<(String, Vec<(u8, u64)>)>,
    /// The columns of a file that looks like a long one although nothing says so.
    pub(crate) long: Option<LongColumns>,
    /// Items of a long file that `ReadOptions::ignore` leaves out.
    pub(crate) dropped_items: Vec<String>,
}

/// Parts of a file by site; a part is what `wide` or `long` makes of the rows.
pub(crate) struct BySite<P> {
    pub(crate) parts: Vec<(String, P)>,
    places: HashMap<String, usize>,
    /// The site field of the last record and its place: rows of a site mostly stand together.
    last: Option<(Vec<u8>, usize)>,
}

impl<P: Default> BySite<P> {
    pub(crate) fn new() -> Self {
        Self { parts: Vec::new(), places: HashMap::new(), last: None }
    }

    /// The part of the record's site; `None` for a record without a site, which is complained about.
    pub(crate) fn find(
        &mut self,
        fields: &Fields<'_>,
        columns: &Columns,
        complaints: &mut Complaints<'_>,
    ) -> Option<&mut P> {
        let place = match columns.site {
            None => {
                if self.parts.is_empty() {
                    self.parts.push((columns.only_site.clone(), P::default()));
                }
                0
            }
            Some(column) => self.find_named(fields, columns, column, complaints)?,
        };
        self.parts.get_mut(place).map(|(_, part)| part)
    }

    fn find_named(
        &mut self,
        fields: &Fields<'_>,
        columns: &Columns,
        column: usize,
        complaints: &mut Complaints<'_>,
    ) -> Option<usize> {
        let bytes = fields.get(column);
        if let Some((name, place)) = &self.last
            && name == bytes
        {
            return Some(*place);
        }
        let name = filled(fields, columns, column, Cause::EmptySite, complaints);
        if name.is_empty() {
            return None;
        }
        let place = *self.places.entry(name.into_owned()).or_insert_with_key(|name| {
            self.parts.push((name.clone(), P::default()));
            self.parts.len() - 1
        });
        self.last = Some((bytes.to_vec(), place));
        Some(place)
    }
}
