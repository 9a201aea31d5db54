//! The items: a table with a small curve in each row, the viewer beside it, and the gallery below.

use askama::Template;
use fedirt_model::fit::{Fit, FitItem};
use fedirt_model::items::{self, SlopeRule};

use super::flags::{Flag, flags};
use super::html::{Numbers, figure_html, table_html, written};
use super::{For, Options, data, words};
use crate::canvas::{Ink, path};
use crate::figure::Table;
use crate::text::{self, MISSING, finite};
use crate::{characteristic, information, overlay, shape};

/// An estimate, and what stands small beside it: its standard error in parentheses, or why there is none.
#[derive(Default)]
struct Cell {
    value: String,
    beside: String,
}

struct Row<'a> {
    name: &'a str,
    spark: String,
    model: String,
    n: String,
    a: Cell,
    b: Vec<Cell>,
    d: Vec<Cell>,
    flags: Vec<Flag>,
}

/// A table below the items.
struct More {
    title: &'static str,
    about: &'static str,
    table: String,
    open: bool,
}

#[derive(Template)]
#[template(path = "items.html")]
struct ItemsPart<'a> {
    rows: Vec<Row<'a>>,
    steps: Vec<String>,
    mixed: bool,
    counted: bool,
    flagged: bool,
    linked: bool,
    more: Vec<More>,
    first: usize,
    curves: String,
    information: String,
    overlay: String,
    data: String,
}

pub(super) fn table_and_viewer(fit: &Fit, options: &Options) -> String {
    if fit.items.is_empty() {
        return "<p class=\"missing\">The fit holds no items.</p>\n".to_owned();
    }
    let steps = fit.items.iter().map(|item| item.d.len().max(item.b.len())).max().unwrap_or(1).max(1);
    let number = |step: usize| if steps == 1 { String::new() } else { step.to_string() };
    let mut flags = flags(fit);
    let grid = shape::grid(fit, SPARK_POINTS);
    let drawable = |index: &usize| fit.items.get(*index).is_some_and(|item| item.estimates().is_some());
    let first = (Some(options.item).filter(drawable))
        .or_else(|| fit.items.iter().position(|item| item.estimates().is_some()))
        .unwrap_or(0);
    let mut part = ItemsPart {
        rows: Vec::with_capacity(fit.items.len()),
        steps: (1..=steps).map(number).collect(),
        mixed: fit.items.iter().any(|item| item.model != fit.items[0].model),
        counted: fit.items.iter().any(|item| item.n.is_some()),
        flagged: !flags.is_empty(),
        linked: options.place == For::Page,
        more: [more_parameters(fit), key_options(fit), error_sources(fit)].into_iter().flatten().collect(),
        first,
        curves: figure_html(
            "item-curves",
            &characteristic::characteristic_curves(fit, first),
            Numbers::Folded,
        ),
        information: figure_html(
            "item-information",
            &information::item_information(fit, first),
            Numbers::Folded,
        ),
        overlay: figure_html("item-overlay", &overlay::item_overlay(fit, &[first]), Numbers::Folded),
        data: data::json(fit),
    };
    part.rows.extend(fit.items.iter().map(|item| Row {
        name: &item.name,
        spark: sparkline(item, &grid),
        model: words::model(&item.model),
        n: item.n.map_or_else(|| MISSING.to_owned(), text::count),
        a: slope(item),
        b: cells(&item.b, &item.se_b, steps, item.fixed),
        d: cells(&item.d, &item.se_d, steps, item.fixed),
        flags: flags.remove(item.name.as_str()).unwrap_or_default(),
    }));
    written(&part)
}

fn slope(item: &FitItem) -> Cell {
    let given = item.fixed || items::model(&item.model).is_some_and(|m| m.slope() != SlopeRule::Free);
    estimate(item.a, item.se_a, given)
}

fn cells(values: &[Option<f64>], errors: &[Option<f64>], steps: usize, given: bool) -> Vec<Cell> {
    let of = |list: &[Option<f64>], step: usize| list.get(step).copied().flatten();
    let cell = |step: usize| match step < values.len() {
        true => estimate(of(values, step), of(errors, step), given),
        false => Cell::default(),
    };
    (0..steps).map(cell).collect()
}

fn estimate(value: Option<f64>, se: Option<f64>, given: bool) -> Cell {
    let Some(value) = finite(value) else { return Cell { value: MISSING.into(), ..Cell::default() } };
    let beside = match finite(se) {
        Some(se) => format!("({})", text::fixed(se, 2)),
        None if given => "fixed".to_owned(),
        None => "(–)".to_owned(),
    };
    Cell { value: text::fixed(value, 2), beside }
}

