//! Command lines that cannot be carried out, as data; the sentence is made when the error is printed.

use crate::args::AlgorithmArg;
use fedirt_protocol::plan::PlanError;
use std::error::Error;
use std::path::PathBuf;

/// Why a command line cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    /// A flag's value is out of range.
    #[error("{flag} {value}: {needed}")]
    Value {
        /// The flag.
        flag: &'static str,
        /// What was given.
        value: String,
        /// What is needed instead.
        needed: &'static str,
    },
    /// A list has another length than there are sites.
    #[error("{flag}: {given} numbers are given for {sites} sites")]
    Count {
        /// The flag.
        flag: &'static str,
        /// Length of the list.
        given: usize,
        /// Number of sites.
        sites: usize,
    },
    /// A library refuses a flag's value.
    #[error("{flag} {value}: {error}")]
    Refused {
        /// The flag.
        flag: &'static str,
        /// What was given.
        value: String,
        /// Why it is refused.
        error: Box<dyn Error + Send + Sync>,
    },
    /// A flag that is required here is absent.
    #[error("{flag} is needed: {reason}")]
    Missing {
        /// The flag.
        flag: &'static str,
        /// What it is needed for.
        reason: &'static str,
    },
    /// A flag contradicts other flags.
    #[error("{flag}: {reason}")]
    Excluded {
        /// The flag, with its value where that matters.
        flag: &'static str,
        /// What contradicts it.
        reason: &'static str,
    },
    /// A flag has no effect without another one.
    #[error("{flag} is used with {with} only")]
    OnlyWith {
        /// The flag.
        flag: &'static str,
        /// What uses it.
        with: &'static str,
    },
    /// The chosen algorithm does not use a flag.
    #[error(
        "{flag} is used by {} only, and the algorithm is {}",
        .users.iter().map(|user| format!("--algorithm {}", user.name())).collect::<Vec<_>>().join(" and "),
        .chosen.name()
    )]
    Unused {
        /// The flag.
        flag: &'static str,
        /// The algorithms that use it.
        users: &'static [AlgorithmArg],
        /// The algorithm that was chosen.
        chosen: AlgorithmArg,
    },
    /// The output folder is there already.
    #[error("{} exists already; choose another --out", .0.display())]
    Exists(PathBuf),
    /// The flags do not make a plan.
    #[error("with these flags {0}")]
    Plan(PlanError),
    /// A private plan cannot take categories from answers.
    #[error(
        "item {item}: the file has codes beyond 0 and 1, and a private plan takes categories from --codebook FILE.csv (item, categories), never from answers"
    )]
    CategoriesFromAnswers {
        /// The item.
        item: String,
    },
    /// Item parameters that are no guess for a private study.
    #[error("--guess {}: {problem}", .path.display())]
    Guess {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: GuessProblem,
    },
    /// Nobody can be asked, and the flag that stands for an answer is absent.
    #[error(
        "nobody can be asked here (this is no terminal): read what is printed above, and give --yes to approve it"
    )]
    NobodyToAsk,
    /// Something else is where a socket is to be.
    #[cfg(unix)]
    #[error("{}: there is {what} here already. Name another place with --socket", .path.display())]
    SocketTaken {
        /// What is there.
        what: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// The officer did not approve.
    #[error("not approved; nothing was sent")]
    NotApproved,
    /// The site's policy refuses the plan.
    #[error("nothing was sent. Change policy.toml if the officer agrees, or ask for another plan")]
    PolicyRefuses,
}

impl UsageError {
    /// A flag's value that is out of range.
    pub(crate) fn value(flag: &'static str, value: impl ToString, needed: &'static str) -> Self {
        Self::Value { flag, value: value.to_string(), needed }
    }

    /// A flag's value that a library refuses.
    pub(crate) fn refused(
        flag: &'static str,
        value: impl ToString,
        error: impl Error + Send + Sync + 'static,
    ) -> Self {
        Self::Refused { flag, value: value.to_string(), error: Box::new(error) }
    }
}

/// Why item parameters are no guess for a private study.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum GuessProblem {
    /// The file is empty.
    #[error("there are no items in it")]
    NoItems,
    /// No item model has this name.
    #[error("item {item}: there is no model {model}")]
    UnknownModel { item: String, model: String },
    /// Private fits need a model with a single slope.
    #[error("item {item}: private fits do not support the model {model}")]
    UnsupportedModel { item: String, model: String },
    /// The slope is not positive.
    #[error("item {item} has the slope {slope}; a positive one is needed")]
    Slope { item: String, slope: f64 },
}
