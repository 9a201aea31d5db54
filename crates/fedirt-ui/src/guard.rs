//! Middleware before each route. It checks, in this order, host, origin, session, right and form token.

use crate::access::Login;
use crate::error::PageError;
use crate::fields::Fields;
use crate::gate::Gate;
use crate::login;
use crate::role::{Right, Role};
use crate::secret::Secret;
use crate::session::Open;
use axum::extract::ConnectInfo;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of a form, in bytes.
pub const LONGEST_FORM: usize = 4 << 20;
/// Time limit for receiving a form.
const FORM_TIMEOUT: Duration = Duration::from_secs(60);

/// The person who is logged in. Handlers of routes that need a right find it as an extension of the request.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Name.
    pub name: String,
    /// Role.
    pub role: Role,
    /// The token that forms must send back (CSRF).
    pub forms: Secret,
    /// The program whose pages these are.
    pub product: &'static str,
}

impl Visitor {
    fn new(gate: &Gate, login: Login, open: Open) -> Self {
        Self { name: login.name, role: login.role, forms: open.forms, product: gate.settings().product }
    }

    /// Whether the visitor has this right.
    pub fn may(&self, right: Right) -> bool {
        self.role.may(right)
    }

    /// Whether the visitor may change something. Templates leave out what would be refused.
    pub fn administers(&self) -> bool {
        self.may(Right::Administer)
    }

    /// Whether the visitor may have something computed.
    pub fn analyses(&self) -> bool {
        self.may(Right::Analyse)
    }
}

/// What the body of a `POST` request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// A form.
    Form,
    /// A file, which the handler reads itself. The form token is in the header [`TOKEN`].
    File,
}

/// The header that carries the form token when a page uploads a file.
const TOKEN: &str = "x-fedirt-form";

/// The gate, the right that a route needs (`None`: no log-in), and what its body is.
pub(crate) type Guarded = (Arc<Gate>, Option<Right>, Takes);

/// The middleware: runs all checks and then the handler.
pub(crate) async fn guard(
    State((gate, right, takes)): State<Guarded>,
    mut request: Request,
    next: Next,
) -> Response {
    if !gate.knows_host(request.headers()) {
        let known = gate.settings().hosts.join(", ");
        let text = format!("These pages are not served under this name. Their names are: {known}.");
        return PageError::new(StatusCode::MISDIRECTED_REQUEST, "Wrong host name", text).into_response();
    }
    let posted = request.method() == Method::POST;
    if posted && !gate.is_ours(request.headers()) {
        let text =
            "The form was sent from another page. Nothing was done. Open the page here and send its form.";
        return after(request, PageError::forbidden(text).into_response()).await;
    }
    let mut visitor = None;
    if let Some(right) = right {
        let passive = request.headers().contains_key("x-fedirt-live")
            || request.headers().get(header::ACCEPT).is_some_and(|accept| accept == "text/event-stream");
        let Some((login, open)) = gate.who(request.headers(), passive) else {
            let answer = stranger(&gate, &request, posted || passive);
            return after(request, answer).await;
        };
        if !login.role.may(right) {
            let text = format!(
                "You are logged in as {} ({}); this requires {}. Nothing was done.",
                login.name,
                login.role,
                if right == Right::Administer { "an administrator" } else { "an analyst or administrator" }
            );
            return after(request, PageError::forbidden(text).into_response()).await;
        }
        visitor = Some(Visitor::new(&gate, login, open));
    }
    if posted && takes == Takes::File {
        let token = request.headers().get(TOKEN).and_then(|token| token.to_str().ok()).unwrap_or_default();
        if !visitor.as_ref().is_some_and(|visitor| visitor.forms.is(token)) {
            return not_our_form().into_response();
        }
    } else if posted {
        request = match form(request, visitor.as_ref()).await {
            Ok(request) => request,
            Err(error) => return (*error).into_response(),
        };
    }
    if let Some(visitor) = visitor {
        request.extensions_mut().insert(visitor);
    }
    next.run(request).await
}

/// Refuses a request after reading its body to the end, because a browser whose connection is closed while it sends a form
/// shows no page at all.
async fn after(request: Request, answer: Response) -> Response {
    if request.method() == Method::POST {
        let body = request.into_body();
        let _ = tokio::time::timeout(FORM_TIMEOUT, axum::body::to_bytes(body, LONGEST_FORM)).await;
    }
    answer
}

/// Redirects to the log-in page. It says so if the session has expired, and leads back afterwards.
fn stranger(gate: &Gate, request: &Request, tell: bool) -> Response {
    let path = request.uri().path_and_query().map_or("/", |p| p.as_str());
    if tell || gate.cookie().find(request.headers()).is_some() {
        return login::expired(gate, path);
    }
    Redirect::to(&login::address(path)).into_response()
}

/// Reads a form into [`Fields`], and checks its token if there is a session.
async fn form(request: Request, visitor: Option<&Visitor>) -> Result<Request, Box<PageError>> {
    let (mut parts, body) = request.into_parts();
    let kind =
        parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        let text = "This address accepts only the form of its page.";
        return Err(Box::new(PageError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "That cannot be done",
            text,
        )));
    }
    let read = tokio::time::timeout(FORM_TIMEOUT, axum::body::to_bytes(body, LONGEST_FORM)).await;
    let Ok(Ok(bytes)) = read else {
        let text =
            format!("The form did not arrive completely, or was larger than {} MB.", LONGEST_FORM >> 20);
        return Err(Box::new(PageError::bad(text)));
    };
    let fields = Fields::parse(&bytes);
    if let Some(visitor) = visitor
        && !visitor.forms.is(fields.get("csrf"))
    {
        return Err(Box::new(not_our_form()));
    }
    parts.extensions.insert(fields);
    Ok(Request::from_parts(parts, axum::body::Body::empty()))
}

fn not_our_form() -> PageError {
    PageError::forbidden(
        "The form is from an earlier session, or was not made by these pages. Nothing was done. Go back, load the page \
         again, and send it from there.",
    )
}

/// The client's address, by which failed log-ins are counted. The server adds it to every request as an extension.
pub(crate) fn peer(request: &Request) -> IpAddr {
    let client = request.extensions().get::<ConnectInfo<SocketAddr>>();
    client.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |client| client.0.ip())
}
