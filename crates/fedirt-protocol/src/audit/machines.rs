//! The product's own machines as a subject of audits: what leaves them in a first and in a repeated attempt.
//!
//! Coordinator and sites are those of the protocol, each site with its own generator, as in a run in one process; what
//! is sent is masked and signed. The audit holds the rounds' keys, which sites write down before their hellos, so it can
//! take the masks off and look at each site's share of the noise. Nothing between a site's randomness and its share is
//! this file's: a machine that drew the noise of a site, of a coordinate or of an attempt from anything but fresh
//! randomness would be found.

use super::sites::Sites;
use crate::coordinator::{Coordinator, Input, Output};
use crate::message::{Notice, Sums, ToCoordinator, ToSite, Turn};
use crate::policy::Policy;
use crate::site::{SiteEvent, SiteOutput};
use crate::{SiteId, SiteMachine, Timestamp, codec};
use fedirt_model::fit::{Fit, NamedNumbers};
use fedirt_privacy::audit::{Claim, Released, RowId, Rows, Subject, Transcript};
use fedirt_privacy::secure::{Cohort, Identity, Protection, RoundKey, SignedHello, Upload};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::sync::Arc;

const NOW: Timestamp = Timestamp(0);

/// Where a site's randomness comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// Its own generator, which goes on: as it should be.
    Own,
    /// All sites have the same: a planted fault.
    OneForAll,
    /// A repeated attempt gets that of the first again: a planted fault.
    AgainInRetry,
}

/// Real machines.
#[derive(Debug, Clone)]
pub struct Machines {
    sites: Sites,
    /// Attempts at the first question, as many as the plan's privacy has room for.
    pub attempts: u32,
    /// Randomness.
    pub feed: Feed,
    /// Whether the study is also run to its end, for what it says in the end.
    pub to_the_end: bool,
}

/// A site with its shell.
struct Driven {
    machine: SiteMachine,
    random: ChaCha20Rng,
    secrets: BTreeMap<Turn, [u8; 32]>,
    remarks: Vec<String>,
}

/// What an attempt showed.
struct Opened {
    turn: Turn,
    hellos: Vec<Vec<u8>>,
    broadcast: Vec<u8>,
    uploads: Vec<Vec<u8>>,
}

impl Driven {
    /// Takes a message; gives what the site sends.
    fn hear(&mut self, message: Option<&Arc<ToSite>>) -> Vec<Arc<ToCoordinator>> {
        if let Some(message) = message {
            self.machine.handle(NOW, &mut self.random, message);
        }
        let mut sent = Vec::new();
        while let Some(output) = self.machine.poll() {
            match output {
                SiteOutput::Send(message) => {
                    let bytes = codec::encode(&*message).map_or(0, |bytes| bytes.len());
                    self.remarks.push(format!("{}: {}, {bytes} bytes", self.machine.name(), message.kind()));
                    sent.push(message);
                }
                SiteOutput::RosterShown(shown) => {
                    self.machine.approve_roster(shown.fingerprint, &shown.names())
                }
                SiteOutput::Debit(release) => {
                    self.machine.debited(NOW, &mut self.random, release.turn, Ok(()));
                }
                SiteOutput::Persist(SiteEvent::Hello { turn, secret, .. }) => {
                    self.secrets.insert(turn, secret);
                }
                SiteOutput::Refused { refusal, .. } => self.remarks.push(refusal.to_string()),
                SiteOutput::Persist(_)
                | SiteOutput::RoundShown(_)
                | SiteOutput::Finished(_)
                | SiteOutput::Ended { .. } => {}
            }
        }
        sent
    }
}

impl Machines {
    /// The machines of these sites: two attempts at the first question, and no end.
    pub fn of(sites: &Sites) -> Self {
        Self { sites: sites.clone(), attempts: 2, feed: Feed::Own, to_the_end: false }
    }

    fn driven(&self, rows: Rows, seed: u64) -> Result<Vec<Driven>, String> {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let terms = self.sites.terms();
        let mut out: Vec<Driven> = Vec::new();
        for (k, id) in terms.sites.keys().enumerate() {
            let table = self.sites.table(k, rows).ok_or("there is no such table")?.1;
            let identity = Identity::generate(&mut random);
            let mut machine =
                SiteMachine::new(id.clone(), identity, terms.clone(), Policy::unlimited(), table)
                    .map_err(|e| e.to_string())?;
            machine.introduce();
            let own = ChaCha20Rng::from_rng(&mut random);
            let (secrets, remarks) = (BTreeMap::new(), Vec::new());
            out.push(Driven { machine, random: own, secrets, remarks });
        }
        Ok(out)
    }

