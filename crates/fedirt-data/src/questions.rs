//! Questions about what was read: columns and codes that are perhaps no answers, which a person has to settle.
//!
//! A file can be read without a fault and still give wrong estimates, because a code for "no answer" counts as a category
//! or because a column is no item. What is not surely an answer is a question to the user, never a guess. Every question
//! names the file, the column, the line where there is one, and what settles it. The rules are:
//!
//! * **Codes beyond a gap** ([`Cause::GapCodes`]). The codes of an item over all sites start with a regular range: the
//!   lowest code and those that follow it without a gap. A code above the first gap (the 9 in 0, 1, 9) is a question. It is
//!   none if a codebook or fixed items declare the item's codes. It is none either if all of this holds: another item of
//!   the same lowest code has it within its own regular range, at least one answer in twenty has it, and more than half of
//!   the codes from the lowest to this one occur. That is an item 0, 1, 2, 4 of a 0–4 scale where nobody chose 3.
//!   An item with one regular code (everybody right, and some 9) is judged by the regular ranges of the other items: a code
//!   is a question if it lies more than one above the highest of them.
//! * **Rare codes after the others** ([`Cause::RareCodes`]), such as a few 2s among 0 and 1: the rule is in `rare_codes`. A
//!   codebook or fixed items settle them, too.
//! * **Names that differ only in spelling** ([`Cause::NamesAlike`]): case, spaces, punctuation and leading zeros. They are a
//!   question if no site has both. Punctuation between two digits counts, so that `Q1.1` and `Q11` differ.
//! * **Sums** ([`Cause::SumOfItems`]). A column with three or more values that equals, in at least ten rows, the sum of three
//!   or more other columns: all others, or neighbouring ones. Rows with a missing answer are left aside if there are
//!   ten without.
//! * **Known names that are no items** ([`Cause::Demographic`]), such as `female` or `age`, if the column's item-rest
//!   correlation is below 0.2 in size.
//! * **Options that are no options** ([`Cause::StrangeOption`]). The options of all keyed items are letters or numbers in a
//!   row (A–E, 1–4). One beyond a gap, or one of another kind (the 9 among A–E), counts as wrong only if the user says so.
//!   So does the last of the row if it is rare among all keyed items and in no key ([`Cause::RareOption`]).
//!   A keyed item none of whose right options occurs anywhere is a question ([`Cause::KeyNeverChosen`]), and so is an item
//!   without a key whose codes look like the options of the others ([`Cause::Unkeyed`]).
//! * **Copies** ([`Cause::CopyOfItem`]): a column that equals another in every row, with ten answers or more that are not the
//!   most frequent one.
//! * **Columns that go with nothing** ([`Cause::GoesWithNothing`]), such as the number of a school: an item-rest correlation
//!   below 0.05 in size in 200 rows or more, and a code above those of all other columns. Without such a code it is noted, and no
//!   question: there are such items.
//!
//! Sums, copies, known names and correlations do not matter where the user has selected the items.

use std::collections::{BTreeMap, HashMap, HashSet};

use fedirt_model::responses::MISSING;

use crate::cause::Cause;
use crate::notes::Note;
use crate::problems::{Problem, Problems};
use crate::rare_codes::rare_codes;
use crate::reading::{FirstLines, Responses, SiteResponses};
use crate::{HIGHEST_CODE, not_items, options_asked as options};

/// How often each code occurs.
pub(crate) type CodeCounts = [u64; HIGHEST_CODE as usize + 1];

