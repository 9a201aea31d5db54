//! Rounds: call, hellos, open, uploads, the sum; and what happens when a site is missing.

use super::centre::{Brought, Centre, Next};
use super::{Coordinator, CoordinatorError, Output, Phase, Rejection, Stop, Taken, resemblance};
use crate::declaration::Declarations;
use crate::encoding;
use crate::message::{Announcement, Broadcast, Notice, Question, Sums, Turn};
use crate::terms::OnLoss;
use crate::{Timestamp, codec};
use fedirt_model::centre::FEWEST_ROUNDS;
use fedirt_model::fit::Warning;
use fedirt_model::statistics::Mode;
use fedirt_privacy::fixed_point;
use fedirt_privacy::secure::{BoundCohort, Chain, Cohort, Hello, SignedHello, SiteId, Upload};
use std::collections::{BTreeMap, BTreeSet};

/// A site's answer, checked.
struct Answer {
    sums: Sums,
    by_name: Vec<u64>,
    masked: Option<Upload>,
}

/// A round that is going on.
pub(super) struct Round {
    pub(super) turn: Turn,
    pub(super) expected: BTreeSet<SiteId>,
    pub(super) deadline: Option<Timestamp>,
    question: Question,
    broadcast: Vec<u8>,
    /// Verified, with their bytes.
    hellos: BTreeMap<SiteId, (Hello, Vec<u8>)>,
    opened: bool,
    /// The cohort and its context, once open (not in `plain`).
    bound: Option<BoundCohort>,
    answers: BTreeMap<SiteId, Answer>,
}

impl Round {
    pub(super) fn is_open(&self) -> bool {
        self.opened
    }

    pub(super) fn waiting_for(&self) -> Vec<&SiteId> {
        let there = |s: &&SiteId| {
            if self.opened { self.answers.contains_key(*s) } else { self.hellos.contains_key(*s) }
        };
        self.expected.iter().filter(|s| !there(s)).collect()
    }
}

impl Coordinator {
    /// The first round of a calibration with the present cohort.
    pub(super) fn start(&mut self, now: Timestamp, turn: Turn) -> Result<(), Stop> {
        // What sites were asked before a calibration begins again counts against the same limit.
        let most = self.terms.estimation_rounds();
        let left = most.saturating_sub(self.calls);
        if self.calls > 0 && self.terms.mode != Mode::Private && left < FEWEST_ROUNDS {
            return Err(CoordinatorError::RoundsUsedUp { used: self.calls, most }.into());
        }
        let (centre, question) = Centre::new(&self.terms, left, self.declarations()?, &self.cohort)?;
        self.centre = Some(centre);
        self.reported = 0;
        self.call(now, turn, question)
    }

    fn declarations(&self) -> Result<&Declarations, Stop> {
        let missing = || CoordinatorError::Internal("nobody has declared anything".into());
        self.declarations.as_ref().ok_or_else(|| missing().into())
    }

    /// Begins an attempt at a round.
    fn call(&mut self, now: Timestamp, turn: Turn, question: Question) -> Result<(), Stop> {
        let declarations = self.declarations()?;
        let computed = Broadcast {
            declarations: declarations.hash(),
            cohort: self.cohort.iter().map(SiteId::to_string).collect(),
            bounds: declarations.bounds(&self.cohort),
            question,
        };
        let (question, broadcast) = self.as_announced(computed)?;
        self.announced = Some(Announcement::Question(broadcast.clone()));
        self.calls += 1;
        self.phase = Phase::Round(Box::new(Round {
            turn,
            expected: self.cohort.clone(),
            deadline: Some(now.after(self.terms.deadlines.hello)),
            question,
            broadcast,
            hellos: BTreeMap::new(),
            opened: false,
            bound: None,
            answers: BTreeMap::new(),
        }));
        if self.terms.mode == Mode::Plain {
            return self.open(now);
        }
        let notice = Notice::Call { turn, roster: self.shared_roster.clone() };
        let cohort = self.cohort.clone();
        self.tell(&cohort, notice);
        Ok(())
    }

