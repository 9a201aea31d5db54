//! The students of a release, as salted fingerprints by which releases are compared: by id where there are ids, and by how
//! often each answer was given to each item, so that another list of items hides nothing.

use super::exact::{shared, symmetric_difference};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Columns that must agree before files without ids are taken to be about the same students: by chance, two items and the
/// number of students seldom do.
const COLUMNS_THAT_TELL: usize = 3;

/// Fingerprints of students. They never leave the site.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Students {
    /// Of ids, sorted; empty where the files have none.
    ids: Vec<u64>,
    /// For each column, how often each value occurs. One column says how many students there are.
    columns: BTreeMap<u64, BTreeMap<u64, u64>>,
}

impl Students {
    /// From fingerprints of ids, and of (column, value) for each student and column.
    pub fn new(mut ids: Vec<u64>, cells: impl IntoIterator<Item = (u64, u64)>) -> Self {
        ids.sort_unstable();
        let mut columns: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
        for (column, value) in cells {
            *columns.entry(column).or_default().entry(value).or_default() += 1;
        }
        Self { ids, columns }
    }

    /// Columns that both have.
    fn common<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a BTreeMap<u64, u64>, &'a BTreeMap<u64, u64>)> {
        self.columns.iter().filter_map(|(column, here)| Some((here, other.columns.get(column)?)))
    }

    /// How many students must have changed at least, where one who gave another answer counts twice: as gone and as come.
    pub(super) fn changed(&self, other: &Self) -> usize {
        let by_id = match (self.ids.as_slice(), other.ids.as_slice()) {
            ([], _) | (_, []) => 0,
            (here, there) => symmetric_difference(here, there),
        };
        let count = |values: &BTreeMap<u64, u64>, value: &u64| values.get(value).copied().unwrap_or(0);
        let column = |(here, there): (&BTreeMap<u64, u64>, &BTreeMap<u64, u64>)| -> u64 {
            let gone: u64 = here.iter().map(|(value, n)| n.abs_diff(count(there, value))).sum();
            let come = there.iter().filter(|(value, _)| !here.contains_key(value)).map(|(_, n)| n);
            gone + come.sum::<u64>()
        };
        let by_answers = self.common(other).map(column).max().unwrap_or(0);
        by_id.max(usize::try_from(by_answers).unwrap_or(usize::MAX))
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

impl fmt::Debug for Students {
    /// Leaves out the fingerprints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Students({} ids, {} columns)", self.ids.len(), self.columns.len())
    }
}

impl fmt::Display for Students {
    /// `id,id;column:value*count,value*count;column:…`, fingerprints with 16 digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.ids.iter().map(|id| format!("{id:016x}")).collect();
        write!(f, "{}", ids.join(","))?;
        self.columns.iter().try_for_each(|(column, values)| {
            let values: Vec<String> = values.iter().map(|(value, n)| format!("{value:016x}*{n}")).collect();
            write!(f, ";{column:016x}:{}", values.join(","))
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
        Ok(Self { ids, columns: parts.map(column).collect::<Result<_, NoStudents>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers to items, row by row; the number of the row is its id.
    fn students(rows: &[(u64, Vec<(u64, u64)>)]) -> Students {
        let cells = rows.iter().flat_map(|(_, cells)| cells.iter().copied().chain([(99, 0)]));
        Students::new(rows.iter().map(|(id, _)| *id).collect(), cells)
    }

    /// Binary answers to some items, different from student to student.
    fn class(ids: std::ops::Range<u64>, items: std::ops::Range<u64>) -> Students {
        let row = |id: u64| (id, items.clone().map(|j| (j, id * 7 / (j + 2) % 2)).collect());
        students(&ids.map(row).collect::<Vec<_>>())
    }

    fn without_ids(mut students: Students) -> Students {
        students.ids.clear();
        students
    }

    #[test]
    fn one_student_less_is_seen_whatever_the_items() {
        let all = class(0..160, 0..20);
        for ids in [true, false] {
            let view = |students| if ids { students } else { without_ids(students) };
            let all = view(all.clone());
            assert_eq!(all.changed(&view(class(0..160, 0..19))), 0, "an item less changes no student");
            assert_eq!(all.changed(&view(class(0..159, 0..19))), 1);
            assert_eq!(all.changed(&view(class(1..160, 5..20))), 1);
            assert!(all.changed(&view(class(0..148, 0..20))) >= 12);
        }
    }

    #[test]
    fn other_answers_of_few_students_are_seen() {
        let before = class(0..50, 0..4);
        let mut rows: Vec<_> = (0..50).map(|id| (id, vec![(0, id * 7 / 2 % 2)])).collect();
        assert_eq!(before.changed(&students(&rows)), 0);
        rows[3].1[0].1 ^= 1;
        assert_eq!(before.changed(&students(&rows)), 2, "gone and come");
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
