//! A round is open: everything is checked, then the sums are made, masked, written down and sent.

use super::{PrivateCost, Refusal, Release, RoundShown, SiteEvent, SiteMachine, SiteOutput};
use crate::declaration::Bounds;
use crate::message::{Broadcast, Question, Sums, ToCoordinator, ToSite, Turn};
use crate::policy::{self, Approval};
use crate::private::{self, Noise, PrivateRefusal};
use crate::terms::OnLoss;
use crate::{answerable, codec, coverage, encoding};
use fedirt_model::exchange::Request;
use fedirt_model::private::{Score2Plan, ScoreRequest};
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{BoundCohort, Cohort, SignedHello, SiteId, suppress};
use rand::CryptoRng;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;

impl SiteMachine {
    pub(super) fn open(
        &mut self,
        random: &mut impl CryptoRng,
        turn: Turn,
        hellos: &[Vec<u8>],
        broadcast: &[u8],
        message: &Arc<ToSite>,
    ) -> Result<(), Refusal> {
        if let Some(highest) = self.highest().filter(|highest| turn < *highest) {
            return Err(Refusal::LowerAttempt { got: turn, highest });
        }
        if let Some((_, answer)) = self.answered.as_ref().filter(|(last, _)| turn == *last) {
            // The same bytes, whatever is asked: two inputs under one mask would show their difference.
            let answer = answer.clone();
            self.outputs.push_back(SiteOutput::Send(answer));
            return Ok(());
        }
        let question = question_hash(hellos, broadcast);
        if self.committed.is_some_and(|(last, known)| last == turn && known != question) {
            return Err(Refusal::AnotherQuestion(turn));
        }
        self.check_rounds(turn)?;
        let told: Broadcast = codec::decode(broadcast)?;
        let cohort = told
            .cohort
            .iter()
            .map(|name| SiteId::try_from(name.as_str()))
            .collect::<Result<BTreeSet<SiteId>, _>>()
            .map_err(|_| Refusal::Mismatch("a site has no proper name"))?;
        let index = cohort.iter().position(|site| *site == self.name);
        let index = index.ok_or(Refusal::Mismatch("this site is not in the cohort"))?;
        self.check_question(turn, &told.question, cohort.len())?;
        // Found in order a moment ago, before the officer or the ledger was asked.
        let bound = match self.verified.take() {
            Some((last, known, bound)) if last == turn && known == question => bound,
            _ => self.verify_cohort(turn, hellos, broadcast, &told, &cohort)?,
        };
        if let (Mode::Secure, Question::Sums(request)) = (self.terms.mode, &told.question) {
            self.check_chain(turn, request, &cohort)?;
        }
        if self.policy.approval == Approval::EachRound && self.approved_question != Some((turn, question)) {
            let statistics = told.question.statistics();
            self.waiting = Some(message.clone());
            self.verified = Some((turn, question, bound));
            let released = self.releases;
            self.outputs.push_back(SiteOutput::RoundShown(RoundShown {
                turn,
                question,
                released,
                statistics,
            }));
            return Ok(());
        }
        // Everything that could go wrong goes wrong before the ledger is asked: nothing is given back.
        if bound.is_some() && self.said.as_ref().is_none_or(|said| said.key.is_none()) {
            return Err(Refusal::NoKey(turn));
        }
        if self.debited != Some(turn) {
            let release = self.release(turn, question, &told, &cohort)?;
            if self.committed.is_none_or(|(last, _)| last != turn) {
                if let Question::Scores { stage, request } = &told.question {
                    self.check_answerable(*stage, request, &cohort, index)?;
                }
                let mu_squared = release.cost.map_or(0.0, |cost| cost.mu_squared);
                self.check_plan_budget(mu_squared)?;
                self.persist(SiteEvent::Committed { turn, question, mu_squared })?;
            }
            self.waiting = Some(message.clone());
            self.verified = Some((turn, question, bound));
            self.outputs.push_back(SiteOutput::Debit(release));
            return Ok(());
        }
        self.site.set_index(index);
        let (words, by_name) = match &told.question {
            Question::Sums(request) => self.sums(request, told.bounds, &cohort)?,
            Question::Scores { stage, request } => {
                let noise = self.noise(*stage, request, &cohort)?;
                (private::answer(self.site.table(), index, request, &noise, random)?, Vec::new())
            }
        };
        let sums = match bound {
            None => Sums::Plain(words),
            Some(bound) => {
                let key = self.said.as_mut().and_then(|said| said.key.take()).ok_or(Refusal::NoKey(turn))?;
                Sums::Masked(key.mask(&self.name, &bound, words)?.sign(&self.identity).encode())
            }
        };
        // The answer tells the site its own place, where the round tells it at all.
        let release = self.release(turn, question, &told, &cohort)?;
        self.persist(SiteEvent::Released(release))?;
        let answer = ToCoordinator::Upload { turn, sums, by_name };
        self.persist(SiteEvent::Upload { turn, message: answer.clone() })?;
        self.send(answer);
        Ok(())
    }

