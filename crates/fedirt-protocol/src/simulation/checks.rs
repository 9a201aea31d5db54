//! A witness who sees everything that sites write and send, and knows the rules on its own account.

use crate::message::{Sums, ToCoordinator, Turn};
use crate::site::SiteEvent;
use crate::{SiteId, Terms};
use fedirt_model::statistics::Mode;
use fedirt_privacy::ledger::Ledger;
use fedirt_privacy::secure::{SignedHello, Upload};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What a site has done.
#[derive(Default)]
struct Deeds {
    /// Highest turn of a hello or an answer that was sent.
    highest: Option<Turn>,
    /// Hash of the answer sent in each turn.
    answers: BTreeMap<Turn, [u8; 32]>,
    /// Hash of the hello sent in each turn.
    hellos: BTreeMap<Turn, [u8; 32]>,
    /// Cohorts of its releases.
    cohorts: Vec<BTreeSet<String>>,
    uploads: u64,
}

/// The witness.
pub(super) struct Witness {
    mode: Mode,
    n_min: usize,
    reveal: bool,
    deeds: BTreeMap<SiteId, Deeds>,
    /// The first broken rule.
    pub(super) broken: Option<String>,
}

impl Witness {
    pub(super) fn new(terms: &Terms) -> Self {
        Self {
            mode: terms.mode,
            n_min: terms.thresholds.n_min(),
            reveal: terms.on_loss == crate::terms::OnLoss::RevealLostSite,
            deeds: BTreeMap::new(),
            broken: None,
        }
    }

    fn break_rule(&mut self, rule: String) {
        self.broken.get_or_insert(rule);
    }

    /// Uploads that were sent for the first time.
    pub(super) fn uploads(&self) -> u64 {
        self.deeds.values().map(|d| d.uploads).sum()
    }

    pub(super) fn persisted(&mut self, site: &SiteId, event: &SiteEvent) {
        let SiteEvent::Released(release) = event else { return };
        let next: BTreeSet<String> = release.cohort.iter().cloned().collect();
        let deeds = self.deeds.entry(site.clone()).or_default();
        let previous = deeds.cohorts.last().cloned();
        deeds.cohorts.push(next.clone());
        if self.mode != Mode::Secure {
            return;
        }
        if next.len() < 3 {
            self.break_rule(format!("{site}: exact sums over {} sites", next.len()));
        }
        if let Some(previous) = previous {
            let removed = previous.difference(&next).count();
            if next.difference(&previous).count() > 0 {
                self.break_rule(format!("{site}: a site joined the chain of cohorts"));
            }
            if !self.reveal && removed > 0 && removed < self.n_min {
                self.break_rule(format!("{site}: {removed} sites left the chain of cohorts"));
            }
        }
    }

    /// Something goes out on the wire; `disk` and `ledger` are what the site has written down by now.
    pub(super) fn sent(&mut self, site: &SiteId, message: &ToCoordinator, disk: &[SiteEvent], ledger: &str) {
        match message {
            ToCoordinator::Hello(bytes) => {
                let Ok(hello) = SignedHello::decode(bytes) else { return };
                let turn = hello_turn(&hello);
                if !disk.iter().any(|e| matches!(e, SiteEvent::Hello { turn: t, .. } if *t == turn)) {
                    self.break_rule(format!("{site}: a hello was sent before its key was on disk"));
                }
                self.went_out(site, turn, Sha256::digest(bytes).into(), false);
            }
            ToCoordinator::Upload { turn, sums, .. } => {
                let hash = match sums {
                    Sums::Masked(bytes) => Upload::decode(bytes).map_or([0; 32], |u| u.hash()),
                    Sums::Plain(words) => {
                        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                        Sha256::digest(&bytes).into()
                    }
                };
                if !disk.iter().any(|e| matches!(e, SiteEvent::Upload { turn: t, .. } if t == turn)) {
                    self.break_rule(format!("{site}: an answer was sent before it was on disk"));
                }
                if !disk.iter().any(|e| matches!(e, SiteEvent::Released(r) if r.turn == *turn)) {
                    self.break_rule(format!("{site}: an answer was sent before its record"));
                }
                self.check_debit(site, *turn, ledger);
                self.went_out(site, *turn, hash, true);
            }
            ToCoordinator::Enrol(_)
            | ToCoordinator::Join(_)
            | ToCoordinator::Approve { .. }
            | ToCoordinator::Refuse { .. } => {}
        }
    }

