//! `fedirt site join` and `withdraw`.

use super::officer::AtTheTerminal;
use super::{ask, coordinator, told};
use crate::args::{OwnFiles, SiteJoinArgs, SiteWithdrawArgs};
use crate::error::CliError;
use crate::output::{stderr, stdout};
use crate::terminal::text::count;
use fedirt_agent::{
    self as agent, Agent, AgentError, End, Home, JournalEvent, Own, OwnResponses, PostBox, Study, Withdrawal,
};
use fedirt_data::Audience;
use fedirt_protocol::invitation::Address;
use std::process::ExitCode;

/// What an officer says who joins a study.
pub(super) struct Joining<'a> {
    pub(super) study: &'a str,
    pub(super) own: &'a OwnFiles,
    pub(super) population: Option<&'a str>,
    pub(super) yes: bool,
}

impl Joining<'_> {
    /// The study and this site's answers; who joins for the first time is asked.
    pub(super) fn prepare(&self, home: &Home) -> Result<(Study, OwnResponses), CliError> {
        let study = home.known_study(self.study).and_then(|folder| folder.load()).map_err(told)?;
        let options = self.own.read_options()?;
        let own = agent::read_for_plan(&self.own.files, &options, &study.plan).map_err(told)?;
        own.remarks(Audience::CommandLine).iter().for_each(|note| stderr::note(note));
        let entries = study.folder.entries().map_err(told)?;
        if !entries.iter().any(|entry| matches!(entry.record, JournalEvent::Joined { .. })) {
            let Some(population) = self.population else {
                let known = agent::known_populations(home).map_err(told)?;
                return Err(told(AgentError::NoPopulation { known }));
            };
            stderr::note(&format!(
                "joining {} with {} students, whose name in the ledger is {population:?}. `fedirt site preview` shows what is sent",
                self.study,
                count(own.table.students() as u64)
            ));
            let names =
                agent::other_names(home, &study, &own, population, Audience::CommandLine).map_err(told)?;
            names.iter().for_each(|sentence| stderr::warning(sentence));
            ask::approve(self.yes, "Join?")?;
        }
        Ok((study, own))
    }
}

pub(super) fn run(home: &Home, args: &SiteJoinArgs) -> Result<ExitCode, CliError> {
    let joining =
        Joining { study: &args.study, own: &args.own, population: args.population.as_deref(), yes: args.yes };
    let (study, own) = joining.prepare(home)?;
    let policy = home.policy().map_err(told)?;
    let ids = own.ids.clone();
    let https = coordinator(&study)?;
    let mut officer = AtTheTerminal::new(
        args.roster.clone(),
        args.called.clone(),
        study.site.clone(),
        policy.trust_roster_from_coordinator,
    );
    let (mut agent, notes) =
        Agent::new(home, study, policy, own, args.population.as_deref(), https).map_err(told)?;
    notes.iter().for_each(|note| stderr::note(note));
    let end = agent.run(&mut officer).map_err(told)?;
    drop(officer);
    match end {
        End::Finished(fit) => {
            let own_effect = agent.own_effect();
            let (study, table) = agent.into_parts();
            let own = Own { own_effect, table, ids };
            let names = agent::write_results(home, &study, &fit, own, !args.no_scores).map_err(told)?;
            let folder = study.folder.location("results");
            if fit.converged == Some(false) {
                stderr::warning(&format!(
                    "the estimation did not converge in the plan's rounds (it stopped after {}): the estimates are provisional",
                    fit.rounds
                ));
            }
            stdout::print(&format!(
                "The study is finished. Written to {}: {}, transcript.jsonl\nscores.csv and own_place.json belong to this site: they were not sent, and must not be published.\n",
                folder,
                names.join(", ")
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        End::Ended(reason) => {
            stderr::warning(&format!(
                "the study ended without a result: {reason}. What was sent is listed in {}",
                agent.study().folder.location("results/transcript.jsonl")
            ));
            Ok(ExitCode::from(1))
        }
        End::RosterNotApproved(shown) => {
            stderr::warning(&format!(
                "the roster waits for approval: {} of the other sites must be verified. When their officers have read you the same fingerprint, run the command again with --roster \"{}\" --called SITE,… (calls that were made before count)",
                shown.calls, shown.fingerprint
            ));
            Ok(ExitCode::from(1))
        }
        End::RoundNotApproved(turn) => {
            stderr::warning(&format!(
                "{turn} waits for approval (policy.toml has approval = \"each_round\"). Run the command again on a terminal to approve it"
            ));
            Ok(ExitCode::from(1))
        }
    }
}

pub(super) fn withdraw(home: &Home, args: &SiteWithdrawArgs) -> Result<ExitCode, CliError> {
    let study = home.known_study(&args.study).and_then(|folder| folder.load()).map_err(told)?;
    stderr::note(&format!(
        "withdrawing from {}: the current round is refused, which ends the study for all sites, and this site's keys are deleted. What was sent before cannot be taken back",
        args.study
    ));
    ask::approve(args.yes, "Withdraw?")?;
    let told_it = match &study.connection.address {
        Address::Https(_) => agent::withdraw(&study, &mut coordinator(&study)?, &args.reason),
        Address::Mailbox => {
            let mut nobody = PostBox { folder: study.folder.clone(), plan: study.text.clone() };
            agent::withdraw(&study, &mut nobody, &args.reason)
        }
    };
    let told_it = told_it.map_err(told)?;
    stdout::print(&match told_it {
        Withdrawal::Told(turn) => format!("Withdrawn in {turn}; the keys are deleted.\n"),
        Withdrawal::NotTold(why) => format!(
            "Withdrawn, and the keys are deleted. The coordinator could not be informed ({why}), so tell its operator.\n"
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}
