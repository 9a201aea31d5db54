//! Second derivatives of a site's log-likelihood: all of them, or those that stand by item.

use crate::design::Design;
use nalgebra::DMatrix;
use std::ops::Index;

/// Second derivatives over (item parameters, population, school effect): symmetric. Whoever adds to an entry adds to its mirror
/// image too.
#[derive(Debug, Clone)]
pub(crate) enum Hessian {
    /// All.
    Full(DMatrix<f64>),
    /// Those of each item's own parameters, and of what all items share with everything.
    ByItem(ByItem),
}

/// A symmetric matrix without the blocks of two different items: its size grows with the items, and not with their square.
#[derive(Debug, Clone)]
pub(crate) struct ByItem {
    /// Item of each item parameter, and its place among the item's.
    place: Vec<(usize, usize)>,
    blocks: Vec<DMatrix<f64>>,
    /// A row per parameter that all items share, a column per parameter.
    border: DMatrix<f64>,
}

impl Hessian {
    /// Zeros of a size.
    pub(crate) fn full(size: usize) -> Self {
        Self::Full(DMatrix::zeros(size, size))
    }

    /// Zeros of a size, by item.
    pub(crate) fn by_item(design: &Design, size: usize) -> Self {
        let blocks = (0..design.len()).map(|j| DMatrix::zeros(design.span(j).len(), design.span(j).len()));
        let place = |j: usize| (0..design.span(j).len()).map(move |r| (j, r));
        Self::ByItem(ByItem {
            place: (0..design.len()).flat_map(place).collect(),
            blocks: blocks.collect(),
            border: DMatrix::zeros(size - design.parameters(), size),
        })
    }

    /// Adds to an entry. By item, what stands right of the items' parameters is kept as its mirror image below.
    pub(crate) fn add(&mut self, r: usize, c: usize, x: f64) {
        match self {
            Self::Full(matrix) => matrix[(r, c)] += x,
            Self::ByItem(by_item) => match (by_item.place.get(r), by_item.place.get(c)) {
                (None, _) => by_item.border[(r - by_item.place.len(), c)] += x,
                (Some(_), None) => {}
                (Some((j, r)), Some((l, c))) => {
                    debug_assert_eq!(j, l, "entries of two items are not kept");
                    by_item.blocks[*j][(*r, *c)] += x;
                }
            },
        }
    }

    /// Zeros of the same kind and size.
    pub(crate) fn zeroed(&self) -> Self {
        let mut zeros = self.clone();
        zeros.add_scaled(-1.0, self);
        zeros
    }

    /// Adds a multiple of another one of the same kind and size.
    pub(crate) fn add_scaled(&mut self, factor: f64, other: &Self) {
        match (self, other) {
            (Self::Full(to), Self::Full(from)) => *to += factor * from,
            (Self::ByItem(to), Self::ByItem(from)) => {
                to.blocks.iter_mut().zip(&from.blocks).for_each(|(to, from)| *to += factor * from);
                to.border += factor * &from.border;
            }
            (Self::Full(_), Self::ByItem(_)) | (Self::ByItem(_), Self::Full(_)) => {
                unreachable!("both were made for the same depth")
            }
        }
    }

    /// Adds w·v·vᵀ, or the part of it that is kept.
    pub(crate) fn add_outer(&mut self, w: f64, v: &[f64]) {
        match self {
            Self::Full(matrix) => {
                for r in 0..v.len() {
                    for c in 0..v.len() {
                        matrix[(r, c)] += w * v[r] * v[c];
                    }
                }
            }
            Self::ByItem(by_item) => {
                let items = by_item.place.len();
                for r in 0..items {
                    let (j, at) = by_item.place[r];
                    for c in r - at..r - at + by_item.blocks[j].ncols() {
                        by_item.blocks[j][(at, c + at - r)] += w * v[r] * v[c];
                    }
                }
                for r in items..v.len() {
                    for c in 0..v.len() {
                        by_item.border[(r - items, c)] += w * v[r] * v[c];
                    }
                }
            }
        }
    }

    /// Sets the last row and column to zero.
    pub(crate) fn clear_last(&mut self) {
        match self {
            Self::Full(matrix) => {
                let last = matrix.nrows() - 1;
                matrix.row_mut(last).fill(0.0);
                matrix.column_mut(last).fill(0.0);
            }
            Self::ByItem(by_item) => {
                let (row, column) = (by_item.border.nrows() - 1, by_item.border.ncols() - 1);
                by_item.border.row_mut(row).fill(0.0);
                by_item.border.column_mut(column).fill(0.0);
            }
        }
    }
}

impl Index<(usize, usize)> for Hessian {
    type Output = f64;

    /// An entry; by item, not one of two different items.
    fn index(&self, (r, c): (usize, usize)) -> &f64 {
        match self {
            Self::Full(matrix) => &matrix[(r, c)],
            Self::ByItem(by_item) => {
                let items = by_item.place.len();
                match (by_item.place.get(r), by_item.place.get(c)) {
                    (None, _) => &by_item.border[(r - items, c)],
                    (Some(_), None) => &by_item.border[(c - items, r)],
                    (Some((j, r)), Some((l, c))) => {
                        assert_eq!(j, l, "entries of two items are not kept");
                        &by_item.blocks[*j][(*r, *c)]
                    }
                }
            }
        }
    }
}
