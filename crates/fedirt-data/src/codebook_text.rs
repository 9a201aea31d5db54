//! A codebook of what was read, to be looked at and changed: it selects the items, and says what their codes are.

use crate::questions::{Items, occurring};
use crate::reading::Responses;
use crate::scoring_rule::same_answer;
use crate::{CodebookItem, HIGHEST_CODE};

/// A codebook (CSV) of the items that were read, with the codes that occur. Where a file says what values stand for, as
/// files of SPSS do, the levels are listed with their words. Items with a key are left to the key.
///
/// ```
/// use fedirt_data::{Input, ReadOptions, codebook_of, read};
///
/// let text = "I1,I2\n0,1\n1,3\n1,2\n";
/// let responses = read([Input::new("a.csv", text.as_bytes())], &ReadOptions::default())?;
/// assert_eq!(codebook_of(&responses), "item,categories,lowest,levels\nI1,2,0,\nI2,3,1,\n");
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
pub fn codebook_of(responses: &Responses) -> String {
    let items = Items::new(&responses.sites);
    let mut out = String::from("item,categories,lowest,levels\n");
    let said = &responses.said;
    for (name, counts) in items.names.iter().zip(&items.counts) {
        let known = said.codebook.iter().flatten().find(|item| item.name == **name);
        let seen: Vec<u8> = occurring(counts).iter().map(|(code, _)| *code).collect();
        let labels = said.labels.iter().find(|labels| labels.column == **name);
        let labelled = labels.and_then(|labels| levels(&labels.labels, &seen));
        let codes = known.and_then(|item| item.categories.clone()).unwrap_or(seen);
        let line = match (labelled, codes.first().zip(codes.last())) {
            _ if said.rule(name).is_some() || known.is_some_and(CodebookItem::has_rule) => {
                format!("{},,,", field(name))
            }
            (Some(levels), _) => format!("{},,,{}", field(name), field(&levels)),
            (None, Some((lowest, highest))) if lowest < highest => {
                format!("{},{},{lowest},", field(name), highest - lowest + 1)
            }
            // Everybody has the same code, or nobody an answer: how many categories there are is unknown.
            (None, _) => format!("{},,,", field(name)),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Levels with their codes, from the lowest that is labelled or occurs to the highest; `None` where labels are not about
/// codes of answers.
fn levels(labels: &[(String, String)], seen: &[u8]) -> Option<String> {
    let code = |value: &String| value.parse::<u8>().ok().filter(|code| *code <= HIGHEST_CODE);
    let labelled: Option<Vec<(u8, &String)>> =
        labels.iter().map(|(value, label)| Some((code(value)?, label))).collect();
    let labelled = labelled?;
    let codes = || labelled.iter().map(|(code, _)| *code).chain(seen.iter().copied());
    let (lowest, highest) = (codes().min()?, codes().max()?);
    // A word must stand for one code, and not look like another.
    let clear = |label: &String| {
        labelled.iter().filter(|(_, other)| same_answer(other, label)).count() == 1
            && !(lowest..=highest).any(|code| same_answer(&code.to_string(), label))
            && !label.contains('|')
    };
    let level = |code: u8| match labelled.iter().find(|(labelled, _)| *labelled == code) {
        Some((_, label)) if clear(label) => format!("{code}={}", label.trim()),
        Some(_) | None => code.to_string(),
    };
    let levels: Vec<String> = (lowest..=highest).map(level).collect();
    (levels.len() > 1 && levels.iter().any(|level| level.contains('='))).then(|| levels.join("|"))
}

/// A field of a CSV text.
fn field(text: &str) -> String {
    let text: String = text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    let plain = !text.contains([',', ';', '\t', '"']) && text.trim() == text;
    if plain { text } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
