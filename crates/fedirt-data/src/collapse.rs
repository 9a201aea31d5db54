//! Merging thin categories: which categories of an item become one. What is said counts for all sites alike, because it is
//! decided on the answers of all of them together, or fixed before anybody looks at answers.

use fedirt_model::code_set::{HIGHEST_CODE, MergedCode};

use crate::questions::CodeCounts;

/// How the categories of an item are merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Collapse {
    /// Each category goes together with a neighbour until all have this many answers, those of all sites counted.
    AtLeast(u64),
    /// These categories become one each, lowest first.
    Groups(Vec<Vec<u8>>),
}

/// The categories that are left, by their lowest codes, and the codes that became one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedCategories {
    /// The categories that are left.
    pub codes: Vec<u8>,
    /// Codes that count as one of them.
    pub merged: Vec<MergedCode>,
}

impl Collapse {
    /// What a codebook says: a number of answers (`30`), or groups of codes between bars (`0-2|3|4,5`).
    pub(crate) fn read(text: &str) -> Option<Self> {
        if let Ok(answers) = text.trim().parse::<u64>() {
            return (answers > 0).then_some(Self::AtLeast(answers));
        }
        let groups: Option<Vec<Vec<u8>>> = text.split('|').map(group).collect();
        let groups = groups?;
        let ascending = groups.concat().is_sorted_by(|low, high| low < high);
        (groups.len() > 1 && ascending).then_some(Self::Groups(groups))
    }

    /// The categories that become of some codes, ascending; `None` where the groups are about other codes.
    pub(crate) fn of(&self, codes: &[u8], counts: &CodeCounts) -> Option<MergedCategories> {
        let groups = match self {
            Self::Groups(groups) => (groups.concat() == codes).then(|| groups.clone())?,
            Self::AtLeast(answers) => {
                let groups = codes.iter().map(|code| vec![*code]).collect();
                join_thin(groups, *answers, |code| counts.get(usize::from(code)).copied().unwrap_or(0))
            }
        };
        let (mut left, mut merged) = (Vec::new(), Vec::new());
        for group in groups {
            let [into, others @ ..] = group.as_slice() else { continue };
            left.push(*into);
            merged.extend(others.iter().map(|code| MergedCode { code: *code, into: *into }));
        }
        Some(MergedCategories { codes: left, merged })
    }
}

/// The codes of a group: `4`, `0-2`, `4,5`.
fn group(text: &str) -> Option<Vec<u8>> {
    let code = |text: &str| text.trim().parse::<u8>().ok().filter(|code| *code <= HIGHEST_CODE);
    let part = |part: &str| match part.split_once(['-', '–']) {
        None => Some(vec![code(part)?]),
        Some((from, to)) => Some((code(from)?..=code(to)?).collect()),
    };
    let parts: Option<Vec<Vec<u8>>> = text.split(',').map(part).collect();
    parts.map(|parts| parts.concat()).filter(|codes| !codes.is_empty())
}

/// Joins the group with the fewest answers to the neighbour that has fewer, the lower of two that have as many, until all
/// groups have enough answers or two are left.
fn join_thin(mut groups: Vec<Vec<u8>>, enough: u64, count: impl Fn(u8) -> u64) -> Vec<Vec<u8>> {
    let of = |group: &Vec<u8>| group.iter().map(|code| count(*code)).sum::<u64>();
    while groups.len() > 2 {
        let counts: Vec<u64> = groups.iter().map(of).collect();
        let Some(thin) = (0..groups.len()).min_by_key(|at| counts[*at]).filter(|at| counts[*at] < enough)
        else {
            break;
        };
        let below = thin.checked_sub(1);
        let above = Some(thin + 1).filter(|at| *at < groups.len());
        let Some(other) = below.into_iter().chain(above).min_by_key(|at| counts[*at]) else { break };
        let higher = groups.remove(thin.max(other));
        groups[thin.min(other)].extend(higher);
    }
    groups
}

/// Categories as a codebook's column `collapse` has them: `0-3|4|5-9`.
pub(crate) fn written(codes: &[u8], merged: &[MergedCode]) -> String {
    let group = |into: &u8| {
        let last = merged.iter().filter(|merged| merged.into == *into).map(|merged| merged.code).max();
        last.map_or_else(|| into.to_string(), |last| format!("{into}-{last}"))
    };
    codes.iter().map(group).collect::<Vec<_>>().join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[u64]) -> CodeCounts {
        let mut counts = [0; HIGHEST_CODE as usize + 1];
        counts[..of.len()].copy_from_slice(of);
        counts
    }

    fn collapsed(enough: u64, of: &[u64]) -> String {
        let codes: Vec<u8> = (0..of.len() as u8).collect();
        let MergedCategories { codes, merged } = Collapse::AtLeast(enough).of(&codes, &counts(of)).unwrap();
        written(&codes, &merged)
    }

    #[test]
    fn thin_categories_join_their_thinner_neighbour() {
        assert_eq!(collapsed(10, &[50, 40, 30]), "0|1|2");
        assert_eq!(collapsed(10, &[50, 3, 30]), "0|1-2");
        // 2 (1 answer) joins 3 (4 answers), the two join 4 (6 answers).
        assert_eq!(collapsed(11, &[50, 40, 1, 4, 6]), "0|1|2-4");
        // Nobody chose 1: it joins the lower of two neighbours with as many answers.
        assert_eq!(collapsed(1, &[5, 0, 5]), "0-1|2");
        // Two are left, however thin.
        assert_eq!(collapsed(100, &[5, 5, 5, 5]), "0-1|2-3");
    }

    #[test]
    fn what_a_codebook_says() {
        let groups = Collapse::read(" 0-2 | 3 | 4,5").unwrap();
        assert_eq!(groups, Collapse::Groups(vec![vec![0, 1, 2], vec![3], vec![4, 5]]));
        assert_eq!(groups.of(&[0, 1, 2, 3, 4], &counts(&[])), None);
        let made = groups.of(&[0, 1, 2, 3, 4, 5], &counts(&[])).unwrap();
        assert_eq!((made.codes, made.merged.len()), (vec![0, 3, 4], 3));
        assert_eq!(Collapse::read("30"), Some(Collapse::AtLeast(30)));
        for wrong in ["0", "", "a|b", "0-1", "0|0", "1|0", "2-1|3", "0|101", "0||1"] {
            assert_eq!(Collapse::read(wrong), None, "{wrong}");
        }
    }
}
