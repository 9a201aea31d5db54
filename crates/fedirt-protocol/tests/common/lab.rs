//! One coordinator and some sites on a bench, with every message in the tester's hands.

use fedirt_model::centre::{ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::population::Population;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Identity, Thresholds};
use fedirt_protocol::coordinator::{Coordinator, Input, Output, Rejection};
use fedirt_protocol::message::{Announcement, Broadcast, Notice, ToCoordinator, ToSite};
use fedirt_protocol::policy::Policy;
use fedirt_protocol::site::{EntryError, Refusal, Release, SiteEvent, SiteMachine, SiteOutput};
use fedirt_protocol::terms::{Deadlines, Masking, OnLoss, Terms};
use fedirt_protocol::{SiteId, StudyId, Timestamp, codec};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) const NOW: Timestamp = Timestamp(0);

pub(crate) fn id(k: usize) -> SiteId {
    SiteId::try_from(format!("site{k}").as_str()).expect("a sound test")
}

pub(crate) fn binary_items(count: usize) -> Vec<ItemPlan> {
    let item = |j| ItemPlan {
        name: format!("I{j}"),
        model: Some("2pl".into()),
        codes: Some(vec![0, 1]),
        merged: Vec::new(),
        anchor: None,
    };
    (1..=count).map(item).collect()
}

pub(crate) fn terms(mode: Mode, sites: usize, items: usize) -> Terms {
    Terms {
        study: StudyId::try_from("bench").expect("a sound test"),
        plan_hash: [1; 32],
        plan: Plan {
            items: binary_items(items),
            effects: Effects::Fixed,
            population: Population::default(),
            settings: Settings { max_rounds: 40, ..Settings::default() },
            publish_effects: mode == Mode::Plain,
            secrecy: Secrecy::BySite,
            diagnostics: Vec::new(),
            groups: Vec::new(),
            purify: true,
            compare_sites: false,
        },
        mode,
        private: None,
        thresholds: Thresholds::new(3, 0).expect("a sound test"),
        masking: Masking::Full,
        on_loss: OnLoss::Wait,
        deadlines: Deadlines { join: None, hello: 1000, upload: 1000 },
        sites: (0..sites).map(|k| (id(k), id(k).to_string())).collect(),
    }
}

/// A site on the bench.
pub(crate) struct BenchSite {
    pub(crate) machine: SiteMachine,
    pub(crate) events: Vec<SiteEvent>,
    pub(crate) refusals: Vec<Refusal>,
    /// What the ledger was asked to enter.
    pub(crate) debits: Vec<Release>,
    /// What the officer was told beside the roster.
    pub(crate) cautions: Vec<String>,
    /// Whom the officer has called; none: everybody.
    pub(crate) verified: Option<BTreeSet<SiteId>>,
    /// Whether the ledger's disk fails after the entry is made.
    pub(crate) ledger_fails: bool,
    random: ChaCha20Rng,
}

impl BenchSite {
    /// A site whose officer has agreed to small studies: a bench is small.
    pub(crate) fn new(terms: &Terms, k: usize, policy: Policy, table: ResponseTable) -> Self {
        Self::strict(terms, k, Policy { allow_pooled_rows_inferred: true, ..policy }, table)
    }

    /// A site with exactly this policy.
    pub(crate) fn strict(terms: &Terms, k: usize, policy: Policy, table: ResponseTable) -> Self {
        let mut random = ChaCha20Rng::seed_from_u64(50 + k as u64);
        let identity = Identity::generate(&mut random);
        let machine = SiteMachine::new(id(k), identity, terms.clone(), policy, table).expect("a sound test");
        Self {
            machine,
            events: Vec::new(),
            refusals: Vec::new(),
            debits: Vec::new(),
            cautions: Vec::new(),
            verified: None,
            ledger_fails: false,
            random,
        }
    }

    /// Other randomness from here on.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.random = ChaCha20Rng::seed_from_u64(seed);
    }

    /// What the site sends in answer to a message.
    pub(crate) fn hear(&mut self, message: &Arc<ToSite>) -> Vec<Arc<ToCoordinator>> {
        self.machine.handle(NOW, &mut self.random, message);
        self.outputs()
    }

    pub(crate) fn outputs(&mut self) -> Vec<Arc<ToCoordinator>> {
        let mut sent = Vec::new();
        while let Some(output) = self.machine.poll() {
            match output {
                SiteOutput::Send(message) => sent.push(message),
                SiteOutput::Persist(event) => self.events.push(event),
                SiteOutput::RosterShown(shown) => {
                    self.cautions.extend(shown.caution.clone());
                    let names = self.verified.clone().unwrap_or_else(|| shown.names());
                    self.machine.approve_roster(shown.fingerprint, &names);
                }
                SiteOutput::Debit(release) => {
                    let turn = release.turn;
                    self.debits.push(release);
                    let answer = if self.ledger_fails { Err(EntryError::NoPrice.into()) } else { Ok(()) };
                    self.machine.debited(NOW, &mut self.random, turn, answer);
                }
                SiteOutput::Refused { refusal, .. } => self.refusals.push(refusal),
                _ => {}
            }
        }
        sent
    }
}

