//! Sum scores: the fit of each item given the score (S-X²), and the ability that belongs to a score.

use super::Fitted;
use super::pair_tables::chi_squared_above;
use crate::fit::ScoreRow;

/// Smallest expected count of a cell.
const SMALLEST: f64 = 1.0;

/// S-X² of one item (Orlando & Thissen 2000).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoreFit {
    pub statistic: f64,
    pub df: f64,
    pub p: f64,
    pub rmsea: f64,
}

/// A row of a table: the categories of an item at one sum score, or at several neighbouring ones.
#[derive(Debug, Clone)]
struct Row {
    observed: Vec<f64>,
    expected: Vec<f64>,
}

impl Row {
    fn students(&self) -> f64 {
        self.observed.iter().sum()
    }

    fn add(&mut self, other: &Self) {
        self.observed.iter_mut().zip(&other.observed).for_each(|(x, y)| *x += y);
        self.expected.iter_mut().zip(&other.expected).for_each(|(x, y)| *x += y);
    }
}

/// Moves a row into a neighbour.
fn merge(rows: &mut Vec<Row>, from: usize, into: usize) {
    let row = rows.remove(from);
    rows[into - usize::from(into > from)].add(&row);
}

/// Rows with enough students, as mirt collapses them for items of two categories: rows without students go; a row of one
/// student joins the next; from the top, a row with an expected count below 1 joins the neighbour with fewer students.
/// For more categories the last step is ours: within a row, the category with the smallest expected count joins its smaller
/// neighbour until all are 1 or more.
fn collapse(mut rows: Vec<Row>) -> Vec<Row> {
    rows.retain(|row| row.students() > 0.0);
    let mut at = 0;
    while at < rows.len() && rows.len() > 1 {
        if rows[at].students() <= 1.0 {
            let into = if at + 1 < rows.len() { at + 1 } else { at - 1 };
            merge(&mut rows, at, into);
        } else {
            at += 1;
        }
    }
    let categories = rows.first().map_or(0, |row| row.expected.len());
    if categories == 2 {
        let mut at = 0;
        while at < rows.len() && rows.len() > 1 {
            if rows[at].expected.iter().any(|e| *e > 0.0 && *e < SMALLEST) {
                let up = at.checked_sub(1);
                let down = Some(at + 1).filter(|k| *k < rows.len());
                let students = |k: Option<usize>| k.map_or(f64::INFINITY, |k| rows[k].students());
                let into = if students(up) <= students(down) { up } else { down };
                if let Some(into) = into {
                    merge(&mut rows, at, into);
                }
                at = 0;
            } else {
                at += 1;
            }
        }
    } else {
        rows.iter_mut().for_each(collapse_categories);
    }
    rows
}

fn collapse_categories(row: &mut Row) {
    while row.expected.len() > 1 {
        let smallest = (0..row.expected.len()).min_by(|a, b| row.expected[*a].total_cmp(&row.expected[*b]));
        let Some(at) = smallest.filter(|at| row.expected[*at] < SMALLEST) else { return };
        let size = |k: Option<usize>| k.and_then(|k| row.expected.get(k)).copied().unwrap_or(f64::INFINITY);
        let into = if size(at.checked_sub(1)) <= size(Some(at + 1)) { at - 1 } else { at + 1 };
        for counts in [&mut row.observed, &mut row.expected] {
            counts[into] += counts[at];
            counts.remove(at);
        }
    }
}

/// S-X² of every item; none where too few cells are left. `observed` and `expected` have a row per sum score and a column
/// per category; the lowest and the highest score say nothing of items.
pub(super) fn score_fit(
    fitted: &Fitted<'_>,
    students: f64,
    observed: &[f64],
    expected: &[f64],
) -> Vec<Option<ScoreFit>> {
    let design = fitted.design;
    let cells = design.cells();
    let of_item = |j: usize| {
        let row = |s: usize| {
            let part = |table: &[f64]| table[s * cells..][design.cell_span(j)].to_vec();
            Row { observed: part(observed), expected: part(expected) }
        };
        let rows = collapse((1..observed.len() / cells - 1).map(row).collect());
        let (mut statistic, mut free) = (0.0, 0);
        for row in &rows {
            let terms = row.observed.iter().zip(&row.expected).filter(|(_, e)| **e > 0.0);
            statistic += terms.clone().map(|(o, e)| (o - e).powi(2) / e).sum::<f64>();
            free += terms.count().saturating_sub(1);
        }
        let df = free as f64 - (fitted.free[j] + fitted.shared) as f64;
        (df > 0.0).then(|| ScoreFit {
            statistic,
            df,
            p: chi_squared_above(statistic, df),
            rmsea: ((statistic - df).max(0.0) / (df * (students - 1.0))).sqrt(),
        })
    };
    (0..design.len()).map(of_item).collect()
}

/// p adjusted for the number of tests (Benjamini & Hochberg 1995).
pub(super) fn adjusted(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = p.iter().enumerate().filter_map(|(k, p)| Some((k, (*p)?))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let tests = order.len();
    let (mut out, mut least) = (vec![None; p.len()], 1.0f64);
    for (rank, (k, p)) in order.into_iter().enumerate() {
        least = least.min(p * tests as f64 / (tests - rank) as f64);
        out[k] = Some(least);
    }
    out
}

/// Ability by sum score, on the reported scale: EAP and SD of the posterior given the score alone. `expected` has three
/// numbers per score: N P(s), N P(s) E(t | s), N P(s) E(t² | s).
pub(super) fn score_table(fitted: &Fitted<'_>, observed: &[f64], expected: &[f64]) -> Vec<ScoreRow> {
    let rows = observed.iter().zip(expected.chunks_exact(3)).enumerate();
    rows.map(|(score, (observed, sums))| {
        let mean = sums[1] / sums[0];
        let variance = (sums[2] / sums[0] - mean * mean).max(0.0);
        ScoreRow {
            form: "all".to_owned(),
            score,
            theta: fitted.latent_mean + fitted.latent_sd * mean,
            se: fitted.latent_sd * variance.sqrt(),
            observed: *observed,
            expected: sums[0],
        }
    })
    .collect()
}
