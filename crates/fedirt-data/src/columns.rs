//! Tables in memory, column by column, as data frames have them. They are read by the rules of files: a row becomes a record
//! of texts when its turn comes, so that options, questions and complaints are the same.

use crate::cause::Cause;
use crate::problems::Complaints;
use crate::records::{Failure, Fields, Rows};
use crate::text::Lines;

/// A table in memory. Rows are counted from 1; missing answers are what [`Column::push_missing`] adds.
///
/// ```
/// use fedirt_data::{Column, Columns, Input, ReadOptions, read};
///
/// let school: Column = ["north", "south", "north"].into_iter().collect();
/// let mut first = Column::default();
/// first.push_integer(0);
/// first.push_number(1.0);
/// first.push_missing();
/// let second: Column = ["1", "0", "1"].into_iter().collect();
/// let table: Columns = [("school", school), ("I1", first), ("I2", second)].into_iter().collect();
/// let options = ReadOptions { site: Some("school".into()), ..ReadOptions::default() };
/// let responses = read([Input::columns("exam", table)], &options)?;
/// assert_eq!(responses.sites[0].table.students(), 2);
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Columns(Vec<(String, Column)>);

/// A column of a table in memory.
#[derive(Clone)]
pub struct Column(Cells);

/// Nearly all cells of nearly all tables are small numbers.
#[derive(Clone)]
enum Cells {
    /// Whole numbers below [`NONE`].
    Small(Vec<u8>),
    /// Texts one after another, with the end of each.
    Texts(Vec<u8>, Vec<usize>),
}

/// A missing cell among small numbers.
const NONE: u8 = u8::MAX;

impl Default for Column {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

/// Without its cells: rows must not reach a log.
impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Column({} rows)", self.rows())
    }
}

impl Column {
    /// An empty column with room for some rows.
    pub fn with_capacity(rows: usize) -> Self {
        Self(Cells::Small(Vec::with_capacity(rows)))
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        match &self.0 {
            Cells::Small(cells) => cells.len(),
            Cells::Texts(_, ends) => ends.len(),
        }
    }

    /// Adds a cell without a value.
    #[inline]
    pub fn push_missing(&mut self) {
        match &mut self.0 {
            Cells::Small(cells) => cells.push(NONE),
            Cells::Texts(..) => self.push_other(""),
        }
    }

    /// Adds a whole number.
    #[inline]
    pub fn push_integer(&mut self, value: impl Into<i128>) {
        let value = value.into();
        match (&mut self.0, u8::try_from(value)) {
            (Cells::Small(cells), Ok(small)) if small < NONE => cells.push(small),
            _ => self.push_other(&value.to_string()),
        }
    }

    /// Adds a number; one that is not a number (NaN) is missing.
    #[inline]
    pub fn push_number(&mut self, value: f64) {
        let small = value as u8;
        match &mut self.0 {
            Cells::Small(cells) if f64::from(small) == value && small < NONE => cells.push(small),
            _ if value.is_nan() => self.push_missing(),
            // Digits that read back as the same number.
            _ if value.fract() == 0.0 && value.abs() < 1e15 => self.push_other(&format!("{value:.0}")),
            _ => self.push_other(&format!("{value:?}")),
        }
    }

    /// Adds a text; an empty one is missing.
    #[inline]
    pub fn push_text(&mut self, text: &str) {
        let small = match *text.as_bytes() {
            [] => Some(NONE),
            [digit @ b'0'..=b'9'] => Some(digit - b'0'),
            [ten @ b'1'..=b'9', one @ b'0'..=b'9'] => Some((ten - b'0') * 10 + (one - b'0')),
            _ => None,
        };
        match (&mut self.0, small) {
            (Cells::Small(cells), Some(small)) => cells.push(small),
            _ => self.push_other(text),
        }
    }

    /// Adds a cell that is no small number, or any cell to a column that has such.
    #[cold]
    fn push_other(&mut self, text: &str) {
        if let Cells::Small(cells) = &self.0 {
            let (mut texts, mut ends) = (Vec::new(), Vec::with_capacity(cells.capacity()));
            for cell in cells {
                push_small(*cell, &mut texts);
                ends.push(texts.len());
            }
            self.0 = Cells::Texts(texts, ends);
        }
        if let Cells::Texts(texts, ends) = &mut self.0 {
            texts.extend_from_slice(text.as_bytes());
            ends.push(texts.len());
        }
    }

    /// Appends the text of a cell.
    #[inline]
    fn write(&self, row: usize, out: &mut Vec<u8>) {
        match &self.0 {
            Cells::Small(cells) => push_small(cells[row], out),
            Cells::Texts(texts, ends) => {
                let start = row.checked_sub(1).map_or(0, |before| ends[before]);
                out.extend_from_slice(&texts[start..ends[row]]);
            }
        }
    }
}

/// Appends the digits of a small number.
#[inline]
fn push_small(cell: u8, out: &mut Vec<u8>) {
    match cell {
        0..=9 => out.push(b'0' + cell),
        NONE => {}
        _ => out.extend_from_slice(cell.to_string().as_bytes()),
    }
}

impl FromIterator<u8> for Column {
    fn from_iter<T: IntoIterator<Item = u8>>(numbers: T) -> Self {
        let mut column = Self::default();
        numbers.into_iter().for_each(|number| column.push_integer(number));
        column
    }
}

