//! Rounds: call, hellos, open, uploads, the sum; and what happens when a site is missing.

use super::centre::{Brought, Centre, Next};
use super::{Coordinator, CoordinatorError, Output, Rejection, State, Stop, Taken, resemblance};
use crate::declaration::Declarations;
use crate::encoding;
use crate::message::{Announcement, Broadcast, Notice, Question, SparseView, Sums, Turn};
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

/// An attempt at a round: what is asked of whom.
pub(super) struct Attempt {
    pub(super) turn: Turn,
    pub(super) expected: BTreeSet<SiteId>,
    question: Question,
    /// The bytes in which the question is broadcast.
    broadcast: Vec<u8>,
}

/// An attempt that waits for hellos.
pub(super) struct Calling {
    pub(super) attempt: Attempt,
    pub(super) deadline: Timestamp,
    /// Verified, with their bytes.
    hellos: BTreeMap<SiteId, (Hello, Vec<u8>)>,
}

/// An attempt that waits for answers.
pub(super) struct Open {
    pub(super) attempt: Attempt,
    pub(super) deadline: Timestamp,
    /// The bytes of the hellos that opened it; none in `plain`.
    hellos: BTreeMap<SiteId, Vec<u8>>,
    /// The cohort and its context (not in `plain`).
    bound: Option<BoundCohort>,
    answers: BTreeMap<SiteId, Answer>,
}

impl Calling {
    /// Sites that have not said hello.
    pub(super) fn waiting_for(&self) -> Vec<&SiteId> {
        self.attempt.expected.iter().filter(|site| !self.hellos.contains_key(*site)).collect()
    }
}

impl Open {
    /// Sites that have not answered.
    pub(super) fn waiting_for(&self) -> Vec<&SiteId> {
        self.attempt.expected.iter().filter(|site| !self.answers.contains_key(*site)).collect()
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
            // A large cohort is shown to each site apart.
            cohort: match self.terms.sparse(self.cohort.len()) {
                None => self.cohort.iter().map(SiteId::to_string).collect(),
                Some(_) => Vec::new(),
            },
            bounds: declarations.bounds(&self.cohort),
            question,
        };
        let (question, broadcast) = self.as_announced(computed)?;
        self.announced = Some(Announcement::Question(broadcast.clone()));
        self.calls += 1;
        let attempt = Attempt { turn, expected: self.cohort.clone(), question, broadcast };
        if self.terms.mode == Mode::Plain {
            return self.open(now, attempt, BTreeMap::new());
        }
        let deadline = now.after(self.terms.deadlines.hello);
        self.state = State::Calling(Box::new(Calling { attempt, deadline, hellos: BTreeMap::new() }));
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

    /// A site's hello. The last one opens the attempt.
    pub(super) fn hello(&mut self, now: Timestamp, from: &SiteId, bytes: &[u8]) -> Result<Taken, Stop> {
        let known = match &self.state {
            State::Calling(calling) => calling.hellos.get(from).map(|(_, bytes)| bytes),
            State::Open(open) => open.hellos.get(from),
            State::Gathering(_) | State::Approving(_) | State::Over => return Err(Rejection::NotNow.into()),
        };
        let signed = SignedHello::decode(bytes).map_err(|e| Rejection::Invalid(e.to_string()))?;
        match known {
            Some(known) if known == bytes => return Ok(Taken::Known),
            Some(_) => return Err(Rejection::Restored { site: from.clone() }.into()),
            None => {}
        }
        let State::Calling(calling) = &mut self.state else { return Err(Rejection::NotNow.into()) };
        let roster = self.roster.as_ref().ok_or(Rejection::NotNow)?;
        let id = self.terms.round(calling.attempt.turn);
        let hello = signed.verify(&id, roster).map_err(|e| Rejection::Invalid(e.to_string()))?;
        if hello.site != *from {
            return Err(Rejection::Invalid(format!("{from} sent a hello of {}", hello.site)).into());
        }
        if !calling.attempt.expected.contains(from) {
            return Err(Rejection::NotNow.into());
        }
        let hello = hello.clone();
        calling.hellos.insert(from.clone(), (hello, bytes.to_vec()));
        if calling.waiting_for().is_empty()
            && let State::Calling(calling) = std::mem::replace(&mut self.state, State::Over)
        {
            self.open(now, calling.attempt, calling.hellos)?;
        }
        Ok(Taken::Changed)
    }

