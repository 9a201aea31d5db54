//! The page around the content.

use crate::assets;
use crate::guard::Visitor;
use askama::Template;
use askama::filters::HtmlSafe;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Markup of ours: what it holds was escaped where it was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Html(pub String);

impl std::fmt::Display for Html {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Html {}

/// A link, or an entry of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where to.
    pub href: String,
    /// What it says.
    pub text: String,
    /// Whether it is where the reader is.
    pub here: bool,
}

impl Link {
    /// A link.
    pub fn new(href: impl Into<String>, text: impl Into<String>) -> Self {
        Self { href: href.into(), text: text.into(), here: false }
    }

    /// A link that may be where the reader is.
    pub fn entry(href: impl Into<String>, text: impl Into<String>, here: bool) -> Self {
        Self { here, ..Self::new(href, text) }
    }
}

/// Everything that `layout.html` needs. A page's template has a field `frame` of this type.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Title of the page, for the browser's tab.
    pub title: String,
    /// Whose pages these are, such as `coordinator`.
    pub product: &'static str,
    /// Who looks at it, if logged in.
    pub visitor: Option<Visitor>,
    /// The way from the first page to here, without here.
    pub crumbs: Vec<Link>,
    /// Sister pages.
    pub tabs: Vec<Link>,
    /// Where the page hears that something has changed; its parts with `data-live` are then fetched again.
    pub live: Option<String>,
    /// Version of the program.
    pub version: &'static str,
}

impl Frame {
    /// The frame of a page for a visitor.
    pub fn of(visitor: &Visitor, title: impl Into<String>) -> Self {
        Self { product: visitor.product, visitor: Some(visitor.clone()), ..Self::bare(title) }
    }

    /// The frame of a page for anybody.
    pub fn bare(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            product: "",
            visitor: None,
            crumbs: Vec::new(),
            tabs: Vec::new(),
            live: None,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// With the way to here.
    pub fn under(mut self, crumbs: Vec<Link>) -> Self {
        self.crumbs = crumbs;
        self
    }

    /// With sister pages.
    pub fn beside(mut self, tabs: Vec<Link>) -> Self {
        self.tabs = tabs;
        self
    }

    /// A page that updates itself when `events` says so.
    pub fn live(mut self, events: impl Into<String>) -> Self {
        self.live = Some(events.into());
        self
    }

    /// The address of a stylesheet or script.
    pub fn asset(&self, name: &str) -> String {
        assets::address(name)
    }

    /// The hidden field that every form needs.
    pub fn csrf(&self) -> Html {
        let token = self.visitor.as_ref().map_or_else(String::new, |v| v.forms.reveal());
        Html(format!("<input type=\"hidden\" name=\"csrf\" value=\"{token}\">"))
    }
}

/// A page as a response.
pub fn render(page: &impl Template) -> Response {
    respond(StatusCode::OK, page)
}

/// A page as a response with a status.
pub fn respond(status: StatusCode, page: &impl Template) -> Response {
    let html = [(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))];
    match page.render() {
        Ok(text) => (status, html, text).into_response(),
        // Writing to memory does not fail; if it did, there would be no page to say so.
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the page cannot be written\n").into_response(),
    }
}
