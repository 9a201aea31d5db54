//! A table of aligned columns that fits the terminal.

use super::style::{self, paint};
use super::text::shorten;
use anstyle::Style;
use unicode_width::UnicodeWidthStr;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    title: &'static str,
    left: bool,
    style: Style,
    /// On narrow terminals the columns with the highest number are left out first; those with 0 are always shown.
    expendable: u8,
}

impl Column {
    /// Words, aligned left.
    pub(crate) const fn words(title: &'static str) -> Self {
        Self { title, left: true, style: Style::new(), expendable: 0 }
    }

    /// Numbers, aligned right.
    pub(crate) const fn numbers(title: &'static str) -> Self {
        Self { title, left: false, style: Style::new(), expendable: 0 }
    }

    /// The column in a style.
    pub(crate) const fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The column, left out where there is no room.
    pub(crate) const fn expendable(mut self, rank: u8) -> Self {
        self.expendable = rank;
        self
    }
}

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

#[derive(Debug)]
enum Row {
    Cells(Vec<String>),
    Remark(String),
}

/// Space between columns.
const GAP: usize = 2;
/// Space before the first.
const INDENT: usize = 2;
/// Minimum width of the first column.
const NARROWEST: usize = 8;

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a line across all columns.
    pub(crate) fn remark(&mut self, text: String) {
        self.rows.push(Row::Remark(text));
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.title.width()).collect();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = (*width).max(cell.width()));
            }
        }
        widths
    }

    /// How many columns of the terminal the table takes.
    pub(crate) fn natural_width(&self) -> usize {
        INDENT + self.widths().iter().map(|w| w + GAP).sum::<usize>() - GAP.min(self.columns.len())
    }

    /// The table in at most `room` columns.
    pub(crate) fn render(mut self, room: usize) -> String {
        let mut widths = self.widths();
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let total = |kept: &[usize], widths: &[usize]| {
            INDENT + kept.iter().map(|&c| widths[c] + GAP).sum::<usize>() - GAP
        };
        while total(&kept, &widths) > room {
            let Some(at) = (0..kept.len())
                .filter(|&at| self.columns[kept[at]].expendable > 0)
                .max_by_key(|&at| self.columns[kept[at]].expendable)
            else {
                break;
            };
            let rank = self.columns[kept[at]].expendable;
            kept.retain(|&c| self.columns[c].expendable != rank);
        }
        let over = total(&kept, &widths).saturating_sub(room);
        widths[0] = widths[0].saturating_sub(over).max(NARROWEST.min(widths[0]));
        let mut out = String::new();
        let titles: Vec<String> = self.columns.iter().map(|column| column.title.to_owned()).collect();
        self.line(&mut out, &titles, &kept, &widths, Some(style::FAINT));
        for row in std::mem::take(&mut self.rows) {
            match row {
                Row::Cells(mut cells) => {
                    cells[0] = shorten(&cells[0], widths[0]);
                    self.line(&mut out, &cells, &kept, &widths, None);
                }
                Row::Remark(text) => {
                    out.push_str(&format!("{}{}\n", " ".repeat(INDENT), paint(style::FAINT, &text)))
                }
            }
        }
        out
    }

    fn line(
        &self,
        out: &mut String,
        cells: &[String],
        kept: &[usize],
        widths: &[usize],
        style: Option<Style>,
    ) {
        let start = out.len();
        for (at, &c) in kept.iter().enumerate() {
            out.push_str(&" ".repeat(if at == 0 { INDENT } else { GAP }));
            let (column, cell) = (&self.columns[c], &cells[c]);
            let padding = " ".repeat(widths[c].saturating_sub(cell.width()));
            let painted = match style.unwrap_or(column.style) {
                plain if plain == Style::new() => cell.clone(),
                style => paint(style, cell),
            };
            if column.left {
                out.push_str(&painted);
                out.push_str(&padding);
            } else {
                out.push_str(&padding);
                out.push_str(&painted);
            }
        }
        out.truncate(start + out[start..].trim_end().len());
        out.push('\n');
    }
}

/// The entries of a long list that are shown: all, or the first and the last ones.
pub(crate) fn cut(length: usize, most: usize) -> (usize, usize) {
    if length <= most { (length, length) } else { (most / 2, length - (most - most / 2)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_terminals_have_fewer_columns_and_shorter_names() {
        let table = || {
            let mut table = Table::new(vec![
                Column::words("item"),
                Column::words("model").expendable(1),
                Column::numbers("a"),
            ]);
            table.row(vec!["a long item name".into(), "2pl".into(), "1.00".into()]);
            table
        };
        let plain = |text: String| anstream::adapter::strip_str(&text).to_string();
        assert_eq!(
            plain(table().render(80)),
            "  item              model     a\n  a long item name  2pl    1.00\n"
        );
        assert_eq!(table().natural_width(), 31);
        assert_eq!(plain(table().render(24)), "  item                 a\n  a long item name  1.00\n");
        assert_eq!(plain(table().render(18)), "  item           a\n  a long it…  1.00\n");
    }

    #[test]
    fn the_middle_of_long_lists_is_left_out() {
        assert_eq!(cut(10, 10), (10, 10));
        assert_eq!(cut(100, 10), (5, 95));
        assert_eq!(cut(4, 3), (1, 2));
    }
}
