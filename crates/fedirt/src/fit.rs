//! A calibration with the coordinator and all sites in one process, from responses to estimates.

use crate::groups::{GroupProblem, Groups};
use crate::item_tests;
use crate::options::{FitMode, FitOptions, OptionProblem};
use crate::refit::{self, Ended};
use crate::site_weights::few_effective;
use fedirt_data::results::recoded;
use fedirt_data::text::listed;
use fedirt_data::{
    Audience, Bundle, BundleError, CodeSource, Errors, ItemBank, ItemOptions, ItemProblem, Note, NoteKind,
    OptionSummary, PriorChoice, Problems, Responses, ScoreError, ScoreOptions, Scores, SiteResponses,
    SiteScores, align, option_summaries, plan_items, questions, with_bundles,
};
use fedirt_model::centre::{AlgorithmKind, ItemPlan, Plan, Secrecy};
use fedirt_model::comparison::{likelihood_ratio, plan_with, table_with};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::{Covariance, Fit, FitSite, NotAvailable, Warning};
use fedirt_model::population::{Family, Population};
use fedirt_model::private::MissingAnswers;
use fedirt_model::quadrature::Weighting;
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::responses::{ResponseTable, TableError};
use fedirt_model::scoring::Prior;
use fedirt_model::statistics::Mode;
use fedirt_privacy::accountant::Delta;
use fedirt_protocol::coordinator::Finished;
use fedirt_protocol::in_process::{Observer, RunError, Setting, SiteAfter, Unobserved};
use fedirt_protocol::private::{PrivateTerms, incomplete_rows};
use rand::CryptoRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::fmt;

/// Calibrates all sites together.
///
/// Keys and noise come from the operating system's randomness; [`fit_with`] takes other randomness, and an observer.
///
/// ```
/// use fedirt::{Column, Columns, FitOptions, Input, ReadOptions, fit, read};
///
/// let table = |i1: [u8; 6], i2: [u8; 6], i3: [u8; 6]| -> Columns {
///     [("I1", i1), ("I2", i2), ("I3", i3)].map(|(name, codes)| (name, Column::from_iter(codes))).into_iter().collect()
/// };
/// let tables = [
///     Input::columns("north", table([1, 0, 1, 1, 0, 0], [1, 1, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1])),
///     Input::columns("south", table([1, 0, 1, 0, 0, 1], [1, 1, 0, 0, 1, 1], [1, 1, 0, 1, 0, 0])),
/// ];
/// let responses = read(tables, &ReadOptions::default())?;
/// let calibration = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?;
/// assert_eq!(calibration.fit.converged, Some(true));
/// let effects: f64 = calibration.fit.sites.iter().filter_map(|site| site.effect).sum();
/// assert!(effects.abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit(responses: &Responses, options: &FitOptions) -> Result<Calibration, FitError> {
    fit_with(responses, options, &mut UnwrapErr(SysRng), &mut Unobserved)
}

/// [`fit`] with a given random generator and an observer of the rounds, such as a progress bar or a
/// [`Transcript`](crate::Transcript).
///
/// ```
/// use fedirt::{FitOptions, Input, ReadOptions, Transcript, fit_with, read};
/// use rand::SeedableRng;
///
/// let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let options = FitOptions { model: Some("rasch".into()), ..FitOptions::default() };
/// let mut transcript = Transcript::new(Vec::new());
/// fit_with(&responses, &options, &mut rand::rngs::ChaCha20Rng::from_seed([7; 32]), &mut transcript)?;
/// let lines = String::from_utf8(transcript.finish()?)?;
/// assert!(lines.starts_with("{\"site\":\"north\",\"round\":0,\"name\":\"rows\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit_with(
    responses: &Responses,
    options: &FitOptions,
    random: &mut impl CryptoRng,
    observer: &mut dyn Observer,
) -> Result<Calibration, FitError> {
    prepare(responses, options)?.run(random, observer)
}

