//! Classical statistics of items, from the two-way tables of answers.

use super::Fitted;
use crate::fit::Classical;
use nalgebra::DMatrix;

/// Classical statistics in the order of the items, and Cronbach's α. Where answers are missing, covariances are over the students
/// who answered both items.
pub(super) fn classical(fitted: &Fitted<'_>, tables: &DMatrix<f64>) -> (Vec<Classical>, Option<f64>) {
    let design = fitted.design;
    let items = design.len();
    let covariance = DMatrix::from_fn(items, items, |j, l| {
        let (rows, columns) = (design.cell_span(j), design.cell_span(l));
        let block = tables.view((rows.start, columns.start), (rows.len(), columns.len()));
        let (mut first, mut second, mut product) = (0.0, 0.0, 0.0);
        for r in 0..block.nrows() {
            for c in 0..block.ncols() {
                let n = block[(r, c)];
                first += r as f64 * n;
                second += c as f64 * n;
                product += (r * c) as f64 * n;
            }
        }
        let n = block.sum();
        product / n - first / n * second / n
    });
    let total = covariance.sum();
    let statistics = (0..items).map(|j| {
        let own = design.cell_span(j);
        let count = |c: usize| tables[(own.start + c, own.start + c)];
        let n: f64 = (0..own.len()).map(count).sum();
        let mean = (0..own.len()).map(|c| c as f64 * count(c)).sum::<f64>() / n;
        let variance = covariance[(j, j)];
        let with_rest = covariance.column(j).sum() - variance;
        let rest = total - 2.0 * with_rest - variance;
        let some = |x: f64| x.is_finite().then_some(x);
        Classical {
            item: fitted.names[j].clone(),
            p: some(mean / (own.len() - 1) as f64),
            item_rest_r: some(with_rest / (variance * rest).sqrt()),
        }
    });
    let count = items as f64;
    let alpha = count / (count - 1.0) * (1.0 - covariance.trace() / total);
    (statistics.collect(), Some(alpha).filter(|alpha| alpha.is_finite()))
}
