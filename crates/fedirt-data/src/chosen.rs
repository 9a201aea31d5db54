//! The options that students chose in keyed items: scores alone would not tell how distractors work.

use crate::scoring_rule::same_answer;
use crate::text::shown;

/// Where nothing was chosen.
const NOTHING: u8 = u8::MAX;

/// The options that the rows of a site have for a keyed item.
#[derive(Clone, Default)]
pub struct ChosenOptions {
    /// The item.
    pub item: String,
    /// The options that occur, as they are written first.
    pub options: Vec<String>,
    /// The line on which each occurs first.
    pub(crate) first_lines: Vec<u64>,
    cells: Vec<u8>,
}

/// Name and number only: rows must not reach a log.
impl std::fmt::Debug for ChosenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChosenOptions({}, {} options)", self.item, self.options.len())
    }
}

impl ChosenOptions {
    pub(crate) fn new(item: &str) -> Self {
        Self { item: item.to_owned(), ..Self::default() }
    }

    /// For each row the place of its option among [`options`](Self::options).
    pub fn rows(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.cells.iter().map(|cell| (*cell != NOTHING).then_some(usize::from(*cell)))
    }

    /// How many rows chose each option.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.options.len()];
        self.rows().flatten().for_each(|place| counts[place] += 1);
        counts
    }

    /// Adds a row that chose what stands in a cell; `None`: nothing.
    pub(crate) fn push(&mut self, cell: Option<&[u8]>, line: u64) {
        let place = cell.map_or(NOTHING, |cell| self.place(cell, line));
        self.cells.push(place);
    }

    /// Rows that were not asked.
    pub(crate) fn fill(&mut self, rows: usize) {
        self.cells.resize(rows, NOTHING);
    }

    /// Sets what a row chose.
    pub(crate) fn set(&mut self, row: usize, place: u8) {
        if let Some(cell) = self.cells.get_mut(row) {
            *cell = place;
        }
    }

    /// The place of an option, which is added where it is new.
    pub(crate) fn place(&mut self, cell: &[u8], line: u64) -> u8 {
        let cell = cell.trim_ascii();
        let known = self.options.iter().position(|option| option.as_bytes() == cell);
        let known = known.or_else(|| {
            let text = std::str::from_utf8(cell).ok()?;
            self.options.iter().position(|option| same_answer(option, text))
        });
        let place = known.unwrap_or_else(|| {
            // A column of so many different texts is complained about.
            if self.options.len() < usize::from(NOTHING) {
                self.options.push(shown(cell));
                self.first_lines.push(line);
            }
            self.options.len() - 1
        });
        place as u8
    }

    /// Appends the rows of another file.
    pub(crate) fn append(&mut self, other: &Self) {
        let places: Vec<u8> = other
            .options
            .iter()
            .zip(&other.first_lines)
            .map(|(option, line)| self.place(option.as_bytes(), *line))
            .collect();
        self.cells.extend(
            other.cells.iter().map(|cell| places.get(usize::from(*cell)).copied().unwrap_or(NOTHING)),
        );
    }
}
