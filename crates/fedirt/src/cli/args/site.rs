//! `fedirt site`.

#[cfg(unix)]
use super::SocketArgs;
use super::{AnswerArgs, CommonColumnArgs};
use crate::error::CliError;
use clap::{Args, Subcommand};
use fedirt::{Input, ReadOptions};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SiteArgs {
    /// The site's home folder: policy, ledger, keys and studies
    #[arg(long, value_name = "DIR", default_value = "fedirt-site", global = true)]
    pub home: PathBuf,
    /// Print no tables or notes: files and exit status say it all
    #[arg(long, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: SiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiteCommand {
    /// Make the home folder of a site, with a policy to edit
    Init,
    /// Show the plan of an invitation, and enrol
    Enrol(SiteEnrolArgs),
    /// Describe a study's plan, and check it against this site's policy
    Plan(SiteStudyArgs),
    /// Serve the officer's pages to a browser on this machine, and take part from there
    Pages(SitePagesArgs),
    /// Open the officer's pages in the browser, logged in; serve them first if nobody does
    Open(SiteOpenArgs),
    /// Write a systemd user unit that serves the officer's pages from log-in on
    #[cfg(target_os = "linux")]
    Service(SiteServiceArgs),
    /// Show every number that would be sent; nothing is sent
    Preview(SitePreviewArgs),
    /// Take part in a study until it is over
    Join(SiteJoinArgs),
    /// Take part in a study whose messages a courier carries, such as Flower
    #[cfg(unix)]
    Mailbox(SiteMailboxArgs),
    /// Approve the roster that waits behind a mailbox, or show it
    #[cfg(unix)]
    Approve(SiteApproveArgs),
    /// Show the state of this site's studies
    Status(SiteStatusArgs),
    /// Show what was released about which students, and the remaining budgets
    Ledger(SiteLedgerArgs),
    /// Set the privacy budget of a population, which cannot be changed afterwards
    Budget(SiteBudgetArgs),
    /// Verify the hash chains of journals and ledger, and print the journals
    Audit(SiteAuditArgs),
    /// Withdraw from a study and delete its keys
    Withdraw(SiteWithdrawArgs),
}

#[derive(Debug, Args)]
#[command(after_help = ENROL_EXAMPLES)]
pub(crate) struct SiteEnrolArgs {
    /// The invitation that the coordinator's operator sent
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub invitation: Option<String>,
    /// Read the invitation from a file
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The plan, where the operator sent it along because a courier carries the study's messages
    #[arg(long, value_name = "FILE.toml")]
    pub plan: Option<PathBuf>,
    /// Approve the plan without being asked
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PAGES_EXAMPLES)]
pub(crate) struct SitePagesArgs {
    /// Port on this machine; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = 8445)]
    pub port: u16,
    /// Name of an auditor, who sees everything and changes nothing
    #[arg(long, value_name = "NAME")]
    pub auditor: Option<String>,
    /// Print no link: `fedirt site open` logs in
    #[arg(long, conflicts_with = "auditor")]
    pub no_link: bool,
}

#[derive(Debug, Args)]
#[command(after_help = OPEN_EXAMPLES)]
pub(crate) struct SiteOpenArgs {
    /// Port on this machine, if the pages are not served yet; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = 8445)]
    pub port: u16,
}

#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(after_help = SERVICE_EXAMPLES)]
pub(crate) struct SiteServiceArgs {
    /// Folder for the unit; that of systemd's user units if left out
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Port on this machine
    #[arg(long, value_name = "N", default_value_t = 8445)]
    pub port: u16,
}

#[derive(Debug, Args)]
pub(crate) struct SiteStudyArgs {
    /// Name of the study
    pub study: String,
}

/// This site's own files.
#[derive(Debug, Args)]
pub(crate) struct OwnFiles {
    /// Response files of this site (CSV)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub columns: CommonColumnArgs,
    /// Column of student weights
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,
    /// Column of students' groups, where the plan compares groups: with its names for them
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub group: Option<String>,
    #[command(flatten)]
    pub answers: AnswerArgs,
}

impl OwnFiles {
    /// The flags as options of the reader.
    pub(crate) fn read_options(&self) -> Result<ReadOptions, CliError> {
        let mut options = ReadOptions {
            weight: self.weight.clone(),
            group: self.group.clone(),
            ..self.columns.read_options()
        };
        let mut errors = Vec::new();
        self.answers.add_to(&mut options, &mut errors, &Input::file);
        CliError::unless_empty(errors)?;
        Ok(options)
    }
}

#[derive(Debug, Args)]
#[command(after_help = PREVIEW_EXAMPLES)]
pub(crate) struct SitePreviewArgs {
    /// Name of the study
    pub study: String,
    #[command(flatten)]
    pub own: OwnFiles,
    /// Print all numbers
    #[arg(long)]
    pub all: bool,
    /// Print JSON, with all numbers
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = JOIN_EXAMPLES)]
pub(crate) struct SiteJoinArgs {
    /// Name of the study
    pub study: String,
    #[command(flatten)]
    pub own: OwnFiles,
    /// What you call these students in the ledger, the same in every study. Asked for when this site first joins
    #[arg(long, value_name = "NAME")]
    pub population: Option<String>,
    /// Join without being asked; this does not approve a roster
    #[arg(long)]
    pub yes: bool,
    /// Approve exactly the roster with this fingerprint, as compared by telephone
    #[arg(long, value_name = "FINGERPRINT")]
    pub roster: Option<String>,
    /// Sites whose officers you called, at numbers that you know, and who read you this fingerprint. Calls of earlier studies
    /// count
    #[arg(long, value_name = "SITE,…", value_delimiter = ',', requires = "roster")]
    pub called: Vec<String>,
    /// Leave out scores.csv
    #[arg(long)]
    pub no_scores: bool,
}

