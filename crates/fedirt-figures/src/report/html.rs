//! Figures and tables as HTML.

use fedirt_model::fit::Fit;

use crate::figure::{Figure, Table};
use crate::text::{self, escape};

/// Longer drawings than this get a frame of their own to scroll in.
const TALL: usize = 45;

/// A figure with its notes, buttons to save it, and its numbers folded away.
pub(super) fn figure(out: &mut String, id: &str, figure: &Figure) {
    folded(out, id, figure, "");
}

/// The same across the whole page, for drawings that are wider than a column.
pub(super) fn figure_across(out: &mut String, id: &str, figure: &Figure) {
    folded(out, id, figure, if figure.is_broad() { " class=\"broad\"" } else { "" });
}

fn folded(out: &mut String, id: &str, figure: &Figure, class: &str) {
    if missing(out, id, figure) {
        return;
    }
    out.push_str(&format!("<figure id=\"{id}\" data-name=\"{id}\"{class}>\n"));
    picture(out, figure);
    out.push_str("<div class=\"under\">");
    buttons(out, figure);
    if !figure.tables.is_empty() {
        out.push_str("<details><summary>Numbers behind this picture</summary>\n");
        for table in &figure.tables {
            self::table(out, table);
        }
        out.push_str("</details>");
    }
    out.push_str("</div>\n</figure>\n");
}

/// A figure whose numbers people come for: its table stands open beside it.
pub(super) fn figure_with_table(out: &mut String, id: &str, figure: &Figure) {
    if missing(out, id, figure) {
        return;
    }
    out.push_str(&format!("<figure id=\"{id}\" data-name=\"{id}\" class=\"beside\">\n<div>\n"));
    picture(out, figure);
    out.push_str("<div class=\"under\">");
    buttons(out, figure);
    out.push_str("</div></div>\n<div>\n");
    for table in &figure.tables {
        self::table(out, table);
    }
    out.push_str("</div></figure>\n");
}

/// A figure that could not be drawn says why.
fn missing(out: &mut String, id: &str, figure: &Figure) -> bool {
    let Some(why) = &figure.missing else { return false };
    out.push_str(&format!(
        "<figure id=\"{id}\" data-name=\"{id}\"><h3>{}</h3>\n<p class=\"missing\">{}</p></figure>\n",
        escape(&figure.title),
        escape(why)
    ));
    true
}

fn picture(out: &mut String, figure: &Figure) {
    let rows = figure.tables.first().map_or(0, |table| table.rows.len());
    let tall = if figure.svg.contains("data-read=\"y\"") && rows > TALL { " tall" } else { "" };
    out.push_str(&format!("<h3>{}</h3>\n", escape(&figure.title)));
    // What cannot be read by keys need not be reached by them.
    let keys = if figure.svg.contains("data-read=") {
        let label = escape(&format!("{}. Arrow keys read the values.", figure.title));
        format!(" tabindex=\"0\" role=\"group\" aria-label=\"{label}\"")
    } else {
        String::new()
    };
    out.push_str(&format!("<div class=\"drawing{tall}\"{keys}>"));
    out.push_str(&format!("<div class=\"wide\">{}</div>", figure.svg));
    out.push_str(&format!("<div class=\"narrow\">{}</div>", figure.narrow));
    out.push_str("<output class=\"readout\" hidden></output></div>\n");
    out.push_str(&format!("<figcaption>{}</figcaption>\n", escape(&figure.notes.join(" "))));
}

fn buttons(out: &mut String, figure: &Figure) {
    out.push_str("<p class=\"save\">Save as ");
    let kinds = ["SVG", "PNG", "CSV"];
    for kind in &kinds[..if figure.tables.is_empty() { 2 } else { 3 }] {
        let label = escape(&format!("Save {} as {kind}", figure.title));
        out.push_str(&format!(
            "<button type=\"button\" data-save=\"{}\" aria-label=\"{label}\">{kind}</button> ",
            kind.to_lowercase()
        ));
    }
    out.push_str("</p>\n");
}

pub(super) fn table(out: &mut String, table: &Table) {
    let caption = escape(&table.caption);
    out.push_str(&format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\
         <table class=\"numbers\" data-sortable><caption>{caption}</caption>\n<thead><tr>"
    ));
    // Words stand left, numbers right, and each heading as its column.
    let worded: Vec<bool> = (0..table.headers.len())
        .map(|column| table.rows.iter().any(|row| row.get(column).is_some_and(|cell| !is_number(cell))))
        .collect();
    for (header, worded) in table.headers.iter().zip(&worded) {
        let class = if *worded { " class=\"words\"" } else { "" };
        out.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escape(header)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (cell, worded) in row.iter().zip(&worded) {
            let class = if *worded { " class=\"words\"" } else { "" };
            out.push_str(&format!("<td{class}>{}</td>", escape(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

fn is_number(cell: &str) -> bool {
    cell == text::MISSING || cell.parse::<f64>().is_ok()
}

/// Sites that the caterpillar cannot show are named all the same, with their students.
pub(super) fn sites_without_effects(out: &mut String, fit: &Fit) {
    let mut rest = Table::new("Sites without an effect", &["Site", "n"]);
    rest.rows = fit
        .sites
        .iter()
        .filter(|site| text::finite(site.effect).is_none())
        .map(|site| vec![site.name.clone(), site.n.to_string()])
        .collect();
    if !rest.rows.is_empty() {
        out.push_str(&format!(
            "<details><summary>{} in the fit without an effect</summary>\n",
            text::counted(rest.rows.len() as u64, "site", "sites")
        ));
        table(out, &rest);
        out.push_str("</details>\n");
    }
}
