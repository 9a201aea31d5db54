//! What a site derives from everybody's declarations about a question: weights, linked parts, items, and who gives what.

use super::{Pinned, Refusal};
use crate::declaration::codes_used;
use crate::terms::Terms;
use fedirt_model::centre::{linked_parts, planned_items, total_weight};
use fedirt_model::exchange::Request;
use fedirt_model::responses::ResponseTable;
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

    /// The first question is about all items of the plan that enough sites give. Later ones leave out only what nobody's
    /// answers need: items that everyone answered alike, and categories that nobody chose. Whether that is so elsewhere a
    /// site cannot see, but its own answers must agree.
    pub(super) fn check_items(
        &self,
        terms: &Terms,
        request: &Request,
        cohort: &BTreeSet<SiteId>,
        table: &ResponseTable,
    ) -> Result<(), Refusal> {
        let sites = self.declarations.enrolled(terms, cohort);
        let planned = planned_items(&terms.calibration_of(cohort.len()), &sites);
        let planned = planned.map_err(|_| Refusal::OtherItems)?;
        let (asked, used) = (request.design.items(), codes_used(table));
        let needless = |column: usize, codes: &[u8]| codes.iter().all(|code| !used[column].contains(*code));
        let fine = request.design == planned
            || !request.ask.conditions().opening
                && asked.iter().all(|item| planned.items().iter().any(|p| p.column == item.column))
                && planned.items().iter().all(|item| {
                    let anchored = terms.plan.items[item.column].anchor.is_some();
                    match asked.iter().find(|other| other.column == item.column) {
                        Some(same) if same == item => true,
                        // Given parameters fix the categories.
                        _ if anchored => false,
                        Some(other) => {
                            let closed: Vec<u8> = item
                                .codes
                                .iter()
                                .filter(|code| !other.codes.contains(code))
                                .copied()
                                .collect();
                            needless(item.column, &closed)
                        }
                        None => used[item.column].len() < 2,
                    }
                });
        if fine { Ok(()) } else { Err(Refusal::OtherItems) }
    }
}
