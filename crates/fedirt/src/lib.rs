//! fedirt as a library: calibrates tests across sites without pooling answers. The functions take tables and values and return
//! values. Nothing here prints or needs files.
//!
//! | what | how |
//! | --- | --- |
//! | response tables | [`read`] any bytes ([`Input::new`]) or tables in memory ([`Input::columns`]) |
//! | a summary of tables | [`check()`] |
//! | codes and columns that may not be answers | [`fit()`] asks; [`questions()`] asks before |
//! | answers that have to be scored | [`read_key`], [`read_codebook`] |
//! | a calibration | [`fit()`] with [`FitOptions`]: `plain`, `secure` or `private` |
//! | scores of students | [`score()`] |
//! | how likely other answers are under a fit | [`log_likelihood()`] |
//! | what depends on single items or sites | [`sensitivity()`] |
//! | two fits side by side | [`compare()`], [`likelihood_ratio()`] |
//! | one scale turned into another | [`link()`] |
//! | data with known parameters | [`simulate()`] |
//! | expected standard errors of a private study | [`privacy::plan`] |
//! | probabilities and information at given abilities | [`curves()`] |
//! | the likelihood of given parameters on the published grid | [`published_likelihood()`] |
//! | a report on a fit (HTML), its pictures (SVG) | `report`, `figures`, with the feature `report` |
//!
//! ```
//! use fedirt::{FitOptions, Input, ReadOptions, fit, read};
//!
//! let north = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
//! let south = "I1,I2,I3\n1,1,1\n0,1,1\n1,0,0\n0,0,1\n0,1,0\n1,1,0\n";
//! let inputs = [Input::new("north.csv", north.as_bytes()), Input::new("south.csv", south.as_bytes())];
//! let responses = read(inputs, &ReadOptions::default())?;
//! let calibration = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?;
//! assert_eq!(calibration.fit.items[0].name, "I1");
//! assert_eq!(calibration.fit.sites[1].name, "south");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The feature `cli` (on by default) builds the program `fedirt` with its servers and pages; `report` (on by default) adds
//! figures. Without default features the dependencies include neither a web server nor a store, TLS or figures.

mod curves;
mod fit;
mod groups;
mod item_tests;
mod options;
pub mod privacy;
mod published;
mod refit;
mod sensitivity;
mod simulate;
mod site_weights;
mod transcript;

/// ```
/// use fedirt::{Column, Columns, Input, ReadOptions, read};
///
/// let text = "pupil,I1,I2\na,0,1\nb,1,9\n";
/// let options = ReadOptions { id: Some("pupil".into()), missing: vec!["9".into()], ..ReadOptions::default() };
/// let read = read([Input::new("north.csv", text.as_bytes())], &options)?;
/// let columns = [("pupil", ["a", "b"]), ("I1", ["0", "1"]), ("I2", ["1", "9"])];
/// let table: Columns = columns.into_iter().map(|(name, cells)| (name, Column::from_iter(cells))).collect();
/// let in_memory = fedirt::read([Input::columns("north", table)], &options)?;
/// assert_eq!(read.sites[0].items, in_memory.sites[0].items);
/// assert_eq!(read.sites[0].table, in_memory.sites[0].table);
/// # Ok::<(), fedirt::Problems>(())
/// ```
pub use fedirt_data::{Column, Columns, Input, ReadOptions, Responses, SiteResponses, read};

/// ```
/// use fedirt::{Audience, Cause, Input, ReadOptions, read};
///
/// let text = "I1,I2\n0,x\n1,1\n";
/// let problems = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default()).expect_err("x is no code");
/// let problem = problems.iter().next().expect("a problem");
/// assert_eq!((problem.line, problem.column.as_deref()), (Some(2), Some("I2")));
/// assert!(!matches!(problem.cause, Cause::GapCodes { .. }));
/// assert!(problem.told(Audience::CommandLine).contains("--missing x"));
/// ```
pub use fedirt_data::{Audience, Cause, Note, Problem, Problems};

