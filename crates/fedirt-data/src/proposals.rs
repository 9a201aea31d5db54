//! Which column of a file stands for which item: proposals for a person to confirm.
//!
//! Rules are tried from the surest to the least sure. Each rule proposes only what is unambiguous among the items and columns that
//! are left: an item has one candidate, which is the candidate of no other item. So no column is proposed for two items.

use crate::near::near_names;
use crate::questions::folded;
use std::collections::{BTreeMap, BTreeSet};

/// Why a column is proposed for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// The names are the same.
    Exact,
    /// Somebody has said so before.
    Remembered,
    /// The names differ in case, spaces, punctuation and leading zeros alone: `Q_01` and `q1`.
    Spelling,
    /// The same number after another word, as in most columns of the file: `Item 1` and `I01`.
    Number,
    /// The names are similar.
    Near,
}

/// A column that probably holds the answers to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The item.
    pub item: String,
    /// The column.
    pub column: String,
    /// Why.
    pub likeness: Likeness,
}

/// Proposals for the items, in their order. `remembered` are columns and the items that they stood for in other files.
///
/// ```
/// use fedirt_data::{Likeness, propose};
///
/// let columns = ["pupil", "Item 1", "Item 2", "total"].map(String::from);
/// let proposals = propose(&columns, &["I01", "I02"], &[]);
/// assert_eq!(proposals[1].column, "Item 2");
/// assert_eq!(proposals[1].likeness, Likeness::Number);
/// ```
pub fn propose(columns: &[String], items: &[&str], remembered: &[(String, String)]) -> Vec<Proposal> {
    let mut open = Open { items: items.to_vec(), columns: columns.iter().map(String::as_str).collect() };
    let mut found = Vec::new();
    open.take(Likeness::Exact, &mut found, |item, column| item == column);
    open.take(Likeness::Remembered, &mut found, |item, column| {
        remembered.iter().any(|(from, to)| from == column && to == item)
    });
    open.take(Likeness::Spelling, &mut found, |item, column| folded(item) == folded(column));
    for (item_word, column_word) in words_that_match(&open) {
        open.take(Likeness::Number, &mut found, |item, column| {
            let (item, column) = (folded(item), folded(column));
            let (item, column) = (numbered(&item), numbered(&column));
            item.is_some_and(|(word, number)| {
                word == item_word && column == Some((column_word.as_str(), number))
            })
        });
    }
    open.take(Likeness::Near, &mut found, |item, column| !near_names(column, [item]).is_empty());
    found.sort_by_key(|proposal| items.iter().position(|item| *item == proposal.item));
    found
}

/// What no proposal has been made for yet.
struct Open<'a> {
    items: Vec<&'a str>,
    columns: Vec<&'a str>,
}

impl Open<'_> {
    /// Proposes the pairs that are alike, where neither of the two is like any other.
    fn take(&mut self, likeness: Likeness, found: &mut Vec<Proposal>, alike: impl Fn(&str, &str) -> bool) {
        let pairs: Vec<(usize, usize)> = (0..self.items.len())
            .flat_map(|i| (0..self.columns.len()).map(move |c| (i, c)))
            .filter(|(i, c)| alike(self.items[*i], self.columns[*c]))
            .collect();
        let (mut of_item, mut of_column) =
            (vec![0_usize; self.items.len()], vec![0_usize; self.columns.len()]);
        for (i, c) in &pairs {
            of_item[*i] += 1;
            of_column[*c] += 1;
        }
        let sure: Vec<(usize, usize)> =
            pairs.into_iter().filter(|(i, c)| of_item[*i] == 1 && of_column[*c] == 1).collect();
        found.extend(sure.iter().map(|(i, c)| Proposal {
            item: self.items[*i].to_owned(),
            column: self.columns[*c].to_owned(),
            likeness,
        }));
        let (items, columns): (BTreeSet<usize>, BTreeSet<usize>) = sure.into_iter().unzip();
        let mut place = 0..;
        self.items.retain(|_| place.next().is_some_and(|at| !items.contains(&at)));
        let mut place = 0..;
        self.columns.retain(|_| place.next().is_some_and(|at| !columns.contains(&at)));
    }
}

