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
    of_address: Option<OwnedSemaphorePermit>,
}

/// Where the memory for a body comes from: from everybody's, and for large bodies from that of its address first.
struct Memory {
    everybody: Arc<Semaphore>,
    of_address: Option<Arc<Semaphore>>,
}

impl Memory {
    /// One more chunk of each. Whoever has used up its own waits without keeping anybody else waiting.
    async fn chunk(&self) -> Result<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>), HttpProblem> {
        let take = async |from: &Arc<Semaphore>| {
            from.clone().acquire_many_owned(CHUNK).await.map_err(|_| HttpProblem::unavailable())
        };
        let own = match &self.of_address {
            Some(of_address) => Some(take(of_address).await?),
            None => None,
        };
        Ok((take(&self.everybody).await?, own))
    }
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
    let memory = if length <= SMALL {
        Memory { everybody: app.small_bodies.clone(), of_address: None }
    } else {
        let of_address = request.extensions().get::<AddressMemory>().map(|AddressMemory(own)| own.clone());
        Memory { everybody: app.body_budget.clone(), of_address }
    };
    let read = async {
        let (share, of_address) = memory.chunk().await?;
        let mut body = ReadBody { bytes: Vec::new(), share, of_address };
        collect(request.into_body(), length, &memory, &mut body).await?;
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
    memory: &Memory,
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
            let (share, of_address) = memory.chunk().await?;
            read.share.merge(share);
            if let (Some(held), Some(more)) = (&mut read.of_address, of_address) {
                held.merge(more);
            }
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
        let everybody = Arc::new(Semaphore::new(8 * CHUNK as usize));
        let address = || Some(Arc::new(Semaphore::new(2 * CHUNK as usize)));
        let (hostile, other) = (
            Memory { everybody: everybody.clone(), of_address: address() },
            Memory { everybody: everybody.clone(), of_address: address() },
        );
        let held = (hostile.chunk().await.unwrap(), hostile.chunk().await.unwrap());
        let third = tokio::time::timeout(Duration::from_millis(20), hostile.chunk()).await;
        assert!(third.is_err(), "its own share is used up");
        assert!(other.chunk().await.is_ok());
        assert_eq!(everybody.available_permits(), 6 * CHUNK as usize, "a wait holds nothing of everybody's");
        drop(held);
        assert!(hostile.chunk().await.is_ok());
    }
}
