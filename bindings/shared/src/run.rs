//! Calibrations, scores and descriptions, from tables and options.

use crate::failure::{Failure, Kind};
use crate::options::{Fields, OptionProblem, Options};
use crate::rules;
use crate::watched::{Watcher, watched};
use fedirt::{
    Calibration, Description, Fit, FitMode, FitOptions, Input, Problems, ReadOptions, Responses, Scores,
    prepare, questions, read_booklets, read_codebook, read_fixed_items, read_key, read_map,
};
use fedirt_model::fit::Provenance;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

/// Tables about items, each with its name in options.
#[derive(Debug, Default)]
pub struct Tables {
    /// The items, as the codebook of a study lists them.
    pub codebook: Option<Input<'static>>,
    /// Right answers.
    pub key: Option<Input<'static>>,
    /// Other names of items.
    pub map: Option<Input<'static>>,
    /// Booklets.
    pub booklets: Option<Input<'static>>,
    /// Items with given parameters.
    pub fixed_items: Option<Input<'static>>,
}

impl Tables {
    /// Adds what they say to the options of reading.
    fn of_reading(&mut self, options: &mut ReadOptions) -> Result<(), Problems> {
        if let Some(table) = self.codebook.take() {
            options.codebook = Some(read_codebook(table)?);
        }
        if let Some(table) = self.key.take() {
            options.key = read_key(table)?;
        }
        if let Some(table) = self.map.take() {
            options.renamed = read_map(table)?;
        }
        Ok(())
    }

    /// Adds what they say to the options of a calibration.
    fn of_fit(&mut self, options: &mut FitOptions) -> Result<(), Failure> {
        if let Some(table) = self.fixed_items.take() {
            options.fixed_items = read_fixed_items(table)?;
        }
        match (&mut options.mode, self.booklets.take()) {
            (FitMode::Private(private), Some(table)) => private.booklets = read_booklets(table)?,
            (_, None) => {}
            (FitMode::Plain | FitMode::Secure { .. }, Some(_)) => {
                let (option, needs) = ("booklets".to_owned(), "mode = \"private\"");
                return Err(fedirt::Errors::from(OptionProblem::Unused { option, needs }).into());
            }
        }
        Ok(())
    }
}

fn threads(fields: &Fields<'_>) -> Option<usize> {
    let threads = fields.whole("threads").map(|threads| threads as usize);
    if threads == Some(0) {
        let (option, needed) = ("threads".to_owned(), "a whole number of 1 or more".to_owned());
        fields.complain(OptionProblem::Value { option, value: "0".to_owned(), needed });
    }
    threads
}

/// The answers, how they are calibrated and by how many threads, and whatever else `more` reads of the options.
pub(crate) fn opened<T>(
    answers: Vec<Input<'static>>,
    mut tables: Tables,
    options: &Options,
    more: impl FnOnce(&Fields<'_>) -> T,
) -> Result<(Responses, FitOptions, Option<usize>, T), Failure> {
    let (mut reading, mut fitting, threads, more) = options.read(|fields| {
        let fitting = rules::fitting(fields);
        let private = matches!(fitting.mode, FitMode::Private(_));
        (rules::reading(fields, private), fitting, threads(fields), more(fields))
    })?;
    tables.of_reading(&mut reading)?;
    tables.of_fit(&mut fitting)?;
    // Options come before answers: a wrong one need not wait until millions of rows have been read.
    fedirt::Errors::unless_empty(fitting.problems()).map_err(fedirt::FitError::from)?;
    Ok((fedirt::read(answers, &reading)?, fitting, threads, more))
}

/// Calibrates the answers of all sites together.
pub fn calibrate(
    answers: Vec<Input<'static>>,
    tables: Tables,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Result<Calibration, Failure> {
    let (responses, fitting, threads, ()) = opened(answers, tables, options, |_| ())?;
    watched(threads, watcher, move |reporter| {
        let prepared = prepare(&responses, &fitting)?;
        // The calibration has its own tables with the columns of its codebook.
        drop(responses);
        let mut calibration = prepared.run(&mut UnwrapErr(SysRng), reporter)?;
        calibration.fit.provenance = Some(Provenance {
            options: options.texts().collect(),
            command: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: None,
            files: None,
        });
        Ok(calibration)
    })
}

/// How tables are read, for whoever reads them elsewhere.
pub fn reading(mut tables: Tables, options: &Options) -> Result<ReadOptions, Failure> {
    let mut reading = options.read(|fields| rules::reading(fields, false))?;
    tables.of_reading(&mut reading)?;
    Ok(reading)
}

/// What is in tables, with the questions about them.
pub fn checked(
    answers: Vec<Input<'static>>,
    mut tables: Tables,
    options: &Options,
) -> Result<Description, Failure> {
    let mut reading = options.read(|fields| rules::reading(fields, false))?;
    tables.of_reading(&mut reading)?;
    let mut responses = fedirt::read(answers, &reading)?;
    let asked = questions(&responses, &[])?;
    responses.notes.extend(asked);
    Ok(fedirt::check(&responses))
}

/// Scores students with the items of a fit.
pub fn scored(
    fit: &Fit,
    answers: Vec<Input<'static>>,
    mut tables: Tables,
    options: &Options,
) -> Result<Scores, Failure> {
    let (mut reading, scoring) =
        options.read(|fields| (rules::reading(fields, false), rules::scoring(fields)))?;
    tables.of_reading(&mut reading)?;
    Ok(fedirt::score(fit, &fedirt::read(answers, &reading)?, &scoring)?)
}

/// Scores the students of a calibration.
pub fn scored_again(calibration: &Calibration, options: &Options) -> Result<Scores, Failure> {
    let scoring = options.read(rules::scoring)?;
    Ok(calibration.scores(&scoring)?)
}

/// The log-likelihood of other answers under a fit, and the number of students with an answer.
pub fn likelihood(
    fit: &Fit,
    answers: Vec<Input<'static>>,
    mut tables: Tables,
    options: &Options,
) -> Result<(f64, u64), Failure> {
    let mut reading = options.read(|fields| rules::reading(fields, false))?;
    tables.of_reading(&mut reading)?;
    let found = fedirt::log_likelihood(fit, &fedirt::read(answers, &reading)?)?;
    Ok((found.loglik, found.students))
}

/// The fit of a `fit.json`.
pub fn fit_of(json: &str) -> Result<Fit, Failure> {
    fedirt::results::read_fit(json.as_bytes())
        .map_err(|error| Failure::new(Kind::Data, format!("this is not a fit written by fedirt ({error})")))
}
