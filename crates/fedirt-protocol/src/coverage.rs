//! Which numbers of a round may be sent, counted by every site for itself.

use crate::declaration::Declarations;
use fedirt_model::exchange::Request;
use fedirt_model::questions::Need;
use fedirt_privacy::secure::{CoverageRefusal, SiteId, Thresholds, check_coordinate_steps, sendable};
use std::collections::{BTreeMap, BTreeSet};

/// The different needs of a request's numbers, and which number has which.
struct Needs {
    kinds: Vec<Need>,
    of_number: Vec<usize>,
}

fn needs(request: &Request) -> Needs {
    let (mut kinds, mut places, mut of_number) = (Vec::new(), BTreeMap::new(), Vec::new());
    for need in request.needs() {
        let at = *places.entry(need).or_insert_with(|| {
            kinds.push(need);
            kinds.len() - 1
        });
        of_number.push(at);
    }
    Needs { kinds, of_number }
}

/// Who gives what, looked up quickly.
struct Given<'a> {
    request: &'a Request,
    items: BTreeMap<&'a SiteId, Vec<bool>>,
    declarations: &'a Declarations,
}

impl<'a> Given<'a> {
    fn new(
        request: &'a Request,
        declarations: &'a Declarations,
        sites: impl Iterator<Item = &'a SiteId>,
    ) -> Self {
        let of = |site: &SiteId| {
            request.design.items().iter().map(|item| declarations.gives(site, item.column)).collect()
        };
        Self { request, items: sites.map(|site| (site, of(site))).collect(), declarations }
    }

    fn meets(&self, site: &SiteId, need: Need) -> bool {
        let has_group = |group| self.declarations.has_group(site, group);
        self.items.get(site).is_some_and(|items| self.request.meets(need, |j| items[j], has_group))
    }
}

/// For each number that is added up, whether at least n_min sites of the cohort give it.
pub fn open_numbers(
    thresholds: Thresholds,
    request: &Request,
    declarations: &Declarations,
    cohort: &BTreeSet<SiteId>,
) -> Vec<bool> {
    let needs = needs(request);
    let given = Given::new(request, declarations, cohort.iter());
    let kinds =
        sendable(thresholds, cohort, needs.kinds.len(), |site, at| given.meets(site, needs.kinds[at]));
    needs.of_number.iter().map(|&at| kinds[at]).collect()
}

/// The chain's rule, number by number: no number may lose a few of its givers.
pub fn check_step(
    thresholds: Thresholds,
    request: &Request,
    declarations: &Declarations,
    previous: &BTreeSet<SiteId>,
    next: &BTreeSet<SiteId>,
) -> Result<(), CoverageRefusal> {
    if previous == next {
        return Ok(());
    }
    let needs = needs(request);
    let given = Given::new(request, declarations, previous.union(next));
    check_coordinate_steps(thresholds, previous, next, needs.kinds.len(), |site, at| {
        given.meets(site, needs.kinds[at])
    })
}
