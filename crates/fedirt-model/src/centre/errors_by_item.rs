//! Standard errors of large banks: those of each item by itself, as if the parameters of all others were known, and what all items
//! share to first order.
//!
//! The inverse of a diagonal block of the information is smaller than the block of its inverse: it leaves out that unit and origin of
//! ability are those of the N students, and with random effects of the K sites, who happened to be sampled. Were abilities known, their
//! SD would have the variance 1/2N and their mean 1/N (and τ²/K). So u·uᵀ/2N and n·nᵀ(1/N + τ²/K) are added, with the directions u and n in
//! which an item moves with unit and origin.

use super::algorithm::{EffectTotals, Problem};
use super::arrow::{self, ItemBlocks};
use super::errors::{Covariances, Errors};
use crate::exchange::Effects;
use nalgebra::{Cholesky, DMatrix, DVector};

/// Covariances of each item's parameters, and of what all items share.
#[derive(Debug, Clone)]
pub(crate) struct ItemCovariances {
    /// None where the information about an item is not positive definite.
    pub items: Vec<Option<DMatrix<f64>>>,
    /// Of the population's parameters and what stands behind them.
    pub shared: DMatrix<f64>,
}

impl ItemCovariances {
    /// As blocks, with zeros where nothing is known.
    pub(crate) fn blocks(&self, problem: &Problem) -> ItemBlocks {
        let zeros = |j: usize| DMatrix::zeros(problem.design.span(j).len(), problem.design.span(j).len());
        let items = self.items.iter().enumerate().map(|(j, own)| own.clone().unwrap_or_else(|| zeros(j)));
        ItemBlocks { items: items.collect(), shared: self.shared.clone() }
    }
}

/// Errors from the information by item. None of the SD and the mean of ability: other items' slopes say as much about them as the
/// item's own.
pub(crate) fn errors_by_item(
    problem: &Problem,
    y: &DVector<f64>,
    information: &ItemBlocks,
    totals: &EffectTotals,
    site_sd: f64,
) -> Errors {
    let (places, _) = arrow::places(&problem.structure, &problem.design, y);
    let own = |(place, block): (&arrow::ItemPlace, &DMatrix<f64>)| {
        let in_coordinates = place.slopes.transpose() * block * &place.slopes;
        let inverse = match place.own.len() {
            0 => in_coordinates,
            _ => Cholesky::new((&in_coordinates + in_coordinates.transpose()) * 0.5)?.inverse(),
        };
        Some(&place.slopes * inverse * place.slopes.transpose())
    };
    let items: Vec<Option<DMatrix<f64>>> = places.iter().zip(&information.items).map(own).collect();
    let shared = match information.shared.nrows() {
        0 => information.shared.clone(),
        size => {
            let inverse = Cholesky::new(information.shared.clone()).map(|cholesky| cholesky.inverse());
            inverse.unwrap_or_else(|| DMatrix::zeros(size, size))
        }
    };
    // Behind the population's parameters: SD and mean of ability, the log SD of random effects.
    let population = problem.structure.parameters() - problem.design.parameters();
    let mut wide = DMatrix::zeros(population + 3, population + 3);
    let place = |r: usize| if r < population { r } else { population + 2 };
    for r in 0..shared.nrows() {
        for c in 0..shared.nrows() {
            wide[(place(r), place(c))] = shared[(r, c)];
        }
    }
    let before = ItemCovariances { items, shared };
    let mut centred = ItemCovariances { items: before.items.clone(), shared: wide };
    if problem.effects == Effects::Fixed {
        centre(problem, y, totals, &mut centred);
    }
    if !problem.structure.anchored() {
        add_sampling(problem, y, site_sd, &mut centred);
    }
    Errors {
        covariance: Covariances::ByItem(centred),
        before_centring: Covariances::ByItem(before),
        condition_number: None,
    }
}

/// Adds the sampling of unit and origin. Fixed effects carry the origin, with an error that [`centre`] adds.
fn add_sampling(problem: &Problem, y: &DVector<f64>, site_sd: f64, covariances: &mut ItemCovariances) {
    let design = &problem.design;
    let sites = problem.site_students.len().max(1) as f64;
    let origin = match problem.effects {
        Effects::None => 1.0 / problem.students,
        Effects::Fixed => 0.0,
        Effects::Random => 1.0 / problem.students + site_sd * site_sd / sites,
    };
    let psi = problem.structure.psi(y);
    let shift = design.shift_direction(&psi);
    for (j, own) in covariances.items.iter_mut().enumerate() {
        let Some(own) = own else { continue };
        let span = design.span(j);
        let n = DVector::from_column_slice(&shift[span.clone()]);
        // Slopes that are the SD of ability itself are reported as 1, without an error.
        let moves = |r: usize| design.slope_of(r).is_none() && problem.structure.is_free(r);
        let u = DVector::from_iterator(span.len(), span.map(|r| if moves(r) { psi[r] } else { 0.0 }));
        *own += origin * &n * n.transpose() + &u * u.transpose() / (2.0 * problem.students);
    }
}

/// Each item's part of (I + n·B̄ᵀ) C (I + n·B̄ᵀ)ᵀ + n·nᵀ Σ(1/I_k)/K² (see `errors.rs`), with C by item.
fn centre(problem: &Problem, y: &DVector<f64>, totals: &EffectTotals, covariances: &mut ItemCovariances) {
    let (design, p) = (&problem.design, problem.structure.parameters());
    if totals.loadings.is_empty() {
        return;
    }
    let direction = design.shift_direction(&problem.structure.psi(y));
    for (part, &sites) in totals.sites.iter().enumerate() {
        if sites <= 0.0 || problem.structure.anchors_part(&problem.parts, part) {
            continue;
        }
        let mean = |j: usize| {
            let loadings = &totals.loadings[part * p..][design.span(j)];
            DVector::from_iterator(loadings.len(), loadings.iter().map(|b| b / sites))
        };
        let pulls: Vec<Option<DVector<f64>>> =
            covariances.items.iter().enumerate().map(|(j, own)| Some(own.as_ref()? * mean(j))).collect();
        let along: f64 = pulls.iter().enumerate().filter_map(|(j, v)| Some(mean(j).dot(v.as_ref()?))).sum();
        let variance = along + totals.variances[part] / (sites * sites);
        for (j, (own, pull)) in covariances.items.iter_mut().zip(&pulls).enumerate() {
            if let (Some(own), Some(pull)) = (own, pull)
                && problem.parts[j] == part
            {
                let n = DVector::from_column_slice(&direction[design.span(j)]);
                *own += &n * pull.transpose() + pull * n.transpose() + variance * &n * n.transpose();
            }
        }
    }
}
