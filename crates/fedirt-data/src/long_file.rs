//! Whether the lines of a file are single answers although nothing says so: found by content, and proposed.
//!
//! In a long file two columns (who, which item) hardly repeat as a pair and repeat each for itself, and a third column (the
//! answer) changes within both. The pairs fill at least half of all that are possible, or one of the columns is text, which
//! no item is. Files of more than six columns are not looked at: with `item` and `resp` among their names they are long.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::cells::number;
use crate::header::{Columns, Layout};
use crate::options::{LongColumns, ReadOptions};
use crate::records::Fields;

/// Rows that are looked at.
const ROWS: usize = 20_000;
/// Fewest rows that say anything.
const FEWEST_ROWS: usize = 6;
/// Most columns of a long file.
const MOST_COLUMNS: usize = 6;
/// Most different answers.
const MOST_ANSWERS: usize = 21;

/// Names that columns of long files have, as far as letters go.
const WHO: &[&str] = &[
    "id",
    "student",
    "studentid",
    "person",
    "personid",
    "pupil",
    "examinee",
    "candidate",
    "respondent",
    "user",
    "userid",
];
const ITEM: &[&str] = &["item", "itemid", "question", "questionid", "task", "exercise", "variable"];
const ANSWER: &[&str] =
    &["resp", "response", "score", "answer", "value", "points", "result", "rating", "mark"];

/// The columns of a file that may be long.
pub(crate) struct LongFile {
    columns: Vec<Seen>,
}

/// What was seen in a column.
struct Seen {
    name: String,
    column: usize,
    is_id: bool,
    numbers: bool,
    cells: Vec<u64>,
}

impl LongFile {
    pub(crate) fn new(columns: &Columns, options: &ReadOptions) -> Self {
        let Layout::Wide(items) = &columns.layout else { return Self { columns: Vec::new() } };
        let seen = |column: usize, is_id| Seen {
            name: columns.names[column].clone(),
            column,
            is_id,
            numbers: true,
            cells: Vec::new(),
        };
        // Who selects items says that the file is wide.
        let selected = !options.items.is_empty() || options.codebook.is_some();
        let mut found: Vec<Seen> = columns.id.into_iter().map(|column| seen(column, true)).collect();
        found.extend(items.iter().map(|column| seen(*column, false)));
        if selected || !(3..=MOST_COLUMNS).contains(&found.len()) {
            found.clear();
        }
        Self { columns: found }
    }

    /// Looks at a row.
    pub(crate) fn look(&mut self, fields: &Fields<'_>) {
        for seen in &mut self.columns {
            if seen.cells.len() < ROWS {
                let cell = fields.get(seen.column).trim_ascii();
                let mut hasher = DefaultHasher::new();
                cell.hash(&mut hasher);
                seen.cells.push(hasher.finish());
                seen.numbers &=
                    cell.is_empty() || std::str::from_utf8(cell).is_ok_and(|text| number(text).is_some());
            }
        }
    }

    /// The columns of a long file, if it looks like one.
    pub(crate) fn columns(&self) -> Option<LongColumns> {
        let mut best: Option<(usize, LongColumns)> = None;
        for (at, one) in self.columns.iter().enumerate() {
            for two in &self.columns[at + 1..] {
                if !pairs_are_cells(one, two) {
                    continue;
                }
                let answers: Vec<&Seen> = (self.columns.iter())
                    .filter(|other| {
                        ![one.column, two.column].contains(&other.column) && is_answer(other, one, two)
                    })
                    .collect();
                let named = |seen: &Seen, names: &[&str]| {
                    let letters: String = seen.name.chars().filter(|c| c.is_alphabetic()).collect();
                    usize::from(names.contains(&letters.to_lowercase().as_str()))
                };
                let answer = answers.iter().max_by_key(|seen| named(seen, ANSWER));
                // With more columns that change like answers, the file is wide, and the pair is a school and a number in it.
                let Some(answer) = answer.filter(|_| answers.len() <= 2) else { continue };
                let is_item = |seen: &Seen| 4 * named(seen, ITEM) + 2 * usize::from(!seen.numbers);
                let fewer = distinct(one) < distinct(two);
                let one_is_item = !one.is_id
                    && (two.is_id || is_item(one) + usize::from(fewer) > is_item(two) + usize::from(!fewer));
                let (who, item) = if one_is_item { (two, one) } else { (one, two) };
                let score = named(who, WHO) + named(item, ITEM) + named(answer, ANSWER);
                if best.as_ref().is_none_or(|(other, _)| score > *other) {
                    let [id, item, response] = [who, item, answer].map(|seen| seen.name.clone());
                    best = Some((score, LongColumns { id, item, response }));
                }
            }
        }
        best.map(|(_, columns)| columns)
    }
}

fn distinct(seen: &Seen) -> usize {
    seen.cells.iter().collect::<HashSet<_>>().len()
}

/// Whether two columns say who and which item.
fn pairs_are_cells(one: &Seen, two: &Seen) -> bool {
    let (rows, ones, twos) = (one.cells.len(), distinct(one), distinct(two));
    let repeat = |values: usize| values >= 2 && rows * 2 >= values * 3;
    let pairs = one.cells.iter().zip(&two.cells).collect::<HashSet<_>>().len();
    let dense = pairs * 2 >= ones * twos || !one.numbers || !two.numbers;
    rows >= FEWEST_ROWS && repeat(ones) && repeat(twos) && pairs * 20 >= rows * 19 && dense
}

/// Whether a column changes within both of two others, and has few values.
fn is_answer(seen: &Seen, one: &Seen, two: &Seen) -> bool {
    let changes_within = |other: &Seen| {
        let mut first: HashMap<u64, u64> = HashMap::new();
        other.cells.iter().zip(&seen.cells).any(|(key, value)| *first.entry(*key).or_insert(*value) != *value)
    };
    distinct(seen) <= MOST_ANSWERS && changes_within(one) && changes_within(two)
}
