//! Information by item, and steps from it.
//!
//! Where information stands in blocks of single items, it has the shape of an arrow in the coordinates: a block for each item's own
//! coordinates, and a border for those that all items share (a common slope, the SD and mean of ability, the population). Memory
//! and work grow with the number of items, not with its square.

use super::structure::Structure;
use crate::design::Design;
use nalgebra::{DMatrix, DVector};

/// Symmetric blocks over ψ: one of each item's parameters, and one of all that stands behind these.
#[derive(Debug, Clone)]
pub(crate) struct ItemBlocks {
    pub items: Vec<DMatrix<f64>>,
    pub shared: DMatrix<f64>,
}

impl ItemBlocks {
    /// From their lower triangles, one after the other; `size` is the length of ψ, with log τ behind it where there is one.
    pub(crate) fn read(design: &Design, size: usize, packed: &[f64]) -> Self {
        let mut rest = packed;
        let mut block = |size: usize| {
            let (own, after) = rest.split_at(crate::exchange::triangle(size));
            rest = after;
            super::symmetric(size, own)
        };
        let items = (0..design.len()).map(|j| block(design.span(j).len())).collect();
        Self { items, shared: block(size - design.parameters()) }
    }

    /// Units.
    pub(crate) fn identity(design: &Design, size: usize) -> Self {
        let unit = |size: usize| DMatrix::identity(size, size);
        let items = (0..design.len()).map(|j| unit(design.span(j).len())).collect();
        Self { items, shared: unit(size - design.parameters()) }
    }

    /// The lower triangles, one after the other.
    pub(crate) fn packed(&self) -> Vec<f64> {
        let blocks = self.items.iter().chain([&self.shared]);
        blocks.flat_map(|block| crate::site::lower(block.nrows(), 1.0, |r, c| block[(r, c)])).collect()
    }
}

/// An item's own coordinates, with the derivatives of its parameters in them and in the shared ones.
pub(crate) struct ItemPlace {
    /// Own coordinates.
    pub own: Vec<usize>,
    /// A row per parameter, a column per own coordinate.
    pub slopes: DMatrix<f64>,
    /// The same per shared coordinate.
    pub shared: DMatrix<f64>,
}

/// The places of all items, and the shared coordinates.
pub(crate) fn places(
    structure: &Structure,
    design: &Design,
    y: &DVector<f64>,
) -> (Vec<ItemPlace>, Vec<usize>) {
    let shared = structure.shared_coordinates();
    let mut entries = structure.slopes(y).into_iter().peekable();
    let items = (0..design.len()).map(|j| {
        let span = design.span(j);
        let own = structure.coordinates_of(&[j]);
        let mut place = ItemPlace {
            slopes: DMatrix::zeros(span.len(), own.len()),
            shared: DMatrix::zeros(span.len(), shared.len()),
            own,
        };
        while let Some((r, c, x)) = entries.next_if(|(r, ..)| *r < span.end) {
            match place.own.iter().position(|own| *own == c) {
                Some(at) => place.slopes[(r - span.start, at)] = x,
                None => {
                    if let Ok(at) = shared.binary_search(&c) {
                        place.shared[(r - span.start, at)] = x;
                    }
                }
            }
        }
        place
    });
    (items.collect(), shared)
}

/// Information in the coordinates.
pub(crate) struct Arrow {
    places: Vec<ItemPlace>,
    shared: Vec<usize>,
    blocks: Vec<DMatrix<f64>>,
    /// Own coordinates of each item × shared coordinates.
    cross: Vec<DMatrix<f64>>,
    corner: DMatrix<f64>,
}

