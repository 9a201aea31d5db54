//! Bodies: never longer than allowed, never slower, and never too many at a time.

use super::{App, HttpProblem};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies that are too long, but not by far, are read to their end before they are refused.
const DRAINED: usize = 1 << 20;

/// Bodies up to this many bytes have memory of their own.
const SMALL: usize = 64 << 10;
/// Most seconds for such a body.
const SMALL_SECONDS: u64 = 15;
/// Kibibytes that are reserved at a time.
const CHUNK: u32 = 64;

/// A body, and its share of the memory for bodies.
pub(super) struct ReadBody {
    pub(super) bytes: Vec<u8>,
    /// Given back when the request has been dealt with.
    _share: OwnedSemaphorePermit,
}

/// Reads a body of at most some bytes, whose length the request must say.
pub(super) async fn read(app: &App, request: Request, most: usize) -> Result<ReadBody, HttpProblem> {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()).and_then(|text| text.parse::<usize>().ok());
    let Some(length) = length else {
        return Err(HttpProblem::new(
            StatusCode::LENGTH_REQUIRED,
            "length_needed",
            "the request must say its length",
        ));
    };
    if length > most {
        if length <= DRAINED {
            // A client that is cut while it writes may not see the answer.
            let wait = Duration::from_secs(app.limits.body_seconds.min(5));
            let _ = tokio::time::timeout(wait, drain(request.into_body())).await;
        }
        return Err(too_long(length, most));
    }
    let slow =
        || HttpProblem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the body did not arrive in time");
    // Nobody knows who sends a body before it is there: small ones have little time.
    let seconds =
        if length <= SMALL { app.limits.body_seconds.min(SMALL_SECONDS) } else { app.limits.body_seconds };
    let limit = Duration::from_secs(seconds);
    // Large bodies cannot keep small ones waiting, and pay for what has arrived, not for what was announced.
    let budget = if length <= SMALL { &app.small_bodies } else { &app.body_budget };
    let read = async {
        let share = budget.clone().acquire_many_owned(CHUNK).await.map_err(|_| HttpProblem::unavailable())?;
        let mut body = ReadBody { bytes: Vec::new(), _share: share };
        collect(request.into_body(), length, budget, &mut body).await?;
        Ok(body)
    };
    tokio::time::timeout(limit, read).await.unwrap_or_else(|_| Err(slow()))
}

async fn drain(mut body: Body) {
    while let Some(Ok(_)) = body.frame().await {}
}

async fn collect(
    mut body: Body,
    length: usize,
    budget: &Arc<Semaphore>,
    read: &mut ReadBody,
) -> Result<(), HttpProblem> {
    while let Some(frame) = body.frame().await {
        let broken = |_| HttpProblem::new(StatusCode::BAD_REQUEST, "malformed", "the body broke off");
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        let arrived = read.bytes.len() + data.len();
        if arrived > length {
            return Err(too_long(arrived, length));
        }
        while arrived > read._share.num_permits() << 10 {
            let more =
                budget.clone().acquire_many_owned(CHUNK).await.map_err(|_| HttpProblem::unavailable())?;
            read._share.merge(more);
        }
        read.bytes.extend_from_slice(&data);
    }
    Ok(())
}

fn too_long(bytes: usize, most: usize) -> HttpProblem {
    let detail = format!("a body of {bytes} bytes is too long here: {most} is the most");
    HttpProblem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", detail)
}
