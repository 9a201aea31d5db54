//! The empirical points of the characteristic curves.

use fedirt_model::fit::{Curve, Fit};

use crate::figure::Z;
use crate::shape;

/// Answers around one ability.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Observed {
    /// Mean ability of the answers pooled here.
    pub(crate) ability: f64,
    /// Expected number of answers.
    pub(crate) weight: f64,
    /// Share of each category.
    pub(crate) shares: Vec<f64>,
}

/// More points than this cannot be told apart in the picture.
const MOST_POINTS: usize = 24;

/// Fewer answers than this say nothing, and their whiskers would cover the picture.
pub(crate) const LEAST_WEIGHT: f64 = 3.0;

/// The points of an item; `None` if the run did not release them.
pub(crate) fn points(fit: &Fit, item: usize) -> Option<Vec<Observed>> {
    let curves = fit.curves.as_ref()?;
    let name = &fit.items.get(item)?.name;
    // Curves come in the order of the items; a file edited by hand may have lost some.
    let own =
        curves.get(item).filter(|c| c.item == *name).or_else(|| curves.iter().find(|c| c.item == *name))?;
    Some(pooled(own, shape::range(fit), fit.items[item].categories))
}

/// Neighbouring abilities pooled.
fn pooled(curve: &Curve, (low, high): (f64, f64), categories: usize) -> Vec<Observed> {
    let nodes: Vec<Observed> = curve
        .theta
        .iter()
        .enumerate()
        .filter_map(|(n, &ability)| {
            let weight = *curve.weight.get(n)?;
            let shares: Vec<f64> =
                (0..categories).map(|c| curve.observed.get(c)?.get(n).copied()).collect::<Option<_>>()?;
            let fine = weight > 0.0 && weight.is_finite() && shares.iter().all(|s| s.is_finite());
            (fine && (low..=high).contains(&ability)).then_some(Observed { ability, weight, shares })
        })
        .collect();
    let together = nodes.len().div_ceil(MOST_POINTS).max(1);
    nodes.chunks(together).map(pool).filter(|point| point.weight >= LEAST_WEIGHT).collect()
}

fn pool(nodes: &[Observed]) -> Observed {
    let weight: f64 = nodes.iter().map(|o| o.weight).sum();
    let mean =
        |value: &dyn Fn(&Observed) -> f64| nodes.iter().map(|o| o.weight * value(o)).sum::<f64>() / weight;
    let categories = nodes.first().map_or(0, |o| o.shares.len());
    Observed {
        ability: mean(&|o| o.ability),
        weight,
        shares: (0..categories).map(|c| mean(&|o| o.shares[c]).clamp(0.0, 1.0)).collect(),
    }
}

/// 95 % limits of a share (Wilson 1927): unlike p ± 1.96 SE they do not vanish at 0 and 1.
pub(crate) fn limits(share: f64, weight: f64) -> (f64, f64) {
    let z2 = Z * Z / weight;
    let centre = (share + z2 / 2.0) / (1.0 + z2);
    let half = (Z / (1.0 + z2)) * (share * (1.0 - share) / weight + z2 / (4.0 * weight)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_limits() {
        // Wilson's interval for 5 of 10, as in statistical tables.
        let (low, high) = limits(0.5, 10.0);
        assert!((low - 0.2366).abs() < 1e-4 && (high - 0.7634).abs() < 1e-4, "{low} {high}");
        let (low, high) = limits(1.0, 10.0);
        assert!((low - 0.7225).abs() < 1e-4 && high > 1.0 - 1e-9, "{low} {high}");
    }

    #[test]
    fn neighbours_are_pooled_and_faint_points_left_out() {
        let curve = Curve {
            item: "x".into(),
            theta: (0..60).map(|n| -3.0 + 0.1 * n as f64).collect(),
            observed: vec![vec![0.4; 60], vec![0.6; 60]],
            weight: (0..60).map(|n| if n < 6 { 0.1 } else { 10.0 }).collect(),
        };
        let points = pooled(&curve, (-4.0, 4.0), 2);
        assert_eq!(points.len(), 18);
        assert_eq!(points[0].weight, 30.0);
        assert!((points[0].shares[1] - 0.6).abs() < 1e-12 && (points[0].ability + 2.3).abs() < 1e-12);
        assert!(pooled(&curve, (-4.0, 4.0), 3).is_empty(), "a category is missing in the file");
    }
}
