//! `fedirt site join` and `withdraw`.

use super::officer::AtTheTerminal;
use super::{ask, coordinator, told};
use crate::args::{SiteJoinArgs, SiteWithdrawArgs};
use crate::error::CliError;
use crate::output::{stderr, stdout};
use crate::terminal::text::count;
use fedirt_agent::{self as agent, Agent, AgentError, End, Home, JournalEvent, Own, Withdrawal};
use fedirt_data::Audience;
use std::process::ExitCode;

pub(super) fn run(home: &Home, args: &SiteJoinArgs) -> Result<ExitCode, CliError> {
    let study = home.known_study(&args.study).and_then(|folder| folder.load()).map_err(told)?;
    let policy = home.policy().map_err(told)?;
    let own = agent::read_for_plan(&args.own.files, &args.own.read_options()?, &study.plan).map_err(told)?;
    own.remarks(Audience::CommandLine).iter().for_each(|note| stderr::note(note));
    let entries = study.folder.entries().map_err(told)?;
    if !entries.iter().any(|entry| matches!(entry.record, JournalEvent::Joined { .. })) {
        let Some(population) = args.population.as_deref() else {
            let known = agent::known_populations(home).map_err(told)?;
            return Err(told(AgentError::NoPopulation { known }));
        };
        stderr::note(&format!(
            "joining {} with {} students, whose name in the ledger is {population:?}. `fedirt site preview` shows what is sent",
            args.study,
            count(own.table.students() as u64)
        ));
        let names = agent::other_names(home, &study, &own, population).map_err(told)?;
        names.iter().for_each(|sentence| stderr::warning(sentence));
        ask::approve(args.yes, "Join?")?;
    }
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
    let mut https = coordinator(&study)?;
    let told_it = agent::withdraw(&study, &mut https, &args.reason).map_err(told)?;
    stdout::print(&match told_it {
        Withdrawal::Told(turn) => format!("Withdrawn in {turn}; the keys are deleted.\n"),
        Withdrawal::NotTold(why) => format!(
            "Withdrawn, and the keys are deleted. The coordinator could not be informed ({why}), so tell its operator.\n"
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}
