//! The files of a result: `fit.json`, tables as CSV with every digit, and a workbook.

pub mod csv;
mod json;
mod repeat;
pub mod tables;
mod tables_json;
#[cfg(feature = "workbooks")]
mod xlsx;

pub use json::{NotAFit, fit_json, read_fit};
pub use repeat::{shell_line, shell_quoted};
pub use tables_json::{check_json, scores_json};
#[cfg(feature = "workbooks")]
pub use xlsx::{WorkbookError, workbook};

use crate::text::listed;
use fedirt_model::fit::{FitItem, Warning};

/// A statement of how codes became categories, where they were not 0, 1, 2, … already.
pub fn recoded(items: &[FitItem]) -> Option<Warning> {
    let recoded: Vec<&FitItem> = items
        .iter()
        .filter(|i| i.codes.iter().enumerate().any(|(c, code)| c != usize::from(*code)))
        .collect();
    if recoded.is_empty() {
        return None;
    }
    let codes = |item: &FitItem| item.codes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    let same = recoded.iter().all(|item| item.codes == recoded[0].codes);
    let mut message = String::from("codes are read as categories 0, 1, … from the lowest up: ");
    if same {
        let names: Vec<&str> = recoded.iter().map(|item| item.name.as_str()).collect();
        message.push_str(&format!("codes {} of {}", codes(recoded[0]), listed(&names)));
    } else {
        let each: Vec<String> =
            recoded.iter().map(|item| format!("{} (codes {})", item.name, codes(item))).collect();
        message.push_str(&listed(&each));
    }
    Some(Warning { code: "recoded".to_owned(), message })
}
