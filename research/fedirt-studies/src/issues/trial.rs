//! One data set: fitted as it is, and with the remedy.

use super::problem::{AFFECTED, ITEMS, Problem, SITES, name};
use crate::StudyError;
use fedirt_model::centre::{Plan, Secrecy, Settings};
use fedirt_model::comparison::{Freed, name_in, plan_with, table_with, test_group};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::{Diagnostics, Dif, Fit, ItemFit};
use fedirt_model::population::Population;
use fedirt_model::quadrature::GridSpec;
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::responses::{ResponseTable, TableError};
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, Setting, Unobserved};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// What the checks are called, in the order of [`FitRecord::checks`]: those of the model, and behind them those of groups and sites.
pub const CHECKS: [&str; 15] = [
    "Q3",
    "M2",
    "S-X²",
    "dimensions",
    "latent shape",
    "influence",
    "LD-X²",
    "infit",
    "outfit",
    "Mantel–Haenszel",
    "DIF score test",
    "DIF likelihood ratio",
    "DIF Wald",
    "logistic regression",
    "site heterogeneity",
];

/// How many of them check the model.
pub(super) const OF_MODEL: usize = 9;

/// Tests behind these have no exact size: their rates are descriptive.
pub(super) const DESCRIPTIVE: [&str; 4] = ["influence", "LD-X²", "infit", "outfit"];

/// One fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitRecord {
    /// Name of the problem.
    pub problem: String,
    /// `plain` or `secure`.
    pub mode: String,
    /// Whether the remedy was applied.
    pub remedied: bool,
    /// Seed of the data.
    pub seed: u64,
    /// Whether each check spoke at 5 %: 0 or 1, or the share of the items or pairs that the problem is about (of all where it is
    /// about none); none where it was not made.
    pub checks: [Option<f64>; CHECKS.len()],
    /// The share of the other items or pairs, of which it should not have spoken.
    pub false_alarms: [Option<f64>; CHECKS.len()],
    /// The affected items, then the others.
    pub items: [Recovery; 2],
}

/// How well item parameters were found, over some items.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Recovery {
    /// Mean of estimate less truth, of slopes and difficulties.
    pub bias: [Option<f64>; 2],
    /// Mean squared error.
    pub mse: [Option<f64>; 2],
    /// Share of 95 % intervals that hold the truth.
    pub coverage: [Option<f64>; 2],
}

/// The fits of one data set.
pub(super) fn run(
    problem: Problem,
    mode: Mode,
    students: usize,
    seed: u64,
) -> Result<Vec<FitRecord>, StudyError> {
    let rows = problem.draw(students, seed);
    let fits = [false, true].into_iter().filter(|remedied| !remedied || problem.remedy().is_some());
    fits.map(|remedied| {
        let (items, sites) = problem.prepared(&rows, remedied)?;
        let plan = Plan {
            items,
            effects: Effects::None,
            population: Population::of(problem.population(remedied), GridSpec::default()),
            settings: Settings { seed, ..Settings::default() },
            publish_effects: false,
            secrecy: Secrecy::BySite,
            groups: problem.groups(),
            purify: true,
            compare_sites: true,
            diagnostics: Diagnostic::ALL.to_vec(),
        };
        let plan = plan_with(&plan, &problem.freed(remedied));
        // Keys do not change what sums are opened to.
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let setting = Setting::of(mode);
        let (finished, _) =
            in_process::run_as(setting, plan.clone(), sites.clone(), &mut random, &mut Unobserved)?;
        let mut fit = finished.fit;
        if mode == Mode::Plain && !plan.groups.is_empty() {
            refit(&plan, &sites, &mut fit)?;
        }
        let (checks, false_alarms) =
            fit.diagnostics.as_ref().map_or_else(Default::default, |found| checks(problem, found));
        Ok(FitRecord {
            problem: problem.name().into(),
            mode: mode.name().into(),
            remedied,
            seed,
            checks,
            false_alarms,
            items: [0..AFFECTED, AFFECTED..ITEMS].map(|items| recovery(problem, &fit, items)),
        })
    })
    .collect()
}

/// Likelihood ratio and Wald's test of each item that is not free yet, from a fit in which it is. In `secure` nobody makes them: two
/// fits of other items differ by the sums of one.
fn refit(plan: &Plan, sites: &[(String, ResponseTable)], fit: &mut Fit) -> Result<(), StudyError> {
    let npar = fit.npar;
    let (Some(loglik), Some(rows)) = (fit.loglik, fit.diagnostics.as_mut().and_then(|d| d.dif.as_mut()))
    else {
        return Ok(());
    };
    let freed = |name: &str| plan.items.iter().any(|item| item.name == name_in(name, &plan.groups[1]));
    for (item, own) in plan.items.iter().enumerate().take(ITEMS).filter(|(_, own)| !freed(&own.name)) {
        let Some(row) = rows.iter_mut().find(|row| row.item == own.name) else { continue };
        let one = [Freed { item, group: 1 }];
        let all = plan_with(plan, &one);
        let wider = Plan { diagnostics: Vec::new(), groups: Vec::new(), compare_sites: false, ..all };
        let split: Result<Vec<_>, TableError> =
            sites.iter().map(|(name, table)| Ok((name.clone(), table_with(table, &one)?))).collect();
        let (free, _) = in_process::run(wider, split?, &mut Unobserved)?;
        let name = name_in(&own.name, &plan.groups[1]);
        test_group(row, (loglik, npar), &name, &free.fit, &free.covariance);
    }
    Ok(())
}

