//! Questions about the options of keyed items: what counts as wrong must be an option. The rules are in `questions`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::cause::Cause;
use crate::cells::number;
use crate::problems::{Problem, Problems};
use crate::questions::{Items, occurring};
use crate::rare_codes::rare_option;
use crate::reading::{Responses, SiteResponses};
use crate::text::shown;

/// An option as a letter or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Letter(u32),
    Number(u32),
    Other,
}

fn kind(option: &str) -> Kind {
    let mut letters = option.chars();
    match (letters.next().filter(char::is_ascii_alphabetic), letters.next()) {
        (Some(letter), None) => Kind::Letter(u32::from(letter.to_ascii_uppercase()) - u32::from('A')),
        _ => match number(option).filter(|value| value.fract() == 0.0 && (0.0..100.0).contains(value)) {
            Some(value) => Kind::Number(value as u32),
            None => Kind::Other,
        },
    }
}

/// Asks about options that stand apart, keys that nobody chose, and items that seem to lack a key.
pub(crate) fn ask(
    responses: &Responses,
    items: &Items<'_>,
    settled: &HashSet<&str>,
    problems: &mut Problems,
) {
    let said = &responses.said;
    if said.keyed.is_empty() {
        return;
    }
    let file_of = |site: &SiteResponses| site.sources.first().map(|source| source.file.clone());
    let mut add = |file, line, column: &str, cause| {
        problems.add(Problem { file, line, column: Some(column.to_owned()), cause });
    };
    let chosen =
        || responses.sites.iter().flat_map(|site| site.chosen.iter().map(move |chosen| (site, chosen)));
    // The lowest option and those that follow it without a gap, of the kind that most options are.
    let all: BTreeSet<Kind> =
        chosen().flat_map(|(_, chosen)| chosen.options.iter().map(|o| kind(o))).collect();
    let letters =
        regular(all.iter().filter_map(|kind| if let Kind::Letter(at) = kind { Some(*at) } else { None }));
    let numbers =
        regular(all.iter().filter_map(|kind| if let Kind::Number(at) = kind { Some(*at) } else { None }));
    let lettered = letters.len() >= numbers.len();
    let in_row = |option: &str| match kind(option) {
        Kind::Letter(at) => (lettered && letters.contains(&at)).then_some(at),
        Kind::Number(at) => (!lettered && numbers.contains(&at)).then_some(at),
        Kind::Other => None,
    };
    let mut asked: HashSet<(&str, &str)> = HashSet::new();
    for (site, chosen) in chosen() {
        let key = said.rule(&chosen.item);
        for (option, line) in chosen.options.iter().zip(&chosen.first_lines) {
            // Words are options where the key has words.
            let usual = in_row(option).is_some() || kind(option) == Kind::Other && all.len() == 1;
            let right = key.is_some_and(|rule| rule.lists(option));
            if !usual && !right && asked.insert((&chosen.item, option)) {
                add(file_of(site), Some(*line), &chosen.item, Cause::StrangeOption(option.clone()));
            }
        }
    }
    // An option after the others that few chose.
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for (_, chosen) in chosen() {
        for (option, count) in chosen.options.iter().zip(chosen.counts()) {
            if let Some(at) = in_row(option) {
                *counts.entry(at).or_default() += count;
            }
        }
    }
    if let Some((last, count, answers)) = rare_option(&counts) {
        let is_last = |option: &&String| in_row(option) == Some(last);
        let listed = said
            .keyed
            .iter()
            .any(|keyed| keyed.rule.codes.iter().any(|(text, _)| in_row(text) == Some(last)));
        let places = chosen().filter(|_| !listed).flat_map(|(site, chosen)| {
            let options = chosen.options.iter().zip(&chosen.first_lines);
            options
                .filter(|(option, _)| is_last(option))
                .map(move |(option, line)| (site, chosen, option, line))
        });
        for (site, chosen, option, line) in places {
            if asked.insert((&chosen.item, option)) {
                let cause = Cause::RareOption { option: option.clone(), count, answers };
                add(file_of(site), Some(*line), &chosen.item, cause);
            }
        }
    }
    let mut options_of: HashMap<&str, Vec<&str>> = HashMap::new();
    for (_, chosen) in chosen() {
        options_of.entry(&chosen.item).or_default().extend(chosen.options.iter().map(String::as_str));
    }
    for (item, options) in &options_of {
        if let Some(rule) = said.rule(item)
            && !options.is_empty()
            && !options.iter().any(|option| rule.lists(option))
        {
            let right: Vec<String> = rule.codes.iter().map(|(text, _)| shown(text.as_bytes())).collect();
            add(None, None, item, Cause::KeyNeverChosen(right));
        }
    }
    for (name, counts) in items.names.iter().zip(&items.counts) {
        let codes = occurring(counts);
        if !settled.contains(name)
            && codes.len() > 2
            && codes.iter().all(|(code, _)| numbers.contains(&u32::from(*code)))
        {
            add(None, None, name, Cause::Unkeyed);
        }
    }
}

/// The lowest and those that follow it without a gap.
fn regular(ascending: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut row: Vec<u32> = Vec::new();
    for at in ascending {
        match row.last() {
            Some(last) if *last + 1 < at => break,
            _ => row.push(at),
        }
    }
    row
}