#[cfg(unix)]
#[derive(Debug, Args)]
#[command(after_help = MAILBOX_EXAMPLES)]
pub(crate) struct SiteMailboxArgs {
    /// Name of the study
    pub study: String,
    #[command(flatten)]
    pub own: OwnFiles,
    #[command(flatten)]
    pub at: SocketArgs,
    /// What you call these students in the ledger, the same in every study. Asked for when this site first joins
    #[arg(long, value_name = "NAME")]
    pub population: Option<String>,
    /// Join without being asked; this does not approve a roster
    #[arg(long)]
    pub yes: bool,
    /// Leave out scores.csv
    #[arg(long)]
    pub no_scores: bool,
}

#[cfg(unix)]
#[derive(Debug, Args)]
#[command(after_help = APPROVE_EXAMPLES)]
pub(crate) struct SiteApproveArgs {
    /// Name of the study
    pub study: String,
    /// The roster's fingerprint, as the officers of other sites read it to you [default: show the roster that waits]
    pub fingerprint: Option<String>,
    /// Sites whose officers you called, at numbers that you know, and who read you this fingerprint. Calls of earlier studies
    /// count
    #[arg(long, value_name = "SITE,…", value_delimiter = ',', requires = "fingerprint")]
    pub called: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SiteStatusArgs {
    /// Name of the study [default: all]
    pub study: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SiteLedgerArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = BUDGET_EXAMPLES)]
pub(crate) struct SiteBudgetArgs {
    /// Name of the students, as given to `join --population`
    pub population: String,
    /// ε that all private studies of these students together may spend
    #[arg(long, value_name = "E")]
    pub epsilon: f64,
    /// δ
    #[arg(long, value_name = "D", default_value_t = 1e-6)]
    pub delta: f64,
}

#[derive(Debug, Args)]
pub(crate) struct SiteAuditArgs {
    /// Name of the study [default: all]
    pub study: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SiteWithdrawArgs {
    /// Name of the study
    pub study: String,
    /// The reason that is sent to the coordinator
    #[arg(long, value_name = "TEXT", default_value = "the site has withdrawn")]
    pub reason: String,
    /// Withdraw without being asked
    #[arg(long)]
    pub yes: bool,
}

const EXAMPLES: &str = "In a browser:
  fedirt site pages                                   everything below, in a browser

In this order:
  fedirt site init                                    then read and edit fedirt-site/policy.toml
  fedirt site enrol fedirt-invitation:…               show the plan, ask, enrol this site's key
  fedirt site preview STUDY answers.csv               show every number that would be sent
  fedirt site join STUDY answers.csv --population P   take part until the study is over; P names the students
  fedirt site status                                  show the state of the studies

The agent only makes outgoing connections (HTTPS); no port is opened. It can be stopped and started at any time.";

const PAGES_EXAMPLES: &str = "Examples:
  fedirt site pages                                   then open the link that it prints
  fedirt site pages --auditor \"Dr. Lee\"              a second link, for an auditor

The pages are served on this machine only (127.0.0.1). Each start prints a new link, which contains a key and must be kept
secret. Running studies continue while the program runs, and resume when it is started again.";

const OPEN_EXAMPLES: &str = "Examples:
  fedirt site open                                    the pages of ./fedirt-site
  fedirt site --home ~/fedirt-site open               what the icon of the desktop does

The browser is logged in by a code in a file that only its owner can read; the code counts once, and for a minute. The variable
BROWSER names another program than the usual one.";

#[cfg(target_os = "linux")]
const SERVICE_EXAMPLES: &str = "Examples:
  fedirt site --home ~/fedirt-site service
  systemctl --user daemon-reload && systemctl --user enable --now fedirt-site

The unit serves the pages on this machine only and prints no link; `fedirt site open` logs in.";

const ENROL_EXAMPLES: &str = "Examples:
  fedirt site enrol fedirt-invitation:RklSVAE…
  fedirt site enrol --file invitation.txt --yes

The command is idempotent: if the coordinator's answer was lost, repeat it, and the same key is sent.";

const PREVIEW_EXAMPLES: &str = "Examples:
  fedirt site preview bank answers.csv --id student --ignore class,teacher
  fedirt site preview bank answers.csv --json > preview.json

Nothing is sent, and nothing is written to disk.";

const JOIN_EXAMPLES: &str = "Examples:
  fedirt site join bank answers.csv --population \"pupils of 2026\"
  fedirt site join bank answers.csv --yes --roster \"12345 67890 12345 67890 12345 67890 12345 67890\" --called south,west

Results are written to studies/STUDY/results in the home folder: fit.json, own_place.json, scores.csv,
and transcript.jsonl, which lists everything that was sent.
Exit status: 0 finished, 1 ended without a result or waiting for an approval, 2 bad input or refused.";

#[cfg(unix)]
const MAILBOX_EXAMPLES: &str = "Examples:
  fedirt site mailbox bank answers.csv --socket /run/fedirt/bank.sock --population \"pupils of 2026\"

Nothing is sent by this command: a courier asks at the socket, and takes along what is signed, and masked where the plan says so.
Everything is kept in the home folder, so that the command can be stopped and started at any time. See docs/flower.md.";

#[cfg(unix)]
const APPROVE_EXAMPLES: &str = "Examples:
  fedirt site approve bank                            show the roster that waits
  fedirt site approve bank \"12345 67890 12345 67890 12345 67890 12345 67890\" --called south,west

Exit status: 0 approved, 1 shown, 2 refused.";

const BUDGET_EXAMPLES: &str = "Examples:
  fedirt site budget \"pupils of 2026\" --epsilon 2 --delta 1e-6

A budget is set once and cannot be changed; nothing is refunded.";
