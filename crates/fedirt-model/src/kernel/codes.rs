//! Answers of a group of items as one byte.
//!
//! The answers of neighbouring items are written as digits of a mixed-radix number: a digit per item, with
//! a digit of its own for a missing answer where there are any. Groups are as long as their tables stay
//! small enough for the first-level cache.

use super::aligned::Aligned;
use crate::responses::MISSING;

/// Largest number of combinations in a group: 32 rows of 64 doubles are 16 KiB.
const MAX_STATES: usize = 32;

/// Largest number of combinations in a group for so many students: a table pays where several of them look up each row.
fn most_states(students: usize) -> usize {
    (students / 2).clamp(2, MAX_STATES)
}

/// Some neighbouring items of a panel and the combinations of their answers.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// First item (position in the panel).
    pub first: usize,
    /// Digits per item: categories, plus one where answers are missing.
    pub radix: Vec<usize>,
    /// Number of combinations.
    pub states: usize,
}

impl Group {
    /// The answer of each item of the group for a combination: a category, or the number of categories where missing.
    pub(crate) fn digits(&self, mut code: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.radix.iter().enumerate().map(move |(k, radix)| {
            let digit = code % radix;
            code /= radix;
            (self.first + k, digit)
        })
    }
}

/// Groups of items and, group by group, one code per student.
#[derive(Debug, Clone)]
pub(crate) struct Codes {
    pub groups: Vec<Group>,
    students: usize,
    codes: Vec<u8>,
}

impl Codes {
    /// Encodes item columns (`columns[item * students + student]`).
    pub(crate) fn new(columns: &[u8], students: usize, categories: &[usize]) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut codes: Vec<u8> = Vec::new();
        for (item, &categories) in categories.iter().enumerate() {
            let column = &columns[item * students..(item + 1) * students];
            let radix = categories + usize::from(column.contains(&MISSING));
            let fits = groups.last().is_some_and(|g| g.states * radix <= most_states(students));
            if !fits {
                groups.push(Group { first: item, radix: Vec::new(), states: 1 });
                codes.resize(codes.len() + students, 0);
            }
            let Some(group) = groups.last_mut() else { continue };
            let place = group.states;
            group.radix.push(radix);
            group.states *= radix;
            let start = codes.len() - students;
            for (code, &cell) in codes[start..].iter_mut().zip(column) {
                let digit = if cell == MISSING { categories } else { usize::from(cell) };
                // At most MAX_STATES, or the categories of one item plus one: both fit a byte.
                *code += (place * digit) as u8;
            }
        }
        Self { groups, students, codes }
    }

    /// Codes of a group for a range of students.
    pub(crate) fn of(&self, group: usize, students: std::ops::Range<usize>) -> &[u8] {
        &self.codes[group * self.students + students.start..group * self.students + students.end]
    }

    /// One table row per combination: the sum over its answers of `row(item, category)`.
    pub(crate) fn tables<'a>(
        &self,
        width: usize,
        categories: &[usize],
        row: impl Fn(usize, usize) -> &'a [f64],
    ) -> Vec<Aligned> {
        self.groups
            .iter()
            .map(|group| {
                let mut table = Aligned::zeros(group.states * width);
                for (code, out) in table.chunks_exact_mut(width).enumerate() {
                    for (item, digit) in group.digits(code) {
                        if digit < categories[item] {
                            for (o, x) in out.iter_mut().zip(row(item, digit)) {
                                *o += x;
                            }
                        }
                    }
                }
                table
            })
            .collect()
    }

    /// Distributes sums by combination over items and categories: `add(item, category, row)`.
    pub(crate) fn unfold(
        &self,
        width: usize,
        categories: &[usize],
        sums: &[Aligned],
        mut add: impl FnMut(usize, usize, &[f64]),
    ) {
        for (group, sums) in self.groups.iter().zip(sums) {
            for (code, row) in sums.chunks_exact(width).enumerate() {
                for (item, digit) in group.digits(code) {
                    if digit < categories[item] {
                        add(item, digit, row);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_give_back_the_answers() {
        let categories = [2, 3, 2, 5, 2, 2, 2];
        let students = 40;
        let columns: Vec<u8> = (0..categories.len() * students)
            .map(|x| {
                let (item, i) = (x / students, x % students);
                if item == 1 && i % 7 == 0 { MISSING } else { ((i * 3 + item) % categories[item]) as u8 }
            })
            .collect();
        let codes = Codes::new(&columns, students, &categories);
        assert!(codes.groups.iter().all(|g| g.states <= MAX_STATES));
        for (g, group) in codes.groups.iter().enumerate() {
            for (i, &code) in codes.of(g, 0..students).iter().enumerate() {
                for (item, digit) in group.digits(usize::from(code)) {
                    let cell = columns[item * students + i];
                    let want = if cell == MISSING { categories[item] } else { usize::from(cell) };
                    assert_eq!(digit, want);
                }
            }
        }
    }
}