impl Arrow {
    /// Information over ψ in the coordinates around y, with `ridge` on its diagonal.
    pub(crate) fn new(
        structure: &Structure,
        design: &Design,
        y: &DVector<f64>,
        information: &ItemBlocks,
        ridge: f64,
    ) -> Self {
        let (places, shared) = places(structure, design, y);
        let mut corner = DMatrix::identity(shared.len(), shared.len()) * ridge;
        let (mut blocks, mut cross) = (Vec::new(), Vec::new());
        for (place, information) in places.iter().zip(&information.items) {
            let half = place.slopes.transpose() * information;
            blocks.push(&half * &place.slopes + DMatrix::identity(place.own.len(), place.own.len()) * ridge);
            cross.push(&half * &place.shared);
            corner += place.shared.transpose() * information * &place.shared;
        }
        // The population's parameters are coordinates themselves, the last of the shared ones.
        let population = structure.parameters() - design.parameters();
        let first = shared.len() - population;
        for r in 0..population {
            for c in 0..population {
                corner[(first + r, first + c)] += information.shared[(r, c)];
            }
        }
        Self { places, shared, blocks, cross, corner }
    }

    /// The solution x of Ax = g, item by item once the shared coordinates are known; none where A is singular.
    pub(crate) fn solve(&self, g: &DVector<f64>) -> Option<DVector<f64>> {
        let mut x = DVector::zeros(g.len());
        let mut corner = self.corner.clone();
        let mut rest = DVector::from_iterator(self.shared.len(), self.shared.iter().map(|&c| g[c]));
        let mut solved = Vec::with_capacity(self.places.len());
        for ((place, block), cross) in self.places.iter().zip(&self.blocks).zip(&self.cross) {
            let inverse = block.clone().try_inverse()?;
            let own = DVector::from_iterator(place.own.len(), place.own.iter().map(|&c| g[c]));
            let (mine, theirs) = (&inverse * own, inverse * cross);
            corner -= cross.transpose() * &theirs;
            rest -= cross.transpose() * &mine;
            solved.push((mine, theirs));
        }
        let shared = if self.shared.is_empty() { rest } else { corner.lu().solve(&rest)? };
        self.shared.iter().zip(shared.iter()).for_each(|(&c, value)| x[c] = *value);
        for (place, (mine, theirs)) in self.places.iter().zip(&solved) {
            let own = mine - theirs * &shared;
            place.own.iter().zip(own.iter()).for_each(|(&c, value)| x[c] = *value);
        }
        x.iter().all(|x| x.is_finite()).then_some(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Effects;
    use crate::population::Population;
    use crate::site::tests::design;

    #[test]
    fn a_step_is_that_of_the_whole_matrix() {
        for models in [[("gpcm", 3), ("2pl", 2), ("grm", 3)], [("rasch", 2), ("pcm", 3), ("2pl", 2)]] {
            let design = design(&models);
            let structure = Structure::new(&design, &[], Effects::None, &Population::default());
            let y = DVector::from_fn(structure.size(), |k, _| 0.4 * ((k * 7 % 5) as f64 - 1.7));
            let g = DVector::from_fn(structure.size(), |k, _| 1.0 + k as f64);
            let mut blocks = ItemBlocks::identity(&design, design.parameters());
            for (j, block) in blocks.items.iter_mut().enumerate() {
                let root = DMatrix::from_fn(block.nrows(), 3, |r, c| 1.0 + ((r * 5 + c * 3 + j) % 7) as f64);
                *block += &root * root.transpose();
            }
            let mut whole = DMatrix::zeros(design.parameters(), design.parameters());
            for (j, block) in blocks.items.iter().enumerate() {
                let at = design.offset(j);
                whole.view_mut((at, at), block.shape()).copy_from(block);
            }
            let t = structure.jacobian(&y);
            let want = (t.transpose() * whole * &t).lu().solve(&g).unwrap();
            let got = Arrow::new(&structure, &design, &y, &blocks, 0.0).solve(&g).unwrap();
            assert!((got - want).amax() < 1e-9, "{models:?}");
            assert_eq!(
                ItemBlocks::read(&design, design.parameters(), &blocks.packed()).packed(),
                blocks.packed()
            );
        }
    }
}
