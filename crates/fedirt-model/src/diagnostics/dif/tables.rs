//! Answers by group and sum score: the tables that all statistics of observed scores are functions of.

use crate::design::Design;
use crate::diagnostics::highest_of;

/// Answers of two groups to one item at one sum score, by category.
pub(crate) struct Stratum {
    /// The sum score.
    pub score: f64,
    /// The reference group's.
    pub reference: Vec<f64>,
    /// The focal group's.
    pub focal: Vec<f64>,
}

impl Stratum {
    /// Students of the reference group.
    pub(super) fn n_reference(&self) -> f64 {
        self.reference.iter().sum()
    }

    /// Students of the focal group.
    pub(super) fn n_focal(&self) -> f64 {
        self.focal.iter().sum()
    }

    /// All students.
    pub(super) fn n(&self) -> f64 {
        self.n_reference() + self.n_focal()
    }
}

/// The sums of a pass.
pub(crate) struct GroupTables<'a> {
    /// Items.
    pub design: &'a Design,
    /// The items whose sum score students are matched by.
    pub anchors: &'a [usize],
    /// By group, anchors' score, item and category.
    pub table: &'a [f64],
}

impl GroupTables<'_> {
    /// An item's strata for the reference group and another one. The studied item is part of the score that students are matched
    /// by, whether or not it is an anchor (Holland & Thayer 1988). Strata with one student or none are left out.
    pub(super) fn strata(&self, item: usize, focal: usize) -> Vec<Stratum> {
        let (design, cells) = (self.design, self.design.cells());
        let (scores, own) = (highest_of(design, self.anchors) + 1, design.cell_span(item));
        let is_anchor = self.anchors.binary_search(&item).is_ok();
        let top = if is_anchor { scores } else { scores + own.len() - 1 };
        let of = |group: usize, score: usize, c: usize| {
            // The score of the anchors alone, where the studied item is none of them.
            let of_anchors = if is_anchor { Some(score) } else { score.checked_sub(c) };
            let row = of_anchors.filter(|s| *s < scores).map(|s| (group * scores + s) * cells);
            row.map_or(0.0, |row| self.table[row + own.start + c])
        };
        let stratum = |score: usize| Stratum {
            score: score as f64,
            reference: (0..own.len()).map(|c| of(0, score, c)).collect(),
            focal: (0..own.len()).map(|c| of(focal, score, c)).collect(),
        };
        (0..top).map(stratum).filter(|stratum| stratum.n() >= 1.5).collect()
    }

    /// Students with an answer to every item, by group.
    pub(super) fn complete(&self, groups: usize) -> Vec<f64> {
        let (scores, cells) = (highest_of(self.design, self.anchors) + 1, self.design.cells());
        let first = self.design.cell_span(0);
        let of_group = |g: usize| -> f64 {
            (g * scores..(g + 1) * scores)
                .map(|row| self.table[row * cells..][first.clone()].iter().sum::<f64>())
                .sum()
        };
        (0..groups).map(of_group).collect()
    }
}
