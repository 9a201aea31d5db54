//! Before the first round: keys, declarations, the roster and its signatures.

use super::{Approving, Coordinator, CoordinatorError, Rejection, State, Stop, Taken};
use crate::Timestamp;
use crate::declaration::Declarations;
use crate::message::{Notice, SharedRoster, Turn};
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Enrolment, Roster, SIGNATURE_BYTES, SignedRoster, SiteId};
use std::collections::BTreeSet;

/// Waiting for sites to join.
pub(super) struct Gathering {
    pub(super) deadline: Option<Timestamp>,
}

impl Coordinator {
    /// A site's key. The shell has taken its invitation.
    pub(super) fn enrol(&mut self, from: &SiteId, bytes: &[u8]) -> Result<Taken, Stop> {
        let enrolment = Enrolment::decode(bytes).map_err(|e| Rejection::Invalid(e.to_string()))?;
        enrolment.verify().map_err(|e| Rejection::Invalid(e.to_string()))?;
        if enrolment.study != self.terms.study || enrolment.site != *from {
            return Err(Rejection::Invalid("the key was signed for another study or site".into()).into());
        }
        match self.keys.get(from) {
            Some(key) if *key == enrolment.key => Ok(Taken::Known),
            Some(_) if !matches!(self.state, State::Gathering(_)) => {
                Err(Rejection::AnotherKey { site: from.clone() }.into())
            }
            Some(_) | None => {
                // Before the roster is made, a new invitation may replace a lost key; what it had declared goes too.
                self.keys.insert(from.clone(), enrolment.key);
                self.joined.remove(from);
                Ok(Taken::Changed)
            }
        }
    }

    /// A site's signed declaration.
    pub(super) fn join(&mut self, now: Timestamp, from: &SiteId, bytes: Vec<u8>) -> Result<Taken, Stop> {
        if self.joined.get(from) == Some(&bytes) {
            return Ok(Taken::Known);
        }
        if !matches!(self.state, State::Gathering(_)) {
            return Err(Rejection::NotNow.into());
        }
        let key = self.keys.get(from).ok_or_else(|| Rejection::NotEnrolled { site: from.clone() })?;
        let roster = Roster::of(self.terms.study.clone(), 0, [(from.clone(), *key)])
            .map_err(|e| Rejection::Invalid(e.to_string()))?;
        let declared =
            Declarations::verify(&roster, std::slice::from_ref(&bytes), self.terms.plan.items.len())
                .map_err(|e| Rejection::Invalid(e.to_string()))?;
        if let (Some(private), Some(own)) = (&self.terms.private, declared.get(from)) {
            if own.booklets.len() != private.booklets.len().max(1) {
                return Err(
                    Rejection::Invalid("rows must be declared for each booklet of the plan".into()).into()
                );
            }
            if own.weighted {
                return Err(Rejection::Invalid("weights cannot be kept private".into()).into());
            }
        }
        self.joined.insert(from.clone(), bytes);
        if self.joined.len() == self.terms.sites.len() {
            self.make_roster(now)?;
        }
        Ok(Taken::Changed)
    }

    /// The operator does not wait for the others.
    pub(super) fn begin(&mut self, now: Timestamp) -> Result<Taken, Stop> {
        if !matches!(self.state, State::Gathering(_)) {
            return Err(Rejection::NotNow.into());
        }
        let (left, needed) = (self.joined.len(), self.terms.fewest_sites());
        if left < needed {
            return Err(
                Rejection::Invalid(format!("{left} sites have joined, and {needed} are needed")).into()
            );
        }
        self.make_roster(now)?;
        Ok(Taken::Changed)
    }

    pub(super) fn gathering_is_late(&mut self, now: Timestamp) -> Result<Taken, Stop> {
        if self.joined.len() >= self.terms.fewest_sites() {
            self.make_roster(now)?;
        } else {
            self.state = State::Gathering(Gathering { deadline: self.join_deadline(now) });
        }
        Ok(Taken::Changed)
    }

