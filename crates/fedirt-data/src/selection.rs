//! Which columns the user selects as items: by name, by pattern, by a range of numbers, or with a codebook.

use std::collections::HashSet;

use crate::options::ReadOptions;

/// A selection of items.
#[derive(Debug)]
pub(crate) enum Selection<'a> {
    /// Every column that is nothing else.
    All,
    /// Names, patterns and ranges.
    Parts(&'a [String]),
    /// The items of the codebook.
    Codebook(HashSet<&'a str>),
}

impl<'a> Selection<'a> {
    pub(crate) fn new(options: &'a ReadOptions) -> Self {
        match &options.codebook {
            _ if !options.items.is_empty() => Self::Parts(&options.items),
            Some(book) => Self::Codebook(book.iter().map(|item| item.name.as_str()).collect()),
            None => Self::All,
        }
    }

    /// Whether a column is selected.
    pub(crate) fn selects(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Parts(parts) => parts.iter().any(|part| selects(part.trim(), name)),
            Self::Codebook(items) => items.contains(name),
        }
    }
}

fn selects(part: &str, name: &str) -> bool {
    part == name || matches(part, name) || range(part).is_some_and(|range| range.contains(name))
}

/// Whether a name has the form of a pattern in which `*` stands for any characters and `?` for one.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // The last star, and where the name went on after it: if the rest does not match, the star takes one more.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                (p, n) = (at + 1, taken + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// `i1-i50`: the same letters with a number from 1 to 50.
struct Range<'a> {
    letters: &'a str,
    numbers: std::ops::RangeInclusive<u64>,
}

impl Range<'_> {
    fn contains(&self, name: &str) -> bool {
        numbered(name).is_some_and(|(letters, n)| letters == self.letters && self.numbers.contains(&n))
    }
}

/// A range, at whichever `-` makes one.
fn range(part: &str) -> Option<Range<'_>> {
    part.match_indices('-').find_map(|(at, _)| {
        let (first, from) = numbered(part[..at].trim())?;
        let (last, to) = numbered(part[at + 1..].trim())?;
        // `i1-50` is as clear as `i1-i50`.
        (first == last || last.is_empty()).then_some(Range { letters: first, numbers: from..=to })
    })
}

/// A name's letters and the number at its end.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((letters, name[letters.len()..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::selects;

    #[test]
    fn names_patterns_and_ranges() {
        for (part, name) in [
            ("a", "a"),
            ("Q*", "Q12"),
            ("*", "x"),
            ("Q?", "Q1"),
            ("*_s", "a_s_s"),
            ("i1-i50", "i1"),
            ("i1-i50", "i50"),
            ("i1-i50", "i07"),
            ("i01-i50", "i7"),
            ("i1-50", "i20"),
            ("x-1-x-3", "x-2"),
            ("x-1", "x-1"),
        ] {
            assert!(selects(part, name), "{part} {name}");
        }
        for (part, name) in [
            ("a", "A"),
            ("Q*", "q1"),
            ("Q?", "Q12"),
            ("i1-i50", "i51"),
            ("i1-i50", "i0"),
            ("i1-i50", "j3"),
            ("i1-i50", "i"),
            ("i1-j50", "i3"),
            ("*_s", "a_t"),
            ("i1-i50", "id"),
        ] {
            assert!(!selects(part, name), "{part} {name}");
        }
    }
}
