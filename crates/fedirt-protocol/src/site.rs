//! The site's machine: rows stay inside, sums come out.

use crate::Timestamp;
use crate::encoding;
use crate::message::{Enrolment, ToCoordinator, ToSite, Turn};
use fedirt_model::fit::Fit;
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::site::Site;
use std::collections::VecDeque;

/// What a site's shell must do.
#[derive(Debug)]
pub enum SiteOutput {
    /// Write this down before anything that follows is done: the answer of a turn, to be resent byte for byte.
    Persist {
        /// Which turn.
        turn: Turn,
        /// The ring elements.
        words: Vec<u64>,
    },
    /// Send this to the coordinator.
    Send(ToCoordinator),
    /// The calibration is over.
    Finished(Box<Fit>),
}

/// The machine.
#[derive(Debug)]
pub struct SiteMachine {
    site: Site,
    /// The highest turn answered, and its answer.
    answered: Option<(Turn, ToCoordinator)>,
    outputs: VecDeque<SiteOutput>,
}

impl SiteMachine {
    /// A site at a place in the cohort, with a table whose columns are the codebook's items.
    pub fn new(name: String, index: usize, table: ResponseTable) -> Self {
        let (students, total, largest) = match table.weights() {
            None => (table.students(), table.students() as f64, 1.0),
            Some(weights) => (
                weights.iter().filter(|w| **w > 0.0).count(),
                weights.iter().sum(),
                weights.iter().copied().fold(0.0, f64::max),
            ),
        };
        let enrolment = Enrolment {
            name,
            students: students as u64,
            codes: codes_used(&table),
            weighted: table.weights().is_some(),
            total_weight: total,
            largest_weight: largest,
        };
        let mut outputs = VecDeque::new();
        outputs.push_back(SiteOutput::Send(ToCoordinator::Enrol(enrolment)));
        Self { site: Site::new(table, index), answered: None, outputs }
    }

    /// Takes a message.
    pub fn handle(&mut self, _now: Timestamp, message: &ToSite) {
        match message {
            ToSite::Open { turn, bounds, request, .. } => {
                if let Some((last, answer)) = &self.answered {
                    if turn == last {
                        self.outputs.push_back(SiteOutput::Send(answer.clone()));
                    }
                    if turn <= last {
                        return;
                    }
                }
                let summary = self.site.answer(request);
                let answer = match encoding::encode(request, *bounds, &summary) {
                    Ok(words) => {
                        self.outputs.push_back(SiteOutput::Persist { turn: *turn, words: words.clone() });
                        ToCoordinator::Upload { turn: *turn, words }
                    }
                    Err(error) => ToCoordinator::Refuse { turn: *turn, reason: error.to_string() },
                };
                self.answered = Some((*turn, answer.clone()));
                self.outputs.push_back(SiteOutput::Send(answer));
            }
            ToSite::Finished(fit) => self.outputs.push_back(SiteOutput::Finished(fit.clone())),
        }
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<SiteOutput> {
        self.outputs.pop_front()
    }

    /// The site's own rows, for scoring at home.
    pub fn into_table(self) -> ResponseTable {
        self.site.into_table()
    }
}

/// For each column, the codes that occur, as a bit mask (codes are below 64).
fn codes_used(table: &ResponseTable) -> Vec<u64> {
    let mut masks = vec![0u64; table.items()];
    for (i, row) in table.rows().enumerate() {
        if table.weights().is_some_and(|w| w[i] == 0.0) {
            continue;
        }
        for (mask, &cell) in masks.iter_mut().zip(row) {
            if cell != MISSING {
                *mask |= 1u64 << (cell & 63);
            }
        }
    }
    masks
}
