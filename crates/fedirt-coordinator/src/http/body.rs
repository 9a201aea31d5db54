//! Bodies: never longer than allowed, never slower, and never too many at a time.

use super::listen::AddressMemory;
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
    share: OwnedSemaphorePermit,
    /// The same of the memory for bodies of its address, for large bodies.
    _of_address: Option<OwnedSemaphorePermit>,
}

async fn take(from: &Arc<Semaphore>, kibibytes: u32) -> Result<OwnedSemaphorePermit, HttpProblem> {
    from.clone().acquire_many_owned(kibibytes).await.map_err(|_| HttpProblem::unavailable())
}

/// The whole of a large body from the memory of its address: whoever waits for that holds nothing of everybody's.
async fn of_address(
    memory: Option<&AddressMemory>,
    length: usize,
) -> Result<Option<OwnedSemaphorePermit>, HttpProblem> {
    let Some(AddressMemory(memory)) = memory else { return Ok(None) };
    take(memory, u32::try_from(length.div_ceil(1 << 10)).unwrap_or(u32::MAX)).await.map(Some)
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
    let everybody = if length <= SMALL { &app.small_bodies } else { &app.body_budget };
    let memory = request.extensions().get::<AddressMemory>().filter(|_| length > SMALL).cloned();
    let read = async {
        let own = of_address(memory.as_ref(), length).await?;
        let share = take(everybody, CHUNK).await?;
        let mut body = ReadBody { bytes: Vec::new(), share, _of_address: own };
        collect(request.into_body(), length, everybody, &mut body).await?;
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
    everybody: &Arc<Semaphore>,
    read: &mut ReadBody,
) -> Result<(), HttpProblem> {
    while let Some(frame) = body.frame().await {
        let broken = |_| HttpProblem::new(StatusCode::BAD_REQUEST, "malformed", "the body broke off");
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        let arrived = read.bytes.len() + data.len();
        if arrived > length {
            return Err(too_long(arrived, length));
        }
        while arrived > read.share.num_permits() << 10 {
            read.share.merge(take(everybody, CHUNK).await?);
        }
        read.bytes.extend_from_slice(&data);
    }
    Ok(())
}

fn too_long(bytes: usize, most: usize) -> HttpProblem {
    let detail = format!("a body of {bytes} bytes is too long here: {most} is the most");
    HttpProblem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever fills the memory of its own address waits alone.
    #[tokio::test]
    async fn one_address_does_not_take_everybodys_memory() {
        let address = || AddressMemory(Arc::new(Semaphore::new(64 << 10)));
        let (hostile, other) = (address(), address());
        let (large, larger) = (40 << 20, 64 << 20);
        let held = of_address(Some(&hostile), large).await.unwrap();
        let second = tokio::time::timeout(Duration::from_millis(20), of_address(Some(&hostile), large)).await;
        assert!(second.is_err(), "its own share is used up");
        assert!(of_address(Some(&other), larger).await.is_ok());
        drop(held);
        assert!(of_address(Some(&hostile), larger).await.is_ok(), "the longest message fits");
    }
}
