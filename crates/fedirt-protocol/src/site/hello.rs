//! The roster, and the hello of a round.

use super::state::State;
use super::{Pinned, Refusal, RosterShown, SiteEvent, SiteMachine, SiteOutput};
use crate::declaration::Declarations;
use crate::message::{SharedRoster, ToCoordinator, Turn};
use crate::policy::PolicyRefusal;
use crate::private::{PrivateRefusal, large_delta};
use fedirt_model::statistics::Mode;
use fedirt_privacy::accountant::Delta;
use fedirt_privacy::secure::{Fingerprint, Hello, Roster, RoundKey, SIGNATURE_BYTES, SignedRoster, SiteId};
use rand::CryptoRng;
use std::collections::BTreeSet;

impl SiteMachine {
    /// A roster is shown: checked, and put before the officer, unless it was approved before.
    pub(super) fn show_roster(&mut self, shared: &SharedRoster) -> Result<(), Refusal> {
        let Pinned { roster, declarations } = self.check_roster(shared)?;
        let fingerprint = roster.fingerprint();
        if self.pinned() == Some(fingerprint) {
            return Ok(());
        }
        let caution = self.check_delta(&roster, &declarations)?;
        // A journal of an earlier version does not say who was verified: the officer is asked again.
        if self.approved == Some(fingerprint) && self.check_verified(&roster, &self.verified).is_ok() {
            self.sign_roster(&roster);
            return Ok(());
        }
        self.state = State::RosterShown(Box::new(shared.clone()));
        let sites = roster
            .entries()
            .iter()
            .map(|(site, key)| {
                (site.clone(), key.fingerprint(), declarations.get(site).map_or(0, |d| d.students))
            })
            .collect();
        let calls = self.terms.calls(roster.entries().len());
        self.outputs.push_back(SiteOutput::RosterShown(RosterShown { fingerprint, sites, calls, caution }));
        Ok(())
    }

    /// δ against the students that were declared: the plan knew an expectation only.
    fn check_delta(&self, roster: &Roster, declarations: &Declarations) -> Result<Option<String>, Refusal> {
        let Some(private) = self.terms.private.as_ref().filter(|_| self.terms.mode == Mode::Private) else {
            return Ok(None);
        };
        let declared = roster.entries().keys().filter_map(|site| declarations.get(site));
        let students = declared.map(|declaration| declaration.students).fold(0, u64::saturating_add);
        let large = Delta::new(private.delta).and_then(|delta| delta.is_large_for(students));
        Ok(large.map_err(PrivateRefusal::from)?.then(|| large_delta(private.delta, students)))
    }

    /// A coordinator can invent sites. Those that nobody here has verified count as its own, and they may not be more than the
    /// plan reckons with.
    fn check_verified(&self, roster: &Roster, verified: &BTreeSet<SiteId>) -> Result<(), Refusal> {
        let others = || roster.entries().keys().filter(|site| **site != self.name);
        let (calls, done) = (
            self.terms.calls(roster.entries().len()),
            others().filter(|site| verified.contains(*site)).count(),
        );
        if self.policy.trust_roster_from_coordinator || done >= calls {
            return Ok(());
        }
        let unverified = others().filter(|site| !verified.contains(*site)).map(ToString::to_string).collect();
        Err(Refusal::Unverified { unverified, missing: calls - done })
    }

    /// The officer has compared the fingerprints with these sites' officers: the site signs. Persists
    /// [`SiteEvent::Approved`]. Where more sites must be verified the roster still waits.
    pub fn approve_roster(&mut self, fingerprint: Fingerprint, verified: &BTreeSet<SiteId>) {
        let State::RosterShown(shared) = &self.state else { return };
        let result = self.check_roster(shared).and_then(|pinned| {
            if pinned.roster.fingerprint() != fingerprint {
                return Err(Refusal::NotApprovedHere);
            }
            self.check_verified(&pinned.roster, verified)?;
            self.state = State::Waiting;
            let verified = verified.iter().map(ToString::to_string).collect();
            self.persist(SiteEvent::Approved { fingerprint: *fingerprint.as_bytes(), verified })?;
            self.sign_roster(&pinned.roster);
            Ok(())
        });
        if let Err(refusal) = result {
            self.refuse(None, refusal);
        }
    }

    fn sign_roster(&mut self, roster: &Roster) {
        let signature = SignedRoster::approval(roster, &self.identity).to_vec();
        self.send(ToCoordinator::Approve { edition: roster.edition(), signature });
    }

