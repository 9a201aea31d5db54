//! The page of a simulation study: findings first, then pictures, tables and settings.

use super::page;
use crate::figure::{Figure, Table};
use crate::results::{across, table_html};
use crate::text::escape;

/// What a study found, and from what.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StudyPage {
    /// The heading.
    pub title: String,
    /// How much was run, in a few words.
    pub run: String,
    /// What was found, in words, the most important first.
    pub lead: Vec<String>,
    /// The body.
    pub sections: Vec<StudySection>,
    /// What the study was run with: names and values.
    pub settings: Vec<(String, String)>,
    /// Files written beside the page: names, and what they hold.
    pub files: Vec<(String, String)>,
    /// The version of the program that wrote it.
    pub version: String,
}

/// A section of a study's page; everything but the heading may be empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StudySection {
    /// The heading.
    pub heading: String,
    /// Text before the pictures.
    pub paragraphs: Vec<String>,
    /// Pictures, each with the numbers behind it folded away.
    pub figures: Vec<Figure>,
    /// Tables that stand open.
    pub tables: Vec<Table>,
}

/// The page of a study as one self-contained HTML file.
pub fn study_page(study: &StudyPage) -> String {
    let mut out = String::with_capacity(256 * 1024);
    page::head(&mut out, &study.title);
    out.push_str("<body>\n<main class=\"study-page\">\n");
    heading(&mut out, study);
    let ids: Vec<String> = (1..=study.sections.len()).map(|n| format!("section-{n}")).collect();
    let names = ids.iter().zip(&study.sections).map(|(id, section)| (id.as_str(), section.heading.as_str()));
    let closing = [
        (!study.settings.is_empty()).then_some(("settings", "Settings")),
        (!study.files.is_empty()).then_some(("files", "Files")),
    ];
    page::contents(&mut out, names.chain(closing.into_iter().flatten()));
    for (id, section) in ids.iter().zip(&study.sections) {
        page::section(&mut out, id, &section.heading, |out| body(out, id, section));
    }
    if !study.settings.is_empty() {
        page::section(&mut out, "settings", "Settings", |out| settings(out, &study.settings));
    }
    if !study.files.is_empty() {
        page::section(&mut out, "files", "Files", |out| files(out, &study.files));
    }
    let by = if study.version.is_empty() { String::new() } else { format!(" {}", escape(&study.version)) };
    out.push_str(&format!(
        "<footer><p>Written by fedirt{by}. This file asks for nothing over a network.</p></footer>\n</main>\n"
    ));
    page::close(&mut out, page::READING);
    out
}

fn heading(out: &mut String, study: &StudyPage) {
    out.push_str(&format!(
        "<header>\n<p class=\"kind\">fedirt study{}</p>\n<h1>{}</h1>\n",
        if study.run.is_empty() { String::new() } else { format!(" · {}", escape(&study.run)) },
        escape(&study.title)
    ));
    if !study.lead.is_empty() {
        out.push_str("<ul class=\"findings\">\n");
        for finding in &study.lead {
            out.push_str(&format!("<li>{}</li>\n", escape(finding)));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</header>\n");
}

fn body(out: &mut String, id: &str, section: &StudySection) {
    out.push_str("<div class=\"study\">\n");
    for paragraph in &section.paragraphs {
        out.push_str(&format!("<p class=\"prose\">{}</p>\n", escape(paragraph)));
    }
    for (n, figure) in section.figures.iter().enumerate() {
        out.push_str(&across(&format!("{id}-figure-{}", n + 1), figure));
    }
    for table in &section.tables {
        out.push_str(&table_html(table));
    }
    out.push_str("</div>\n");
}

fn settings(out: &mut String, settings: &[(String, String)]) {
    out.push_str("<dl class=\"settings\">\n");
    for (name, value) in settings {
        out.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value)));
    }
    out.push_str("</dl>\n");
}

fn files(out: &mut String, files: &[(String, String)]) {
    out.push_str("<dl class=\"settings\">\n");
    for (name, what) in files {
        out.push_str(&format!(
            "<div><dt><a href=\"{}\">{}</a></dt><dd>{}</dd></div>\n",
            beside(name),
            escape(name),
            escape(what)
        ));
    }
    out.push_str("</dl>\n");
}

/// The address of a file beside the page. Only a path can come out: no scheme, host or query.
fn beside(name: &str) -> String {
    let mut out = String::from("./");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_cannot_become_addresses() {
        assert_eq!(beside("figures/bias.png"), "./figures/bias.png");
        assert_eq!(beside("javascript:alert(1)"), "./javascript%3Aalert%281%29");
        assert_eq!(beside("\"><b>"), "./%22%3E%3Cb%3E");
    }
}
