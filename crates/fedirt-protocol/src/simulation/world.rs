//! A world: clock, network, faults, and the loop that lets everyone act.

use super::checks::Witness;
use super::coordinator_shell::{CoordinatorShell, Verdict};
use super::site_shell::SiteShell;
use super::study::{self, ENOUGH_ROUNDS, Kind, MOST_SITES, TOO_FEW_ROUNDS};
use crate::coordinator::Input;
use crate::message::{Broadcast, Notice, Question, ToCoordinator, ToSite};
use crate::site::Refusal;
use crate::terms::OnLoss;
use crate::{SiteId, Timestamp, codec};
use fedirt_model::statistics::Mode;
use fedirt_privacy::ledger::Ledger;
use fedirt_privacy::secure::{ChainRefusal, CoverageRefusal};
use rand::rngs::ChaCha20Rng;
use rand::{Rng, RngExt, SeedableRng};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Milliseconds of one step of the world.
const TICK: u64 = 500;
/// Steps with faults, and steps afterwards in which the study must come to its end.
const FAULTY: u64 = 240;
const CALM: u64 = 1200;

/// How a world ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// With a result.
    Finished,
    /// Without one, as the plan foresees.
    Ended,
    /// It waits for a site that vanished.
    Waits,
    /// A site refused what it was told.
    Refused,
}

/// What happened in a world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its end.
    pub ending: Ending,
    /// Messages lost, repeated and replayed.
    pub faults: u64,
    /// Times that someone went down and came up again.
    pub crashes: u64,
    /// Answers that sites gave.
    pub uploads: u64,
}

enum Payload {
    FromSite { site: usize, id: u64, message: Arc<ToCoordinator> },
    Answered { site: usize, id: u64 },
    ToSite { site: usize, bytes: Vec<u8> },
}

struct Packet {
    at: u64,
    payload: Payload,
}

struct World {
    random: ChaCha20Rng,
    kind: Kind,
    now: u64,
    /// The coordinator's clock is off by this.
    skew: i64,
    loss: f64,
    crash: f64,
    lies: bool,
    calm: bool,
    coordinator: CoordinatorShell,
    sites: Vec<SiteShell>,
    network: Vec<Packet>,
    history: Vec<(usize, Vec<u8>)>,
    acknowledged: Vec<(usize, Arc<ToCoordinator>)>,
    witness: Witness,
    faults: u64,
    crashes: u64,
}

