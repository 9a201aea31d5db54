//! Scores of students from a fit: items are matched by name, codes are read as the fit reads them.

use fedirt_model::code_set::MergedCode;
use fedirt_model::fit::{Fit, Quadrature};
use fedirt_model::items;
use fedirt_model::population::Population;
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::scoring::{
    Method, PersonFit, Prior, RowScorer, Score, ScoredItem, Scorer, ScoringError, Shape,
};
use std::borrow::Cow;

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use crate::audience::{Audience, ReadOption};
use crate::bundles::{Bundle, BundleError, with_bundles};
use crate::errors::Errors;
use crate::reading::Responses;
use crate::text::{counted, listed};

/// How rows are scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreOptions {
    /// The estimate of ability.
    pub method: Method,
    /// Seed of plausible values.
    pub seed: u64,
    /// Effect of sites that the fit has none for; 0, the average site, where nothing is given.
    pub site_effect: Option<f64>,
    /// The distribution of ability that posteriors start from.
    pub prior: PriorChoice,
    /// The scale on which scores are given as well.
    pub scale: Option<ReportScale>,
}

/// The distribution of ability that posteriors start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PriorChoice {
    /// That of the student's site: right for means of groups. The same answers give different scores at different sites.
    #[default]
    Site,
    /// That of all students of the calibration: the same answers give the same score everywhere.
    Common,
}

impl PriorChoice {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Common => "common",
        }
    }
}

/// A scale for reporting: the mean and the SD that the students of the calibration have on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportScale {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, above 0.
    pub sd: f64,
}

/// From ability to a [`ReportScale`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rescaling {
    /// What an ability of 0 becomes.
    pub origin: f64,
    /// What a difference of 1 becomes.
    pub unit: f64,
}

impl Default for ScoreOptions {
    fn default() -> Self {
        Self { method: Method::Eap, seed: 1, site_effect: None, prior: PriorChoice::Site, scale: None }
    }
}

/// Scores of all students.
#[derive(Debug)]
pub struct Scores {
    /// The estimate of ability.
    pub method: Method,
    /// The distribution that posteriors start from; `None` where the method has no posterior.
    pub prior: Option<PriorChoice>,
    /// To the scale for reporting, where one is wanted.
    pub rescaling: Option<Rescaling>,
    /// The sites, in the order in which their responses were given.
    pub sites: Vec<SiteScores>,
    /// What is worth knowing.
    pub notes: Vec<ScoreNote>,
}

/// The students of one site, in the order of its rows.
#[derive(Debug)]
pub struct SiteScores {
    /// The site.
    pub name: String,
    /// Identifiers, where the files have them.
    pub ids: Option<Vec<String>>,
    /// For each student the place of the file among the inputs, and the line; empty where rows are in the order of the file.
    pub places: Vec<(usize, u64)>,
    /// The students.
    pub students: Vec<StudentScore>,
}

impl SiteScores {
    /// The identifier of a student, or the number of its row within the site.
    pub fn id(&self, row: usize) -> Cow<'_, str> {
        match self.ids.as_ref().and_then(|ids| ids.get(row)) {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned((row + 1).to_string()),
        }
    }
}

impl Scores {
    /// All students as (site, row), in the order of the files.
    pub fn in_file_order(&self) -> Vec<(usize, usize)> {
        let mut rows: Vec<(usize, usize)> = Vec::new();
        for (at, site) in self.sites.iter().enumerate() {
            rows.extend((0..site.students.len()).map(|row| (at, row)));
        }
        if self.sites.iter().all(|site| site.places.len() == site.students.len()) {
            rows.sort_by_key(|(site, row)| self.sites[*site].places[*row]);
        }
        rows
    }

