//! `fedirt study load`: the cost of a round without the statistics (TLS, signatures, masks, journals and ledgers on disk), with
//! a real coordinator and real agents on one machine.

use super::super::error::StudyFailure;
use super::{Program, Running, free_port, text, wait_for};
use crate::args::LoadArgs;
use crate::error::CliError;
use crate::output::stdout;
use fedirt_agent::{
    self as agent, Agent, Answer, Delivery, End, Home, Https, News, Officer, RosterAnswer, Transport,
    TransportError,
};
use fedirt_coordinator::edit::TomlEdit;
use fedirt_coordinator::{Folder, invite};
use fedirt_data::ReadOptions;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::SiteId;
use fedirt_protocol::in_process::{self, Unobserved};
use fedirt_protocol::invitation::{Address, Invitation};
use fedirt_protocol::plan::{PlanItem, StudyPlan, template};
use fedirt_protocol::policy::Policy;
use fedirt_protocol::site::{RosterShown, RoundShown};
use fedirt_protocol::terms::Masking;
use rand::SeedableRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ITEMS: usize = 20;
const STUDENTS: usize = 12;

pub(in crate::study) fn run(args: &LoadArgs) -> Result<ExitCode, CliError> {
    stdout::print(&format!(
        "Secure studies of {ITEMS} items on one machine: {STUDENTS} students a site, so that statistics cost next to nothing.\nCPU, wall time and bytes of messages per round; the largest memory of the coordinator:\n\n{:>8} {:>6} {:>7} {:>16} {:>14} {:>14} {:>16} {:>15} {:>14} {:>10}\n",
        "studies",
        "sites",
        "rounds",
        "coordinator CPU",
        "a site's CPU",
        "wall",
        "statistics apart",
        "to a site",
        "from a site",
        "memory"
    ))?;
    for &(studies, sites) in &args.settings {
        let measured = measure(studies, sites, args.masking)?;
        stdout::print(&format!(
            "{studies:>8} {sites:>6} {:>7} {:>13.1} ms {:>11.2} ms {:>11.1} ms {:>13.1} ms {:>12.1} kB {:>11.1} kB {:>7.0} MB\n",
            measured.rounds,
            1e3 * measured.coordinator,
            1e3 * measured.site,
            1e3 * measured.wall,
            1e3 * measured.statistics,
            measured.bytes[0] / 1e3,
            measured.bytes[1] / 1e3,
            measured.memory
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Seconds per round. Those of the coordinator are for all studies together, without the statistics.
struct Measured {
    rounds: usize,
    coordinator: f64,
    statistics: f64,
    site: f64,
    wall: f64,
    /// Bytes of messages to a site and from it.
    bytes: [f64; 2],
    /// Megabytes that the coordinator had at most.
    memory: f64,
}

/// Connections of the sites, all from one address.
const CONNECTIONS: i64 = 4096;

fn measure(studies: usize, sites: usize, masking: Masking) -> Result<Measured, CliError> {
    let folder = tempfile::tempdir().map_err(CliError::Output)?;
    let program = Program::new(folder.path())?;
    let told = |error: fedirt_coordinator::Error| CliError::because(error);
    let port = free_port()?;
    let path = folder.path().join("coordinator");
    let listen = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let (made, _) = Folder::init(&path, Some(listen), &[]).map_err(told)?;
    // All sites are on this machine.
    let settings = std::fs::read_to_string(made.settings()).map_err(CliError::file(made.settings()))?;
    let mut settings = TomlEdit::new(&settings)?;
    settings.set("limits.connections_per_address", CONNECTIONS)?;
    settings.set("limits.connections", CONNECTIONS)?;
    std::fs::write(made.settings(), settings.text()).map_err(CliError::file(made.settings()))?;
    let names: Vec<String> = (0..sites).map(|k| format!("site{k:04}")).collect();
    let items: Vec<PlanItem> = (0..ITEMS)
        .map(|j| PlanItem {
            name: format!("i{j:02}"),
            categories: vec![0, 1],
            merged: Vec::new(),
            model: None,
            fixed: None,
        })
        .collect();
    for s in 0..studies {
        let plan = template(&format!("load{s}"), Mode::Secure, &names, &items, (sites * STUDENTS) as u64);
        let file = made.plans().join(format!("load{s}.toml"));
        let mut plan = TomlEdit::new(&plan)?;
        if masking == Masking::Sparse {
            plan.set("cohort.masking", "sparse")?;
            plan.set("risks.masks_need_two_thirds_honest", true)?;
        }
        std::fs::write(&file, plan.text()).map_err(CliError::file(&file))?;
    }
    let coordinator = Running(program.spawn(&["coordinator", "start", text(&path)?])?);
    wait_for(port)?;
    let address = format!("https://localhost:{port}");
    let mut invited = Vec::new();
    for s in 0..studies {
        for (k, name) in names.iter().enumerate() {
            let file = folder.path().join(format!("{name}.csv"));
            write_answers(&file, k as u64)?;
            let site = invite::invite(&made, &format!("load{s}"), name, 1, Some(&address)).map_err(told)?;
            let home = folder.path().join(format!("home-{s}-{name}"));
            invited.push(InvitedSite { home, file, invitation: site.invitation });
        }
    }
    let enrolled: Vec<EnrolledSite> =
        invited.into_iter().map(InvitedSite::enrol).collect::<Result<_, _>>()?;
    let pid = coordinator.0.id();
    // Measuring begins with the first hello, because joining and the roster happen once and not in every round.
    let start = Baseline { pid, at: OnceLock::new(), bytes: [AtomicU64::new(0), AtomicU64::new(0)] };
    let rounds: Result<Vec<usize>, CliError> = std::thread::scope(|scope| {
        let start = &start;
        let threads: Vec<_> =
            enrolled.into_iter().map(|site| scope.spawn(move || site.join(start))).collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap_or_else(|_| Err(StudyFailure::SiteThread.into())))
            .collect()
    });
    let rounds = rounds?.into_iter().max().unwrap_or(1).max(1);
    let Some(&(before, own, since)) = start.at.get() else {
        return Err(StudyFailure::NoRound.into());
    };
    let wall = since.elapsed().as_secs_f64();
    let (after, own_after) = (cpu(pid)?, cpu(std::process::id())?);
    let per = 1.0 / rounds as f64;
    let each = per / (studies * sites) as f64;
    let bytes = start.bytes.map(|bytes| bytes.into_inner() as f64 * each);
    let memory = most_memory(pid)?;
    let statistics = studies as f64 * statistics(folder.path(), &names, &items)?;
    Ok(Measured {
        rounds,
        coordinator: ((after - before) * per - statistics).max(0.0),
        statistics,
        site: (own_after - own) * each,
        wall: wall * per,
        bytes,
        memory,
    })
}

/// CPU seconds per round of the statistics alone, measured on the same calibration in one process in `plain`. Nearly all of
/// them are spent at the centre, because sites have few students.
fn statistics(folder: &Path, names: &[String], items: &[PlanItem]) -> Result<f64, CliError> {
    let plan = template("alone", Mode::Plain, names, items, (names.len() * STUDENTS) as u64);
    let told = |error: fedirt_protocol::plan::PlanError| CliError::because(error);
    let terms = StudyPlan::parse(&plan).and_then(|study| study.terms(&plan)).map_err(told)?;
    let files: Vec<PathBuf> = names.iter().map(|name| folder.join(format!("{name}.csv"))).collect();
    let reading = fedirt_data::read(crate::input::files(&files), &ReadOptions::default())?;
    let sites = reading.sites.into_iter().map(|site| (site.name, site.table)).collect();
    let before = cpu(std::process::id())?;
    let (finished, _) = in_process::run(terms.plan, sites, &mut Unobserved)?;
    Ok((cpu(std::process::id())? - before) / finished.fit.exchanges.max(1) as f64)
}

/// CPU seconds that a process has used (Linux).
pub(in crate::study) fn cpu(pid: u32) -> Result<f64, CliError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let stat = std::fs::read_to_string(&path).map_err(CliError::file(&path))?;
    // After the name in parentheses: state is field 3, user and system time are fields 14 and 15, in hundredths.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    Ok((ticks(11) + ticks(12)) / 100.0)
}

/// Megabytes of memory that a process has had at most (Linux).
fn most_memory(pid: u32) -> Result<f64, CliError> {
    let path = PathBuf::from(format!("/proc/{pid}/status"));
    let status = std::fs::read_to_string(&path).map_err(CliError::file(&path))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.unwrap_or(f64::NAN) / 1024.0)
}

/// HTTPS whose messages are counted, without what HTTP and TLS put around them.
struct Counted<'a> {
    https: Https,
    bytes: &'a [AtomicU64; 2],
}

