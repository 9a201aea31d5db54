//! The marginal log-likelihood of given parameters on the published grid, and its gradient: for comparison with numbers of the
//! paper and of programs that follow it.

use fedirt_model::items::{Curves, GPCM, Order};
use fedirt_model::quadrature::Grid;
use thiserror::Error;

/// The parameters of a generalised partial credit item (Muraki 1992); one difficulty makes it a 2PL item.
///
/// ```
/// let item = fedirt::GivenItem { a: 1.2, b: vec![-0.5, 0.4] };
/// assert_eq!(item.b.len() + 1, 3, "categories");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GivenItem {
    /// Slope.
    pub a: f64,
    /// Difficulty of each category but the lowest.
    pub b: Vec<f64>,
}

/// Equally spaced nodes, each with the normal mass of its bin (Zhou, Luo & Ji 2026, the equation for A(n)). The default is the
/// grid of the package FedIRT: 21 nodes from -3 to 3.
///
/// ```
/// assert_eq!(fedirt::PublishedGrid::default().nodes, 21);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedGrid {
    /// Number of nodes.
    pub nodes: usize,
    /// Lowest node.
    pub lower: f64,
    /// Highest node.
    pub upper: f64,
}

impl Default for PublishedGrid {
    fn default() -> Self {
        Self { nodes: 21, lower: -3.0, upper: 3.0 }
    }
}

/// The log-likelihood and its derivatives.
///
/// ```
/// use fedirt::{GivenItem, PublishedGrid, PublishedLikelihood, published_likelihood};
///
/// let items = [GivenItem { a: 1.0, b: vec![0.0] }];
/// let found: PublishedLikelihood = published_likelihood(&items, &[vec![Some(0), Some(1)]], PublishedGrid::default())?;
/// // One item at the mean: each answer has half of the mass of the grid.
/// assert!((found.loglik - 2.0 * (0.5_f64 * 0.998_367).ln()).abs() < 1e-5);
/// # Ok::<(), fedirt::PublishedProblem>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedLikelihood {
    /// log L.
    pub loglik: f64,
    /// ∂ log L/∂a of each item.
    pub a: Vec<f64>,
    /// ∂ log L/∂b of each item's difficulties.
    pub b: Vec<Vec<f64>>,
}

/// Why there is no likelihood.
///
/// ```
/// use fedirt::{GivenItem, PublishedGrid, PublishedProblem, published_likelihood};
///
/// let items = [GivenItem { a: 1.0, b: vec![0.0] }];
/// let refused = published_likelihood(&items, &[vec![Some(7)]], PublishedGrid::default());
/// assert_eq!(refused, Err(PublishedProblem::NoCategory { row: 1, item: 1, code: 7, highest: 1 }));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PublishedProblem {
    /// The columns are not as many as the items, or not of one length.
    #[error("{items} items need as many columns of answers, all of one length")]
    Shape {
        /// Number of items with parameters.
        items: usize,
    },
    /// An answer is none of its item's categories.
    #[error("row {row}, item {item}: {code} is no category; the parameters are for 0 to {highest}")]
    NoCategory {
        /// The row, from 1.
        row: usize,
        /// The item, from 1.
        item: usize,
        /// The answer.
        code: usize,
        /// The highest category.
        highest: usize,
    },
    /// A parameter is no number, or an item has no difficulty.
    #[error(
        "item {0}: a slope and a difficulty for each category but the lowest are needed, all of them numbers"
    )]
    Parameters(usize),
    /// The grid has fewer than two nodes, or more than 10,000, or no extent.
    #[error("a grid of 2 to 10,000 nodes between two bounds is needed")]
    Grid,
}