    /// What the students without any answer are called: they have no score.
    fn without_answers(&self) -> Option<ScoreNote> {
        let rows = self.in_file_order();
        let empty = || rows.iter().filter(|(site, row)| self.sites[*site].students[*row].answered == 0);
        let several = self.sites.len() > 1;
        let name = |(site, row): &(usize, usize)| {
            let site = &self.sites[*site];
            match several {
                true => format!("{} ({})", site.id(*row), site.name),
                false => site.id(*row).into_owned(),
            }
        };
        let first: Vec<String> = empty().take(NAMED).map(name).collect();
        (!first.is_empty()).then(|| ScoreNote::NoAnswers { first, count: empty().count() })
    }

    /// Scores with the notes that follow from them.
    pub fn noted(mut self, fit: &Fit) -> Self {
        let posterior = self.prior == Some(PriorChoice::Site);
        if posterior && fit.effects != "none" && self.sites.len() > 1 {
            self.notes.push(ScoreNote::SitePriors);
        }
        self.notes.extend(self.without_answers());
        self
    }
}

/// Students without an answer that a note names.
const NAMED: usize = 5;

/// One student.
#[derive(Debug, Clone, Default)]
pub struct StudentScore {
    /// Items answered, of those that have parameters.
    pub answered: usize,
    /// Sum of their categories, the lowest counting 0.
    pub raw: u64,
    /// The estimate of ability; none without an answer.
    pub score: Score,
    /// Plausible values; none without an answer.
    pub draws: Vec<f64>,
    /// How well the answers fit.
    pub person_fit: PersonFit,
}

/// What is worth knowing about scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoreNote {
    /// Items of the files for which the fit has no parameters.
    WithoutParameters(Vec<String>),
    /// Columns of the files that are no items of the fit.
    UnknownItems(Vec<String>),
    /// Sites for which the fit has no effect, scored as average ones.
    NoEffect(Vec<String>),
    /// Each site's students are scored under the distribution of their site.
    SitePriors,
    /// The fit does not tell how sites differ, so that the common distribution is that of the average site.
    SpreadUnknown,
    /// The groups of the fit have distributions of their own, and which student is in which is not known here.
    ReferenceGroup(String),
    /// Students without any answer, who have no score.
    NoAnswers {
        /// What the first of them are called.
        first: Vec<String>,
        /// How many there are.
        count: usize,
    },
}

impl ScoreNote {
    /// The note for somebody.
    pub fn told(&self, audience: Audience) -> String {
        match self {
            Self::WithoutParameters(items) => {
                format!("not scored, as the fit has no parameters for them: {}", listed(items))
            }
            Self::UnknownItems(items) => {
                format!("not scored, as the fit does not know them: {}", listed(items))
            }
            Self::SitePriors => {
                let common = match audience {
                    Audience::CommandLine => "--prior common, or --method wle of fedirt score, gives",
                    Audience::Library | Audience::Page => "the prior `common`, or the method WLE, gives",
                };
                format!("each student's score starts from the distribution of the site, so that the same answers give different scores at different sites: right for means of groups, not for reporting single students; {common} the same score for the same answers")
            }
            Self::SpreadUnknown => {
                "the fit does not tell how sites differ: the common prior is the distribution of the average site".into()
            }
            Self::ReferenceGroup(group) => format!(
                "ability differs between the groups of the fit; without their column every student's score starts from the distribution of {group}"
            ),
            Self::NoAnswers { first, count } => {
                let have = counted(*count as u64, "student has", "students have");
                let more = if *count > first.len() { ", …" } else { "" };
                format!("{have} no answer and no score: {}{more}", first.join(", "))
            }
            Self::NoEffect(sites) => {
                let option = match audience {
                    Audience::CommandLine => "--site-effect",
                    Audience::Library => "`site_effect`",
                    Audience::Page => "a fit with effects",
                };
                format!(
                    "the fit has no effect for {}: scored with 0, the average site; {option} gives another",
                    listed(sites)
                )
            }
        }
    }
}

