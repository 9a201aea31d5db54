//! Reports and pages of studies: HTML files that open anywhere, ask for nothing, and work without their script too.

mod check;
mod data;
mod html;
mod items;
mod page;
mod study;
mod summary;
mod words;

use fedirt_model::fit::Fit;
use std::borrow::Cow;

use page::section;
pub use study::{StudyPage, StudySection, study_page};

use crate::figure::Figure;
use crate::{
    ability_density, convergence, expected_score, item_parameters, site_effects, test_information, wright_map,
};

/// What the viewer of items needs before and after the parts that every page has.
const MODELS: [&str; 2] = [include_str!("../../assets/curves.js"), include_str!("../../assets/draw.js")];
const VIEWER: &str = include_str!("../../assets/viewer.js");

/// Most items that are shown one by one: a page of thousands would hardly open.
const MOST_ITEMS: usize = 500;

/// The fit with no more items than are shown one by one.
fn shown(fit: &Fit) -> Cow<'_, Fit> {
    if fit.items.len() <= MOST_ITEMS {
        return Cow::Borrowed(fit);
    }
    let mut few = fit.clone();
    few.items.truncate(MOST_ITEMS);
    if let Some(items) = few.diagnostics.as_mut().and_then(|found| found.item_fit.as_mut()) {
        items.truncate(MOST_ITEMS);
    }
    Cow::Owned(few)
}

/// Says that not all items are shown.
fn not_all(out: &mut String, fit: &Fit) {
    if fit.items.len() > MOST_ITEMS {
        out.push_str(&format!(
            "<p>The first {MOST_ITEMS} of {} items are shown; <code>items.csv</code> has all of them.</p>\n",
            crate::text::count(fit.items.len() as u64)
        ));
    }
}

/// The report on a fit as one self-contained HTML file.
pub fn report(fit: &Fit) -> String {
    let few = shown(fit);
    let mut out = String::with_capacity(256 * 1024);
    page::head(&mut out, &words::title(fit));
    out.push_str("<body>\n<main>\n");
    summary::heading(&mut out, fit);
    page::contents(&mut out, SECTIONS);
    summary::alarms(&mut out, fit);
    section(&mut out, "summary", "Summary", |out| summary::block(out, fit));
    section(&mut out, "items", "Items", |out| {
        not_all(out, fit);
        items::table_and_viewer(out, &few);
    });
    section(&mut out, "check", "Is the model right?", |out| check::section(out, &few));
    section(&mut out, "test", "Test", |out| {
        figures(out, &[("test-information", test_information(fit)), ("expected-score", expected_score(fit))]);
    });
    section(&mut out, "scale", "Students and items on one scale", |out| {
        if fit.latent.shape.is_some() {
            html::figure_with_table(out, "ability-density", &ability_density(fit));
        }
        not_all(out, fit);
        figures(out, &[("wright-map", wright_map(&few)), ("item-parameters", item_parameters(&few))]);
    });
    section(&mut out, "sites", "Sites", |out| {
        html::figure_with_table(out, "site-effects", &site_effects(fit));
        html::sites_without_effects(out, fit);
    });
    section(&mut out, "rounds", "Rounds", |out| {
        html::figure_with_table(out, "convergence", &convergence(&fit.trace, &fit.mode));
    });
    summary::footer(&mut out, fit);
    out.push_str("</main>\n");
    data::embed(&mut out, &few);
    page::close(&mut out, MODELS.into_iter().chain(page::READING).chain([VIEWER]));
    out
}

const SECTIONS: [(&str, &str); 7] = [
    ("summary", "Summary"),
    ("items", "Items"),
    ("check", "Model check"),
    ("test", "Test"),
    ("scale", "Wright map"),
    ("sites", "Sites"),
    ("rounds", "Rounds"),
];

/// Figures side by side where the page is wide enough.
fn figures(out: &mut String, figures: &[(&str, Figure)]) {
    out.push_str("<div class=\"figures\">\n");
    for (id, figure) in figures {
        html::figure(out, id, figure);
    }
    out.push_str("</div>\n");
}