    fn check_debit(&mut self, site: &SiteId, turn: Turn, ledger: &str) {
        if Ledger::read(ledger).is_err() {
            self.break_rule(format!("{site}: the ledger does not verify"));
        }
        let entries = ledger.lines().filter(|line| match self.mode {
            Mode::Private => {
                line.contains("\tdebit\t")
                    && line.contains(&format!("\tround={}\tattempt={}\t", turn.round, turn.attempt))
            }
            Mode::Plain | Mode::Secure => line.contains("\texact\t"),
        });
        if entries.count() == 0 {
            self.break_rule(format!("{site}: numbers left in {turn} without an entry in the ledger"));
        }
    }

    fn went_out(&mut self, site: &SiteId, turn: Turn, hash: [u8; 32], answer: bool) {
        let deeds = self.deeds.entry(site.clone()).or_default();
        let highest = deeds.highest;
        let kept = if answer { &mut deeds.answers } else { &mut deeds.hellos };
        let known = kept.insert(turn, hash);
        if answer && known.is_none() {
            deeds.uploads += 1;
        }
        deeds.highest = deeds.highest.max(Some(turn));
        if known.is_some_and(|known| known != hash) {
            self.break_rule(format!("{site}: two different messages in {turn}"));
        }
        if highest.is_some_and(|highest| turn < highest) {
            self.break_rule(format!("{site}: {turn} was answered after a higher one"));
        }
    }
}

fn hello_turn(hello: &SignedHello) -> Turn {
    let round = hello.round();
    Turn { round: round.round as u32, attempt: round.attempt as u32 }
}

#[cfg(test)]
mod tests {
    //! The witness must see what it is there to see.
    use super::*;
    use crate::simulation::study::{ENOUGH_ROUNDS, Kind, terms};
    use crate::site::Release;
    use crate::terms::OnLoss;

    fn witness() -> (Witness, SiteId) {
        let terms = terms(Kind { mode: Mode::Plain, sites: 3, max_rounds: ENOUGH_ROUNDS }, OnLoss::Wait);
        (Witness::new(&terms), SiteId::try_from("site 0").expect("a name"))
    }

    fn upload(round: u32, word: u64) -> ToCoordinator {
        let turn = Turn { round, attempt: 1 };
        ToCoordinator::Upload { turn, sums: Sums::Plain(vec![word]), by_name: Vec::new() }
    }

    fn disk(round: u32) -> Vec<SiteEvent> {
        let turn = Turn { round, attempt: 1 };
        vec![
            SiteEvent::Released(Box::new(release(round, 3))),
            SiteEvent::Upload { turn, message: upload(round, 1) },
        ]
    }

    fn release(round: u32, sites: usize) -> Release {
        Release {
            turn: Turn { round, attempt: 1 },
            question: [0; 32],
            cohort: (0..sites).map(|k| format!("site {k}")).collect(),
            keys: Vec::new(),
            statistics: Vec::new(),
            points: Vec::new(),
            asked: None,
            by_name: false,
            design: None,
            place: None,
            cost: None,
        }
    }

    /// A ledger with one exact release.
    fn ledger() -> String {
        use fedirt_privacy::ledger::{ExactMode, ExactRelease, Label, LedgerEntry};
        let label = |text: &str| Label::try_from(text).expect("a label");
        let release = ExactRelease {
            population: label("p"),
            study: crate::StudyId::try_from("s").expect("a name"),
            mode: ExactMode::Plain,
            statistics: [label("x")].into(),
            cohort: [SiteId::try_from("site 0").expect("a name")].into(),
            members: Vec::new(),
            rows: vec![1],
            students: None,
            after_private_releases: None,
            question: None,
            time: label("t"),
        };
        Ledger::new().propose(LedgerEntry::Exact(release)).expect("a first entry").text()
    }