/// A calibration that is ready to run: plan and tables, after all checks that do not need estimates.
///
/// ```
/// use fedirt::{FitOptions, Input, ReadOptions, prepare, read};
/// use fedirt_protocol::in_process::Unobserved;
/// use rand::SeedableRng;
///
/// let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let prepared = prepare(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?;
/// assert_eq!(prepared.sites[0].0, "north");
/// let mut random = rand::rngs::ChaCha20Rng::from_seed([7; 32]);
/// assert_eq!(prepared.run(&mut random, &mut Unobserved)?.fit.n, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Prepared {
    /// What is calibrated, and how.
    pub plan: Plan,
    /// Mode, and what `private` promises.
    pub setting: Setting,
    /// The sites by name, each with a column for every item of the plan.
    pub sites: Vec<(String, ResponseTable)>,
    /// Warnings for readers of the results.
    pub warnings: Vec<Warning>,
    /// Notes for the holder of the data, which are not part of the results.
    pub notes: Vec<FitNote>,
    rows: Vec<SiteRows>,
    /// How options were chosen, by item; none in private fits.
    options: Vec<(String, Vec<OptionSummary>)>,
    bundles: Vec<Bundle>,
    /// Whether each item is freed in each group in turn, for tests.
    refits: bool,
}

/// What rows are called, and where they stand in the files.
#[derive(Debug, Clone)]
struct SiteRows {
    ids: Option<Vec<String>>,
    places: Vec<(usize, u64)>,
}

/// The result of a calibration.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let calibration = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?;
/// assert_eq!(calibration.fit.items.len(), 3);
/// assert_eq!(calibration.covariance.names.len(), calibration.covariance.blocks[0].nrows());
/// assert!(calibration.notes.is_empty() && calibration.scored_without_effect().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Calibration {
    /// The estimates: the content of `fit.json`.
    pub fit: Fit,
    /// Covariances of all estimates.
    pub covariance: Covariance,
    /// Notes for the holder of the data, which are not part of the results.
    pub notes: Vec<FitNote>,
    sites: Vec<SiteAfter>,
    /// The items of the tables' columns, as places in the fit.
    columns: Vec<usize>,
    rows: Vec<SiteRows>,
}

/// A note for the holder of the data.
///
/// ```
/// use fedirt::{Audience, FitNote};
///
/// let note = FitNote::IncompleteRows(3);
/// assert!(note.told(Audience::CommandLine).contains("--missing-answers wrong"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum FitNote {
    /// A note of the reader of the files.
    Reading(Note),
    /// Rows that lack an answer and are left out of a private fit.
    IncompleteRows(u64),
}

impl FitNote {
    /// The note in the words of the audience.
    pub fn told(&self, audience: Audience) -> String {
        match self {
            Self::Reading(note) => note.told(audience),
            Self::IncompleteRows(rows) => {
                let (wrong, booklets) = match audience {
                    Audience::CommandLine => ("--missing-answers wrong", "--booklets"),
                    Audience::Library | Audience::Page => ("`missing_answers` = wrong", "`booklets`"),
                };
                format!(
                    "{rows} rows lack an answer and are left out; {wrong} scores such answers as wrong, {booklets} says which students were given which items"
                )
            }
        }
    }
}

/// A problem with booklets.
///
/// ```
/// use fedirt::{BookletItems, BookletProblem, FitError, FitMode, FitOptions, PrivateOptions};
/// # use fedirt::{Input, ReadOptions, fit, read};
///
/// # let text = "I1,I2\n0,1\n1,1\n1,0\n0,0\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let booklets = vec![BookletItems { name: "A".into(), items: vec!["I1".into(), "I9".into()] }];
/// let mode = FitMode::Private(PrivateOptions { booklets, ..PrivateOptions::default() });
/// let Err(FitError::Booklets(problems)) = fit(&responses, &FitOptions { mode, ..FitOptions::default() }) else {
///     panic!("there is no item I9");
/// };
/// assert!(matches!(&problems.0[0], BookletProblem::NoSuchItem { item, .. } if item == "I9"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookletProblem {
    /// A booklet names an item that does not exist.
    NoSuchItem {
        /// The booklet.
        booklet: String,
        /// The item.
        item: String,
    },
    /// All items of a booklet are in another one.
    Within {
        /// The booklet.
        booklet: String,
        /// The other one.
        other: String,
    },
}

impl fmt::Display for BookletProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchItem { booklet, item } => write!(f, "booklet {booklet}: there is no item {item}"),
            Self::Within { booklet, other } => {
                write!(f, "booklet {booklet} lies within {other}: each needs an item that the other lacks")
            }
        }
    }
}