impl Transport for Counted<'_> {
    fn plan(&mut self, invitation: &Invitation) -> Result<String, TransportError> {
        self.https.plan(invitation)
    }

    fn enrol(&mut self, request: &[u8]) -> Result<Delivery, TransportError> {
        self.https.enrol(request)
    }

    fn send(&mut self, study: &str, envelope: &[u8]) -> Result<Delivery, TransportError> {
        self.bytes[1].fetch_add(envelope.len() as u64, Ordering::Relaxed);
        self.https.send(study, envelope)
    }

    fn poll(
        &mut self,
        study: &str,
        envelope: &[u8],
        wait: Duration,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        self.bytes[1].fetch_add(envelope.len() as u64, Ordering::Relaxed);
        let news = self.https.poll(study, envelope, wait)?;
        self.bytes[0].fetch_add(news.as_ref().map_or(0, Vec::len) as u64, Ordering::Relaxed);
        Ok(news)
    }

    fn pause(&mut self, duration: Duration) {
        self.https.pause(duration);
    }
}

fn write_answers(file: &Path, seed: u64) -> Result<(), CliError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut text: String = (0..ITEMS).map(|j| format!("i{j:02}")).collect::<Vec<_>>().join(",");
    text.push('\n');
    for _ in 0..STUDENTS {
        let ability = f64::from(random.next_u32()) / f64::from(u32::MAX) * 3.0 - 1.5;
        let row: Vec<&str> = (0..ITEMS)
            .map(|j| {
                let p = 1.0 / (1.0 + (-(ability + (j as f64 - 9.5) / 8.0)).exp());
                if random.random_bool(p) { "1" } else { "0" }
            })
            .collect();
        text.push_str(&row.join(","));
        text.push('\n');
    }
    std::fs::write(file, text).map_err(CliError::file(file))
}

