//! Infit and outfit: mean squares of residuals, and as standard normal numbers.

use super::Fitted;
use super::score_fit::{ScoreFit, adjusted};
use super::site::ITEM_MOMENTS;
use crate::fit::ItemFit;

/// The largest standard deviation of a mean square that enters its z, as in mirt.
const LARGEST_SD: f64 = std::f64::consts::SQRT_2;

/// The Wilson–Hilferty cube root: z of a mean square with standard deviation q (Wright & Masters 1982, ch. 5).
fn standardised(mean_square: f64, variance: f64) -> Option<f64> {
    let q = variance.max(0.0).sqrt().min(LARGEST_SD);
    let z = (mean_square.cbrt() - 1.0) * 3.0 / q + q / 3.0;
    z.is_finite().then_some(z)
}

/// From the sums of [`ItemMoments`](super::site::ItemMoments), a row per item.
pub(super) fn item_fit(fitted: &Fitted<'_>, moments: &[f64]) -> Vec<ItemFit> {
    let rows = moments.chunks_exact(ITEM_MOMENTS);
    let of = |(row, name): (&[f64], &String)| {
        let &[n, standardised_squares, squares, variances, kurtosis, excess] = row else {
            unreachable!("chunks_exact gives rows of ITEM_MOMENTS numbers")
        };
        let some = |x: f64| x.is_finite().then_some(x);
        let (infit, outfit) = (some(squares / variances), some(standardised_squares / n));
        ItemFit {
            item: name.clone(),
            s_x2: None,
            df_s_x2: None,
            p_s_x2: None,
            rmsea_s_x2: None,
            p_adjusted: None,
            infit,
            z_infit: infit.and_then(|ms| standardised(ms, excess / (variances * variances))),
            outfit,
            z_outfit: outfit.and_then(|ms| standardised(ms, kurtosis / (n * n) - 1.0 / n)),
        }
    };
    rows.zip(fitted.names).map(of).collect()
}

/// Adds S-X².
pub(super) fn with_score_fit(items: &mut [ItemFit], fits: &[Option<ScoreFit>]) {
    let p: Vec<Option<f64>> = fits.iter().map(|fit| fit.map(|fit| fit.p)).collect();
    for ((item, fit), p_adjusted) in items.iter_mut().zip(fits).zip(adjusted(&p)) {
        item.s_x2 = fit.map(|fit| fit.statistic);
        item.df_s_x2 = fit.map(|fit| fit.df);
        item.p_s_x2 = fit.map(|fit| fit.p);
        item.rmsea_s_x2 = fit.map(|fit| fit.rmsea);
        item.p_adjusted = p_adjusted;
    }
}
