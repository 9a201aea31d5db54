//! What went wrong, as problem+json (RFC 9457) with a stable code.

use crate::study::{EnrolRefusal, NotTaken};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fedirt_protocol::codec::CodecError;
use fedirt_protocol::coordinator::Rejection;
use fedirt_protocol::envelope::EnvelopeError;
use serde::Serialize;

/// A problem. Programs go by its code, people by its detail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HttpProblem {
    /// `urn:fedirt:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: &'static str,
    /// The status.
    pub status: u16,
    /// What is wrong, and what would help.
    pub detail: String,
    /// Stable name of the problem.
    pub code: &'static str,
}

impl HttpProblem {
    /// A problem.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:fedirt:problem:{code}"),
            title: status.canonical_reason().unwrap_or("HttpProblem"),
            status: status.as_u16(),
            detail: detail.into(),
            code,
        }
    }

    /// The coordinator is ending, or its disk refuses: the same request is good again later.
    pub fn unavailable() -> Self {
        let detail = "the coordinator cannot take this now: send it again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let text = serde_json::to_string(&self).unwrap_or_default();
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/problem+json")], text).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<Rejection> for HttpProblem {
    fn from(rejection: Rejection) -> Self {
        let (status, code) = match &rejection {
            Rejection::NotInvited { .. } => (StatusCode::FORBIDDEN, "not_invited"),
            Rejection::NotEnrolled { .. } => (StatusCode::FORBIDDEN, "not_enrolled"),
            Rejection::AnotherKey { .. } => (StatusCode::CONFLICT, "another_key"),
            Rejection::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Rejection::WrongTurn { .. } => (StatusCode::CONFLICT, "wrong_turn"),
            Rejection::NotNow => (StatusCode::CONFLICT, "not_now"),
            Rejection::Restored { .. } => (StatusCode::CONFLICT, "restored"),
            Rejection::TwoAnswers { .. } => (StatusCode::CONFLICT, "two_answers"),
            Rejection::Chain(_) => (StatusCode::CONFLICT, "chain"),
            Rejection::Over => (StatusCode::GONE, "over"),
        };
        Self::new(status, code, rejection.to_string())
    }
}

impl From<EnrolRefusal> for HttpProblem {
    fn from(refusal: EnrolRefusal) -> Self {
        let (status, code) = match &refusal {
            EnrolRefusal::Unknown { .. } => (StatusCode::FORBIDDEN, "invitation_unknown"),
            EnrolRefusal::Used { .. } => (StatusCode::CONFLICT, "invitation_used"),
            EnrolRefusal::Withdrawn { .. } => (StatusCode::GONE, "invitation_withdrawn"),
            EnrolRefusal::Expired { .. } => (StatusCode::GONE, "invitation_expired"),
            EnrolRefusal::Rejected(rejection) => return rejection.clone().into(),
        };
        Self::new(status, code, refusal.to_string())
    }
}

impl From<CodecError> for HttpProblem {
    fn from(error: CodecError) -> Self {
        match error {
            CodecError::TooLong { .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", error.to_string())
            }
            CodecError::Version { .. } => Self::new(StatusCode::BAD_REQUEST, "version", error.to_string()),
            _ => Self::new(StatusCode::BAD_REQUEST, "malformed", error.to_string()),
        }
    }
}

impl From<EnvelopeError> for HttpProblem {
    fn from(error: EnvelopeError) -> Self {
        use fedirt_privacy::secure::StatementError;
        match error {
            EnvelopeError::Content(error) => error.into(),
            EnvelopeError::Statement(StatementError::Decode(_)) => {
                Self::new(StatusCode::BAD_REQUEST, "malformed", error.to_string())
            }
            _ => Self::new(StatusCode::FORBIDDEN, "bad_signature", error.to_string()),
        }
    }
}

impl From<NotTaken> for HttpProblem {
    fn from(_: NotTaken) -> Self {
        Self::unavailable()
    }
}