/// Where the standard errors of a private fit come from.
fn error_sources(fit: &Fit) -> Option<More> {
    let sources =
        fit.privacy.as_ref().map(|privacy| &privacy.error_sources).filter(|list| !list.is_empty())?;
    let mut table = Table::new(
        "Sources of standard errors",
        &["Item", "Parameter", "SE", "Sampling", "Noise", "Prior", "Remark"],
    );
    table.rows.extend(sources.iter().map(|source| {
        let remark = if source.leans_on_prior { "leans on the prior" } else { "" };
        let numbers = [source.se, source.sampling, source.noise, source.prior].map(|x| text::fixed(x, 3));
        let names = [source.item.clone(), source.parameter.clone()];
        names.into_iter().chain(numbers).chain([remark.to_owned()]).collect()
    }));
    Some(More {
        title: "Where standard errors come from",
        about: "Sampling: there are no more students. Noise: what privacy costs. Prior: the estimate is drawn towards what was \
                believed before, by an unknown amount. Their squares add up to that of the standard error (SE). A difficulty \
                leans on the prior if more than a tenth of what is known about it is prior, or if the prior has drawn it by \
                more than a fifth of its standard error: its interval then holds the truth less often than it says.",
        table: table_html(&table),
        open: true,
    })
}

/// Parameters of models that have more than one slope: by name, item after item.
fn more_parameters(fit: &Fit) -> Option<More> {
    let mut table = Table::new("Parameters of nominal items", &["Item", "Parameter", "Estimate", "SE"]);
    for item in fit.items.iter().filter(|item| item.has_more_parameters()) {
        for (name, value) in item.parameters.iter() {
            let se = item.se.get(name);
            let se = se.map_or_else(|| "fixed".to_owned(), |se| text::fixed_or_dash(finite(Some(se)), 2));
            let value = text::fixed_or_dash(finite(value), 2);
            table.rows.push(vec![item.name.clone(), name.to_owned(), value, se]);
        }
    }
    (!table.rows.is_empty()).then(|| More {
        title: "Parameters of nominal items",
        about: "a1, ak and d are named as in mirt: a category's slope is a1·ak, and the first category's slope and intercept \
                are 0. bock_a and bock_c are the same slopes and intercepts in Bock's form, which sum to 0 over the categories.",
        table: table_html(&table),
        open: true,
    })
}

/// How the options of items with an answer key were chosen: a distractor should be chosen by students of little ability.
fn key_options(fit: &Fit) -> Option<More> {
    let headers = ["Item", "Option", "Category", "Chosen", "Lower", "Middle", "Upper", "r"];
    let mut table = Table::new("Options", &headers);
    for item in &fit.items {
        let thirds =
            [0, 1, 2].map(|third| item.options.iter().map(|option| option.thirds[third]).sum::<u64>());
        for option in &item.options {
            let share = |third: usize| match thirds[third] {
                0 => MISSING.to_owned(),
                all => format!("{} %", text::fixed(100.0 * option.thirds[third] as f64 / all as f64, 1)),
            };
            let r = text::fixed_or_dash(option.item_rest_r, 2);
            let (name, chosen) = (item.name.clone(), option.option.clone());
            let code = option.code.to_string();
            table.rows.push(vec![
                name,
                chosen,
                code,
                text::count(option.count),
                share(0),
                share(1),
                share(2),
                r,
            ]);
        }
    }
    (!table.rows.is_empty()).then(|| More {
        title: "Options of items with an answer key",
        about: "Lower, middle and upper are thirds of the students by their mean score in the other items, and the shares of \
                each third that chose the option. r is the correlation between choosing the option and that score: negative \
                for a distractor that works.",
        table: table_html(&table),
        open: false,
    })
}

const SPARK_POINTS: usize = 12;
const SPARK: (f64, f64) = (64.0, 20.0);

/// The curves in the size of a word; the row's numbers say the same, so it is hidden from screen readers.
fn sparkline(item: &FitItem, grid: &[f64]) -> String {
    let Some(shape) = shape::shape(item, grid) else { return MISSING.to_owned() };
    let categories = shape.probability.len();
    let last = (grid.len() - 1) as f64;
    let mut out = format!(
        "<svg class=\"tiny\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" aria-hidden=\"true\">\
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
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\"/>",
            path(&points),
            Ink::category(c, categories).css()
        ));
    }
    out.push_str("</svg>");
    out
}
