//! A folder with studies, a server in this process, and sites that speak to it over TLS.
#![allow(clippy::allow_attributes, reason = "what is unused differs between the test programs")]
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of this")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use fedirt_coordinator::{Folder, Running, Server, invite};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Enrolment, Identity};
use fedirt_protocol::envelope::{self, EnrolRequest, Poll};
use fedirt_protocol::invitation::Invitation;
use fedirt_protocol::message::{ToCoordinator, ToSite};
use fedirt_protocol::plan::{PlanItem, StudyPlan, template};
use fedirt_protocol::policy::Policy;
use fedirt_protocol::site::{SiteMachine, SiteOutput};
use fedirt_protocol::{SiteId, StudyId, Terms, Timestamp, codec};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::net::SocketAddr;
use std::sync::Arc;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

pub const ITEMS: usize = 5;

/// A folder with some studies of three sites.
pub fn folder(studies: &[&str], mode: Mode) -> (tempfile::TempDir, Folder) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let dir = tempfile::tempdir().unwrap();
    let (folder, _) = Folder::init(dir.path(), None, &[]).unwrap();
    for study in studies {
        let text = plan_text(study, mode);
        std::fs::write(folder.plans().join(format!("{study}.toml")), text).unwrap();
    }
    (dir, folder)
}

/// The plan of a study. One that is called `short` may take so few rounds that it does not converge.
pub fn plan_text(study: &str, mode: Mode) -> String {
    let items: Vec<PlanItem> = (0..ITEMS)
        .map(|j| PlanItem {
            name: format!("i{j}"),
            categories: vec![0, 1],
            merged: Vec::new(),
            model: None,
            fixed: None,
        })
        .collect();
    let sites = ["north", "south", "west"].map(String::from);
    let text = template(study, mode, &sites, &items, 300);
    if study == "short" {
        text.replace("max_rounds = 40", "max_rounds = 4").replace("tolerance = 1e-6", "tolerance = 1e-8")
    } else {
        text
    }
}

pub fn terms(study: &str, mode: Mode) -> Terms {
    let text = plan_text(study, mode);
    StudyPlan::parse(&text).unwrap().terms(&text).unwrap()
}

/// Answers of a site.
pub fn table(seed: u64) -> ResponseTable {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut uniform = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    let mut cells = Vec::new();
    for _ in 0..100 {
        let theta = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        for j in 0..ITEMS {
            let p = 1.0 / (1.0 + (-1.2 * theta - (j as f64 - 2.0) * 0.5).exp());
            cells.push(u8::from(uniform() < p));
        }
    }
    ResponseTable::new(100, ITEMS, cells).unwrap()
}

pub fn start(folder: &Folder) -> Running {
    start_at(folder, SocketAddr::from(([127, 0, 0, 1], 0)))
}

pub fn start_at(folder: &Folder, listen: SocketAddr) -> Running {
    Server { listen: Some(listen), pages: None }.start(folder.path()).unwrap()
}

pub fn invited(folder: &Folder, address: SocketAddr, study: &str, site: &str) -> Invitation {
    let address = format!("https://localhost:{}", address.port());
    let invited = invite::invite(folder, study, site, 1, Some(&address)).unwrap();
    Invitation::from_text(&invited.invitation.to_text().unwrap()).unwrap()
}

/// An agent that trusts the invitation's authority alone.
pub fn agent(invitation: &Invitation) -> ureq::Agent {
    let authority = Certificate::from_der(invitation.authority.as_deref().unwrap()).to_owned();
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::Specific(Arc::new(vec![authority])))
        .build();
    ureq::Agent::config_builder().tls_config(tls).http_status_as_error(false).build().into()
}

/// A site: its machine and its way to the coordinator.
pub struct Client {
    pub machine: SiteMachine,
    pub identity: Identity,
    pub site: SiteId,
    pub study: StudyId,
    pub invitation: Invitation,
    pub agent: ureq::Agent,
    pub random: ChaCha20Rng,
    pub seen: u64,
    pub fit: Option<Box<fedirt_model::fit::Fit>>,
    pub refused: Vec<String>,
}

impl Client {
    pub fn new(invitation: Invitation, mode: Mode, seed: u64) -> Self {
        let terms = terms(&invitation.study, mode);
        assert_eq!(terms.plan_hash, invitation.plan_hash);
        let mut random = ChaCha20Rng::seed_from_u64(seed + 1000);
        let identity = Identity::generate(&mut random);
        let site = SiteId::try_from(invitation.site.as_str()).unwrap();
        let copy = Identity::from_secret(&identity.secret());
        let study = terms.study.clone();
        // The studies here are small.
        let policy = Policy { modes: vec![mode], allow_pooled_rows_inferred: true, ..Policy::default() };
        assert_eq!(policy.check_plan(&terms, 100, true), []);
        let machine = SiteMachine::new(site.clone(), copy, terms, policy, table(seed)).unwrap();
        let agent = agent(&invitation);
        Self {
            machine,
            identity,
            site,
            study,
            invitation,
            agent,
            random,
            seen: 0,
            fit: None,
            refused: Vec::new(),
        }
    }

