//! The pages for logging in and out.

use crate::error::PageError;
use crate::fields::Fields;
use crate::frame::{Frame, Link, respond};
use crate::gate::{Gate, Refused};
use crate::guard::peer;
use askama::Template;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use std::sync::Arc;

/// Maximum length of the path to which a visitor returns after logging in.
const LONGEST: usize = 2000;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    frame: Frame,
    heading: &'static str,
    text: &'static str,
    problem: Option<&'static str>,
    next: String,
}

/// The address of the log-in page that leads on to `path`.
pub(crate) fn address(path: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let text = query.append_pair("next", path).finish();
    format!("/login?{text}")
}

/// A path of these pages, or the first page: the log-in never redirects to another site.
fn local(path: &str) -> String {
    let fine = path.starts_with('/')
        && !path.starts_with("//")
        && path.len() <= LONGEST
        && !path.contains('\\')
        && path.chars().all(|c| c.is_ascii_graphic());
    if fine { path.to_owned() } else { "/".to_owned() }
}

fn page(gate: &Gate, heading: &'static str, text: &'static str, next: &str) -> LoginPage {
    let mut frame = Frame::bare(heading);
    frame.product = gate.settings().product;
    LoginPage { frame, heading, text, problem: None, next: local(next) }
}

/// The log-in page for a visitor whose session has expired. It leads back to the page they came from.
pub(crate) fn expired(gate: &Gate, path: &str) -> Response {
    let text = "You were inactive for a while, your log-in was revoked, or the program was restarted. Your last request was \
                not carried out. Log in to return to the page.";
    let mut response = respond(StatusCode::UNAUTHORIZED, &page(gate, "Your session has ended", text, path));
    if let Some(cookie) = gate.cookie().clear() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

const WELCOME: &str = "Your log-in key is part of the link that the program printed, or an administrator gave it to you. If you opened that link, the key is filled in, and you can press “Log in”.";

/// `GET /login`.
pub(crate) async fn show(State(gate): State<Arc<Gate>>, request: Request) -> Response {
    let query = Fields::parse(request.uri().query().unwrap_or_default().as_bytes());
    let next = local(query.get("next"));
    if gate.who(request.headers(), false).is_some() {
        return Redirect::to(&next).into_response();
    }
    respond(StatusCode::OK, &page(&gate, "Log in", WELCOME, &next))
}

/// `POST /login`.
pub(crate) async fn enter(State(gate): State<Arc<Gate>>, request: Request) -> Response {
    let fields = request.extensions().get::<Fields>().cloned().unwrap_or_default();
    let next = local(fields.get("next"));
    gate.leave(request.headers());
    match gate.enter(peer(&request), fields.get("key")) {
        Ok(secret) => {
            let mut response = Redirect::to(&next).into_response();
            if let Some(cookie) = gate.cookie().set(&secret) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(Refused::Unknown) => {
            let mut page = page(&gate, "Log in", WELCOME, &next);
            page.problem =
                Some("This key is not valid. Copy all of its 43 characters. A revoked key stays revoked.");
            respond(StatusCode::FORBIDDEN, &page)
        }
        Err(Refused::TooMany(wait)) => {
            let text = format!("There were too many wrong keys. Try again in {} minutes.", wait.div_ceil(60));
            let mut error = PageError::new(StatusCode::TOO_MANY_REQUESTS, "Too many attempts", text);
            error.next = Box::new(Link::new(address(&next), "Log in"));
            error.wait = Some(wait);
            error.into_response()
        }
        Err(Refused::NoRandomness) => PageError::ours().into_response(),
    }
}

/// `POST /logout`.
pub(crate) async fn leave(State(gate): State<Arc<Gate>>, request: Request) -> Response {
    gate.leave(request.headers());
    let mut response = Redirect::to("/login").into_response();
    if let Some(cookie) = gate.cookie().clear() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn nobody_is_led_elsewhere() {
        assert_eq!(local("/studies/a?x=1"), "/studies/a?x=1");
        for bad in ["", "https://evil.example", "//evil.example", "/\\evil.example", "/a\r\nb", "/ä"] {
            assert_eq!(local(bad), "/", "{bad:?}");
        }
        assert_eq!(local(&format!("/{}", "a".repeat(3000))), "/");
    }
}
