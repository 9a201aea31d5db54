//! The results: all items in a table, and the figures of the whole test.

use super::{App, CoordinatorState, CoordinatorStudy, Name, Page, fits, frame, words};
use crate::figure::{Numbers, figure};
use crate::frame::respond;
use crate::{Frame, Html, Link, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use fedirt_figures::{expected_score, item_parameters, test_information, wright_map};
use fedirt_model::fit::{Fit, FitItem, Warning};
use fedirt_model::items::{Curves, Order};
use std::sync::Arc;

/// An estimate and its standard error, as text for a table cell.
pub(super) struct Cell {
    pub(super) value: String,
    pub(super) se: String,
}

impl Cell {
    pub(super) fn new(value: Option<f64>, se: Option<f64>, fixed: bool) -> Self {
        let value = words::fixed(value, 2);
        let se = match se.filter(|se| se.is_finite()) {
            Some(se) => format!("({se:.2})"),
            None if value == words::NONE => String::new(),
            None if fixed => "fixed".into(),
            None => "(–)".into(),
        };
        Self { value, se }
    }
}

struct Row {
    number: usize,
    name: String,
    model: String,
    n: String,
    a: Cell,
    b: Vec<Option<Cell>>,
    d: Vec<Option<Cell>>,
    spark: Html,
}

#[derive(Template)]
#[template(path = "results.html")]
struct ItemsPage {
    frame: Frame,
    name: String,
    subtitle: String,
    parts: Vec<Link>,
    warnings: Vec<Warning>,
    converged: bool,
    rows: Vec<Row>,
    steps: Vec<String>,
    mixed: bool,
    counted: bool,
}

/// The menu of the result pages.
pub(super) fn parts(name: &str, here: &str) -> Vec<Link> {
    let all = [("", "Items"), ("/test", "Test"), ("/sites", "Sites"), ("/summary", "Summary")];
    all.map(|(path, text)| Link::entry(format!("/studies/{name}/results{path}"), text, path == here)).to_vec()
}

#[derive(Template)]
#[template(path = "no_results.html")]
struct NonePage {
    frame: Frame,
    name: String,
    subtitle: String,
    why: String,
    waiting: Vec<String>,
    over: bool,
}

/// The study and its fit, or the response for a study without results.
pub(super) fn open(
    app: &CoordinatorState,
    name: &str,
    visitor: &Visitor,
) -> Result<Result<(CoordinatorStudy, Arc<Fit>), Response>, PageError> {
    let seen = app.find(name)?;
    if let Some(fit) = app.fit(name) {
        return Ok(Ok((seen, fit)));
    }
    let page = NonePage {
        frame: frame(visitor, &seen, "Results", "/results"),
        name: name.to_owned(),
        subtitle: words::subtitle(&seen),
        why: fits::why_none(&seen),
        waiting: seen.status.waiting_for.clone(),
        over: seen.status.phase == "over",
    };
    // The status tells programs that the results do not exist.
    Ok(Err(respond(StatusCode::NOT_FOUND, &page)))
}

/// `GET /studies/{study}/results`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let (seen, fit) = match open(&app, &name, &visitor)? {
        Ok(found) => found,
        Err(none) => return Ok(none),
    };
    let steps = fit.items.iter().map(|item| item.d.len().max(item.b.len())).max().unwrap_or(1).max(1);
    let (low, high) = range(&fit);
    let grid: Vec<f64> =
        (0..SPARK_POINTS).map(|n| low + (high - low) * n as f64 / (SPARK_POINTS - 1) as f64).collect();
    let rows = fit.items.iter().enumerate().map(|(number, item)| Row {
        number: number + 1,
        name: item.name.clone(),
        model: words::model(&item.model),
        n: item.n.map_or_else(|| words::NONE.into(), words::count),
        a: Cell::new(item.a, item.se_a, true),
        b: cells(&item.b, &item.se_b, steps, item.fixed),
        d: cells(&item.d, &item.se_d, steps, item.fixed),
        spark: spark(item, &grid),
    });
    let number = |step: usize| if steps == 1 { String::new() } else { step.to_string() };
    Ok(render(&ItemsPage {
        frame: frame(&visitor, &seen, "Results", "/results"),
        subtitle: words::subtitle(&seen),
        parts: parts(&name, ""),
        warnings: fit.warnings.clone(),
        converged: fit.converged != Some(false),
        rows: rows.collect(),
        steps: (1..=steps).map(number).collect(),
        mixed: fit.items.iter().any(|item| item.model != fit.items[0].model),
        counted: fit.items.iter().any(|item| item.n.is_some()),
        name,
    }))
}

fn cells(values: &[Option<f64>], errors: &[Option<f64>], steps: usize, fixed: bool) -> Vec<Option<Cell>> {
    let cell = |step: usize| {
        (step < values.len()).then(|| Cell::new(values[step], errors.get(step).copied().flatten(), fixed))
    };
    (0..steps).map(cell).collect()
}

fn range(fit: &Fit) -> (f64, f64) {
    (fit.latent.mean - 4.0 * fit.latent.sd, fit.latent.mean + 4.0 * fit.latent.sd)
}

const SPARK_POINTS: usize = 17;
const SPARK: (f64, f64) = (64.0, 20.0);

/// A sparkline of the curves, hidden from screen readers because the numbers of the row say the same.
fn spark(item: &FitItem, grid: &[f64]) -> Html {
    let Some((model, psi)) = item.estimates() else { return Html(words::NONE.into()) };
    let curves = Curves::new(model, item.categories, &psi, grid, Order::Score);
    let mut path = String::new();
    for c in usize::from(item.categories == 2)..item.categories {
        for (n, log_p) in curves.log_p(c).iter().enumerate() {
            let x = n as f64 * SPARK.0 / (SPARK_POINTS - 1) as f64;
            let y = 1.0 + (1.0 - log_p.exp()) * (SPARK.1 - 2.0);
            path += &format!("{}{x:.0} {y:.1}", if n == 0 { 'M' } else { 'L' });
        }
    }
    Html(format!(
        "<svg class=\"tiny\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" aria-hidden=\"true\"><path d=\"{path}\" \
         fill=\"none\" stroke=\"var(--accent)\" stroke-width=\"1.3\"/></svg>",
        SPARK.0, SPARK.1
    ))
}

#[derive(Template)]
#[template(path = "figures.html")]
struct FiguresPage {
    frame: Frame,
    name: String,
    subtitle: String,
    parts: Vec<Link>,
    heading: &'static str,
    figures: Vec<Html>,
}

/// `GET …/results/test`.
pub(super) async fn test(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let (seen, fit) = match open(&app, &name, &visitor)? {
        Ok(found) => found,
        Err(none) => return Ok(none),
    };
    let figures = [
        ("test-information", test_information(&fit)),
        ("expected-score", expected_score(&fit)),
        ("wright-map", wright_map(&fit)),
        ("item-parameters", item_parameters(&fit)),
    ];
    Ok(render(&FiguresPage {
        frame: frame(&visitor, &seen, "Test", "/results"),
        subtitle: words::subtitle(&seen),
        parts: parts(&name, "/test"),
        heading: "The whole test",
        figures: figures.iter().map(|(id, drawn)| figure(id, drawn, Numbers::Folded)).collect(),
        name,
    }))
}
