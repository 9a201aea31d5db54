//! Columns of whole numbers that are perhaps no items: sums and copies of other columns, sex, age, school numbers. The rules are in `questions`.

use std::collections::HashMap;

use fedirt_model::responses::MISSING;

use crate::cause::Cause;
use crate::moments::Moments;
use crate::notes::{Note, NoteKind};
use crate::problems::{Problem, Problems};
use crate::questions::{Items, answered, folded, occurring};
use crate::reading::SiteResponses;

/// Names of columns that describe a student, as [`folded`] gives them.
const DEMOGRAPHICS: &[&str] = &[
    "age",
    "agegroup",
    "birthyear",
    "boy",
    "class",
    "classroom",
    "cohort",
    "country",
    "ethnicity",
    "female",
    "gender",
    "girl",
    "grade",
    "gradelevel",
    "immigrant",
    "income",
    "language",
    "male",
    "migrant",
    "minority",
    "nationality",
    "parented",
    "race",
    "region",
    "schooltype",
    "ses",
    "sex",
    "urban",
    "year",
    "yearofbirth",
];
/// A column with such a name is a question if its item-rest correlation is smaller than this.
const HARDLY: f64 = 0.2;
/// Any column is noted if its item-rest correlation is smaller than this, in so many rows.
const NEAR_ZERO: (f64, u64) = (0.05, 200);
/// A sum holds in at least so many rows, and has at least so many terms and values.
const SUM_ROWS: usize = 10;
const SUM_TERMS: usize = 3;
/// A copy of a column has so many answers beside the most frequent code: two easy items may be equal in a few rows.
const COPY_ANSWERS: u64 = 10;

/// Asks about columns that are sums or have the name of something else; notes those that go with no other column.
pub(crate) fn ask(items: &Items<'_>, sites: &[SiteResponses], problems: &mut Problems) -> Vec<Note> {
    let file_of = |item: &str| {
        let site = sites.iter().find(|site| site.items.iter().any(|name| name == item));
        site.and_then(|site| site.sources.first()).map(|source| source.file.clone())
    };
    let mut ask = |item: &str, cause: Cause| {
        problems.add(Problem { file: file_of(item), line: None, column: Some(item.to_owned()), cause });
    };
    let sums = sums(items, sites);
    for (name, terms) in &sums {
        ask(name, Cause::SumOfItems(terms.clone()));
    }
    for (name, other) in copies(items, sites) {
        ask(name, Cause::CopyOfItem(other.to_owned()));
    }
    let mut weak = Vec::new();
    for (at, (name, moments)) in items.names.iter().zip(item_rest(items, sites)).enumerate() {
        if sums.iter().any(|(sum, _)| sum == name) {
            continue;
        }
        let r = moments.correlation();
        if DEMOGRAPHICS.contains(&folded(name).as_str()) {
            // A column without variation, such as `female` in a school for girls, correlates with nothing.
            let r = r.unwrap_or(0.0);
            if r.abs() < HARDLY {
                ask(name, Cause::Demographic(format!("{r:.2}")));
            }
        } else if let Some(r) = r.filter(|r| r.abs() < NEAR_ZERO.0 && moments.rows >= NEAR_ZERO.1) {
            match beyond_others(items, at) {
                Some((highest, of_others)) => {
                    ask(name, Cause::GoesWithNothing { r: format!("{r:.2}"), highest, of_others });
                }
                None => weak.push((*name).to_owned()),
            }
        }
    }
    if weak.is_empty() {
        return Vec::new();
    }
    vec![Note { files: Vec::new(), kind: NoteKind::NoCorrelation(weak) }]
}

/// The highest code of an item and that of all others, where it is above that.
fn beyond_others(items: &Items<'_>, item: usize) -> Option<(u8, u8)> {
    let highest = |counts| occurring(counts).last().map(|(code, _)| *code);
    let others = items.counts.iter().enumerate().filter(|(at, _)| *at != item);
    let of_others = others.filter_map(|(_, counts)| highest(counts)).max()?;
    highest(&items.counts[item]).filter(|own| *own > of_others).map(|own| (own, of_others))
}

/// Columns that equal an earlier one in every row of all sites, each with that one. They are compared by a random linear form,
/// as sums are.
fn copies<'a>(items: &Items<'a>, sites: &[SiteResponses]) -> Vec<(&'a str, &'a str)> {
    let mut forms = vec![0_u64; items.names.len()];
    let mut rows = 0;
    for site in sites {
        let places: Vec<Option<usize>> =
            site.items.iter().map(|name| items.places.get(name.as_str()).copied()).collect();
        for row in site.table.rows() {
            let factor = scrambled(rows);
            rows += 1;
            for (place, code) in places.iter().zip(row) {
                if let (Some(at), Some(code)) = (place, answered(*code)) {
                    forms[*at] = forms[*at].wrapping_add(factor.wrapping_mul(u64::from(code) + 1));
                }
            }
        }
    }
    let mut first: HashMap<u64, &str> = HashMap::new();
    let mut found = Vec::new();
    for ((name, form), counts) in items.names.iter().zip(forms).zip(&items.counts) {
        let most = counts.iter().max().copied().unwrap_or(0);
        if counts.iter().sum::<u64>() - most < COPY_ANSWERS {
            continue;
        }
        match first.get(&form) {
            Some(other) => found.push((*name, *other)),
            None => {
                first.insert(form, name);
            }
        }
    }
    found
}