    /// The question of an attempt and the bytes in which it is broadcast. In a replay they are those that were stored,
    /// and the centre goes on from that question, which may differ in the last bits from the one computed now. A
    /// stored question that differs in more than that is left where it is, and the replay is refused.
    fn as_announced(&mut self, computed: Broadcast) -> Result<(Question, Vec<u8>), Stop> {
        let internal = |e: codec::CodecError| CoordinatorError::Internal(e.to_string());
        let bytes = codec::encode(&computed).map_err(internal)?;
        let Some(Announcement::Question(stored)) = &self.stored else {
            return Ok((computed.question, bytes));
        };
        if *stored == bytes {
            self.stored = None;
            return Ok((computed.question, bytes));
        }
        let broadcast: Broadcast = codec::decode(stored).map_err(internal)?;
        if !resemblance::resembles(&computed, &broadcast) {
            return Ok((computed.question, bytes));
        }
        let stored = stored.clone();
        self.stored = None;
        if let Some(centre) = &mut self.centre {
            centre.adopt(&broadcast.question);
        }
        Ok((broadcast.question, stored))
    }

    /// A site's hello.
    pub(super) fn hello(&mut self, now: Timestamp, from: &SiteId, bytes: &[u8]) -> Result<Taken, Stop> {
        let Phase::Round(round) = &mut self.phase else { return Err(Rejection::NotNow.into()) };
        let signed = SignedHello::decode(bytes).map_err(|e| Rejection::Invalid(e.to_string()))?;
        if let Some((_, known)) = round.hellos.get(from) {
            return if known == bytes {
                Ok(Taken::Known)
            } else {
                Err(Rejection::Restored { site: from.clone() }.into())
            };
        }
        let roster = self.roster.as_ref().ok_or(Rejection::NotNow)?;
        let id = self.terms.round(round.turn);
        let hello = signed.verify(&id, roster).map_err(|e| Rejection::Invalid(e.to_string()))?;
        if hello.site != *from {
            return Err(Rejection::Invalid(format!("{from} sent a hello of {}", hello.site)).into());
        }
        if round.opened || !round.expected.contains(from) {
            return Err(Rejection::NotNow.into());
        }
        let hello = hello.clone();
        round.hellos.insert(from.clone(), (hello, bytes.to_vec()));
        if round.hellos.len() == round.expected.len() {
            self.open(now)?;
        }
        Ok(Taken::Changed)
    }

    /// The cohort is known: everyone gets the same bytes.
    fn open(&mut self, now: Timestamp) -> Result<(), Stop> {
        let Phase::Round(round) = &mut self.phase else { return Ok(()) };
        round.opened = true;
        round.deadline = Some(now.after(self.terms.deadlines.upload));
        let mut hellos = Vec::new();
        if let (Some(protection), Some(roster)) = (self.terms.protection(), &self.roster) {
            let verified = round.hellos.values().map(|(hello, _)| hello);
            let cohort = Cohort::of_verified(&self.terms.round(round.turn), roster, verified, &protection)
                .map_err(|e| CoordinatorError::Internal(e.to_string()))?;
            round.bound = Some(cohort.bind(&round.broadcast));
            hellos = round.hellos.values().map(|(_, bytes)| bytes.clone()).collect();
        }
        let notice = Notice::Open { turn: round.turn, hellos, broadcast: round.broadcast.clone() };
        let expected = round.expected.clone();
        self.tell(&expected, notice);
        Ok(())
    }