    /// The cohort of an opening: every signature, and that it fits the broadcast and the declarations.
    fn verify_cohort(
        &self,
        turn: Turn,
        hellos: &[Vec<u8>],
        broadcast: &[u8],
        told: &Broadcast,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<Option<BoundCohort>, Refusal> {
        let Some(protection) = self.terms.protection() else { return Ok(None) };
        let said = self.said.as_ref().ok_or(Refusal::NoHello(turn))?;
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
        if members.sites() != *cohort {
            return Err(Refusal::Mismatch("the hellos are not those of the cohort"));
        }
        if told.declarations != pinned.declarations.hash() {
            return Err(Refusal::Mismatch("the declarations are not those that were signed"));
        }
        if told.bounds != pinned.declarations.bounds(cohort) {
            return Err(Refusal::Mismatch("the bounds do not follow from the declarations"));
        }
        Ok(Some(members.bind(broadcast)))
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
        let publishes = request.ask.conditions().publishes_effects;
        if let Some((last, sites)) = &self.totals
            && request.ask.conditions().once
            && sites == cohort
            && *last != turn
        {
            return Err(Refusal::TotalsTwice(*last));
        }
        if let Some(last) = self.published.filter(|last| publishes && *last != turn) {
            return Err(Refusal::PublishedTwice(last));
        }
        if let (Some((sites, known)), Some(asked)) = (&self.design, design_hash(request))
            && sites == cohort
            && *known != asked
        {
            return Err(Refusal::AnotherDesign);
        }
        let Some(pinned) = &self.pinned else { return Err(Refusal::NoRoster(turn)) };
        pinned.check_weights(request, cohort)?;
        pinned.check_givers(&self.terms, request, cohort)
    }

    /// What this study may spend here is what the plan says, however often it is asked. An attempt counts from the
    /// moment at which its question is accepted, whatever becomes of it.
    fn check_plan_budget(&self, asked: f64) -> Result<(), Refusal> {
        if self.terms.mode != Mode::Private {
            return Ok(());
        }
        let Some(private) = &self.terms.private else { return Err(PrivateRefusal::NoTerms.into()) };
        let planned = private.mu().map_err(PrivateRefusal::from)?.powi(2);
        let spent = self.spent;
        if spent + asked > planned * (1.0 + 1e-9) {
            return Err(Refusal::BeyondThePlan { spent, asked, planned });
        }
        Ok(())
    }

    /// Shapes, lengths, weights: whatever does not depend on an answer.
    fn check_answerable(
        &self,
        stage: usize,
        question: &ScoreRequest,
        cohort: &BTreeSet<SiteId>,
        index: usize,
    ) -> Result<(), Refusal> {
        let (plan, noise) = self.plan_and_noise(stage, question, cohort)?;
        Ok(answerable::check(&plan, question, &noise, self.site.table(), index)?)
    }

    /// The numbers of a request as ring elements: those that too few sites give are zero.
    fn sums(
        &mut self,
        request: &Request,
        bounds: Bounds,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(Vec<u64>, Vec<u64>), Refusal> {
        let summary = self.site.answer(request).map_err(encoding::EncodingError::from)?;
        let mut encoded = encoding::encode(request, bounds, &summary)?;
        if let (Mode::Secure, Some(pinned)) = (self.terms.mode, &self.pinned) {
            let open = coverage::open_numbers(self.terms.thresholds, request, &pinned.declarations, cohort);
            suppress(&mut encoded.summed, &open)?;
        }
        Ok((encoded.summed, encoded.by_name))
    }

    /// What is asked must be what the plan asks, and within the site's own rules.
    fn check_question(&self, turn: Turn, question: &Question, sites: usize) -> Result<(), Refusal> {
        match (self.terms.mode, question) {
            (Mode::Private, Question::Scores { .. }) => Ok(self.policy.check_scores(&self.terms, turn)?),
            (Mode::Plain | Mode::Secure, Question::Sums(request)) => {
                Ok(self.policy.check_request(&self.terms, turn, request, sites, &self.points)?)
            }
            _ => Err(Refusal::Mismatch("the question is not of the plan's mode")),
        }
    }

    /// The noise of a private round, from the plan, the declarations and the cohort alone.
    fn noise(
        &self,
        stage: usize,
        question: &ScoreRequest,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<Noise, Refusal> {
        self.plan_and_noise(stage, question, cohort).map(|(_, noise)| noise)
    }

    fn plan_and_noise(
        &self,
        stage: usize,
        question: &ScoreRequest,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(Score2Plan, Noise), Refusal> {
        let pinned = self.pinned.as_ref().ok_or(Refusal::Mismatch("no roster is pinned"))?;
        // To find the noise that keeps an ε takes longer than a round, and a cohort has one plan.
        let mut known = self.private_plan.borrow_mut();
        let plan = match known.take().filter(|(whose, _)| whose == cohort) {
            Some((_, plan)) => plan,
            None => private::plan_of(&self.terms, &pinned.declarations, cohort)?,
        };
        *known = Some((cohort.clone(), plan.clone()));
        private::check_question(&plan, question)?;
        let noise = private::noise(&self.terms, &plan, stage)?;
        Ok((plan, noise))
    }

    fn release(
        &self,
        turn: Turn,
        question: [u8; 32],
        told: &Broadcast,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<Release, Refusal> {
        let mut release = Release {
            turn,
            question,
            cohort: told.cohort.clone(),
            statistics: (told.question.statistics().iter())
                .map(|(statistic, len)| (statistic.name.to_owned(), *len as u64))
                .collect(),
            points: Vec::new(),
            effect_totals: false,
            by_name: false,
            design: None,
            place: None,
            cost: None,
        };
        match &told.question {
            Question::Sums(request) => {
                release.points =
                    request.points().iter().map(|psi| policy::coordinates(request, psi)).collect();
                let conditions = request.ask.conditions();
                release.effect_totals = conditions.once;
                release.by_name = conditions.publishes_effects;
                release.design = design_hash(request);
                let place = conditions.tells_own_effect.then(|| self.site.place()).flatten();
                release.place = place.map(|place| (place.effect, place.se));
            }
            Question::Scores { stage, request } => {
                let noise = self.noise(*stage, request, cohort)?;
                let slack = noise.shares.slack(1).map_err(PrivateRefusal::from)?;
                release.cost =
                    Some(PrivateCost { mu_squared: noise.mu_squared, eta: slack.eta, kappa: slack.kappa });
            }
        }
        Ok(release)
    }
}

/// The items of a calibration: from its first evaluation on they stay the same.
fn design_hash(request: &Request) -> Option<[u8; 32]> {
    if request.ask.conditions().opening {
        return None;
    }
    let mut digest = Sha256::new();
    for item in request.design.items() {
        digest.update(format!("{}\t{}\t{:?}\n", item.column, item.model, item.codes));
    }
    Some(digest.finalize().into())
}

/// What an attempt is about: everything that was opened.
fn question_hash(hellos: &[Vec<u8>], broadcast: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(Sha256::digest(broadcast));
    for hello in hellos {
        digest.update(Sha256::digest(hello));
    }
    digest.finalize().into()
}