/// ```
/// use fedirt::{Input, ReadOptions, questions, read};
///
/// let text = "I1,I2\n0,1\n9,1\n1,0\n1,1\n0,0\n";
/// let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// // Is the 9 of item I1 an answer? Only the user knows.
/// assert!(questions(&responses, &[]).is_err());
/// assert!(questions(&responses, &["I1"]).is_ok());
/// # Ok::<(), fedirt::Problems>(())
/// ```
pub use fedirt_data::questions;

/// ```
/// use fedirt::{Bundle, Input, ReadOptions, read, with_bundles};
///
/// let text = "I1,I2,I3\n1,1,0\n0,1,1\n";
/// let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let bundles = Bundle::find(&responses, &[vec!["I1".into(), "I3".into()]])?;
/// let merged = with_bundles(&responses, &bundles, &[])?;
/// assert_eq!(merged.sites[0].items, ["I2", "I1+I3"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use fedirt_data::{Bundle, BundleError, with_bundles};

/// ```
/// use fedirt::{Input, LongColumns, ReadOptions, read, read_key, read_map};
///
/// let key = read_key(Input::new("key.csv", "item,key\nI1,B\nI2,A=2|C=1\n".as_bytes()))?;
/// assert_eq!(key[1].rule.code("c"), Some(1));
/// let renamed = read_map(Input::new("names.csv", "name,item\nQ1,I1\n".as_bytes()))?;
/// assert_eq!(renamed[0].item, "I1");
/// let long = Some(LongColumns { id: "who".into(), item: "task".into(), response: "chosen".into() });
/// let text = "who,task,chosen\na,Q1,B\na,I2,A\nb,Q1,C\nb,I2,D\n";
/// let options = ReadOptions { key, renamed, long, ..ReadOptions::default() };
/// let responses = read([Input::new("long.csv", text.as_bytes())], &options)?;
/// assert_eq!(responses.sites[0].table.row(0), [1, 2]);
/// assert_eq!(responses.sites[0].chosen[0].options, ["B", "C"]);
/// # Ok::<(), fedirt::Problems>(())
/// ```
pub use fedirt_data::{ChosenOptions, KeyedItem, LongColumns, Renamed, ScoringRule, read_key, read_map};

/// ```
/// use fedirt::{FitError, FitOptions, Input, ReadOptions, fit, read, read_codebook};
///
/// let codebook = read_codebook(Input::new("codebook.csv", "item,categories,model\nI1,2,2pl\nI2,3,grm\n".as_bytes()))?;
/// assert_eq!(codebook[1].model.as_deref(), Some("grm"));
/// let text = "I1,I2\n0,1\n1,7\n1,0\n";
/// let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// // The codebook does not declare the 7: an `ItemProblem` says so.
/// let refused = fit(&responses, &FitOptions { codebook: Some(codebook), ..FitOptions::default() });
/// assert!(matches!(refused, Err(FitError::Items(problems)) if problems.0.len() == 1));
/// # Ok::<(), fedirt::Problems>(())
/// ```
pub use fedirt_data::{CodebookItem, Errors, ItemProblem, read_codebook};

/// ```
/// use fedirt::{Input, Steps, read_fixed_items};
///
/// let fixed = read_fixed_items(Input::new("fixed.csv", "item,a,b\nI1,1.2,-0.5\n".as_bytes()))?;
/// assert_eq!((fixed[0].a, &fixed[0].steps), (1.2, &Steps::Difficulties(vec![-0.5])));
/// # Ok::<(), fedirt::Problems>(())
/// ```
pub use fedirt_data::{FixedItem, Steps, read_fixed_items};

/// ```
/// use fedirt::{Input, read_booklets};
///
/// let booklets = read_booklets(Input::new("booklets.csv", "booklet,item\nA,I1\nA,I2\nB,I2\nB,I3\n".as_bytes()))?;
/// assert_eq!((booklets[1].name.as_str(), booklets[1].items.len()), ("B", 2));
/// # Ok::<(), fedirt::Problems>(())
/// ```
pub use fedirt_data::{BookletItems, read_booklets};

