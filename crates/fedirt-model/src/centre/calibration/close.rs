//! The end of a calibration: standard errors, diagnostics, and the closing sums.

use super::{Calibration, Phase};
use crate::centre::CentreError;
use crate::centre::algorithm::{EffectTotals, Information, Problem, Solution};
use crate::centre::errors::{self, Covariances, Errors, InverseInformation};
use crate::centre::errors_by_item::errors_by_item;
use crate::centre::opening::warning;
use crate::centre::outcome::Outcome;
use crate::centre::plan::POWER_SUMS;
use crate::diagnostics::{Fitted, diagnose};
use crate::exchange::{Effects, Request};
use crate::fit::NotAvailable;
use crate::questions::close::{CloseReply, EffectErrors};
use crate::questions::diagnose::Diagnostic;
use crate::questions::{Close, Diagnose, Products};
use crate::site::lower;

impl Calibration {
    /// Centres the solution and turns its information into errors; weighted fits need products of scores for that.
    pub(super) fn settle(&mut self, mut solution: Box<Solution>) -> Result<Box<Request>, CentreError> {
        let problem = self.problem()?;
        if self.effects == Effects::Fixed && solution.information.is_some() {
            // With the information at hand sites profile their effect at home, whoever found the items.
            solution.effects = None;
            errors::centre_origin(problem, &mut solution);
        }
        let inverse = match &solution.information {
            Some(Information::Full(information)) => InverseInformation::new(
                problem,
                &solution.y,
                information,
                &solution.totals,
                &solution.at_bound,
            ),
            Some(Information::ByItem(_)) if self.weighted() => {
                self.warnings.push(warning(
                    "errors_withheld",
                    "no standard errors: with weights they need products of all items' scores, which are too many in a large bank".into(),
                ));
                return self.diagnose(solution, None, Vec::new());
            }
            Some(Information::ByItem(blocks)) => {
                let errors =
                    errors_by_item(problem, &solution.y, blocks, &solution.totals, solution.point.site_sd);
                return self.diagnose(solution, Some(errors), Vec::new());
            }
            None => None,
        };
        if inverse.is_none() && solution.own_variances.is_none() {
            self.warnings.push(warning(
                "information_not_positive",
                "the information matrix is not positive definite at the end: no standard errors (too few items or students for this model, as a rule)".into(),
            ));
        }
        match (inverse, &self.schedule.products) {
            (Some(_), None) if self.weighted() => {
                self.warnings.push(warning(
                    "errors_withheld",
                    format!("no standard errors: with weights and random effects they need sums of squares over sites, which {POWER_SUMS} or more sites must share"),
                ));
                self.diagnose(solution, None, Vec::new())
            }
            (Some(inverse), Some(question)) => {
                let request = self.request(Products {
                    point: solution.point.clone(),
                    effect_unit: self.effect_unit(),
                    ..*question
                });
                self.phase = Phase::Products(solution, Box::new(inverse));
                Ok(request)
            }
            (inverse, _) => self.diagnose(solution, inverse.map(|b| b.observed()), Vec::new()),
        }
    }

    /// The question for diagnostics, or what comes after it where none were asked for.
    pub(super) fn diagnose(
        &mut self,
        solution: Box<Solution>,
        errors: Option<Errors>,
        products: Vec<f64>,
    ) -> Result<Box<Request>, CentreError> {
        let errors = errors.map(Box::new);
        let Some(question) = &self.schedule.diagnostics else {
            return self.compare(solution, errors, products);
        };
        let asked = question.wanted.contains(&Diagnostic::Influence) && !self.weighted();
        let covariance = errors.as_ref().filter(|_| asked).and_then(|errors| errors.before_centring.full());
        let covariance =
            covariance.map_or_else(Vec::new, |full| lower(full.nrows(), 1.0, |r, c| full[(r, c)]));
        let request =
            self.request(Diagnose { point: solution.point.clone(), covariance, ..question.clone() });
        self.phase = Phase::Diagnostics(solution, errors, products);
        Ok(request)
    }

    /// The closing question.
    pub(super) fn close(
        &mut self,
        solution: Box<Solution>,
        errors: Option<Box<Errors>>,
        products: &[f64],
    ) -> Result<Box<Request>, CentreError> {
        let problem = self.problem()?;
        let at_sites = errors
            .as_ref()
            .filter(|_| self.effects != Effects::None)
            .map(|errors| effect_errors(problem, errors, &solution.totals, products, self.effect_unit()));
        let question = Close {
            point: solution.point.clone(),
            sd: problem.structure.sd(&solution.y),
            errors: at_sites,
            effects: solution.effects.clone(),
            ..self.schedule.closing
        };
        self.phase = Phase::Closing(solution, errors);
        Ok(self.request(question))
    }