/// The marginal log-likelihood of answers (a column for each item, `None` where one is missing) and its gradient, on the published
/// grid. It is below the log-likelihood of a fit, because the mass outside of the grid is lost: by 0.0016 for each student with the
/// usual grid.
///
/// ```
/// use fedirt::{GivenItem, PublishedGrid, published_likelihood};
///
/// let items = [GivenItem { a: 1.0, b: vec![0.0] }, GivenItem { a: 0.8, b: vec![-1.0, 1.0] }];
/// let answers = [vec![Some(0), Some(1), Some(1)], vec![Some(2), None, Some(1)]];
/// let found = published_likelihood(&items, &answers, PublishedGrid::default())?;
/// assert!(found.loglik < 0.0 && found.b[1].len() == 2);
/// # Ok::<(), fedirt::PublishedProblem>(())
/// ```
pub fn published_likelihood(
    items: &[GivenItem],
    answers: &[Vec<Option<usize>>],
    grid: PublishedGrid,
) -> Result<PublishedLikelihood, PublishedProblem> {
    let students = answers.first().map_or(0, Vec::len);
    check(items, answers, grid, students)?;
    let grid = Grid::of_bins(grid.nodes, grid.lower, grid.upper);
    let curves: Vec<Curves> = items.iter().map(|item| item.curves(grid.nodes())).collect();
    // Expected numbers of students by item, category and node (Bock & Aitkin 1981): with them the gradient is a sum over nodes
    // (Fisher's identity).
    let mut expected: Vec<Vec<Vec<f64>>> =
        items.iter().map(|item| vec![vec![0.0; grid.nodes().len()]; item.b.len() + 1]).collect();
    let mut loglik = 0.0;
    for student in 0..students {
        let given: Vec<(usize, usize)> =
            answers.iter().enumerate().filter_map(|(j, column)| Some((j, column[student]?))).collect();
        let mut posterior = grid.log_weights().to_vec();
        for &(j, c) in &given {
            posterior.iter_mut().zip(curves[j].log_p(c)).for_each(|(p, log_p)| *p += log_p);
        }
        let largest = posterior.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        posterior.iter_mut().for_each(|p| *p = (*p - largest).exp());
        let total: f64 = posterior.iter().sum();
        loglik += largest + total.ln();
        for (j, c) in given {
            expected[j][c].iter_mut().zip(&posterior).for_each(|(n, p)| *n += p / total);
        }
    }
    let (a, b) =
        items.iter().zip(&curves).zip(&expected).map(|((item, curves), n)| item.gradient(curves, n)).unzip();
    Ok(PublishedLikelihood { loglik, a, b })
}

fn check(
    items: &[GivenItem],
    answers: &[Vec<Option<usize>>],
    grid: PublishedGrid,
    students: usize,
) -> Result<(), PublishedProblem> {
    let extent = grid.upper - grid.lower;
    if !((2..=10_000).contains(&grid.nodes) && extent > 0.0 && extent.is_finite()) {
        return Err(PublishedProblem::Grid);
    }
    if items.len() != answers.len() || answers.iter().any(|column| column.len() != students) {
        return Err(PublishedProblem::Shape { items: items.len() });
    }
    let fine =
        |item: &GivenItem| item.a.is_finite() && !item.b.is_empty() && item.b.iter().all(|b| b.is_finite());
    if let Some(at) = items.iter().position(|item| !fine(item)) {
        return Err(PublishedProblem::Parameters(at + 1));
    }
    for (j, (item, column)) in items.iter().zip(answers).enumerate() {
        let highest = item.b.len();
        for (n, code) in column.iter().enumerate().filter_map(|(n, code)| Some((n, (*code)?))) {
            if code > highest {
                return Err(PublishedProblem::NoCategory { row: n + 1, item: j + 1, code, highest });
            }
        }
    }
    Ok(())
}

impl GivenItem {
    /// Its curves, in slope and intercepts d_r = −a(b_1 + … + b_r).
    fn curves(&self, abilities: &[f64]) -> Curves {
        let psi: Vec<f64> = std::iter::once(self.a).chain(self.sums().map(|sum| -self.a * sum)).collect();
        Curves::new(GPCM, psi.len(), &psi, abilities, Order::Score)
    }

    /// b_1 + … + b_r for each r.
    fn sums(&self) -> impl Iterator<Item = f64> {
        self.b.iter().scan(0.0, |sum, b| {
            *sum += b;
            Some(*sum)
        })
    }

