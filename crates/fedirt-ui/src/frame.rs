//! The layout around the content of every page: title, navigation, footer.

use crate::assets;
use crate::guard::Visitor;
use crate::site::StepShown;
use askama::Template;
use askama::filters::HtmlSafe;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// HTML that this program made. Everything in it was escaped when it was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Html(pub String);

impl std::fmt::Display for Html {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Html {}

/// A link or an entry of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The address.
    pub href: String,
    /// The text of the link.
    pub text: String,
    /// Whether it leads to the current page.
    pub here: bool,
}

impl Link {
    /// A link to another page.
    pub fn new(href: impl Into<String>, text: impl Into<String>) -> Self {
        Self { href: href.into(), text: text.into(), here: false }
    }

    /// An entry of a menu, which may be the current page.
    pub fn entry(href: impl Into<String>, text: impl Into<String>, here: bool) -> Self {
        Self { here, ..Self::new(href, text) }
    }
}

/// Everything that `layout.html` needs. A page's template has a field `frame` of this type.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Title of the page, for the browser's tab.
    pub title: String,
    /// The program whose pages these are, such as `coordinator`.
    pub product: &'static str,
    /// The visitor, if somebody is logged in.
    pub visitor: Option<Visitor>,
    /// Breadcrumbs: the pages above this one, without this one.
    pub crumbs: Vec<Link>,
    /// Tabs: the pages beside this one.
    pub tabs: Vec<Link>,
    /// The steps of a task that the page is part of.
    pub steps: Vec<StepShown>,
    /// Records: pages that are looked up and are no part of a task, at the foot of the page.
    pub records: Vec<Link>,
    /// The address of the server-sent events that make the page fetch its parts with `data-live` again.
    pub live: Option<String>,
    /// Version of the program.
    pub version: &'static str,
}

impl Frame {
    /// The layout of a page for somebody who is logged in.
    pub fn of(visitor: &Visitor, title: impl Into<String>) -> Self {
        Self { product: visitor.product, visitor: Some(visitor.clone()), ..Self::bare(title) }
    }

    /// The layout of a page for which no log-in is needed.
    pub fn bare(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            product: "",
            visitor: None,
            crumbs: Vec::new(),
            tabs: Vec::new(),
            steps: Vec::new(),
            records: Vec::new(),
            live: None,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// Adds breadcrumbs.
    pub fn under(mut self, crumbs: Vec<Link>) -> Self {
        self.crumbs = crumbs;
        self
    }

    /// Adds tabs.
    pub fn beside(mut self, tabs: Vec<Link>) -> Self {
        self.tabs = tabs;
        self
    }

    /// Adds the steps of a task.
    pub fn within(mut self, steps: Vec<StepShown>) -> Self {
        self.steps = steps;
        self
    }

    /// Adds records at the foot.
    pub fn above(mut self, records: Vec<Link>) -> Self {
        self.records = records;
        self
    }

    /// Makes the page update itself whenever the events at this address say so.
    pub fn live(mut self, events: impl Into<String>) -> Self {
        self.live = Some(events.into());
        self
    }

    /// The address of a stylesheet or script.
    pub fn asset(&self, name: &str) -> String {
        assets::address(name)
    }

    /// The hidden field with the token against forged requests (CSRF), which every form needs.
    pub fn csrf(&self) -> Html {
        let token = self.visitor.as_ref().map_or_else(String::new, |v| v.forms.reveal());
        Html(format!("<input type=\"hidden\" name=\"csrf\" value=\"{token}\">"))
    }
}

/// Renders a page as a response.
pub fn render(page: &impl Template) -> Response {
    respond(StatusCode::OK, page)
}

/// Renders a page as a response with this status.
pub fn respond(status: StatusCode, page: &impl Template) -> Response {
    let html = [(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))];
    match page.render() {
        Ok(text) => (status, html, text).into_response(),
        // Rendering into memory does not fail. If it did, no page could report it.
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the page cannot be written\n").into_response(),
    }
}
