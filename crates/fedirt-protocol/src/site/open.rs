//! A round is open: everything is checked, then the sums are made, masked, written down and sent.

use super::asked::Asked;
use super::state::{Opening, State};
use super::{PrivateCost, Refusal, Release, RoundShown, SiteEvent, SiteMachine, SiteOutput};
use crate::declaration::Bounds;
use crate::message::{Broadcast, Question, SparseView, Sums, ToCoordinator, Turn};
use crate::policy::{self, Approval};
use crate::private::{self, Noise, PrivateRefusal};
use crate::{answerable, codec, coverage, encoding};
use fedirt_model::exchange::Request;
use fedirt_model::private::{PrivatePlan, ScoreRequest};
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{self, BoundCohort, Cohort, CohortError, SignedHello, SiteId, suppress};
use rand::CryptoRng;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The cohort of an opening, as the coordinator shows it.
#[derive(Clone, Copy)]
pub(super) enum Shown<'a> {
    /// All hellos.
    Whole(&'a [Vec<u8>]),
    /// Those of this site's neighbours in a large cohort.
    Sparse(&'a SparseView),
}

impl Shown<'_> {
    fn hellos(&self) -> &[Vec<u8>] {
        match self {
            Self::Whole(hellos) => hellos,
            Self::Sparse(view) => &view.hellos,
        }
    }
}

impl SiteMachine {
    /// A round is open. An attempt that was answered gets the same bytes again, whatever is asked: two inputs under one
    /// mask would show their difference. Any other opening is checked, once, and then shown to the officer or accepted.
    pub(super) fn open(&mut self, turn: Turn, shown: Shown<'_>, broadcast: &[u8]) -> Result<(), Refusal> {
        if let Some(highest) = self.attempts.highest().filter(|highest| turn < *highest) {
            return Err(Refusal::LowerAttempt { got: turn, highest });
        }
        if let Some(answer) = self.attempts.answer_of(turn) {
            self.outputs.push_back(SiteOutput::Send(answer));
            return Ok(());
        }
        let opening = Box::new(self.verify(turn, shown, broadcast)?);
        match self.policy.approval {
            Approval::Once => self.accept(opening),
            Approval::EachRound => {
                self.show_round(opening);
                Ok(())
            }
        }
    }

    /// Checks everything about an opening that does not depend on the officer or the ledger.
    fn verify(&mut self, turn: Turn, shown: Shown<'_>, broadcast: &[u8]) -> Result<Opening, Refusal> {
        let question = question_hash(shown, broadcast);
        self.attempts.check_question(turn, question)?;
        self.check_rounds(turn)?;
        let mut told: Broadcast = codec::decode(broadcast)?;
        let cohort = self.cohort_told(turn, &told, shown)?;
        told.cohort = cohort.iter().map(SiteId::to_string).collect();
        let index = cohort.iter().position(|site| *site == self.name);
        let index = index.ok_or(Refusal::Mismatch("this site is not in the cohort"))?;
        self.check_question(turn, &told.question, cohort.len())?;
        let bound = self.verify_cohort(turn, shown, broadcast, &told, &cohort)?;
        let noise = match &told.question {
            Question::Sums(request) => {
                self.past.check_times(&self.terms, turn, request, &cohort)?;
                if self.terms.mode == Mode::Secure {
                    let pinned = self.pinned.as_ref().ok_or(Refusal::NoRoster(turn))?;
                    let colluders = self.terms.thresholds.colluders().max(self.policy.colluders);
                    let students = pinned.declarations.students_without(colluders, &self.name, &cohort);
                    self.policy.check_size(students, request.design.len())?;
                    self.past.check(&self.terms, &pinned.declarations, turn, request, &cohort)?;
                    pinned.check_weights(request, &cohort)?;
                    pinned.check_givers(&self.terms, request, &cohort)?;
                    pinned.check_items(&self.terms, request, &cohort, self.site.table())?;
                }
                None
            }
            Question::Scores { stage, request } => Some(self.noise(*stage, request, &cohort)?),
        };
        Ok(Opening { turn, question, told, cohort, index, bound, noise })
    }

