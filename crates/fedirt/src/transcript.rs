//! Everything that leaves a site, one line of JSON each, for the site's data officer to read.

use fedirt_model::exchange::Request;
use fedirt_model::responses::ResponseTable;
use fedirt_protocol::message::{ToCoordinator, Turn};
use fedirt_protocol::site::{SiteMachine, SiteOutput};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

/// A transcript in the making.
#[derive(Debug)]
pub(crate) struct Transcript {
    out: BufWriter<File>,
    /// The first thing that went wrong; nothing is written after it.
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
}

impl Transcript {
    /// A transcript kept in a file.
    pub(crate) fn new(file: File) -> Self {
        Self { out: BufWriter::new(file), error: None }
    }

    /// What a site says about itself before the first round, as its machine says it.
    pub(crate) fn enrolment(&mut self, name: &str, index: usize, table: ResponseTable) -> ResponseTable {
        let mut machine = SiteMachine::new(name.to_owned(), index, table);
        while let Some(output) = machine.poll() {
            let SiteOutput::Send(ToCoordinator::Enrol(enrolment)) = output else { continue };
            let codes =
                enrolment.codes.iter().map(|mask| (0..64).filter(|c| mask >> c & 1 == 1).collect()).collect();
            for (name, meaning, values) in [
                ("rows", "how many rows the site's table has", Values::Counts([enrolment.students])),
                ("codes", "for each item of the codebook, the codes that occur", Values::Codes(codes)),
                (
                    "weighted",
                    "1 if the site's students carry weights",
                    Values::Counts([u64::from(enrolment.weighted)]),
                ),
            ] {
                self.line(&Line { site: &enrolment.name, round: 0, name, meaning, point: None, values });
            }
        }
        machine.into_table()
    }

    /// What a site sends in a round.
    pub(crate) fn sent(&mut self, site: &str, turn: Turn, request: &Request, vectors: &[Vec<f64>]) {
        let schema = request.schema();
        for (at, (slot, values)) in schema.iter().zip(vectors).enumerate() {
            let info = slot.statistic.info();
            let same = |slots: &[fedirt_model::exchange::Slot]| {
                slots.iter().filter(|other| other.statistic == slot.statistic).count()
            };
            let point = (same(&schema) > 1).then(|| same(&schema[..=at]));
            self.line(&Line {
                site,
                round: turn.round,
                name: info.name,
                meaning: info.meaning,
                point,
                values: Values::Numbers(values),
            });
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        if self.error.is_some() {
            return;
        }
        let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
        self.error = written.and_then(|()| self.out.write_all(b"\n")).err();
    }

    /// Copies the transcript to its place.
    pub(crate) fn copy_to(self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        io::copy(&mut file, out)?;
        Ok(())
    }
}