    /// A site's answer.
    pub(super) fn upload(
        &mut self,
        now: Timestamp,
        from: &SiteId,
        turn: Turn,
        sums: Sums,
        by_name: Vec<u64>,
    ) -> Result<Taken, Stop> {
        let current = self.turn();
        let Phase::Round(round) = &mut self.phase else { return Err(Rejection::NotNow.into()) };
        if turn < round.turn {
            // The round was completed with this answer, or given up: a repetition is acknowledged.
            return Ok(Taken::Known);
        }
        if turn != round.turn || !round.opened || !round.expected.contains(from) {
            return Err(Rejection::WrongTurn { got: turn, now: current }.into());
        }
        if let Some(known) = round.answers.get(from) {
            return if known.sums == sums && known.by_name == by_name {
                Ok(Taken::Known)
            } else {
                Err(Rejection::TwoAnswers { site: from.clone() }.into())
            };
        }
        let invalid = |e: &dyn std::fmt::Display| Rejection::Invalid(e.to_string());
        let masked = match (&sums, &round.bound) {
            (Sums::Plain(words), None) => {
                let want = round.question.summed_len();
                if words.len() != want {
                    return Err(invalid(&encoding::EncodingError::Shape { got: words.len(), want }).into());
                }
                None
            }
            (Sums::Masked(bytes), Some(bound)) => {
                let upload = Upload::decode(bytes).map_err(|e| invalid(&e))?;
                if upload.site() != from {
                    return Err(
                        Rejection::Invalid(format!("{from} sent an answer of {}", upload.site())).into()
                    );
                }
                upload.verify(bound, round.question.summed_len()).map_err(|e| invalid(&e))?;
                Some(upload)
            }
            _ => return Err(Rejection::Invalid("the answer is not in the plan's mode".into()).into()),
        };
        round.answers.insert(from.clone(), Answer { sums, by_name, masked });
        self.released = true;
        if self.all_here() {
            self.complete(now)?;
        }
        Ok(Taken::Changed)
    }

    fn all_here(&self) -> bool {
        matches!(&self.phase, Phase::Round(round) if round.opened && round.answers.len() == round.expected.len())
    }

    /// Everybody has answered: the sum opens, and the centre takes its step.
    fn complete(&mut self, now: Timestamp) -> Result<(), Stop> {
        let Phase::Round(round) = std::mem::replace(&mut self.phase, Phase::Over) else { return Ok(()) };
        self.shared_roster = None;
        let next = self.advance(&round)?;
        let trace = self.centre.as_ref().map_or_else(Vec::new, |centre| centre.trace_after(self.reported));
        self.reported += trace.len();
        self.outputs.extend(trace.into_iter().map(Output::Progress));
        match next {
            Next::Ask(question) => {
                self.call(now, Turn { round: round.turn.round + 1, attempt: 1 }, *question)
            }
            Next::Done(mut finished) => {
                finished.fit.warnings.extend(self.lost_warning());
                self.end(Ok(*finished));
                Ok(())
            }
        }
    }

    /// Opens the sum and hands it to the centre.
    fn advance(&mut self, round: &Round) -> Result<Next, Stop> {
        let Some(declarations) = &self.declarations else { return Err(Rejection::NotNow.into()) };
        let Some(centre) = &mut self.centre else { return Err(Rejection::NotNow.into()) };
        let brought = if round.bound.is_some() {
            // Every answer was verified against this cohort when it came, and everybody's is here.
            let mut total = vec![0; round.question.summed_len()];
            round
                .answers
                .values()
                .filter_map(|answer| answer.masked.as_ref())
                .for_each(|upload| fixed_point::add(&mut total, upload.words()));
            Brought::Total(total)
        } else {
            let single = round.answers.values().filter_map(|answer| match &answer.sums {
                Sums::Plain(words) => Some(words.as_slice()),
                Sums::Masked(_) => None,
            });
            Brought::Single(single.collect(), &*self.aggregator)
        };
        let by_name: Vec<(&SiteId, &[u64])> =
            round.answers.iter().map(|(site, answer)| (site, answer.by_name.as_slice())).collect();
        Ok(centre.advance(&self.terms, declarations, &round.expected, &round.question, brought, &by_name)?)
    }

