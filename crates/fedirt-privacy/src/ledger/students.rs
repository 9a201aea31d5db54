//! The students of a release, as salted fingerprints by which releases are compared, column by column, so that another list of
//! items hides nothing: where files have ids, by the ids and by who gave which answer; otherwise by how often each answer was given.

use super::exact::{shared, symmetric_difference};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Columns that must agree before files without ids are taken to be about the same students: by chance, two items and the
/// number of students seldom do.
const COLUMNS_THAT_TELL: usize = 3;

/// Words of a sketch, of 64 bits each.
const SKETCH_WORDS: usize = 8;

/// A set of fingerprints as the parity of how many fall on each of 512 places (an odd sketch: Mitzenmacher, Pagh and Pham 2014).
/// Two sketches differ in as many places as their sets differ in fingerprints, or in an even number less where some share a place.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Sketch([u64; SKETCH_WORDS]);

impl Sketch {
    fn toggle(&mut self, fingerprint: u64) {
        let place = fingerprint % (64 * SKETCH_WORDS as u64);
        self.0[(place / 64) as usize] ^= 1 << (place % 64);
    }

    fn differs_in(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }
}

/// Fingerprints of students. They never leave the site.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Students {
    /// Of ids, sorted; empty where the files have none.
    ids: Vec<u64>,
    /// For each column, how often each value occurs. One column says how many students there are.
    columns: BTreeMap<u64, BTreeMap<u64, u64>>,
    /// For each column, who has which value; empty where the files have no ids.
    who: BTreeMap<u64, Sketch>,
}

impl Students {
    /// From fingerprints of ids, and of (column, value) for each student and column.
    pub fn new(mut ids: Vec<u64>, cells: impl IntoIterator<Item = (u64, u64)>) -> Self {
        ids.sort_unstable();
        let mut columns: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
        for (column, value) in cells {
            *columns.entry(column).or_default().entry(value).or_default() += 1;
        }
        Self { ids, columns, who: BTreeMap::new() }
    }

    /// With fingerprints of (column, value and id together) for each student and column, where the files have ids.
    #[must_use]
    pub fn with_who(mut self, cells: impl IntoIterator<Item = (u64, u64)>) -> Self {
        for (column, value) in cells {
            self.who.entry(column).or_default().toggle(value);
        }
        self
    }

    /// Columns that both have.
    fn common<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a BTreeMap<u64, u64>, &'a BTreeMap<u64, u64>)> {
        self.columns.iter().filter_map(|(column, here)| Some((here, other.columns.get(column)?)))
    }

    /// The fewest students that have changed by any measure that sees a change, where one who gave another answer counts twice: as
    /// gone and as come. Each measure stands for itself, because a large change of one column hides nothing in the others: the
    /// difference of two sums that leave out that column is about the few.
    pub(super) fn fewest_changed(&self, other: &Self) -> usize {
        let mut measures: Vec<usize> = Vec::new();
        // Ids that are mostly others tell nothing of who is the same: it may be the column that was taken for the ids.
        let known = 2 * shared(&self.ids, &other.ids) >= self.ids.len().max(other.ids.len());
        if known && !self.ids.is_empty() {
            measures.push(symmetric_difference(&self.ids, &other.ids));
            // Some ids may be spelt differently: the number of students does not depend on it.
            measures.push(self.ids.len().abs_diff(other.ids.len()));
        }
        if known && !self.who.is_empty() && !other.who.is_empty() {
            let both = self.who.iter().filter_map(|(column, here)| Some((here, other.who.get(column)?)));
            measures.extend(both.map(|(here, there)| here.differs_in(there)));
        } else {
            measures.extend(self.common(other).map(difference));
        }
        measures.into_iter().filter(|changed| *changed > 0).min().unwrap_or(0)
    }

    /// How many students are surely the same: those with the same id, or all where files without ids agree in every column.
    pub(super) fn in_common(&self, other: &Self) -> usize {
        if !self.ids.is_empty() && !other.ids.is_empty() {
            return shared(&self.ids, &other.ids);
        }
        let alike = self.common(other).all(|(here, there)| here == there);
        if !alike || self.common(other).count() < COLUMNS_THAT_TELL {
            return 0;
        }
        let most = self.columns.values().map(|values| values.values().sum::<u64>()).max();
        usize::try_from(most.unwrap_or(0)).unwrap_or(usize::MAX)
    }
}

