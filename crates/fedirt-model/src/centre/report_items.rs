//! Items on the reported scale: the one file that converts.
//!
//! Reported ability is μ + σV (+ σs_k). So a slope is a = a_std/σ and an intercept d = d_std − a·score·μ, with a its
//! slope. What else is reported (difficulties, named parameters) and its errors follow by the delta method.

use super::algorithm::{Problem, Solution};
use super::errors::Covariances;
use super::errors_by_item::ItemCovariances;
use super::plan::Plan;
use crate::design::Design;
use crate::fit::{FitItem, Warning};
use crate::items::default_model;
use nalgebra::DMatrix;

/// Unit and origin of the reported scale.
pub(super) struct Scale {
    pub sd: f64,
    pub mean: f64,
}

impl Scale {
    /// An item's parameters on the reported scale.
    fn item(&self, problem: &Problem, psi: &[f64], item: usize) -> Vec<f64> {
        let reported = |r: usize| match problem.design.slope_of(r) {
            None => psi[r] / self.sd,
            Some((slope, score)) => psi[r] - psi[slope] / self.sd * score * self.mean,
        };
        problem.design.span(item).map(reported).collect()
    }

    /// Covariance of the reported parameters, σ, μ, log τ from that of (ψ, σ, μ, log τ); the population's
    /// parameters are free of the unit.
    pub(super) fn covariance(&self, problem: &Problem, psi: &[f64], covariance: &Covariances) -> Covariances {
        let design = &problem.design;
        let p = problem.structure.parameters();
        match covariance {
            Covariances::Full(covariance) => {
                let mut map = DMatrix::identity(p + 3, p + 3);
                for r in 0..design.parameters() {
                    self.map_parameter(design, r, |c, x| map[(r, c)] = x);
                    match design.slope_of(r) {
                        None => map[(r, p)] = -(psi[r] / self.sd) / self.sd,
                        Some((slope, score)) => {
                            let a = psi[slope] / self.sd;
                            map[(r, p)] = score * self.mean * a / self.sd;
                            map[(r, p + 1)] = -a * score;
                        }
                    }
                }
                Covariances::Full(&map * covariance * map.transpose())
            }
            Covariances::ByItem(by_item) => {
                let own = |(j, own): (usize, &Option<DMatrix<f64>>)| {
                    let own = own.as_ref()?;
                    let first = design.offset(j);
                    let mut map = DMatrix::identity(own.nrows(), own.nrows());
                    for r in design.span(j) {
                        self.map_parameter(design, r, |c, x| map[(r - first, c - first)] = x);
                    }
                    Some(&map * own * map.transpose())
                };
                let items = by_item.items.iter().enumerate().map(own).collect();
                Covariances::ByItem(ItemCovariances { items, shared: by_item.shared.clone() })
            }
        }
    }

    /// How a reported parameter changes with the parameters of its item, at given SD and mean of ability.
    fn map_parameter(&self, design: &Design, r: usize, mut set: impl FnMut(usize, f64)) {
        match design.slope_of(r) {
            None => set(r, 1.0 / self.sd),
            Some((slope, score)) => set(slope, -score * self.mean / self.sd),
        }
    }
}

/// One entry per item of the codebook, in its order.
pub(super) fn report_items(
    problem: &Problem,
    plan: &Plan,
    solution: &Solution,
    scale: &Scale,
    covariance: Option<&Covariances>,
    answers: &[f64],
    warnings: &mut Vec<Warning>,
) -> Vec<FitItem> {
    let design = &problem.design;
    let mut out: Vec<FitItem> = plan
        .items
        .iter()
        .map(|item| {
            let model = item.model.clone().unwrap_or_else(|| default_model(2).name().to_owned());
            FitItem {
                fixed: item.anchor.is_some(),
                merged: item.merged.clone(),
                ..FitItem::without_estimates(&item.name, &model)
            }
        })
        .collect();
    for j in 0..design.len() {
        let (span, model) = (design.span(j), design.model(j));
        let entry = &mut out[design.items()[j].column];
        entry.model = model.name().to_owned();
        entry.categories = design.categories(j);
        entry.codes = design.items()[j].codes.clone();
        entry.n = answers.get(j).map(|n| *n as u64);
        let psi = scale.item(problem, &solution.point.psi, j);
        if solution.at_bound.contains(&j) {
            entry.withhold(model, &psi);
            continue;
        }
        let block = covariance
            .filter(|_| !problem.structure.is_anchored(j))
            .and_then(|covariance| covariance.item(design, j));
        // Item by item nothing is known of a slope that all items share.
        let by_item = matches!(covariance, Some(Covariances::ByItem(_)));
        let known = |r: usize| problem.structure.is_free(r) && !(by_item && problem.structure.is_common(r));
        let free: Vec<bool> = span.clone().map(known).collect();
        entry.set_estimates(model, &psi, block.as_ref(), &free);
        if let Some(variances) = &solution.own_variances {
            entry.se_a = Some(variances[span.start].sqrt());
            entry.se_b = span.clone().skip(1).map(|r| Some(variances[r].sqrt())).collect();
            entry.se_d.fill(None);
            entry.se.forget();
        }
    }
    let list = |items: &mut dyn Iterator<Item = usize>| {
        super::opening::some_names(items.map(|j| problem.names[j].as_str()))
    };
    if !solution.at_bound.is_empty() {
        let names = list(&mut solution.at_bound.iter().copied());
        warnings.push(Warning {
            code: "no_finite_estimate".into(),
            message: format!(
                "slopes beyond what the grid can resolve, if they are finite at all: {names}; their parameters are left empty (--nodes 241 resolves steeper ones)"
            ),
        });
    }
    let reversed: Vec<usize> = (0..design.len())
        .filter(|&j| design.model(j).one_slope().is_some() && solution.point.psi[design.offset(j)] < 0.0)
        .filter(|j| !problem.structure.is_anchored(*j) && !solution.at_bound.contains(j))
        .collect();
    if !reversed.is_empty() {
        warnings.push(Warning {
            code: "negative_slope".into(),
            message: format!(
                "abler students score lower on {}: reverse-keyed or wrongly keyed?",
                list(&mut reversed.iter().copied())
            ),
        });
    }
    let flat: Vec<usize> = (0..design.len())
        .filter(|&j| solution.point.psi[design.slopes(j)].iter().all(|a| (a / scale.sd).abs() < 0.05))
        .collect();
    if !flat.is_empty() {
        warnings.push(Warning {
            code: "flat_item".into(),
            message: format!(
                "hardly any dependence on ability (|a| < 0.05), so that difficulties mean little: {}",
                list(&mut flat.iter().copied())
            ),
        });
    }
    out
}