/// Why students cannot be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScoreError {
    /// Codes and parameters of an item do not go together.
    #[error("the fit is damaged: item {item} has {codes} codes and {categories} categories")]
    DamagedItem {
        /// The item.
        item: String,
        /// Its codes.
        codes: usize,
        /// Its categories.
        categories: usize,
    },
    /// A model that this version does not know.
    #[error("item {item} has the model {model}, which this version does not know")]
    UnknownModel {
        /// The item.
        item: String,
        /// The model.
        model: String,
    },
    /// A population that this version does not know, or whose parameters are not those of its family.
    #[error(
        "ability is distributed as {0} in this fit, which this version does not know, or its parameters are damaged"
    )]
    Population(String),
    /// More quadrature nodes than anybody needs.
    #[error("the fit is damaged: {0} quadrature nodes, more than {MOST_NODES}")]
    TooManyNodes(usize),
    /// Parameters that the item's model does not admit.
    #[error("the fit is damaged: the parameters of item {0} are not admissible for its model")]
    Parameters(String),
    /// A site without an item of the fit.
    #[error("site {0}: none of its columns is an item of the fit; items are matched by name")]
    NoItems(String),
    /// A code that the fit does not know.
    #[error("{}", unknown_code(.site, .item, *.code, *.count, .known, Audience::Library))]
    UnknownCode {
        /// The site.
        site: String,
        /// The item.
        item: String,
        /// The code.
        code: u8,
        /// Answers that have it.
        count: u64,
        /// Codes that the fit has for the item.
        known: Vec<u8>,
    },
    /// An effect that is no number.
    #[error("site_effect {0}: a finite number is needed")]
    SiteEffect(f64),
    /// Items that the fit has merged, and that cannot be merged here.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The scoring itself.
    #[error(transparent)]
    Scoring(#[from] ScoringError),
}

impl ScoreError {
    /// What is wrong, for somebody.
    pub fn told(&self, audience: Audience) -> String {
        match self {
            Self::UnknownCode { site, item, code, count, known } => {
                unknown_code(site, item, *code, *count, known, audience)
            }
            other => other.to_string(),
        }
    }
}

fn unknown_code(site: &str, item: &str, code: u8, count: u64, known: &[u8], audience: Audience) -> String {
    let known: Vec<String> = known.iter().map(u8::to_string).collect();
    let answers = if count == 1 { "answer" } else { "answers" };
    format!(
        "site {site}, item {item}: {count} {answers} with the code {code}, which the fit does not know (it has {}); \
         correct the file, or call it missing with {}",
        known.join(", "),
        audience.with(ReadOption::Missing, &code.to_string())
    )
}

/// Scores the students of all sites with the items of a fit. The effect of a site is looked up by its name.
///
/// Plausible values of a student depend on the seed and on the student's place among all rows, not on the number of
/// threads.
pub fn score(fit: &Fit, responses: &Responses, options: &ScoreOptions) -> Result<Scores, Errors<ScoreError>> {
    if let Some(effect) = options.site_effect.filter(|effect| !effect.is_finite()) {
        return Err(ScoreError::SiteEffect(effect).into());
    }
    let bank = ItemBank::new(fit)?;
    let bundles = Bundle::of_fit(fit);
    let merged;
    let responses = if bundles.is_empty() {
        responses
    } else {
        let refused = |Errors(problems): Errors<BundleError>| {
            Errors(problems.into_iter().map(ScoreError::Bundle).collect())
        };
        merged = with_bundles(responses, &bundles, &[]).map_err(refused)?;
        &merged
    };
    let mut notes = bank.compare_items(responses)?;
    let mut without = Vec::new();
    let (mut sites, mut rows) = (Vec::new(), 0);
    for site in &responses.sites {
        let known = fit.sites.iter().find(|s| s.name == site.name).and_then(|s| s.effect);
        let effect = known.or(options.site_effect).unwrap_or_else(|| {
            without.push(site.name.clone());
            0.0
        });
        let prior = bank.prior(effect, options.prior);
        let students = bank.score(&site.table, &site.items, prior, options, rows)?;
        rows += students.len();
        let (name, ids, places) = (site.name.clone(), site.ids.clone(), site.places());
        sites.push(SiteScores { name, ids, places, students });
    }
    if let Some(group) = fit.latent.groups.first().filter(|group| group.mean.is_some()) {
        notes.push(ScoreNote::ReferenceGroup(group.name.clone()));
    }
    if !without.is_empty() && fit.effects != "none" && options.prior == PriorChoice::Site {
        notes.push(ScoreNote::NoEffect(without));
    }
    Ok(bank.scores(options, sites, notes).noted(fit))
}

