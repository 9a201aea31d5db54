//! Agents with homes of their own, against a coordinator in memory.

mod crash;
mod files;
mod journal;
mod known;
mod private;
mod refusals;
mod stopping_store;
mod whole;

use super::*;
use fedirt_data::ReadOptions;
use fedirt_model::fit::Fit;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Enrolment, Fingerprint, SiteId};
use fedirt_protocol::coordinator::{Input, Output, Rejection};
use fedirt_protocol::envelope::{self, EnrolRequest, Poll};
use fedirt_protocol::invitation::Invitation;
use fedirt_protocol::message::{ToCoordinator, ToSite, Turn};
use fedirt_protocol::plan::{PlanItem, StudyPlan, template};
use fedirt_protocol::site::RosterShown;
use fedirt_protocol::{Coordinator, Timestamp, codec};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use stopping_store::StoppingStore;
use store::Readers;
use tempfile::TempDir;

pub(super) const SITES: [&str; 3] = ["north", "south", "west"];
const SECRET: [u8; 32] = [7; 32];

/// A coordinator in memory.
pub(super) struct Server {
    coordinator: Coordinator,
    plan: String,
    inbox: BTreeMap<SiteId, Arc<ToSite>>,
    pub(super) outcome: Option<Fit>,
    pub(super) uploads: BTreeMap<(String, Turn), Vec<u8>>,
    /// Everything that arrived, by kind.
    pub(super) arrived: Vec<(String, &'static str)>,
}

impl Server {
    fn take(&mut self, from: &SiteId, message: ToCoordinator) -> Result<(), TransportError> {
        self.arrived.push((from.to_string(), message.kind()));
        if let ToCoordinator::Upload { turn, .. } = &message {
            let bytes = codec::encode(&message).unwrap();
            let before = self.uploads.insert((from.to_string(), *turn), bytes.clone());
            assert!(before.is_none_or(|b| b == bytes), "{from} answered {turn} twice, differently");
        }
        let input = Input::Message { from: from.clone(), message };
        self.coordinator.handle(Timestamp(0), input).map_err(|rejection| TransportError::Refused {
            status: 409,
            code: match rejection {
                Rejection::Restored { .. } => "restored",
                Rejection::TwoAnswers { .. } => "two_answers",
                Rejection::NotEnrolled { .. } => "not_enrolled",
                _ => "rejected",
            }
            .into(),
            title: rejection.to_string(),
            detail: String::new(),
        })?;
        while let Some(output) = self.coordinator.poll() {
            match output {
                Output::Send { to, message } => {
                    self.inbox.insert(to, message);
                }
                Output::Finished(result) => self.outcome = (*result).ok().map(|finished| finished.fit),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A site's line to the coordinator.
#[derive(Clone)]
pub(super) struct Wire {
    pub(super) server: Rc<RefCell<Server>>,
    /// Every other answer is lost on its way back.
    pub(super) lossy: Option<bool>,
}

impl Wire {
    fn lose(&mut self) -> Result<Delivery, TransportError> {
        match &mut self.lossy {
            Some(now) => {
                *now = !*now;
                if *now {
                    Err(TransportError::Unreachable("the cable was cut".into()))
                } else {
                    Ok(Delivery::Acknowledged)
                }
            }
            None => Ok(Delivery::Acknowledged),
        }
    }
}

impl Transport for Wire {
    fn plan(&mut self, invitation: &Invitation) -> Result<String, TransportError> {
        assert_eq!(invitation.secret, SECRET);
        Ok(self.server.borrow().plan.clone())
    }

    fn enrol(&mut self, request: &[u8]) -> Result<Delivery, TransportError> {
        let request: EnrolRequest = codec::decode(request).unwrap();
        assert_eq!(request.secret, SECRET);
        let site = Enrolment::decode(&request.enrolment).unwrap().site;
        let taken = self.server.borrow_mut().take(&site, ToCoordinator::Enrol(request.enrolment));
        let answer = self.lose()?;
        taken.map(|()| answer)
    }

    fn send(&mut self, _study: &str, sealed: &[u8]) -> Result<Delivery, TransportError> {
        let taken = {
            let mut server = self.server.borrow_mut();
            let site = envelope::sender(sealed).unwrap();
            let key = *server.coordinator.key(&site).expect("an enrolled key");
            let study = server.coordinator.terms().study.clone();
            let message = envelope::unseal(sealed, &study, &site, &key, envelope::MESSAGE).unwrap();
            server.take(&site, message)
        };
        let answer = self.lose()?;
        taken.map(|()| answer)
    }

    fn poll(
        &mut self,
        _study: &str,
        sealed: &[u8],
        _wait: Duration,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        self.lose()?;
        let server = self.server.borrow();
        let site = envelope::sender(sealed).unwrap();
        let key = *server.coordinator.key(&site).expect("an enrolled key");
        let study = server.coordinator.terms().study.clone();
        let poll: Poll = envelope::unseal(sealed, &study, &site, &key, envelope::POLL).unwrap();
        let news = server.inbox.get(&site).filter(|message| message.step > poll.seen);
        Ok(news.map(|message| codec::encode(&**message).unwrap()))
    }

    fn pause(&mut self, _duration: Duration) {}
}

/// An officer who approves everything, and remembers what was said.
#[derive(Default)]
pub(super) struct Agreeable {
    pub(super) rosters: Vec<Fingerprint>,
    pub(super) rounds: Vec<Turn>,
    pub(super) refusals: Vec<String>,
    /// What it was told that the agent waits for.
    pub(super) waiting: Vec<String>,
    pub(super) refuses: bool,
}

impl Officer for Agreeable {
    fn roster(&mut self, shown: &RosterShown, _known: &BTreeSet<SiteId>) -> RosterAnswer {
        assert_eq!(shown.sites.len(), SITES.len());
        self.rosters.push(shown.fingerprint);
        if self.refuses { RosterAnswer::NotNow } else { RosterAnswer::Verified(shown.names()) }
    }
    fn round(&mut self, round: &fedirt_protocol::site::RoundShown) -> Answer {
        self.rounds.push(round.turn);
        if self.refuses { Answer::NotNow } else { Answer::Yes }
    }
    fn news(&mut self, news: News<'_>) {
        match news {
            News::Refused { reason, .. } => self.refusals.push(reason.to_owned()),
            News::Waiting(text) => self.waiting.push(text.to_owned()),
            _ => {}
        }
    }
}

/// The policy of `site init` but for two consents: the studies here are small, and some are plain.
pub(crate) fn lenient() -> String {
    let plain = POLICY_TEMPLATE.replace("modes = [\"secure\"", "modes = [\"plain\", \"secure\"");
    let small = plain.replace("allow_pooled_rows_inferred = false", "allow_pooled_rows_inferred = true");
    assert_ne!(plain, small);
    small
}

/// The clock of every home.
fn noon() -> Timestamp {
    Timestamp(1_794_830_400_000)
}

/// Three sites with a home and a file each.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    /// The stores of their homes.
    stores: BTreeMap<&'static str, Arc<StoppingStore>>,
    pub(super) server: Rc<RefCell<Server>>,
    pub(super) text: String,
}

pub(super) fn items(count: usize) -> Vec<PlanItem> {
    let item = |j| PlanItem {
        name: format!("I{j}"),
        categories: vec![0, 1],
        merged: Vec::new(),
        model: None,
        fixed: None,
    };
    (1..=count).map(item).collect()
}

pub(super) fn plan_text(study: &str, mode: Mode) -> String {
    template(study, mode, &SITES.map(String::from), &items(5), 180)
}

/// Answers that depend on an ability, made from a seed.
pub(crate) fn csv(seed: u64, students: usize) -> String {
    let mut state = seed;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut text = String::from("id,I1,I2,I3,I4,I5\n");
    for i in 0..students {
        let theta = (0..6).map(|_| uniform()).sum::<f64>() - 3.0;
        let row: Vec<String> = (0..5)
            .map(|j| {
                let p = 1.0 / (1.0 + (-(2.0 * theta) + 0.5 * (f64::from(j) - 2.0)).exp());
                u8::from(uniform() < p).to_string()
            })
            .collect();
        text.push_str(&format!("s{seed}-{i},{}\n", row.join(",")));
    }
    text
}

impl World {
    /// Homes in memory and files, nobody enrolled.
    pub(crate) fn new(mode: Mode) -> Self {
        Self::kept(mode, |_, _| Arc::new(MemoryStore::default()))
    }

    /// The same with homes on the disk.
    pub(crate) fn on_disk(mode: Mode) -> Self {
        Self::kept(mode, |folder, site| Arc::new(DiskStore::at(&folder.path().join(site))))
    }

    fn kept(mode: Mode, store: impl Fn(&TempDir, &str) -> Arc<dyn Store>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut stores = BTreeMap::new();
        let text = plan_text("bank", mode);
        let server = Self::serve(&text);
        for (k, site) in SITES.into_iter().enumerate() {
            let store = Arc::new(StoppingStore::around(store(&folder, site)));
            stores.insert(site, store.clone());
            let (_, made) = Home::init_in(store, noon, &mut UnwrapErr(SysRng)).unwrap();
            assert_eq!(made, ["policy.toml", "salt.key", "site.key"]);
            stores[site].replace("policy.toml", lenient().as_bytes(), Readers::Usual).unwrap();
            std::fs::write(folder.path().join(format!("{site}.csv")), csv(k as u64 + 1, 60)).unwrap();
        }
        Self { folder, stores, server, text }
    }

    pub(super) fn serve(text: &str) -> Rc<RefCell<Server>> {
        let terms = StudyPlan::parse(text).unwrap().terms(text).unwrap();
        Rc::new(RefCell::new(Server {
            coordinator: Coordinator::new(terms, Timestamp(0)),
            plan: text.to_owned(),
            inbox: BTreeMap::new(),
            outcome: None,
            uploads: BTreeMap::new(),
            arrived: Vec::new(),
        }))
    }

    pub(crate) fn home(&self, site: &str) -> Home {
        Home::open_in(self.stores[site].clone(), noon).unwrap()
    }

    /// The text of a file in a site's home.
    pub(super) fn read(&self, site: &str, file: &str) -> String {
        String::from_utf8(self.stores[site].read(file).unwrap().unwrap()).unwrap()
    }

    /// Writes a file in a site's home.
    pub(super) fn write(&self, site: &str, file: &str, text: &str) {
        self.stores[site].replace(file, text.as_bytes(), Readers::Owner).unwrap();
    }

    /// The names of a site's secrets in the study.
    pub(super) fn secrets(&self, site: &str) -> Vec<String> {
        self.stores[site].list("studies/bank/secret").unwrap()
    }

    pub(super) fn file(&self, site: &str) -> PathBuf {
        self.folder.path().join(format!("{site}.csv"))
    }

    pub(super) fn wire(&self) -> Wire {
        Wire { server: self.server.clone(), lossy: None }
    }

    pub(super) fn invitation(&self, site: &str) -> Invitation {
        Invitation {
            address: "https://coordinator.example".parse().unwrap(),
            study: StudyPlan::parse(&self.text).unwrap().study,
            site: site.into(),
            plan_hash: StudyPlan::hash(&self.text),
            secret: SECRET,
            expires: Timestamp(1000),
            authority: None,
        }
    }

    pub(super) fn offer(&self, site: &str) -> Result<Offer, AgentError> {
        let policy = self.home(site).policy().unwrap();
        look(self.invitation(site), &policy, &mut self.wire(), Timestamp(1))
    }

    pub(crate) fn enrol(&self) {
        for site in SITES {
            let offer = self.offer(site).unwrap();
            accept(&self.home(site), &offer, &mut self.wire(), &mut UnwrapErr(SysRng)).unwrap();
        }
    }

    pub(super) fn study(&self, site: &str) -> Study {
        let name = StudyPlan::parse(&self.text).unwrap().study;
        self.home(site).known_study(&name).unwrap().load().unwrap()
    }

    pub(super) fn own(&self, site: &str) -> OwnResponses {
        let plan = StudyPlan::parse(&self.text).unwrap();
        read_for_plan(&[self.file(site)], &ReadOptions::default(), &plan).unwrap()
    }

    pub(super) fn agent(&self, site: &str) -> Result<Agent<Wire>, AgentError> {
        let (home, study) = (self.home(site), self.study(site));
        let policy = home.policy()?;
        Agent::new(&home, study, policy, self.own(site), Some(site), self.wire()).map(|(agent, _)| agent)
    }

    /// Accounts at every site that hold what the plan spends, and not a bit more.
    pub(super) fn open_accounts(&self) {
        let privacy = StudyPlan::parse(&self.text).unwrap().privacy.unwrap();
        for site in SITES {
            open_account(&self.home(site), site, privacy.epsilon, privacy.delta).unwrap();
        }
    }

    /// Rounds that every site has answered.
    pub(super) fn rounds(&self) -> usize {
        self.server.borrow().uploads.len() / SITES.len()
    }

    /// Runs all sites to the end.
    pub(super) fn run(&self, agents: &mut [Agent<Wire>]) -> Vec<End> {
        let mut officers: Vec<Agreeable> = agents.iter().map(|_| Agreeable::default()).collect();
        let mut ends: Vec<Option<End>> = agents.iter().map(|_| None).collect();
        for _ in 0..1000 {
            for ((agent, officer), end) in agents.iter_mut().zip(&mut officers).zip(&mut ends) {
                if end.is_none() {
                    *end = agent.step(officer).unwrap();
                }
            }
            if ends.iter().all(Option::is_some) {
                return ends.into_iter().flatten().collect();
            }
        }
        panic!("the study does not end: {:?}", self.server.borrow().coordinator);
    }
}
