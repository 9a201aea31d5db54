//! `fedirt site init`, `enrol` and `plan`.

use super::{ask, bullets, told};
use crate::args::SiteEnrolArgs;
use crate::error::CliError;
use crate::output::stdout;
use crate::usage::UsageError;
use fedirt_agent::{self as agent, Home, Https, PostBox, Transport};
use fedirt_protocol::forecast;
use fedirt_protocol::invitation::{Address, Invitation};
use fedirt_protocol::plan::StudyPlan;
use fedirt_protocol::policy::PolicyRefusal;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn init(path: &Path) -> Result<ExitCode, CliError> {
    let (home, made) = Home::init(path, &mut UnwrapErr(SysRng)).map_err(told)?;
    let place = home.location("");
    stdout::print(&match made.as_slice() {
        [] => format!("{place} is already the home folder of a site; nothing was changed.\n"),
        _ => format!(
            "Made {place}. Next: read {}, the policy that says what this site allows, and change it if necessary.\nThen enrol with fedirt site enrol INVITATION\n",
            home.policy_location()
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The plan in words, and whether the policy allows it.
fn describe(plan: &StudyPlan, refusals: &[PolicyRefusal]) -> String {
    let mut words = plan.in_words();
    words.extend(forecast::in_words(plan));
    let mut text = format!("What the plan says:\n{}", bullets(&words));
    if refusals.is_empty() {
        text.push_str("\nThis site's policy allows it.\n");
    } else {
        let words: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        text.push_str(&format!("\nThis site's policy refuses it:\n{}", bullets(&words)));
    }
    text
}

/// How an enrolment reaches the coordinator: over HTTPS, or with the courier, and then the plan came with the invitation.
fn way(home: &Home, invitation: &Invitation, args: &SiteEnrolArgs) -> Result<Box<dyn Transport>, CliError> {
    Ok(match (&invitation.address, &args.plan) {
        (Address::Https(_), Some(path)) => {
            let needed = "left out here: the coordinator shows the plan itself";
            return Err(UsageError::value("--plan", path.display(), needed).into());
        }
        (address @ Address::Https(_), None) => {
            Box::new(Https::new(address, invitation.authority.as_deref()).map_err(told)?)
        }
        (Address::Mailbox, Some(path)) => {
            let plan = std::fs::read_to_string(path).map_err(CliError::file(path))?;
            Box::new(PostBox { folder: home.study(&invitation.study).map_err(told)?, plan })
        }
        (Address::Mailbox, None) => {
            let reason = "a courier carries this study's messages: the operator sends the plan with the invitation, whose hash tells whether it is the right one";
            return Err(UsageError::Missing { flag: "--plan FILE.toml", reason }.into());
        }
    })
}

pub(super) fn enrol(home: &Home, args: &SiteEnrolArgs) -> Result<ExitCode, CliError> {
    let text = match (&args.invitation, &args.file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => std::fs::read_to_string(path).map_err(CliError::file(path))?,
        (None, None) => String::new(),
    };
    let invitation = Invitation::from_text(&text).map_err(|e| told(e.into()))?;
    let policy = home.policy().map_err(told)?;
    let mut way = way(home, &invitation, args)?;
    let offer = agent::look(invitation, &policy, &mut *way, home.now()).map_err(told)?;
    stdout::print(&format!(
        "{} is invited by {} as {}.\n\n{}",
        home.location(""),
        offer.invitation.address,
        offer.invitation.site,
        describe(&offer.plan, &offer.refusals)
    ))?;
    if !offer.refusals.is_empty() {
        return Err(UsageError::PolicyRefuses.into());
    }
    ask::approve(args.yes, "Approve this plan, and enrol this site's key?")?;
    let fingerprint = agent::accept(home, &offer, &mut *way, &mut UnwrapErr(SysRng)).map_err(told)?;
    let study = &offer.plan.study;
    let (done, join) = match offer.invitation.address {
        Address::Https(_) => ("Enrolled", "join"),
        Address::Mailbox => ("The key waits for the courier", "mailbox"),
    };
    stdout::print(&format!(
        "\n{done}. The fingerprint of this site's key is\n\n    {fingerprint}\n\nRead it to the coordinator's operator by telephone.\nNext: fedirt site preview {study} FILE, then fedirt site {join} {study} FILE\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn plan(home: &Home, study: &str) -> Result<ExitCode, CliError> {
    let study = home.known_study(study).and_then(|folder| folder.load()).map_err(told)?;
    let policy = home.policy().map_err(told)?;
    let refusals = agent::refusals(&policy, &study.plan, &study.terms);
    stdout::print(&format!(
        "{}\nThe text is in {}; its SHA-256 is {}.\n",
        describe(&study.plan, &refusals),
        study.folder.location("plan.toml"),
        study.connection.plan_sha256
    ))?;
    Ok(ExitCode::SUCCESS)
}