/// The distribution of all students of a calibration, a normal one with the mean and variance of the sites' mixture; `None`
/// where the fit does not tell how sites differ.
fn all_students(fit: &Fit) -> Option<Prior> {
    let within = fit.latent.sd * fit.latent.sd;
    if fit.effects == "none" || fit.sites.len() < 2 {
        return Some(Prior { mean: fit.latent.mean, sd: fit.latent.sd });
    }
    let effects: Vec<(f64, f64)> =
        fit.sites.iter().filter_map(|site| Some((site.n as f64, site.effect?))).collect();
    let students: f64 = effects.iter().map(|(n, _)| n).sum();
    if students == 0.0 {
        let between = fit.site_sd?;
        return Some(Prior { mean: fit.latent.mean, sd: (within + between * between).sqrt() });
    }
    let mean = effects.iter().map(|(n, effect)| n * effect).sum::<f64>() / students;
    let spread = effects.iter().map(|(n, effect)| n * (effect - mean).powi(2)).sum::<f64>() / students;
    // Estimates of random effects are shrunken: their SD, not theirs, is that between sites.
    let between = fit.site_sd.map_or(spread, |sd| sd * sd);
    Some(Prior { mean: fit.latent.mean + mean, sd: (within + between).sqrt() })
}

/// An item of the fit that can be scored.
#[derive(Debug)]
struct BankItem {
    name: String,
    scored: ScoredItem,
    codes: Vec<u8>,
    merged: Vec<MergedCode>,
}

impl BankItem {
    /// The category of a code.
    fn category(&self, code: u8) -> Option<usize> {
        let into = self.merged.iter().find(|merged| merged.code == code).map_or(code, |merged| merged.into);
        self.codes.iter().position(|code| *code == into)
    }
}

/// More nodes than anybody needs: a fit may come from elsewhere, and is not to fill the memory.
const MOST_NODES: usize = 10_000;

/// The items of a fit that have parameters, and the distribution of ability.
#[derive(Debug)]
pub struct ItemBank {
    items: Vec<BankItem>,
    /// Items of the fit without parameters.
    unscored: Vec<String>,
    spec: GridSpec,
    /// The shape of the distribution of ability, where it is not normal.
    shape: Option<Shape>,
    /// Ability at the average site.
    average: Prior,
    /// Ability of all students, where it is known.
    common: Option<Prior>,
}

