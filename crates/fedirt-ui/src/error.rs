//! Error pages, which say what is wrong and what to do now.

use crate::frame::{Frame, Link, respond};
use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// An error that is shown as a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageError {
    /// The HTTP status.
    pub status: StatusCode,
    /// The heading of the page.
    pub heading: String,
    /// What is wrong and what would help, one sentence or more.
    pub text: Vec<String>,
    /// The link that leads on from the page.
    pub next: Box<Link>,
    /// Seconds to wait before the next attempt (`Retry-After`).
    pub wait: Option<u64>,
}

impl PageError {
    /// An error page with a link to the first page.
    pub fn new(status: StatusCode, heading: &str, text: impl Into<String>) -> Self {
        Self {
            status,
            heading: heading.to_owned(),
            text: vec![text.into()],
            next: Box::new(Link::new("/", "Go to the first page")),
            wait: None,
        }
    }

    /// The same page with another link.
    pub fn leading(mut self, href: &str, text: &str) -> Self {
        self.next = Box::new(Link::new(href, text));
        self
    }

    /// The request is not valid (400), with one sentence for each problem.
    pub fn bad(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "That cannot be done", text)
    }

    /// There is no page at this address (404).
    pub fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "Page not found", text)
    }

    /// The visitor lacks the right (403).
    pub fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "You do not have the right to do this", text)
    }

    /// An internal error (500). The details are in the log and not on the page.
    pub fn ours() -> Self {
        let text = "An internal error occurred on this machine. Nothing that was acknowledged is lost. The log contains the details.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error", text)
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