/// A folded name as a word and the number at its end.
fn numbered(folded: &str) -> Option<(&str, &str)> {
    let word = folded.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &folded[word.len()..];
    (!number.is_empty()).then_some((word, number))
}

/// Words of items and words of columns that are followed by mostly the same numbers. A word of items and one of columns belong
/// together if they share two numbers or more, at least half of the items', and more than either shares with any other word.
fn words_that_match(open: &Open<'_>) -> Vec<(String, String)> {
    let by_word = |names: &[&str]| {
        let mut words: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in names {
            if let Some((word, number)) = numbered(&folded(name)) {
                words.entry(word.to_owned()).or_default().insert(number.to_owned());
            }
        }
        words
    };
    let (items, columns) = (by_word(&open.items), by_word(&open.columns));
    let shared = |item: &str, column: &str| {
        items.get(item).zip(columns.get(column)).map_or(0, |(one, other)| one.intersection(other).count())
    };
    let mut found = Vec::new();
    for (item, numbers) in &items {
        for column in columns.keys() {
            let common = shared(item, column);
            let best_column = columns.keys().all(|other| other == column || shared(item, other) < common);
            let best_item = items.keys().all(|other| other == item || shared(other, column) < common);
            if common >= 2 && common * 2 >= numbers.len() && best_column && best_item {
                found.push((item.clone(), column.clone()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(columns: &[&str], items: &[&str]) -> Vec<(String, String, Likeness)> {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let proposals = propose(&columns, items, &[("Q a".into(), "z9".into())]);
        proposals.into_iter().map(|p| (p.item, p.column, p.likeness)).collect()
    }

    fn one(item: &str, column: &str, likeness: Likeness) -> (String, String, Likeness) {
        (item.into(), column.into(), likeness)
    }

    #[test]
    fn the_surest_likeness_comes_first() {
        assert_eq!(
            proposed(&["id", "i1", "I_02", "Q a", "gender"], &["i1", "i2", "z9", "gendre", "other"]),
            [
                one("i1", "i1", Likeness::Exact),
                one("i2", "I_02", Likeness::Spelling),
                one("z9", "Q a", Likeness::Remembered),
                one("gendre", "gender", Likeness::Near),
            ]
        );
    }

    #[test]
    fn other_words_with_the_same_numbers() {
        let columns = ["school 1", "Item 1", "Item 2", "Item 3", "q_total"];
        let found = proposed(&columns, &["I01", "I02", "I03", "I04"]);
        let expected = ["Item 1", "Item 2", "Item 3"];
        assert_eq!(found.iter().map(|(_, column, _)| column.as_str()).collect::<Vec<_>>(), expected);
        assert!(found.iter().all(|(.., likeness)| *likeness == Likeness::Number));
        // Two words that fit as well as each other: a person decides.
        assert!(proposed(&["pre1", "pre2", "post1", "post2"], &["task 1", "task 2"]).is_empty());
        // Two words of items that fit the same columns.
        assert!(proposed(&["x1", "x2"], &["red 1", "red 2", "blue 1", "blue 2"]).is_empty());
    }

    #[test]
    fn no_column_is_proposed_twice_and_no_guess_is_made_between_two() {
        assert!(proposed(&["A1", "a_1"], &["a 01"]).is_empty());
        let found = proposed(&["A1"], &["a1", "a_1"]);
        assert!(found.len() <= 1);
        let columns: Vec<String> = (1..=30).map(|n| format!("Frage {n}")).collect();
        let names: Vec<String> = (1..=30).map(|n| format!("i{n:02}")).collect();
        let items: Vec<&str> = names.iter().map(String::as_str).collect();
        let proposals = propose(&columns, &items, &[]);
        let distinct: BTreeSet<&String> = proposals.iter().map(|p| &p.column).collect();
        assert_eq!((proposals.len(), distinct.len()), (30, 30));
        assert_eq!((proposals[9].item.as_str(), proposals[9].column.as_str()), ("i10", "Frage 10"));
    }
}