/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// # let fit = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?.fit;
/// use fedirt::{ItemBank, Method, ScoreError, ScoreOptions, score};
///
/// let options = ScoreOptions { method: Method::Pv { draws: 3 }, seed: 7, ..ScoreOptions::default() };
/// let scores = score(&fit, &responses, &options)?;
/// let student = &scores.sites[0].students[0];
/// assert_eq!((student.answered, student.raw, student.draws.len()), (3, 2, 3));
/// assert!(scores.notes.is_empty());
/// // The items of a fit without any answers to score.
/// assert!(ItemBank::new(&fit).is_ok());
/// // Responses to other items cannot be scored: a `ScoreError` says why.
/// let other = read([Input::new("other.csv", "X1,X2\n0,1\n".as_bytes())], &ReadOptions::default())?;
/// let errors = score(&fit, &other, &options).expect_err("no item in common");
/// let _: &ScoreError = &errors.0[0];
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use fedirt_data::{
    ItemBank, PriorChoice, ReportScale, Rescaling, ScoreError, ScoreNote, ScoreOptions, Scores, SiteScores,
    StudentScore,
};

/// ```
/// use fedirt::simulation::{Missing, SiteEffects, SiteSizes, Spec};
/// use fedirt::{FitOptions, Likelihood, fit, log_likelihood, simulate};
///
/// let spec = Spec {
///     sites: 3, students: SiteSizes::Each(80), items: 6, model: "gpcm".into(), categories: 3,
///     effects: SiteEffects::Given(vec![-0.5, 0.0, 0.5]), missing: Missing::AtRandom(0.1), latent_sd: 1.0, seed: 1,
/// };
/// let responses = simulate(&spec)?.responses;
/// let fit = fit(&responses, &FitOptions { effects: Some(fedirt::Effects::None), ..FitOptions::default() })?.fit;
/// // Of the answers that were calibrated, it is the log-likelihood of the fit.
/// let Likelihood { loglik, students } = log_likelihood(&fit, &responses)?;
/// assert!((loglik - fit.loglik.expect("a plain fit")).abs() < 1e-8);
/// assert_eq!(students, fit.n);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use fedirt_data::{Likelihood, log_likelihood};

/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, compare, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// # let one = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?.fit;
/// let comparison = compare(&one, &one);
/// let pair = &comparison.items[0];
/// let [here, there] = pair.location.map(|value| value.expect("a difficulty"));
/// assert_eq!((pair.name.as_str(), here.z(there)), ("I1", Some(0.0)));
/// assert_eq!(comparison.far(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use fedirt_model::comparison::{
    Comparison, Drift, DriftLimits, ItemPair, ItemValue, LikelihoodRatio, Link, LinkError, LinkMethod,
    NotNested,
};

/// ```
/// use fedirt::{Input, ReadOptions, check, read};
///
/// let responses = read([Input::new("north.csv", "I1,I2\n0,1\n,1\n".as_bytes())], &ReadOptions::default())?;
/// let description = check(&responses);
/// assert_eq!((description.items[0].answered, description.items[0].missing), (1, 1));
/// # Ok::<(), fedirt::Problems>(())
/// ```
pub use fedirt_data::Description;

/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// # let calibration = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?;
/// use fedirt::results::{csv, fit_json, read_fit};
///
/// let json = fit_json(&calibration.fit)?;
/// assert_eq!(read_fit(json.as_bytes())?, calibration.fit);
/// let mut items = Vec::new();
/// csv::items(&mut items, &calibration.fit)?;
/// assert!(items.starts_with(b"item,model,categories,n,a,se_a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use fedirt_data::results;

/// ```
/// use fedirt::{AlgorithmKind, Effects, Family, FitOptions, GridSpec, Settings, Weighting};
///
/// let options = FitOptions {
///     effects: Some(Effects::Random),
///     settings: Settings { algorithm: AlgorithmKind::Em, max_rounds: 500, ..Settings::default() },
///     quadrature: GridSpec { nodes: 41, range: 5.0, weighting: Weighting::Density },
///     population: Family::Mixture { components: 2 },
///     ..FitOptions::default()
/// };
/// assert!(options.problems().is_empty());
/// ```
pub use fedirt_model::{
    centre::{AlgorithmKind, Settings},
    exchange::Effects,
    population::Family,
    quadrature::{GridSpec, Weighting},
};

