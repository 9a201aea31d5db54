//! The items table with a small curve in each row, and the viewer beside it.

use fedirt_model::fit::{Fit, FitItem};
use fedirt_model::items::{self, SlopeRule};

use super::{html, words};
use crate::canvas::{Ink, path};
use crate::text::{self, MISSING, escape, finite};
use crate::{characteristic, information, shape};

pub(super) fn table_and_viewer(out: &mut String, fit: &Fit) {
    if fit.items.is_empty() {
        out.push_str("<p class=\"missing\">The fit holds no items.</p>\n");
        return;
    }
    out.push_str("<div class=\"beside\">\n<div>\n");
    controls(out);
    table(out, fit);
    out.push_str("</div>\n");
    viewer(out, fit);
    out.push_str("</div>\n");
}

fn controls(out: &mut String) {
    out.push_str(
        "<div class=\"controls\"><label>Filter items <input type=\"search\" id=\"filter\" \
         autocomplete=\"off\"></label>\n\
         <fieldset><legend>Parameters</legend>\
         <label><input type=\"radio\" name=\"form\" value=\"b\" checked> a, b (difficulty)</label>\
         <label><input type=\"radio\" name=\"form\" value=\"d\"> a, d (intercept)</label></fieldset>\n\
         <p id=\"filtered\" role=\"status\"></p></div>\n",
    );
}

fn table(out: &mut String, fit: &Fit) {
    let steps = fit.items.iter().map(|item| item.d.len().max(item.b.len())).max().unwrap_or(1).max(1);
    let mixed = fit.items.iter().any(|item| item.model != fit.items[0].model);
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Items\">\
         <table id=\"items-table\" data-sortable data-form=\"b\"><caption>Estimates, standard errors in \
         parentheses</caption>\n<thead><tr><th scope=\"col\">Item</th><th scope=\"col\" data-plain>Curve</th>",
    );
    if mixed {
        out.push_str("<th scope=\"col\" class=\"words\">Model</th>");
    }
    out.push_str("<th scope=\"col\">n</th><th scope=\"col\">a</th>");
    for letter in ["b", "d"] {
        for step in 1..=steps {
            let number = if steps == 1 { String::new() } else { step.to_string() };
            out.push_str(&format!("<th scope=\"col\" class=\"as-{letter}\">{letter}{number}</th>"));
        }
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    let grid = shape::grid(fit, SPARK_POINTS);
    for (index, item) in fit.items.iter().enumerate() {
        row(out, index, item, steps, mixed, &grid);
    }
    out.push_str("</tbody></table></div>\n");
    more_parameters(out, fit);
    options(out, fit);
    error_sources(out, fit);
}

/// Where the standard errors of a private fit come from.
fn error_sources(out: &mut String, fit: &Fit) {
    let sources = fit.privacy.as_ref().map_or(&[][..], |privacy| &privacy.error_sources);
    if sources.is_empty() {
        return;
    }
    out.push_str(
        "<details><summary>Where standard errors come from</summary>\n<p>Sampling: there are no more students. Noise: what \
         privacy costs. Prior: the estimate is drawn towards what was believed before, by an unknown amount. Their squares add \
         up to that of the standard error (SE). A difficulty leans on the prior if more than a tenth of what is known about it is \
         prior, or if the prior has drawn it by more than a fifth of its standard error: its interval then holds the truth less often than it says.</p>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"Where standard errors come from\"><table><thead><tr><th scope=\"col\">Item</th>\
         <th scope=\"col\" class=\"words\">Parameter</th><th scope=\"col\">SE</th><th scope=\"col\">Sampling</th>\
         <th scope=\"col\">Noise</th><th scope=\"col\">Prior</th><th scope=\"col\" class=\"words\">Remark</th></tr></thead>\n\
         <tbody>\n",
    );
    for source in sources {
        let remark = if source.leans_on_prior { "leans on the prior" } else { "" };
        let [se, sampling, noise, prior] =
            [source.se, source.sampling, source.noise, source.prior].map(|x| text::fixed(x, 3));
        out.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td class=\"words\">{}</td><td>{se}</td><td>{sampling}</td><td>{noise}</td>\
             <td>{prior}</td><td class=\"words\">{remark}</td></tr>\n",
            escape(&source.item),
            escape(&source.parameter),
        ));
    }
    out.push_str("</tbody></table></div></details>\n");
}

