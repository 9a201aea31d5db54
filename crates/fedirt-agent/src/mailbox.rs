//! A site behind a mailbox: what a courier brings is handled, and what the site says is put down for it to take along.
//!
//! The agent is restored from the home for every exchange and holds the study's lock no longer than that, so that the
//! mailbox can be stopped at any moment and the officer's commands work beside it. Only the rows stay in memory.

use super::AgentError;
use super::home::Home;
use super::journal::JournalEvent;
use super::machine_log::has_heard;
use super::officer::Officer;
use super::responses::OwnResponses;
use super::results::{Own, write_results};
use super::run::{Agent, End};
use super::store::Readers;
use super::study::{Study, StudyFolder};
use super::transport::{Delivery, Transport, TransportError};
use fedirt_privacy::secure::{PublicIdentity, SiteId};
use fedirt_protocol::envelope;
use fedirt_protocol::invitation::Invitation;
use fedirt_protocol::mailbox::{FromSiteMailbox, Parcel, PartKind, SiteStands, ToSiteMailbox};
use fedirt_protocol::message::ToSite;
use fedirt_protocol::policy::Approval;
use std::time::Duration;

/// The enrolment that waits for the courier. It holds the invitation's secret.
const ENROLMENT: &str = "enrolment.bin";
/// Says that the study is over here, and that its results are written if it has any.
const ENDED: &str = "ended.txt";

/// What stands for the coordinator while no courier is here: the officer has the plan from the operator, an enrolment is kept for
/// the mailbox, and nothing else can be said.
#[derive(Debug)]
pub struct PostBox {
    /// The study's folder.
    pub folder: StudyFolder,
    /// The plan's text, which the invitation's hash is compared with.
    pub plan: String,
}

impl Transport for PostBox {
    fn plan(&mut self, _invitation: &Invitation) -> Result<String, TransportError> {
        Ok(self.plan.clone())
    }

    fn enrol(&mut self, request: &[u8]) -> Result<Delivery, TransportError> {
        let kept = self.folder.replace(ENROLMENT, request, Readers::Owner);
        kept.map(|()| Delivery::Posted).map_err(|error| TransportError::Unreachable(error.to_string()))
    }

    fn send(&mut self, _study: &str, _envelope: &[u8]) -> Result<Delivery, TransportError> {
        Err(no_courier())
    }

    fn poll(&mut self, _: &str, _: &[u8], _: Duration) -> Result<Option<Vec<u8>>, TransportError> {
        Err(no_courier())
    }

    fn pause(&mut self, _duration: Duration) {}
}

fn no_courier() -> TransportError {
    TransportError::Unreachable("a courier carries this study's messages, and none is here".into())
}

/// The mail that came with a courier, and what it takes along.
#[derive(Debug, Default)]
struct Mail {
    notice: Option<Vec<u8>>,
    /// Whether there was no mail left when the agent asked for some.
    read: bool,
    said: Vec<Vec<u8>>,
    /// How the site asks for its next mail.
    poll: Option<Vec<u8>>,
}

impl Transport for Mail {
    fn plan(&mut self, _invitation: &Invitation) -> Result<String, TransportError> {
        Err(no_courier())
    }

    fn enrol(&mut self, _request: &[u8]) -> Result<Delivery, TransportError> {
        Err(no_courier())
    }

    fn send(&mut self, _study: &str, envelope: &[u8]) -> Result<Delivery, TransportError> {
        self.said.push(envelope.to_vec());
        Ok(Delivery::Posted)
    }

    fn poll(
        &mut self,
        _study: &str,
        envelope: &[u8],
        _wait: Duration,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        self.poll = Some(envelope.to_vec());
        self.read = self.notice.is_none();
        Ok(self.notice.take())
    }

    fn pause(&mut self, _duration: Duration) {}
}

/// A study of a site whose messages a courier carries.
#[derive(Debug)]
pub struct SiteMailbox {
    home: Home,
    study: StudyFolder,
    site: SiteId,
    /// The key with which the coordinator signs its mail.
    coordinator: PublicIdentity,
    own: OwnResponses,
    population: Option<String>,
    with_scores: bool,
}