/// Runs the world of a seed; an error names the broken rule.
pub fn run(seed: u64) -> Result<Report, String> {
    let mut world = World::new(seed);
    for tick in 0..FAULTY + CALM {
        if tick == FAULTY {
            world.calm_down();
        }
        world.step();
        if let Some(rule) = &world.witness.broken {
            return Err(format!("seed {seed}: {rule}"));
        }
        if world.is_over() {
            break;
        }
    }
    world.judge().map_err(|rule| format!("seed {seed}: {rule}"))
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let mode = match random.random_range(0..10) {
            0 => Mode::Plain,
            1..=3 => Mode::Private,
            _ => Mode::Secure,
        };
        // Not drawn, so that worlds of earlier versions keep their seeds.
        let max_rounds = if seed % 16 == 10 { TOO_FEW_ROUNDS } else { ENOUGH_ROUNDS };
        let kind = Kind { mode, sites: random.random_range(3..=MOST_SITES), max_rounds };
        let on_loss =
            [OnLoss::Wait, OnLoss::Wait, OnLoss::End, OnLoss::RevealLostSite][random.random_range(0..4)];
        let terms = study::terms(kind, on_loss);
        let sites = terms
            .sites
            .keys()
            .enumerate()
            .map(|(k, name)| {
                let mut secret = [0; 32];
                random.fill_bytes(&mut secret);
                let own = ChaCha20Rng::from_rng(&mut random);
                SiteShell::new(name.clone(), terms.clone(), study::table(k), secret, own)
            })
            .collect();
        let witness = Witness::new(&terms);
        Self {
            loss: random.random_range(0.0..0.3),
            crash: if random.random_bool(0.7) { random.random_range(0.0..0.02) } else { 0.0 },
            lies: random.random_bool(0.15),
            kind,
            now: 0,
            skew: 0,
            calm: false,
            coordinator: CoordinatorShell::new(terms),
            sites,
            network: Vec::new(),
            history: Vec::new(),
            acknowledged: Vec::new(),
            witness,
            faults: 0,
            crashes: 0,
            random,
        }
    }

    /// Faults stop, and whoever is down comes up, but for those who vanished.
    fn calm_down(&mut self) {
        (self.loss, self.crash, self.calm) = (0.0, 0.0, true);
        if !self.coordinator.is_up() {
            self.coordinator.restart();
        }
        for site in self.sites.iter_mut().filter(|site| !site.is_up() && !site.vanished) {
            site.restart();
        }
    }

    fn clock(&self) -> Timestamp {
        Timestamp(self.now.saturating_add_signed(self.skew))
    }

    fn step(&mut self) {
        self.now += TICK;
        if !self.calm {
            self.meddle();
        }
        self.deliver();
        let due = self.coordinator.machine().and_then(|m| m.next_deadline());
        if due.is_some_and(|due| due <= self.clock()) {
            self.tell_coordinator(Input::Deadline);
        }
        for k in 0..self.sites.len() {
            self.act(k);
        }
    }

    /// Crashes, clock jumps, and sites that vanish for good.
    fn meddle(&mut self) {
        if self.random.random_bool(0.01) {
            self.skew = self.random.random_range(-5_000..15_000);
        }
        if !self.coordinator.is_up() && self.random.random_bool(0.3) {
            self.coordinator.restart();
            self.crashes += 1;
        }
        for k in 0..self.sites.len() {
            if self.random.random_bool(0.0004) {
                self.sites[k].vanished = true;
                self.sites[k].crash();
            } else if !self.sites[k].is_up() && !self.sites[k].vanished && self.random.random_bool(0.3) {
                self.sites[k].restart();
                self.crashes += 1;
            }
        }
        if !self.history.is_empty() && self.random.random_bool(0.1) {
            let (site, bytes) = self.history[self.random.random_range(0..self.history.len())].clone();
            self.faults += 1;
            self.network.push(Packet { at: self.now, payload: Payload::ToSite { site, bytes } });
        }
    }

    /// Puts a packet on its way: lost, late, twice.
    fn send(&mut self, payload: impl Fn() -> Payload) {
        if self.random.random_bool(self.loss) {
            self.faults += 1;
            return;
        }
        let copies = if self.random.random_bool(self.loss / 2.0) { 2 } else { 1 };
        self.faults += copies - 1;
        for _ in 0..copies {
            let late = if self.calm { 0 } else { self.random.random_range(0..6) * TICK };
            self.network.push(Packet { at: self.now + late, payload: payload() });
        }
    }

    fn deliver(&mut self) {
        let (mut due, rest): (Vec<Packet>, Vec<Packet>) =
            std::mem::take(&mut self.network).into_iter().partition(|p| p.at <= self.now);
        self.network = rest;
        // Any order.
        for i in (1..due.len()).rev() {
            due.swap(i, self.random.random_range(0..=i));
        }
        for packet in due {
            match packet.payload {
                Payload::FromSite { site, id, message } => {
                    let from = self.sites[site].name.clone();
                    let input = Input::Message { from, message: (*message).clone() };
                    match self.tell_coordinator(input) {
                        Verdict::Acknowledged => {
                            self.acknowledged.push((site, message));
                            self.send(|| Payload::Answered { site, id });
                        }
                        Verdict::Rejected => self.send(|| Payload::Answered { site, id }),
                        Verdict::Lost => {}
                    }
                }
                Payload::Answered { site, id } => self.sites[site].answered(id),
                Payload::ToSite { site, bytes } => {
                    let now = self.clock();
                    self.sites[site].deliver(now, &bytes);
                    self.work(site);
                }
            }
        }
    }

    fn tell_coordinator(&mut self, input: Input) -> Verdict {
        let (now, crash) = (self.clock(), self.crash);
        let random = &mut self.random;
        self.coordinator.take(now, input, &mut || crash > 0.0 && random.random_bool(crash))
    }

    fn work(&mut self, site: usize) {
        let (now, crash) = (self.clock(), self.crash);
        let random = &mut self.random;
        self.sites[site].work(now, &mut self.witness, &mut || crash > 0.0 && random.random_bool(crash));
    }

    /// A site sends what is not acknowledged, and asks for news.
    fn act(&mut self, k: usize) {
        self.work(k);
        if !self.sites[k].is_up() {
            return;
        }
        // In order, each until it is acknowledged.
        if let Some((id, message)) = self.sites[k].outbox().first().cloned() {
            self.send(|| Payload::FromSite { site: k, id, message: message.clone() });
        }
        if let Some(bytes) = self.coordinator.poll(&self.sites[k].name.clone(), self.sites[k].seen) {
            self.history.push((k, bytes.clone()));
            let bytes = if self.lies && !self.calm { self.lie(&bytes) } else { bytes };
            self.send(|| Payload::ToSite { site: k, bytes: bytes.clone() });
        }
    }

    /// A coordinator that tells this site something else: other parameters, another cohort, another attempt.
    fn lie(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Ok(mut message) = codec::decode::<ToSite>(bytes) else { return bytes.to_vec() };
        if !self.random.random_bool(0.05) {
            return bytes.to_vec();
        }
        self.faults += 1;
        match &mut message.notice {
            Notice::Open { turn, hellos, broadcast } => match self.random.random_range(0..4) {
                0 => {
                    hellos.pop();
                }
                1 => turn.attempt += 1,
                2 => turn.round = turn.round.saturating_sub(1),
                _ => {
                    if let Ok(mut told) = codec::decode::<Broadcast>(broadcast) {
                        if let Question::Sums(request) = &mut told.question {
                            request.weight_scale *= 1.5;
                        }
                        told.cohort.pop();
                        *broadcast = codec::encode(&told).unwrap_or_default();
                    }
                }
            },
            Notice::Call { turn, .. } => turn.attempt += 1,
            _ => {}
        }
        codec::encode(&message).unwrap_or_default()
    }

    fn is_over(&self) -> bool {
        self.coordinator.result.is_some() && self.sites.iter().all(|s| s.vanished || s.is_over())
    }

    fn judge(&self) -> Result<Report, String> {
        for site in &self.sites {
            let whole = site.ledger.rfind('\n').map_or(0, |end| end + 1);
            Ledger::read(&site.ledger[..whole]).map_err(|e| format!("{}: ledger: {e}", site.name))?;
        }
        for (site, message) in &self.acknowledged {
            // Repetitions are acknowledged without being written again.
            let known = self.coordinator.remembers(&self.sites[*site].name, message);
            if !known && !matches!(**message, ToCoordinator::Upload { .. } | ToCoordinator::Approve { .. }) {
                return Err(format!("an acknowledged {} was forgotten", message.kind()));
            }
        }
        let report = |ending| Report {
            ending,
            faults: self.faults,
            crashes: self.crashes + self.coordinator.restarts,
            uploads: self.witness.uploads(),
        };
        let vanished = self.sites.iter().any(|site| site.vanished);
        match &self.coordinator.result {
            Some(Ok(finished)) => {
                let cohort: BTreeSet<SiteId> = finished
                    .fit
                    .sites
                    .iter()
                    .filter_map(|site| SiteId::try_from(site.name.as_str()).ok())
                    .collect();
                // In `plain` nothing binds answers to what was asked: a coordinator that lies spoils its own result.
                let bound = !(self.lies && self.kind.mode == Mode::Plain);
                // What was asked before a calibration began again is missing at its end, where rounds are few.
                let few = self.kind.max_rounds < ENOUGH_ROUNDS;
                if few && finished.fit.converged == Some(true) && self.kind.mode != Mode::Private {
                    return Err("a study that may take too few rounds says that it converged".into());
                }
                // The same holds of the few studies that reach even a generous limit.
                if let Some(undisturbed) = study::undisturbed(self.kind, &cohort)
                    && bound
                    && (undisturbed.converged || undisturbed.rounds == finished.fit.rounds)
                    && undisturbed.items != finished.fit.items
                {
                    return Err("the result differs from that of an undisturbed run".into());
                }
                Ok(report(Ending::Finished))
            }
            Some(Err(error)) => {
                if self.sites.iter().any(|site| site.refused.is_some()) {
                    return if self.lies || vanished || self.left_unheard() {
                        Ok(report(Ending::Refused))
                    } else {
                        Err(format!("an honest coordinator was refused: {error}"))
                    };
                }
                Ok(report(Ending::Ended))
            }
            None if vanished => Ok(report(Ending::Waits)),
            None if self.lies => Ok(report(Ending::Waits)),
            None => {
                let status = self.coordinator.machine().map(|m| m.status());
                Err(format!("the faults stopped, and the study did not come to an end: {status:?}"))
            }
        }
    }

    /// Whether a site refused because it had uploaded to a cohort that the coordinator, who never got that answer,
    /// left someone out of.
    fn left_unheard(&self) -> bool {
        let refused = |refusal: &Refusal| {
            matches!(
                refusal,
                Refusal::Chain(ChainRefusal::TooFewRemoved { .. })
                    | Refusal::Coverage(CoverageRefusal::TooFewRemoved { .. })
                    | Refusal::BeyondThePlan { .. }
            )
        };
        self.sites.iter().filter_map(|site| site.refused.as_ref()).any(refused)
    }
}
