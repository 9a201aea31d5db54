//! A finished calibration, and `fit.json` from it.

use super::algorithm::{Problem, Solution};
use super::errors::{Covariances, Errors};
use super::plan::{Enrolled, Plan};
use super::report_items::{Scale, report_items};
use super::report_sites::{centre_remainder, published_effects, report_sites};
use crate::design::Design;
use crate::exchange::{CURVE_POINTS, CURVE_STEP, Effects};
use crate::fit::{
    Curve, Diagnostics, FORMAT, Fit, FitItem, FitSite, Histogram, Latent, LatentParameter, LatentShape,
    Quadrature, TraceEntry, Warning, common_model,
};
use crate::items::{Curves, Order};
use crate::population::{Component, Population};
use crate::questions::close::CloseReply;
use crate::statistics::Mode;
use nalgebra::DMatrix;

/// A finished calibration, before it is written down.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Calibrated items.
    pub design: Design,
    /// Items of the codebook.
    pub items: Vec<FitItem>,
    /// Sites.
    pub sites: Vec<FitSite>,
    /// Covariance of the reported (a, d) of all calibrated items, then σ, μ and log τ; none without information.
    covariance: Option<Covariances>,
    /// Name of each row of the covariance.
    pub covariance_names: Vec<String>,
    /// Distribution of ability.
    pub latent: Latent,
    /// SD of random effects and its standard error.
    pub site_sd: Option<(f64, Option<f64>)>,
    /// A 95 % interval for it, where it has an error.
    pub site_sd_interval: Option<[f64; 2]>,
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
    /// Whether the model is right.
    pub diagnostics: Option<Diagnostics>,
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
        reply: &CloseReply,
    ) -> Self {
        let scale =
            Scale { sd: problem.structure.sd(&solution.y), mean: problem.structure.mean(&solution.y) };
        let reported = errors.map(|e| scale.covariance(problem, &solution.point.psi, &e.covariance));
        let mut warnings = Vec::new();
        let mut solution = solution;
        let mut effects = published_effects(problem, plan, reply);
        if solution.effects.is_none() {
            centre_remainder(problem, sites, &scale, &mut solution.point.psi, &mut effects);
        }
        let items =
            report_items(problem, plan, &solution, &scale, reported.as_ref(), &reply.answers, &mut warnings);
        let sites = report_sites(sites, &effects, &mut warnings);
        let population = problem.structure.parameters() - problem.design.parameters();
        let shared = |r: usize, c: usize| reported.as_ref()?.shared(&problem.design, r, c);
        let se = |at: usize| shared(at, at).map(|variance| variance.max(0.0).sqrt());
        let site_sd = (problem.effects == Effects::Random).then(|| {
            let value = solution.point.site_sd * scale.sd;
            // Var of σ·τ from (σ, log τ).
            let (sd, tau) = (population, population + 2);
            let variance = shared(tau, tau).map(|own| {
                let (ds, dt) = (solution.point.site_sd, value);
                let with_sd = shared(sd, sd).zip(shared(sd, tau));
                let with_sd = with_sd.map_or(0.0, |(sd, both)| ds * ds * sd + 2.0 * ds * dt * both);
                with_sd + dt * dt * own
            });
            // At the floor the estimate is a bound, and has no error.
            let floor = solution.point.site_sd <= super::newton::SITE_SD_FLOOR * 1.0001;
            (value, variance.filter(|_| !floor).map(|v| v.max(0.0).sqrt()))
        });
        if let Some((value, _)) = site_sd
            && solution.point.site_sd <= super::newton::SITE_SD_FLOOR * 1.0001
        {
            warnings.push(Warning {
                code: "no_site_variance".into(),
                message: format!("no difference between sites can be told: their SD rests at its floor of {value:.3}, and effects and their errors mean little"),
            });
        }
        warnings.extend(coarse_grid(problem, plan, &solution.point.psi, reply));
        // Several starts of the population are no sign of two solutions.
        if plan.population.is_normal()
            && let [best, second, ..] = solution.starts[..]
            && best - second < CLOSE_STARTS * problem.students
        {
            warnings.push(Warning {
                code: "competing_maxima".into(),
                message: format!(
                    "the two-way tables suggest two solutions, as when a test measures two things: at the start their log-likelihoods are {best:.1} and {second:.1}; the first is followed"
                ),
            });
        }
        let fixed_sites = match problem.effects {
            Effects::Fixed if solution.own_variances.is_none() => {
                let with: f64 = if solution.totals.sites.is_empty() {
                    sites.len() as f64
                } else {
                    solution.totals.sites.iter().sum()
                };
                let parts = 0..problem.parts.iter().max().map_or(1, |p| p + 1);
                let origins =
                    parts.filter(|&part| !problem.structure.anchors_part(&problem.parts, part)).count();
                (with as usize).saturating_sub(origins)
            }
            Effects::Random => 1,
            _ => 0,
        };
        let site_sd_interval = site_sd.and_then(|(value, se)| log_interval(value, se?));
        warnings.extend(few_sites(problem, sites.len(), site_sd_interval));
        let max_gradient =
            problem.gradient_norm(&held_out(problem, &solution, &reply.gradient), &solution.held).0;
        // After its last round an algorithm may take one more step: the closing sums show whether it was one too many. Ten times
        // the tolerance allows for effects found anew at the sites.
        let there = solution.information.is_none() || max_gradient < 10.0 * plan.settings.tolerance;
        let (curves, histogram) = pictures(problem, &scale, reply);
        let settings = &plan.settings;
        Self {
            items,
            sites,
            covariance_names: names(problem, plan),
            latent: Latent {
                mean: scale.mean,
                sd: scale.sd,
                se_sd: se(population).filter(|_| problem.structure.sd_is_free()),
                se_mean: se(population + 1).filter(|_| problem.structure.mean_is_free()),
                groups: Vec::new(),
                shape: latent_shape(problem, &plan.population, &scale, &solution.point.psi, &se),
            },
            covariance: reported,
            site_sd,
            site_sd_interval,
            loglik: reply.loglik,
            max_gradient,
            npar: problem.structure.size() + fixed_sites,
            converged: solution.converged && there,
            condition_number: errors.and_then(|e| e.condition_number).filter(|c| c.is_finite()),
            curves,
            histogram,
            students: reply.students as u64,
            weighted: false,
            rounds: 0,
            exchanges: 0,
            numbers_sent: 0,
            trace: Vec::new(),
            diagnostics: None,
            warnings,
            effects: problem.effects,
            algorithm: settings.algorithm.name(),
            quadrature: Quadrature {
                nodes: plan.population.nodes,
                from: -plan.population.range,
                to: plan.population.range,
                weights: plan.population.grid().weighting.name().to_owned(),
            },
            seed: (settings.client_fraction < 1.0).then_some(settings.seed),
            design: problem.design.clone(),
        }
    }

    /// Covariance of all (a, d), and of the SD, the mean and the log SD of sites where they are estimated.
    pub fn covariance_table(&self) -> crate::fit::Covariance {
        let population = self.design.parameters();
        let chosen = |matrix: &DMatrix<f64>, kept: &[usize]| {
            DMatrix::from_fn(kept.len(), kept.len(), |r, c| matrix[(kept[r], kept[c])])
        };
        let mut out = crate::fit::Covariance::default();
        match &self.covariance {
            None => {}
            Some(Covariances::Full(matrix)) => {
                let kept: Vec<usize> =
                    (0..matrix.nrows()).filter(|&r| r < population || matrix[(r, r)] > 0.0).collect();
                out.names = kept.iter().map(|&r| self.covariance_names[r].clone()).collect();
                out.blocks = vec![chosen(matrix, &kept)];
            }
            Some(Covariances::ByItem(by_item)) => {
                for (j, own) in by_item.items.iter().enumerate() {
                    if let Some(own) = own {
                        out.names.extend_from_slice(&self.covariance_names[self.design.span(j)]);
                        out.blocks.push(own.clone());
                    }
                }
                let shared = &by_item.shared;
                let kept: Vec<usize> = (0..shared.nrows()).filter(|&r| shared[(r, r)] > 0.0).collect();
                out.names.extend(kept.iter().map(|r| self.covariance_names[population + r].clone()));
                out.blocks.push(chosen(shared, &kept));
            }
        }
        out
    }

    /// `fit.json`.
    pub fn fit(&self, mode: Mode, codebook_hash: String, version: String) -> Fit {
        let n = self.students as f64;
        let deviance = -2.0 * self.loglik;
        let k = self.npar as f64;
        // The averages of separate fits maximise nothing: criteria would mislead.
        let likelihood = self.algorithm != "meta";
        let keep = |x: f64| likelihood.then_some(x);
        Fit {
            format: FORMAT.into(),
            model: common_model(&self.items),
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
            site_sd_interval: self.site_sd_interval,
            items: self.items.clone(),
            sites: self.sites.clone(),
            trace: self.trace.clone(),
            curves: Some(self.curves.clone()),
            ability_histogram: Some(self.histogram.clone()),
            diagnostics: self.diagnostics.clone(),
            privacy: None,
            codebook_hash,
            warnings: self.warnings.clone(),
            seed: self.seed,
            version,
            provenance: None,
        }
    }

    fn se_type(&self) -> Option<&'static str> {
        if self.algorithm == "meta" {
            Some("meta")
        } else {
            match &self.covariance {
                None => None,
                Some(Covariances::ByItem(_)) => Some("observed_by_item"),
                Some(Covariances::Full(_)) if self.weighted => Some("sandwich"),
                Some(Covariances::Full(_)) => Some("observed"),
            }
        }
    }
}

