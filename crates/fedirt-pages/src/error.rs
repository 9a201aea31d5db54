//! Pages for when something is wrong: what, and what to do now.

use crate::frame::{Frame, Link, respond};
use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageError {
    /// The status.
    pub status: StatusCode,
    /// What, as a heading.
    pub heading: String,
    /// What, and what would help, as sentences.
    pub text: Vec<String>,
    /// Where to go on.
    pub next: Box<Link>,
    /// Seconds to wait before another try.
    pub wait: Option<u64>,
}

impl PageError {
    /// A page that says what is wrong, and leads home.
    pub fn new(status: StatusCode, heading: &str, text: impl Into<String>) -> Self {
        Self {
            status,
            heading: heading.to_owned(),
            text: vec![text.into()],
            next: Box::new(Link::new("/", "Go to the first page")),
            wait: None,
        }
    }

    /// The same, leading somewhere else.
    pub fn leading(mut self, href: &str, text: &str) -> Self {
        self.next = Box::new(Link::new(href, text));
        self
    }

    /// What was sent does not hold; one sentence per problem.
    pub fn bad(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "That cannot be done", text)
    }

    /// There is nothing at this address.
    pub fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "There is nothing here", text)
    }

    /// Not for this person.
    pub fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "This is not for you to do", text)
    }

    /// Our fault. What exactly is in the log, not on the page.
    pub fn ours() -> Self {
        let text =
            "Something went wrong on this machine. Nothing that was acknowledged is lost; the log says more.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "This did not work", text)
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    frame: Frame,
    error: &'a PageError,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let page = ErrorPage { frame: Frame::bare(&self.heading), error: &self };
        let mut response = respond(self.status, &page);
        if let Some(wait) = self.wait {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }
}
