//! Items on the reported scale: the one file that converts.
//!
//! Reported ability is μ + σV (+ σs_k). So a = a_std/σ and d_c = d_std,c − a·score_c·μ; difficulties follow from
//! (a, d); covariances by the delta method.

use super::algorithm::{Problem, Solution};
use super::calibration::Plan;
use crate::exchange::Aggregate;
use crate::fit::{FitItem, Warning};
use crate::statistics::Statistic;
use nalgebra::{DMatrix, DVector};

/// Unit and origin of the reported scale.
pub(super) struct Scale {
    pub sd: f64,
    pub mean: f64,
}

impl Scale {
    /// (a, d) of an item on the reported scale.
    fn item(&self, problem: &Problem, psi: &[f64], item: usize) -> Vec<f64> {
        let span = problem.design.span(item);
        let a = psi[span.start] / self.sd;
        let mut out = vec![a];
        for c in 1..span.len() {
            out.push(psi[span.start + c] - a * problem.design.model(item).shift_score(c) * self.mean);
        }
        out
    }

    /// Covariance of the reported (a, d), σ, μ, log τ from that of (ψ, σ, μ, log τ).
    pub(super) fn covariance(
        &self,
        problem: &Problem,
        psi: &[f64],
        covariance: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let design = &problem.design;
        let p = design.parameters();
        let mut map = DMatrix::identity(p + 3, p + 3);
        for j in 0..design.len() {
            let at = design.offset(j);
            let a = psi[at] / self.sd;
            map[(at, at)] = 1.0 / self.sd;
            map[(at, p)] = -a / self.sd;
            for c in 1..design.categories(j) {
                let score = design.model(j).shift_score(c);
                map[(at + c, at)] = -score * self.mean / self.sd;
                map[(at + c, p)] = score * self.mean * a / self.sd;
                map[(at + c, p + 1)] = -a * score;
            }
        }
        &map * covariance * map.transpose()
    }
}

/// One entry per item of the codebook, in its order.
pub(super) fn report_items(
    problem: &Problem,
    plan: &Plan,
    solution: &Solution,
    scale: &Scale,
    covariance: Option<&DMatrix<f64>>,
    aggregate: &Aggregate,
    warnings: &mut Vec<Warning>,
) -> Vec<FitItem> {
    let design = &problem.design;
    let answers = aggregate.sum(Statistic::Answers, 0);
    let mut out: Vec<FitItem> = plan
        .items
        .iter()
        .map(|item| FitItem {
            name: item.name.clone(),
            model: item.model.clone().unwrap_or_else(|| "2pl".into()),
            categories: 0,
            codes: Vec::new(),
            a: None,
            d: Vec::new(),
            b: Vec::new(),
            se_a: None,
            se_d: Vec::new(),
            se_b: Vec::new(),
            n: None,
            fixed: item.anchor.is_some(),
        })
        .collect();
    for j in 0..design.len() {
        let (span, model) = (design.span(j), design.model(j));
        let values = scale.item(problem, &solution.point.psi, j);
        let (a, d) = (values[0], &values[1..]);
        let entry = &mut out[design.items()[j].column];
        entry.model = model.name().to_owned();
        entry.categories = span.len();
        entry.codes = design.items()[j].codes.clone();
        entry.n = answers.get(j).map(|n| *n as u64);
        let m = d.len();
        if solution.at_bound.contains(&j) {
            (entry.d, entry.b) = (vec![None; m], vec![None; m]);
            (entry.se_d, entry.se_b) = (vec![None; m], vec![None; m]);
            continue;
        }
        let b = model.difficulties(a, d);
        entry.a = Some(a);
        entry.d = d.iter().copied().map(Some).collect();
        entry.b = b.iter().map(|b| b.is_finite().then_some(*b)).collect();
        let fixed = problem.structure.is_anchored(j);
        let se = |direction: DVector<f64>| -> Option<f64> {
            let c = covariance?.view((span.start, span.start), (span.len(), span.len()));
            let variance = direction.dot(&(c * &direction));
            (!fixed && variance.is_finite()).then(|| variance.max(0.0).sqrt())
        };
        let unit = |r: usize| DVector::from_fn(m + 1, |k, _| if k == r { 1.0 } else { 0.0 });
        entry.se_a = se(unit(0)).filter(|_| problem.structure.slope_is_free(j));
        entry.se_d = (1..=m).map(|r| se(unit(r))).collect();
        entry.se_b = (1..=m)
            .map(|step| {
                let mut direction = DVector::zeros(m + 1);
                for (r, w) in model.difficulty_weights(step) {
                    direction[r] = -w / a;
                    direction[0] += w * d[r - 1] / (a * a);
                }
                se(direction)
            })
            .collect();
        if let Some(variances) = &solution.own_variances {
            entry.se_a = Some(variances[span.start].sqrt());
            entry.se_b = (1..=m).map(|r| Some(variances[span.start + r].sqrt())).collect();
            entry.se_d = vec![None; m];
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
        .filter(|&j| solution.point.psi[design.offset(j)] < 0.0)
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
        .filter(|&j| (solution.point.psi[design.offset(j)] / scale.sd).abs() < 0.05)
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