/// A site that is invited.
struct InvitedSite {
    home: PathBuf,
    file: PathBuf,
    invitation: Invitation,
}

/// The policy of a site whose few students are made up.
fn consenting(home: &Home) -> Result<Policy, CliError> {
    let policy = home.policy().map_err(CliError::because)?;
    Ok(Policy { allow_pooled_rows_inferred: true, ..policy })
}

/// A site that has enrolled.
struct EnrolledSite {
    home: Home,
    study: String,
    file: PathBuf,
    address: Address,
    authority: Option<Vec<u8>>,
}

impl InvitedSite {
    fn enrol(self) -> Result<EnrolledSite, CliError> {
        let told = |error: agent::AgentError| CliError::because(error);
        let mut random = UnwrapErr(SysRng);
        let (home, _) = Home::init(&self.home, &mut random).map_err(told)?;
        let policy = consenting(&home)?;
        let (address, authority) = (self.invitation.address.clone(), self.invitation.authority.clone());
        let study = self.invitation.study.clone();
        let mut transport = Https::new(&address, authority.as_deref()).map_err(told)?;
        let offer = agent::look(self.invitation, &policy, &mut transport, home.now()).map_err(told)?;
        agent::accept(&home, &offer, &mut transport, &mut random).map_err(told)?;
        Ok(EnrolledSite { home, study, file: self.file, address, authority })
    }
}

/// An officer who approves everything.
struct ApprovingOfficer<'a>(&'a Baseline);

/// CPU time of coordinator and sites, and the time, at the beginning of the first round; bytes to sites and from them since.
struct Baseline {
    pid: u32,
    at: OnceLock<(f64, f64, Instant)>,
    bytes: [AtomicU64; 2],
}

impl Officer for ApprovingOfficer<'_> {
    fn roster(&mut self, shown: &RosterShown, _known: &BTreeSet<SiteId>) -> RosterAnswer {
        RosterAnswer::Verified(shown.names())
    }
    fn round(&mut self, _round: &RoundShown) -> Answer {
        Answer::Yes
    }
    fn news(&mut self, news: News<'_>) {
        if matches!(news, News::Sent { kind: "hello", .. }) {
            self.0.at.get_or_init(|| {
                // The roster with everybody's signatures came once.
                self.0.bytes.iter().for_each(|bytes| bytes.store(0, Ordering::Relaxed));
                let used = |pid| cpu(pid).unwrap_or(0.0);
                (used(self.0.pid), used(std::process::id()), Instant::now())
            });
        }
    }
}

impl EnrolledSite {
    /// Takes part until the end and returns the number of exchanges.
    fn join(self, start: &Baseline) -> Result<usize, CliError> {
        let told = |error: agent::AgentError| CliError::because(error);
        let study = self.home.known_study(&self.study).and_then(|folder| folder.load()).map_err(told)?;
        let own = agent::read_for_plan(&[self.file], &ReadOptions::default(), &study.plan).map_err(told)?;
        let https = Https::new(&self.address, self.authority.as_deref()).map_err(told)?;
        let transport = Counted { https, bytes: &start.bytes };
        let policy = consenting(&self.home)?;
        let (mut agent, _) =
            Agent::new(&self.home, study, policy, own, Some("pupils"), transport).map_err(told)?;
        match agent.run(&mut ApprovingOfficer(start)).map_err(told)? {
            End::Finished(fit) => Ok(fit.exchanges),
            End::Ended(reason) => Err(StudyFailure::Ended { reason }.into()),
            End::RosterNotApproved(_) | End::RoundNotApproved(_) => Err(StudyFailure::WaitsForOfficer.into()),
        }
    }
}
