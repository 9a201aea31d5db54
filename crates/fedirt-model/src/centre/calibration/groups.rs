//! The comparison of groups of students, and of sites, at the estimates: its exchanges, and what is reported.

use super::{Calibration, Phase};
use crate::centre::CentreError;
use crate::centre::algorithm::{Problem, Solution, symmetric};
use crate::centre::errors::Errors;
use crate::centre::plan::{Enrolled, Plan, Secrecy};
use crate::diagnostics::dif::{
    self, GroupTables, PASSES, ScoreTests, SitesOf, by_observed_scores, expected_score_difference,
    own_parameters,
};
use crate::exchange::{Effects, Request, triangle};
use crate::fit::{Diagnostics, GroupSummary, NotAvailable};
use crate::questions::Dif;
use crate::questions::dif::DifReply;

/// Refuses groups that cannot be compared: few sites have one, or effects of sites stand for the groups' means.
pub(super) fn check(plan: &Plan, effects: Effects, sites: &[Enrolled]) -> Result<(), CentreError> {
    let distributions = plan.population.groups();
    // Groups may have distributions of their own without being compared.
    if distributions > 1 && ![0, distributions].contains(&plan.groups.len()) {
        return Err(CentreError::Unsupported(
            "each group that is compared has a distribution of ability".into(),
        ));
    }
    let least = match plan.secrecy {
        Secrecy::BySite => 1,
        Secrecy::Sums { n_min, .. } => n_min,
    };
    for (g, name) in plan.groups.iter().enumerate() {
        let have = sites.iter().filter(|site| site.groups >> g & 1 == 1).count();
        if have < least {
            return Err(CentreError::Unsupported(format!(
                "group {name}: {have} sites have enough students of it, and {least} are needed"
            )));
        }
    }
    if distributions > 1
        && effects == Effects::Fixed
        && sites.iter().all(|site| site.groups.count_ones() <= 1)
    {
        return Err(CentreError::Unsupported(
            "each site has students of one group only: fixed site effects and the groups' means cannot be told apart; use effects none or random".into(),
        ));
    }
    Ok(())
}

/// What the exchanges have brought so far.
pub(super) struct Compared {
    /// The first pass.
    first: DifReply,
    /// Anchors of the last pass, and its table.
    anchors: Vec<usize>,
    table: Option<Vec<f64>>,
    passes: usize,
}

impl Calibration {
    /// The question about groups, or what comes after it where there is none.
    pub(super) fn compare(
        &mut self,
        solution: Box<Solution>,
        errors: Option<Box<Errors>>,
        products: Vec<f64>,
    ) -> Result<Box<Request>, CentreError> {
        let Some(question) = self.schedule.groups.clone() else {
            return self.close(solution, errors, &products);
        };
        let problem = self.problem()?;
        let design = &problem.design;
        let free =
            (0..design.len()).flat_map(|j| own_parameters(&problem.structure, design.span(j))).collect();
        let anchors = (0..design.len()).collect();
        let request = self.request(Dif { point: solution.point.clone(), anchors, free, ..question });
        self.phase = Phase::Groups(solution, errors, products);
        Ok(request)
    }

    /// Takes the sums of a pass, and asks for those of other anchors where some items turn out to work differently.
    pub(super) fn compared(
        &mut self,
        solution: Box<Solution>,
        errors: Option<Box<Errors>>,
        products: Vec<f64>,
        asked: &Dif,
        mut reply: DifReply,
    ) -> Result<Box<Request>, CentreError> {
        let table = reply.table.take();
        let compared = match self.compared.take() {
            None => Compared { first: reply, anchors: asked.anchors.clone(), table, passes: 1 },
            Some(before) => {
                Compared { anchors: asked.anchors.clone(), table, passes: before.passes + 1, ..before }
            }
        };
        let next = compared.table.as_ref().filter(|_| self.plan.purify && compared.passes < PASSES).and_then(
            |table| {
                let design = &self.problem.as_ref()?.design;
                dif::purified(
                    &GroupTables { design, anchors: &compared.anchors, table },
                    self.plan.groups.len(),
                )
            },
        );
        self.compared = Some(compared);
        let Some(anchors) = next else { return self.close(solution, errors, &products) };
        let request =
            self.request(Dif { point: solution.point.clone(), anchors, first: false, ..asked.clone() });
        self.phase = Phase::Groups(solution, errors, products);
        Ok(request)
    }

    /// Adds what was found to the diagnostics.
    pub(super) fn report_groups(
        &self,
        problem: &Problem,
        solution: &Solution,
        compared: &Compared,
        out: &mut Diagnostics,
    ) {
        if self.plan.groups.len() > 1 {
            self.report_dif(problem, solution, compared, out);
        }
        if self.plan.compare_sites {
            self.report_sites(problem, compared, out);
        }
    }

