//! How many dimensions the answers have: eigenvalues of tetra- and polychoric correlations, beside those of data simulated from
//! the fitted model, which has one (modified parallel analysis, Drasgow & Lissak 1983).

use super::Fitted;
use super::polychoric::polychoric;
use super::q3::quantile;
use super::simulated::Simulator;
use crate::exchange::Effects;
use crate::fit::Dimensionality;
use nalgebra::{DMatrix, SymmetricEigen};
use rayon::prelude::*;

/// Simulated data sets.
const REPLICATIONS: usize = 100;

/// Students in each; sampling errors are brought to the real number.
const STUDENTS: usize = 1_000;

/// Streams of random numbers below this belong to the simulation for Q3.
const FIRST_STREAM: usize = 1_000_000;

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoDimensions {
    /// Too few items have ordered categories.
    FewItems,
    /// Nobody answered both of some two items, or nobody's answers to them differ.
    NoCorrelation,
}

impl NoDimensions {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::FewItems => "fewer than three items have two categories or ordered ones",
            Self::NoCorrelation => {
                "some pairs of items have no correlation: nobody answered both, as with booklets, or all who did gave the same answer to one of them"
            }
        }
    }
}

/// The pairs of items j > l with their two-way tables.
struct Pairs<'a> {
    fitted: &'a Fitted<'a>,
    items: &'a [usize],
}

impl Pairs<'_> {
    fn table(&self, of: &DMatrix<f64>, j: usize, l: usize) -> DMatrix<f64> {
        let span = |k: usize| self.fitted.design.cell_span(self.items[k]);
        let (rows, columns) = (span(j), span(l));
        of.view((rows.start, columns.start), (rows.len(), columns.len())).into_owned()
    }

    /// One number for each pair, and ones along the diagonal; `None` if a pair has none.
    fn matrix(&self, of: impl Fn(usize, usize) -> Option<f64> + Sync) -> Option<DMatrix<f64>> {
        let items = self.items.len();
        let rows: Vec<Option<Vec<f64>>> =
            (0..items).into_par_iter().map(|j| (0..j).map(|l| of(j, l)).collect()).collect();
        let mut out = DMatrix::identity(items, items);
        for (j, row) in rows.into_iter().enumerate() {
            for (l, r) in row?.into_iter().enumerate() {
                (out[(j, l)], out[(l, j)]) = (r, r);
            }
        }
        Some(out)
    }
}

/// From the two-way tables of answers and what the model expects of them.
pub(super) fn dimensionality(
    fitted: &Fitted<'_>,
    observed: &DMatrix<f64>,
    expected: &DMatrix<f64>,
    students: f64,
) -> Result<Dimensionality, NoDimensions> {
    let design = fitted.design;
    let ordered = |j: &usize| design.categories(*j) == 2 || design.model(*j).one_slope().is_some();
    let items: Vec<usize> = (0..design.len()).filter(ordered).collect();
    if items.len() < 3 {
        return Err(NoDimensions::FewItems);
    }
    let pairs = Pairs { fitted, items: &items };
    let of = |tables: &DMatrix<f64>| pairs.matrix(|j, l| polychoric(&pairs.table(tables, j, l)));
    let correlations = of(observed).ok_or(NoDimensions::NoCorrelation)?;
    let centre = of(expected).ok_or(NoDimensions::NoCorrelation)?;
    let answered = |tables: &DMatrix<f64>, j: usize, l: usize| pairs.table(tables, j, l).sum();

    let share = |j: usize| {
        let own = design.cell_span(j);
        let n = own.map(|cell| observed[(cell, cell)]).sum::<f64>();
        if students > 0.0 { (n / students).min(1.0) } else { 1.0 }
    };
    let simulator = Simulator::new(fitted, (0..design.len()).map(share).collect());
    let drawn = (students as usize).clamp(2, STUDENTS);
    // By replication the correlation of each pair, and by how much its deviation shrinks.
    let sets: Vec<DMatrix<Option<(f64, f64)>>> = (0..REPLICATIONS)
        .into_par_iter()
        .map(|replication| {
            let tables = simulator.draw(FIRST_STREAM + replication, drawn).start_sums(Effects::None).pairs;
            DMatrix::from_fn(items.len(), items.len(), |j, l| {
                let shrink = (answered(&tables, j, l) / answered(observed, j, l)).sqrt();
                if j > l { polychoric(&pairs.table(&tables, j, l)).map(|r| (r, shrink)) } else { None }
            })
        })
        .collect();
    let mean = DMatrix::from_fn(items.len(), items.len(), |j, l| {
        let drawn: Vec<f64> = sets.iter().filter_map(|set| Some(set[(j, l)]?.0)).collect();
        drawn.iter().sum::<f64>() / drawn.len().max(1) as f64
    });
    let simulated: Vec<Vec<f64>> = sets
        .par_iter()
        .filter_map(|set| {
            // By what a pair of a replication lacks, it does not deviate.
            let deviation =
                |j: usize, l: usize| set[(j, l)].map_or(0.0, |(r, shrink)| (r - mean[(j, l)]) * shrink);
            pairs.matrix(|j, l| Some(centre[(j, l)] + deviation(j, l))).map(eigenvalues)
        })
        .collect();
    let at = |share: f64| -> Vec<(f64, f64)> {
        let of_rank =
            |rank: usize| quantile(&mut simulated.iter().map(|set| set[rank]).collect::<Vec<_>>(), share);
        (0..items.len()).map(of_rank).collect()
    };
    let (low, high) = (at(0.05), at(0.95));
    let eigenvalues = eigenvalues(correlations);
    let parallel_95: Vec<f64> = high.iter().map(|(value, _)| *value).collect();
    let beyond = eigenvalues.iter().zip(&parallel_95).skip(1).take_while(|(own, limit)| own > limit).count();
    Ok(Dimensionality {
        ratio: Some(eigenvalues[0] / eigenvalues[1]).filter(|ratio| ratio.is_finite() && *ratio > 0.0),
        dimensions: 1 + beyond,
        eigenvalues,
        parallel_5: low.into_iter().map(|(value, _)| value).collect(),
        parallel_95,
        parallel_95_se: high.into_iter().map(|(_, error)| error).collect(),
        seed: fitted.seed,
        replications: REPLICATIONS,
    })
}

/// The largest first.
fn eigenvalues(matrix: DMatrix<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = SymmetricEigen::new(matrix).eigenvalues.iter().copied().collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}