    /// Puts a round before the officer.
    pub(super) fn show_round(&mut self, opening: Box<Opening>) {
        self.outputs.push_back(SiteOutput::RoundShown(RoundShown {
            turn: opening.turn,
            question: opening.question,
            released: self.past.releases(),
            statistics: opening.told.question.statistics(),
        }));
        self.state = State::RoundShown(opening);
    }

    /// Accepts a question: from now on the attempt has no other, and its price is spent. Persists
    /// [`SiteEvent::Committed`], then the ledger is asked. Whatever could go wrong goes wrong before that, because
    /// nothing is given back. A question that was accepted before a crash is not checked against the budget again.
    pub(super) fn accept(&mut self, opening: Box<Opening>) -> Result<(), Refusal> {
        let (turn, question) = (opening.turn, opening.question);
        if opening.bound.is_some() && !self.attempts.has_key() {
            return Err(Refusal::NoKey(turn));
        }
        let release = self.release(&opening)?;
        if !self.attempts.is_committed(turn) {
            if let (Question::Scores { request, .. }, Some((plan, noise))) =
                (&opening.told.question, &opening.noise)
            {
                answerable::check(plan, request, noise, self.site.table(), opening.index)?;
            }
            let mu_squared = release.cost.map_or(0.0, |cost| cost.mu_squared);
            self.check_plan_budget(mu_squared)?;
            self.persist(SiteEvent::Committed { turn, question, mu_squared })?;
        }
        self.outputs.push_back(SiteOutput::Debit(release));
        self.state = State::AskingLedger(opening);
        Ok(())
    }

    /// The ledger has its entry: the sums are made, masked and sent. Persists [`SiteEvent::Released`] and
    /// [`SiteEvent::Upload`] first.
    pub(super) fn answer(&mut self, opening: &Opening, random: &mut impl CryptoRng) -> Result<(), Refusal> {
        let turn = opening.turn;
        self.site.set_index(opening.index);
        let (words, by_name) = match (&opening.told.question, &opening.noise) {
            (Question::Sums(request), _) => self.sums(request, opening.told.bounds, &opening.cohort)?,
            (Question::Scores { request, .. }, Some((_, noise))) => {
                let table = self.site.table();
                (private::answer(table, opening.index, request, noise, random)?, Vec::new())
            }
            (Question::Scores { .. }, None) => return Err(PrivateRefusal::NoTerms.into()),
        };
        let sums = match &opening.bound {
            None => Sums::Plain(words),
            Some(bound) => {
                let key = self.attempts.take_key().ok_or(Refusal::NoKey(turn))?;
                Sums::Masked(key.mask(&self.name, bound, words)?.sign(&self.identity).encode())
            }
        };
        // Made anew, as the answer tells the site its own effect where the round tells it at all.
        let release = self.release(opening)?;
        self.persist(SiteEvent::Released(Box::new(release)))?;
        let answer = ToCoordinator::Upload { turn, sums, by_name };
        self.persist(SiteEvent::Upload { turn, message: answer.clone() })?;
        self.send(answer);
        Ok(())
    }

    /// The sites of an opening, which are shown in the one way that the plan's masking has for so many.
    fn cohort_told(
        &self,
        turn: Turn,
        told: &Broadcast,
        shown: Shown<'_>,
    ) -> Result<BTreeSet<SiteId>, Refusal> {
        let cohort = match shown {
            Shown::Whole(_) => (told.cohort.iter())
                .map(|name| SiteId::try_from(name.as_str()))
                .collect::<Result<BTreeSet<SiteId>, _>>()
                .map_err(|_| Refusal::Mismatch("a site has no proper name"))?,
            Shown::Sparse(_) if !told.cohort.is_empty() => {
                return Err(Refusal::Mismatch("the cohort is told twice"));
            }
            Shown::Sparse(view) => {
                let pinned = self.pinned.as_ref().ok_or(Refusal::NoRoster(turn))?;
                view.cohort(&pinned.roster).ok_or(Refusal::Mismatch("the cohort is not of the roster"))?
            }
        };
        if matches!(shown, Shown::Sparse(_)) == self.terms.sparse(cohort.len()).is_some() {
            Ok(cohort)
        } else {
            Err(Refusal::Mismatch("the cohort is not shown as the plan's masking wants it"))
        }
    }