impl ItemBank {
    /// The bank of a fit.
    pub fn new(fit: &Fit) -> Result<Self, Errors<ScoreError>> {
        let (mut bank, mut unscored, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        for item in &fit.items {
            let name = item.name.clone();
            if items::model(&item.model).is_none() {
                problems.push(ScoreError::UnknownModel { item: name, model: item.model.clone() });
            } else if item.categories != item.codes.len() {
                let (codes, categories) = (item.codes.len(), item.categories);
                problems.push(ScoreError::DamagedItem { item: name, codes, categories });
            } else if let Some((model, psi)) = item.estimates() {
                let scored = ScoredItem { model, categories: item.categories, psi };
                bank.push(BankItem { name, scored, codes: item.codes.clone(), merged: item.merged.clone() });
            } else {
                unscored.push(name);
            }
        }
        Errors::unless_empty(problems)?;
        let Quadrature { nodes, to, ref weights, .. } = fit.quadrature;
        if nodes > MOST_NODES {
            return Err(ScoreError::TooManyNodes(nodes).into());
        }
        let weighting =
            if weights == Weighting::Paper.name() { Weighting::Paper } else { Weighting::Density };
        let spec = GridSpec { nodes, range: to, weighting };
        let shape = fit.latent.shape.as_ref().map(|shape| {
            let unknown = || ScoreError::Population(shape.population.clone());
            let family = shape.population.parse().map_err(|_| unknown())?;
            let parameters: Vec<f64> = shape.parameters.iter().map(|parameter| parameter.estimate).collect();
            let population = Population { nodes, range: to, family };
            population.admissible(&parameters).then_some(Shape { population, parameters }).ok_or_else(unknown)
        });
        let average = Prior { mean: fit.latent.mean, sd: fit.latent.sd };
        Ok(Self {
            items: bank,
            unscored,
            spec,
            shape: shape.transpose()?,
            average,
            common: all_students(fit),
        })
    }

    /// The distribution of ability from which a site's posteriors start.
    pub fn prior(&self, effect: f64, choice: PriorChoice) -> Prior {
        match choice {
            PriorChoice::Site => Prior { mean: self.average.mean + effect, sd: self.average.sd },
            PriorChoice::Common => self.common.unwrap_or(self.average),
        }
    }

    /// Scores of all sites, with what is worth knowing about priors and scale.
    pub fn scores(
        &self,
        options: &ScoreOptions,
        sites: Vec<SiteScores>,
        mut notes: Vec<ScoreNote>,
    ) -> Scores {
        let posterior = matches!(options.method, Method::Eap | Method::Map | Method::Pv { .. });
        let uses_common = options.scale.is_some() || (posterior && options.prior == PriorChoice::Common);
        notes.extend((uses_common && self.common.is_none()).then_some(ScoreNote::SpreadUnknown));
        let students = self.common.unwrap_or(self.average);
        let rescaling = options.scale.map(|scale| {
            let unit = scale.sd / students.sd;
            Rescaling { origin: scale.mean - unit * students.mean, unit }
        });
        Scores { method: options.method, prior: posterior.then_some(options.prior), rescaling, sites, notes }
    }

    /// Complains about answers that the fit cannot read, and notes items that are on one side only.
    pub(crate) fn compare_items(&self, responses: &Responses) -> Result<Vec<ScoreNote>, Errors<ScoreError>> {
        let mut problems = Vec::new();
        let mut strangers: Vec<String> = Vec::new();
        let knows = |name: &str| self.items.iter().any(|item| item.name == name);
        for site in &responses.sites {
            for name in site.items.iter().filter(|name| !knows(name)) {
                if !strangers.contains(name) {
                    strangers.push(name.clone());
                }
            }
            if !site.items.iter().any(|name| knows(name)) {
                problems.push(ScoreError::NoItems(site.name.clone()));
            }
            for (item, code, count) in self.unknown_codes(&site.table, &self.columns(&site.items)) {
                let (site, name, known) = (site.name.clone(), item.name.clone(), item.codes.clone());
                problems.push(ScoreError::UnknownCode { site, item: name, code, count, known });
            }
        }
        Errors::unless_empty(problems)?;
        let (without, unknown): (Vec<String>, Vec<String>) =
            strangers.into_iter().partition(|name| self.unscored.contains(name));
        let mut notes = Vec::new();
        notes.extend((!without.is_empty()).then_some(ScoreNote::WithoutParameters(without)));
        notes.extend((!unknown.is_empty()).then_some(ScoreNote::UnknownItems(unknown)));
        Ok(notes)
    }

    /// For each item of the bank, its column among named columns.
    fn columns(&self, names: &[String]) -> Vec<Option<usize>> {
        self.items.iter().map(|item| names.iter().position(|name| *name == item.name)).collect()
    }

    /// Codes of a table that the fit does not know, as (item, code, answers).
    fn unknown_codes(&self, table: &ResponseTable, columns: &[Option<usize>]) -> Vec<(&BankItem, u8, u64)> {
        let mut unknown = Vec::new();
        for (item, column) in self.items.iter().zip(columns) {
            let Some(column) = *column else { continue };
            let mut counts = [0u64; 256];
            table.rows().for_each(|row| counts[usize::from(row[column])] += 1);
            for (code, count) in (0..MISSING).zip(counts).filter(|(_, count)| *count > 0) {
                if item.category(code).is_none() {
                    unknown.push((item, code, count));
                }
            }
        }
        unknown
    }

    /// Scores the rows of a table whose columns have these names. `first_row` counts the rows of the sites before it, so
    /// that a student's plausible values depend on the seed and the student's place only.
    pub fn score(
        &self,
        table: &ResponseTable,
        names: &[String],
        prior: Prior,
        options: &ScoreOptions,
        first_row: usize,
    ) -> Result<Vec<StudentScore>, ScoreError> {
        self.each_row(table, names, prior, |rows, cells, student| {
            if cells.iter().all(|cell| *cell == MISSING) {
                return Ok(StudentScore::default());
            }
            let score = rows.score(cells, options.method)?;
            let mut draws = Vec::new();
            if let Method::Pv { draws: count } = options.method {
                draws.resize(count, 0.0);
                let mut rng = ChaCha12Rng::seed_from_u64(options.seed);
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
        })
    }

    /// What `of_row` makes of the categories of each row, in the order of the rows.
    fn each_row<T: Send>(
        &self,
        table: &ResponseTable,
        names: &[String],
        prior: Prior,
        of_row: impl Fn(&mut RowScorer<'_>, &[u8], usize) -> Result<T, ScoringError> + Sync,
    ) -> Result<Vec<T>, ScoreError> {
        let (columns, scorer) = (&self.columns(names), self.scorer(prior)?);
        let made: Result<Vec<T>, ScoringError> = (0..table.students())
            .into_par_iter()
            .with_min_len(64)
            .map_init(
                || (scorer.row_scorer(), vec![MISSING; self.items.len()]),
                |(rows, cells), student| {
                    self.translate(table.row(student), columns, cells);
                    of_row(rows, cells, student)
                },
            )
            .collect();
        Ok(made?)
    }

    /// What scores the rows of a site with this distribution of ability.
    fn scorer(&self, prior: Prior) -> Result<Scorer, ScoreError> {
        let items = self.items.iter().map(|item| item.scored.clone()).collect();
        let scorer = Scorer::new(items, prior, self.spec).map_err(|error| self.named(error))?;
        match &self.shape {
            Some(shape) => Ok(scorer.with_shape(shape.clone())?),
            None => Ok(scorer),
        }
    }

    /// The marginal log-likelihoods of the rows of a table that have an answer, added in the order of the rows; and how many
    /// there are.
    pub(crate) fn log_likelihood(
        &self,
        table: &ResponseTable,
        names: &[String],
        prior: Prior,
    ) -> Result<(f64, u64), ScoreError> {
        let rows = self.each_row(table, names, prior, |rows, cells, _| {
            let answered = cells.iter().any(|cell| *cell != MISSING);
            answered.then(|| rows.log_likelihood(cells)).transpose()
        })?;
        let rows: Vec<f64> = rows.into_iter().flatten().collect();
        Ok((rows.iter().sum(), rows.len() as u64))
    }

    /// A file's codes as categories; codes that the fit does not know are no answers.
    fn translate(&self, row: &[u8], columns: &[Option<usize>], cells: &mut [u8]) {
        for ((cell, item), column) in cells.iter_mut().zip(&self.items).zip(columns) {
            let category = column.and_then(|c| item.category(row[c]));
            *cell = category.map_or(MISSING, |c| c as u8);
        }
    }

    /// The error with the item's name in the place of its number.
    fn named(&self, error: ScoringError) -> ScoreError {
        match error {
            ScoringError::Parameters { item } if item < self.items.len() => {
                ScoreError::Parameters(self.items[item].name.clone())
            }
            other => other.into(),
        }
    }
}
