//! The work of one agent: from the approved file to the written results.

use super::desk::{Asked, Desk};
use super::looked::file_hash;
use super::officer::AtThePages;
use super::shared::{Decided, Phase, Shared};
use fedirt_agent::{
    self as agent, Agent, AgentError, End, Home, Https, Own, OwnResponses, Study, StudyFolder, Transport,
    TransportError,
};
use fedirt_protocol::policy::{Approval, Policy};
use std::sync::Arc;
use std::time::Duration;

/// How long polls wait, in seconds: as long, at most, until a pause takes hold.
const WAIT: u32 = 5;
/// While the officer is asked something: how often the coordinator is asked for news, such as the end of the study.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The coordinator, as long as nobody calls the agent away.
struct Interruptible {
    https: Https,
    shared: Arc<Shared>,
}

impl Interruptible {
    fn going<T>(
        &mut self,
        call: impl FnOnce(&mut Https) -> Result<T, TransportError>,
    ) -> Result<T, TransportError> {
        if self.shared.stopping() {
            return Err(TransportError::Stopped);
        }
        let answer = call(&mut self.https);
        if !matches!(answer, Err(TransportError::Unreachable(_))) {
            self.shared.change(|state| state.trouble = None);
        }
        answer
    }
}

impl Transport for Interruptible {
    fn plan(&mut self, study: &str) -> Result<String, TransportError> {
        self.going(|https| https.plan(study))
    }

    fn enrol(&mut self, request: &[u8]) -> Result<(), TransportError> {
        self.going(|https| https.enrol(request))
    }

    fn send(&mut self, study: &str, envelope: &[u8]) -> Result<(), TransportError> {
        self.going(|https| https.send(study, envelope))
    }

    fn poll(
        &mut self,
        study: &str,
        envelope: &[u8],
        wait: Duration,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        self.going(|https| https.poll(study, envelope, wait))
    }

    fn pause(&mut self, duration: Duration) {
        self.shared.sleep(duration);
    }
}

/// Takes part in a study until it is over, or the agent is called away.
pub(super) fn work(
    home: &Home,
    name: &str,
    shared: &Arc<Shared>,
    automatic: Option<Duration>,
) -> Result<Phase, String> {
    let told = |error: AgentError| error.to_string();
    let folder = home.known_study(name).map_err(told)?;
    let desk = Desk::read(&folder).map_err(told)?;
    if !desk.works() {
        return Err("nothing is approved: look at the file and at what will be sent, and approve it".into());
    }
    check_file(&folder, &desk).map_err(told)?;
    let study = folder.load().map_err(told)?;
    let mut policy = home.policy().map_err(told)?;
    let asked = if policy.approval == Approval::EachRound { Asked::EachRound } else { desk.asked };
    // Every round is shown to the officer who sits at the pages, and who answers by what was approved.
    policy.approval = Approval::EachRound;
    let own = agent::read_for_plan(&desk.files(), &desk.options(), &study.plan).map_err(told)?;
    let ids = own.ids.clone();
    let mut officer = AtThePages {
        shared: shared.clone(),
        asked,
        trusting: policy.trust_roster_from_coordinator,
        automatic,
    };
    let mut agent = open(home, study, policy, own, desk.population.as_deref(), shared).map_err(told)?;
    shared.change(|state| state.phase = Phase::Working);
    let end = loop {
        if shared.stopping() {
            return Ok(Phase::Stopped);
        }
        match step(&mut agent, &mut officer, shared) {
            Ok(Some(end @ (End::Finished(_) | End::Ended(_)))) => break end,
            Ok(_) => {}
            Err(AgentError::Transport(TransportError::Stopped)) => return Ok(Phase::Stopped),
            Err(error) => return Err(error.to_string()),
        }
    };
    if let End::Finished(fit) = &end {
        let place = agent.place();
        let (study, table) = agent.into_parts();
        agent::write_results(home, &study, fit, Own { place, table, ids }, true).map_err(told)?;
    }
    // Read again: the officer may have called a pause meanwhile.
    let mut desk = Desk::read(&folder).map_err(told)?;
    if let End::Ended(reason) = end {
        desk.ended = Some(format!("The coordinator says: {}", shortened(&reason)));
    }
    desk.write(&folder).and_then(|()| desk.erase_copy(&folder)).map_err(told)?;
    Ok(Phase::Over)
}

/// The coordinator's words, as far as a page has room for them.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(500).collect()
}

/// Whether the file is the one that was approved.
fn check_file(folder: &StudyFolder, desk: &Desk) -> Result<(), AgentError> {
    let approved = folder.entries()?.into_iter().rev().find_map(|entry| match entry.record {
        agent::Record::Consented { file_sha256, .. } => Some(file_sha256),
        _ => None,
    });
    let Some(file) = desk.file.as_deref() else { return Ok(()) };
    if approved.is_some_and(|approved| file_hash(file).is_ok_and(|hash| hash != approved)) {
        return Err(AgentError::Mismatch(format!(
            "{} has changed since it was approved. Put the file back as it was; or, if this site has not joined yet, look at it \
             once more and approve it",
            file.display()
        )));
    }
    Ok(())
}

fn open(
    home: &Home,
    study: Study,
    policy: Policy,
    own: OwnResponses,
    population: Option<&str>,
    shared: &Arc<Shared>,
) -> Result<Agent<Interruptible>, AgentError> {
    let https = Https::new(&study.connection.address, study.connection.authority()?.as_deref())?;
    let transport = Interruptible { https, shared: shared.clone() };
    let (agent, notes) = Agent::new(home, study, policy, own, population, transport)?;
    shared.change(|state| state.cautions.extend(notes));
    Ok(agent)
}

/// What the officer has decided, or one exchange with the coordinator.
fn step(
    agent: &mut Agent<Interruptible>,
    officer: &mut AtThePages,
    shared: &Shared,
) -> Result<Option<End>, AgentError> {
    let (decided, asking) = shared.decided(LOOK_AGAIN);
    agent.wait_seconds(if asking { 0 } else { WAIT });
    match decided {
        Some(Decided::Roster(fingerprint)) => agent.approve_roster(fingerprint, officer),
        Some(Decided::Round(turn, question)) => agent.approve_round(turn, question, officer),
        None => agent.step(officer),
    }
}