impl SiteMailbox {
    /// A mailbox for a study with this site's answers; everything is checked as at the start of an agent.
    pub fn new(
        home: &Home,
        study: Study,
        own: OwnResponses,
        population: Option<&str>,
        with_scores: bool,
    ) -> Result<(Self, Vec<String>), AgentError> {
        if home.policy()?.approval == Approval::EachRound {
            return Err(AgentError::Mismatch(
                "policy.toml has approval = \"each_round\", and nobody can be asked behind a mailbox: use \"once\", or take part over HTTPS".into(),
            ));
        }
        let key = study.connection.authority()?.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let key = key.and_then(|bytes| PublicIdentity::from_bytes(&bytes).ok());
        let coordinator = key.ok_or(AgentError::NotByMailbox)?;
        let mailbox = Self {
            home: home.clone(),
            study: study.folder.clone(),
            site: study.site.clone(),
            coordinator,
            own,
            population: population.map(str::to_owned),
            with_scores,
        };
        let notes = if mailbox.is_over()? { Vec::new() } else { mailbox.agent(study, Mail::default())?.1 };
        Ok((mailbox, notes))
    }

    fn agent(&self, study: Study, mail: Mail) -> Result<(Agent<Mail>, Vec<String>), AgentError> {
        let (own, policy) = (self.own.clone(), self.home.policy()?);
        Agent::new(&self.home, study, policy, own, self.population.as_deref(), mail)
    }

    /// Whether nothing is left to do: withdrawn, or over with everything written.
    fn is_over(&self) -> Result<bool, AgentError> {
        let entries = self.study.entries()?;
        let withdrawn = entries.iter().any(|entry| matches!(entry.record, JournalEvent::Withdrawn));
        Ok(withdrawn || self.study.read(ENDED)?.is_some())
    }

    /// One exchange with a courier. An error is for the officer; the courier learns that there is one.
    pub fn exchange(
        &self,
        request: &Parcel<ToSiteMailbox>,
        officer: &mut dyn Officer,
    ) -> Result<Parcel<FromSiteMailbox>, AgentError> {
        let stands = |state| Parcel::of(FromSiteMailbox { state, parts: Vec::new() });
        if request.header.study != self.study.name() || request.parts.len() > 1 {
            return Ok(stands(SiteStands::NotTaken));
        }
        if self.is_over()? {
            return Ok(stands(SiteStands::Over));
        }
        let study = self.study.load()?;
        let notice = match request.parts.first() {
            None => None,
            Some(sealed) => match self.open(&study, sealed) {
                Some(notice) => Some(notice),
                None => return Ok(stands(SiteStands::NotTaken)),
            },
        };
        let mail = Mail { notice, ..Mail::default() };
        let (mut agent, _) = match self.agent(study, mail) {
            Err(AgentError::Running(_)) => return Ok(stands(SiteStands::Busy)),
            made => made?,
        };
        let end = loop {
            let end = agent.step(officer)?;
            if end.is_some() || agent.transport.read {
                break end;
            }
        };
        let Mail { said, poll, .. } = std::mem::take(&mut agent.transport);
        let state = match end {
            None => SiteStands::Waiting,
            Some(End::RosterNotApproved(_) | End::RoundNotApproved(_)) => SiteStands::Officer,
            Some(End::Finished(fit)) => {
                let own_effect = agent.own_effect();
                let (study, table) = agent.into_parts();
                let own = Own { own_effect, table, ids: self.own.ids.clone() };
                write_results(&self.home, &study, &fit, own, self.with_scores)?;
                self.study.write_text(ENDED, "finished\n")?;
                SiteStands::Over
            }
            Some(End::Ended(reason)) => {
                self.study.write_text(ENDED, &format!("{reason}\n"))?;
                SiteStands::Over
            }
        };
        let mut parts: Vec<(PartKind, Vec<u8>)> = Vec::new();
        parts.extend(self.enrolment()?.map(|request| (PartKind::Enrol, request)));
        parts.extend(said.into_iter().map(|message| (PartKind::Message, message)));
        parts.extend(poll.map(|poll| (PartKind::Poll, poll)));
        let (kinds, parts) = parts.into_iter().unzip();
        Ok(Parcel { header: FromSiteMailbox { state, parts: kinds }, parts })
    }

    /// The notice in a piece of mail, if the coordinator signed it for this site of this study.
    fn open(&self, study: &Study, sealed: &[u8]) -> Option<Vec<u8>> {
        let id = &study.terms.study;
        let notice: ToSite =
            envelope::unseal(sealed, id, &self.site, &self.coordinator, envelope::NOTICE).ok()?;
        fedirt_protocol::codec::encode(&notice).ok()
    }

    /// The enrolment, until the coordinator has said something that follows from it.
    fn enrolment(&self) -> Result<Option<Vec<u8>>, AgentError> {
        let request = self.study.read(ENROLMENT)?;
        if request.is_some() && has_heard(&self.study.entries()?) {
            self.study.erase(ENROLMENT)?;
            return Ok(None);
        }
        Ok(request)
    }
}
