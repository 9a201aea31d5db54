//! `fedirt site mailbox` and `fedirt site approve`: taking part where a courier carries the messages.

use super::join::Joining;
use super::officer::roster_table;
use super::told;
use crate::args::{SiteApproveArgs, SiteMailboxArgs};
use crate::error::CliError;
use crate::mailbox;
use crate::output::{stderr, stdout};
use fedirt_agent::{self as agent, Answer, Home, News, Officer, RosterAnswer, SiteMailbox};
use fedirt_privacy::secure::{Fingerprint, SiteId};
use fedirt_protocol::mailbox::{FromSiteMailbox, Parcel, SiteStands};
use fedirt_protocol::site::{RosterShown, RoundShown};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

pub(super) fn run(home: &Home, args: &SiteMailboxArgs) -> Result<ExitCode, CliError> {
    let joining =
        Joining { study: &args.study, own: &args.own, population: args.population.as_deref(), yes: args.yes };
    let (study, own) = joining.prepare(home)?;
    let results = study.folder.location("results");
    let officer = Mutex::new(AtTheMailbox {
        study: args.study.clone(),
        site: study.site.clone(),
        trusting: home.policy().map_err(told)?.trust_roster_from_coordinator,
        shown: None,
        over: false,
    });
    let (mailbox, notes) =
        SiteMailbox::new(home, study, own, args.population.as_deref(), !args.no_scores).map_err(told)?;
    notes.iter().for_each(|note| stderr::note(note));
    mailbox::serve(&args.at.socket, args.at.socket_group, move |request| {
        let mut officer = officer.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = mailbox.exchange(&request, &mut *officer).unwrap_or_else(|error| {
            stderr::error(&error.to_string());
            Parcel::of(FromSiteMailbox { state: SiteStands::Fault, parts: Vec::new() })
        });
        if answer.header.state == SiteStands::Over && !officer.over {
            officer.over = true;
            stderr::note(&format!(
                "the study is over here; what there is is in {results}. The mailbox can be stopped"
            ));
        }
        answer
    })?;
    stdout::print(&format!(
        "Mailbox of {} at {}. It can be stopped and started at any time; rosters are approved with fedirt site approve\n",
        args.study,
        args.at.socket.display()
    ))?;
    loop {
        std::thread::park();
    }
}

pub(super) fn approve(home: &Home, args: &SiteApproveArgs) -> Result<ExitCode, CliError> {
    let study = home.known_study(&args.study).and_then(|folder| folder.load()).map_err(told)?;
    let trusting = home.policy().map_err(told)?.trust_roster_from_coordinator;
    let Some(fingerprint) = &args.fingerprint else {
        let Some(shown) = agent::roster_shown(&study.folder).map_err(told)? else {
            return Err(CliError::because(agent::NotApproved::NoRoster));
        };
        stdout::print(&format!("{}\n", roster_table(&shown, &BTreeSet::new(), &study.site)))?;
        return Ok(ExitCode::from(1));
    };
    let approved = agent::approve(&study, fingerprint, &args.called, trusting).map_err(told)?;
    let shown = approved.map_err(CliError::because)?;
    stdout::print(&format!(
        "The roster {} is approved. This site signs it when the coordinator shows it again.\n",
        shown.fingerprint
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Nobody can be asked behind a mailbox: rosters wait, and the log says for what.
#[derive(Debug)]
struct AtTheMailbox {
    study: String,
    site: SiteId,
    trusting: bool,
    /// The roster that was put before the officer last.
    shown: Option<Fingerprint>,
    over: bool,
}

impl Officer for AtTheMailbox {
    fn roster(&mut self, shown: &RosterShown, known: &BTreeSet<SiteId>) -> RosterAnswer {
        if self.shown.replace(shown.fingerprint) != Some(shown.fingerprint) {
            stderr::note(&roster_table(shown, known, &self.site));
            if self.trusting {
                stderr::warning(
                    "approved without comparison, as policy.toml has trust_roster_from_coordinator = true",
                );
            } else {
                stderr::note(&format!(
                    "then: fedirt site approve {} \"{}\" --called SITE,…",
                    self.study, shown.fingerprint
                ));
            }
        }
        if self.trusting { RosterAnswer::Verified(shown.names()) } else { RosterAnswer::NotNow }
    }

    fn round(&mut self, round: &RoundShown) -> Answer {
        stderr::warning(&format!(
            "{} waits for approval, as policy.toml has approval = \"each_round\"; behind a mailbox nobody can be asked",
            round.turn
        ));
        Answer::NotNow
    }

    fn news(&mut self, news: News<'_>) {
        match news {
            News::Caution(text) => stderr::warning(text),
            News::Refused { turn, reason } => {
                let place = turn.map_or(String::new(), |turn| format!("{turn}: "));
                stderr::warning(&format!("refused: {place}{reason}"));
            }
            News::NotTaken { kind, error } => stderr::note(&format!("the {kind} was not taken: {error}")),
            News::Waiting(_) | News::Sent { .. } | News::Unreachable { .. } => {}
        }
    }
}
