//! Codes and options that follow the others without a gap and that only a few rows have: the 2 of omitted answers among 0
//! and 1, the 7, 8, 9 after a scale from 1 to 6, the E of omitted answers among the options A to D.
//!
//! Nothing in such a code tells it from a category that few have reached, so the limits are our own. A code is in question if
//! fewer than one answer in twenty to its item has it, if the code before it is more than four times as frequent (categories
//! grow rare by and by), and if it is not usual: at most half of the items that begin at the same code have it more often than
//! that. Two codes make an item and are never in question.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::cause::Cause;
use crate::questions::{Items, occurring, regular_range};

/// A code is rare if fewer than one answer in this many has it.
const RARE: u64 = 20;
/// And if the code before it is more than this many times as frequent.
const DROP: u64 = 4;

/// Items with rare codes at the upper end of their regular range, and these codes.
pub(crate) fn rare_codes<'a>(items: &Items<'a>, settled: &HashSet<&str>) -> Vec<(&'a str, Cause, Vec<u8>)> {
    let scales: Vec<Scale> = items.counts.iter().map(|counts| Scale::new(occurring(counts))).collect();
    let mut groups: HashMap<u8, Vec<usize>> = HashMap::new();
    for (at, scale) in scales.iter().enumerate().filter(|(_, scale)| scale.regular().len() > 1) {
        groups.entry(scale.lowest()).or_default().push(at);
    }
    let mut found = Vec::new();
    for (at, scale) in scales.iter().enumerate().filter(|(at, _)| !settled.contains(items.names[*at])) {
        let group = groups.get(&scale.lowest()).map_or(&[][..], Vec::as_slice);
        let usual = |code: u8| group.iter().filter(|at| scales[**at].often(code)).count() * 2 > group.len();
        let Some(first) = scale.first_rare(usual) else { continue };
        let (below, beyond) = scale.regular().split_at(first);
        let beyond: Vec<u8> = beyond.iter().map(|(code, _)| *code).collect();
        let used_by = group
            .iter()
            .find(|other| **other != at && beyond.iter().any(|code| scales[**other].often(*code)))
            .map(|other| items.names[*other].to_owned());
        let range = (scale.lowest(), below.last().map_or(0, |(code, _)| *code));
        let counts = scale.codes.clone();
        found.push((
            items.names[at],
            Cause::RareCodes { counts, range, beyond: beyond.clone(), used_by },
            beyond,
        ));
    }
    found
}

/// The codes of an item.
struct Scale {
    codes: Vec<(u8, u64)>,
    /// How many of them follow the lowest without a gap.
    regular: usize,
    answers: u64,
}

impl Scale {
    fn new(codes: Vec<(u8, u64)>) -> Self {
        let regular = regular_range(&codes).map_or(0, |(low, high)| usize::from(high - low) + 1);
        let answers = codes.iter().map(|(_, count)| count).sum();
        Self { codes, regular, answers }
    }

    fn regular(&self) -> &[(u8, u64)] {
        &self.codes[..self.regular]
    }

    fn lowest(&self) -> u8 {
        self.codes.first().map_or(0, |(code, _)| *code)
    }

    /// Whether a code is within the regular range and not rare.
    fn often(&self, code: u8) -> bool {
        self.regular().iter().any(|(other, count)| *other == code && !is_rare(*count, self.answers))
    }

    /// The place of the first regular code from which on all are rare and none is usual, after a drop.
    fn first_rare(&self, usual: impl Fn(u8) -> bool) -> Option<usize> {
        let regular = self.regular();
        let in_question = |(code, count): &(u8, u64)| is_rare(*count, self.answers) && !usual(*code);
        (2..regular.len())
            .find(|at| regular[*at].1 * DROP < regular[at - 1].1 && regular[*at..].iter().all(in_question))
    }
}

fn is_rare(count: u64, answers: u64) -> bool {
    count * RARE < answers
}

/// The last option of a row such as A–E if few answers to all keyed items have it, with its count and that of all answers:
/// `counts` are those of the options, by their place in the row.
pub(crate) fn rare_option(counts: &BTreeMap<u32, u64>) -> Option<(u32, u64, u64)> {
    let (last, count) = counts.last_key_value()?;
    let before = counts.get(&last.checked_sub(1)?)?;
    let answers = counts.values().sum();
    (counts.len() > 2 && is_rare(*count, answers) && count * DROP < *before)
        .then_some((*last, *count, answers))
}