/// How many values stand in one of two columns only.
fn difference((here, there): (&BTreeMap<u64, u64>, &BTreeMap<u64, u64>)) -> usize {
    let count = |values: &BTreeMap<u64, u64>, value: &u64| values.get(value).copied().unwrap_or(0);
    let gone: u64 = here.iter().map(|(value, n)| n.abs_diff(count(there, value))).sum();
    let come: u64 = there.iter().filter(|(value, _)| !here.contains_key(value)).map(|(_, n)| n).sum();
    usize::try_from(gone + come).unwrap_or(usize::MAX)
}

impl fmt::Debug for Students {
    /// Leaves out the fingerprints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Students({} ids, {} columns)", self.ids.len(), self.columns.len())
    }
}

impl fmt::Display for Students {
    /// `id,id;column:value*count,value*count;column=sketch;…`, fingerprints with 16 digits, sketches with 128.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.ids.iter().map(|id| format!("{id:016x}")).collect();
        write!(f, "{}", ids.join(","))?;
        self.columns.iter().try_for_each(|(column, values)| {
            let values: Vec<String> = values.iter().map(|(value, n)| format!("{value:016x}*{n}")).collect();
            write!(f, ";{column:016x}:{}", values.join(","))
        })?;
        self.who.iter().try_for_each(|(column, Sketch(words))| {
            write!(f, ";{column:016x}=")?;
            words.iter().try_for_each(|word| write!(f, "{word:016x}"))
        })
    }
}

/// A text that is none of students'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoStudents;

impl FromStr for Students {
    type Err = NoStudents;

