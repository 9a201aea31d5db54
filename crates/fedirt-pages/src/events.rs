//! Server-sent events: a page hears that something has changed, and fetches its parts again.

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Channel;
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

/// How often something is said, so that a connection that broke is noticed.
const BREATH: Duration = Duration::from_secs(15);

/// A stream of events. `state` gives a text that is another one whenever the page should fetch itself again, and none when
/// the stream is over; it is asked every `pace`, and once more when `stop` says that the server ends.
pub fn stream(
    pace: Duration,
    mut state: impl FnMut() -> Option<String> + Send + 'static,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(4);
    tokio::spawn(async move {
        tokio::pin!(stop);
        // Browsers that lose the connection come back after two seconds.
        let mut told: Option<String> = None;
        let mut quiet = Duration::ZERO;
        if sender.send_data(Bytes::from_static(b"retry: 2000\n\n")).await.is_err() {
            return;
        }
        loop {
            let Some(now) = state() else { return };
            let word = match &told {
                Some(old) if *old != now => Some("event: changed\ndata: 1\n\n"),
                Some(_) if quiet >= BREATH => Some(": still here\n\n"),
                Some(_) => None,
                None => Some("event: ready\ndata: 1\n\n"),
            };
            told = Some(now);
            quiet = if word.is_some() { Duration::ZERO } else { quiet + pace };
            if let Some(word) = word
                && sender.send_data(Bytes::from_static(word.as_bytes())).await.is_err()
            {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(pace) => {}
                () = &mut stop => return,
            }
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::new(body)).into_response()
}
