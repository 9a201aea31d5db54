//! Enrolment: an invitation is checked, its plan fetched and shown, and with the officer's consent this site's key is enrolled.

use super::AgentError;
use super::home::Home;
use super::journal::JournalEvent;
use super::responses::OwnResponses;
use super::study::{Connection, Study};
use super::transcript::Transcript;
use super::transport::Transport;
use data_encoding::{BASE64, HEXLOWER};
use fedirt_privacy::secure::{Enrolment, Fingerprint, SiteId};
use fedirt_protocol::codec;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::envelope::EnrolRequest;
use fedirt_protocol::invitation::Invitation;
use fedirt_protocol::message::ToCoordinator;
use fedirt_protocol::plan::StudyPlan;
use fedirt_protocol::policy::{Policy, PolicyRefusal};
use fedirt_protocol::{Terms, Timestamp};
use rand::CryptoRng;

/// A plan that is put before the officer.
#[derive(Debug)]
pub struct Offer {
    /// The invitation.
    pub invitation: Invitation,
    /// The plan.
    pub plan: StudyPlan,
    /// Its text, of which the hash is in the invitation.
    pub text: String,
    /// Its terms.
    pub terms: Terms,
    /// Everything that the site's policy refuses about it.
    pub refusals: Vec<PolicyRefusal>,
}

/// What the policy says to a plan before any file is read.
pub fn refusals(policy: &Policy, plan: &StudyPlan, terms: &Terms) -> Vec<PolicyRefusal> {
    policy.check_plan(terms, u64::MAX, plan.pooled_rows_may_be_inferred())
}

/// What the policy says to a plan with these rows.
pub fn refused_with(policy: &Policy, study: &Study, own: &OwnResponses) -> Vec<String> {
    let students = own.table.students() as u64;
    let mut refusals = policy.check_plan(&study.terms, students, study.plan.pooled_rows_may_be_inferred());
    refusals.extend(policy.check_booklets(&Declaration::of(&own.table, &study.terms).booklets));
    refusals.iter().map(ToString::to_string).collect()
}

/// Checks an invitation and fetches its plan. Nothing of the site is sent.
pub fn look(
    invitation: Invitation,
    policy: &Policy,
    transport: &mut dyn Transport,
    now: Timestamp,
) -> Result<Offer, AgentError> {
    if invitation.expires <= now {
        return Err(AgentError::Expired(invitation.expires));
    }
    let text = transport.plan(&invitation)?;
    let got = StudyPlan::hash(&text);
    if got != invitation.plan_hash {
        let (got, want) = (HEXLOWER.encode(&got), HEXLOWER.encode(&invitation.plan_hash));
        return Err(AgentError::WrongPlan { got, want });
    }
    let plan = StudyPlan::parse(&text)?;
    if plan.study != invitation.study || !plan.cohort.sites.contains(&invitation.site) {
        return Err(AgentError::Mismatch(format!(
            "the invitation is for {} in {}, and the plan is about {} with the sites {}: ask the operator for a new one",
            invitation.site,
            invitation.study,
            plan.study,
            plan.cohort.sites.join(", ")
        )));
    }
    let terms = plan.terms(&text)?;
    let refusals = refusals(policy, &plan, &terms);
    Ok(Offer { invitation, plan, text, terms, refusals })
}

/// The officer approves: the site's key is enrolled. Repeating it sends the same key again.
pub fn accept(
    home: &Home,
    offer: &Offer,
    transport: &mut dyn Transport,
    random: &mut impl CryptoRng,
) -> Result<Fingerprint, AgentError> {
    if !offer.refusals.is_empty() {
        return Err(AgentError::Policy(offer.refusals.clone()));
    }
    let Offer { invitation, text, terms, .. } = offer;
    let site = SiteId::try_from(invitation.site.as_str()).map_err(|e| AgentError::Mismatch(e.to_string()))?;
    let folder = home.study(&invitation.study)?;
    let _lock = folder.lock()?;
    let connection = Connection {
        address: invitation.address.clone(),
        site: invitation.site.clone(),
        plan_sha256: HEXLOWER.encode(&invitation.plan_hash),
        authority: invitation.authority.as_ref().map(|der| BASE64.encode(der)),
    };
    folder.keep_plan(text, &connection)?;
    let (mut journal, _) = folder.journal()?;
    if journal.entries().iter().any(|e| matches!(e.record, JournalEvent::Over | JournalEvent::Withdrawn)) {
        let (study, location) = (folder.name().to_owned(), folder.location(""));
        return Err(AgentError::StudyOver { study, location });
    }
    let identity = match folder.identity()? {
        Some(identity) => identity,
        None => {
            // A copy, which is erased when the site leaves the study.
            let identity = home.identity(random)?;
            folder.keep_identity(&identity)?;
            identity
        }
    };
    let fingerprint = identity.public().fingerprint();
    let enrolment = Enrolment::sign(terms.study.clone(), site, &identity).encode();
    let message = ToCoordinator::Enrol(enrolment.clone());
    let transcript = Transcript::open(&folder)?;
    transcript.write(&message, None)?;
    let request = EnrolRequest { secret: invitation.secret, enrolment };
    let delivery = transport.enrol(&codec::encode(&request)?)?;
    transcript.delivered(&message, delivery)?;
    if !journal.entries().iter().any(|e| matches!(e.record, JournalEvent::Enrolled { .. })) {
        journal.append(JournalEvent::Enrolled {
            site: invitation.site.clone(),
            plan_sha256: connection.plan_sha256,
            key_fingerprint: fingerprint.to_string(),
            delivery,
        })?;
    }
    Ok(fingerprint)
}