/// Asks what only the user can know about responses, or gives notes about them. `declared` names items whose codes are
/// known beside those that codebook and key declared when the responses were read. A private fit must not ask: whether
/// there is a question depends on the answers.
///
/// ```
/// use fedirt_data::{Audience, Input, ReadOptions, questions, read};
///
/// let input = Input::new("a.csv", "I1,I2\n0,1\n9,1\n1,0\n1,1\n0,0\n".as_bytes());
/// let responses = read([input], &ReadOptions::default())?;
/// let problems = questions(&responses, &[]).unwrap_err();
/// let told = problems.told(Audience::CommandLine);
/// assert!(told.contains("line 3, column I1") && told.contains("--missing 9"));
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
pub fn questions(responses: &Responses, declared: &[&str]) -> Result<Vec<Note>, Problems> {
    let mut problems = Problems::default();
    let said = &responses.said;
    let items = Items::new(&responses.sites);
    ask_about_names(&items, &responses.sites, &mut problems);
    let mut notes = Vec::new();
    if !said.selected {
        notes = not_items::ask(&items, &responses.sites, &mut problems);
    }
    let book = said.codebook.iter().flatten().filter(|item| item.categories.is_some());
    let mut settled: HashSet<&str> = book.map(|item| item.name.as_str()).collect();
    settled.extend(declared.iter().copied().chain(said.keyed.iter().map(|keyed| keyed.item.as_str())));
    for (name, cause, codes) in gaps(&items, &settled).into_iter().chain(rare_codes(&items, &settled)) {
        let (file, line) = place(&said.first_lines, name, &codes).unzip();
        problems.add(Problem { file, line, column: Some(name.to_owned()), cause });
    }
    options::ask(responses, &items, &settled, &mut problems);
    problems.unless_empty(notes)
}

/// The items of all sites in order of first appearance, with how often each code occurs.
pub(crate) struct Items<'a> {
    pub(crate) names: Vec<&'a str>,
    pub(crate) places: HashMap<&'a str, usize>,
    pub(crate) counts: Vec<CodeCounts>,
}

impl<'a> Items<'a> {
    pub(crate) fn new(sites: &'a [SiteResponses]) -> Self {
        let mut items = Self { names: Vec::new(), places: HashMap::new(), counts: Vec::new() };
        for site in sites {
            let mut counts = vec![[0; 256]; site.items.len()];
            for row in site.table.rows() {
                for (code, counts) in row.iter().zip(&mut counts) {
                    counts[usize::from(*code)] += 1;
                }
            }
            for (name, counts) in site.items.iter().zip(&counts) {
                let place = *items.places.entry(name).or_insert_with(|| {
                    items.names.push(name);
                    items.counts.push([0; HIGHEST_CODE as usize + 1]);
                    items.counts.len() - 1
                });
                for (sum, count) in items.counts[place].iter_mut().zip(counts) {
                    *sum += *count as u64;
                }
            }
        }
        items
    }
}

/// The codes that occur, with their counts.
pub(crate) fn occurring(counts: &CodeCounts) -> Vec<(u8, u64)> {
    (0..).zip(counts).filter(|(_, count)| **count > 0).map(|(code, count)| (code, *count)).collect()
}

/// The lowest code and the last that follows it without a gap; `None` without an answer.
pub(crate) fn regular_range(codes: &[(u8, u64)]) -> Option<(u8, u8)> {
    let lowest = codes.first()?.0;
    let length = (lowest..).zip(codes).take_while(|(expected, (code, _))| expected == code).count();
    Some((lowest, codes[length - 1].0))
}

/// Items with codes beyond a gap, and these codes.
fn gaps<'a>(items: &Items<'a>, settled: &HashSet<&str>) -> Vec<(&'a str, Cause, Vec<u8>)> {
    let codes: Vec<Vec<(u8, u64)>> = items.counts.iter().map(occurring).collect();
    let ranges: Vec<Option<(u8, u8)>> = codes.iter().map(|codes| regular_range(codes)).collect();
    // Regular ranges of more than one code: these are the scales of the test.
    let scales = || ranges.iter().enumerate().filter_map(|(at, range)| Some((at, (*range)?)));
    let scales = || scales().filter(|(_, (lowest, highest))| lowest < highest);
    let highest_of_all = scales().map(|(_, (_, highest))| highest).max();
    let mut found = Vec::new();
    for (at, codes) in codes.iter().enumerate() {
        let Some((lowest, highest)) = ranges[at] else { continue };
        if settled.contains(items.names[at]) {
            continue;
        }
        let answers: u64 = codes.iter().map(|(_, count)| count).sum();
        let in_question = |(place, (code, count)): (usize, &(u8, u64))| {
            if *code <= highest {
                return None;
            }
            if lowest == highest {
                return highest_of_all.is_some_and(|scale| *code > scale.saturating_add(1)).then_some(*code);
            }
            let shared = scales()
                .any(|(other, (low, high))| other != at && low == lowest && (low..=high).contains(code));
            let frequent = count * 20 >= answers;
            let mostly_used = (place + 1) * 2 > usize::from(code - lowest) + 1;
            (!(shared && frequent && mostly_used)).then_some(*code)
        };
        let beyond: Vec<u8> = codes.iter().enumerate().filter_map(in_question).collect();
        if beyond.is_empty() {
            continue;
        }
        let used_by = scales()
            .find(|(other, (low, high))| {
                *other != at && beyond.iter().any(|code| (low..=high).contains(&code))
            })
            .map(|(other, _)| items.names[other].to_owned());
        let cause = Cause::GapCodes {
            counts: codes.clone(),
            range: (lowest, highest),
            beyond: beyond.clone(),
            used_by,
        };
        found.push((items.names[at], cause, beyond));
    }
    found
}

