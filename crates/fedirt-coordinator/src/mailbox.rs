//! A coordinator behind a mailbox: one study, whose messages a courier carries. What sites may ask is what they may ask over
//! HTTPS, and every part is checked in the same way; mail for a site goes to whoever brings that site's signed poll.

use crate::core::Core;
use crate::http::HttpProblem;
use crate::study::Study;
use crate::{Error, Folder, calls, clock, folder};
use data_encoding::HEXLOWER;
use fedirt_privacy::secure::Identity;
use fedirt_protocol::SiteId;
use fedirt_protocol::coordinator::Phase;
use fedirt_protocol::envelope::{self, Poll};
use fedirt_protocol::mailbox::{FromCoordinatorMailbox, Parcel, PartKind, StudyStands, ToCoordinatorMailbox};
use fedirt_protocol::message::ToCoordinator;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::path::Path;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A study that is served to a courier.
#[derive(Debug)]
pub struct CoordinatorMailbox {
    core: Core,
    study: Arc<Study>,
    identity: Identity,
}

/// The key with which a folder's coordinator signs its mail; made when it is first needed.
pub(crate) fn identity(folder: &Folder) -> Result<Identity, Error> {
    let path = folder.mailbox_key();
    if !path.exists() {
        let secret = Identity::generate(&mut UnwrapErr(SysRng)).secret();
        let text = Zeroizing::new(HEXLOWER.encode(secret.as_ref()) + "\n");
        folder::create(&path, &text).map_err(Error::file(&path))?;
    }
    let text = Zeroizing::new(std::fs::read_to_string(&path).map_err(Error::file(&path))?);
    let secret = HEXLOWER.decode(text.trim().as_bytes()).ok().map(Zeroizing::new);
    let secret = secret.and_then(|bytes| <[u8; 32]>::try_from(bytes.as_slice()).ok()).map(Zeroizing::new);
    let secret = secret.ok_or_else(|| {
        Error::content(&path, "a key has 64 hexadecimal digits: restore it from a back-up, for sites know the coordinator by it")
    })?;
    Ok(Identity::from_secret(&secret))
}

impl CoordinatorMailbox {
    /// Starts a study of a folder where it left off.
    pub fn start(path: &Path, study: &str) -> Result<Self, Error> {
        let folder = Folder::open(path)?;
        crate::invite::plan_file(&folder, study)?;
        let (core, identity) = Core::start(folder, Some(study), identity)?;
        let served = core.open.get(study);
        let study = served.ok_or_else(|| Error::Told(format!("the study {study} cannot be served")))?;
        Ok(Self { core, study, identity })
    }

    /// Answers a courier; what is said to be taken is on the disk.
    pub fn answer(&self, request: &Parcel<ToCoordinatorMailbox>) -> Parcel<FromCoordinatorMailbox> {
        let empty = FromCoordinatorMailbox::default();
        match (request.header, request.parts.as_slice()) {
            (ToCoordinatorMailbox::Status {}, []) => {
                Parcel::of(FromCoordinatorMailbox { status: Some(self.status()), ..empty })
            }
            (ToCoordinatorMailbox::Take { kind }, [part]) => self.take(kind, part).unwrap_or_else(|problem| {
                tracing::warn!(study = %self.study.name, ?kind, code = problem.code, detail = problem.detail, "a part was not taken");
                // Whose part it claims to be is told for people; it is no sign of who sent it.
                let refused = Some((problem.code.to_owned(), problem.detail));
                Parcel::of(FromCoordinatorMailbox { refused, ..empty })
            }),
            (ToCoordinatorMailbox::Status {} | ToCoordinatorMailbox::Take { .. }, parts) => {
                let detail = format!("{} parts are not what this asks for", parts.len());
                let refused = Some(("malformed".to_owned(), detail));
                Parcel::of(FromCoordinatorMailbox { refused, ..empty })
            }
        }
    }

    fn take(&self, kind: PartKind, part: &[u8]) -> Result<Parcel<FromCoordinatorMailbox>, HttpProblem> {
        let by =
            |site: &SiteId| FromCoordinatorMailbox { site: Some(site.to_string()), ..Default::default() };
        let study = &self.study;
        match kind {
            PartKind::Enrol => {
                let named = |name: &str| match name == study.name.as_str() {
                    true => Ok(study.clone()),
                    false => Err(calls::no_study()),
                };
                Ok(Parcel::of(by(&self.core.runtime.block_on(calls::enrol(part, named))?)))
            }
            PartKind::Message => {
                let (site, message) = calls::unseal::<ToCoordinator>(study, part, envelope::MESSAGE)?;
                self.core.runtime.block_on(calls::take(study, site.clone(), message))?;
                Ok(Parcel::of(by(&site)))
            }
            PartKind::Poll => {
                let (site, poll) = calls::unseal::<Poll>(study, part, envelope::POLL)?;
                study.seen(&site, clock::now().0);
                let mail = study.mail(&site).and_then(|mail| mail.borrow().clone());
                let Some(mail) = mail.filter(|mail| mail.step > poll.seen) else {
                    return Ok(Parcel::of(by(&site)));
                };
                let sealed = envelope::seal_notice(&study.name, &site, &self.identity, &mail.bytes);
                let header = FromCoordinatorMailbox { step: Some(mail.step), ..by(&site) };
                Ok(Parcel { header, parts: vec![sealed] })
            }
        }
    }

    fn status(&self) -> StudyStands {
        let status = self.study.status();
        StudyStands {
            study: self.study.name.to_string(),
            phase: status.as_ref().map_or(Phase::Gathering, |status| status.phase),
            sites: status.map_or_else(Vec::new, |s| s.sites.into_iter().map(|site| site.name).collect()),
        }
    }

    /// Waits until the process is asked to end (SIGTERM, SIGINT) or the disk refuses.
    pub fn until_signal(&self) -> Result<(), Error> {
        self.core.until_signal()
    }

    /// Stops, and writes everything.
    pub fn stop(self) -> Result<(), Error> {
        self.core.stop()
    }
}
