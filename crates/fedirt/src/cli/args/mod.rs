//! The command line, as typed: one file per subcommand.

mod check;
mod coordinator;
mod demo;
mod fit;
mod privacy;
mod report;
mod score;
mod simulate;
mod site;
#[cfg(feature = "studies")]
mod study;

use anstyle::AnsiColor;
pub(crate) use check::CheckArgs;
use clap::builder::Styles;
use clap::{Args, Parser, Subcommand};
pub(crate) use coordinator::{
    CoordinatorArgs, CoordinatorCommand, CoordinatorExportArgs, CoordinatorInitArgs, CoordinatorInviteArgs,
    CoordinatorStartArgs, CoordinatorStatusArgs, ModeArg,
};
pub(crate) use demo::DemoArgs;
#[cfg(feature = "studies")]
pub(crate) use fit::PresetArg;
pub(crate) use fit::{AlgorithmArg, EffectsArg, FitArgs, MissingAnswersArg, NoiseArg, QuadratureArg};
pub(crate) use privacy::{
    AuditArgs, EpsilonArgs, NoiseArgs, PlanArgs, PrivacyArgs, PrivacyCommand, RoundsOfSampling,
};
pub(crate) use report::ReportArgs;
pub(crate) use score::{MethodArg, ScoreArgs};
pub(crate) use simulate::SimulateArgs;
pub(crate) use site::{
    SiteArgs, SiteBudgetArgs, SiteCommand, SiteEnrolArgs, SiteJoinArgs, SitePagesArgs, SitePreviewArgs,
    SiteStatusArgs, SiteWithdrawArgs,
};
#[cfg(feature = "studies")]
pub(crate) use study::{
    AttackArgs, EmpiricalArgs, FaultsArgs, KillsArgs, LoadArgs, PaperArgs, RoundsArgs, StudyArgs,
    StudyCommand, StudyFolderArgs, TableArg,
};

/// How help looks on a terminal.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// Calibrate tests together without pooling a single answer.
#[derive(Debug, Parser)]
#[command(name = "fedirt", version, about, propagate_version = true, max_term_width = 100, styles = STYLES)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Estimate item parameters, site effects and scores from response files
    Fit(Box<FitArgs>),
    /// Score students with the items of a fit
    Score(Box<ScoreArgs>),
    /// Draw the report of a fit
    Report(ReportArgs),
    /// Say what is in response files and what is wrong with them
    Check(CheckArgs),
    /// Draw response files with known parameters
    Simulate(SimulateArgs),
    /// Run a study on simulated data
    #[cfg(feature = "studies")]
    Study(StudyArgs),
    /// Say what ε a noise gives, and what noise an ε needs
    Privacy(PrivacyArgs),
    /// Take part in studies from a site
    Site(SiteArgs),
    /// Coordinate studies with sites over a network
    Coordinator(CoordinatorArgs),
    /// Show a whole study in the browser: a coordinator and three sites on this machine
    Demo(DemoArgs),
}

const EXAMPLES: &str = "Start here:
  fedirt check north.csv south.csv                    what is in the files
  fedirt fit north.csv south.csv                      tables on the terminal
  fedirt fit north.csv south.csv --out results        files and a report
  fedirt score results/fit.json new.csv               scores of other students
  fedirt demo                                         a whole study before your eyes

`fedirt COMMAND --help` lists a command's options.";

/// Which columns are no items.
#[derive(Debug, Clone, Args)]
pub(crate) struct ColumnArgs {
    /// Column that names the site [default: each file is a site]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub site: Option<String>,
    /// Column of student identifiers [default: `id`, where there is one]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub id: Option<String>,
    /// Columns that are items, such as i1-i50, 'Q*' or a,b,c [default: all that are nothing else]
    #[arg(long, value_name = "ITEM,…", value_delimiter = ',', help_heading = "Columns")]
    pub items: Vec<String>,
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
}

impl ColumnArgs {
    /// The same for the reader.
    pub(crate) fn read_options(&self, weight: Option<&String>) -> fedirt_data::ReadOptions {
        fedirt_data::ReadOptions {
            site: self.site.clone(),
            id: self.id.clone(),
            weight: weight.cloned(),
            items: self.items.clone(),
            ignore: self.ignore.clone(),
            missing: self.missing.clone(),
        }
    }
}
