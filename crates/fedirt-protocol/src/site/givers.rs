//! What a site derives from everybody's declarations about a question: weights, linked parts, and who gives what.

use super::{Pinned, Refusal};
use crate::terms::Terms;
use fedirt_model::centre::{linked_parts, total_weight};
use fedirt_model::exchange::Request;
use fedirt_privacy::secure::SiteId;
use std::collections::BTreeSet;

impl Pinned {
    /// The factor on weights is 1 where nobody declared any, and else brings their sum to about the number of students:
    /// other factors would scale a site's numbers at will.
    pub(super) fn check_weights(&self, request: &Request, cohort: &BTreeSet<SiteId>) -> Result<(), Refusal> {
        let declared = || cohort.iter().filter_map(|site| self.declarations.get(site));
        let weighted = declared().any(|d| d.weighted);
        let fine = if weighted {
            let students: u64 = declared().map(|d| d.students).sum();
            let usual =
                students as f64 / total_weight(declared().map(|d| d.total_weight)).max(f64::MIN_POSITIVE);
            (0.5 * usual..=2.0 * usual).contains(&request.weight_scale)
        } else {
            request.weight_scale == 1.0
        };
        if fine && request.weighted == weighted { Ok(()) } else { Err(Refusal::WeightScale) }
    }

    /// Every two items of a question are given together by nobody or by at least n_min sites of the cohort, and the
    /// linked parts are those that follow. Otherwise sums over items, or their differences between points, would be
    /// about a few sites.
    pub(super) fn check_givers(
        &self,
        terms: &Terms,
        request: &Request,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(), Refusal> {
        let items = request.design.items();
        let given: Vec<Vec<bool>> = cohort
            .iter()
            .map(|site| items.iter().map(|item| self.declarations.gives(site, item.column)).collect())
            .collect();
        let n_min = terms.thresholds.n_min();
        let name =
            |j: usize| terms.plan.items.get(items[j].column).map_or_else(String::new, |i| i.name.clone());
        for j in 0..items.len() {
            for l in 0..=j {
                let together = given.iter().filter(|site| site[j] && site[l]).count();
                if (1..n_min).contains(&together) || (j == l && together == 0) {
                    return Err(Refusal::FewGivers(name(l), name(j), n_min));
                }
            }
        }
        let sets = given.iter().map(|site| (0..items.len()).filter(|&j| site[j]).collect());
        let opening = request.ask.conditions().opening;
        let parts = if opening { vec![0; items.len()] } else { linked_parts(items.len(), sets) };
        if request.parts == parts { Ok(()) } else { Err(Refusal::Parts) }
    }
}
