//! Figures on a page: the drawing in two widths, its notes, buttons to save it, and a table with its numbers.

use crate::frame::Html;
use askama::Template;
use fedirt_figures::{Figure, Table};

/// Drawings that are taller than this scroll in a box of their own.
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
    svg: Html,
    narrow: Html,
    tables: Vec<Html>,
    notes: String,
    tall: bool,
    beside: bool,
}

#[derive(Template)]
#[template(path = "table.html")]
struct TablePart<'a> {
    table: &'a Table,
    worded: Vec<bool>,
}

/// A figure as HTML. `id` must be unique on the page.
pub fn figure(id: &str, figure: &Figure, numbers: Numbers) -> Html {
    let rows = figure.tables.first().map_or(0, |table| table.rows.len());
    let part = FigurePart {
        id,
        figure,
        svg: still(&figure.svg),
        narrow: still(&figure.narrow),
        tables: figure.tables.iter().map(table).collect(),
        notes: figure.notes.join(" "),
        tall: figure.svg.contains("data-read=\"y\"") && rows > TALL,
        beside: numbers == Numbers::Beside,
    };
    Html(part.render().unwrap_or_default())
}

/// A table whose columns the reader can sort.
pub fn table(table: &Table) -> Html {
    let is_number = |cell: &String| {
        cell.is_empty() || cell == "–" || cell.replace(['\u{202f}', ','], "").parse::<f64>().is_ok()
    };
    let worded = (0..table.headers.len())
        .map(|column| table.rows.iter().any(|row| row.get(column).is_some_and(|cell| !is_number(cell))))
        .collect();
    Html(TablePart { table, worded }.render().unwrap_or_default())
}

/// A drawing without its style attribute, which the content security policy of the pages would block. The stylesheet has
/// the same rules.
pub fn still(svg: &str) -> Html {
    Html(svg.replacen(" style=\"font-variant-numeric:tabular-nums\"", "", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_hold_no_styles_and_nothing_hostile() {
        let hostile = "<script>alert(1)</script>".to_owned();
        let drawn = Figure {
            title: hostile.clone(),
            description: hostile.clone(),
            svg: "<svg style=\"font-variant-numeric:tabular-nums\"></svg>".into(),
            narrow: "<svg style=\"font-variant-numeric:tabular-nums\"></svg>".into(),
            tables: vec![Table {
                caption: hostile.clone(),
                headers: vec![hostile.clone()],
                rows: vec![vec![hostile.clone()]],
            }],
            notes: vec![hostile.clone()],
            missing: None,
        };
        let html = figure("x", &drawn, Numbers::Folded).0;
        assert!(!html.contains("<script") && !html.contains("style="), "{html}");
        let missing = Figure { missing: Some(hostile), ..drawn };
        assert!(!figure("x", &missing, Numbers::Beside).0.contains("<script"));
    }
}
