//! Mailboxes: what a courier says to the two ends of a study that something else than HTTPS carries.
//!
//! A coordinator and a site each have a mailbox, and a courier that neither trusts goes between them: another federation
//! engine, a script, a person with a memory stick. Every part that it carries is signed by its sender, so that it can lose,
//! repeat, reorder and delay what it carries, and no more. One request, one answer:
//!
//! ```text
//! "FIRTBOX1" | header's length | number of parts | each part's length | header (JSON) | parts
//!              4 bytes, big-endian each                                  | at most 16 KiB
//! ```

use crate::codec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

const MAGIC: [u8; 8] = *b"FIRTBOX1";
/// Longest header.
const LONGEST_HEADER: usize = 16 << 10;
/// Most parts: a site says few things at a time.
const MOST_PARTS: usize = 8;
/// Bytes of all parts together: the longest message, its signature, and the small ones beside it.
const MOST_BYTES: usize = codec::MAX_BYTES + (1 << 20);

/// A request or an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel<H> {
    /// What it is about.
    pub header: H,
    /// What is carried.
    pub parts: Vec<Vec<u8>>,
}

/// Why bytes are no parcel.
#[derive(Debug, thiserror::Error)]
pub enum ParcelError {
    /// They do not come, or break off.
    #[error("the parcel breaks off: {0}")]
    Broken(#[from] io::Error),
    /// They begin with something else.
    #[error("this is no parcel for a mailbox")]
    NotOurs,
    /// A length that is beyond the limits.
    #[error("{what} of a parcel: {got}, and {most} is the most")]
    TooLong {
        /// Of what.
        what: &'static str,
        /// How much it says.
        got: usize,
        /// How much is taken.
        most: usize,
    },
    /// The header is not what is expected here.
    #[error("the parcel's header cannot be read: {0}")]
    Header(#[from] serde_json::Error),
}

fn within(what: &'static str, got: usize, most: usize) -> Result<usize, ParcelError> {
    if got <= most { Ok(got) } else { Err(ParcelError::TooLong { what, got, most }) }
}

fn number(from: &mut impl Read) -> Result<usize, ParcelError> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes) as usize)
}

/// Reads as many bytes as were announced; memory grows with what arrives.
fn bytes(from: &mut impl Read, length: usize) -> Result<Vec<u8>, ParcelError> {
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(bytes) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) }
}

impl<H: Serialize + DeserializeOwned> Parcel<H> {
    /// A header without parts.
    pub fn of(header: H) -> Self {
        Self { header, parts: Vec::new() }
    }

    /// Reads one.
    pub fn read(from: &mut impl Read) -> Result<Self, ParcelError> {
        let mut magic = [0; MAGIC.len()];
        from.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(ParcelError::NotOurs);
        }
        let header = within("header", number(from)?, LONGEST_HEADER)?;
        let count = within("number of parts", number(from)?, MOST_PARTS)?;
        let lengths = (0..count).map(|_| number(from)).collect::<Result<Vec<_>, _>>()?;
        within("bytes", lengths.iter().sum(), MOST_BYTES)?;
        let header = serde_json::from_slice(&bytes(from, header)?)?;
        let parts = lengths.into_iter().map(|length| bytes(from, length)).collect::<Result<_, _>>()?;
        Ok(Self { header, parts })
    }

    /// Writes it.
    pub fn write(&self, to: &mut impl Write) -> Result<(), ParcelError> {
        let header = serde_json::to_vec(&self.header)?;
        within("header", header.len(), LONGEST_HEADER)?;
        within("number of parts", self.parts.len(), MOST_PARTS)?;
        within("bytes", self.parts.iter().map(Vec::len).sum(), MOST_BYTES)?;
        let lengths = [header.len(), self.parts.len()].into_iter().chain(self.parts.iter().map(Vec::len));
        let numbers = lengths.flat_map(|length| {
            u32::try_from(length).expect("lengths within the limits have 32 bits").to_be_bytes()
        });
        to.write_all(&MAGIC.into_iter().chain(numbers).chain(header).collect::<Vec<u8>>())?;
        self.parts.iter().try_for_each(|part| to.write_all(part))?;
        Ok(to.flush()?)
    }
}

/// What a courier asks at a site: with the coordinator's sealed mail as its one part, or without any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToSiteMailbox {
    /// The study that it is about.
    pub study: String,
}

/// What a site's mailbox answers; its parts are named by `parts`, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromSiteMailbox {
    /// Where the study stands at this site.
    pub state: SiteStands,
    /// What the parts are.
    pub parts: Vec<PartKind>,
}

/// A part of a site's answer. All of them are for the coordinator's mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// An [`crate::envelope::EnrolRequest`].
    Enrol,
    /// A sealed [`crate::message::ToCoordinator`].
    Message,
    /// A sealed [`crate::envelope::Poll`], which asks for the site's mail: good until there is later mail.
    Poll,
}

/// Where a study stands at a site, as far as a courier has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteStands {
    /// It has done what was asked, and waits for later mail.
    Waiting,
    /// Its officer has to approve something first; the same mail is good again in a while.
    Officer,
    /// Another program is at work on the study; the same mail is good again in a moment.
    Busy,
    /// The study is over here.
    Over,
    /// The request was not taken: another study, or mail that the coordinator has not signed for this site.
    NotTaken,
    /// Something is wrong at the site, and its log says what. The same mail is good again in a while.
    Fault,
}

/// What a courier asks at the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask", deny_unknown_fields)]
pub enum ToCoordinatorMailbox {
    /// Take the part of a site's answer, of this kind.
    Take {
        /// What it is.
        kind: PartKind,
    },
    /// Where the study stands; no part.
    Status {},
}

/// What the coordinator's mailbox answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FromCoordinatorMailbox {
    /// Whose part it was, once its signature has been checked. A courier knows sites by nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The step of the mail that is the answer's part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Why a part was not taken: a stable name and a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<(String, String)>,
    /// Where the study stands, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<StudyStands>,
}

/// Where a study stands, as far as a courier has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyStands {
    /// Its name.
    pub study: String,
    /// Where it stands.
    pub phase: crate::coordinator::Phase,
    /// Its sites.
    pub sites: Vec<String>,
}