    /// The cohort is known. Everyone gets the same bytes, or, where a site masks with a few others, those that it needs.
    fn open(
        &mut self,
        now: Timestamp,
        attempt: Attempt,
        hellos: BTreeMap<SiteId, (Hello, Vec<u8>)>,
    ) -> Result<(), Stop> {
        let (mut bound, mut neighbourhoods) = (None, None);
        if let (Some(protection), Some(roster)) = (self.terms.protection(), &self.roster) {
            let verified = hellos.values().map(|(hello, _)| hello);
            let cohort = Cohort::of_verified(&self.terms.round(attempt.turn), roster, verified, &protection)
                .map_err(|e| CoordinatorError::Internal(e.to_string()))?;
            bound = Some(match self.terms.sparse(hellos.len()) {
                None => cohort.bind(&attempt.broadcast),
                Some(graph) => {
                    let (bound, found) = cohort.bind_sparse(&attempt.broadcast, graph);
                    neighbourhoods = Some((found, SparseView::members_of(roster, &attempt.expected)));
                    bound
                }
            });
        }
        let hellos: BTreeMap<SiteId, Vec<u8>> =
            hellos.into_iter().map(|(site, (_, bytes))| (site, bytes)).collect();
        let (turn, broadcast) = (attempt.turn, attempt.broadcast.clone());
        match neighbourhoods {
            None => {
                let notice = Notice::Open { turn, hellos: hellos.values().cloned().collect(), broadcast };
                self.tell(&attempt.expected, notice);
            }
            Some((all, members)) => {
                let view = |site: &SiteId| {
                    let near = all.of(site)?;
                    let hellos = near.sites.iter().filter_map(|site| hellos.get(site).cloned()).collect();
                    Some(SparseView { members: members.clone(), root: near.root, path: near.path, hellos })
                };
                let notices = attempt.expected.iter().filter_map(|site| {
                    let (view, broadcast) = (view(site)?, broadcast.clone());
                    Some((site.clone(), Notice::OpenSparse { turn, view, broadcast }))
                });
                self.tell_each(notices);
            }
        }
        let deadline = now.after(self.terms.deadlines.upload);
        self.state =
            State::Open(Box::new(Open { attempt, deadline, hellos, bound, answers: BTreeMap::new() }));
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
        let Some(current) = self.turn() else { return Err(Rejection::NotNow.into()) };
        if turn < current {
            // The round was completed with this answer, or given up: a repetition is acknowledged.
            return Ok(Taken::Known);
        }
        let round = match &mut self.state {
            State::Open(open) if turn == current && open.attempt.expected.contains(from) => open,
            State::Open(_) | State::Gathering(_) | State::Approving(_) | State::Calling(_) | State::Over => {
                return Err(Rejection::WrongTurn { got: turn, now: Some(current) }.into());
            }
        };
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
                let want = round.attempt.question.summed_len();
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
                upload.verify(bound, round.attempt.question.summed_len()).map_err(|e| invalid(&e))?;
                Some(upload)
            }
            (Sums::Plain(_), Some(_)) | (Sums::Masked(_), None) => {
                return Err(Rejection::Invalid("the answer is not in the plan's mode".into()).into());
            }
        };
        round.answers.insert(from.clone(), Answer { sums, by_name, masked });
        self.released = true;
        if round.waiting_for().is_empty()
            && let State::Open(open) = std::mem::replace(&mut self.state, State::Over)
        {
            self.complete(now, &open)?;
        }
        Ok(Taken::Changed)
    }

    /// Everybody has answered: the sum opens, and the centre takes its step.
    fn complete(&mut self, now: Timestamp, round: &Open) -> Result<(), Stop> {
        self.shared_roster = None;
        let next = self.advance(round)?;
        let trace = self.centre.as_ref().map_or_else(Vec::new, |centre| centre.trace_after(self.reported));
        self.reported += trace.len();
        self.outputs.extend(trace.into_iter().map(Output::Progress));
        match next {
            Next::Ask(question) => {
                self.call(now, Turn { round: round.attempt.turn.round + 1, attempt: 1 }, *question)
            }
            Next::Done(mut finished) => {
                finished.fit.warnings.extend(self.lost_warning());
                self.end(Ok(*finished));
                Ok(())
            }
        }
    }

    /// Opens the sum and hands it to the centre.
    fn advance(&mut self, round: &Open) -> Result<Next, Stop> {
        let Some(declarations) = &self.declarations else { return Err(Rejection::NotNow.into()) };
        let Some(centre) = &mut self.centre else { return Err(Rejection::NotNow.into()) };
        let brought = if round.bound.is_some() {
            // Every answer was verified against this cohort when it came, and everybody's is here.
            let mut total = vec![0; round.attempt.question.summed_len()];
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
        let Attempt { expected, question, .. } = &round.attempt;
        Ok(centre.advance(&self.terms, declarations, expected, question, brought, &by_name)?)
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
        let (attempt, waiting) = match &self.state {
            State::Calling(calling) => (&calling.attempt, calling.waiting_for()),
            State::Open(open) => (&open.attempt, open.waiting_for()),
            State::Gathering(_) | State::Approving(_) | State::Over => return Ok(Taken::Known),
        };
        let (turn, left) = (attempt.turn, attempt.expected.len() - waiting.len());
        let missing: BTreeSet<SiteId> = waiting.into_iter().cloned().collect();
        // Before anyone's first upload nothing binds: the study goes on with whoever is there.
        let act = if self.released { self.terms.on_loss } else { OnLoss::RevealLostSite };
        // Beginning again would spend more than the plan's privacy, and sites refuse that.
        let spent = self.terms.mode == Mode::Private && self.released && act == OnLoss::RevealLostSite;
        if act == OnLoss::End || spent {
            let names: Vec<String> = missing.iter().map(|s| self.terms.label(s)).collect();
            return Err(CoordinatorError::Lost { sites: names.join(", "), turn }.into());
        }
        if act == OnLoss::Wait || left < self.terms.fewest_sites().max(1) {
            match &mut self.state {
                State::Calling(calling) => calling.deadline = now.after(self.terms.deadlines.hello),
                State::Open(open) => open.deadline = now.after(self.terms.deadlines.upload),
                State::Gathering(_) | State::Approving(_) | State::Over => {}
            }
            return Ok(Taken::Changed);
        }
        self.leave_out(now, &missing)?;
        Ok(Taken::Changed)
    }

    /// The operator leaves sites out: before the first upload, or enough of them at once, or by the plan's consent.
    pub(super) fn drop_sites(&mut self, now: Timestamp, sites: &BTreeSet<SiteId>) -> Result<Taken, Stop> {
        if self.turn().is_none() {
            return Err(Rejection::NotNow.into());
        }
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
        let Some(turn) = self.turn() else { return Ok(()) };
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
