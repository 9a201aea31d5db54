//! Invitations: one line of text for a site, good for one enrolment. The store keeps a hash of the secret only.

use crate::store::{EventLog, SqliteLog};
use crate::{Error, Folder, Settings, authority, clock, mailbox, study};
use fedirt_protocol::SiteId;
use fedirt_protocol::invitation::{Address, Invitation, NotAnAddress};
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::{Digest, Sha256};

/// A day in milliseconds.
const DAY: u64 = 86_400_000;

/// A new invitation.
#[derive(Debug)]
pub struct Invited {
    /// What to hand to the site.
    pub invitation: Invitation,
    /// Earlier invitations of this site that are not good any more.
    pub withdrawn: usize,
}

/// Invites a site to a study. Works beside a coordinator that runs.
pub fn invite(
    folder: &Folder,
    study: &str,
    site: &str,
    days: u32,
    address: Option<&str>,
) -> Result<Invited, Error> {
    let settings = Settings::read(&folder.settings())?;
    let own = settings.public_address(settings.listen.port());
    let told = |error: NotAnAddress| Error::Told(error.to_string());
    let at: Address = address.unwrap_or(&own).parse().map_err(told)?;
    if settings.listen.port() == 0 && settings.address.is_none() && address.is_none() {
        return Err(Error::Told(
            "`listen` has port 0: say what sites call this coordinator with --address".into(),
        ));
    }
    let plan = plan_file(folder, study)?;
    let mut log = SqliteLog::open(&folder.store())?;
    if folder.is_running() {
        let served = log.studies()?;
        let text = std::fs::read_to_string(&plan).map_err(Error::file(&plan))?;
        if !served.iter().any(|s| s.study == study && s.plan == text) {
            let help = "the coordinator that runs has not read this plan: restart it, then invite";
            return Err(Error::content(&plan, help));
        }
    }
    let (_, terms) = study::bind(&mut log, &plan)?;
    let known = SiteId::try_from(site).is_ok_and(|site| terms.sites.contains_key(&site));
    if !known {
        let names: Vec<String> = terms.sites.keys().map(ToString::to_string).collect();
        return Err(Error::content(&plan, format!("{site} is not among its sites ({})", names.join(", "))));
    }
    let mut secret = [0; 32];
    SysRng.try_fill_bytes(&mut secret).map_err(|e| Error::Told(format!("no randomness: {e}")))?;
    let expires = clock::now().after(u64::from(days) * DAY);
    let hash: [u8; 32] = Sha256::digest(secret).into();
    let withdrawn = log.add_invitation(&hash, study, site, expires)?;
    let authority = match at {
        Address::Https(_) => authority::certificate(folder, &settings)?.map(|c| c.as_ref().to_vec()),
        Address::Mailbox => Some(mailbox::identity(folder)?.public().to_bytes().to_vec()),
    };
    let invitation = Invitation {
        address: at,
        study: study.to_owned(),
        site: site.to_owned(),
        plan_hash: terms.plan_hash,
        secret,
        expires,
        authority,
    };
    Ok(Invited { invitation, withdrawn })
}

/// The file of a study's plan.
pub fn plan_file(folder: &Folder, study: &str) -> Result<std::path::PathBuf, Error> {
    let files = study::plan_files(folder)?;
    let found = files.iter().find(|file| file.file_stem().is_some_and(|stem| stem == study)).cloned();
    found.ok_or_else(|| {
        let path = folder.plans().join(format!("{study}.toml"));
        Error::content(&path, "there is no such plan; `fedirt coordinator init` writes one to start from")
    })
}
