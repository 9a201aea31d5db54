//! A calibration in `plain` mode without messages: what a site answers is added to the running sum as soon as it is made, and
//! dropped. So many sites need the memory of a few.

use super::{Observer, RunError, Sent, SiteAfter};
use crate::SiteId;
use crate::coordinator::centre::{Brought, Centre, Next};
use crate::coordinator::{CoordinatorError, Finished};
use crate::declaration::{Bounds, Declaration, Declarations};
use crate::encoding::{self, Encoded, EncodingError, Precision};
use crate::message::{Question, Turn};
use crate::terms::Terms;
use fedirt_model::exchange::{Effects, Request};
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::Site;
use fedirt_model::statistics::Combination;
use fedirt_privacy::fixed_point;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Runs a calibration to its end.
pub(super) fn run(
    terms: Terms,
    sites: Vec<(String, ResponseTable)>,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    let stuck = |e: &dyn std::fmt::Display| RunError::Stuck(e.to_string());
    let cohort: BTreeSet<SiteId> = terms.sites.keys().cloned().collect();
    let declared = sites.iter().map(|(_, table)| Declaration::of(table, &terms));
    let declarations = Declarations::unsigned(cohort.iter().cloned().zip(declared), terms.plan.items.len())
        .map_err(|e| stuck(&e))?;
    let (mut centre, mut question) = Centre::new(&terms, terms.estimation_rounds(), &declarations, &cohort)?;
    let mut sites = LocalSites::new(sites, declarations.bounds(&cohort));
    if observer.wants_numbers() {
        for (name, declaration) in sites.names.iter().zip(cohort.iter().filter_map(|id| declarations.get(id)))
        {
            observer.declared(name, declaration);
        }
    }
    let mut turn = Turn { round: 1, attempt: 1 };
    let mut reported = 0;
    loop {
        if observer.wants_to_stop() {
            return Err(RunError::Stopped);
        }
        let Question::Sums(request) = &question else {
            return Err(RunError::Stuck("noisy sums are not asked for in this mode".into()));
        };
        request.check(terms.plan.items.len()).map_err(|e| stuck(&e))?;
        observer.asks(turn, &question);
        let answers = sites.ask(turn, &question, request, observer)?;
        let by_name: Vec<(&SiteId, &[u64])> =
            cohort.iter().zip(answers.by_name.iter().map(Vec::as_slice)).collect();
        let next = centre.advance(
            &terms,
            &declarations,
            &cohort,
            &question,
            Brought::Total(answers.total),
            &by_name,
        )?;
        let trace = centre.trace_after(reported);
        reported += trace.len();
        trace.iter().for_each(|entry| observer.round(entry));
        match next {
            Next::Ask(next) => question = *next,
            Next::Done(finished) => return Ok((*finished, sites.after())),
        }
        turn.round += 1;
    }
}

/// All sites.
struct LocalSites {
    names: Vec<String>,
    sites: Vec<Site>,
    bounds: Bounds,
    /// The students of all sites as one, for questions that need not know who is where.
    together: Option<Site>,
}

/// What all sites said.
struct Answers {
    total: Vec<u64>,
    by_name: Vec<Vec<u64>>,
}

impl LocalSites {
    fn new(sites: Vec<(String, ResponseTable)>, bounds: Bounds) -> Self {
        let (names, tables): (Vec<String>, Vec<ResponseTable>) = sites.into_iter().unzip();
        let sites = tables.into_iter().enumerate().map(|(index, table)| {
            let mut site = Site::new(table);
            site.set_index(index);
            site
        });
        Self { names, sites: sites.collect(), bounds, together: None }
    }

    /// Asks all sites. What is kept by name stays by site.
    fn ask(
        &mut self,
        turn: Turn,
        question: &Question,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<Answers, CoordinatorError> {
        let (names, bounds) = (&self.names, self.bounds);
        let wrong = |site: &str| {
            let (site, round) = (site.to_owned(), turn.round);
            move |error: EncodingError| CoordinatorError::Refused { site, round, reason: error.to_string() }
        };
        let nothing = || Encoded { summed: vec![0; encoding::summed_len(request)], by_name: Vec::new() };
        let add = |site: &mut Site, sum: &mut Encoded| -> Result<(), EncodingError> {
            let summary = site.answer(request)?;
            sum.add(request, bounds, Precision::Full, &summary)
        };
        if observer.wants_numbers() {
            let mut answers = Answers { total: nothing().summed, by_name: Vec::new() };
            for (name, site) in names.iter().zip(&mut self.sites) {
                let mut own = nothing();
                add(site, &mut own).map_err(wrong(name))?;
                let decode = |combination, words: &[u64]| {
                    encoding::decode(request, bounds, Precision::Full, combination, words)
                        .map_err(wrong(name))
                };
                let mut numbers = decode(Combination::Sum, &own.summed)?;
                numbers.extend(decode(Combination::BySite, &own.by_name)?);
                observer.sent(name, turn, question, Sent::Numbers(&numbers));
                fixed_point::add(&mut answers.total, &own.summed);
                answers.by_name.push(own.by_name);
            }
            return Ok(answers);
        }
        if self.sites.len() > 1 && request.effects == Effects::None && request.ask.conditions().by_student {
            let sites = &self.sites;
            let together = self
                .together
                .get_or_insert_with(|| Site::new(ResponseTable::joined(sites.iter().map(Site::table))));
            let mut sum = nothing();
            add(together, &mut sum).map_err(wrong("all"))?;
            return Ok(Answers { total: sum.summed, by_name: vec![Vec::new(); names.len()] });
        }
        // The order in which sums are added up changes nothing: they are integers.
        let mut by_name = vec![Vec::new(); names.len()];
        let sum = self
            .sites
            .par_iter_mut()
            .zip(&mut by_name)
            .zip(names)
            .try_fold(nothing, |mut sum, ((site, own), name)| {
                add(site, &mut sum).map_err(wrong(name))?;
                own.append(&mut sum.by_name);
                Ok::<Encoded, CoordinatorError>(sum)
            })
            .try_reduce(nothing, |mut sum, other| {
                fixed_point::add(&mut sum.summed, &other.summed);
                Ok(sum)
            })?;
        Ok(Answers { total: sum.summed, by_name })
    }

    fn after(self) -> Vec<SiteAfter> {
        let after = |site: Site| SiteAfter { own_effect: site.own_effect(), table: site.into_table() };
        self.sites.into_iter().map(after).collect()
    }
}
