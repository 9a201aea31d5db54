//! Response tables: from bytes to tables, and from tables to the answers that a calibration needs.
//!
//! [`read`] turns inputs, which may be any bytes ([`Input`]), into one
//! [`ResponseTable`](fedirt_model::responses::ResponseTable) per site, or into [`Problems`]: everything that is wrong, at
//! once, each with file, line, column, value and remedy. [`describe`] says what was read. [`read_codebook`],
//! [`read_fixed_items`] and [`read_booklets`] read the small files that may stand beside the answers.
//!
//! A row's way through the crate: `records` (lines and fields) → `header` (what each column is) → `wide` or
//! `long` (cells through `cells`, where a cell becomes a code, and `tally`) → `assemble` (one table per site).
//! [`questions`] asks about what can be read and is perhaps no answer, such as the 9 in 0, 1, 9.
//!
//! Nothing here needs files, clocks or threads. The feature `files` (on by default) adds `Input::file`, which opens a path.
//! What is wrong is data ([`Cause`]); sentences are made of it for an [`Audience`].

mod assemble;
mod audience;
mod booklets;
mod bundles;
mod cause;
mod cause_value;
mod cells;
mod chosen;
mod classical;
mod codebook;
mod codebook_text;
mod collapse;
mod column_values;
mod columns;
mod decode;
mod describe;
mod describe_text;
mod errors;
mod file_facts;
mod file_rows;
#[cfg(feature = "files")]
pub mod files;
mod fixed_items;
mod header;
mod input;
mod item_names;
mod item_plan;
mod item_problem;
mod key;
mod likelihood;
mod long;
mod long_file;
mod moments;
mod near;
mod not_items;
mod notes;
mod opened;
mod options;
mod options_asked;
#[cfg(feature = "parquet")]
mod parquet_file;
mod problems;
mod proposals;
mod questions;
mod rare_codes;
mod readers;
mod reading;
mod records;
mod remedy;
pub mod results;
mod row_keys;
#[cfg(feature = "spss")]
mod sav;
mod scores;
mod scoring_rule;
mod selection;
mod small_table;
#[cfg(feature = "spreadsheets")]
mod spreadsheet;
mod tally;
pub mod text;
mod undeclared;
mod wide;

pub use audience::{Audience, ReadOption};
pub use booklets::{BookletItems, read_booklets};
pub use bundles::{Bundle, BundleError, with_bundles};
pub use cause::Cause;
pub use chosen::ChosenOptions;
pub use classical::{ClassicalItem, option_summaries};
pub use codebook::{CodebookItem, read_codebook};
pub use codebook_text::codebook_of;
pub use collapse::{Collapse, MergedCategories};
pub use column_values::{ColumnValues, column_values};
pub use columns::{Column, Columns};
pub use describe::{Description, FileSummary, ItemSummary, SiteSummary, describe};
pub use errors::Errors;
pub use fedirt_model::code_set::{HIGHEST_CODE, MergedCode};
pub use fedirt_model::fit::OptionSummary;
pub use file_facts::ColumnMissing;
pub use fixed_items::{FixedItem, Steps, read_fixed_items};
pub use input::Input;
pub use item_names::{Renamed, read_map};
pub use item_plan::{CodeSource, ItemOptions, align, plan_items, with_merged};
pub use item_problem::{CategorySource, ItemProblem};
pub use key::{KeyedItem, read_key};
pub use likelihood::{Likelihood, log_likelihood};
pub use near::near_names;
pub use notes::{Note, NoteKind};
pub use opened::column_names;
pub use options::{LongColumns, ReadOptions};
pub use problems::{Problem, ProblemGroup, Problems};
pub use proposals::{Likeness, Proposal, propose};
pub use questions::questions;
pub use readers::Readers;
pub use reading::{Responses, SiteResponses, Source, read};
pub use scores::{
    ItemBank, PriorChoice, ReportScale, Rescaling, ScoreError, ScoreNote, ScoreOptions, Scores, SiteScores,
    StudentScore, score,
};
pub use scoring_rule::ScoringRule;
pub use text::Lines;
pub use undeclared::{UndeclaredCode, undeclared_codes};
