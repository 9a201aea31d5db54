//! Sums by group of students, and how far a site's items depart from the common parameters.

use super::score_tables::ScoreTables;
use crate::diagnostics::highest_of;
use crate::population::Population;
use crate::questions::three_digits;
use crate::site::{Depth, SiteData, lower};
use nalgebra::{Cholesky, DMatrix, DVector};

/// Gradient and information of each group at the estimates.
pub(crate) struct GroupSums {
    /// A row per group.
    pub gradient: Vec<f64>,
    /// A lower triangle per group.
    pub information: Vec<f64>,
}

/// The sums of groups without site effects.
pub(crate) fn group_sums(groups: &[SiteData], psi: &[f64], population: &Population) -> GroupSums {
    let mut out = GroupSums { gradient: Vec::new(), information: Vec::new() };
    for data in groups {
        let e = data.evaluate(psi, 0.0, population, Depth::Observed);
        out.gradient.extend(&e.gradient[..psi.len()]);
        out.information.extend(lower(psi.len(), -1.0, |r, c| e.hessian[(r, c)]));
    }
    out
}

/// Answers by group, sum score of the anchors, item and category, over students who answered every item. A group of fewer such
/// students than `fewest` is not told, and neither are others from which it would follow.
pub(crate) fn group_tables(groups: &[SiteData], anchors: &[usize], fewest: usize) -> Vec<f64> {
    let tables: Vec<ScoreTables> = groups.iter().map(|data| data.score_tables_of(anchors)).collect();
    let sizes: Vec<f64> = tables.iter().map(|table| table.scores.iter().sum()).collect();
    let told = told(&sizes, fewest as f64);
    let rows = tables
        .into_iter()
        .zip(told)
        .flat_map(|(table, told)| if told { table.answers } else { table.emptied().answers });
    rows.collect()
}

/// Which groups may be told: those of `fewest` students or more, so that what is not told is nobody or as many too. Otherwise
/// all students together less the groups that are told would tell the rare ones.
fn told(sizes: &[f64], fewest: f64) -> Vec<bool> {
    let mut told: Vec<bool> = sizes.iter().map(|n| *n >= fewest).collect();
    let mut by_size: Vec<usize> = (0..sizes.len()).filter(|g| told[*g]).collect();
    by_size.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    let hidden =
        |told: &[bool]| -> f64 { sizes.iter().zip(told).filter(|(_, told)| !**told).map(|(n, _)| n).sum() };
    while hidden(&told) > 0.0 && hidden(&told) < fewest {
        let Some(smallest) = by_size.pop() else { break };
        told[smallest] = false;
    }
    told
}

/// By item, gᵀ A⁻¹ g with the gradient g of the item's free parameters at the site and its information A, after the site's
/// own level of ability is taken out of both: g − I_·s I_ss⁻¹ g_s and I − I_·s I_ss⁻¹ I_s· (a score test, Rao 1948, at each site).
pub(crate) fn site_contrasts(
    data: &SiteData,
    psi: &[f64],
    s: f64,
    population: &Population,
    free: &[usize],
    rounded: bool,
) -> Vec<f64> {
    let e = data.evaluate(psi, s, population, Depth::Observed);
    let (information, last) = (|r: usize, c: usize| -e.hessian[(r, c)], psi.len());
    let level = information(last, last);
    let design = data.design();
    let of_item = |j: usize| {
        let own: Vec<usize> = design.span(j).filter(|r| free.binary_search(r).is_ok()).collect();
        if own.is_empty() || level <= 0.0 {
            return 0.0;
        }
        let pull = |r: usize| information(r, last) / level;
        let g = DVector::from_iterator(
            own.len(),
            own.iter().map(|&r| e.gradient[r] - pull(r) * e.gradient[last]),
        );
        let a = DMatrix::from_fn(own.len(), own.len(), |r, c| {
            information(own[r], own[c]) - pull(own[r]) * information(last, own[c])
        });
        // A site where nobody has answered the item, or too few to tell, adds nothing.
        Cholesky::new(a).map_or(0.0, |a| g.dot(&a.solve(&g)).min(1e9))
    };
    (0..design.len()).map(of_item).map(|x| if rounded { three_digits(x) } else { x }).collect()
}

impl SiteData {
    /// Counts over the students who answered every item of the design, by their sum score over some items.
    pub(crate) fn score_tables_of(&self, anchors: &[usize]) -> ScoreTables {
        self.count_scores(highest_of(&self.design, anchors), |j| anchors.binary_search(&j).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn a_rare_group_is_hidden_together_with_one_that_would_tell_it() {
        assert_eq!(told(&[40.0, 0.0, 25.0], 10.0), [true, false, true]);
        assert_eq!(told(&[40.0, 1.0, 25.0], 10.0), [true, false, false]);
        assert_eq!(told(&[40.0, 1.0], 10.0), [false, false]);
        assert_eq!(told(&[40.0, 6.0, 7.0], 10.0), [true, false, false]);
        assert_eq!(told(&[3.0, 1.0], 0.0), [true, true]);
    }
}
