//! Server-sent events: they tell a page that something has changed, and the page then fetches its live parts again.

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Channel;
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;
use tokio::sync::watch;

/// Interval of keep-alive messages, by which both sides notice a broken connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Changes within this time make one event: rounds may follow each other quickly.
const AT_MOST_EVERY: Duration = Duration::from_millis(150);

/// A stream of events: one whenever the number changes, until `stop` says that the server shuts down.
pub fn follow(
    mut changes: watch::Receiver<u64>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(4);
    tokio::spawn(async move {
        tokio::pin!(stop);
        // Browsers that lose the connection try again after two seconds.
        let mut message = "retry: 2000\n\nevent: ready\ndata: 1\n\n";
        loop {
            if sender.send_data(Bytes::from_static(message.as_bytes())).await.is_err() {
                return;
            }
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    message = "event: changed\ndata: 1\n\n";
                    tokio::time::sleep(AT_MOST_EVERY).await;
                    changes.mark_unchanged();
                }
                () = tokio::time::sleep(KEEP_ALIVE) => message = ": still here\n\n",
                () = &mut stop => return,
            }
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::new(body)).into_response()
}

/// A stream of events about what has to be looked up. `state` returns a text that changes whenever the page should be fetched again, and `None` when
/// the stream ends. It is called at every `pace`, and once more when `stop` says that the server shuts down.
pub fn stream(
    pace: Duration,
    mut state: impl FnMut() -> Option<String> + Send + 'static,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(4);
    tokio::spawn(async move {
        tokio::pin!(stop);
        // Browsers that lose the connection try again after two seconds.
        let mut told: Option<String> = None;
        let mut quiet = Duration::ZERO;
        if sender.send_data(Bytes::from_static(b"retry: 2000\n\n")).await.is_err() {
            return;
        }
        loop {
            let Some(now) = state() else { return };
            let message = match &told {
                Some(old) if *old != now => Some("event: changed\ndata: 1\n\n"),
                Some(_) if quiet >= KEEP_ALIVE => Some(": still here\n\n"),
                Some(_) => None,
                None => Some("event: ready\ndata: 1\n\n"),
            };
            told = Some(now);
            quiet = if message.is_some() { Duration::ZERO } else { quiet + pace };
            if let Some(message) = message
                && sender.send_data(Bytes::from_static(message.as_bytes())).await.is_err()
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
