//! A round is open: everything is checked, then the sums are made, masked, written down and sent.

use super::{Refusal, Release, SiteEvent, SiteMachine, SiteOutput};
use crate::codec;
use crate::coverage;
use crate::declaration::Bounds;
use crate::encoding;
use crate::message::{Broadcast, Sums, ToCoordinator, ToSite, Turn};
use crate::policy::{self, Approval};
use crate::terms::OnLoss;
use fedirt_model::exchange::{Ask, Request};
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Cohort, SignedHello, SiteId, suppress};
use std::collections::BTreeSet;
use std::sync::Arc;

impl SiteMachine {
    pub(super) fn open(
        &mut self,
        turn: Turn,
        hellos: &[Vec<u8>],
        broadcast: &[u8],
        message: &Arc<ToSite>,
    ) -> Result<(), Refusal> {
        if let Some((last, answer)) = &self.answered {
            if turn == *last {
                // The same bytes, whatever is asked: two inputs under one mask would show their difference.
                let answer = answer.clone();
                self.outputs.push_back(SiteOutput::Send(answer));
                return Ok(());
            }
            if turn < *last {
                return Err(Refusal::LowerAttempt { got: turn, highest: *last });
            }
        }
        let told: Broadcast = codec::decode(broadcast)?;
        let cohort = told
            .cohort
            .iter()
            .map(|name| SiteId::try_from(name.as_str()))
            .collect::<Result<BTreeSet<SiteId>, _>>()
            .map_err(|_| Refusal::Mismatch("a site has no proper name"))?;
        let index = cohort.iter().position(|site| *site == self.name);
        let index = index.ok_or(Refusal::Mismatch("this site is not in the cohort"))?;
        self.policy.check_request(&self.terms, turn, &told.request, cohort.len(), &self.points)?;
        let bound = match self.terms.protection() {
            None => None,
            Some(protection) => {
                let said = self.said.as_ref().ok_or(Refusal::NoHello(turn))?;
                if turn < said.turn {
                    return Err(Refusal::LowerAttempt { got: turn, highest: said.turn });
                }
                if turn != said.turn {
                    return Err(Refusal::NoHello(turn));
                }
                let pinned = self.pinned.as_ref().ok_or(Refusal::NoRoster(turn))?;
                let hellos = hellos
                    .iter()
                    .map(|bytes| SignedHello::decode(bytes))
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(fedirt_privacy::secure::CohortError::from)?;
                let members = Cohort::open(&self.terms.round(turn), &pinned.roster, &hellos, &protection)?;
                if members.sites() != cohort {
                    return Err(Refusal::Mismatch("the hellos are not those of the cohort"));
                }
                if told.declarations != pinned.declarations.hash() {
                    return Err(Refusal::Mismatch("the declarations are not those that were signed"));
                }
                if told.bounds != pinned.declarations.bounds(&cohort) {
                    return Err(Refusal::Mismatch("the bounds do not follow from the declarations"));
                }
                Some(members.bind(broadcast))
            }
        };
        if self.terms.mode == Mode::Secure {
            self.check_chain(turn, &told.request, &cohort)?;
        }
        if self.policy.approval == Approval::EachRound && self.approved_round < turn.round {
            let statistics = told.request.schema().iter().map(|s| (s.statistic.info().name, s.len)).collect();
            self.waiting = Some(message.clone());
            self.outputs.push_back(SiteOutput::RoundShown { turn, statistics });
            return Ok(());
        }
        if self.debited != Some(turn) {
            self.waiting = Some(message.clone());
            self.outputs.push_back(SiteOutput::Debit(self.release(turn, &told)));
            return Ok(());
        }
        self.site.set_index(index);
        let (words, by_name) = self.sums(&told.request, told.bounds, &cohort)?;
        let sums = match bound {
            None => Sums::Plain(words),
            Some(bound) => {
                let key = self.said.as_mut().and_then(|said| said.key.take()).ok_or(Refusal::NoKey(turn))?;
                Sums::Masked(key.mask(&self.name, &bound, words)?.sign(&self.identity).encode())
            }
        };
        self.persist(SiteEvent::Released(self.release(turn, &told)))?;
        let answer = ToCoordinator::Upload { turn, sums, by_name };
        self.persist(SiteEvent::Upload { turn, message: answer.clone() })?;
        self.send(answer);
        Ok(())
    }

    /// The chain of cohorts, and what may be asked once only.
    fn check_chain(&self, turn: Turn, request: &Request, cohort: &BTreeSet<SiteId>) -> Result<(), Refusal> {
        if self.terms.on_loss == OnLoss::RevealLostSite {
            self.chain.clone().extend_revealing_lost_sites(cohort)?;
        } else {
            self.chain.check(cohort)?;
            if let (Some(previous), Some(pinned)) = (self.chain.current(), &self.pinned) {
                let thresholds = self.terms.thresholds;
                coverage::check_step(thresholds, request, &pinned.declarations, previous, cohort)?;
            }
        }
        match &self.totals {
            Some((round, sites)) if asks_totals(request) && sites == cohort && *round != turn.round => {
                Err(Refusal::TotalsTwice(*round))
            }
            _ => Ok(()),
        }
    }

    /// The numbers of a request as ring elements: those that too few sites give are zero.
    fn sums(
        &mut self,
        request: &Request,
        bounds: Bounds,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(Vec<u64>, Vec<u64>), Refusal> {
        let summary = self.site.answer(request);
        let mut encoded = encoding::encode(request, bounds, &summary)?;
        if let (Mode::Secure, Some(pinned)) = (self.terms.mode, &self.pinned) {
            let open = coverage::open_numbers(self.terms.thresholds, request, &pinned.declarations, cohort);
            suppress(&mut encoded.summed, &open)?;
        }
        Ok((encoded.summed, encoded.by_name))
    }

    fn release(&self, turn: Turn, told: &Broadcast) -> Release {
        let request = &told.request;
        let place = matches!(request.ask, Ask::Close { .. }).then(|| self.site.place()).flatten();
        Release {
            turn,
            cohort: told.cohort.clone(),
            statistics: (request.schema().iter())
                .map(|slot| (slot.statistic.info().name.to_owned(), slot.len as u64))
                .collect(),
            points: (policy::points(request).iter())
                .map(|point| policy::coordinates(request, &point.psi))
                .collect(),
            effect_totals: asks_totals(request),
            place: place.map(|place| (place.effect, place.se)),
        }
    }
}

fn asks_totals(request: &Request) -> bool {
    matches!(request.ask, Ask::Evaluate { effect_totals: true, .. })
}
