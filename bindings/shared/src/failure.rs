//! What went wrong, as a value that every language can turn into its own kind of error.

use crate::options::OptionProblem;
use fedirt::simulation::SpecError;
use fedirt::{
    Audience, BookletProblem, BundleError, Errors, FitError, ItemProblem, Problem, Problems, ScoreError,
};
use serde::Serialize;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something about the answers, or a question about them.
    Data,
    /// An option.
    Option,
    /// The calibration, or what was asked of its result.
    Calibration,
    /// Whoever watched wanted to stop.
    Stopped,
    /// A fault of fedirt itself.
    Internal,
}

/// What went wrong: all of it, not only the first thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// What kind of thing.
    pub kind: Kind,
    /// Everything in words.
    pub message: String,
    /// One by one. Of many problems of one kind with one table, the first ten.
    pub problems: Vec<Found>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Found {
    /// The file or table.
    pub file: Option<String>,
    /// The line of a file or the row of a table, counted from 1.
    pub line: Option<u64>,
    /// The column, or the item.
    pub column: Option<String>,
    /// The option.
    pub option: Option<String>,
    /// The value that is at fault.
    pub value: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What would help.
    pub remedy: Option<String>,
}

/// Whom the sentences are for: somebody who calls a library.
pub(crate) const READER: Audience = Audience::Library;

impl Failure {
    /// A failure without details.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), problems: Vec::new() }
    }

    /// A failure whose message is that of its problems, a line each.
    pub(crate) fn of(kind: Kind, problems: Vec<Found>) -> Self {
        let messages: Vec<&str> = problems.iter().map(|found| found.message.as_str()).collect();
        Self { kind, message: messages.join("\n"), problems }
    }

    fn of_errors<E>(kind: Kind, errors: Errors<E>, found: impl Fn(&E) -> Found) -> Self {
        Self::of(kind, errors.0.iter().map(found).collect())
    }

    /// The same as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<&Problem> for Found {
    fn from(problem: &Problem) -> Self {
        Self {
            file: problem.file.clone(),
            line: problem.line,
            column: problem.column.clone(),
            option: None,
            value: problem.cause.value().map(str::to_owned),
            message: problem.cause.told(READER),
            remedy: Some(problem.remedy(READER)),
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        let found = problems.iter().map(Found::from).collect();
        Self { kind: Kind::Data, message: problems.told(READER), problems: found }
    }
}

impl From<Errors<OptionProblem>> for Failure {
    fn from(errors: Errors<OptionProblem>) -> Self {
        Self::of_errors(Kind::Option, errors, OptionProblem::found)
    }
}

impl From<Errors<ScoreError>> for Failure {
    fn from(errors: Errors<ScoreError>) -> Self {
        Self::of_errors(Kind::Data, errors, |error| {
            let column = match error {
                ScoreError::DamagedItem { item, .. }
                | ScoreError::UnknownModel { item, .. }
                | ScoreError::Parameters(item)
                | ScoreError::UnknownCode { item, .. } => Some(item.clone()),
                ScoreError::Bundle(
                    BundleError::UnknownCode { item, .. }
                    | BundleError::NoSuchItem { item, .. }
                    | BundleError::Twice { item, .. },
                ) => Some(item.clone()),
                ScoreError::Bundle(BundleError::TooSmall(_) | BundleError::TooManyCategories { .. })
                | ScoreError::Population(_)
                | ScoreError::TooManyNodes(_)
                | ScoreError::NoItems(_)
                | ScoreError::SiteEffect(_)
                | ScoreError::Scoring(_) => None,
            };
            let code = if let ScoreError::UnknownCode { code, .. } = error { Some(code) } else { None };
            let value = code.map(u8::to_string);
            Found { column, value, message: error.told(READER), ..Found::default() }
        })
    }
}

/// The item that a problem is about.
fn item(problem: &ItemProblem) -> Option<&str> {
    match problem {
        ItemProblem::NotInCodebook(item)
        | ItemProblem::CollapseFromAnswers(item)
        | ItemProblem::CollapseFixed(item)
        | ItemProblem::CollapseUnordered(item)
        | ItemProblem::CollapseOthers { item, .. }
        | ItemProblem::NoSuchItem { item, .. }
        | ItemProblem::UnknownModel { item, .. }
        | ItemProblem::FixedModel { item, .. }
        | ItemProblem::CategoriesDiffer { item, .. }
        | ItemProblem::CodesOutside { item, .. }
        | ItemProblem::UndeclaredCategories { item, .. } => Some(item),
        ItemProblem::UndeclaredCode(found) => Some(&found.item),
        ItemProblem::NoFixedItem(_) | ItemProblem::LongWithoutCodebook => None,
    }
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Self {
        let told = |message: String| Found { message, ..Found::default() };
        match error {
            FitError::Options(errors) => {
                Self::of_errors(Kind::Option, errors, |problem| told(problem.told(READER)))
            }
            FitError::Questions(problems) => problems.into(),
            FitError::Items(errors) => Self::of_errors(Kind::Data, errors, |problem| {
                let column = item(problem).map(str::to_owned);
                Found { column, ..told(problem.told(READER)) }
            }),
            FitError::Booklets(errors) => {
                Self::of_errors(Kind::Option, errors, |problem: &BookletProblem| Found {
                    option: Some("booklets".to_owned()),
                    ..told(problem.to_string())
                })
            }
            FitError::PrivateWeights => {
                let option = Some("weight".to_owned());
                Self::of(Kind::Option, vec![Found { option, ..told(FitError::PrivateWeights.to_string()) }])
            }
            FitError::Run(fedirt_protocol::in_process::RunError::Stopped) => {
                Self::new(Kind::Stopped, error.to_string())
            }
            // The others are about the calibration as a whole.
            _ => Self::new(Kind::Calibration, error.to_string()),
        }
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        Self::new(Kind::Option, error.to_string())
    }
}

/// Calls `work`. A panic becomes a [`Failure`], because none may cross into another language.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(panic)))
}

/// Where the last panic was.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// From now on a panic prints nothing: it becomes a failure that tells its words and its place. For the modules of other languages,
/// which call this when they are loaded.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// The failure that a panic is.
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Failure {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    Failure::new(Kind::Internal, format!("this is a fault of fedirt, please report it: {words}{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_with_its_words() {
        let failure = guarded::<()>(|| panic!("index {}", 7)).unwrap_err();
        assert_eq!(failure.kind, Kind::Internal);
        assert!(failure.message.ends_with("index 7"), "{failure}");
        assert!(guarded::<()>(|| panic!("plain")).unwrap_err().message.ends_with("plain"));
    }
}
