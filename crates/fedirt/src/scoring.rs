//! Scores of students from a fit: what `fedirt fit` and `fedirt score` share.

use crate::error::CliError;
use fedirt_model::fit::{Fit, Quadrature};
use fedirt_model::items;
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::scoring::{Method, PersonFit, Prior, Score, ScoredItem, Scorer, ScoringError};
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

/// What stands in the columns of estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// One estimate and its standard error.
    Estimate,
    /// That many plausible values.
    Draws(usize),
}

/// One student.
#[derive(Debug, Clone)]
pub(crate) struct StudentScore {
    /// Items answered, of those that have parameters.
    pub(crate) answered: usize,
    /// Sum of their categories, the lowest counting 0.
    pub(crate) raw: u64,
    /// The estimate of ability.
    pub(crate) score: Score,
    /// Plausible values.
    pub(crate) draws: Vec<f64>,
    /// How well the answers fit.
    pub(crate) person_fit: PersonFit,
}

/// The students of one site, in the order of its rows.
#[derive(Debug)]
pub(crate) struct SiteScores {
    /// The site.
    pub(crate) name: String,
    /// Identifiers, where the files have them.
    pub(crate) ids: Option<Vec<String>>,
    /// The students.
    pub(crate) students: Vec<StudentScore>,
}

/// An item of the fit that can be scored.
#[derive(Debug)]
struct BankItem {
    name: String,
    scored: ScoredItem,
    codes: Vec<u8>,
}

/// More nodes than anybody needs: a fit may come from elsewhere, and is not to fill the memory.
const MOST_NODES: usize = 10_000;

/// The items of a fit that have parameters, and the distribution of ability.
#[derive(Debug)]
pub(crate) struct Bank {
    items: Vec<BankItem>,
    /// Items of the fit without parameters.
    pub(crate) unscored: Vec<String>,
    spec: GridSpec,
    mean: f64,
    sd: f64,
}

/// How rows are to be scored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    /// The estimate.
    pub(crate) method: Method,
    /// Seed of plausible values.
    pub(crate) seed: u64,
}

impl Bank {
    /// The bank of a fit.
    pub(crate) fn new(fit: &Fit) -> Result<Self, CliError> {
        let (mut bank, mut unscored, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        for item in &fit.items {
            if items::model(&item.model).is_none() {
                problems.push(format!(
                    "item {} has the model {}, which this version does not know",
                    item.name, item.model
                ));
            } else if item.categories != item.codes.len() {
                problems.push(format!(
                    "the fit is damaged: item {} has {} codes and {} categories",
                    item.name,
                    item.codes.len(),
                    item.categories
                ));
            } else if let Some((model, psi)) = item.estimates() {
                bank.push(BankItem {
                    name: item.name.clone(),
                    scored: ScoredItem { model, categories: item.categories, psi },
                    codes: item.codes.clone(),
                });
            } else {
                unscored.push(item.name.clone());
            }
        }
        CliError::usage(problems)?;
        let Quadrature { nodes, to, ref weights, .. } = fit.quadrature;
        if nodes > MOST_NODES {
            return Err(CliError::Usage(format!(
                "the fit is damaged: {nodes} quadrature nodes, more than {MOST_NODES}"
            )));
        }
        let weighting =
            if weights == Weighting::Paper.name() { Weighting::Paper } else { Weighting::Density };
        let spec = GridSpec { nodes, range: to, weighting };
        Ok(Self { items: bank, unscored, spec, mean: fit.latent.mean, sd: fit.latent.sd })
    }

    /// For each item of the bank, its column among named columns.
    pub(crate) fn columns(&self, names: &[String]) -> Vec<Option<usize>> {
        self.items.iter().map(|item| names.iter().position(|name| *name == item.name)).collect()
    }

    /// Whether the fit has parameters for an item.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.items.iter().any(|item| item.name == name)
    }

    /// Codes of a table that the fit does not know, as (item, code, answers).
    pub(crate) fn unknown_codes(
        &self,
        table: &ResponseTable,
        columns: &[Option<usize>],
    ) -> Vec<(&str, u8, u64)> {
        let mut unknown = Vec::new();
        for (item, column) in self.items.iter().zip(columns) {
            let Some(column) = *column else { continue };
            let mut counts = [0u64; 256];
            table.rows().for_each(|row| counts[usize::from(row[column])] += 1);
            for (code, count) in (0..MISSING).zip(counts).filter(|(_, count)| *count > 0) {
                if !item.codes.contains(&code) {
                    unknown.push((item.name.as_str(), code, count));
                }
            }
        }
        unknown
    }

    /// The codes that an item of the bank has.
    pub(crate) fn codes(&self, name: &str) -> &[u8] {
        self.items.iter().find(|item| item.name == name).map_or(&[], |item| &item.codes)
    }

    /// Scores a site's rows. `first_row` counts the rows of the sites before it, so that a student's
    /// plausible values depend on the seed and the student's place only.
    pub(crate) fn score(
        &self,
        table: &ResponseTable,
        columns: &[Option<usize>],
        effect: f64,
        how: How,
        first_row: usize,
    ) -> Result<Vec<StudentScore>, CliError> {
        let items = self.items.iter().map(|item| item.scored.clone()).collect();
        let prior = Prior { mean: self.mean + effect, sd: self.sd };
        let scorer = Scorer::new(items, prior, self.spec).map_err(|error| self.named(error))?;
        let students: Result<Vec<StudentScore>, ScoringError> = (0..table.students())
            .into_par_iter()
            .with_min_len(64)
            .map_init(
                || (scorer.row_scorer(), vec![MISSING; self.items.len()]),
                |(rows, cells), student| {
                    self.translate(table.row(student), columns, cells);
                    let score = rows.score(cells, how.method)?;
                    let mut draws = Vec::new();
                    if let Method::Pv { draws: count } = how.method {
                        draws.resize(count, 0.0);
                        let mut rng = ChaCha12Rng::seed_from_u64(how.seed);
                        rng.set_stream((first_row + student) as u64);
                        rows.plausible_values(cells, &mut rng, &mut draws)?;
                    }
                    let person_fit = match score.estimate {
                        Some(ability) => rows.person_fit(cells, ability)?,
                        None => PersonFit::default(),
                    };
                    let answers = || cells.iter().filter(|cell| **cell != MISSING);
                    Ok(StudentScore {
                        answered: answers().count(),
                        raw: answers().map(|cell| u64::from(*cell)).sum(),
                        score,
                        draws,
                        person_fit,
                    })
                },
            )
            .collect();
        Ok(students?)
    }

    /// A file's codes as categories; codes that the fit does not know are no answers.
    fn translate(&self, row: &[u8], columns: &[Option<usize>], cells: &mut [u8]) {
        for ((cell, item), column) in cells.iter_mut().zip(&self.items).zip(columns) {
            let category = column.and_then(|c| item.codes.iter().position(|code| *code == row[c]));
            *cell = category.map_or(MISSING, |c| c as u8);
        }
    }

    /// The error with the item's name in the place of its number.
    fn named(&self, error: ScoringError) -> CliError {
        match error {
            ScoringError::Parameters { item } if item < self.items.len() => CliError::Usage(format!(
                "the fit is damaged: the parameters of item {} are not admissible for its model",
                self.items[item].name
            )),
            other => other.into(),
        }
    }
}