    fn lost_warning(&self) -> Option<Warning> {
        if self.lost.is_empty() {
            return None;
        }
        let names: Vec<String> = self.lost.iter().map(|s| self.terms.label(s)).collect();
        let message = format!("invited, but not in the results: {}", names.join(", "));
        Some(Warning { code: "sites_missing".into(), message })
    }

    /// Not everybody was there in time.
    pub(super) fn round_is_late(&mut self, now: Timestamp) -> Result<Taken, Stop> {
        let Phase::Round(round) = &mut self.phase else { return Ok(Taken::Known) };
        let wait = if round.opened { self.terms.deadlines.upload } else { self.terms.deadlines.hello };
        let missing: BTreeSet<SiteId> = round.waiting_for().into_iter().cloned().collect();
        let left = round.expected.len() - missing.len();
        let turn = round.turn;
        // Before anyone's first upload nothing binds: the study goes on with whoever is there.
        let act = if self.released { self.terms.on_loss } else { OnLoss::RevealLostSite };
        // Beginning again would spend more than the plan's privacy, and sites refuse that.
        let spent = self.terms.mode == Mode::Private && self.released && act == OnLoss::RevealLostSite;
        if act == OnLoss::End || spent {
            let names: Vec<String> = missing.iter().map(|s| self.terms.label(s)).collect();
            return Err(CoordinatorError::Lost { sites: names.join(", "), turn }.into());
        }
        if act == OnLoss::Wait || left < self.terms.fewest_sites().max(1) {
            round.deadline = Some(now.after(wait));
            return Ok(Taken::Changed);
        }
        self.leave_out(now, &missing)?;
        Ok(Taken::Changed)
    }

    /// The operator leaves sites out: before the first upload, or enough of them at once, or by the plan's consent.
    pub(super) fn drop_sites(&mut self, now: Timestamp, sites: &BTreeSet<SiteId>) -> Result<Taken, Stop> {
        let Phase::Round(_) = &self.phase else { return Err(Rejection::NotNow.into()) };
        if self.terms.mode == Mode::Private && self.released {
            let reason = "to begin again without these sites would spend more than the plan's privacy: wait for them, or end the study";
            return Err(Rejection::Invalid(reason.into()).into());
        }
        let next: BTreeSet<SiteId> = self.cohort.difference(sites).cloned().collect();
        if next.len() == self.cohort.len() {
            return Ok(Taken::Known);
        }
        if self.terms.mode == Mode::Secure && self.released && self.terms.on_loss != OnLoss::RevealLostSite {
            let mut chain = Chain::new(self.terms.thresholds);
            chain.extend(&self.cohort).map_err(Rejection::from)?;
            chain.extend(&next).map_err(Rejection::from)?;
        }
        self.leave_out(now, sites)?;
        Ok(Taken::Changed)
    }

    /// Goes on without some sites. Before the first upload the round is called again; later the calibration begins
    /// again with those who are left, for its sums had the others in them.
    fn leave_out(&mut self, now: Timestamp, sites: &BTreeSet<SiteId>) -> Result<(), Stop> {
        let Phase::Round(round) = &self.phase else { return Ok(()) };
        let turn = round.turn;
        self.cohort.retain(|site| !sites.contains(site));
        self.lost.extend(sites.iter().cloned());
        let (left, needed) = (self.cohort.len(), self.terms.fewest_sites().max(1));
        if left < needed {
            return Err(CoordinatorError::TooFew { left, needed }.into());
        }
        let reason = "the study went on without this site, which did not answer in time".to_owned();
        self.tell(sites, Notice::Ended { reason });
        let next = if self.released {
            Turn { round: turn.round + 1, attempt: 1 }
        } else {
            Turn { round: turn.round, attempt: turn.attempt + 1 }
        };
        self.start(now, next)
    }
}