    pub fn post(&self, path: &str, bytes: &[u8]) -> (u16, Vec<u8>) {
        post(&self.agent, &format!("{}{path}", self.invitation.address), bytes)
    }

    pub fn enrol_request(&self) -> Vec<u8> {
        let enrolment = Enrolment::sign(self.study.clone(), self.site.clone(), &self.identity).encode();
        codec::encode(&EnrolRequest { secret: self.invitation.secret, enrolment }).unwrap()
    }

    pub fn enrol(&self) -> (u16, Vec<u8>) {
        self.post("/v1/enrol", &self.enrol_request())
    }

    pub fn send(&self, message: &ToCoordinator) -> (u16, Vec<u8>) {
        let bytes =
            envelope::seal(&self.study, &self.site, &self.identity, envelope::MESSAGE, message).unwrap();
        self.post(&format!("/v1/studies/{}/messages", self.study), &bytes)
    }

    pub fn poll(&self, wait_seconds: u32) -> Option<Arc<ToSite>> {
        let poll = Poll { seen: self.seen, wait_seconds };
        let bytes = envelope::seal(&self.study, &self.site, &self.identity, envelope::POLL, &poll).unwrap();
        let (status, body) = self.post(&format!("/v1/studies/{}/poll", self.study), &bytes);
        match status {
            200 => Some(Arc::new(codec::decode(&body).unwrap())),
            204 => None,
            _ => panic!("{status}: {}", String::from_utf8_lossy(&body)),
        }
    }

    pub fn join(&mut self) {
        assert_eq!(self.enrol().0, 204);
        self.machine.join();
        self.work();
    }

    /// Sends everything that the machine has to say.
    pub fn work(&mut self) {
        while let Some(output) = self.machine.poll() {
            match output {
                SiteOutput::Send(message) => {
                    let (status, body) = self.send(&message);
                    assert_eq!(status, 204, "{}: {}", message.kind(), String::from_utf8_lossy(&body));
                }
                SiteOutput::RosterShown(shown) => {
                    self.machine.approve_roster(shown.fingerprint, &shown.names())
                }
                SiteOutput::RoundShown(shown) => {
                    self.machine.approve_round(shown.turn, shown.question);
                }
                SiteOutput::Refused { refusal, .. } => self.refused.push(refusal.to_string()),
                SiteOutput::Finished(fit) => self.fit = Some(fit),
                SiteOutput::Ended { reason } => self.refused.push(reason),
                SiteOutput::Debit(release) => {
                    self.machine.debited(Timestamp(0), &mut self.random, release.turn, Ok(()));
                }
                SiteOutput::Persist(_) => {}
            }
        }
    }

    /// One exchange; whether there was news.
    pub fn step(&mut self) -> bool {
        let Some(message) = self.poll(0) else { return false };
        self.seen = message.step;
        self.machine.handle(Timestamp(0), &mut self.random, &message);
        self.work();
        true
    }
}

pub fn post(agent: &ureq::Agent, url: &str, bytes: &[u8]) -> (u16, Vec<u8>) {
    let mut response = agent.post(url).send(bytes).unwrap();
    (response.status().as_u16(), response.body_mut().with_config().limit(1 << 26).read_to_vec().unwrap())
}

pub fn get(agent: &ureq::Agent, url: &str) -> (u16, String) {
    answer(agent.get(url))
}

/// With a bearer token.
pub fn get_with(agent: &ureq::Agent, url: &str, token: &str) -> (u16, String) {
    answer(agent.get(url).header("authorization", format!("Bearer {token}")))
}

fn answer(request: ureq::RequestBuilder<ureq::typestate::WithoutBody>) -> (u16, String) {
    let mut response = request.call().unwrap();
    (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
}

/// Lets sites work until all are done, or `stop` says so.
pub fn drive(clients: &mut [Client], mut stop: impl FnMut(usize) -> bool) {
    for turn in 0..10_000 {
        let news = clients.iter_mut().map(Client::step).filter(|news| *news).count();
        let refused: Vec<&String> = clients.iter().flat_map(|c| &c.refused).collect();
        assert!(refused.is_empty(), "{refused:?}");
        if clients.iter().all(|c| c.fit.is_some()) || stop(turn) {
            return;
        }
        if news == 0 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
    panic!("the study does not end");
}

/// The code of a problem.
pub fn code(answer: &(u16, Vec<u8>)) -> String {
    let problem: serde_json::Value = serde_json::from_slice(&answer.1).unwrap();
    assert_eq!(problem["status"], answer.0);
    problem["code"].as_str().unwrap().to_owned()
}
