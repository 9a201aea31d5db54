//! From a solution for standardised ability to what is reported: the one file that converts.
//!
//! Reported ability is μ + σV (+ σs_k). So a = a_std/σ and d_c = d_std,c − a·score_c·μ; difficulties follow from
//! (a, d); covariances by the delta method.

use super::algorithm::{Problem, Solution};
use super::calibration::{Enrolled, Plan};
use super::errors::Errors;
use crate::design::Design;
use crate::exchange::{Aggregate, CURVE_POINTS, CURVE_STEP, Effects};
use crate::fit::{Curve, FORMAT, Fit, FitItem, FitSite, Histogram, Latent, Quadrature, TraceEntry, Warning};
use crate::statistics::{Mode, Statistic};
use nalgebra::{DMatrix, DVector};

/// A finished calibration, before it is written down.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Calibrated items.
    pub design: Design,
    /// Items of the codebook.
    pub items: Vec<FitItem>,
    /// Sites.
    pub sites: Vec<FitSite>,
    /// Covariance of the reported (a, d) of all calibrated items, then σ, μ and log τ; empty without information.
    pub covariance: DMatrix<f64>,
    /// Name of each row of the covariance.
    pub covariance_names: Vec<String>,
    /// Distribution of ability.
    pub latent: Latent,
    /// SD of random effects and its standard error.
    pub site_sd: Option<(f64, Option<f64>)>,
    /// Log-likelihood at the estimates.
    pub loglik: f64,
    /// Largest gradient per student at the estimates.
    pub max_gradient: f64,
    /// Free parameters.
    pub npar: usize,
    /// Whether the algorithm converged.
    pub converged: bool,
    /// Condition number of the information.
    pub condition_number: Option<f64>,
    /// Empirical curves.
    pub curves: Vec<Curve>,
    /// Ability histogram.
    pub histogram: Histogram,
    /// Students.
    pub students: u64,
    /// Whether weights were used.
    pub weighted: bool,
    /// Rounds.
    pub rounds: usize,
    /// Exchanges.
    pub exchanges: usize,
    /// Numbers that a site sent.
    pub numbers_sent: u64,
    /// Round by round.
    pub trace: Vec<TraceEntry>,
    /// Remarks.
    pub warnings: Vec<Warning>,
    effects: Effects,
    algorithm: &'static str,
    quadrature: Quadrature,
    seed: Option<u64>,
}

impl Outcome {
    pub(super) fn new(
        problem: &Problem,
        plan: &Plan,
        sites: &[Enrolled],
        solution: Solution,
        errors: Option<&Errors>,
        aggregate: &Aggregate,
    ) -> Self {
        let scale =
            Scale { sd: problem.structure.sd(&solution.y), mean: problem.structure.mean(&solution.y) };
        let reported = errors.map(|e| scale.covariance(problem, &solution.point.psi, &e.covariance));
        let mut warnings = Vec::new();
        let items =
            report_items(problem, plan, &solution, &scale, reported.as_ref(), aggregate, &mut warnings);
        let sites = report_sites(problem, plan, sites, aggregate, &mut warnings);
        let p = problem.design.parameters();
        let se = |at: usize| reported.as_ref().map(|c| c[(at, at)].max(0.0).sqrt());
        let site_sd = (problem.effects == Effects::Random).then(|| {
            let value = solution.point.site_sd * scale.sd;
            // Var of σ·τ from (σ, log τ).
            let variance = reported.as_ref().map(|c| {
                let (ds, dt) = (solution.point.site_sd, value);
                ds * ds * c[(p, p)] + 2.0 * ds * dt * c[(p, p + 2)] + dt * dt * c[(p + 2, p + 2)]
            });
            (value, variance.map(|v| v.max(0.0).sqrt()))
        });
        if let Some((value, _)) = site_sd
            && solution.point.site_sd <= super::newton::SITE_SD_FLOOR * 1.0001
        {
            warnings.push(Warning {
                code: "no_site_variance".into(),
                message: format!("sites do not differ: their SD rests at its floor of {value:.3}"),
            });
        }
        let gradient = aggregate.sum(Statistic::Gradient, 0);
        let fixed_sites = match problem.effects {
            Effects::Fixed if solution.own_variances.is_none() => {
                let with: f64 = if solution.totals.sites.is_empty() {
                    sites.len() as f64
                } else {
                    solution.totals.sites.iter().sum()
                };
                let origins = if problem.structure.anchored() {
                    0
                } else {
                    problem.parts.iter().max().map_or(1, |p| p + 1)
                };
                (with as usize).saturating_sub(origins)
            }
            Effects::Random => 1,
            _ => 0,
        };
        let (curves, histogram) = pictures(problem, &scale, aggregate);
        let settings = &plan.settings;
        Self {
            items,
            sites,
            covariance_names: names(problem),
            latent: Latent {
                mean: scale.mean,
                sd: scale.sd,
                se_sd: se(p).filter(|_| problem.structure.sd_is_free()),
                se_mean: se(p + 1).filter(|_| problem.structure.mean_is_free()),
            },
            covariance: reported.unwrap_or_else(|| DMatrix::zeros(0, 0)),
            site_sd,
            loglik: aggregate.scalar(Statistic::Loglik),
            max_gradient: problem
                .gradient_norm(&held_out(problem, &solution, gradient), &solution.at_bound)
                .0,
            npar: problem.structure.size() + fixed_sites,
            converged: solution.converged,
            condition_number: errors.map(|e| e.condition_number).filter(|c| c.is_finite()),
            curves,
            histogram,
            students: problem.students as u64,
            weighted: false,
            rounds: 0,
            exchanges: 0,
            numbers_sent: 0,
            trace: Vec::new(),
            warnings,
            effects: problem.effects,
            algorithm: settings.algorithm.name(),
            quadrature: Quadrature {
                nodes: plan.grid.nodes,
                from: -plan.grid.range,
                to: plan.grid.range,
                weights: plan.grid.weighting.name().to_owned(),
            },
            seed: (settings.client_fraction < 1.0).then_some(settings.seed),
            design: problem.design.clone(),
        }
    }