/// The first file and line in which an item has one of some codes.
fn place(files: &[(String, FirstLines)], item: &str, codes: &[u8]) -> Option<(String, u64)> {
    files.iter().find_map(|(file, items)| {
        let (_, first) = items.iter().find(|(name, _)| name == item)?;
        let line = first.iter().filter(|(code, _)| codes.contains(code)).map(|(_, line)| *line).min()?;
        Some((file.clone(), line))
    })
}

/// Asks about items of different sites whose names differ only in spelling.
fn ask_about_names(items: &Items<'_>, sites: &[SiteResponses], problems: &mut Problems) {
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in &items.names {
        alike.entry(folded(name)).or_default().push(name);
    }
    alike.retain(|_, names| names.len() > 1);
    if alike.is_empty() {
        return;
    }
    let sets: Vec<HashSet<&str>> =
        sites.iter().map(|site| site.items.iter().map(String::as_str).collect()).collect();
    let file_with = |name: &str| {
        let site = sites.iter().zip(&sets).find(|(_, set)| set.contains(name)).map(|(site, _)| site);
        site.and_then(|site| site.sources.first()).map(|source| source.file.clone())
    };
    for names in alike.values() {
        for (at, name) in names.iter().enumerate() {
            let together = |other: &str| sets.iter().any(|set| set.contains(name) && set.contains(other));
            let Some(other) = names[..at].iter().find(|other| !together(other)) else { continue };
            let cause = Cause::NamesAlike { other: (*other).to_owned(), file: file_with(other) };
            problems.add(Problem {
                file: file_with(name),
                line: None,
                column: Some((*name).to_owned()),
                cause,
            });
        }
    }
}

/// A name without what people spell differently: case, spaces, punctuation, leading zeros.
pub(crate) fn folded(name: &str) -> String {
    let mut out = String::new();
    let mut separated = false;
    let mut characters = name.chars().flat_map(char::to_lowercase).peekable();
    while let Some(c) = characters.next() {
        if !c.is_alphanumeric() {
            separated = true;
            continue;
        }
        let after_digit = out.ends_with(|last: char| last.is_ascii_digit());
        if c.is_ascii_digit() && after_digit && separated {
            out.push('.');
        }
        let starts_number = !after_digit || separated;
        let goes_on = characters.peek().is_some_and(char::is_ascii_digit);
        separated = false;
        if c == '0' && starts_number && goes_on {
            // The zero is dropped, and what follows still starts the number.
            separated = after_digit;
            continue;
        }
        out.push(c);
    }
    // Signs alone make a name, too.
    if out.is_empty() { name.to_owned() } else { out }
}

/// A missing answer is no code.
pub(crate) fn answered(code: u8) -> Option<u8> {
    (code != MISSING).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling() {
        for (one, other) in [("A1", "a1"), ("Q_01", "q1"), ("item 7", "Item.007"), ("x10", "X-10")] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        for (one, other) in
            [("Q1.1", "Q11"), ("a1", "a10"), ("a0", "a"), ("q1_01", "q101"), ("+", "-"), ("x1", "x2")]
        {
            assert_ne!(folded(one), folded(other), "{one} {other}");
        }
        assert_eq!(folded("q1_01"), folded("Q1.1"));
        assert_eq!(folded("q1_001"), folded("Q1.1"));
    }
}
