//! How often each text stands in each column of a table, before anybody has said what the columns are.

use crate::input::Input;
use crate::opened::{complain, open};
use crate::problems::{Complaints, Problems};
use std::collections::BTreeMap;

/// Columns with more different texts than this hold no answers of a test: names, ids, times.
const MOST_TEXTS: usize = 150;

/// The texts of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnValues {
    /// The column.
    pub column: String,
    /// Each text without the spaces around it and how often it occurs, in the order of the texts; empty cells are not counted.
    pub texts: Vec<(String, u64)>,
    /// Whether there are so many different texts that not all of them are listed.
    pub many: bool,
}

/// The texts of every column of a table with a row for each student.
///
/// ```
/// let input = fedirt_data::Input::new("a.csv", "I1,I2\nA,9\nB,\nA,1\n".as_bytes());
/// let values = fedirt_data::column_values(input)?;
/// assert_eq!(values[0].texts, [("A".to_owned(), 2), ("B".to_owned(), 1)]);
/// assert_eq!(values[1].texts.len(), 2);
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
pub fn column_values(input: Input<'_>) -> Result<Vec<ColumnValues>, Problems> {
    let mut problems = Problems::default();
    let file = input.name.clone();
    let complaints = &mut Complaints { file: &file, problems: &mut problems };
    let Some(mut opened) = open(input, complaints) else { return problems.unless_empty(Vec::new()) };
    let mut counts: Vec<(BTreeMap<Vec<u8>, u64>, bool)> = vec![Default::default(); opened.names.len()];
    loop {
        let fields = match opened.records.next() {
            Ok(Some(fields)) => fields,
            Ok(None) => break,
            Err(failure) => {
                complain(failure, complaints);
                break;
            }
        };
        for (column, (texts, many)) in counts.iter_mut().enumerate() {
            if *many || column >= fields.len() {
                continue;
            }
            let cell = fields.get(column).trim_ascii();
            if let Some(count) = texts.get_mut(cell) {
                *count += 1;
            } else if texts.len() == MOST_TEXTS {
                *many = true;
            } else if !cell.is_empty() {
                texts.insert(cell.to_vec(), 1);
            }
        }
    }
    let columns = opened.names.into_iter().zip(counts).map(|(column, (texts, many))| ColumnValues {
        column,
        texts: texts.into_iter().map(|(text, n)| (String::from_utf8_lossy(&text).into_owned(), n)).collect(),
        many,
    });
    problems.unless_empty(columns.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_counted_and_columns_of_names_are_cut_off() {
        let mut text = String::from("id;I1;I2\n");
        (0..400).for_each(|n| text.push_str(&format!("s{n}; {} ;\n", n % 2)));
        let values = column_values(Input::new("a.csv", text.as_bytes())).unwrap();
        assert!(values[0].many && values[0].texts.len() == MOST_TEXTS);
        assert_eq!(values[1].texts, [("0".to_owned(), 200), ("1".to_owned(), 200)]);
        assert!(values[2].texts.is_empty() && !values[2].many);
        assert!(column_values(Input::new("a.csv", "a,b\n\"open".as_bytes())).is_err());
    }
}