    /// `fit.json`.
    pub fn fit(&self, mode: Mode, codebook_hash: String, version: String) -> Fit {
        let n = self.students as f64;
        let deviance = -2.0 * self.loglik;
        let k = self.npar as f64;
        let mut models = self.items.iter().filter(|i| i.categories > 1).map(|i| i.model.as_str());
        let first = models.next().unwrap_or("2pl");
        let model = if models.all(|m| m == first) { first } else { "mixed" };
        // The averages of separate fits maximise nothing: criteria would mislead.
        let likelihood = self.algorithm != "meta";
        let keep = |x: f64| likelihood.then_some(x);
        Fit {
            format: FORMAT.into(),
            model: model.to_owned(),
            effects: self.effects.name().to_owned(),
            algorithm: self.algorithm.to_owned(),
            mode: mode.name().to_owned(),
            n: self.students,
            loglik: Some(self.loglik),
            npar: self.npar,
            aic: keep(deviance + 2.0 * k),
            bic: keep(deviance + k * n.ln()),
            sabic: keep(deviance + k * ((n + 2.0) / 24.0).ln()),
            converged: Some(self.converged),
            rounds: self.rounds,
            exchanges: self.exchanges,
            numbers_sent: self.numbers_sent,
            max_gradient: Some(self.max_gradient),
            se_type: self.se_type().map(str::to_owned),
            condition_number: self.condition_number,
            quadrature: self.quadrature.clone(),
            latent: self.latent.clone(),
            site_sd: self.site_sd.map(|s| s.0),
            se_site_sd: self.site_sd.and_then(|s| s.1),
            items: self.items.clone(),
            sites: self.sites.clone(),
            trace: self.trace.clone(),
            curves: Some(self.curves.clone()),
            ability_histogram: Some(self.histogram.clone()),
            privacy: None,
            codebook_hash,
            warnings: self.warnings.clone(),
            seed: self.seed,
            version,
        }
    }

    fn se_type(&self) -> Option<&'static str> {
        if self.algorithm == "meta" {
            Some("meta")
        } else if self.covariance.is_empty() {
            None
        } else if self.weighted {
            Some("sandwich")
        } else {
            Some("observed")
        }
    }
}

/// The gradient without an SD of random effects that rests on its floor.
fn held_out(problem: &Problem, solution: &Solution, gradient: &[f64]) -> Vec<f64> {
    let mut gradient = gradient.to_vec();
    if problem.effects == Effects::Random
        && solution.point.site_sd <= super::newton::SITE_SD_FLOOR * 1.0001
        && gradient.last().is_some_and(|g| *g <= 0.0)
    {
        gradient.pop();
    }
    gradient
}