    /// The derivatives in slope and difficulties, from those in slope and intercepts by the chain rule.
    fn gradient(&self, curves: &Curves, expected: &[Vec<f64>]) -> (f64, Vec<f64>) {
        let of = |r: usize| -> f64 {
            let dot =
                |c: usize| -> f64 { expected[c].iter().zip(curves.score(c, r)).map(|(n, x)| n * x).sum() };
            (0..expected.len()).map(dot).sum()
        };
        let of_intercepts: Vec<f64> = (1..=self.b.len()).map(of).collect();
        let a = of(0) - of_intercepts.iter().zip(self.sums()).map(|(d, sum)| d * sum).sum::<f64>();
        let b = (0..self.b.len()).map(|h| -self.a * of_intercepts[h..].iter().sum::<f64>()).collect();
        (a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study() -> (Vec<GivenItem>, Vec<Vec<Option<usize>>>) {
        let items = [(0.8, vec![-0.7]), (1.6, vec![0.9]), (1.1, vec![-1.2, 0.3, 0.1])];
        let items = items.into_iter().map(|(a, b)| GivenItem { a, b }).collect();
        let column = |most: usize, by: usize| {
            (0..40).map(|n| (n % 11 != by).then_some((n * by / 3) % (most + 1))).collect()
        };
        (items, vec![column(1, 4), column(1, 5), column(3, 7)])
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let (items, answers) = study();
        let grid = PublishedGrid { nodes: 17, lower: -2.5, upper: 3.5 };
        let at = |items: &[GivenItem]| published_likelihood(items, &answers, grid).expect("a likelihood");
        let found = at(&items);
        let h = 1e-5;
        for j in 0..items.len() {
            for r in 0..=items[j].b.len() {
                let moved = |by: f64| {
                    let mut items = items.clone();
                    if r == 0 {
                        items[j].a += by
                    } else {
                        items[j].b[r - 1] += by
                    }
                    at(&items).loglik
                };
                let difference = (moved(h) - moved(-h)) / (2.0 * h);
                let derivative = if r == 0 { found.a[j] } else { found.b[j][r - 1] };
                assert!((difference - derivative).abs() < 1e-6, "item {j}, {r}: {difference} {derivative}");
            }
        }
    }

    #[test]
    fn it_is_the_sum_over_nodes_that_is_published() {
        // The published formula, written out for two answers: Σ_n A(n) P_1(V_n) (1 − P_2(V_n)), with the mass of each bin by
        // Simpson's rule.
        let items = [GivenItem { a: 1.3, b: vec![0.4] }, GivenItem { a: 0.7, b: vec![-0.6] }];
        let found = published_likelihood(&items, &[vec![Some(1)], vec![Some(0)]], PublishedGrid::default());
        let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let p = |item: &GivenItem, x: f64| 1.0 / (1.0 + (-item.a * (x - item.b[0])).exp());
        let mass = |x: f64| {
            let simpson = |at: usize| {
                let left = x - 0.15 + 0.03 * at as f64;
                0.03 / 6.0 * (density(left) + 4.0 * density(left + 0.015) + density(left + 0.03))
            };
            (0..10).map(simpson).sum::<f64>()
        };
        let nodes = (0..21).map(|n| -3.0 + 0.3 * f64::from(n));
        let sum: f64 = nodes.map(|x| mass(x) * p(&items[0], x) * (1.0 - p(&items[1], x))).sum();
        assert!((found.expect("a likelihood").loglik - sum.ln()).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (items, answers) = study();
        let usual = PublishedGrid::default();
        let refused = |items: &[GivenItem], answers: &[Vec<Option<usize>>], grid| {
            published_likelihood(items, answers, grid).expect_err("no likelihood")
        };
        assert_eq!(refused(&items, &answers[..2], usual), PublishedProblem::Shape { items: 3 });
        assert_eq!(refused(&items, &answers, PublishedGrid { upper: -3.0, ..usual }), PublishedProblem::Grid);
        let mut wrong = items.clone();
        wrong[1].b.clear();
        assert_eq!(refused(&wrong, &answers, usual), PublishedProblem::Parameters(2));
    }
}