    fn join_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.terms.deadlines.join.map(|wait| now.after(wait))
    }

    /// Everybody is here: their keys and declarations, for all of them to see and sign.
    fn make_roster(&mut self, now: Timestamp) -> Result<(), Stop> {
        let internal = |e: &dyn std::fmt::Display| CoordinatorError::Internal(e.to_string());
        self.edition += 1;
        let entries = self.joined.keys().filter_map(|site| Some((site.clone(), *self.keys.get(site)?)));
        let roster = Roster::of(self.terms.study.clone(), self.edition, entries).map_err(|e| internal(&e))?;
        let signed: Vec<Vec<u8>> = self.joined.values().cloned().collect();
        let declarations =
            Declarations::verify(&roster, &signed, self.terms.plan.items.len()).map_err(|e| internal(&e))?;
        self.cohort = roster.entries().keys().cloned().collect();
        self.lost.extend(self.terms.sites.keys().filter(|s| !self.cohort.contains(*s)).cloned());
        self.declarations = Some(declarations);
        self.roster = Some(roster.clone());
        if self.terms.mode == Mode::Plain {
            // Sites need not know one another: nothing they send depends on the others.
            return self.start(now, Turn { round: 1, attempt: 1 });
        }
        let deadline = self.join_deadline(now);
        let shared = SharedRoster { roster: roster.encode(), declarations: signed, approvals: Vec::new() };
        let cohort = self.cohort.clone();
        self.tell(&cohort, Notice::Roster(shared.clone()));
        self.state = State::Approving(Approving { roster: SignedRoster::new(roster), shared, deadline });
        Ok(())
    }

    /// A site's signature under the roster.
    pub(super) fn approve(
        &mut self,
        now: Timestamp,
        from: &SiteId,
        edition: u64,
        signature: &[u8],
    ) -> Result<Taken, Stop> {
        if edition < self.edition || (edition == self.edition && !matches!(self.state, State::Approving(_))) {
            // Late or repeated.
            return Ok(Taken::Known);
        }
        let State::Approving(approving) = &mut self.state else { return Err(Rejection::NotNow.into()) };
        if edition != self.edition {
            return Err(Rejection::NotNow.into());
        }
        let signature: [u8; SIGNATURE_BYTES] =
            signature.try_into().map_err(|_| Rejection::Invalid("a signature has 64 bytes".into()))?;
        if approving.roster.approvals().get(from) == Some(&signature) {
            return Ok(Taken::Known);
        }
        approving.roster.approve(from, signature).map_err(|e| Rejection::Invalid(e.to_string()))?;
        if approving.roster.approvals().len() == self.cohort.len() {
            let mut shared = approving.shared.clone();
            shared.approvals = (approving.roster.approvals().iter())
                .map(|(site, signature)| (site.to_string(), signature.to_vec()))
                .collect();
            self.shared_roster = Some(shared);
            self.start(now, Turn { round: 1, attempt: 1 })?;
        }
        Ok(Taken::Changed)
    }

    /// Sites that have not signed in time are left out: nothing has been released yet.
    pub(super) fn approving_is_late(&mut self, now: Timestamp) -> Result<Taken, Stop> {
        let State::Approving(approving) = &mut self.state else { return Ok(Taken::Known) };
        let signed: BTreeSet<SiteId> = approving.roster.approvals().keys().cloned().collect();
        if signed.len() >= self.terms.fewest_sites() {
            let silent: Vec<SiteId> = self.joined.keys().filter(|s| !signed.contains(*s)).cloned().collect();
            for site in silent {
                self.joined.remove(&site);
                self.lost.insert(site);
            }
            self.make_roster(now)?;
        } else {
            approving.deadline = self.terms.deadlines.join.map(|wait| now.after(wait));
        }
        Ok(Taken::Changed)
    }
}
