//! fedirt as a library: calibrate tests across sites without pooling answers. Tables and values in, values out; nothing
//! here prints, and no file is needed.
//!
//! | what | how |
//! | --- | --- |
//! | response tables | [`read`] any bytes, or [`Responses::from_columns`] from memory |
//! | what is in them | [`check()`] |
//! | what in them may be no answer | [`questions()`] |
//! | a calibration | [`fit()`] with [`FitOptions`]: `plain`, `secure` or `private` |
//! | scores of students | [`score()`] |
//! | two fits side by side | [`compare()`] |
//! | data with known parameters | [`simulate()`] |
//! | what a private study can expect | [`privacy::plan`] |
//! | a page about a fit | `report`, with the feature of that name |
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
//! pictures. Without default features there is neither web server nor store, TLS or picture in the tree of dependencies.

mod fit;
mod options;
pub mod privacy;
mod simulate;
mod transcript;

pub use fedirt_data::{
    Audience, BookletItems, Cause, CodebookItem, Comparison, Description, Errors, FixedItem, Input, ItemBank,
    ItemPair, ItemProblem, ItemValue, Note, Problem, Problems, ReadOptions, ResponseColumns, Responses,
    ScoreError, ScoreNote, ScoreOptions, Scores, Settled, SiteResponses, SiteScores, Steps, StudentScore,
    questions, read, read_booklets, read_codebook, read_fixed_items, results,
};
pub use fedirt_model::centre::{AlgorithmKind, Settings};
pub use fedirt_model::exchange::Effects;
pub use fedirt_model::fit::Fit;
pub use fedirt_model::private::MissingAnswers;
pub use fedirt_model::quadrature::{GridSpec, Weighting};
pub use fedirt_model::scoring::Method;
pub use fit::{BookletProblem, Calibration, FitError, FitNote, Prepared, fit, fit_with, prepare};
pub use options::{FitMode, FitOptions, OptionProblem, PrivateOptions};
pub use simulate::{Simulation, simulate};
pub use transcript::Transcript;

/// What is in the tables: rows, sites, items, codes, and what deserves a look.
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

/// Two fits side by side: items of the same name, and how far apart they are. Nothing is linked: numbers are comparable
/// where both fits are on one scale.
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
    fedirt_data::compare(first, second)
}

/// A page about a fit (HTML): tables, curves and what a reader should know. It holds everything that it needs.
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
pub mod simulation {
    pub use fedirt_model::simulate::{
        Missing, SiteEffects, SiteSizes, Spec, SpecError, TrueItem, TrueSite, Truth,
    };
}
