//! Answer keys: which options of an item are right, and what each is worth.

use crate::cause::Cause;
use crate::cells::decimal;
use crate::input::Input;
use crate::problems::{Complaints, Problems};
use crate::scoring_rule::{ScoringRule, same_answer};
use crate::small_table::SmallTable;
use crate::text::shown;

/// The right answers of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedItem {
    /// The item's name.
    pub item: String,
    /// Right options with their codes; any other option is wrong.
    pub rule: ScoringRule,
}

/// Reads an answer key: a CSV file with the columns `item` and `key`. A key is the right option (`B`), several right
/// options (`B|C`), or options with what they are worth (`A=2|B=1`, `A=1|B=0.5`); any other option is wrong. Commas and
/// semicolons separate options too. Case does not matter.
///
/// ```
/// use fedirt_data::{Input, ReadOptions, read, read_key};
///
/// let key = read_key(Input::new("key.csv", "item,key\nI1,B\nI2,A=2|C=1\n".as_bytes()))?;
/// let answers = Input::new("answers.csv", "I1,I2\nB,C\na,A\n,D\n".as_bytes());
/// let responses = read([answers], &ReadOptions { key, ..ReadOptions::default() })?;
/// let rows: Vec<_> = responses.sites[0].table.rows().collect();
/// assert_eq!(rows[..2], [[1, 1], [0, 2]]);
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
pub fn read_key(input: Input<'_>) -> Result<Vec<KeyedItem>, Problems> {
    SmallTable::read(input, |table, complaints| {
        let key = table.needed("key", complaints);
        let items = table.items(complaints);
        let keyed = items.into_iter().filter_map(|(row, name)| {
            let Some(text) = row.get(key) else {
                if key.is_some() {
                    complaints.cell(row.line, "key", Cause::NoKey);
                }
                return None;
            };
            let rule = key_rule(text, row.line, complaints)?;
            Some(KeyedItem { item: name.to_owned(), rule })
        });
        keyed.collect()
    })
}

/// The rule that a key states; complains about a key that is none.
pub(crate) fn key_rule(text: &str, line: u64, complaints: &mut Complaints<'_>) -> Option<ScoringRule> {
    let bad = || Cause::BadKey(shown(text.as_bytes()));
    let mut scored: Vec<(String, f64)> = Vec::new();
    let parts: Vec<&str> = text.split(['|', ',', ';']).map(str::trim).collect();
    let worth = parts.iter().filter(|part| part.contains('=')).count();
    for part in &parts {
        let (option, score) = match part.rsplit_once('=') {
            None => (*part, Some(1.0)),
            Some((option, score)) => (option.trim(), decimal(score.trim()).filter(|score| *score >= 0.0)),
        };
        match score.filter(|_| !option.is_empty() && [0, parts.len()].contains(&worth)) {
            Some(score) if !scored.iter().any(|(other, _)| same_answer(other, option)) => {
                scored.push((option.to_owned(), score));
            }
            _ => {
                complaints.cell(line, "key", bad());
                return None;
            }
        }
    }
    if scored.iter().all(|(_, score)| *score == 0.0) {
        complaints.cell(line, "key", bad());
        return None;
    }
    Some(ScoringRule::of_scores(scored, true))
}
