//! The transcript of everything that a site sends, as lines of JSON for the site's data officer.

use fedirt_model::fit::TraceEntry;
use fedirt_model::statistics::Statistic;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{Observer, Sent};
use fedirt_protocol::message::{Question, Turn};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// An observer of [`fit_with`](crate::fit_with) that writes everything that a site would send.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, fit_with, read};
/// # use rand::SeedableRng;
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// # let options = FitOptions { model: Some("rasch".into()), ..FitOptions::default() };
/// # let mut random = rand::rngs::ChaCha20Rng::from_seed([7; 32]);
/// use fedirt::Transcript;
///
/// let mut transcript = Transcript::new(Vec::new());
/// fit_with(&responses, &options, &mut random, &mut transcript)?;
/// let lines = String::from_utf8(transcript.finish()?)?;
/// assert!(lines.lines().all(|line| line.contains("\"site\":\"north\"")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Transcript<W> {
    out: W,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

/// One statistic of one site in one round.
#[derive(Serialize)]
struct Line<'a> {
    site: &'a str,
    /// Round, counted from 1; 0 is the enrolment.
    round: u32,
    name: &'a str,
    meaning: &'a str,
    /// Which of several points the numbers are about, where a round asks about more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    point: Option<usize>,
    values: Values<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Values<'a> {
    Numbers(&'a [f64]),
    Counts([u64; 1]),
    Codes(Vec<Vec<u8>>),
    /// Masked numbers: how many, and the hash of the whole message.
    Masked {
        masked: usize,
        sha256: String,
    },
}

impl<W: Write> Transcript<W> {
    /// A transcript that is written to `out`.
    pub fn new(out: W) -> Self {
        Self { out, error: None }
    }

    /// Returns the writer, or the first error.
    pub fn finish(mut self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        if self.error.is_some() {
            return;
        }
        let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
        self.error = written.and_then(|()| self.out.write_all(b"\n")).err();
    }
}

impl<W: Write> Observer for Transcript<W> {
    fn round(&mut self, _entry: &TraceEntry) {}

    /// What a site says about itself before the first round.
    fn declared(&mut self, site: &str, declaration: &Declaration) {
        let codes = declaration.codes.iter().map(|codes| codes.iter().collect()).collect();
        for (name, meaning, values) in [
            ("rows", "how many rows the site's table has", Values::Counts([declaration.students])),
            (
                "codes",
                "for each item of the codebook, the codes that occur (in secure: all, where the item is given)",
                Values::Codes(codes),
            ),
            (
                "weighted",
                "1 if the site's students carry weights",
                Values::Counts([u64::from(declaration.weighted)]),
            ),
        ] {
            self.line(&Line { site, round: 0, name, meaning, point: None, values });
        }
    }

    /// What a site sends in a round: numbers, or where they are masked their names, sizes and a hash.
    fn sent(&mut self, site: &str, turn: Turn, question: &Question, sent: Sent<'_>) {
        let statistics: Vec<(Statistic, Values<'_>)> = match sent {
            Sent::Numbers(numbers) => numbers.iter().map(|(s, v)| (*s, Values::Numbers(v))).collect(),
            Sent::Masked(bytes) => {
                let hash: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
                let masked = |len| Values::Masked { masked: len, sha256: hash.clone() };
                question.statistics().into_iter().map(|(statistic, len)| (statistic, masked(len))).collect()
            }
        };
        let names: Vec<Statistic> = statistics.iter().map(|(statistic, _)| *statistic).collect();
        for (at, (statistic, values)) in statistics.into_iter().enumerate() {
            let same = |some: &[Statistic]| some.iter().filter(|other| **other == statistic).count();
            let point = (same(&names) > 1).then(|| same(&names[..=at]));
            let (name, meaning, round) = (statistic.name, statistic.meaning, turn.round);
            self.line(&Line { site, round, name, meaning, point, values });
        }
    }

    fn wants_numbers(&self) -> bool {
        true
    }
}
