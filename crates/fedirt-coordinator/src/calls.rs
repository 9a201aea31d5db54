//! What a site asks of a coordinator, whatever carries it: to enrol its key, to take its message, and for its mail.

use crate::clock;
use crate::http::HttpProblem;
use crate::study::{Order, Study};
use axum::http::StatusCode;
use fedirt_privacy::secure::Enrolment;
use fedirt_protocol::envelope::{self, EnrolRequest};
use fedirt_protocol::message::ToCoordinator;
use fedirt_protocol::{SiteId, codec};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The store knows invitations by this.
pub(crate) fn hash_of(secret: [u8; 32]) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// The coordinator has no such study.
pub(crate) fn no_study() -> HttpProblem {
    HttpProblem::new(StatusCode::NOT_FOUND, "no_study", "this coordinator has no such study")
}

/// Enrols a key with the invitation that makes it count, in the study that it names.
pub(crate) async fn enrol(
    bytes: &[u8],
    study: impl FnOnce(&str) -> Result<Arc<Study>, HttpProblem>,
) -> Result<SiteId, HttpProblem> {
    let request: EnrolRequest = codec::decode(bytes)?;
    let malformed =
        |e: &dyn std::fmt::Display| HttpProblem::new(StatusCode::BAD_REQUEST, "malformed", e.to_string());
    let enrolment = Enrolment::decode(&request.enrolment).map_err(|e| malformed(&e))?;
    let forged =
        |e: &dyn std::fmt::Display| HttpProblem::new(StatusCode::FORBIDDEN, "bad_signature", e.to_string());
    enrolment.verify().map_err(|e| forged(&e))?;
    let study = study(enrolment.study.as_str())?;
    let site = enrolment.site.clone();
    let invitation = hash_of(request.secret);
    let (reply, answer) = oneshot::channel();
    study.order(Order::Enrol { invitation, enrolment: Box::new(enrolment), reply })?;
    answer.await.map_err(|_| HttpProblem::unavailable())??;
    study.seen(&site, clock::now().0);
    Ok(site)
}

/// What a site says, if the key that it enrolled signed it.
pub(crate) fn unseal<T: DeserializeOwned>(
    study: &Study,
    bytes: &[u8],
    topic: &str,
) -> Result<(SiteId, T), HttpProblem> {
    let site = envelope::sender(bytes)?;
    let Some(key) = study.key(&site) else {
        let detail = format!("{site} has not enrolled: it needs an invitation first");
        return Err(HttpProblem::new(StatusCode::FORBIDDEN, "not_enrolled", detail));
    };
    let message = envelope::unseal(bytes, &study.name, &site, &key, topic)?;
    Ok((site, message))
}

/// Takes a message whose signature holds; it is on the disk when this returns.
pub(crate) async fn take(study: &Study, from: SiteId, message: ToCoordinator) -> Result<(), HttpProblem> {
    study.seen(&from, clock::now().0);
    if matches!(message, ToCoordinator::Enrol(_)) {
        let detail = "a key counts with an invitation only: POST /v1/enrol";
        return Err(HttpProblem::new(StatusCode::FORBIDDEN, "invitation_needed", detail));
    }
    let (reply, answer) = oneshot::channel();
    study.order(Order::Message { from, message, reply })?;
    Ok(answer.await.map_err(|_| HttpProblem::unavailable())??)
}