    /// Runs to the first question's answers, and repeats it; or, if `end`, to the end of the study.
    fn drive(
        &self,
        sites: &mut [Driven],
        end: bool,
    ) -> Result<(Vec<Opened>, Coordinator, Option<Fit>), String> {
        let ids: Vec<SiteId> = self.sites.terms().sites.keys().cloned().collect();
        let mut coordinator = Coordinator::new(self.sites.terms().clone(), NOW);
        let mut inbox: BTreeMap<SiteId, Arc<ToSite>> = BTreeMap::new();
        let mut before: Vec<ChaCha20Rng> = Vec::new();
        loop {
            let opened = inbox.values().next().map(|message| message.notice.clone());
            let opens = matches!(&opened, Some(Notice::Open { .. }));
            if opens {
                before = sites.iter().map(|site| site.random.clone()).collect();
                self.feed(sites, &before, 1);
            }
            let mut answers: Vec<Vec<Arc<ToCoordinator>>> = Vec::new();
            for (site, id) in sites.iter_mut().zip(&ids) {
                answers.push(site.hear(inbox.remove(id).as_ref()));
            }
            if let (Some(Notice::Open { turn, hellos, broadcast }), true, false) = (opened, opens, end) {
                let first = Opened { turn, hellos, broadcast, uploads: uploads(&answers)? };
                return Ok((self.repeat(sites, first, &before)?, coordinator, None));
            }
            if answers.iter().all(Vec::is_empty) {
                return Err("coordinator and sites wait for each other".into());
            }
            for (id, messages) in ids.iter().zip(answers) {
                for message in messages {
                    let input = Input::Message { from: id.clone(), message: Arc::unwrap_or_clone(message) };
                    coordinator.handle(NOW, input).map_err(|e| e.to_string())?;
                }
            }
            while let Some(output) = coordinator.poll() {
                match output {
                    Output::Send { to, message } => {
                        inbox.insert(to, message);
                    }
                    Output::Finished(result) => {
                        let finished = (*result).map_err(|e| e.to_string())?;
                        return Ok((Vec::new(), coordinator, Some(finished.fit)));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Randomness for an attempt's answers, as a planted fault has it; keys are drawn already.
    fn feed(&self, sites: &mut [Driven], before: &[ChaCha20Rng], attempt: u32) {
        let Some(first) = sites.first().map(|site| site.random.clone()) else { return };
        for (site, before) in sites.iter_mut().zip(before) {
            match self.feed {
                Feed::OneForAll => site.random = first.clone(),
                Feed::AgainInRetry if attempt > 1 => site.random = before.clone(),
                Feed::AgainInRetry | Feed::Own => {}
            }
        }
    }

    /// Calls and opens the question of an attempt again, as a coordinator may that has lost an answer.
    fn repeat(
        &self,
        sites: &mut [Driven],
        first: Opened,
        before: &[ChaCha20Rng],
    ) -> Result<Vec<Opened>, String> {
        let mut all = vec![first];
        for attempt in 2..=self.attempts {
            let turn = Turn { round: all[0].turn.round, attempt };
            if self.feed == Feed::OneForAll {
                // Their own keys: sites refuse a cohort in which two are the same.
                sites.iter_mut().zip(before).for_each(|(site, own)| site.random = own.clone());
            }
            let step = 1000 + 2 * u64::from(attempt);
            let call = Arc::new(ToSite { step, notice: Notice::Call { turn, roster: None } });
            let mut hellos = Vec::new();
            for site in sites.iter_mut() {
                match site.hear(Some(&call)).first().map(|message| (**message).clone()) {
                    Some(ToCoordinator::Hello(bytes)) => hellos.push(bytes),
                    _ => return Err(format!("{} says no hello to {turn}", site.machine.name())),
                }
            }
            let broadcast = all[0].broadcast.clone();
            let notice = Notice::Open { turn, hellos: hellos.clone(), broadcast: broadcast.clone() };
            let open = Arc::new(ToSite { step: step + 1, notice });
            self.feed(sites, before, attempt);
            let answers: Vec<_> = sites.iter_mut().map(|site| site.hear(Some(&open))).collect();
            all.push(Opened { turn, hellos, broadcast, uploads: uploads(&answers)? });
        }
        Ok(all)
    }

    /// A site's words without their mask.
    fn unmasked(
        &self,
        coordinator: &Coordinator,
        site: &Driven,
        opened: &Opened,
        bytes: &[u8],
    ) -> Result<Vec<u64>, String> {
        let text = |e: &dyn std::fmt::Display| e.to_string();
        let hellos = opened
            .hellos
            .iter()
            .map(|bytes| SignedHello::decode(bytes).map_err(|e| text(&e)))
            .collect::<Result<Vec<_>, _>>()?;
        let roster = coordinator.roster().ok_or("there is no roster")?;
        let round = self.sites.terms().round(opened.turn);
        let cohort = Cohort::open(&round, roster, &hellos, &Protection::Noise).map_err(|e| text(&e))?;
        let secret = site.secrets.get(&opened.turn).ok_or("there was no hello")?;
        let upload = Upload::decode(bytes).map_err(|e| text(&e))?;
        let mask = RoundKey::from_secret(secret)
            .mask(site.machine.name(), &cohort.bind(&opened.broadcast), vec![0; upload.words().len()])
            .map_err(|e| text(&e))?;
        Ok(upload.words().iter().zip(mask.words()).map(|(w, m)| w.wrapping_sub(*m)).collect())
    }

    fn transcript(&self, rows: Rows, seed: u64) -> Result<Transcript, String> {
        let mut sites = self.driven(rows, seed)?;
        let (opened, coordinator, _) = self.drive(&mut sites, false)?;
        let mut out = Transcript { released: Vec::new(), remarks: Vec::new() };
        for (site, driven) in sites.iter().enumerate() {
            for opened in &opened {
                let words = self.unmasked(&coordinator, driven, opened, &opened.uploads[site])?;
                let (round, attempt) = (u64::from(opened.turn.round), u64::from(opened.turn.attempt));
                out.released.push(Released { site, round, attempt, words });
            }
            out.remarks.extend(driven.remarks.iter().cloned());
        }
        if self.to_the_end {
            let mut sites = self.driven(rows, seed)?;
            let fit = self.drive(&mut sites, true)?.2.ok_or("there is no result")?;
            out.remarks.extend(sites.into_iter().flat_map(|site| site.remarks));
            out.remarks.push(without_estimates(fit));
        }
        Ok(out)
    }
}

/// The masked words that sites sent.
fn uploads(answers: &[Vec<Arc<ToCoordinator>>]) -> Result<Vec<Vec<u8>>, String> {
    let of = |messages: &Vec<Arc<ToCoordinator>>| match messages.first().map(|message| &**message) {
        Some(ToCoordinator::Upload { sums: Sums::Masked(bytes), .. }) => Ok(bytes.clone()),
        Some(ToCoordinator::Refuse { reason, .. }) => Err(reason.clone()),
        _ => Err("a site did not answer".to_owned()),
    };
    answers.iter().map(of).collect()
}

/// A result without what noisy sums decide: nothing that is left may depend on a row.
fn without_estimates(mut fit: Fit) -> String {
    for item in &mut fit.items {
        (item.parameters, item.se) = Default::default();
        (item.a, item.se_a) = (None, None);
        (item.parameters, item.se) = Default::default();
        [&mut item.d, &mut item.b, &mut item.se_d, &mut item.se_b].into_iter().for_each(Vec::clear);
        [&mut item.parameters, &mut item.se].into_iter().for_each(NamedNumbers::forget);
    }
    for site in &mut fit.sites {
        (site.effect, site.se) = (None, None);
    }
    // All are functions of the noisy sums.
    fit.warnings.clear();
    fit.converged = None;
    if let Some(privacy) = &mut fit.privacy {
        privacy.error_sources.clear();
    }
    format!("{fit:?}")
}

impl Subject for Machines {
    fn claim(&self) -> Claim {
        self.sites.claim()
    }

    /// A few of each site: whole runs take their time.
    fn rows(&self) -> Vec<RowId> {
        self.sites.rows().into_iter().filter(|row| row.row % 9 == 0).collect()
    }

    fn run(&self, rows: Rows, seed: u64) -> Transcript {
        self.transcript(rows, seed)
            .unwrap_or_else(|what| Transcript { released: Vec::new(), remarks: vec![what] })
    }
}

#[cfg(test)]
#[path = "machines_tests.rs"]
mod tests;
