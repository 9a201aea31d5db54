//! One data set: fitted as it is, and with the remedy.

use super::problem::{AFFECTED, ITEMS, Problem, SITES};
use crate::StudyError;
use fedirt_model::centre::{Plan, Secrecy, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::{Diagnostics, Fit};
use fedirt_model::population::Population;
use fedirt_model::quadrature::GridSpec;
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, Setting, Unobserved};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// What the checks are called, in the order of [`FitRecord::checks`].
pub const CHECKS: [&str; 9] =
    ["Q3", "M2", "S-X²", "dimensions", "latent shape", "influence", "LD-X²", "infit", "outfit"];

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
    /// Whether each check spoke at 5 %: 0 or 1, or the share of items or pairs; none where it was not made.
    pub checks: [Option<f64>; CHECKS.len()],
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
            groups: Vec::new(),
            purify: false,
            compare_sites: false,
            diagnostics: Diagnostic::ALL.to_vec(),
        };
        // Keys do not change what sums are opened to.
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let (finished, _) = in_process::run_as(Setting::of(mode), plan, sites, &mut random, &mut Unobserved)?;
        let fit = finished.fit;
        Ok(FitRecord {
            problem: problem.name().into(),
            mode: mode.name().into(),
            remedied,
            seed,
            checks: fit.diagnostics.as_ref().map_or([None; CHECKS.len()], checks),
            items: [0..AFFECTED, AFFECTED..ITEMS].map(|items| recovery(problem, &fit, items)),
        })
    })
    .collect()
}

/// Whether each check speaks.
fn checks(found: &Diagnostics) -> [Option<f64>; CHECKS.len()] {
    let spoke = |yes: bool| f64::from(u8::from(yes));
    let items = found.item_fit.as_deref().unwrap_or_default();
    let share = |of: &[Option<bool>]| {
        let there: Vec<f64> = of.iter().flatten().map(|yes| spoke(*yes)).collect();
        (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
    };
    let of_items = |of: fn(&fedirt_model::fit::ItemFit) -> Option<bool>| {
        share(&items.iter().map(of).collect::<Vec<_>>())
    };
    let pairs: Vec<Option<bool>> = (found.ld.iter())
        .flat_map(|ld| {
            ld.p.iter().enumerate().flat_map(|(j, row)| row[..j].iter().map(|p| Some((*p)? < 0.05)))
        })
        .collect();
    [
        found.q3.as_ref().map(|q3| spoke(!q3.flagged.is_empty())),
        found.global.as_ref().map(|global| spoke(global.p < 0.05)),
        of_items(|item| Some(item.p_s_x2? < 0.05)),
        found.dimensionality.as_ref().map(|found| spoke(found.dimensions > 1)),
        found.latent.as_ref().and_then(|check| Some(spoke(check.score.and(check.p)? < 0.05))),
        found.influence.as_ref().map(|found| found.influential / SITES as f64),
        share(&pairs),
        of_items(|item| Some(item.z_infit?.abs() > 1.96)),
        of_items(|item| Some(item.z_outfit?.abs() > 1.96)),
    ]
}

/// Estimates of some items against the truth, by name: a bundle has no item of its own to be compared with.
fn recovery(problem: Problem, fit: &Fit, items: std::ops::Range<usize>) -> Recovery {
    let mut errors: [Vec<(f64, Option<f64>)>; 2] = [Vec::new(), Vec::new()];
    for j in items {
        let name = format!("i{:02}", j + 1);
        let Some(item) = fit.items.iter().find(|item| item.name == name) else { continue };
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
