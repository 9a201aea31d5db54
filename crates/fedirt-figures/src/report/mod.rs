//! The report: one HTML file that opens anywhere, asks for nothing, and works without its script too.

mod data;
mod html;
mod items;
mod summary;
mod words;

use fedirt_model::fit::Fit;

use crate::figure::Figure;
use crate::text::escape;
use crate::{convergence, expected_score, item_parameters, site_effects, test_information, wright_map};

const STYLE: &str = include_str!("../../assets/report.css");
/// The parts of the script, in the order in which they build on each other.
const SCRIPT: [&str; 6] = [
    include_str!("../../assets/curves.js"),
    include_str!("../../assets/draw.js"),
    include_str!("../../assets/readout.js"),
    include_str!("../../assets/tables.js"),
    include_str!("../../assets/save.js"),
    include_str!("../../assets/viewer.js"),
];

/// The report on a fit as one self-contained HTML file.
pub fn report(fit: &Fit) -> String {
    let mut out = String::with_capacity(256 * 1024);
    head(&mut out, fit);
    out.push_str("<body>\n<main>\n");
    summary::heading(&mut out, fit);
    contents(&mut out);
    summary::alarms(&mut out, fit);
    section(&mut out, "summary", "Summary", |out| summary::block(out, fit));
    section(&mut out, "items", "Items", |out| items::table_and_viewer(out, fit));
    section(&mut out, "test", "Test", |out| {
        figures(out, &[("test-information", test_information(fit)), ("expected-score", expected_score(fit))]);
    });
    section(&mut out, "scale", "Students and items on one scale", |out| {
        figures(out, &[("wright-map", wright_map(fit)), ("item-parameters", item_parameters(fit))]);
    });
    section(&mut out, "sites", "Sites", |out| {
        html::figure_with_table(out, "site-effects", &site_effects(fit));
        html::sites_without_effects(out, fit);
    });
    section(&mut out, "rounds", "Rounds", |out| {
        html::figure_with_table(out, "convergence", &convergence(fit));
    });
    summary::footer(&mut out, fit);
    out.push_str("</main>\n");
    data::embed(&mut out, fit);
    out.push_str("<script>\n(() => {\n\"use strict\";\n");
    out.extend(SCRIPT);
    out.push_str("})();\n</script>\n</body>\n</html>\n");
    out
}

fn head(out: &mut String, fit: &Fit) {
    // The policy forbids every request, so that even a mistake in this file could not make one.
    out.push_str(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n",
    );
    out.push_str(&format!("<title>{}</title>\n<style>\n{STYLE}</style>\n", escape(&words::title(fit))));
    out.push_str("<script>document.documentElement.classList.add(\"scripted\");</script>\n</head>\n");
}

const SECTIONS: [(&str, &str); 6] = [
    ("summary", "Summary"),
    ("items", "Items"),
    ("test", "Test"),
    ("scale", "Wright map"),
    ("sites", "Sites"),
    ("rounds", "Rounds"),
];

fn contents(out: &mut String) {
    out.push_str("<nav aria-label=\"Contents\"><ul>");
    for (id, name) in SECTIONS {
        out.push_str(&format!("<li><a href=\"#{id}\">{name}</a></li>"));
    }
    out.push_str("</ul></nav>\n");
}

fn section(out: &mut String, id: &str, title: &str, fill: impl FnOnce(&mut String)) {
    out.push_str(&format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n"));
    out.push_str(&format!("<h2 id=\"{id}-title\">{}</h2>\n", escape(title)));
    fill(out);
    out.push_str("</section>\n");
}

/// Figures side by side where the page is wide enough.
fn figures(out: &mut String, figures: &[(&str, Figure)]) {
    out.push_str("<div class=\"figures\">\n");
    for (id, figure) in figures {
        html::figure(out, id, figure);
    }
    out.push_str("</div>\n");
}
