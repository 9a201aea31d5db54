//! Codes that nobody declared: which, how often, and where in the files they stand.

use crate::cells::CellReaders;
use crate::header::{Layout, columns};
use crate::input::Input;
use crate::item_names::ItemNames;
use crate::opened::open;
use crate::problems::{Complaints, Problems};
use crate::{ReadOptions, SiteResponses};
use fedirt_model::responses::MISSING;
use std::collections::BTreeMap;
use std::fmt;

/// Lines that are named for one item and code.
const NAMED: usize = 5;

/// A code of an item that is not among those declared. For whoever holds the files: it tells of answers.
#[derive(Clone, PartialEq, Eq)]
pub struct UndeclaredCode {
    /// Item.
    pub item: String,
    /// Code.
    pub code: u8,
    /// How often it occurs.
    pub count: u64,
    /// The codes that are declared for the item.
    pub declared: Vec<u8>,
    /// The inputs of the site, each with the first lines that have the code where they are known
    /// ([`UndeclaredCode::locate`]).
    pub places: Vec<(String, Vec<u64>)>,
}

impl UndeclaredCode {
    /// Finds the lines, by reading the inputs again: this happens to bad files only. Inputs that `open` does not give
    /// stay without lines.
    pub fn locate<'a>(&mut self, options: &ReadOptions, open: impl Fn(&str) -> Option<Input<'a>>) {
        for (name, lines) in &mut self.places {
            if let Some(input) = open(name) {
                *lines = lines_with(input, &self.item, &[self.code], options);
            }
        }
        // Files without the code are of no interest, if the others are known.
        if self.places.iter().any(|(_, lines)| !lines.is_empty()) {
            self.places.retain(|(_, lines)| !lines.is_empty());
        }
    }
}

impl fmt::Display for UndeclaredCode {
    /// `file, line 7, column I3: code 2 (1 time)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |(name, lines): &(String, Vec<u64>)| {
            let some: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
            let more = if lines.len() > NAMED { ", …" } else { "" };
            match lines.len() {
                0 => name.clone(),
                1 => format!("{name}, line {}", some[0]),
                _ => format!("{name}, lines {}{more}", some.join(", ")),
            }
        };
        let joint = if self.places.iter().all(|(_, lines)| lines.is_empty()) { ", " } else { "; " };
        let places: Vec<String> = self.places.iter().map(place).collect();
        let plural = if self.count == 1 { "" } else { "s" };
        let (item, code, count) = (&self.item, self.code, self.count);
        write!(f, "{}, column {item}: code {code} ({count} time{plural})", places.join(joint))
    }
}

impl fmt::Debug for UndeclaredCode {
    /// Without what it tells of answers: it must not reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UndeclaredCode({})", self.item)
    }
}

/// Codes of a site's table beyond those declared for each item; items without a declaration are passed over.
///
/// ```
/// use fedirt_data::{Input, ReadOptions, read, undeclared_codes};
///
/// let (text, options) = ("I1,I2\n0,1\n2,1\n", ReadOptions::default());
/// let input = |name: &str| Some(Input::new(name.to_owned(), text.as_bytes()));
/// let reading = read(input("a.csv"), &options)?;
/// let mut found = undeclared_codes(&reading.sites[0], |_| Some(&[0, 1]));
/// found[0].locate(&options, input);
/// assert_eq!(found[0].to_string(), "a.csv, line 3, column I1: code 2 (1 time)");
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
pub fn undeclared_codes<'a>(
    site: &SiteResponses,
    declared: impl Fn(&str) -> Option<&'a [u8]>,
) -> Vec<UndeclaredCode> {
    let mut found: BTreeMap<(usize, u8), u64> = BTreeMap::new();
    for (column, name) in site.items.iter().enumerate() {
        let Some(codes) = declared(name) else { continue };
        for row in site.table.rows() {
            let code = row[column];
            if code != MISSING && !codes.contains(&code) {
                *found.entry((column, code)).or_default() += 1;
            }
        }
    }
    let places: Vec<(String, Vec<u64>)> =
        site.sources.iter().map(|source| (source.file.clone(), Vec::new())).collect();
    found
        .into_iter()
        .map(|((column, code), count)| {
            let item = site.items[column].clone();
            let declared = declared(&item).unwrap_or_default().to_vec();
            UndeclaredCode { item, code, count, declared, places: places.clone() }
        })
        .collect()
}

/// The first lines of an input in which an item has one of some codes, one more than are named.
pub(crate) fn lines_with(input: Input<'_>, item: &str, codes: &[u8], options: &ReadOptions) -> Vec<u64> {
    let (mut problems, mut notes, mut lines) = (Problems::default(), Vec::new(), Vec::new());
    let file = input.name.clone();
    let mut complaints = Complaints { file: &file, problems: &mut problems };
    let Some(opened) = open(input, &mut complaints) else { return lines };
    let columns = columns(opened.names, opened.header_line, options, &mut complaints, &mut notes);
    let (readers, item_names) = (CellReaders::new(options), ItemNames::new(options));
    let reader = readers.of(item);
    let mut records = opened.records;
    while let Ok(Some(fields)) = records.next() {
        if fields.len() != columns.names.len() {
            continue;
        }
        let cell = match &columns.layout {
            Layout::Wide(items) => items.iter().find(|c| columns.names[**c] == item).map(|c| fields.get(*c)),
            Layout::Long { item: name, response } => {
                let name = String::from_utf8_lossy(fields.get(*name).trim_ascii());
                (item_names.item(&name) == item).then(|| fields.get(*response))
            }
        };
        if cell.is_some_and(|cell| reader.read(cell).is_ok_and(|code| codes.contains(&code))) {
            lines.push(fields.line);
            if lines.len() > NAMED {
                break;
            }
        }
    }
    lines
}
