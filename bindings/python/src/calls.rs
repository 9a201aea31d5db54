//! The functions of the module.

use crate::failure::{attached, detached};
use crate::fitted::{Calibration, Fit};
use crate::frame::{Lists, lists};
use crate::table::Source;
use fedirt_bindings::{Options, Tables, TraceEntry, Watcher};

use pyo3::prelude::*;
use std::collections::HashMap;

/// Tables by name.
type NamedLists<'py> = Vec<(&'static str, Lists<'py>)>;

/// Tables about items by the names of their options.
pub(crate) fn tables(mut given: HashMap<String, Source>) -> Tables {
    let mut take = |name: &str| given.remove(name).map(Source::input);
    Tables {
        codebook: take("codebook"),
        key: take("key"),
        map: take("map"),
        booklets: take("booklets"),
        fixed_items: take("fixed_items"),
    }
}

/// Shows progress to a function of Python, and asks the interpreter for signals such as Ctrl-C.
struct Watching {
    progress: Option<Py<PyAny>>,
    error: Option<PyErr>,
}

impl Watcher for Watching {
    fn round(&mut self, entry: &TraceEntry) {
        let Some(progress) = self.progress.as_ref().filter(|_| self.error.is_none()) else { return };
        let arguments = (entry.round, entry.loglik, entry.max_gradient, entry.max_change);
        let called = Python::attach(|py| progress.call1(py, arguments).map(|_| ()));
        self.error = called.err();
    }

    fn wants_to_stop(&mut self) -> bool {
        if self.error.is_none() {
            self.error = Python::attach(|py| py.check_signals()).err();
        }
        self.error.is_some()
    }
}

/// Calibrates. `progress` is called after each round with its number, the log-likelihood, the largest gradient and change.
#[pyfunction]
pub(crate) fn calibrate(
    py: Python<'_>,
    answers: Vec<Source>,
    about_items: HashMap<String, Source>,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Calibration> {
    let mut watching = Watching { progress, error: None };
    let calibration = detached(py, || {
        let answers = answers.into_iter().map(Source::input).collect();
        let options = Options::from_json(options)?;
        fedirt_bindings::calibrate(answers, tables(about_items), &options, &mut watching)
    });
    match watching.error {
        Some(error) => Err(error),
        None => Ok(calibration?.into()),
    }
}

/// Fits with and without what may matter: tables by their names, and what was not done.
#[pyfunction]
pub(crate) fn sensitivity<'py>(
    py: Python<'py>,
    answers: Vec<Source>,
    about_items: HashMap<String, Source>,
    options: &str,
) -> PyResult<(NamedLists<'py>, Vec<String>)> {
    let mut watching = Watching { progress: None, error: None };
    let found = detached(py, || {
        let answers = answers.into_iter().map(Source::input).collect();
        fedirt_bindings::sensitivity(
            answers,
            tables(about_items),
            &Options::from_json(options)?,
            &mut watching,
        )
    });
    if let Some(error) = watching.error {
        return Err(error);
    }
    let found = found?;
    let named = [("fits", lists(py, found.fits)?), ("items", lists(py, found.items)?)];
    Ok((named.into(), found.notes))
}

/// What is in tables: items, sites, and words.
#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    answers: Vec<Source>,
    about_items: HashMap<String, Source>,
    options: &str,
) -> PyResult<(Lists<'py>, Lists<'py>, String)> {
    let (items, sites, words) = detached(py, || {
        let answers = answers.into_iter().map(Source::input).collect();
        let found = fedirt_bindings::checked(answers, tables(about_items), &Options::from_json(options)?)?;
        Ok(fedirt_bindings::check_tables(&found))
    })?;
    Ok((lists(py, items)?, lists(py, sites)?, words))
}

fn named(names: Vec<String>, fits: &[PyRef<'_, Fit>]) -> Vec<(String, fedirt::Fit)> {
    names.into_iter().zip(fits.iter().map(|fit| (*fit.0).clone())).collect()
}

/// Fits side by side: tables by their names.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    names: Vec<String>,
    fits: Vec<PyRef<'py, Fit>>,
    options: &str,
) -> PyResult<Vec<(&'static str, Lists<'py>)>> {
    let fits = named(names, &fits);
    let tables = detached(py, || fedirt_bindings::compared(&fits, &Options::from_json(options)?))?;
    tables.into_iter().map(|(name, frame)| Ok((name, lists(py, frame)?))).collect()
}

/// Difficulties of two fits against each other, as SVG.
#[pyfunction]
pub(crate) fn compare_picture(
    py: Python<'_>,
    names: [String; 2],
    fits: [PyRef<'_, Fit>; 2],
    options: &str,
) -> PyResult<String> {
    let [one, other] = [fits[0].0.clone(), fits[1].0.clone()];
    detached(py, || {
        let options = Options::from_json(options)?;
        fedirt_bindings::compared_picture((&names[0], &one), (&names[1], &other), &options)
    })
}

/// Simulated answers, and the true parameters as JSON.
#[pyfunction]
pub(crate) fn simulate<'py>(py: Python<'py>, options: &str) -> PyResult<(Lists<'py>, String)> {
    let drawn = detached(py, || fedirt_bindings::simulated(&Options::from_json(options)?))?;
    Ok((lists(py, drawn.answers)?, drawn.truth))
}

/// Expected standard errors of a private study, and remarks.
#[pyfunction]
pub(crate) fn plan<'py>(py: Python<'py>, options: &str) -> PyResult<(Lists<'py>, Vec<String>)> {
    let (table, remarks) = detached(py, || fedirt_bindings::planned(&Options::from_json(options)?))?;
    Ok((lists(py, table)?, remarks))
}

/// Panics, with or without the interpreter's lock: tests see that a panic becomes an exception.
#[pyfunction]
pub(crate) fn panic_on_purpose(py: Python<'_>, locked: bool) -> PyResult<()> {
    if locked { attached(py, || panic!("on purpose")) } else { detached(py, || panic!("on purpose")) }
}