    fn from_str(text: &str) -> Result<Self, NoStudents> {
        let print = |text: &str| u64::from_str_radix(text, 16).map_err(|_| NoStudents);
        let mut parts = text.split(';');
        let ids = match parts.next().unwrap_or_default() {
            "" => Vec::new(),
            ids => ids.split(',').map(print).collect::<Result<_, _>>()?,
        };
        let column = |part: &str| {
            let (column, values) = part.split_once(':').ok_or(NoStudents)?;
            let value = |text: &str| {
                let (value, count) = text.split_once('*').ok_or(NoStudents)?;
                Ok((print(value)?, count.parse().map_err(|_| NoStudents)?))
            };
            Ok((print(column)?, values.split(',').map(value).collect::<Result<_, NoStudents>>()?))
        };
        let sketch = |(column, digits): (&str, &str)| {
            let word = |at: usize| digits.get(16 * at..16 * (at + 1)).ok_or(NoStudents).and_then(print);
            let mut words = [0; SKETCH_WORDS];
            for (at, place) in words.iter_mut().enumerate() {
                *place = word(at)?;
            }
            if digits.len() == 16 * SKETCH_WORDS {
                Ok((print(column)?, Sketch(words)))
            } else {
                Err(NoStudents)
            }
        };
        let (mut columns, mut who) = (BTreeMap::new(), BTreeMap::new());
        for part in parts {
            if let Some(parts) = part.split_once('=') {
                who.extend([sketch(parts)?]);
            } else {
                columns.extend([column(part)?]);
            }
        }
        Ok(Self { ids, columns, who })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers to items, row by row; the number of the row is its id.
    fn students(rows: &[(u64, Vec<(u64, u64)>)]) -> Students {
        let cells = rows.iter().flat_map(|(_, cells)| cells.iter().copied().chain([(99, 0)]));
        let print = |id: u64, answer: u64| (id * 10 + answer).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7;
        let who = rows.iter().flat_map(|(id, cells)| cells.iter().map(move |(j, x)| (*j, print(*id, *x))));
        Students::new(rows.iter().map(|(id, _)| *id).collect(), cells).with_who(who)
    }

    /// Binary answers to some items, different from student to student.
    fn class(ids: std::ops::Range<u64>, items: std::ops::Range<u64>) -> Students {
        let row = |id: u64| (id, items.clone().map(|j| (j, id * 7 / (j + 2) % 2)).collect());
        students(&ids.map(row).collect::<Vec<_>>())
    }

    fn without_ids(mut students: Students) -> Students {
        students.ids.clear();
        students.who.clear();
        students
    }

    #[test]
    fn one_student_less_is_seen_whatever_the_items() {
        let all = class(0..160, 0..20);
        for ids in [true, false] {
            let view = |students| if ids { students } else { without_ids(students) };
            let all = view(all.clone());
            assert_eq!(all.fewest_changed(&view(class(0..160, 0..19))), 0, "an item less changes no student");
            assert_eq!(all.fewest_changed(&view(class(0..159, 0..19))), 1);
            assert_eq!(all.fewest_changed(&view(class(1..160, 5..20))), 1);
            assert!(all.fewest_changed(&view(class(0..148, 0..20))) >= 12);
        }
    }

    #[test]
    fn other_answers_of_few_students_are_seen() {
        let before = class(0..50, 0..4);
        let mut rows: Vec<_> = (0..50).map(|id| (id, vec![(0, id * 7 / 2 % 2)])).collect();
        assert_eq!(before.fewest_changed(&students(&rows)), 0);
        rows[3].1[0].1 ^= 1;
        assert_eq!(before.fewest_changed(&students(&rows)), 2, "gone and come");
    }

    /// A hostile coordinator has many students marked again, or all ids renamed, so that the one who is left out goes unnoticed.
    #[test]
    fn a_large_change_hides_no_small_one() {
        let items = |id: u64| -> Vec<(u64, u64)> { (0..6).map(|j| (j, id * 7 / (j + 2) % 2)).collect() };
        let all: Vec<_> = (0..160).map(|id| (id, items(id))).collect();
        let mut marked = all[..159].to_vec();
        marked.iter_mut().take(30).for_each(|(_, cells)| cells[5].1 ^= 1);
        let mut renamed: Vec<_> = all[..159].to_vec();
        renamed.iter_mut().for_each(|(id, _)| *id += 1000);
        let mut respelt: Vec<_> = all[..159].to_vec();
        respelt.iter_mut().take(10).for_each(|(id, _)| *id += 1000);
        let mut answered = all.clone();
        answered.iter_mut().take(30).for_each(|(_, cells)| cells[5].1 ^= 1);
        answered[80].1[0].1 ^= 1;
        let before = students(&all);
        for few in [&marked, &answered, &renamed, &respelt] {
            assert!((1..10).contains(&before.fewest_changed(&students(few))));
        }
        for few in [&marked, &renamed] {
            let changed = without_ids(before.clone()).fewest_changed(&without_ids(students(few)));
            assert!((1..10).contains(&changed), "{changed}");
        }
        // Without ids a test that is taken again may look like a few changes; with ids it does not.
        let again: Vec<_> = all.iter().map(|(id, _)| (*id, items(id * 31 + 5))).collect();
        assert!(before.fewest_changed(&students(&again)) >= 10);
    }

    #[test]
    fn the_same_students_are_known_by_id_or_by_all_their_answers() {
        let known = class(0..50, 0..6);
        assert_eq!(known.in_common(&class(40..90, 0..6)), 10);
        assert_eq!(known.in_common(&class(50..90, 0..6)), 0);
        let (a, b) = (without_ids(known.clone()), without_ids(class(0..50, 2..6)));
        assert_eq!(a.in_common(&b), 50);
        assert_eq!(a.in_common(&without_ids(class(10..60, 0..6))), 0);
        assert_eq!(a.in_common(&without_ids(class(0..50, 5..6))), 0, "one item tells too little");
        assert_eq!(known.to_string().parse(), Ok(known.clone()));
        assert_eq!(format!("{known:?}"), "Students(50 ids, 7 columns)");
        assert_eq!("7".repeat(20).parse::<Students>(), Err(NoStudents));
    }
}