fn names(problem: &Problem) -> Vec<String> {
    let mut names = Vec::new();
    for (j, name) in problem.names.iter().enumerate() {
        names.push(format!("{name}.a"));
        match problem.design.categories(j) {
            2 => names.push(format!("{name}.d")),
            c => names.extend((1..c).map(|step| format!("{name}.d{step}"))),
        }
    }
    names.extend(["latent.sd".to_owned(), "latent.mean".to_owned(), "log_site_sd".to_owned()]);
    names
}

/// Unit and origin of the reported scale.
struct Scale {
    sd: f64,
    mean: f64,
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
    fn covariance(&self, problem: &Problem, psi: &[f64], covariance: &DMatrix<f64>) -> DMatrix<f64> {
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

fn report_items(
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
        super::calibration::some_names(items.map(|j| problem.names[j].as_str()))
    };
    if !solution.at_bound.is_empty() {
        let names = list(&mut solution.at_bound.iter().copied());
        warnings.push(Warning {
            code: "no_finite_estimate".into(),
            message: format!(
                "the likelihood has no finite maximum for {names}: their parameters are left empty"
            ),
        });
    }
    let reversed: Vec<usize> = (0..design.len())
        .filter(|&j| solution.point.psi[design.offset(j)] < 0.0 && !problem.structure.is_anchored(j))
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
                "{} hardly depend on ability (|a| < 0.05): their difficulties mean little",
                list(&mut flat.iter().copied())
            ),
        });
    }
    out
}

fn report_sites(
    problem: &Problem,
    plan: &Plan,
    sites: &[Enrolled],
    aggregate: &Aggregate,
    warnings: &mut Vec<Warning>,
) -> Vec<FitSite> {
    let published =
        plan.publish_effects && problem.effects != Effects::None && plan.settings.algorithm.name() != "meta";
    let own = if published { aggregate.by_site(Statistic::OwnEffect) } else { Vec::new() };
    let mut silent = Vec::new();
    let out = sites
        .iter()
        .enumerate()
        .map(|(k, site)| {
            let (mut effect, mut se) = (None, None);
            if let Some([value, error]) = own.get(k) {
                // A negative error says that there is none; without information there is an effect all the same.
                if *error >= 0.0 {
                    (effect, se) = (Some(*value), Some(*error));
                } else if *value != 0.0 {
                    effect = Some(*value);
                } else {
                    silent.push(site.name.as_str());
                }
            }
            FitSite { name: site.name.clone(), n: site.students, effect, se }
        })
        .collect();
    if !silent.is_empty() {
        warnings.push(Warning {
            code: "site_without_effect".into(),
            message: format!(
                "no finite effect: every answer stands at one end of the scale at {}",
                super::calibration::some_names(silent)
            ),
        });
    }
    out
}

fn pictures(problem: &Problem, scale: &Scale, aggregate: &Aggregate) -> (Vec<Curve>, Histogram) {
    let half = (CURVE_POINTS - 1) as f64 / 2.0;
    let at = |k: f64| scale.mean + scale.sd * CURVE_STEP * (k - half);
    let theta: Vec<f64> = (0..CURVE_POINTS).map(|k| at(k as f64)).collect();
    let sums = aggregate.sum(Statistic::Curves, 0);
    let curves = (0..problem.design.len())
        .map(|j| {
            let rows: Vec<&[f64]> =
                problem.design.span(j).map(|r| &sums[r * CURVE_POINTS..(r + 1) * CURVE_POINTS]).collect();
            let weight: Vec<f64> = (0..CURVE_POINTS).map(|k| rows.iter().map(|row| row[k]).sum()).collect();
            let observed = rows
                .iter()
                .map(|row| row.iter().zip(&weight).map(|(x, w)| if *w > 0.0 { x / w } else { 0.0 }).collect())
                .collect();
            Curve { item: problem.names[j].clone(), theta: theta.clone(), observed, weight }
        })
        .collect();
    let edges = (0..=CURVE_POINTS).map(|k| at(k as f64 - 0.5)).collect();
    let counts = aggregate.sum(Statistic::AbilityHistogram, 0).to_vec();
    (curves, Histogram { edges, counts })
}