/// Parameters of models that have more than one slope: by name, item after item.
fn more_parameters(out: &mut String, fit: &Fit) {
    if !fit.items.iter().any(FitItem::has_more_parameters) {
        return;
    }
    out.push_str(
        "<details open><summary>Parameters of nominal items</summary>\n<p>a1, ak and d are named as in mirt: a category's slope \
         is a1·ak, and the first category's slope and intercept are 0. bock_a and bock_c are the same slopes and intercepts in \
         Bock's form, which sum to 0 over the categories.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Parameters of nominal items\"><table><thead><tr><th scope=\"col\">Item</th>\
         <th scope=\"col\" class=\"words\">Parameter</th><th scope=\"col\">Estimate</th></tr></thead>\n<tbody>\n",
    );
    for item in fit.items.iter().filter(|item| item.has_more_parameters()) {
        for (name, value) in item.parameters.iter() {
            let cell = estimate(value, item.se.get(name), item.se.get(name).is_none());
            let (item, name) = (escape(&item.name), escape(name));
            out.push_str(&format!(
                "<tr><th scope=\"row\">{item}</th><td class=\"words\">{name}</td><td>{cell}</td></tr>\n"
            ));
        }
    }
    out.push_str("</tbody></table></div></details>\n");
}

/// How the options of items with an answer key were chosen: a distractor should be chosen by students of little ability.
fn options(out: &mut String, fit: &Fit) {
    if fit.items.iter().all(|item| item.options.is_empty()) {
        return;
    }
    out.push_str(
        "<details><summary>Options of items with an answer key</summary>\n<p>Lower, middle and upper are thirds of the students by \
         their mean score in the other items, and the shares of each third that chose the option. r is the correlation \
         between choosing the option and that score: negative for a distractor that works.</p>\n<div class=\"scroll\" \
         tabindex=\"0\" role=\"region\" aria-label=\"Options\"><table><thead><tr><th scope=\"col\">Item</th>",
    );
    for title in ["Option", "Category", "Chosen", "Lower", "Middle", "Upper", "r"] {
        out.push_str(&format!("<th scope=\"col\">{title}</th>"));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for item in &fit.items {
        let thirds =
            [0, 1, 2].map(|third| item.options.iter().map(|option| option.thirds[third]).sum::<u64>());
        for option in &item.options {
            let share = |third: usize| match thirds[third] {
                0 => MISSING.to_owned(),
                all => format!("{} %", text::fixed(100.0 * option.thirds[third] as f64 / all as f64, 1)),
            };
            let r = option.item_rest_r.map_or_else(|| MISSING.to_owned(), |r| text::fixed(r, 2));
            let (name, chosen) = (escape(&item.name), escape(&option.option));
            let cells =
                [chosen, option.code.to_string(), text::count(option.count), share(0), share(1), share(2), r];
            let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
            out.push_str(&format!("<tr><th scope=\"row\">{name}</th>{cells}</tr>\n"));
        }
    }
    out.push_str("</tbody></table></div></details>\n");
}

fn row(out: &mut String, index: usize, item: &FitItem, steps: usize, mixed: bool, grid: &[f64]) {
    out.push_str(&format!("<tr data-item=\"{index}\"><th scope=\"row\">{}</th>", escape(&item.name)));
    out.push_str(&format!("<td class=\"spark\">{}</td>", sparkline(item, grid)));
    if mixed {
        out.push_str(&format!("<td class=\"words\">{}</td>", escape(&words::model(&item.model))));
    }
    let answers = item.n.map_or_else(|| MISSING.to_owned(), text::count);
    out.push_str(&format!("<td>{answers}</td><td>{}</td>", slope(item)));
    for (letter, values, errors) in [("b", &item.b, &item.se_b), ("d", &item.d, &item.se_d)] {
        for step in 0..steps {
            let of = |list: &[Option<f64>]| list.get(step).copied().flatten();
            let cell = if step < values.len() {
                estimate(of(values), of(errors), item.fixed)
            } else {
                String::new()
            };
            out.push_str(&format!("<td class=\"as-{letter}\">{cell}</td>"));
        }
    }
    out.push_str("</tr>\n");
}

fn slope(item: &FitItem) -> String {
    let given = item.fixed || items::model(&item.model).is_some_and(|m| m.slope() != SlopeRule::Free);
    estimate(item.a, item.se_a, given)
}

/// An estimate and its standard error, as HTML.
fn estimate(value: Option<f64>, se: Option<f64>, given: bool) -> String {
    let Some(value) = finite(value) else { return MISSING.to_owned() };
    let beside = match finite(se) {
        Some(se) => format!("({})", text::fixed(se, 2)),
        None if given => "fixed".to_owned(),
        None => "(–)".to_owned(),
    };
    format!("{} <small>{beside}</small>", text::fixed(value, 2))
}

const SPARK_POINTS: usize = 25;
const SPARK: (f64, f64) = (72.0, 22.0);

/// The curves in the size of a word; the row's numbers say the same, so it is hidden from screen readers.
fn sparkline(item: &FitItem, grid: &[f64]) -> String {
    let Some(shape) = shape::shape(item, grid) else { return MISSING.to_owned() };
    let categories = shape.probability.len();
    let last = (grid.len() - 1) as f64;
    let mut out = format!(
        "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" aria-hidden=\"true\">\
         <path d=\"M0 {1}H{0}\" stroke=\"{2}\"/>",
        SPARK.0,
        SPARK.1,
        Ink::Rule.css()
    );
    for (c, p) in shape.probability.iter().enumerate().skip(usize::from(categories == 2)) {
        let points: Vec<(f64, f64)> = p
            .iter()
            .enumerate()
            .map(|(n, p)| ((n as f64 / last * SPARK.0).round(), 1.0 + (1.0 - p) * (SPARK.1 - 2.0)))
            .collect();
        out.push_str(&format!(
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\"/>",
            path(&points),
            Ink::category(c, categories).css()
        ));
    }
    out.push_str("</svg>");
    out
}

/// The first item drawn still; the script redraws it for any other.
fn viewer(out: &mut String, fit: &Fit) {
    let first = fit.items.iter().position(|item| item.estimates().is_some()).unwrap_or(0);
    out.push_str(
        "<div class=\"viewer\" id=\"viewer\">\n<div class=\"controls\">\n<label>Item <select id=\"item\">",
    );
    for (index, item) in fit.items.iter().enumerate() {
        let selected = if index == first { " selected" } else { "" };
        out.push_str(&format!("<option value=\"{index}\"{selected}>{}</option>", escape(&item.name)));
    }
    out.push_str(
        "</select></label>\n<button type=\"button\" id=\"previous\">Previous</button>\
         <button type=\"button\" id=\"next\">Next</button>\n\
         <fieldset><legend>Show</legend>\
         <label><input type=\"radio\" name=\"view\" value=\"item-curves\" checked> Curves</label>\
         <label><input type=\"radio\" name=\"view\" value=\"item-information\"> Information</label></fieldset>\n\
         </div>\n<p class=\"missing\" id=\"no-curve\" hidden></p>\n",
    );
    html::figure(out, "item-curves", &characteristic::characteristic_curves(fit, first));
    html::figure(out, "item-information", &information::item_information(fit, first));
    out.push_str("</div>\n");
}
