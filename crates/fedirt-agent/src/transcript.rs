//! `transcript.jsonl`: everything that leaves the site, one line each, before it leaves.
//!
//! In `plain` the numbers stand in it; in the other modes their names, sizes and the hash of the message, as writing
//! the numbers down would undo what hides them.

use super::durable::{self, Readers};
use super::journal::sha256;
use super::{AgentError, clock};
use fedirt_model::statistics::{Combination, Statistic};
use fedirt_privacy::secure::SignedHello;
use fedirt_protocol::codec;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::encoding::{self, Precision};
use fedirt_protocol::message::{Broadcast, Question, Sums, ToCoordinator, Turn};
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A transcript.
#[derive(Debug)]
pub(super) struct Transcript {
    path: PathBuf,
    file: File,
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    /// Size of the message.
    bytes: usize,
    sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    booklets: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    statistics: Vec<Numbers>,
}

#[derive(Serialize)]
struct Numbers {
    name: &'static str,
    meaning: &'static str,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Vec<f64>>,
}

impl Transcript {
    pub(super) fn open(path: &Path) -> Result<Self, AgentError> {
        let file = durable::open_to_append(path, Readers::Owner)?;
        Ok(Self { path: path.to_path_buf(), file })
    }

    /// Writes down what is about to be sent; `question` is what an upload answers.
    pub(super) fn write(
        &mut self,
        message: &ToCoordinator,
        question: Option<&(Turn, Broadcast)>,
    ) -> Result<(), AgentError> {
        let bytes = codec::encode(message)?;
        let (turn, reason) = match message {
            ToCoordinator::Upload { turn, .. } => (Some(*turn), None),
            ToCoordinator::Refuse { turn, reason } => (Some(*turn), Some(reason.as_str())),
            ToCoordinator::Hello(hello) => (turn_of(hello), None),
            _ => (None, None),
        };
        let line = Line {
            time: clock::text(clock::now()),
            kind: message.kind(),
            round: turn.map(|t| t.round),
            attempt: turn.map(|t| t.attempt),
            bytes: bytes.len(),
            sha256: sha256(&bytes),
            reason,
            booklets: booklets(message),
            statistics: statistics(message, question),
        };
        let mut text = serde_json::to_string(&line)
            .map_err(|error| AgentError::at(&self.path)(std::io::Error::other(error)))?;
        text.push('\n');
        durable::append(&mut self.file, &self.path, &text)
    }
}

impl Transcript {
    /// Notes that the coordinator has taken a message: it is on its disk.
    pub(super) fn acknowledged(&mut self, message: &ToCoordinator) -> Result<(), AgentError> {
        let hash = sha256(&codec::encode(message)?);
        let time = clock::text(clock::now());
        let line = serde_json::json!({ "time": time, "kind": "acknowledged", "sha256": hash });
        durable::append(&mut self.file, &self.path, &format!("{line}\n"))
    }
}

/// The turn that a hello is for.
fn turn_of(hello: &[u8]) -> Option<Turn> {
    let hello = SignedHello::decode(hello).ok()?;
    let part = |n: u64| u32::try_from(n).ok();
    Some(Turn { round: part(hello.round().round)?, attempt: part(hello.round().attempt)? })
}

/// The rows by booklet that a declaration tells.
fn booklets(message: &ToCoordinator) -> Option<Vec<u64>> {
    let ToCoordinator::Join(declaration) = message else { return None };
    let rows = Declaration::read(declaration).ok()?.booklets;
    (rows.len() > 1).then_some(rows)
}

/// What an upload holds.
fn statistics(message: &ToCoordinator, question: Option<&(Turn, Broadcast)>) -> Vec<Numbers> {
    let (ToCoordinator::Upload { turn, sums, by_name }, Some((asked, told))) = (message, question) else {
        return Vec::new();
    };
    if turn != asked {
        return Vec::new();
    }
    let entry = |statistic: Statistic, count, numbers| Numbers {
        name: statistic.name,
        meaning: statistic.meaning,
        count,
        numbers,
    };
    if let (Sums::Plain(words), Question::Sums(request)) = (sums, &told.question) {
        let decode = |combination, words: &[u64]| {
            encoding::decode(request, told.bounds, Precision::Full, combination, words).unwrap_or_default()
        };
        let mut all = decode(Combination::Sum, words);
        all.extend(decode(Combination::BySite, by_name));
        return all.into_iter().map(|(s, numbers)| entry(s, numbers.len(), Some(numbers))).collect();
    }
    told.question.statistics().into_iter().map(|(statistic, count)| entry(statistic, count, None)).collect()
}
