//! Codebooks: what items there are, and how many categories each has.

use crate::HIGHEST_CODE;
use crate::cause::Cause;
use crate::input::Input;
use crate::problems::Problems;
use crate::small_table::SmallTable;
use crate::text::shown;

/// An item as a codebook has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodebookItem {
    /// The item's name.
    pub name: String,
    /// Its model, if the codebook says; a name that `fedirt_model::items::model` knows.
    pub model: Option<String>,
    /// Its category codes, if the codebook says how many there are: 0, 1, …, or from the lowest that it names.
    pub categories: Option<Vec<u8>>,
}

/// Reads a codebook: a CSV file with the column `item` and, if wanted, `model`, `categories` (their number) and
/// `lowest` (the lowest code, 0 unless told otherwise).
///
/// Other columns are not looked at.
pub fn read_codebook(input: Input<'_>) -> Result<Vec<CodebookItem>, Problems> {
    SmallTable::read(input, |table, complaints| {
        let (model, categories) = (table.column("model"), table.column("categories"));
        let lowest = table.column("lowest");
        let items = table.items(complaints);
        items
            .into_iter()
            .map(|(row, name)| {
                let model = table.model(row, model, complaints);
                let categories = row.get(categories).and_then(|text| {
                    let first = match row.get(lowest) {
                        None => 0,
                        Some(text) => match text.parse::<u8>() {
                            Ok(first) if first < HIGHEST_CODE => first,
                            _ => {
                                let cause = Cause::BadLowestCode(shown(text.as_bytes()));
                                complaints.cell(row.line, "lowest", cause);
                                return None;
                            }
                        },
                    };
                    let most = HIGHEST_CODE + 1 - first;
                    let count = text.parse::<u8>().ok().filter(|count| (2..=most).contains(count));
                    if count.is_none() {
                        let cause = Cause::BadCategoryCount(shown(text.as_bytes()));
                        complaints.cell(row.line, "categories", cause);
                    }
                    count.map(|count| (first..first + count).collect())
                });
                CodebookItem { name: name.to_string(), model, categories }
            })
            .collect()
    })
}