    fn report_dif(&self, problem: &Problem, solution: &Solution, compared: &Compared, out: &mut Diagnostics) {
        let (groups, names) = (&self.plan.groups, &problem.names);
        let mut missing =
            |name: &str, reason: String| out.not_available.push(NotAvailable::new(name, reason));
        let weighted = "students carry weights, under which the distribution of the statistics is not known";
        let table = compared.table.as_deref().unwrap_or_default();
        let tables = GroupTables { design: &problem.design, anchors: &compared.anchors, table };
        if compared.table.is_none() {
            return missing("dif", weighted.to_owned());
        }
        let mut rows = by_observed_scores(&tables, names, groups);
        if let Some(few) = dif::incomplete(&tables, groups) {
            missing(
                "dif.alpha_MH",
                format!(
                    "nobody, or too few students at each site, answered every item in {few}: sum scores of different booklets cannot be compared"
                ),
            );
        }
        match (&compared.first.gradient, &compared.first.information) {
            (Some(gradient), Some(packed)) => {
                score_tests(problem, self, solution, (gradient, packed), &mut rows)
            }
            _ => missing(
                "dif.score",
                "score tests need a distribution of ability for each group, in a fit without site effects"
                    .into(),
            ),
        }
        dif::judge(&mut rows);
        out.findings.extend(dif::flagged_items(&rows, &groups[0]));
        out.dif = Some(rows);
    }

    fn report_sites(&self, problem: &Problem, compared: &Compared, out: &mut Diagnostics) {
        let Some(contrasts) = &compared.first.contrasts else {
            if self.sites.len() > 1 {
                let reason = if self.weighted() {
                    "students carry weights, under which the distribution of the statistics is not known"
                } else if self.effects == Effects::Random {
                    "with random effects a site's level is integrated out and cannot be told from its items; fit with fixed effects or none"
                } else {
                    "sums of squares over fewer than six sites name them"
                };
                out.not_available.push(NotAvailable::new("site_heterogeneity", reason));
            }
            return;
        };
        let of = |j: usize| SitesOf {
            sites: self
                .sites
                .iter()
                .filter(|s| {
                    s.codes.get(problem.design.items()[j].column).is_none_or(|codes| !codes.is_empty())
                })
                .count(),
            parameters: own_parameters(&problem.structure, problem.design.span(j)).len(),
        };
        let of: Vec<SitesOf> = (0..problem.design.len()).map(of).collect();
        let rows = dif::heterogeneity(contrasts, &problem.names, &of);
        out.findings.extend(dif::flagged_sites(&rows));
        out.site_heterogeneity = Some(rows);
    }

    /// The groups, with their means and SDs on the reported scale where they have distributions of their own.
    pub(super) fn group_summaries(
        &self,
        problem: &Problem,
        solution: &Solution,
        errors: Option<&Errors>,
        compared: &Compared,
    ) -> Vec<GroupSummary> {
        let first = problem.design.parameters();
        let moments = self.plan.population.group_moments(&solution.point.psi[first..]);
        let (mean, sd) = (problem.structure.mean(&solution.y), problem.structure.sd(&solution.y));
        // Errors are those at the estimated unit, where there is one.
        let se = |at: usize| {
            let variance = errors.and_then(|e| e.covariance.shared(&problem.design, at, at));
            variance.map(|v| v.max(0.0).sqrt())
        };
        let of = |(g, (name, students)): (usize, (&String, &f64))| {
            let own = moments.get(g);
            let at = g.checked_sub(1).map(|k| 2 * k).filter(|_| own.is_some());
            GroupSummary {
                name: name.clone(),
                students: *students,
                mean: own.map(|(m, _)| mean + sd * m),
                se_mean: at.and_then(se).map(|se| sd * se),
                sd: own.map(|(_, s)| sd * s),
                se_sd: at.and_then(|at| se(at + 1)).zip(own).map(|(se, (_, s))| sd * s * se),
            }
        };
        self.plan.groups.iter().zip(&compared.first.students).enumerate().map(of).collect()
    }
}

/// Score tests, and what a group's own parameters would be after one step.
fn score_tests(
    problem: &Problem,
    calibration: &Calibration,
    solution: &Solution,
    (gradient, packed): (&[f64], &[f64]),
    rows: &mut [crate::fit::Dif],
) {
    let (design, psi) = (&problem.design, solution.point.psi.as_slice());
    let size = psi.len();
    let information: Vec<_> =
        packed.chunks_exact(triangle(size)).map(|packed| symmetric(size, packed)).collect();
    let Some(tests) = ScoreTests::new(problem.structure.jacobian(&solution.y), &information) else { return };
    let grids = calibration.plan.population.grids(&psi[design.parameters()..]);
    for (at, row) in rows.iter_mut().enumerate() {
        let (group, item) = (at / design.len() + 1, at % design.len());
        let own = own_parameters(&problem.structure, design.span(item));
        let g = &gradient[group * size..(group + 1) * size];
        let Some(found) = tests.test(g, &information[group], &own) else { continue };
        row.score = Some(found.test.statistic);
        row.score_df = Some(found.test.df);
        row.score_p = Some(found.test.p);
        let span = design.span(item);
        let mut moved = psi[span.clone()].to_vec();
        own.iter().zip(found.step.iter()).for_each(|(r, step)| moved[r - span.start] += step);
        row.expected_score_difference =
            expected_score_difference(design, item, [&moved, &psi[span]], &grids[group]);
    }
}
