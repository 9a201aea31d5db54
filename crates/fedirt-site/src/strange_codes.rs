//! Codes that nobody declared: where in the files they stand.

use crate::cells::CellReader;
use crate::header::{Layout, columns};
use crate::problems::{Complaints, Problems};
use crate::{ReadOptions, SiteResponses, open};
use fedirt_model::responses::MISSING;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Lines that are named for one item and code.
const NAMED: usize = 5;

/// A code of an item that is not among those declared. For whoever holds the files: it tells of answers.
#[derive(Clone, PartialEq, Eq)]
pub struct StrangeCode {
    /// Item.
    pub item: String,
    /// Code.
    pub code: u8,
    /// How often it stands there.
    pub count: u64,
    /// Files and lines.
    places: String,
}

impl fmt::Display for StrangeCode {
    /// `file, line 7, column I3: code 2 (1 time)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item, code, count, places } = self;
        let plural = if *count == 1 { "" } else { "s" };
        write!(f, "{places}, column {item}: code {code} ({count} time{plural})")
    }
}

impl fmt::Debug for StrangeCode {
    /// Without what it tells of answers: it must not reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StrangeCode({})", self.item)
    }
}

/// Codes of a site's table beyond those declared for each item; items without a declaration are passed over.
pub fn strange_codes<'a>(
    site: &SiteResponses,
    options: &ReadOptions,
    declared: impl Fn(&str) -> Option<&'a [u8]>,
) -> Vec<StrangeCode> {
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
    found
        .into_iter()
        .map(|((column, code), count)| {
            let item = site.items[column].clone();
            let places = places(site, &item, code, options);
            StrangeCode { item, code, count, places }
        })
        .collect()
}

/// The files of a site, by name.
pub(crate) fn named_files(site: &SiteResponses) -> String {
    let names: Vec<String> = site.sources.iter().map(|s| s.file.display().to_string()).collect();
    names.join(", ")
}

/// Files and lines in which an item has a code.
fn places(site: &SiteResponses, item: &str, code: u8, options: &ReadOptions) -> String {
    let mut out = Vec::new();
    for source in &site.sources {
        let lines = lines_with(&source.file, item, code, options);
        if lines.is_empty() {
            continue;
        }
        let some: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if lines.len() > NAMED { ", …" } else { "" };
        let word = if lines.len() == 1 { "line" } else { "lines" };
        out.push(format!("{}, {word} {}{more}", source.file.display(), some.join(", ")));
    }
    if out.is_empty() { named_files(site) } else { out.join("; ") }
}

/// The lines of a file in which an item has a code: found by reading it again, as this happens to bad files only.
fn lines_with(file: &Path, item: &str, code: u8, options: &ReadOptions) -> Vec<u64> {
    let (mut problems, mut notes, mut lines) = (Problems::default(), Vec::new(), Vec::new());
    let mut complaints = Complaints { file, problems: &mut problems };
    let Some(opened) = open::open(file, &mut complaints) else { return lines };
    let columns = columns(opened.names, opened.header_line, options, &mut complaints, &mut notes);
    let reader = CellReader::new(&options.missing);
    let mut records = opened.records;
    while let Ok(Some(fields)) = records.next() {
        if fields.len() != columns.names.len() {
            continue;
        }
        let cell = match &columns.layout {
            Layout::Wide(items) => items.iter().find(|c| columns.names[**c] == item).map(|c| fields.get(*c)),
            Layout::Long { item: name, response } => {
                (fields.get(*name).trim_ascii() == item.as_bytes()).then(|| fields.get(*response))
            }
        };
        if cell.is_some_and(|cell| reader.read(cell) == Ok(code)) {
            lines.push(fields.line);
            if lines.len() > NAMED {
                break;
            }
        }
    }
    lines
}
