//! Likelihood-ratio and Wald tests of group differences: a calibration for each item and group in which the item has its own
//! parameters there, and all others are anchors (Thissen, Steinberg & Wainer 1993).
//!
//! They are made where all sites are in one process. Over a network each would be a study of its own.

use crate::fit::FitError;
use fedirt_model::centre::Plan;
use fedirt_model::comparison::{Freed, name_in, plan_with, table_with, test_group};
use fedirt_model::fit::Fit;
use fedirt_model::responses::{ResponseTable, TableError};
use fedirt_protocol::in_process::{self, Setting, Unobserved};
use rand::CryptoRng;

/// Answers that are gone through at most unless the tests are asked for: about ten seconds of one processor.
const USUAL_WORK: usize = 40_000_000;

/// Whether the tests are cheap enough to be made without being asked for.
pub(crate) fn are_cheap(plan: &Plan, tables: &[(String, ResponseTable)]) -> bool {
    let students: usize = tables.iter().map(|(_, table)| table.students()).sum();
    let (items, tests) = (plan.items.len(), plan.items.len() * plan.groups.len().saturating_sub(1));
    students.saturating_mul(items).saturating_mul(tests) <= USUAL_WORK
}

/// Adds the tests to the rows of a fit.
pub(crate) fn add(
    plan: &Plan,
    setting: &Setting,
    tables: &[(String, ResponseTable)],
    fit: &mut Fit,
    random: &mut impl CryptoRng,
) -> Result<(), FitError> {
    let (Some(loglik), Some(rows)) = (fit.loglik, fit.diagnostics.as_mut().and_then(|d| d.dif.as_mut()))
    else {
        return Ok(());
    };
    let (npar, groups) = (fit.npar, &plan.groups);
    for row in rows {
        let item = plan.items.iter().position(|item| item.name == row.item && item.anchor.is_none());
        let (Some(item), Some(group)) = (item, groups.iter().position(|group| *group == row.group)) else {
            continue;
        };
        let freed = [Freed { item, group }];
        let all = plan_with(plan, &freed);
        let wider = Plan { diagnostics: Vec::new(), groups: Vec::new(), compare_sites: false, ..all };
        let split: Result<Vec<_>, TableError> =
            tables.iter().map(|(name, table)| Ok((name.clone(), table_with(table, &freed)?))).collect();
        let (finished, _) = in_process::run_as(setting.clone(), wider, split?, random, &mut Unobserved)?;
        let own = name_in(&row.item, &row.group);
        test_group(row, (loglik, npar), &own, &finished.fit, &finished.covariance);
    }
    Ok(())
}