    /// A ledger with one debit, of round 1, attempt 1.
    fn paid_once() -> String {
        use fedirt_privacy::accountant::{Delta, Epsilon, Slack};
        use fedirt_privacy::ledger::{AccountOpening, Budget, Debit, Label, LedgerEntry};
        let label = |text: &str| Label::try_from(text).expect("a label");
        let budget = Budget {
            epsilon: Epsilon::new(1.0).expect("positive"),
            delta: Delta::new(1e-6).expect("below one"),
        };
        let opening = LedgerEntry::Open(AccountOpening { population: label("p"), budget, time: label("t") });
        let debit = LedgerEntry::Debit(Debit {
            population: label("p"),
            study: crate::StudyId::try_from("s").expect("a name"),
            round: 1,
            attempt: 1,
            cohort: 3,
            question: [0; 32],
            mu_squared: 0.01,
            slack: Slack::NONE,
            after_exact_releases: false,
            rows: Vec::new(),
            students: None,
            time: label("t"),
        });
        let mut ledger = Ledger::new();
        let mut text = String::new();
        for entry in [opening, debit] {
            let line = ledger.propose(entry).expect("an entry");
            text.push_str(&line.text());
            ledger.apply(line).expect("the next line");
        }
        text
    }

    /// Every attempt is paid for on its own.
    #[test]
    fn an_attempt_that_is_not_paid_for_is_seen() {
        let terms = terms(Kind { mode: Mode::Private, sites: 3, max_rounds: ENOUGH_ROUNDS }, OnLoss::Wait);
        let (_, site) = witness();
        for (attempt, paid) in [(1, true), (2, false)] {
            let turn = Turn { round: 1, attempt };
            let sums = Sums::Plain(vec![1]);
            let message = ToCoordinator::Upload { turn, sums, by_name: Vec::new() };
            let released = Release { turn, ..release(1, 3) };
            let disk = [
                SiteEvent::Released(Box::new(released)),
                SiteEvent::Upload { turn, message: message.clone() },
            ];
            let mut witness = Witness::new(&terms);
            witness.sent(&site, &message, &disk, &paid_once());
            assert_eq!(witness.broken.is_none(), paid, "{:?}", witness.broken);
        }
    }

    #[test]
    fn faults_of_sites_are_seen() {
        let (mut honest, site) = witness();
        honest.sent(&site, &upload(1, 1), &disk(1), &ledger());
        honest.sent(&site, &upload(1, 1), &disk(1), &ledger());
        assert_eq!(honest.broken, None);

        let (mut two, site) = witness();
        two.sent(&site, &upload(1, 1), &disk(1), &ledger());
        two.sent(&site, &upload(1, 2), &disk(1), &ledger());
        assert!(two.broken.is_some_and(|rule| rule.contains("two different")));

        let (mut early, site) = witness();
        early.sent(&site, &upload(1, 1), &[], &ledger());
        assert!(early.broken.is_some_and(|rule| rule.contains("before it was on disk")));

        let (mut unpaid, site) = witness();
        unpaid.sent(&site, &upload(1, 1), &disk(1), "");
        assert!(unpaid.broken.is_some_and(|rule| rule.contains("without an entry")));

        let (mut lower, site) = witness();
        lower.sent(&site, &upload(2, 1), &disk(2), &ledger());
        lower.sent(&site, &upload(1, 1), &disk(1), &ledger());
        assert!(lower.broken.is_some_and(|rule| rule.contains("after a higher")));

        let terms = terms(Kind { mode: Mode::Secure, sites: 5, max_rounds: ENOUGH_ROUNDS }, OnLoss::Wait);
        let mut chain = Witness::new(&terms);
        chain.persisted(&site, &SiteEvent::Released(Box::new(release(1, 5))));
        chain.persisted(&site, &SiteEvent::Released(Box::new(release(2, 4))));
        assert!(chain.broken.is_some_and(|rule| rule.contains("left the chain")));
    }
}
