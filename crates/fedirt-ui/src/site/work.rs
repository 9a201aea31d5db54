//! The run of one agent, from the approved file to the written results.

use super::looked::file_hash;
use super::officer::AtThePages;
use super::officer_settings::{Asked, OfficerSettings};
use super::shared::{Decided, Phase, Shared};
use fedirt_agent::{
    self as agent, Agent, AgentError, Delivery, End, Home, Https, Own, OwnResponses, Study, StudyFolder,
    Transport, TransportError,
};
use fedirt_protocol::invitation::Invitation;
use fedirt_protocol::policy::{Approval, Policy};
use std::sync::Arc;
use std::time::Duration;

/// How long a poll waits, in seconds. A pause takes effect after this time at the latest.
const POLL_SECONDS: u32 = 5;
/// How often the coordinator is polled while the officer is asked something; the study may end meanwhile.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A transport that stops when the agent is asked to stop.
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
    fn plan(&mut self, invitation: &Invitation) -> Result<String, TransportError> {
        self.going(|https| https.plan(invitation))
    }

    fn enrol(&mut self, request: &[u8]) -> Result<Delivery, TransportError> {
        self.going(|https| https.enrol(request))
    }

    fn send(&mut self, study: &str, envelope: &[u8]) -> Result<Delivery, TransportError> {
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

/// Takes part in a study until it is over or the agent is asked to stop.
pub(super) fn work(
    home: &Home,
    name: &str,
    shared: &Arc<Shared>,
    automatic: Option<Duration>,
) -> Result<Phase, AgentError> {
    let folder = home.known_study(name)?;
    let settings = OfficerSettings::read(&folder)?;
    if !settings.works() {
        return Err(AgentError::NothingApproved);
    }
    check_file(&folder, &settings)?;
    let study = folder.load()?;
    let mut policy = home.policy()?;
    let asked = if policy.approval == Approval::EachRound { Asked::EachRound } else { settings.asked };
    // The policy asks for every round, and `AtThePages` answers according to the approval.
    policy.approval = Approval::EachRound;
    let own = agent::read_for_plan(&settings.files(), &settings.options()?, &study.plan)?;
    let ids = own.ids.clone();
    let mut officer = AtThePages {
        shared: shared.clone(),
        asked,
        trusting: policy.trust_roster_from_coordinator,
        automatic,
    };
    let mut agent = open(home, study, policy, own, settings.population.as_deref(), shared)?;
    shared.change(|state| state.phase = Phase::Working);
    let end = loop {
        if shared.stopping() {
            return Ok(Phase::Stopped);
        }
        match step(&mut agent, &mut officer, shared) {
            Ok(Some(end @ (End::Finished(_) | End::Ended(_)))) => break end,
            Ok(_) => {}
            Err(AgentError::Transport(TransportError::Stopped)) => return Ok(Phase::Stopped),
            Err(error) => return Err(error),
        }
    };
    if let End::Finished(fit) = &end {
        let own_effect = agent.own_effect();
        let (study, table) = agent.into_parts();
        agent::write_results(home, &study, fit, Own { own_effect, table, ids }, true)?;
    }
    // Read again, because the officer may have paused the study meanwhile.
    let mut settings = OfficerSettings::read(&folder)?;
    if let End::Ended(reason) = end {
        settings.ended = Some(format!("The coordinator says: {}", shortened(&reason)));
    }
    settings.write(&folder).and_then(|()| settings.erase_copy(&folder))?;
    Ok(Phase::Over)
}

/// The beginning of a text of the coordinator, without control characters.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(500).collect()
}

/// Refuses a file that has changed since it was approved.
fn check_file(folder: &StudyFolder, settings: &OfficerSettings) -> Result<(), AgentError> {
    let approved = folder.entries()?.into_iter().rev().find_map(|entry| match entry.record {
        agent::JournalEvent::Consented { file_sha256, .. } => Some(file_sha256),
        _ => None,
    });
    let Some(file) = settings.file.as_deref() else { return Ok(()) };
    if approved.is_some_and(|approved| file_hash(file).is_ok_and(|hash| hash != approved)) {
        return Err(AgentError::Mismatch(format!(
            "{} has changed since it was approved. Restore the file; or, if this site has not joined yet, look at it \
             again and approve it",
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

/// Carries out a decision of the officer, or one exchange with the coordinator.
fn step(
    agent: &mut Agent<Interruptible>,
    officer: &mut AtThePages,
    shared: &Shared,
) -> Result<Option<End>, AgentError> {
    let (decided, asking) = shared.decided(POLL_INTERVAL);
    agent.wait_seconds(if asking { 0 } else { POLL_SECONDS });
    match decided {
        Some(Decided::Roster(shown, called)) => agent.approve_roster(&shown, &called, officer),
        Some(Decided::Round(turn, question)) => agent.approve_round(turn, question, officer),
        None => agent.step(officer),
    }
}