/// A number for each check.
type Rates = [Option<f64>; CHECKS.len()];

/// Whether each check speaks, and of how many of the items that nothing is wrong with.
fn checks(problem: Problem, found: &Diagnostics) -> (Rates, Rates) {
    let spoke = |yes: bool| f64::from(u8::from(yes));
    let whole = |spoke: Option<f64>| (spoke, None);
    let right = |item: &str| problem.about_items() && unaffected(item);
    // The share of those that the problem is about, and of the others.
    let shares = |of: Vec<(bool, Option<bool>)>| {
        let [wrong, right] = [false, true].map(|part| {
            let there: Vec<f64> = (of.iter().filter(|(right, _)| *right == part))
                .filter_map(|(_, yes)| yes.map(spoke))
                .collect();
            (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
        });
        (wrong, right)
    };
    let items = found.item_fit.as_deref().unwrap_or_default();
    let of_items = |of: fn(&ItemFit) -> Option<bool>| {
        shares(items.iter().map(|item| (right(&item.item), of(item))).collect())
    };
    let groups = found.dif.as_deref().unwrap_or_default();
    let of_groups = |p: fn(&Dif) -> Option<f64>| {
        shares(groups.iter().map(|row| (right(&row.item), p(row).map(|p| p < 0.05))).collect())
    };
    // A pair is affected where both of its items are.
    let pair = |(j, k): (usize, usize), p: Option<f64>| {
        let right = items.get(j).zip(items.get(k)).is_some_and(|(a, b)| right(&a.item) || right(&b.item));
        (right, p.map(|p| p < 0.05))
    };
    let pairs = (found.ld.iter())
        .flat_map(|ld| ld.p.iter().enumerate())
        .flat_map(|(j, row)| row[..j].iter().enumerate().map(move |(k, p)| pair((j, k), *p)))
        .collect();
    let sites = found.site_heterogeneity.as_deref().unwrap_or_default();
    let found: [(Option<f64>, Option<f64>); CHECKS.len()] = [
        whole(found.q3.as_ref().map(|q3| spoke(!q3.flagged.is_empty()))),
        whole(found.global.as_ref().map(|global| spoke(global.p < 0.05))),
        of_items(|item| Some(item.p_s_x2? < 0.05)),
        whole(found.dimensionality.as_ref().map(|found| spoke(found.dimensions > 1))),
        whole(found.latent.as_ref().and_then(|check| Some(spoke(check.score.and(check.p)? < 0.05)))),
        whole(found.influence.as_ref().map(|found| found.influential / SITES as f64)),
        shares(pairs),
        of_items(|item| Some(item.z_infit?.abs() > 1.96)),
        of_items(|item| Some(item.z_outfit?.abs() > 1.96)),
        of_groups(|row| row.p),
        of_groups(|row| row.score_p),
        of_groups(|row| row.lr_p),
        of_groups(|row| row.wald_p),
        of_groups(|row| row.logistic.map(|fitted| fitted.both_p)),
        shares(sites.iter().map(|row| (right(&row.item), Some(row.p < 0.05))).collect()),
    ];
    (found.map(|(rate, _)| rate), found.map(|(_, others)| others))
}

/// Whether an item is one that the problem is not about, where it is about items.
fn unaffected(item: &str) -> bool {
    (AFFECTED..ITEMS).any(|j| item == name(j))
}

/// Estimates of some items against the truth, by name: a bundle has no item of its own to be compared with.
fn recovery(problem: Problem, fit: &Fit, items: std::ops::Range<usize>) -> Recovery {
    let mut errors: [Vec<(f64, Option<f64>)>; 2] = [Vec::new(), Vec::new()];
    for j in items {
        let Some(item) = fit.items.iter().find(|item| item.name == name(j)) else { continue };
        let (a, b) = problem.truth(j);
        let difficulty = |of: &[Option<f64>]| of.first().copied().flatten();
        errors[0].extend(item.a.map(|estimate| (estimate - a, item.se_a)));
        errors[1].extend(difficulty(&item.b).map(|estimate| (estimate - b, difficulty(&item.se_b))));
    }
    let mean = |errors: &[(f64, Option<f64>)], of: &dyn Fn(f64, Option<f64>) -> Option<f64>| {
        let there: Vec<f64> = errors.iter().filter_map(|(error, se)| of(*error, *se)).collect();
        (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
    };
    let each = |of: &dyn Fn(f64, Option<f64>) -> Option<f64>| [mean(&errors[0], of), mean(&errors[1], of)];
    Recovery {
        bias: each(&|error, _| Some(error)),
        mse: each(&|error, _| Some(error * error)),
        coverage: each(&|error, se| Some(f64::from(u8::from(error.abs() <= 1.959_964 * se?)))),
    }
}
