//! The compiled part of the R package `fedirtr`: columns of R become tables, results become lists. Everything else is the library's
//! (`fedirt_bindings`) or R's (`R/`).
//!
//! No function here fails: each returns `list(value = …)` or `list(error = …)`, and R raises the condition. An error that crossed
//! the boundary would leave R in the middle of Rust's frames.
#![cfg(feature = "r")]

mod answer;
mod frame;
mod table;
mod watch;

use answer::{answer, from_json, value};
use extendr_api::prelude::*;
use fedirt::results::fit_json;
use fedirt::{published_likelihood, GivenItem, PublishedGrid};
use fedirt_bindings::{Failure, Kind, Options};
use table::{inputs, tables};

/// A calibration, which knows the students of its sites.
struct Calibration(fedirt::Calibration);

fn json(fit: &fedirt::Fit) -> Result<String, Failure> {
    fit_json(fit).map_err(|error| Failure::new(Kind::Internal, error.to_string()))
}

fn told(scores: &fedirt::Scores, more: Option<String>) -> Robj {
    let notes = scores.notes.iter().map(|note| note.told(fedirt::Audience::Library));
    let notes: Vec<String> = notes.chain(more).collect();
    list!(table = frame::columns(fedirt_bindings::scores_frame(scores)), notes = notes).into()
}

/// Called when R loads the package.
#[extendr]
fn r_start() {
    fedirt_bindings::quiet_panics();
}

#[extendr]
fn r_calibrate(answers: List, about_items: List, options: &str, progress: Robj) -> Robj {
    answer(|| {
        let mut watching = watch::Watching::new(progress);
        let options = Options::from_json(options)?;
        let found =
            fedirt_bindings::calibrate(inputs(&answers)?, tables(&about_items)?, &options, &mut watching)?;
        let notes: Vec<String> =
            found.notes.iter().map(|note| note.told(fedirt::Audience::Library)).collect();
        let json = json(&found.fit)?;
        Ok(list!(json = json, notes = notes, calibration = ExternalPtr::new(Calibration(found))).into())
    })
}

#[extendr]
fn r_sensitivity(answers: List, about_items: List, options: &str) -> Robj {
    answer(|| {
        let mut watching = watch::Watching::new(().into());
        let (inputs, tables) = (inputs(&answers)?, tables(&about_items)?);
        let options = Options::from_json(options)?;
        let found = fedirt_bindings::sensitivity(inputs, tables, &options, &mut watching)?;
        let [fits, items] = [found.fits, found.items].map(frame::columns);
        Ok(list!(fits = fits, items = items, notes = found.notes).into())
    })
}

/// The likelihood on the published grid, and its gradient. The grid is the number of nodes and the two bounds.
#[extendr]
fn r_published(a: &[f64], b: List, answers: List, grid: &[f64]) -> Robj {
    answer(|| {
        let wrong = |message: String| Failure::new(Kind::Data, message);
        let slices = |list: &List| {
            list.values()
                .map(|robj| robj.as_real_vector())
                .collect::<Option<Vec<Vec<f64>>>>()
                .unwrap_or_default()
        };
        let (steps, columns) = (slices(&b), slices(&answers));
        if steps.len() != a.len() {
            return Err(wrong(format!("{} slopes and {} items with difficulties", a.len(), steps.len())));
        }
        let items: Vec<GivenItem> = a.iter().zip(steps).map(|(a, b)| GivenItem { a: *a, b }).collect();
        let code = |at: (usize, usize), x: f64| match x {
            x if x.is_nan() => Ok(None),
            x if x.fract() == 0.0 && (0.0..1e6).contains(&x) => Ok(Some(x as usize)),
            x => Err(wrong(format!("row {}, item {}: {x} is no answer", at.1 + 1, at.0 + 1))),
        };
        let column = |(j, cells): (usize, Vec<f64>)| {
            cells.into_iter().enumerate().map(|(n, x)| code((j, n), x)).collect::<Result<Vec<_>, Failure>>()
        };
        let codes = columns.into_iter().enumerate().map(column).collect::<Result<Vec<_>, Failure>>()?;
        let [nodes, lower, upper] = grid[..] else { return Err(wrong("a grid has three numbers".into())) };
        let grid = PublishedGrid { nodes: nodes as usize, lower, upper };
        let found = published_likelihood(&items, &codes, grid).map_err(|error| wrong(error.to_string()))?;
        let b: Vec<f64> = found.b.into_iter().flatten().collect();
        Ok(list!(loglik = found.loglik, a = found.a, b = b).into())
    })
}

#[extendr]
fn r_parse(json: &str) -> Robj {
    answer(|| {
        let fit = fedirt_bindings::fit_of(json)?;
        let text = self::json(&fit)?;
        let parsed = from_json(&text)?;
        Ok(list!(json = text, fit = parsed).into())
    })
}

#[extendr]
fn r_json(text: &str) -> Robj {
    answer(|| from_json(text))
}

#[extendr]
fn r_covariance(calibration: Robj) -> Robj {
    answer(|| {
        let (names, matrix) = fedirt_bindings::covariance(&known(&calibration)?.0);
        Ok(list!(names = names, matrix = matrix).into())
    })
}

