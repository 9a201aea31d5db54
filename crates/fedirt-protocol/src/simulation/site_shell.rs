//! A site with a disk and a ledger, as a real agent would run it.

use super::checks::Witness;
use crate::message::{ToCoordinator, ToSite};
use crate::policy::Policy;
use crate::site::{DebitRefusal, Refusal, Release, SiteEvent, SiteMachine, SiteOutput, Subjects};
use crate::terms::Terms;
use crate::{SiteId, Timestamp, codec};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::accountant::{Delta, Epsilon};
use fedirt_privacy::ledger::{
    AccountOpening, Budget, Label, Ledger, LedgerEntry, LedgerRefusal, row_fingerprint,
};
use fedirt_privacy::secure::Identity;
use rand::rngs::ChaCha20Rng;
use std::sync::Arc;

/// The shell.
pub(super) struct SiteShell {
    pub(super) name: SiteId,
    terms: Terms,
    table: ResponseTable,
    secret: [u8; 32],
    machine: Option<SiteMachine>,
    random: ChaCha20Rng,
    /// Events on disk.
    disk: Vec<SiteEvent>,
    /// The ledger file.
    pub(super) ledger: String,
    /// Sent, but not acknowledged: in memory only.
    outbox: Vec<(u64, Arc<ToCoordinator>)>,
    next_id: u64,
    pub(super) seen: u64,
    pub(super) vanished: bool,
    pub(super) refused: Option<Refusal>,
    pub(super) restarts: u64,
}

fn label(text: &str) -> Label {
    Label::try_from(text).expect("a proper label")
}

impl SiteShell {
    pub(super) fn new(
        name: SiteId,
        terms: Terms,
        table: ResponseTable,
        secret: [u8; 32],
        random: ChaCha20Rng,
    ) -> Self {
        let mut ledger = String::new();
        if let (Mode::Private, Some(private)) = (terms.mode, &terms.private) {
            // Half of the sites have not a bit more than the plan spends.
            let (epsilon, delta) =
                if secret[0].is_multiple_of(2) { (private.epsilon, private.delta) } else { (16.0, 1e-5) };
            let budget = Budget {
                epsilon: Epsilon::new(epsilon).expect("positive"),
                delta: Delta::new(delta).expect("below one"),
            };
            let opening = AccountOpening { population: label("students"), budget, time: label("day 0") };
            let line = Ledger::new().propose(LedgerEntry::Open(opening)).expect("a first account");
            ledger.push_str(&line.text());
        }
        let mut shell = Self {
            name,
            terms,
            table,
            secret,
            machine: None,
            random,
            disk: Vec::new(),
            ledger,
            outbox: Vec::new(),
            next_id: 0,
            seen: 0,
            vanished: false,
            refused: None,
            restarts: 0,
        };
        shell.start();
        shell
    }

    fn start(&mut self) {
        let identity = Identity::from_secret(&self.secret);
        // Worlds are small.
        let policy =
            Policy { modes: vec![self.terms.mode], allow_pooled_rows_inferred: true, ..Policy::default() };
        let mut machine =
            SiteMachine::new(self.name.clone(), identity, self.terms.clone(), policy, self.table.clone())
                .expect("a declaration");
        machine.restore(&self.disk).expect("what was written down can be read");
        if !machine.is_over() {
            machine.introduce();
        }
        self.machine = Some(machine);
    }

    pub(super) fn is_up(&self) -> bool {
        self.machine.is_some()
    }

    pub(super) fn is_over(&self) -> bool {
        self.disk.iter().any(|event| matches!(event, SiteEvent::Over))
    }

    /// Goes down: everything that is not on disk is gone. A line of the ledger may have been cut.
    pub(super) fn crash(&mut self) {
        self.machine = None;
        self.outbox.clear();
        self.seen = 0;
    }

    pub(super) fn restart(&mut self) {
        self.restarts += 1;
        // A torn last line was never acted upon: it goes.
        let whole = self.ledger.rfind('\n').map_or(0, |end| end + 1);
        self.ledger.truncate(whole);
        self.start();
    }

    /// Hands a message to the machine.
    pub(super) fn deliver(&mut self, now: Timestamp, bytes: &[u8]) {
        let (Some(machine), Ok(message)) = (&mut self.machine, codec::decode::<ToSite>(bytes)) else {
            return;
        };
        self.seen = self.seen.max(message.step);
        machine.handle(now, &mut self.random, &Arc::new(message));
    }

    /// Does what the machine wants, asking before each thing whether it goes down.
    pub(super) fn work(
        &mut self,
        now: Timestamp,
        witness: &mut Witness,
        crash_now: &mut dyn FnMut() -> bool,
    ) {
        loop {
            let Some(machine) = &mut self.machine else { return };
            let Some(output) = machine.poll() else { return };
            if crash_now() {
                self.crash();
                return;
            }
            match output {
                SiteOutput::Persist(event) => {
                    witness.persisted(&self.name, &event);
                    self.disk.push(event);
                }
                SiteOutput::Send(message) => {
                    witness.sent(&self.name, &message, &self.disk, &self.ledger);
                    if !self.outbox.iter().any(|(_, known)| *known == message) {
                        self.next_id += 1;
                        self.outbox.push((self.next_id, message));
                    }
                }
                SiteOutput::RosterShown(shown) => machine.approve_roster(shown.fingerprint, &shown.names()),
                SiteOutput::Debit(release) => {
                    let turn = release.turn;
                    let answer = self.enter(&release, crash_now);
                    let (Some(machine), Some(answer)) = (&mut self.machine, answer) else { return };
                    machine.debited(now, &mut self.random, turn, answer);
                }
                SiteOutput::Refused { refusal, .. } => {
                    if !refusal.is_replay() {
                        self.refused = Some(refusal);
                    }
                }
                SiteOutput::RoundShown(_) | SiteOutput::Finished(_) | SiteOutput::Ended { .. } => {}
            }
        }
    }

    /// Enters a release in the ledger, unless it is there. Nothing, if the site went down in the middle of the line.
    fn enter(
        &mut self,
        release: &Release,
        crash_now: &mut dyn FnMut() -> bool,
    ) -> Option<Result<(), DebitRefusal>> {
        let ledger = Ledger::read(&self.ledger).expect("the ledger's chain holds");
        let rows: Vec<u64> = self.table.rows().map(|row| row_fingerprint(&[3; 32], row)).collect();
        let population = label("students");
        let subjects = Subjects { population, rows, students: None, exact_and_private: false };
        let entry = match release.ledger_entry(&self.terms, &subjects, "today") {
            Ok(entry) => entry,
            Err(error) => return Some(Err(error.into())),
        };
        let line = match ledger.propose(entry) {
            Ok(line) => line,
            // The machine asks only while no answer is on disk: the entry was made before a crash, and nothing left.
            Err(LedgerRefusal::AlreadyDebited { question, .. }) if question == release.question => {
                return Some(Ok(()));
            }
            Err(refusal) => return Some(Err(refusal.into())),
        };
        let text = line.text();
        if crash_now() {
            self.ledger.push_str(&text[..text.len() / 2]);
            self.crash();
            return None;
        }
        self.ledger.push_str(&text);
        if crash_now() {
            self.crash();
            return None;
        }
        Some(Ok(()))
    }

    /// What is to be sent again.
    pub(super) fn outbox(&self) -> &[(u64, Arc<ToCoordinator>)] {
        &self.outbox
    }

    pub(super) fn answered(&mut self, id: u64) {
        self.outbox.retain(|(known, _)| *known != id);
    }
}