/// The bench.
pub(crate) struct Lab {
    pub(crate) terms: Terms,
    pub(crate) coordinator: Coordinator,
    pub(crate) sites: Vec<BenchSite>,
    pub(crate) inbox: BTreeMap<SiteId, Arc<ToSite>>,
    /// What the coordinator was told to persist.
    pub(crate) log: Vec<(Timestamp, Input, Option<Announcement>)>,
    pub(crate) result: Option<Result<fedirt_model::fit::Fit, String>>,
}

impl Lab {
    pub(crate) fn new(terms: Terms, policy: &Policy, tables: &[ResponseTable]) -> Self {
        let sites = tables
            .iter()
            .enumerate()
            .map(|(k, table)| BenchSite::new(&terms, k, policy.clone(), table.clone()))
            .collect();
        let coordinator = Coordinator::new(terms.clone(), NOW);
        let (inbox, log) = (BTreeMap::new(), Vec::new());
        let mut lab = Self { terms, coordinator, sites, inbox, log, result: None };
        for k in 0..lab.sites.len() {
            lab.sites[k].machine.introduce();
            for message in lab.sites[k].outputs() {
                lab.tell(k, &message).expect("a sound test");
            }
        }
        lab
    }

    /// Gives the coordinator a site's message.
    pub(crate) fn tell(&mut self, k: usize, message: &ToCoordinator) -> Result<(), Rejection> {
        self.input(NOW, Input::Message { from: id(k), message: message.clone() })
    }

    pub(crate) fn input(&mut self, now: Timestamp, input: Input) -> Result<(), Rejection> {
        let verdict = self.coordinator.handle(now, input);
        while let Some(output) = self.coordinator.poll() {
            match output {
                Output::Persist { at, input, announced } => self.log.push((at, input, announced)),
                Output::Send { to, message } => {
                    self.inbox.insert(to, message);
                }
                Output::Finished(result) => {
                    self.result = Some(result.map(|f| f.fit).map_err(|e| e.to_string()));
                }
                Output::Progress(_) => {}
            }
        }
        verdict
    }

    /// Lets some sites hear what there is for them and answer, once.
    pub(crate) fn turn(&mut self, who: &[usize]) {
        let mail: Vec<(usize, Arc<ToSite>)> =
            who.iter().filter_map(|&k| Some((k, self.inbox.remove(&id(k))?))).collect();
        for (k, message) in mail {
            for answer in self.sites[k].hear(&message) {
                match self.tell(k, &answer) {
                    Ok(()) | Err(Rejection::Over) => {}
                    Err(rejection) => panic!("{rejection}"),
                }
            }
        }
    }

    /// Everybody acts until a notice of this kind waits for the first site.
    pub(crate) fn until(&mut self, kind: &str, round: u32) -> Arc<ToSite> {
        let all: Vec<usize> = (0..self.sites.len()).collect();
        for _ in 0..200 {
            if let Some(message) = self.inbox.get(&id(0))
                && message.notice.kind() == kind
                && turn_of(&message.notice).is_none_or(|turn| turn.round >= round)
            {
                return message.clone();
            }
            self.turn(&all);
        }
        panic!("no {kind} in sight: {:?}", self.coordinator.status());
    }
}

pub(crate) fn turn_of(notice: &Notice) -> Option<fedirt_protocol::message::Turn> {
    match notice {
        Notice::Call { turn, .. } | Notice::Open { turn, .. } | Notice::OpenSparse { turn, .. } => {
            Some(*turn)
        }
        _ => None,
    }
}

/// The same opening with another broadcast.
pub(crate) fn altered(message: &ToSite, alter: impl Fn(&mut Broadcast)) -> Arc<ToSite> {
    let mut message = message.clone();
    if let Notice::Open { broadcast, .. } = &mut message.notice {
        let mut told: Broadcast = codec::decode(broadcast).expect("a sound test");
        alter(&mut told);
        *broadcast = codec::encode(&told).expect("a sound test");
    }
    Arc::new(message)
}