    /// The cohort of an opening: every signature, and that it fits the broadcast and the declarations.
    fn verify_cohort(
        &self,
        turn: Turn,
        shown: Shown<'_>,
        broadcast: &[u8],
        told: &Broadcast,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<Option<BoundCohort>, Refusal> {
        let Some(protection) = self.terms.protection() else { return Ok(None) };
        let said = self.attempts.said.as_ref().ok_or(Refusal::NoHello(turn))?;
        if turn != said.turn {
            return Err(Refusal::NoHello(turn));
        }
        let pinned = self.pinned.as_ref().ok_or(Refusal::NoRoster(turn))?;
        let hellos = (shown.hellos().iter())
            .map(|bytes| SignedHello::decode(bytes))
            .collect::<Result<Vec<_>, _>>()
            .map_err(CohortError::from)?;
        let round = self.terms.round(turn);
        let bound = match (shown, self.terms.sparse(cohort.len())) {
            (Shown::Sparse(SparseView { root, path, .. }), Some(graph)) => {
                let view = secure::Shown { sites: cohort, root, path, hellos: &hellos };
                let (roster, own) = (&pinned.roster, &self.name);
                Cohort::open_sparse(&round, broadcast, roster, own, view, &protection, graph)?
            }
            (Shown::Whole(_) | Shown::Sparse(_), _) => {
                let members = Cohort::open(&round, &pinned.roster, &hellos, &protection)?;
                if members.sites() != *cohort {
                    return Err(Refusal::Mismatch("the hellos are not those of the cohort"));
                }
                members.bind(broadcast)
            }
        };
        if told.declarations != pinned.declarations.hash() {
            return Err(Refusal::Mismatch("the declarations are not those that were signed"));
        }
        if told.bounds != pinned.declarations.bounds(cohort) {
            return Err(Refusal::Mismatch("the bounds do not follow from the declarations"));
        }
        Ok(Some(bound))
    }

    /// What this study may spend here is what the plan says, however often it is asked. An attempt counts from the
    /// moment at which its question is accepted, whatever becomes of it.
    fn check_plan_budget(&self, asked: f64) -> Result<(), Refusal> {
        if self.terms.mode != Mode::Private {
            return Ok(());
        }
        let Some(private) = &self.terms.private else { return Err(PrivateRefusal::NoTerms.into()) };
        let planned = private.mu().map_err(PrivateRefusal::from)?.powi(2);
        let spent = self.past.spent();
        if spent + asked > planned * (1.0 + 1e-9) {
            return Err(Refusal::BeyondThePlan { spent, asked, planned });
        }
        Ok(())
    }

    /// The numbers of a request as ring elements: those that too few sites give are zero.
    fn sums(
        &mut self,
        request: &Request,
        bounds: Bounds,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(Vec<u64>, Vec<u64>), Refusal> {
        let summary = self.site.answer(request).map_err(encoding::EncodingError::from)?;
        let mut encoded = encoding::encode(request, bounds, self.terms.precision(), &summary)?;
        if let (Mode::Secure, Some(pinned)) = (self.terms.mode, &self.pinned) {
            let open = coverage::open_numbers(self.terms.thresholds, request, &pinned.declarations, cohort);
            suppress(&mut encoded.summed, &open)?;
        }
        Ok((encoded.summed, encoded.by_name))
    }

    /// What is asked must be what the plan asks, and within the site's own rules.
    fn check_question(&self, turn: Turn, question: &Question, sites: usize) -> Result<(), Refusal> {
        match (self.terms.mode, question) {
            (Mode::Private, Question::Scores { .. }) => {
                Ok(self.policy.check_scores(&self.terms, turn, sites)?)
            }
            (Mode::Plain | Mode::Secure, Question::Sums(request)) => {
                Ok(self.policy.check_request(&self.terms, turn, request, sites, self.past.points())?)
            }
            (Mode::Private, Question::Sums(_)) | (Mode::Plain | Mode::Secure, Question::Scores { .. }) => {
                Err(Refusal::Mismatch("the question is not of the plan's mode"))
            }
        }
    }

    /// The noise of a private round, from the plan, the declarations and the cohort alone.
    fn noise(
        &mut self,
        stage: usize,
        question: &ScoreRequest,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(Arc<PrivatePlan>, Noise), Refusal> {
        let pinned = self.pinned.as_ref().ok_or(Refusal::Mismatch("no roster is pinned"))?;
        let plan = match &self.private_plan {
            Some((whose, plan)) if whose == cohort => plan.clone(),
            Some(_) | None => Arc::new(private::plan_of(&self.terms, &pinned.declarations, cohort)?),
        };
        self.private_plan = Some((cohort.clone(), plan.clone()));
        private::check_question(&plan, question)?;
        let noise = private::noise(&self.terms, &plan, stage)?;
        Ok((plan, noise))
    }

    /// The keys of a cohort, and whether they are verified here: this site's own is.
    fn keys(&self, cohort: &BTreeSet<SiteId>) -> Vec<([u8; 32], bool)> {
        let Some(pinned) = &self.pinned else { return Vec::new() };
        let known = |site: &SiteId| *site == self.name || self.verified.contains(site);
        let key = |site| Some((*pinned.roster.key(site)?.fingerprint().as_bytes(), known(site)));
        cohort.iter().filter_map(key).collect()
    }

    /// The record of a release, without a single number of it.
    fn release(&self, opening: &Opening) -> Result<Release, Refusal> {
        let told = &opening.told;
        let mut release = Release {
            turn: opening.turn,
            question: opening.question,
            cohort: told.cohort.clone(),
            keys: self.keys(&opening.cohort),
            statistics: (told.question.statistics().iter())
                .map(|(statistic, len)| (statistic.name.to_owned(), *len as u64))
                .collect(),
            points: Vec::new(),
            asked: None,
            by_name: false,
            design: None,
            place: None,
            cost: None,
        };
        if let Question::Sums(request) = &told.question {
            release.points = request.points().iter().map(|psi| policy::coordinates(request, psi)).collect();
            let conditions = request.ask.conditions();
            release.asked = Asked::of(&self.terms, request, opening.cohort.len())?;
            release.by_name = conditions.publishes_effects;
            release.design = design_hash(request);
            let own = conditions.tells_own_effect.then(|| self.site.own_effect()).flatten();
            release.place = own.map(|own| (own.effect, own.se));
        }
        if let Some((_, noise)) = &opening.noise {
            let slack = noise.shares.slack(1).map_err(PrivateRefusal::from)?;
            release.cost =
                Some(PrivateCost { mu_squared: noise.mu_squared, eta: slack.eta, kappa: slack.kappa });
        }
        Ok(release)
    }
}

/// The items of a calibration: from its first evaluation on they stay the same.
pub(super) fn design_hash(request: &Request) -> Option<[u8; 32]> {
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
fn question_hash(shown: Shown<'_>, broadcast: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(Sha256::digest(broadcast));
    for hello in shown.hellos() {
        digest.update(Sha256::digest(hello));
    }
    if let Shown::Sparse(SparseView { members, root, path, .. }) = shown {
        digest.update(Sha256::digest(members));
        digest.update(root);
        path.iter().for_each(|partner| digest.update(partner));
    }
    digest.finalize().into()
}
