//! Cross tables: Σ_i w_i z_i z_iᵀ over one-hot answers z, the sums behind pair tables and information.

use super::codes::{Codes, Group};
use crate::responses::MISSING;
use rayon::prelude::*;

/// Below this many students, counting pairs student by student is cheaper than tables of combinations.
const FEW_STUDENTS: usize = 600;

/// Where items, categories and answers of a panel stand.
pub(crate) struct Answers<'a> {
    pub columns: &'a [u8],
    pub students: usize,
    pub categories: &'a [usize],
    /// First row of each item in the cross table, and at the end its size.
    pub offsets: &'a [usize],
    pub codes: &'a Codes,
}

/// The symmetric table T[(j,c)][(l,c')] = Σ_i w_i 1[x_ij = c] 1[x_il = c'], row by row.
pub(crate) fn cross_table(answers: &Answers<'_>, weights: &[f64]) -> Vec<f64> {
    let size = answers.offsets[answers.categories.len()];
    let mut table = vec![0.0; size * size];
    if answers.students < FEW_STUDENTS {
        count_directly(answers, weights, size, &mut table);
    } else {
        let pairs: Vec<(usize, usize)> =
            (0..answers.codes.groups.len()).flat_map(|g| (0..=g).map(move |h| (g, h))).collect();
        let blocks: Vec<Vec<f64>> =
            pairs.par_iter().map(|&(g, h)| group_pair(answers, weights, g, h)).collect();
        for (&(g, h), block) in pairs.iter().zip(&blocks) {
            let (rows, columns) = (span(answers, g), span(answers, h));
            for (r, line) in rows.zip(block.chunks_exact(columns.len())) {
                table[r * size + columns.start..r * size + columns.end].copy_from_slice(line);
            }
        }
    }
    for r in 0..size {
        for c in 0..r {
            table[c * size + r] = table[r * size + c];
        }
    }
    table
}

/// Lower triangle, one student after the other.
fn count_directly(answers: &Answers<'_>, weights: &[f64], size: usize, table: &mut [f64]) {
    let mut given: Vec<usize> = Vec::with_capacity(answers.categories.len());
    for (i, &w) in weights.iter().enumerate() {
        given.clear();
        for (j, offset) in answers.offsets[..answers.categories.len()].iter().enumerate() {
            let cell = answers.columns[j * answers.students + i];
            if cell != MISSING {
                given.push(offset + usize::from(cell));
            }
        }
        for (k, &r) in given.iter().enumerate() {
            for &c in &given[..=k] {
                table[r * size + c] += w;
            }
        }
    }
}

/// Rows of the cross table that belong to a group's items.
fn span(answers: &Answers<'_>, group: usize) -> std::ops::Range<usize> {
    let Group { first, radix, .. } = &answers.codes.groups[group];
    answers.offsets[*first]..answers.offsets[first + radix.len()]
}

/// The block of two groups: count combinations, then distribute them over categories, one side at a time.
fn group_pair(answers: &Answers<'_>, weights: &[f64], g: usize, h: usize) -> Vec<f64> {
    let (a, b) = (&answers.codes.groups[g], &answers.codes.groups[h]);
    let mut counts = vec![0.0; a.states * b.states];
    let (codes_a, codes_b) =
        (answers.codes.of(g, 0..answers.students), answers.codes.of(h, 0..answers.students));
    for ((&x, &y), w) in codes_a.iter().zip(codes_b).zip(weights) {
        counts[usize::from(x) * b.states + usize::from(y)] += w;
    }
    let (rows, columns) = (span(answers, g), span(answers, h));
    let mut block = vec![0.0; rows.len() * columns.len()];
    let mut line = vec![0.0; columns.len()];
    for x in 0..a.states {
        line.fill(0.0);
        for (y, &count) in counts[x * b.states..(x + 1) * b.states].iter().enumerate() {
            if count != 0.0 {
                for (item, digit) in b.digits(y) {
                    if digit < answers.categories[item] {
                        line[answers.offsets[item] - columns.start + digit] += count;
                    }
                }
            }
        }
        for (item, digit) in a.digits(x) {
            if digit < answers.categories[item] {
                let r = answers.offsets[item] - rows.start + digit;
                for (out, x) in block[r * columns.len()..(r + 1) * columns.len()].iter_mut().zip(&line) {
                    *out += x;
                }
            }
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_and_students_count_the_same() {
        let categories = [2usize, 3, 2, 2, 4, 2, 2, 3];
        let students = 900;
        let columns: Vec<u8> = (0..categories.len() * students)
            .map(|x| {
                let (item, i) = (x / students, x % students);
                let hash = (i * 2_654_435_761 + item * 40_503) % 1009;
                if item % 3 == 1 && hash % 11 == 0 { MISSING } else { (hash % categories[item]) as u8 }
            })
            .collect();
        let codes = Codes::new(&columns, students, &categories);
        let mut offsets = vec![0];
        for c in categories {
            offsets.push(offsets[offsets.len() - 1] + c);
        }
        let answers = Answers {
            columns: &columns,
            students,
            categories: &categories,
            offsets: &offsets,
            codes: &codes,
        };
        let weights: Vec<f64> = (0..students).map(|i| 1.0 + (i % 4) as f64 * 0.25).collect();
        let size = offsets[categories.len()];
        let fast = cross_table(&answers, &weights);
        let mut slow = vec![0.0; size * size];
        count_directly(&answers, &weights, size, &mut slow);
        for r in 0..size {
            for c in 0..=r {
                assert_eq!(fast[r * size + c], slow[r * size + c], "{r},{c}");
                assert_eq!(fast[c * size + r], slow[r * size + c]);
            }
        }
    }
}
