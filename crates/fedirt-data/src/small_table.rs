//! Small CSV files about items: read whole, all texts, with the line of each row.

use crate::cause::Cause;
use crate::cells::number;
use crate::input::Input;
use crate::near::near_names;
use crate::opened::{complain, complain_about_bytes, open};
use crate::problems::{Complaints, Problems};
use crate::text::shown;

/// Most rows that a file about items may have: beyond it, somebody gave a response file.
const MOST_ROWS: usize = 1_000_000;

/// A small CSV file.
pub(crate) struct SmallTable {
    pub(crate) names: Vec<String>,
    pub(crate) header_line: Option<u64>,
    pub(crate) rows: Vec<Row>,
}

/// A row with the line on which it starts.
pub(crate) struct Row {
    pub(crate) line: u64,
    cells: Vec<String>,
}

impl Row {
    /// The text of a cell; `None` for an empty one, `NA` or `.`.
    pub(crate) fn get(&self, column: Option<usize>) -> Option<&str> {
        let cell = self.cells.get(column?)?.as_str();
        (!matches!(cell, "" | "NA" | ".")).then_some(cell)
    }

    /// The text of a cell as it is: something may be called `NA`.
    pub(crate) fn text(&self, column: Option<usize>) -> &str {
        column.and_then(|column| self.cells.get(column)).map(String::as_str).unwrap_or_default()
    }

    /// The parts of a cell between bars.
    pub(crate) fn list(&self, column: Option<usize>) -> Vec<String> {
        let text = self.get(column).unwrap_or_default();
        text.split('|').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }
}

impl SmallTable {
    /// Reads the file, and makes of it what `make` does.
    pub(crate) fn read<T>(
        input: Input<'_>,
        make: impl FnOnce(&SmallTable, &mut Complaints<'_>) -> Vec<T>,
    ) -> Result<Vec<T>, Problems> {
        let mut problems = Problems::default();
        let file = input.name.clone();
        let mut complaints = Complaints { file: &file, problems: &mut problems };
        let made = Self::rows(input, &mut complaints).map(|table| make(&table, &mut complaints));
        problems.unless_empty(made.unwrap_or_default())
    }

    fn rows(input: Input<'_>, complaints: &mut Complaints<'_>) -> Option<Self> {
        let mut opened = open(input, complaints)?;
        let mut rows = Vec::new();
        let mut refused = false;
        while rows.len() < MOST_ROWS {
            match opened.records.next() {
                Ok(None) => break,
                Ok(Some(fields)) if complain_about_bytes(&fields, None, complaints) => refused = true,
                Ok(Some(fields)) if fields.len() != opened.names.len() => {
                    let (expected, found) = (opened.names.len(), fields.len());
                    complaints.line(fields.line, Cause::FieldCount { expected, found });
                    refused = true;
                }
                Ok(Some(fields)) => {
                    let cell = |column| String::from_utf8_lossy(fields.get(column)).trim().to_string();
                    rows.push(Row { line: fields.line, cells: (0..fields.len()).map(cell).collect() });
                }
                Err(failure) => {
                    complain(failure, complaints);
                    refused = true;
                    break;
                }
            }
        }
        if rows.is_empty() && !refused {
            complaints.file(Cause::NoRows);
        }
        Some(Self { names: opened.names, header_line: opened.header_line, rows })
    }

    /// The position of a column, in any case.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other.eq_ignore_ascii_case(name))
    }

    /// The same, complaining about a column that is not there.
    pub(crate) fn needed(&self, name: &'static str, complaints: &mut Complaints<'_>) -> Option<usize> {
        let column = self.column(name);
        if column.is_none() {
            let near = near_names(name, self.names.iter().map(String::as_str));
            complaints.line(self.header_line, Cause::MissingColumn { name, near });
        }
        column
    }

    /// Rows with the item that each is about; complains about items without a name or given twice.
    pub(crate) fn items(&self, complaints: &mut Complaints<'_>) -> Vec<(&Row, &str)> {
        let Some(column) = self.needed("item", complaints) else { return Vec::new() };
        let mut first = std::collections::HashMap::new();
        let mut out = Vec::new();
        for row in &self.rows {
            let item = row.text(Some(column));
            if item.is_empty() {
                complaints.line(row.line, Cause::EmptyItem);
                continue;
            }
            let first_line = *first.entry(item).or_insert(row.line);
            if first_line != row.line {
                let item = shown(item.as_bytes());
                complaints.line(row.line, Cause::DuplicateItem { item, first_line });
            }
            out.push((row, item));
        }
        out
    }

    /// The model of a row, if it names one; complains about a name that is none.
    pub(crate) fn model(
        &self,
        row: &Row,
        column: Option<usize>,
        complaints: &mut Complaints<'_>,
    ) -> Option<String> {
        let name = row.get(column)?.to_ascii_lowercase();
        if fedirt_model::items::model(&name).is_none() {
            complaints.cell(row.line, "model", Cause::UnknownModel(shown(name.as_bytes())));
        }
        Some(name)
    }

    /// The number in a cell, if there is one; complains about anything else.
    pub(crate) fn number(
        &self,
        row: &Row,
        column: Option<usize>,
        complaints: &mut Complaints<'_>,
    ) -> Option<f64> {
        let text = row.get(column)?;
        let value = number(text).filter(|value| value.is_finite());
        if value.is_none() {
            let name =
                column.and_then(|column| self.names.get(column)).map(String::as_str).unwrap_or_default();
            complaints.cell(row.line, name, Cause::BadNumber(shown(text.as_bytes())));
        }
        value
    }
}
