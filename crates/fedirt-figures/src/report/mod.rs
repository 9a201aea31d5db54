//! Reports and pages of studies: HTML files that open anywhere, ask for nothing, and work without their script too.

mod page;
mod study;

use fedirt_model::fit::Fit;

pub use study::{StudyPage, StudySection, study_page};

use crate::results::{self, For, Options, Part, words};

/// What the viewer of items needs before and after the parts that every page has.
const MODELS: [&str; 2] = [include_str!("../../assets/curves.js"), include_str!("../../assets/draw.js")];
const VIEWER: [&str; 4] = [
    include_str!("../../assets/overlay.js"),
    include_str!("../../assets/viewer.js"),
    include_str!("../../assets/gallery.js"),
    include_str!("../../assets/print.js"),
];

/// The report on a fit as one self-contained HTML file.
pub fn report(fit: &Fit) -> String {
    let mut out = String::with_capacity(256 * 1024);
    page::head(&mut out, &words::title(fit));
    out.push_str("<body>\n<main>\n");
    out.push_str(&results::heading(fit));
    page::contents(&mut out, Part::ALL.map(|part| (part.id(), part.name())));
    out.push_str(&results::alarms(fit));
    for section in results::sections(fit, &Options::new(For::Report)) {
        page::section(&mut out, section.id, section.title, |out| out.push_str(&section.html));
    }
    out.push_str(&results::footer(fit));
    out.push_str("</main>\n");
    page::close(&mut out, MODELS.into_iter().chain(page::READING).chain(VIEWER));
    out
}