impl<'a> FromIterator<&'a str> for Column {
    fn from_iter<T: IntoIterator<Item = &'a str>>(texts: T) -> Self {
        let mut column = Self::default();
        texts.into_iter().for_each(|text| column.push_text(text));
        column
    }
}

impl Columns {
    /// Adds a column.
    pub fn push(&mut self, name: impl Into<String>, column: Column) {
        self.0.push((name.into(), column));
    }

    /// The names and the rows; `None` if columns differ in length, which is complained about.
    pub(crate) fn open(self, complaints: &mut Complaints<'_>) -> Option<(Vec<String>, ColumnRows)> {
        let rows = self.0.first().map_or(0, |(_, column)| column.rows());
        let mut even = true;
        for (name, column) in self.0.iter().filter(|(_, column)| column.rows() != rows) {
            complaints.column(name, Cause::ColumnLength { expected: rows, found: column.rows() });
            even = false;
        }
        if self.0.is_empty() {
            complaints.file(Cause::NoColumns);
            even = false;
        }
        let (names, columns) = self.0.into_iter().unzip();
        let (bytes, spans, blank) = (Vec::new(), Vec::new(), Lines::default());
        even.then_some((names, ColumnRows { columns, rows, row: 0, bytes, spans, blank }))
    }
}

impl<N: Into<String>> FromIterator<(N, Column)> for Columns {
    fn from_iter<T: IntoIterator<Item = (N, Column)>>(columns: T) -> Self {
        Self(columns.into_iter().map(|(name, column)| (name.into(), column)).collect())
    }
}

/// The rows of a table in memory, one at a time as texts.
pub(crate) struct ColumnRows {
    columns: Vec<Column>,
    rows: usize,
    /// The next row.
    row: usize,
    bytes: Vec<u8>,
    spans: Vec<(usize, usize)>,
    blank: Lines,
}

impl Rows for ColumnRows {
    fn next(&mut self) -> Result<Option<Fields<'_>>, Failure> {
        if self.row == self.rows {
            return Ok(None);
        }
        self.bytes.clear();
        self.spans.clear();
        for column in &self.columns {
            let start = self.bytes.len();
            column.write(self.row, &mut self.bytes);
            self.spans.push((start, self.bytes.len()));
        }
        self.row += 1;
        Ok(Some(Fields::new(&self.bytes, &self.spans, self.row as u64)))
    }

    fn blank(&self) -> &Lines {
        &self.blank
    }

    fn windows_1252(&self) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, ReadOptions, read};

    fn mixed() -> Column {
        let mut column = Column::default();
        column.push_integer(3);
        column.push_number(254.0);
        column.push_number(f64::NAN);
        column.push_text("07");
        column.push_integer(u64::MAX);
        column.push_number(0.1);
        column.push_number(-1e300);
        column.push_number(1e9);
        column.push_missing();
        column.push_integer(255);
        column
    }

    #[test]
    fn cells_are_the_texts_of_a_file() {
        let column = mixed();
        let text = |row| {
            let mut out = Vec::new();
            column.write(row, &mut out);
            String::from_utf8(out).unwrap()
        };
        let texts: Vec<String> = (0..column.rows()).map(text).collect();
        let expected =
            ["3", "254", "", "07", "18446744073709551615", "0.1", "-1e300", "1000000000", "", "255"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_table_is_read_as_the_same_text_is() {
        let text = "school,I1,I2,w\nnorth,0,1,1\nsouth,12,,0.25\nnorth,NA,0,3\nsouth,1,1,1\n";
        let mut table = Columns::default();
        for (at, name) in ["school", "I1", "I2", "w"].into_iter().enumerate() {
            let cells = text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap());
            table.push(name, cells.collect());
        }
        let options = ReadOptions {
            site: Some("school".into()),
            weight: Some("w".into()),
            missing: vec!["12".into()],
            ..ReadOptions::default()
        };
        let [of_text, of_table] = [Input::new("x", text.as_bytes()), Input::columns("x", table)]
            .map(|input| read([input], &options).unwrap());
        for (one, other) in of_text.sites.iter().zip(&of_table.sites) {
            assert_eq!((&one.name, &one.items, &one.table), (&other.name, &other.items, &other.table));
            // A text has its header on line 1.
            assert_eq!(one.lines, other.lines.iter().map(|row| row + 1).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_site_is_called_as_its_table_is() {
        let table = || -> Columns {
            [("I1", ["1", "0"]), ("I2", ["0", "1"])]
                .map(|(n, c)| (n, c.into_iter().collect::<Column>()))
                .into_iter()
                .collect()
        };
        let tables = ["St. Mary", "St. Paul", "north/1"].map(|name| Input::columns(name, table()));
        let names: Vec<String> =
            read(tables, &ReadOptions::default()).unwrap().sites.into_iter().map(|site| site.name).collect();
        assert_eq!(names, ["St. Mary", "St. Paul", "north/1"]);
    }

    #[test]
    fn columns_of_different_lengths_are_refused() {
        let table: Columns =
            [("I1", mixed()), ("I2", ["1", "0"].into_iter().collect())].into_iter().collect();
        let problems = read([Input::columns("x", table)], &ReadOptions::default()).unwrap_err();
        let problem = problems.iter().next().unwrap();
        assert_eq!(problem.cause, Cause::ColumnLength { expected: 10, found: 2 });
        assert!(read([Input::columns("x", Columns::default())], &ReadOptions::default()).is_err());
    }
}