/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let fit: fedirt::Fit =
///     fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?.fit;
/// assert_eq!((fit.n, fit.converged), (6, Some(true)));
/// assert!(fit.items[0].b[0] < fit.items[2].b[0], "item I3 is harder");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use fedirt_model::fit::Fit;

/// ```
/// use fedirt::{MissingAnswers, PrivateOptions};
///
/// let options = PrivateOptions { missing_answers: MissingAnswers::Wrong, ..PrivateOptions::default() };
/// assert_eq!(options.epsilon, 1.0);
/// ```
pub use fedirt_model::private::MissingAnswers;
/// ```
/// use fedirt::{PrivateMechanism, PrivateMethod, PrivateOptions};
///
/// let method = PrivateMethod { mechanism: PrivateMechanism::Score2, difficulty_sd: 1.0 };
/// let options = PrivateOptions { method, ..PrivateOptions::default() };
/// assert_eq!(PrivateOptions::default().method.mechanism, PrivateMechanism::Optimal);
/// # let _ = options;
/// ```
pub use fedirt_model::private::{PrivateMechanism, PrivateMethod};

pub use curves::{ItemCurves, curves};
/// ```
/// use fedirt::{Method, ScoreOptions};
///
/// let options = ScoreOptions { method: Method::Wle, ..ScoreOptions::default() };
/// assert_ne!(options.method, ScoreOptions::default().method);
/// ```
pub use fedirt_model::scoring::Method;
pub use fit::{BookletProblem, Calibration, FitError, FitNote, Prepared, fit, fit_with, prepare};
pub use groups::GroupProblem;
pub use options::{
    DiagnosticsWish, DifOptions, FitMode, FitOptions, OptionProblem, PAIRWISE_ITEMS, PrivateOptions,
};
pub use published::{GivenItem, PublishedGrid, PublishedLikelihood, PublishedProblem, published_likelihood};
pub use sensitivity::{Moved, Sensitivity, SensitivityTable, Variant, sensitivity};
pub use simulate::{Simulation, simulate};
pub use site_weights::{SiteWeights, UnknownSiteWeights};
pub use transcript::Transcript;

/// Describes the tables: rows, sites, items, codes, and remarkable findings.
///
/// ```
/// use fedirt::{Input, ReadOptions, check, read};
///
/// let text = "I1,I2\n0,1\n1,1\n";
/// let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let found = check(&responses);
/// assert_eq!(found.rows(), 2);
/// assert!(found.items[1].constant());
/// # Ok::<(), fedirt::Problems>(())
/// ```
pub fn check(responses: &Responses) -> Description {
    fedirt_data::describe(responses)
}

/// Scores students with the items of a fit. Items are matched by name, and so are the effects of sites.
///
/// ```
/// use fedirt::{FitOptions, Method, ScoreOptions, fit, score, simulate};
/// use fedirt::simulation::{Missing, SiteEffects, SiteSizes, Spec};
///
/// let spec = Spec {
///     sites: 1, students: SiteSizes::Each(60), items: 5, model: "2pl".into(), categories: 2,
///     effects: SiteEffects::Drawn { sd: 0.0, centred: true }, missing: Missing::Complete, latent_sd: 1.0, seed: 1,
/// };
/// let drawn = simulate(&spec)?;
/// let calibration = fit(&drawn.responses, &FitOptions::default())?;
/// let scores = score(&calibration.fit, &drawn.responses, &ScoreOptions { method: Method::Wle, ..ScoreOptions::default() })?;
/// assert_eq!(scores.sites[0].students.len(), 60);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn score(fit: &Fit, responses: &Responses, options: &ScoreOptions) -> Result<Scores, Errors<ScoreError>> {
    fedirt_data::score(fit, responses, options)
}

