//! What one row does to a release, seen by running twice with the same randomness.

use super::{Check, Finding, Released, RowId, Rows, Subject, Transcript};
use rayon::prelude::*;

/// What each release gained, if all else is the same: who released, when, how much, and every remark.
pub(super) fn gain(with: &Transcript, without: &Transcript) -> Option<Vec<(usize, Vec<i64>)>> {
    let same = |a: &Released, b: &Released| {
        (a.site, a.round, a.attempt, a.words.len()) == (b.site, b.round, b.attempt, b.words.len())
    };
    let (a, b) = (&with.released, &without.released);
    let alike =
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)) && with.remarks == without.remarks;
    let one = |(a, b): (&Released, &Released)| {
        (a.site, a.words.iter().zip(&b.words).map(|(x, y)| x.wrapping_sub(*y) as i64).collect())
    };
    alike.then(|| a.iter().zip(b).map(one).collect())
}

fn find(check: Check, row: RowId, what: &str) -> Finding {
    Finding { check, detail: format!("site {}, row {}: {what}", row.site, row.row) }
}

/// Each row alone moves its own site's releases, each by a norm of at most C/γ: Σ q² ≤ ⌊(C/γ)²⌋.
pub fn norm(subject: &impl Subject, seed: u64) -> Vec<Finding> {
    let (nobody, limit) = (subject.run(Rows::Nobody, seed), subject.claim().norm_square);
    let check = |row: RowId| {
        let Some(gains) = gain(&subject.run(Rows::Only(row), seed), &nobody) else {
            return Some(find(Check::Norm, row, "it changes more than numbers"));
        };
        let square = |q: &[i64]| {
            q.iter().fold(0u128, |sum, q| sum.saturating_add(u128::from(q.unsigned_abs()).pow(2)))
        };
        gains.iter().find_map(|(site, q)| match square(q) {
            0 => None,
            _ if *site != row.site => Some(find(Check::Norm, row, "it moves another site's numbers")),
            s if s > limit => {
                let times = (s as f64 / limit as f64).sqrt();
                Some(find(
                    Check::Norm,
                    row,
                    &format!("it moves a release by {times:.3} times the clipping norm"),
                ))
            }
            _ => None,
        })
    };
    subject.rows().into_par_iter().filter_map(check).collect()
}

/// Taking a row away changes the releases by what the row alone adds to nothing: q depends on the row and on
/// what was broadcast, not on other rows; and nothing else changes.
pub fn coupling(subject: &impl Subject, seed: u64) -> Vec<Finding> {
    let (all, nobody) = (subject.run(Rows::All, seed), subject.run(Rows::Nobody, seed));
    let check = |row: RowId| {
        let among_others = gain(&all, &subject.run(Rows::Without(row), seed));
        let alone = gain(&subject.run(Rows::Only(row), seed), &nobody);
        match (among_others, alone) {
            (Some(a), Some(b)) if a == b => None,
            (Some(_), Some(_)) => Some(find(
                Check::Coupling,
                row,
                "what it adds depends on other rows: something in it is shared between students",
            )),
            _ => Some(find(Check::Coupling, row, "warnings, counts or sizes depend on whether it is there")),
        }
    };
    subject.rows().into_par_iter().filter_map(check).collect()
}