/// Two starts are two solutions if their log-likelihoods differ by less than this for each student. Tests of two unrelated traits
/// differ by 0.01 to 0.05, and designs of booklets, whose pairs of items are not all seen, by 0.18 and more.
const CLOSE_STARTS: f64 = 0.1;

/// Below this number of sites the SD between them is known only roughly (Raudenbush & Bryk 2002, chapter 9).
const FEW_SITES: usize = 10;

/// 97.5 % of the normal distribution.
const TWO_SIDED: f64 = 1.959_964;

/// A 95 % interval for an SD: its logarithm is nearer to a normal distribution than the SD itself, which ends at 0.
fn log_interval(sd: f64, se: f64) -> Option<[f64; 2]> {
    let reach = (TWO_SIDED * se / sd).exp();
    (sd > 0.0 && reach.is_finite()).then(|| [sd / reach, sd * reach])
}

fn few_sites(problem: &Problem, sites: usize, interval: Option<[f64; 2]>) -> Option<Warning> {
    let told = interval.map_or_else(String::new, |[low, high]| {
        format!(": with 95 % confidence it is between {low:.3} and {high:.3}")
    });
    (problem.effects == Effects::Random && sites < FEW_SITES).then(|| Warning {
        code: "few_sites".into(),
        message: format!(
            "the SD between sites comes from {sites} sites and is known only roughly{told}; about {FEW_SITES} sites are needed to estimate it, and fixed effects do not need it"
        ),
    })
}