/// The calibration behind a pointer. One that was saved in a file and read again points nowhere.
fn known(calibration: &Robj) -> Result<&Calibration, Failure> {
    let gone = "this calibration was made in another session: only its fit is left";
    let pointer: Result<&ExternalPtr<Calibration>, Error> = calibration.try_into();
    let found = pointer.and_then(|pointer| pointer.try_addr());
    found.map_err(|_| Failure::new(Kind::Calibration, gone))
}

#[extendr]
fn r_scores_again(calibration: Robj, options: &str) -> Robj {
    answer(|| {
        let calibration = &known(&calibration)?.0;
        let scores = fedirt_bindings::scored_again(calibration, &Options::from_json(options)?)?;
        Ok(told(&scores, calibration.scored_without_effect()))
    })
}

#[extendr]
fn r_scores(json: &str, answers: List, about_items: List, options: &str) -> Robj {
    answer(|| {
        let (fit, options) = (fedirt_bindings::fit_of(json)?, Options::from_json(options)?);
        let scores = fedirt_bindings::scored(&fit, inputs(&answers)?, tables(&about_items)?, &options)?;
        Ok(told(&scores, None))
    })
}

#[extendr]
fn r_table(json: &str, name: &str) -> Robj {
    answer(|| {
        let fit = fedirt_bindings::fit_of(json)?;
        Ok(fedirt_bindings::fit_table(&fit, name).map_or_else(|| Robj::from(()), frame::columns))
    })
}

#[extendr]
fn r_summary(json: &str) -> Robj {
    answer(|| Ok(fedirt_bindings::summary_text(&fedirt_bindings::fit_of(json)?).into()))
}

#[extendr]
fn r_curves(json: &str, abilities: &[f64]) -> Robj {
    answer(|| {
        let fit = fedirt_bindings::fit_of(json)?;
        Ok(frame::columns(fedirt_bindings::curves_table(&fit, abilities)))
    })
}

#[extendr]
fn r_picture(json: &str, name: &str, items: Vec<String>) -> Robj {
    answer(|| Ok(fedirt_bindings::picture(&fedirt_bindings::fit_of(json)?, name, &items)?.into()))
}

#[extendr]
fn r_report(json: &str) -> Robj {
    answer(|| Ok(fedirt::report(&fedirt_bindings::fit_of(json)?).into()))
}

#[extendr]
fn r_compare(names: Vec<String>, fits: Vec<String>, options: &str) -> Robj {
    answer(|| {
        let fits = fits.iter().map(|json| fedirt_bindings::fit_of(json));
        let fits = names.into_iter().zip(fits).map(|(name, fit)| Ok((name, fit?)));
        let fits = fits.collect::<Result<Vec<_>, Failure>>()?;
        let tables = fedirt_bindings::compared(&fits, &Options::from_json(options)?)?;
        Ok(List::from_pairs(tables.map(|(name, table)| (name, frame::columns(table)))).into())
    })
}

#[extendr]
fn r_check(answers: List, about_items: List, options: &str) -> Robj {
    answer(|| {
        let options = Options::from_json(options)?;
        let found = fedirt_bindings::checked(inputs(&answers)?, tables(&about_items)?, &options)?;
        let (items, sites, words) = fedirt_bindings::check_tables(&found);
        Ok(list!(items = frame::columns(items), sites = frame::columns(sites), words = words).into())
    })
}

#[extendr]
fn r_simulate(options: &str) -> Robj {
    answer(|| {
        let drawn = fedirt_bindings::simulated(&Options::from_json(options)?)?;
        Ok(list!(answers = frame::columns(drawn.answers), truth = from_json(&drawn.truth)?).into())
    })
}

#[extendr]
fn r_redraw(json: &str, seed: f64) -> Robj {
    answer(|| Ok(frame::columns(fedirt_bindings::redrawn(&fedirt_bindings::fit_of(json)?, seed as u64)?)))
}

#[extendr]
fn r_plan(options: &str) -> Robj {
    answer(|| {
        let (table, remarks) = fedirt_bindings::planned(&Options::from_json(options)?)?;
        Ok(list!(table = frame::columns(table), remarks = remarks).into())
    })
}

/// An R list as JSON, as which options go to the library.
#[extendr]
fn r_options(options: List) -> Robj {
    answer(|| Ok(value(&options.into())?.to_string().into()))
}

/// Panics: tests see that a panic becomes an R error.
#[extendr]
fn r_panic_on_purpose() -> Robj {
    answer(|| panic!("on purpose"))
}

extendr_module! {
    mod fedirtr;
    fn r_start;
    fn r_calibrate;
    fn r_sensitivity;
    fn r_published;
    fn r_parse;
    fn r_json;
    fn r_covariance;
    fn r_scores_again;
    fn r_scores;
    fn r_table;
    fn r_summary;
    fn r_curves;
    fn r_picture;
    fn r_report;
    fn r_compare;
    fn r_check;
    fn r_simulate;
    fn r_redraw;
    fn r_plan;
    fn r_options;
    fn r_panic_on_purpose;
}
