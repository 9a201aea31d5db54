//! What the bindings for Python and R share: options as JSON, results as JSON and columns, errors as values with fields, and work
//! that is watched from the thread that called it. No statistics: all numbers and sentences come from the library `fedirt`.
//!
//! ```
//! use fedirt::{Column, Columns, Input};
//! use fedirt_bindings::{Options, Tables, Unwatched, calibrate, fit_table};
//!
//! let columns = [("I1", [1, 0, 1, 1, 0, 0]), ("I2", [1, 1, 0, 1, 0, 1]), ("I3", [0, 0, 0, 1, 0, 1])];
//! let table: Columns = columns.into_iter().map(|(name, codes)| (name, Column::from_iter(codes))).collect();
//! let options = Options::from_json(r#"{"model": "rasch"}"#)?;
//! let calibration = calibrate(vec![Input::columns("table", table)], Tables::default(), &options, &mut Unwatched)?;
//! let items = fit_table(&calibration.fit, "items").expect("every fit has items");
//! assert_eq!(items.columns[0].0, "item");
//!
//! // What is wrong is a value with fields.
//! let options = Options::from_json(r#"{"nodes": "many"}"#)?;
//! let table: Columns = columns.into_iter().map(|(name, codes)| (name, Column::from_iter(codes))).collect();
//! let failure = calibrate(vec![Input::columns("table", table)], Tables::default(), &options, &mut Unwatched).unwrap_err();
//! assert_eq!(failure.problems[0].option.as_deref(), Some("nodes"));
//! # Ok::<(), fedirt_bindings::Failure>(())
//! ```

mod comparison;
mod failure;
mod frame;
mod options;
mod pictures;
mod plan;
mod rules;
mod run;
mod sensitivity;
mod simulated;
mod watched;

pub use comparison::{compared, compared_picture};
pub use failure::{Failure, Found, Kind, guarded, quiet_panics};
pub use fedirt_model::fit::TraceEntry;
pub use frame::{
    Cells, Frame, TABLES, check_tables, covariance, curves_table, fit_table, scores_frame, summary_text,
};
pub use options::{Fields, OptionProblem, Options};
pub use pictures::{PICTURES, picture};
pub use plan::planned;
pub use run::{Tables, calibrate, checked, fit_of, likelihood, reading, scored, scored_again};
pub use sensitivity::{Varied, sensitivity};
pub use simulated::{Simulated, redrawn, simulated};
pub use watched::{Unwatched, Watcher, watched};
