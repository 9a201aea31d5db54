//! A site: its response files, what is in them and what is wrong with them; its [`agent`], and the officer's [`pages`].
//!
//! [`read`] turns files into one [`ResponseTable`](fedirt_model::responses::ResponseTable) per site, or into
//! [`Problems`]: everything that is wrong, at once, each with file, line, column, value and remedy.
//! [`describe`] says what was read. [`read_codebook`] and [`read_fixed_items`] read the two small files that
//! may stand beside the answers.
//!
//! A row's way through the crate: `records` (lines and fields) → `header` (what each column is) → `wide` or
//! `long` (cells through `cells` and `tally`) → `assemble` (one table per site).

pub mod agent;
mod assemble;
mod booklets;
mod cause;
mod cells;
mod codebook;
mod describe;
mod describe_text;
mod file_rows;
mod fixed_items;
mod header;
mod long;
mod near;
mod notes;
mod open;
mod options;
pub mod pages;
mod problems;
mod reading;
mod records;
mod remedy;
mod row_keys;
mod small_table;
mod strange_codes;
mod tally;
mod text;
mod wide;

pub use booklets::{BookletItems, read_booklets};
pub use cause::Cause;
pub use codebook::{CodebookItem, read_codebook};
pub use describe::{Description, FileSummary, ItemSummary, SiteSummary, describe};
pub use fixed_items::{FixedItem, Steps, read_fixed_items};
pub use notes::{Note, NoteKind};
pub use options::ReadOptions;
pub use problems::{Problem, ProblemGroup, Problems};
pub use reading::{Reading, SiteResponses, Source, read};
pub use strange_codes::{StrangeCode, strange_codes};
pub use text::Lines;

/// The largest category code that is read: higher numbers are ids, ages or years, not scores.
pub const HIGHEST_CODE: u8 = 63;