/// Why a calibration is not possible.
///
/// ```
/// use fedirt::{FitError, FitOptions, Input, ReadOptions, Settings, fit, read};
///
/// let responses = read([Input::new("north.csv", "I1,I2\n0,1\n1,0\n".as_bytes())], &ReadOptions::default())?;
/// let options = FitOptions { settings: Settings { max_rounds: 1, ..Settings::default() }, ..FitOptions::default() };
/// assert!(matches!(fit(&responses, &options), Err(FitError::Options(problems)) if problems.0.len() == 1));
/// # Ok::<(), fedirt::Problems>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// All invalid options.
    #[error(transparent)]
    Options(#[from] Errors<OptionProblem>),
    /// Columns and codes that may not be answers, which only the caller can know: see [`questions`](fedirt_data::questions).
    #[error(transparent)]
    Questions(#[from] Problems),
    /// All items that cannot be calibrated with these options.
    #[error(transparent)]
    Items(#[from] Errors<ItemProblem>),
    /// All problems with booklets.
    #[error(transparent)]
    Booklets(#[from] Errors<BookletProblem>),
    /// All problems with items that are to be merged.
    #[error(transparent)]
    Bundles(#[from] Errors<BundleError>),
    /// Groups that cannot be compared.
    #[error(transparent)]
    Groups(#[from] GroupProblem),
    /// The students have weights, which a private fit does not support.
    #[error("weights cannot be kept private: one student's would move everybody's sums")]
    PrivateWeights,
    /// A table of responses is inconsistent.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The calibration could not be carried out.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Checks options and items, and brings all tables to the columns of one codebook.
///
/// ```
/// use fedirt::{FitOptions, Input, ReadOptions, prepare, read};
///
/// let text = "I1,I2\n0,1\n1,1\n1,0\n";
/// let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let prepared = prepare(&responses, &FitOptions::default())?;
/// assert_eq!(prepared.plan.items.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prepare(responses: &Responses, options: &FitOptions) -> Result<Prepared, FitError> {
    Errors::unless_empty(options.problems())?;
    let bundles = Bundle::find(responses, &options.bundles)?;
    let merged;
    let responses = if bundles.is_empty() {
        responses
    } else {
        merged = with_bundles(responses, &bundles, &[])?;
        &merged
    };
    let private = match &options.mode {
        FitMode::Private(private) => Some(private),
        FitMode::Plain | FitMode::Secure { .. } => None,
    };
    if private.is_some() && responses.sites.iter().any(|site| site.table.weights().is_some()) {
        return Err(FitError::PrivateWeights);
    }
    let asked = if private.is_some() { Vec::new() } else { questions(responses, &declared(options))? };
    let (mut warnings, mut notes) = (Vec::new(), Vec::new());
    for note in responses.notes.iter().chain(&asked) {
        // In a private fit, what the reader noted depends on rows: it is for whoever holds the files alone.
        if private.is_none() && matters(&note.kind) {
            let message = note.told(Audience::CommandLine);
            warnings.push(Warning { code: "reading".to_owned(), message });
        } else {
            notes.push(FitNote::Reading(note.clone()));
        }
    }
    let item_options = ItemOptions {
        codebook: options.codebook.clone(),
        fixed: options.fixed_items.clone(),
        model: options.model.clone(),
        item_models: options.item_models.clone(),
        collapse: options.collapse,
        codes: match options.mode {
            FitMode::Plain => CodeSource::Sites,
            FitMode::Secure { .. } => CodeSource::Pooled,
            FitMode::Private(_) => CodeSource::Declared,
        },
    };
    let (items, more) = plan_items(&item_options, responses)?;
    warnings.extend(more);
    let groups = Groups::of(responses, &options.dif)?;
    warnings.extend(groups.warnings.iter().cloned());
    let several = responses.sites.len() > 1;
    // Effects of sites that have one group each cannot be told from the groups' means.
    let usual = if several && !groups.by_site { Effects::Fixed } else { Effects::None };
    let mut plan = Plan {
        items,
        effects: options.effects.unwrap_or(usual),
        population: population(options, &groups, private.is_some())?,
        settings: options.settings.clone(),
        publish_effects: true,
        secrecy: Secrecy::BySite,
        diagnostics: Vec::new(),
        groups: groups.names.clone(),
        purify: options.dif.purify,
        compare_sites: several && options.dif.sites,
    };
    if private.is_none() {
        plan.diagnostics = options.diagnostics.of(plan.items.len());
    }
    let freed = groups.freed(&plan.items, &options.dif)?;
    let mut sites = Vec::with_capacity(responses.sites.len());
    for site in &responses.sites {
        let table = options.site_weights.weigh(align(site, &plan.items)?)?;
        let table = groups.code(site.groups.as_ref(), table)?;
        let table = if freed.is_empty() { table } else { table_with(&table, &freed)? };
        sites.push((site.name.clone(), table));
    }
    warnings.extend(few_effective(sites.iter().map(|(_, table)| table)));
    let mut plan = plan_with(&plan, &freed);
    let setting = match &options.mode {
        FitMode::Plain => Setting::of(Mode::Plain),
        FitMode::Secure { publish_effects } => {
            plan.publish_effects = *publish_effects;
            Setting::of(Mode::Secure)
        }
        FitMode::Private(private) => {
            let terms = PrivateTerms {
                epsilon: private.epsilon,
                delta: private.delta,
                mixture: private.mixture,
                missing: private.missing_answers,
                site_sd: private.site_sd,
                booklets: booklets(private, &plan.items)?,
                method: private.method,
                seed: 1,
            };
            let students = sites.iter().map(|(_, table)| table.students() as u64).sum();
            warnings.extend(large_delta(private.delta, students)?);
            if private.missing_answers == MissingAnswers::Counted {
                let incomplete: u64 =
                    sites.iter().map(|(_, table)| incomplete_rows(&terms.booklets, table)).sum();
                if incomplete > 0 {
                    notes.push(FitNote::IncompleteRows(incomplete));
                }
            }
            Setting { mode: Mode::Private, private: Some(terms), colluders: private.colluders }
        }
    };
    let rows_of = |site: &SiteResponses| SiteRows { ids: site.ids.clone(), places: site.places() };
    let rows = responses.sites.iter().map(rows_of).collect();
    let summaries = if private.is_some() { Vec::new() } else { option_summaries(responses) };
    let refits = plan.groups.len() > 1
        && freed.is_empty()
        && setting.mode == Mode::Plain
        && options.dif.refits.unwrap_or_else(|| item_tests::are_cheap(&plan, &sites));
    Ok(Prepared { plan, setting, sites, warnings, notes, rows, options: summaries, refits, bundles })
}

/// How ability is distributed: where groups are compared, in each of them normally.
fn population(options: &FitOptions, groups: &Groups, private: bool) -> Result<Population, GroupProblem> {
    let (family, grid) = (options.population, options.quadrature);
    let count = match groups.names.len() {
        0 => return Ok(Population::of(family, grid)),
        _ if private => return Err(GroupProblem::Private),
        count => u8::try_from(count).map_err(|_| GroupProblem::Many(count))?,
    };
    let sums = matches!(options.settings.algorithm, AlgorithmKind::Newton | AlgorithmKind::Em);
    if family != Family::Normal || grid.weighting != Weighting::Density || !sums {
        return Err(GroupProblem::OnePopulation);
    }
    if groups.by_site && options.effects == Some(Effects::Fixed) {
        return Err(GroupProblem::SiteEffects);
    }
    Ok(Population::of(Family::Groups { groups: count }, grid))
}

/// Items whose codes the options declare.
fn declared(options: &FitOptions) -> Vec<&str> {
    let book = options.codebook.iter().flatten().filter(|item| item.categories.is_some());
    let fixed = options.fixed_items.iter().map(|item| item.name.as_str());
    book.map(|item| item.name.as_str()).chain(fixed).collect()
}

/// Whether a note matters to users of the results, and not only to the holder of the files.
fn matters(kind: &NoteKind) -> bool {
    match kind {
        NoteKind::UnusedColumn { .. }
        | NoteKind::EmptyItems(_)
        | NoteKind::EmptyRows(_)
        | NoteKind::EmptySite(_)
        | NoteKind::SiteCalledNa
        | NoteKind::NotSelected(_)
        | NoteKind::DeclaredMissing(_)
        | NoteKind::MissingAsWrong(_)
        | NoteKind::Windows1252(_)
        | NoteKind::NoCorrelation(_)
        | NoteKind::NoLowCode { .. } => true,
        NoteKind::IdColumn(_) | NoteKind::LongFormat | NoteKind::BlankLines(_) | NoteKind::IdsDropped(_) => {
            false
        }
    }
}

/// The booklets as columns; each needs an item that every other lacks.
fn booklets(
    private: &crate::PrivateOptions,
    items: &[ItemPlan],
) -> Result<Vec<Vec<usize>>, Errors<BookletProblem>> {
    let (mut problems, mut out) = (Vec::new(), Vec::new());
    for booklet in &private.booklets {
        let mut columns = Vec::new();
        for name in &booklet.items {
            match items.iter().position(|item| item.name == *name) {
                Some(column) => columns.push(column),
                None => problems
                    .push(BookletProblem::NoSuchItem { booklet: booklet.name.clone(), item: name.clone() }),
            }
        }
        columns.sort_unstable();
        for other in private.booklets.iter().filter(|other| other.name != booklet.name) {
            if booklet.items.iter().all(|item| other.items.contains(item)) {
                let (booklet, other) = (booklet.name.clone(), other.name.clone());
                problems.push(BookletProblem::Within { booklet, other });
            }
        }
        out.push(columns);
    }
    Errors::unless_empty(problems)?;
    Ok(out)
}

fn large_delta(delta: f64, students: u64) -> Result<Option<Warning>, Errors<OptionProblem>> {
    let large = Delta::new(delta).and_then(|delta| delta.is_large_for(students));
    let large = large.map_err(|error| OptionProblem::Delta(delta, error))?;
    Ok(large.then(|| Warning {
        code: "delta_large".into(),
        message: format!(
            "delta is {delta:e}, more than one in ten times the {students} students: a smaller one promises more"
        ),
    }))
}

impl Prepared {
    /// Runs the calibration. The random generator is used for keys and noise.
    pub fn run(
        self,
        random: &mut impl CryptoRng,
        observer: &mut dyn Observer,
    ) -> Result<Calibration, FitError> {
        let Self { plan, setting, sites, warnings, notes, rows, options, refits, bundles } = self;
        let normal = asks_for_normal(&plan);
        let kept = if refits || normal { sites.clone() } else { Vec::new() };
        let Ended { mut finished, sites, columns } = refit::run(&setting, &plan, sites, random, observer)?;
        if normal {
            let plan =
                Plan { population: plan.population.grid().into(), diagnostics: Vec::new(), ..plan.clone() };
            let ended = refit::run(&setting, &plan, kept.clone(), random, &mut Unobserved)?;
            against_normal(&mut finished.fit, &ended.finished.fit);
        }
        // Without an item that was left out, other columns would be freed.
        if refits && columns.len() == plan.items.len() {
            item_tests::add(&plan, &setting, &kept, &mut finished.fit, random)?;
        } else if plan.groups.len() > 1
            && let Some(diagnostics) = &mut finished.fit.diagnostics
        {
            let reason = "each test needs a fit of its own: in one process, without freed items, they are made where that takes seconds or where they are asked for";
            diagnostics
                .not_available
                .extend(["dif.lr", "dif.wald"].map(|name| NotAvailable::new(name, reason)));
        }
        let rest = Self { plan, setting, sites: Vec::new(), warnings, notes, rows, options, refits, bundles };
        Ok(Calibration { columns, ..rest.finish(finished, sites) })
    }

    /// Makes the calibration from the result of another way to run it.
    pub fn finish(self, finished: Finished, sites: Vec<SiteAfter>) -> Calibration {
        let Finished { mut fit, covariance } = finished;
        let mut warnings = self.warnings;
        if self.setting.private.is_some() {
            warnings.push(no_ledger());
        }
        warnings.extend(recoded(&fit.items));
        fit.warnings.splice(0..0, warnings);
        for (name, options) in self.options {
            if let Some(item) = fit.items.iter_mut().find(|item| item.name == name) {
                item.options = options;
            }
        }
        for Bundle { name, parts } in self.bundles {
            let item = fit.items.iter_mut().find(|item| item.name == name);
            item.into_iter().for_each(|item| item.bundle.clone_from(&parts));
        }
        let columns = (0..fit.items.len()).collect();
        Calibration { fit, covariance, notes: self.notes, sites, columns, rows: self.rows }
    }
}

/// Whether the likelihood at a normal population belongs to what is asked for.
fn asks_for_normal(plan: &Plan) -> bool {
    let one = plan.population.groups() == 1;
    one && !plan.population.is_normal() && plan.diagnostics.contains(&Diagnostic::Latent)
}

/// Fills in the likelihood ratio of a flexible population against the normal one.
fn against_normal(fit: &mut Fit, normal: &Fit) {
    let Ok(ratio) = likelihood_ratio(normal, fit) else { return };
    let check = fit.diagnostics.as_mut().and_then(|diagnostics| diagnostics.latent.as_mut());
    if let Some(check) = check {
        (check.lr, check.df, check.p) = (Some(ratio.statistic), ratio.df as f64, Some(ratio.p));
    }
}

/// The warning that a private fit in one process is not recorded in a ledger.
fn no_ledger() -> Warning {
    let message = "this run is not recorded in a ledger: ε is for this run alone, and every further run on the same students adds to it. `fedirt site` keeps a ledger";
    Warning { code: "no_ledger".to_owned(), message: message.to_owned() }
}

impl Calibration {
    /// The effect of a site: the published one, or the one that the site alone knows.
    fn effect(&self, at: usize, site: &FitSite) -> Option<f64> {
        let own = self.sites.get(at).and_then(|site| site.own_effect).and_then(|own| own.effect);
        site.effect.or(own)
    }

    /// Scores of all students. A site's own effect is used where the fit does not publish it.
    ///
    /// ```
    /// # use fedirt::{FitOptions, Input, ReadOptions, ScoreOptions, fit, read};
    /// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
    /// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
    /// let calibration = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?;
    /// assert_eq!(calibration.scores(&ScoreOptions::default())?.sites[0].students[3].raw, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scores(&self, options: &ScoreOptions) -> Result<Scores, Errors<ScoreError>> {
        let bank = ItemBank::new(&self.fit)?;
        let names: Vec<String> = self.columns.iter().map(|at| self.fit.items[*at].name.clone()).collect();
        let (mut before, mut sites) = (0, Vec::new());
        for (at, ((site, after), rows)) in self.fit.sites.iter().zip(&self.sites).zip(&self.rows).enumerate()
        {
            let prior = bank.prior(self.effect(at, site).unwrap_or(0.0), options.prior);
            let mut students = bank.score(&after.table, &names, prior, options, before)?;
            let latent = &self.fit.latent;
            for (g, group) in latent.groups.iter().enumerate().filter(|_| options.prior == PriorChoice::Site)
            {
                // Each group's students start from their group's distribution, shifted by the site's effect.
                let (Some(mean), Some(sd)) = (group.mean, group.sd) else { continue };
                let prior = Prior { mean: prior.mean - latent.mean + mean, sd };
                let own = bank.score(&after.table, &names, prior, options, before)?;
                let groups = after.table.groups().unwrap_or_default();
                let all = students.iter_mut().zip(own).zip(groups);
                all.filter(|(_, of)| usize::from(**of) == g).for_each(|((student, own), _)| *student = own);
            }
            before += students.len();
            let SiteRows { ids, places } = rows.clone();
            sites.push(SiteScores { name: site.name.clone(), ids, places, students });
        }
        Ok(bank.scores(options, sites, Vec::new()).noted(&self.fit))
    }

    /// A sentence that names the sites whose students are scored with the effect 0 although sites differ, because their effects
    /// are not known.
    pub fn scored_without_effect(&self) -> Option<String> {
        let without = |(at, site): &(usize, &FitSite)| self.effect(*at, site).is_none();
        let names: Vec<&str> =
            self.fit.sites.iter().enumerate().filter(without).map(|(_, site)| site.name.as_str()).collect();
        (self.fit.effects != "none" && !names.is_empty())
            .then(|| format!("no effect is known for {}: scored with 0, the average site", listed(&names)))
    }
}
