//! A site and a coordinator of a study for federation engines: machines that take and give bytes, the parcels of mailboxes. They keep
//! everything in the folders of `fedirt site` and `fedirt coordinator`, whose commands work beside them.

use crate::calls::tables;
use crate::failure::detached;
use crate::table::Source;
use fedirt_agent::{self as agent, Answer, Home, News, Officer, RosterAnswer, SiteMailbox, Study};
use fedirt_bindings::{Failure, Kind, Options, reading};
use fedirt_coordinator::CoordinatorMailbox;
use fedirt_privacy::secure::SiteId;
use fedirt_protocol::mailbox::Parcel;
use fedirt_protocol::site::{RosterShown, RoundShown};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A roster's fingerprint; its sites with the fingerprints of their keys and their students; how many officers must be called.
type RosterTold = (String, Vec<(String, String, u64)>, usize);

fn failed(error: impl Display) -> Failure {
    Failure::new(Kind::Calibration, error.to_string())
}

fn read<H: Serialize + DeserializeOwned>(request: &[u8]) -> Result<Parcel<H>, Failure> {
    Parcel::read(&mut &*request).map_err(|error| Failure::new(Kind::Data, error.to_string()))
}

fn written<H: Serialize + DeserializeOwned>(answer: &Parcel<H>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    answer.write(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Nobody can be asked by a machine: rosters wait for [`Site::approve`], unless the policy trusts the coordinator's.
#[derive(Debug)]
struct Waiting {
    trusting: bool,
    heard: Vec<String>,
}

impl Officer for Waiting {
    fn roster(&mut self, shown: &RosterShown, _known: &BTreeSet<SiteId>) -> RosterAnswer {
        self.heard.extend(shown.caution.clone());
        if self.trusting { RosterAnswer::Verified(shown.names()) } else { RosterAnswer::NotNow }
    }

    fn round(&mut self, round: &RoundShown) -> Answer {
        self.heard.push(format!("{} waits for approval", round.turn));
        Answer::NotNow
    }

    fn news(&mut self, news: News<'_>) {
        match news {
            News::Caution(text) => self.heard.push(text.to_owned()),
            News::Refused { turn, reason } => {
                let place = turn.map_or(String::new(), |turn| format!("{turn}: "));
                self.heard.push(format!("refused: {place}{reason}"));
            }
            News::NotTaken { kind, error } => self.heard.push(format!("the {kind} was not taken: {error}")),
            News::Waiting(_) | News::Sent { .. } | News::Unreachable { .. } => {}
        }
    }
}

/// A site of a study, from the home folder of `fedirt site`.
#[pyclass(module = "fedirt._native", frozen)]
pub(crate) struct Site {
    home: Home,
    study: String,
    mailbox: SiteMailbox,
    officer: Mutex<Waiting>,
}

impl Site {
    fn study(&self) -> Result<Study, Failure> {
        self.home.known_study(&self.study).and_then(|folder| folder.load()).map_err(failed)
    }
}

#[pymethods]
impl Site {
    #[new]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are the arguments of a function of Python, which has names for them"
    )]
    fn new(
        py: Python<'_>,
        home: PathBuf,
        study: String,
        files: Vec<PathBuf>,
        population: Option<String>,
        scores: bool,
        about_items: HashMap<String, Source>,
        options: &str,
    ) -> PyResult<Self> {
        detached(py, || {
            let home = Home::open(&home).map_err(failed)?;
            let opened = home.known_study(&study).and_then(|folder| folder.load()).map_err(failed)?;
            let options = reading(tables(about_items), &Options::from_json(options)?)?;
            let own = agent::read_for_plan(&files, &options, &opened.plan).map_err(failed)?;
            let trusting = home.policy().map_err(failed)?.trust_roster_from_coordinator;
            let mut heard = own.remarks(fedirt::Audience::Library);
            let (mailbox, notes) =
                SiteMailbox::new(&home, opened, own, population.as_deref(), scores).map_err(failed)?;
            heard.extend(notes);
            Ok(Self { home, study, mailbox, officer: Mutex::new(Waiting { trusting, heard }) })
        })
    }

    /// Takes what a courier brings, and gives what it is to take along.
    fn exchange(&self, py: Python<'_>, request: &[u8]) -> PyResult<Vec<u8>> {
        detached(py, || {
            let request = read(request)?;
            let mut officer = self.officer.lock().unwrap_or_else(PoisonError::into_inner);
            written(&self.mailbox.exchange(&request, &mut *officer).map_err(failed)?)
        })
    }

    /// The roster that waits for approval: its fingerprint, the sites with the fingerprints of their keys and their numbers of
    /// students, and how many of the other officers have to be called.
    fn roster(&self, py: Python<'_>) -> PyResult<Option<RosterTold>> {
        detached(py, || {
            let shown = agent::roster_shown(&self.study()?.folder).map_err(failed)?;
            let site = |(site, key, students): &(SiteId, _, u64)| {
                let key: &fedirt_privacy::secure::Fingerprint = key;
                (site.to_string(), key.to_string(), *students)
            };
            Ok(shown.map(|shown| {
                (shown.fingerprint.to_string(), shown.sites.iter().map(site).collect(), shown.calls)
            }))
        })
    }

    /// Approves the roster of that fingerprint, which the officers of these sites have read out.
    fn approve(&self, py: Python<'_>, fingerprint: &str, called: Vec<String>) -> PyResult<()> {
        detached(py, || {
            let trusting = self.home.policy().map_err(failed)?.trust_roster_from_coordinator;
            let approved = agent::approve(&self.study()?, fingerprint, &called, trusting).map_err(failed)?;
            approved.map(drop).map_err(failed)
        })
    }

    /// What the officer should know, since this was asked last.
    fn news(&self) -> Vec<String> {
        std::mem::take(&mut self.officer.lock().unwrap_or_else(PoisonError::into_inner).heard)
    }
}

/// A study of the coordinator, from the folder of `fedirt coordinator`.
#[pyclass(module = "fedirt._native", frozen)]
pub(crate) struct Coordinator(Mutex<Option<CoordinatorMailbox>>);

#[pymethods]
impl Coordinator {
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, study: String) -> PyResult<Self> {
        let mailbox = detached(py, || CoordinatorMailbox::start(&folder, &study).map_err(failed))?;
        Ok(Self(Mutex::new(Some(mailbox))))
    }

    /// Answers a courier; what is said to be taken is on the disk.
    fn answer(&self, py: Python<'_>, request: &[u8]) -> PyResult<Vec<u8>> {
        detached(py, || {
            let request = read(request)?;
            let mailbox = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mailbox = mailbox.as_ref().ok_or_else(|| failed("this coordinator was closed"))?;
            written(&mailbox.answer(&request))
        })
    }

    /// Writes everything and gives the folder back; a coordinator that is closed already stays so.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || {
            let mailbox = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            mailbox.map_or(Ok(()), |mailbox| mailbox.stop().map_err(failed))
        })
    }
}