/// Errors of sums over nodes a distance h apart are of the order exp(−2π²(σ/h)²) for a posterior of SD σ: below this ratio σ/h
/// they show in the third digit.
const COARSEST: f64 = 0.6;

/// The nodes are too far apart for what the students' answers tell of their ability. The posterior's precision is 1 and
/// the information of the items that a student answered, on average, where it is greatest within two SDs of the mean.
fn coarse_grid(problem: &Problem, plan: &Plan, psi: &[f64], reply: &CloseReply) -> Option<Warning> {
    let design = &problem.design;
    let abilities: Vec<f64> = (-8..=8).map(|n| 0.25 * f64::from(n)).collect();
    let mut precision = vec![1.0; abilities.len()];
    for j in 0..design.len() {
        let (own, model) = (&psi[design.span(j)], design.model(j));
        let curves = Curves::new(model, design.categories(j), own, &abilities, Order::Score);
        let share = reply.answers[j] / reply.students.max(1.0);
        for c in 0..curves.categories() {
            let (log_p, score) = (curves.log_p(c), curves.score(c, curves.ability()));
            for (precision, (log_p, score)) in precision.iter_mut().zip(log_p.iter().zip(score)) {
                *precision += share * log_p.exp() * score * score;
            }
        }
    }
    let sd = precision.iter().fold(1.0f64, |most, x| most.max(*x)).sqrt().recip();
    let grid = plan.population.grid();
    let spacing = 2.0 * grid.range / (grid.nodes.max(2) - 1) as f64;
    // An odd number, so that there is a node in the middle.
    let enough = 2 * (grid.range / sd).ceil() as usize + 1;
    (sd < COARSEST * spacing).then(|| Warning {
        code: "coarse_grid".into(),
        message: format!(
            "students answered so many items that abilities are known to within {sd:.2}, and the nodes are {spacing:.2} apart: estimates depend on where the nodes lie; take more of them (--nodes {enough})"
        ),
    })
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

/// The estimated shape of the distribution of ability on the reported scale; none for a normal one.
fn latent_shape(
    problem: &Problem,
    population: &Population,
    scale: &Scale,
    psi: &[f64],
    se: &dyn Fn(usize) -> Option<f64>,
) -> Option<LatentShape> {
    // What groups have is told by group.
    if population.is_normal() || population.groups() > 1 {
        return None;
    }
    let estimates = &psi[problem.design.parameters()..];
    let grid = population.at(estimates);
    let parameter = |(h, name): (usize, String)| LatentParameter { name, estimate: estimates[h], se: se(h) };
    let weights: Vec<f64> = grid.log_weights().iter().map(|w| w.exp()).collect();
    let [skewness, kurtosis] =
        [3, 4].map(|power| grid.nodes().iter().zip(&weights).map(|(v, w)| w * v.powi(power)).sum::<f64>());
    let reported =
        |c: Component| Component { mean: scale.mean + scale.sd * c.mean, sd: scale.sd * c.sd, ..c };
    Some(LatentShape {
        population: population.family.to_string(),
        parameters: population.parameters().into_iter().enumerate().map(parameter).collect(),
        components: population.components(estimates).into_iter().map(reported).collect(),
        theta: grid.nodes().iter().map(|v| scale.mean + scale.sd * v).collect(),
        weights,
        skewness,
        kurtosis: kurtosis - 3.0,
    })
}

fn names(problem: &Problem, plan: &Plan) -> Vec<String> {
    let mut names = Vec::new();
    for (j, name) in problem.names.iter().enumerate() {
        names.extend(problem.design.span(j).map(|r| format!("{name}.{}", problem.design.parameter(r).name)));
    }
    names.extend(plan.population.parameters());
    names.extend(["latent.sd".to_owned(), "latent.mean".to_owned(), "log_site_sd".to_owned()]);
    names
}

fn pictures(problem: &Problem, scale: &Scale, reply: &CloseReply) -> (Vec<Curve>, Histogram) {
    let half = (CURVE_POINTS - 1) as f64 / 2.0;
    let at = |k: f64| scale.mean + scale.sd * CURVE_STEP * (k - half);
    let theta: Vec<f64> = (0..CURVE_POINTS).map(|k| at(k as f64)).collect();
    let sums = &reply.curves;
    let curves = (0..problem.design.len())
        .map(|j| {
            let rows: Vec<&[f64]> = problem
                .design
                .cell_span(j)
                .map(|r| &sums[r * CURVE_POINTS..(r + 1) * CURVE_POINTS])
                .collect();
            let weight: Vec<f64> = (0..CURVE_POINTS).map(|k| rows.iter().map(|row| row[k]).sum()).collect();
            let observed = rows
                .iter()
                .map(|row| row.iter().zip(&weight).map(|(x, w)| if *w > 0.0 { x / w } else { 0.0 }).collect())
                .collect();
            Curve { item: problem.names[j].clone(), theta: theta.clone(), observed, weight }
        })
        .collect();
    let edges = (0..=CURVE_POINTS).map(|k| at(k as f64 - 0.5)).collect();
    let counts = reply.ability_histogram.clone();
    (curves, Histogram { edges, counts })
}
