//! `fedirt site`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SiteArgs {
    /// The site's home folder: policy, ledger, keys and studies
    #[arg(long, value_name = "DIR", default_value = "fedirt-site", global = true)]
    pub home: PathBuf,
    #[command(subcommand)]
    pub command: SiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiteCommand {
    /// Make a home folder with a policy to edit
    Init,
    /// Read an invitation and its plan, and enrol
    Enrol(SiteEnrolArgs),
    /// Say what a study's plan means, and what this site's policy says to it
    Plan(SiteStudyArgs),
    /// Serve the officer's pages to a browser on this machine, and take part from there
    Pages(SitePagesArgs),
    /// Show every number that would be sent, before anything is
    Preview(SitePreviewArgs),
    /// Take part in a study until it is over
    Join(SiteJoinArgs),
    /// Say where this site's studies stand
    Status(SiteStatusArgs),
    /// Say what was given away, of whom, and what is left of budgets
    Ledger(SiteLedgerArgs),
    /// Set the privacy budget of a population, once and for all
    Budget(SiteBudgetArgs),
    /// Verify the hash chains of journals and ledger, and print the journals
    Audit(SiteAuditArgs),
    /// Leave a study and wipe its keys
    Withdraw(SiteWithdrawArgs),
}

#[derive(Debug, Args)]
#[command(after_help = ENROL_EXAMPLES)]
pub(crate) struct SiteEnrolArgs {
    /// The invitation, as the coordinator's operator sent it
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub invitation: Option<String>,
    /// Read the invitation from a file
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Approve the plan without being asked
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PAGES_EXAMPLES)]
pub(crate) struct SitePagesArgs {
    /// Port on this machine; 0: any that is free
    #[arg(long, value_name = "N", default_value_t = 8445)]
    pub port: u16,
    /// Also let somebody look who may change nothing
    #[arg(long, value_name = "NAME")]
    pub auditor: Option<String>,
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
    /// Column of student identifiers [default: `id`, where there is one]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub id: Option<String>,
    /// Columns that are no items
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = "Columns")]
    pub ignore: Vec<String>,
    /// Codes that stand for a missing answer, beside an empty cell, `.` and NA
    #[arg(
        long,
        value_name = "CODE,…",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Columns"
    )]
    pub missing: Vec<String>,
    /// Column of student weights
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,
}

impl OwnFiles {
    /// The same for the reader.
    pub(crate) fn read_options(&self) -> fedirt_data::ReadOptions {
        fedirt_data::ReadOptions {
            site: None,
            id: self.id.clone(),
            weight: self.weight.clone(),
            items: Vec::new(),
            ignore: self.ignore.clone(),
            missing: self.missing.clone(),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = PREVIEW_EXAMPLES)]
pub(crate) struct SitePreviewArgs {
    /// Name of the study
    pub study: String,
    #[command(flatten)]
    pub own: OwnFiles,
    /// Print all numbers, however many there are
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
    /// Name of these students in the ledger, the same in every study [default: the site's name]
    #[arg(long, value_name = "NAME")]
    pub population: Option<String>,
    /// Join without being asked. It does not approve a roster
    #[arg(long)]
    pub yes: bool,
    /// Approve exactly the roster with this fingerprint, as compared by telephone
    #[arg(long, value_name = "FINGERPRINT")]
    pub roster: Option<String>,
    /// Leave out scores.csv
    #[arg(long)]
    pub no_scores: bool,
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
    /// What the coordinator is told
    #[arg(long, value_name = "TEXT", default_value = "the site has withdrawn")]
    pub reason: String,
    /// Withdraw without being asked
    #[arg(long)]
    pub yes: bool,
}

const EXAMPLES: &str = "In a browser:
  fedirt site pages                                   everything below, on pages

In this order:
  fedirt site init                                    then read and edit fedirt-site/policy.toml
  fedirt site enrol fedirt-invitation:…               shows the plan, asks, enrols this site's key
  fedirt site preview STUDY answers.csv               what would be sent, number by number
  fedirt site join STUDY answers.csv                  takes part until the study is over
  fedirt site status                                  where things stand

The agent only calls out (HTTPS); no port is opened. It can be stopped and started at any time.";

const PAGES_EXAMPLES: &str = "Examples:
  fedirt site pages                                   then open the link that it prints
  fedirt site pages --auditor \"Dr. Lee\"              a second link, for looking only

The pages are served on this machine alone (127.0.0.1). Each start prints a new link; it holds a key, so keep it to
yourself. Studies that run go on while the program does, and where they were when it is started again.";

const ENROL_EXAMPLES: &str = "Examples:
  fedirt site enrol fedirt-invitation:RklSVAE…
  fedirt site enrol --file invitation.txt --yes

Repeating it after a lost answer does no harm: the same key is sent.";

const PREVIEW_EXAMPLES: &str = "Examples:
  fedirt site preview bank answers.csv --id student --ignore class,teacher
  fedirt site preview bank answers.csv --json > preview.json

Nothing is sent, and nothing is written to disk.";

const JOIN_EXAMPLES: &str = "Examples:
  fedirt site join bank answers.csv --population \"pupils of 2026\"
  fedirt site join bank answers.csv --yes --roster \"12345 67890 12345 67890 12345 67890 12345 67890\"

Results are written to studies/STUDY/results in the home folder: fit.json, own_place.json, scores.csv,
and transcript.jsonl, which lists everything that was sent.
Exit status: 0 finished, 1 ended without a result or waiting for an approval, 2 bad input or refused.";

const BUDGET_EXAMPLES: &str = "Examples:
  fedirt site budget \"pupils of 2026\" --epsilon 2 --delta 1e-6

A budget is set once and never changed; nothing is refunded.";