    fn check_roster(&self, shared: &SharedRoster) -> Result<Pinned, Refusal> {
        let roster = Roster::decode(&shared.roster)?;
        let own = self.identity.public();
        match roster.key(&self.name) {
            Some(key) if *key == own && *roster.study() == self.terms.study => {}
            Some(_) | None => return Err(Refusal::NotApprovedHere),
        }
        if let Some(pinned) = &self.pinned
            && roster.edition() < pinned.roster.edition()
        {
            return Err(Refusal::OlderRoster { got: roster.edition(), pinned: pinned.roster.edition() });
        }
        // Cohorts are compared by name within a study: with another roster a name could stand for another key, at once or in two steps.
        if let Some(pinned) = self.pinned.as_ref().filter(|_| self.past.releases() > 0)
            && roster.fingerprint() != pinned.roster.fingerprint()
        {
            return Err(Refusal::Mismatch("the roster is another one than when sums were first released"));
        }
        if roster.entries().keys().any(|site| !self.terms.sites.contains_key(site)) {
            return Err(Refusal::Mismatch("the roster has sites that the plan does not name"));
        }
        if !shared.declarations.contains(&self.declaration) {
            return Err(Refusal::NotOurDeclaration);
        }
        let declarations = Declarations::verify(&roster, &shared.declarations, self.terms.plan.items.len())?;
        Ok(Pinned { roster, declarations })
    }

    /// Pins a roster that everybody has signed, this site's officer among them. Persists [`SiteEvent::Pinned`].
    fn pin(&mut self, shared: &SharedRoster) -> Result<(), Refusal> {
        let Pinned { roster, declarations } = self.check_roster(shared)?;
        let fingerprint = roster.fingerprint();
        if self.pinned() == Some(fingerprint) {
            return Ok(());
        }
        if self.approved != Some(fingerprint) {
            return Err(Refusal::NotApprovedHere);
        }
        let mut signed = SignedRoster::new(roster.clone());
        for (site, signature) in &shared.approvals {
            let (Ok(site), Ok(signature)) =
                (SiteId::try_from(site.as_str()), <[u8; SIGNATURE_BYTES]>::try_from(signature.as_slice()))
            else {
                return Err(Refusal::NotApprovedHere);
            };
            signed.approve(&site, signature)?;
        }
        signed.accept(&self.name, &self.identity.public())?;
        self.check_verified(&roster, &self.verified)?;
        self.check_delta(&roster, &declarations)?;
        self.persist(SiteEvent::Pinned(shared.clone()))
    }

    /// Every attempt in which numbers have left counts; one that released nothing does not. In `private` the budget counts attempts: each is paid for.
    pub(super) fn check_rounds(&self, turn: Turn) -> Result<(), Refusal> {
        let most = self.policy.most_exchanges(&self.terms);
        // A turn that was counted before a crash is not counted against itself.
        let used_up = self.terms.mode != Mode::Private && self.past.releases_but(turn) >= most;
        if turn.round > most || used_up {
            return Err(PolicyRefusal::Rounds { turn, most }.into());
        }
        Ok(())
    }

    /// A round is called: a fresh key, written down, then the hello. Persists [`SiteEvent::Hello`]. A call that is
    /// repeated gets the same hello.
    pub(super) fn call(
        &mut self,
        random: &mut impl CryptoRng,
        turn: Turn,
        roster: Option<&SharedRoster>,
    ) -> Result<(), Refusal> {
        if let Some(shared) = roster {
            self.pin(shared)?;
        }
        if self.pinned.is_none() {
            return Err(Refusal::NoRoster(turn));
        }
        if let Some(said) = self.attempts.said.as_ref().filter(|said| said.turn == turn) {
            let message = said.message.clone();
            self.outputs.push_back(SiteOutput::Send(message));
            return Ok(());
        }
        // An attempt that was answered is over, even where its hello is forgotten.
        if let Some(highest) = self.attempts.highest().filter(|highest| turn <= *highest) {
            return Err(Refusal::LowerAttempt { got: turn, highest });
        }
        self.check_rounds(turn)?;
        let key = RoundKey::generate(random);
        let hello = Hello { round: self.terms.round(turn), site: self.name.clone(), key: key.public() };
        let hello = hello.sign(&self.identity).encode();
        // Whatever waited for the officer belonged to an earlier attempt.
        self.state = State::Waiting;
        self.persist(SiteEvent::Hello { turn, secret: *key.secret(), hello: hello.clone() })?;
        self.send(ToCoordinator::Hello(hello));
        Ok(())
    }
}
