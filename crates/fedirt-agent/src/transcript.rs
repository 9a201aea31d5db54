//! `transcript.jsonl`: everything that leaves the site, one line each, before it leaves.
//!
//! In `plain` the numbers stand in it; in the other modes their names, sizes and the hash of the message, as writing
//! the numbers down would undo what hides them.

use super::AgentError;
use super::journal::sha256;
use super::store::Readers;
use super::study::{StudyFolder, in_results};
use super::transport::Delivery;
use fedirt_model::statistics::{Combination, Statistic};
use fedirt_privacy::hash_chain::whole_lines;
use fedirt_privacy::secure::SignedHello;
use fedirt_protocol::codec;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::encoding::{self, Precision};
use fedirt_protocol::message::{Broadcast, Question, Sums, ToCoordinator, Turn};
use serde::Serialize;

const FILE: &str = "transcript.jsonl";

/// A transcript.
#[derive(Debug)]
pub(super) struct Transcript {
    folder: StudyFolder,
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
    /// Opens a transcript. A torn last line, of what had not left yet, is cut off: the next one begins on a line of its own.
    pub(super) fn open(folder: &StudyFolder) -> Result<Self, AgentError> {
        let bytes = folder.read(&in_results(FILE))?.unwrap_or_default();
        let whole = whole_lines(&bytes);
        if whole.len() < bytes.len() {
            folder.replace(&in_results(FILE), whole, Readers::Owner)?;
        }
        Ok(Self { folder: folder.clone() })
    }

    fn append(&self, line: &impl Serialize) -> Result<(), AgentError> {
        let mut text = serde_json::to_vec(line).expect("lines have text keys");
        text.push(b'\n');
        let file = self.folder.file(&in_results(FILE));
        Ok(self.folder.home().store().append(&file, &text)?)
    }

    /// Writes down what is about to be sent; `question` is what an upload answers.
    pub(super) fn write(
        &self,
        message: &ToCoordinator,
        question: Option<&(Turn, Broadcast)>,
    ) -> Result<(), AgentError> {
        let bytes = codec::encode(message)?;
        let (turn, reason) = match message {
            ToCoordinator::Upload { turn, .. } => (Some(*turn), None),
            ToCoordinator::Refuse { turn, reason } => (Some(*turn), Some(reason.as_str())),
            ToCoordinator::Hello(hello) => (turn_of(hello), None),
            ToCoordinator::Enrol(_) | ToCoordinator::Join(_) | ToCoordinator::Approve { .. } => (None, None),
        };
        self.append(&Line {
            time: self.folder.home().now().to_string(),
            kind: message.kind(),
            round: turn.map(|t| t.round),
            attempt: turn.map(|t| t.attempt),
            bytes: bytes.len(),
            sha256: sha256(&bytes),
            reason,
            booklets: booklets(message),
            statistics: statistics(message, question),
        })
    }

    /// Notes what is known of a message that was handed over.
    pub(super) fn delivered(&self, message: &ToCoordinator, delivery: Delivery) -> Result<(), AgentError> {
        let hash = sha256(&codec::encode(message)?);
        let time = self.folder.home().now().to_string();
        self.append(&serde_json::json!({ "time": time, "kind": delivery.name(), "sha256": hash }))
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
