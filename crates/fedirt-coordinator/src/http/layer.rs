//! Around every request: a number, counting, a log line, and headers that keep browsers careful.

use super::App;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
];

static REQUESTS: AtomicU64 = AtomicU64::new(0);

pub(super) async fn around(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed) + 1;
    let id = format!("{}-{number}", std::process::id());
    let path = request.extensions().get::<MatchedPath>();
    let route = path.map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let start = Instant::now();
    let mut response = next.run(request).await;
    let status = response.status().as_u16();
    app.metrics.request(&route, status);
    let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(request = id, route, status, milliseconds, "request");
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert("x-request-id", id);
    }
    response
}
