//! Results: a fit, and the calibration that it comes from.

use crate::calls::tables;
use crate::failure::{attached, detached};
use crate::frame::{Lists, lists};
use crate::table::Source;
use fedirt::results::fit_json;
use fedirt_bindings::{Failure, Kind, Options};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// A fit: the content of `fit.json`.
#[pyclass(module = "fedirt._native", frozen)]
pub(crate) struct Fit(pub(crate) Arc<fedirt::Fit>);

#[pymethods]
impl Fit {
    /// A fit from the text of a `fit.json`.
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        let fit = detached(py, || fedirt_bindings::fit_of(json))?;
        Ok(Self(Arc::new(fit)))
    }

    /// The text of `fit.json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let internal = |error: std::io::Error| Failure::new(Kind::Internal, error.to_string());
        detached(py, || fit_json(&self.0).map_err(internal))
    }

    /// A table of the fit; `None` where the fit has nothing of it.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Lists<'py>>> {
        let frame = detached(py, || Ok(fedirt_bindings::fit_table(&self.0, name)))?;
        frame.map(|frame| lists(py, frame)).transpose()
    }

    /// The fit in lines of text.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(fedirt_bindings::summary_text(&self.0)))
    }

    /// Probabilities, information and expected scores at abilities.
    fn curves<'py>(&self, py: Python<'py>, abilities: Vec<f64>) -> PyResult<Lists<'py>> {
        let frame = detached(py, || Ok(fedirt_bindings::curves_table(&self.0, &abilities)))?;
        lists(py, frame)
    }

    /// A picture as SVG.
    fn picture(&self, py: Python<'_>, name: &str, items: Vec<String>) -> PyResult<String> {
        detached(py, || fedirt_bindings::picture(&self.0, name, &items))
    }

    /// The report, a page of HTML.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(fedirt::report(&self.0)))
    }

    /// Scores of other answers, and notes.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        answers: Vec<Source>,
        about_items: HashMap<String, Source>,
        options: &str,
    ) -> PyResult<(Lists<'py>, Vec<String>)> {
        let scores = detached(py, || {
            let inputs = answers.into_iter().map(Source::input).collect();
            fedirt_bindings::scored(&self.0, inputs, tables(about_items), &Options::from_json(options)?)
        })?;
        told(py, &scores)
    }

    /// Answers drawn anew from the estimates.
    fn redraw<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Lists<'py>> {
        let frame = detached(py, || fedirt_bindings::redrawn(&self.0, seed))?;
        lists(py, frame)
    }

    /// The log-likelihood of other answers, and the number of students with an answer.
    fn likelihood(
        &self,
        py: Python<'_>,
        answers: Vec<Source>,
        about_items: HashMap<String, Source>,
        options: &str,
    ) -> PyResult<(f64, u64)> {
        detached(py, || {
            let inputs = answers.into_iter().map(Source::input).collect();
            fedirt_bindings::likelihood(&self.0, inputs, tables(about_items), &Options::from_json(options)?)
        })
    }
}

fn told<'py>(py: Python<'py>, scores: &fedirt::Scores) -> PyResult<(Lists<'py>, Vec<String>)> {
    attached(py, || {
        let notes = scores.notes.iter().map(|note| note.told(fedirt::Audience::Library)).collect();
        Ok((lists(py, fedirt_bindings::scores_frame(scores))?, notes))
    })
}

/// A calibration: a fit, its covariances, and the students of its sites.
#[pyclass(module = "fedirt._native", frozen)]
pub(crate) struct Calibration {
    inner: fedirt::Calibration,
    fit: Arc<fedirt::Fit>,
}

impl From<fedirt::Calibration> for Calibration {
    fn from(inner: fedirt::Calibration) -> Self {
        let fit = Arc::new(inner.fit.clone());
        Self { inner, fit }
    }
}

#[pymethods]
impl Calibration {
    /// The fit.
    fn fit(&self) -> Fit {
        Fit(self.fit.clone())
    }

    /// Names of the estimates, and their covariances row by row.
    fn covariance(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<f64>)> {
        detached(py, || Ok(fedirt_bindings::covariance(&self.inner)))
    }

    /// Notes for the holder of the data.
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let notes = || self.inner.notes.iter().map(|note| note.told(fedirt::Audience::Library)).collect();
        detached(py, || Ok(notes()))
    }

    /// Scores of the students, and notes.
    fn scores<'py>(&self, py: Python<'py>, options: &str) -> PyResult<(Lists<'py>, Vec<String>)> {
        let scores =
            detached(py, || fedirt_bindings::scored_again(&self.inner, &Options::from_json(options)?));
        let (lists, mut notes) = told(py, &scores?)?;
        notes.extend(detached(py, || Ok(self.inner.scored_without_effect()))?);
        Ok((lists, notes))
    }
}
