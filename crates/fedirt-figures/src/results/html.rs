//! Figures and tables as HTML, the same on pages and in reports.

use askama::Template;

use crate::figure::{Figure, Table};
use crate::text::MISSING;

/// Drawings with more rows than this get a frame of their own to scroll in.
const TALL: usize = 45;

/// Where the table with the numbers of a figure stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Below the figure, collapsed until the reader opens it.
    Folded,
    /// Beside the figure, open.
    Beside,
}

#[derive(Template)]
#[template(path = "figure.html")]
struct FigurePart<'a> {
    id: &'a str,
    figure: &'a Figure,
    class: &'static str,
    tables: Vec<String>,
    kinds: &'static [&'static str],
    /// Whether pointer and keys read values.
    read: bool,
    tall: bool,
    beside: bool,
}

#[derive(Template)]
#[template(path = "table.html")]
struct TablePart<'a> {
    table: &'a Table,
    worded: Vec<bool>,
}

/// A figure with its notes, buttons to save it, and its numbers. `id` must be unique on the page.
pub fn figure_html(id: &str, figure: &Figure, numbers: Numbers) -> String {
    figure_part(id, figure, numbers, "")
}

/// The same across the whole page, for drawings that are wider than a column.
pub(crate) fn across(id: &str, figure: &Figure) -> String {
    figure_part(id, figure, Numbers::Folded, if figure.is_broad() { "broad" } else { "" })
}

fn figure_part(id: &str, figure: &Figure, numbers: Numbers, class: &'static str) -> String {
    let rows = figure.tables.first().map_or(0, |table| table.rows.len());
    let beside = numbers == Numbers::Beside;
    let part = FigurePart {
        id,
        figure,
        class: if beside { "beside" } else { class },
        tables: figure.tables.iter().map(table_html).collect(),
        kinds: if figure.tables.is_empty() { &["SVG", "PNG"] } else { &["SVG", "PNG", "CSV"] },
        read: figure.svg.contains("data-read="),
        tall: figure.svg.contains("data-read=\"y\"") && rows > TALL,
        beside,
    };
    written(&part)
}

/// A table whose columns the reader can sort.
pub fn table_html(table: &Table) -> String {
    let is_number = |cell: &String| {
        cell.is_empty() || cell == MISSING || cell.replace(['\u{202f}', ','], "").parse::<f64>().is_ok()
    };
    // Words stand left, numbers right, and each heading as its column.
    let worded = (0..table.headers.len())
        .map(|column| table.rows.iter().any(|row| row.get(column).is_some_and(|cell| !is_number(cell))))
        .collect();
    written(&TablePart { table, worded })
}

/// A template as text. Writing into memory does not fail; if it did, a page would lack the part.
pub(super) fn written(part: &impl Template) -> String {
    part.render().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_hold_no_styles_and_nothing_hostile() {
        let hostile = "<script>alert(1)</script>".to_owned();
        let mut canvas = crate::canvas::Canvas::new(10.0, 10.0);
        canvas.text((0.0, 0.0), crate::canvas::Anchor::Start, crate::canvas::Ink::Text, &hostile);
        let svg = canvas.finish(&hostile);
        let drawn = Figure {
            title: hostile.clone(),
            description: hostile.clone(),
            svg: svg.clone(),
            narrow: svg,
            tables: vec![Table {
                caption: hostile.clone(),
                headers: vec![hostile.clone()],
                rows: vec![vec![hostile.clone()]],
            }],
            notes: vec![hostile.clone()],
            missing: None,
        };
        // The content security policy of the pages refuses style attributes.
        let html = figure_html("x", &drawn, Numbers::Folded);
        assert!(!html.contains("<script") && !html.contains("style="), "{html}");
        let missing = Figure { missing: Some(hostile), ..drawn };
        assert!(!figure_html("x", &missing, Numbers::Beside).contains("<script"));
    }
}