    pub(super) fn finish(
        &mut self,
        solution: Solution,
        errors: Option<&Errors>,
        reply: &CloseReply,
    ) -> Result<Outcome, CentreError> {
        let (diagnosed, tables) = (self.diagnosed.take(), self.tables.take());
        let compared = self.compared.take();
        let problem = self.problem()?;
        if solution.at_bound.len() == problem.design.len() {
            return Err(CentreError::NoEstimates(self.students as u64));
        }
        let mut diagnostics = diagnosed.map(|diagnosed| {
            let fitted = Fitted {
                design: &problem.design,
                names: &problem.names,
                sites: self.sites.iter().map(|site| site.name.clone()).collect(),
                psi: &solution.point.psi,
                jacobian: &|| problem.structure.jacobian(&solution.y),
                free: (0..problem.design.len())
                    .map(|j| problem.design.span(j).filter(|&r| problem.structure.is_free(r)).count())
                    .collect(),
                answered: (reply.answers.iter())
                    .map(|answers| (answers / reply.students.max(1.0)).clamp(0.0, 1.0))
                    .collect(),
                population: &self.plan.population,
                shared: self.plan.population.size()
                    + usize::from(problem.structure.sd_is_free())
                    + usize::from(problem.structure.mean_is_free()),
                latent_mean: problem.structure.mean(&solution.y),
                latent_sd: problem.structure.sd(&solution.y),
                grid: &self.plan.population.at(&solution.point.psi[problem.design.parameters()..]),
                effects: self.effects,
                covariance: errors.and_then(|errors| errors.before_centring.full()),
                weighted: self.weighted(),
                wanted: &self.plan.diagnostics,
                seed: self.plan.settings.seed,
            };
            diagnose(&fitted, &diagnosed, tables.as_ref())
        });
        if (self.plan.groups.len() > 1 || self.plan.compare_sites) && !self.plan.compares() {
            let reason = "a bank of so many items is calibrated without numbers about pairs of them, and groups and sites are not compared";
            let missing = ["dif", "site_heterogeneity"].map(|name| NotAvailable::new(name, reason));
            diagnostics.get_or_insert_default().not_available.extend(missing);
        }
        let mut groups = Vec::new();
        if let Some(compared) = &compared {
            self.report_groups(problem, &solution, compared, diagnostics.get_or_insert_default());
            groups = self.group_summaries(problem, &solution, errors, compared);
        }
        let mut outcome = Outcome::new(problem, &self.plan, &self.sites, solution, errors, reply);
        outcome.diagnostics = diagnostics;
        outcome.latent.groups = groups;
        outcome.weighted = self.weighted();
        outcome.warnings.splice(0..0, std::mem::take(&mut self.warnings));
        outcome.rounds = self.trace.len();
        outcome.trace = std::mem::take(&mut self.trace);
        outcome.exchanges = self.exchanges;
        outcome.numbers_sent = self.numbers_sent;
        Ok(outcome)
    }
}

/// What sites need for the errors of their own effects.
fn effect_errors(
    problem: &Problem,
    errors: &Errors,
    totals: &EffectTotals,
    products: &[f64],
    effect_unit: f64,
) -> EffectErrors {
    let p = problem.structure.parameters();
    let lower = |size: usize, at: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..size).flat_map(|r| (0..=r).map(move |c| (r, c))).map(|(r, c)| at(r, c)).collect()
    };
    let covariance = match (&errors.before_centring, &errors.covariance) {
        (Covariances::ByItem(blocks), _) => blocks.blocks(problem).packed(),
        (Covariances::Full(_), Covariances::Full(all)) if problem.effects == Effects::Random => {
            // Over (ψ, log τ): the latter stands behind σ and μ.
            let place = |r: usize| if r == p { p + 2 } else { r };
            lower(p + 1, &|r, c| all[(place(r), place(c))])
        }
        (Covariances::Full(before), _) => lower(p, &|r, c| before[(r, c)]),
    };
    if problem.effects == Effects::Random {
        return EffectErrors {
            covariance,
            mean_loadings: Vec::new(),
            sites: Vec::new(),
            variances: Vec::new(),
            sd_gradient: problem.structure.sd_from_psi(),
            products: Vec::new(),
            effect_unit,
        };
    }
    let mean_loadings = totals
        .loadings
        .iter()
        .enumerate()
        .map(|(at, b)| if totals.sites[at / p] > 0.0 { b / totals.sites[at / p] } else { 0.0 })
        .collect();
    EffectErrors {
        covariance,
        mean_loadings,
        // Nothing is centred where anchors fix the origin.
        sites: (totals.sites.iter().enumerate())
            .map(|(part, n)| if problem.structure.anchors_part(&problem.parts, part) { 0.0 } else { *n })
            .collect(),
        variances: totals.variances.clone(),
        sd_gradient: problem.structure.sd_from_psi(),
        products: products.to_vec(),
        effect_unit,
    }
}
