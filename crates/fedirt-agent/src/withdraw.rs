//! Leaving a study: the present round is refused, and keys are wiped.

use super::AgentError;
use super::machine_log::MachineLog;
use super::study::Study;
use super::transcript::Transcript;
use super::transport::{Transport, TransportError};
use fedirt_privacy::secure::Identity;
use fedirt_protocol::codec;
use fedirt_protocol::envelope::{self, Poll};
use fedirt_protocol::message::{Notice, ToCoordinator, ToSite, Turn, shown_reason};
use std::time::Duration;

/// Whether the coordinator knows that the site has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withdrawal {
    /// It was told in this round, or the message waits for the courier.
    Told(Turn),
    /// It was not, and the operator must be called.
    NotTold(String),
}

/// Leaves a study. What was sent before stays sent.
pub fn withdraw(
    study: &Study,
    transport: &mut dyn Transport,
    reason: &str,
) -> Result<Withdrawal, AgentError> {
    let _lock = study.folder.lock()?;
    let (mut log, _) = MachineLog::open(&study.folder)?;
    let identity = study.folder.own_identity()?;
    let told = match refuse(study, &identity, transport, reason)? {
        Ok(Some(turn)) => Withdrawal::Told(turn),
        Ok(None) => Withdrawal::NotTold("no round is under way".into()),
        Err(error) => Withdrawal::NotTold(error.to_string()),
    };
    // Keys go whether or not the coordinator could be told.
    log.withdraw()?;
    study.folder.erase_identity()?;
    Ok(told)
}

/// Refuses the round that is under way, if there is one.
fn refuse(
    study: &Study,
    identity: &Identity,
    transport: &mut dyn Transport,
    reason: &str,
) -> Result<Result<Option<Turn>, TransportError>, AgentError> {
    let (name, id) = (study.folder.name(), &study.terms.study);
    let poll = Poll { seen: 0, wait_seconds: 0 };
    let sealed = envelope::seal(id, &study.site, identity, envelope::POLL, &poll)?;
    let news = match transport.poll(name, &sealed, Duration::ZERO) {
        Ok(news) => news,
        Err(error) => return Ok(Err(error)),
    };
    let notice = news.and_then(|bytes| codec::decode::<ToSite>(&bytes).ok()).map(|message| message.notice);
    let Some(Notice::Call { turn, .. } | Notice::Open { turn, .. } | Notice::OpenSparse { turn, .. }) =
        notice
    else {
        return Ok(Ok(None));
    };
    let message = ToCoordinator::Refuse { turn, reason: shown_reason(reason) };
    Transcript::open(&study.folder)?.write(&message, None)?;
    let sealed = envelope::seal(id, &study.site, identity, envelope::MESSAGE, &message)?;
    Ok(transport.send(name, &sealed).map(|_| Some(turn)))
}