/// Columns that are sums of other columns, with the names of the first and the last term.
///
/// Sites with the same columns are looked at together. The columns are compared by a random linear form of their rows:
/// forms add up where columns do, and otherwise only by a chance of one in 2⁶⁴.
fn sums(items: &Items<'_>, sites: &[SiteResponses]) -> Vec<(String, [String; 2])> {
    let mut groups: Vec<Vec<&SiteResponses>> = Vec::new();
    for site in sites {
        match groups.iter_mut().find(|group| group[0].items == site.items) {
            Some(group) => group.push(site),
            None => groups.push(vec![site]),
        }
    }
    let mut found: Vec<(String, [String; 2])> = Vec::new();
    for group in groups {
        let names = &group[0].items;
        let values = |name: &str| items.places.get(name).map_or(0, |at| occurring(&items.counts[*at]).len());
        if names.len() <= SUM_TERMS {
            continue;
        }
        let complete = |row: &&[u8]| !row.contains(&MISSING);
        let rows = || group.iter().flat_map(|site| site.table.rows());
        let only_complete = rows().filter(complete).take(SUM_ROWS).count() == SUM_ROWS;
        let mut forms = vec![0_u64; names.len()];
        let mut used = 0;
        for (at, row) in rows().filter(|row| !only_complete || complete(row)).enumerate() {
            let factor = scrambled(at as u64);
            for (form, code) in forms.iter_mut().zip(row) {
                *form = form.wrapping_add(factor.wrapping_mul(answered(*code).unwrap_or(0).into()));
            }
            used += 1;
        }
        if used < SUM_ROWS {
            continue;
        }
        for (at, name) in names.iter().enumerate() {
            if values(name) < SUM_TERMS || found.iter().any(|(sum, _)| sum == name) {
                continue;
            }
            if let Some((first, last)) = terms(&forms, at) {
                found.push((name.clone(), [names[first].clone(), names[last].clone()]));
            }
        }
    }
    found
}

/// The first and the last of the columns that add up to the column: all others, or neighbours without it.
fn terms(forms: &[u64], column: usize) -> Option<(usize, usize)> {
    let add = |sum: u64, form: &u64| sum.wrapping_add(*form);
    let wanted = forms[column];
    if forms.iter().fold(0, add).wrapping_sub(wanted) == wanted {
        let first = usize::from(column == 0);
        let last = forms.len() - 1 - usize::from(column == forms.len() - 1);
        return Some((first, last));
    }
    for (start, part) in [(0, &forms[..column]), (column + 1, &forms[column + 1..])] {
        // The form of the columns before a place, and the first place that has it.
        let mut before: HashMap<u64, usize> = HashMap::new();
        let mut sum = 0_u64;
        for (at, form) in part.iter().enumerate() {
            before.entry(sum).or_insert(at);
            sum = sum.wrapping_add(*form);
            if let Some(first) = before.get(&sum.wrapping_sub(wanted))
                && at + 1 - first >= SUM_TERMS
                // A column of zeros adds nothing: three columns of which one is the same as this are no sum.
                && part[*first..=at].iter().filter(|form| **form != 0).count() >= SUM_TERMS
            {
                return Some((start + first, start + at));
            }
        }
    }
    None
}

/// A number that looks random, from a number (the finaliser of SplitMix64).
fn scrambled(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// For each item, what its item-rest correlation needs. Scores run from 0 to 1 in every item, so that an age does not
/// outweigh the items.
fn item_rest(items: &Items<'_>, sites: &[SiteResponses]) -> Vec<Moments> {
    let scales: Vec<(f64, f64)> = items
        .counts
        .iter()
        .map(|counts| {
            let codes = occurring(counts);
            let lowest = codes.first().map_or(0, |(code, _)| *code);
            let highest = codes.last().map_or(0, |(code, _)| *code);
            (f64::from(lowest), 1.0 / f64::from((highest - lowest).max(1)))
        })
        .collect();
    let mut moments = vec![Moments::default(); items.names.len()];
    for site in sites {
        let places: Vec<usize> =
            site.items.iter().filter_map(|name| items.places.get(name.as_str()).copied()).collect();
        let score = |place: usize, code: u8| (f64::from(code) - scales[place].0) * scales[place].1;
        for row in site.table.rows() {
            let answers = || places.iter().zip(row).filter_map(|(at, code)| Some((*at, answered(*code)?)));
            let sum: f64 = answers().map(|(at, code)| score(at, code)).sum();
            let others = answers().count().saturating_sub(1);
            if others > 0 {
                for (at, code) in answers() {
                    let x = score(at, code);
                    moments[at].add(x, (sum - x) / others as f64);
                }
            }
        }
    }
    moments
}