/// Compares two fits: items of the same name, with the differences of their parameters. The fits are not linked, so the numbers
/// are comparable only if both fits are on the same scale.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, compare, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let one = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?.fit;
/// let two = fit(&responses, &FitOptions { model: Some("1pl".into()), ..FitOptions::default() })?.fit;
/// let compared = compare(&one, &two);
/// assert_eq!(compared.items.len(), 3);
/// assert!(compared.correlation().is_some_and(|r| r > 0.9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare(first: &Fit, second: &Fit) -> Comparison {
    fedirt_model::comparison::compare(first, second)
}

/// The likelihood ratio of two fits to the same answers, where one model is a special case of the other; otherwise why there
/// is none.
///
/// ```
/// # use fedirt::{FitOptions, Input, NotNested, ReadOptions, fit, likelihood_ratio, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let model = |name: &str| FitOptions { model: Some(name.into()), ..FitOptions::default() };
/// let fixed_sd = fit(&responses, &model("rasch-sd1"))?.fit;
/// let rasch = fit(&responses, &model("rasch"))?.fit;
/// assert_eq!(likelihood_ratio(&fixed_sd, &rasch)?.df, 1);
/// // Two names of one model have as many parameters: there is nothing to test.
/// let one_slope = fit(&responses, &model("1pl"))?.fit;
/// assert_eq!(likelihood_ratio(&rasch, &one_slope), Err(NotNested::SameSize));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn likelihood_ratio(one: &Fit, other: &Fit) -> Result<LikelihoodRatio, NotNested> {
    fedirt_model::comparison::likelihood_ratio(one, other)
}

/// The line that turns the scale of `second` into that of `first`, from the items that have estimates in both; with it, which
/// items drift.
///
/// ```
/// # use fedirt::{DriftLimits, FitOptions, Input, LinkMethod, ReadOptions, fit, link, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let model = |name: &str| FitOptions { model: Some(name.into()), ..FitOptions::default() };
/// let (rasch, one_slope) = (fit(&responses, &model("rasch"))?.fit, fit(&responses, &model("1pl"))?.fit);
/// // Both are one model; a unit of the second scale is an SD of ability, of the first a logit.
/// let found = link(&rasch, &one_slope, LinkMethod::StockingLord, DriftLimits::default())?;
/// assert!((found.slope - rasch.latent.sd).abs() < 1e-3 && found.intercept.abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn link(first: &Fit, second: &Fit, method: LinkMethod, limits: DriftLimits) -> Result<Link, LinkError> {
    fedirt_model::comparison::link(first, second, method, limits)
}

/// The pictures of a fit, one function each.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let fit = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?.fit;
/// let picture = fedirt::figures::test_information(&fit);
/// assert!(picture.standalone().starts_with("<svg"));
/// // What cannot be drawn says why.
/// assert!(fedirt::figures::site_effects(&fit).missing.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "report")]
pub use fedirt_figures as figures;

/// The report on a fit as one self-contained HTML page: tables, curves and warnings.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, fit, read, report};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let calibration = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?;
/// assert!(report(&calibration.fit).starts_with("<!doctype html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "report")]
pub fn report(fit: &Fit) -> String {
    fedirt_figures::report(fit)
}

/// What [`simulate()`] takes and gives.
///
/// ```
/// use fedirt::simulation::{Missing, SiteEffects, SiteSizes, Spec, SpecError, TrueItem, TrueSite, Truth};
///
/// let spec = Spec {
///     sites: 2, students: "30-40".parse::<SiteSizes>()?, items: 4, model: "gpcm".into(), categories: 3,
///     effects: SiteEffects::Given(vec![-0.5, 0.5]), missing: Missing::Booklets(2), latent_sd: 1.0, seed: 1,
/// };
/// let truth: Truth = fedirt::simulate(&spec)?.truth;
/// let (item, site): (&TrueItem, &TrueSite) = (&truth.items[0], &truth.sites[1]);
/// assert_eq!((item.b.len(), site.effect), (2, 0.5));
/// let refused = fedirt::simulate(&Spec { sites: 0, ..spec });
/// assert_eq!(refused.err(), Some(SpecError::None("site")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod simulation {
    pub use fedirt_model::simulate::{
        Missing, SiteEffects, SiteSizes, Spec, SpecError, TrueItem, TrueSite, Truth,
    };
}
