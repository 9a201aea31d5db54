//! The arguments of the command line, one file per subcommand.

mod check;
mod compare;
mod coordinator;
mod demo;
mod fit;
mod flower;
mod privacy;
mod report;
mod score;
mod shell;
mod simulate;
mod site;
#[cfg(feature = "studies")]
mod study;

use crate::error::CliError;
use anstyle::AnsiColor;
pub(crate) use check::CheckArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, Styles, TypedValueParser};
use clap::{Args, Parser, Subcommand};
pub(crate) use compare::CompareArgs;
#[cfg(unix)]
pub(crate) use coordinator::CoordinatorMailboxArgs;
pub(crate) use coordinator::{
    CoordinatorArgs, CoordinatorCommand, CoordinatorExportArgs, CoordinatorInitArgs, CoordinatorInviteArgs,
    CoordinatorStartArgs, CoordinatorStatusArgs,
};
pub(crate) use demo::DemoArgs;
use fedirt::{Input, LongColumns, Problems, ReadOptions, read_codebook, read_key, read_map};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{MissingAnswers, PrivateMechanism};
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::PrivacyLevel;
#[cfg(feature = "studies")]
pub(crate) use fit::PresetArg;
pub(crate) use fit::{AlgorithmArg, FitArgs, NoiseArg, SensitivityArgs};
pub(crate) use flower::{FlowerArgs, FlowerCommand, FlowerInitArgs};
pub(crate) use privacy::{
    AuditArgs, EpsilonArgs, NoiseArgs, PlanArgs, PrivacyArgs, PrivacyCommand, RoundsOfSampling,
};
pub(crate) use report::ReportArgs;
pub(crate) use score::{MethodArg, PriorArg, ScoreArgs, ScoreScaleArgs};
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use simulate::SimulateArgs;
#[cfg(target_os = "linux")]
pub(crate) use site::SiteServiceArgs;
pub(crate) use site::{
    OwnFiles, SiteArgs, SiteBudgetArgs, SiteCommand, SiteEnrolArgs, SiteJoinArgs, SiteOpenArgs,
    SitePagesArgs, SitePreviewArgs, SiteStatusArgs, SiteWithdrawArgs,
};
#[cfg(unix)]
pub(crate) use site::{SiteApproveArgs, SiteMailboxArgs};
use std::path::{Path, PathBuf};
#[cfg(feature = "studies")]
pub(crate) use study::{
    AttackArgs, EmpiricalArgs, FaultsArgs, IssuesArgs, KillsArgs, LoadArgs, PaperArgs, PrivateStudyArgs,
    RoundsArgs, ScaleArgs, StudyArgs, StudyCommand, StudyFolderArgs, TableArg,
};

/// The style of help texts on a terminal.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// Calibrate tests across sites without pooling answers.
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
    /// Fit with and without dependent items or unequal sites, and tabulate what changes
    Sensitivity(Box<SensitivityArgs>),
    /// Score students with the items of a fit
    Score(Box<ScoreArgs>),
    /// Compare fits: likelihood ratio, information criteria, items side by side, linked scales
    Compare(CompareArgs),
    /// Write the report of a fit (HTML)
    Report(ReportArgs),
    /// Describe response files, and list what is wrong with them
    Check(CheckArgs),
    /// Simulate response files with known parameters
    Simulate(SimulateArgs),
    /// Run a study on simulated data
    #[cfg(feature = "studies")]
    Study(StudyArgs),
    /// Compute ε from noise or noise from ε, forecast and audit private studies
    Privacy(PrivacyArgs),
    /// Take part in studies from a site
    Site(SiteArgs),
    /// Coordinate studies with sites over a network
    Coordinator(CoordinatorArgs),
    /// Carry a study over Flower, a federation engine
    Flower(FlowerArgs),
    /// Demonstrate a study in the browser, with a coordinator and three sites on this machine
    Demo(DemoArgs),
    /// Print the script by which a shell completes commands and flags
    Completions(CompletionsArgs),
    /// Write manual pages
    Man(ManArgs),
}

const EXAMPLES: &str = "Start here:
  fedirt check north.csv south.csv                    describe the files
  fedirt fit north.csv south.csv                      print tables on the terminal
  fedirt fit north.csv south.csv --out results        write files and a report
  fedirt score results/fit.json new.csv               score other students
  fedirt compare rasch.json 2pl.json                  compare models, or link two scales
  fedirt demo                                         watch a study in the browser

`fedirt COMMAND --help` lists a command's options.";

/// Where a mailbox answers.
#[cfg(unix)]
#[derive(Debug, Clone, Args)]
pub(crate) struct SocketArgs {
    /// The UNIX socket at which couriers are answered; only this account may connect
    #[arg(long, value_name = "PATH")]
    pub socket: PathBuf,
    /// Let the socket's group connect too, where the courier has an account of its own
    #[arg(long)]
    pub socket_group: bool,
}

/// How the columns of response files are used.
#[derive(Debug, Clone, Args)]
pub(crate) struct ColumnArgs {
    /// Column that names the site [default: each file is a site]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub site: Option<String>,
    /// Columns that are items, such as i1-i50, 'Q*' or a,b,c [default: all other columns]
    #[arg(long, value_name = "ITEM,…", value_delimiter = ',', help_heading = "Columns")]
    pub items: Vec<String>,
    #[command(flatten)]
    pub common: CommonColumnArgs,
}

/// Flags for columns that the files of one site have too.
#[derive(Debug, Clone, Args)]
pub(crate) struct CommonColumnArgs {
    /// Column of student identifiers [default: `id`, where there is one]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub id: Option<String>,
    /// Columns that are not items
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = "Columns")]
    pub ignore: Vec<String>,
    /// Codes for a missing answer, in addition to an empty cell, `.` and NA
    #[arg(
        long,
        value_name = "CODE,…",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Columns"
    )]
    pub missing: Vec<String>,
}

impl CommonColumnArgs {
    /// The flags as options of the reader.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            ignore: self.ignore.clone(),
            missing: self.missing.clone(),
            ..ReadOptions::default()
        }
    }
}

impl ColumnArgs {
    /// The flags as options of the reader.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions { site: self.site.clone(), items: self.items.clone(), ..self.common.read_options() }
    }
}

/// What items are called and how their answers become codes.
#[derive(Debug, Clone, Args)]
pub(crate) struct AnswerArgs {
    /// Codebook (CSV: item, then any of categories, lowest, model, aliases, missing, levels, scores, key, reverse): it selects
    /// the items and says what their answers are; private fits take categories from here alone
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub codebook: Option<PathBuf>,
    /// Answer key (CSV: item, key) of files that hold options: B, or B|C, or A=2|B=1
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub key: Option<PathBuf>,
    /// Names in the files (CSV: name, item) that stand for items
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub map: Option<PathBuf>,
    /// The columns of long files, with a line for each answer [default: item and resp, where there are such]
    #[arg(
        long,
        value_name = "id=A,item=B,resp=C",
        value_parser = parse_long,
        conflicts_with = "id",
        help_heading = "Answers"
    )]
    pub long: Option<LongColumns>,
}

impl AnswerArgs {
    /// Adds them to the options of the reader; what is wrong with the files that they name is added to the errors.
    pub(crate) fn add_to(
        &self,
        options: &mut ReadOptions,
        errors: &mut Vec<CliError>,
        open: &dyn Fn(&Path) -> Input<'static>,
    ) {
        let mut keep = |problems: Problems| errors.push(problems.into());
        if let Some(path) = &self.codebook {
            options.codebook = read_codebook(open(path)).map_err(&mut keep).ok();
        }
        if let Some(path) = &self.key {
            options.key = read_key(open(path)).map_err(&mut keep).unwrap_or_default();
        }
        if let Some(path) = &self.map {
            options.renamed = read_map(open(path)).map_err(&mut keep).unwrap_or_default();
        }
        options.long = self.long.clone();
    }
}

fn parse_long(text: &str) -> Result<LongColumns, String> {
    let mut columns = [("id", None), ("item", None), ("resp", None)];
    for part in text.split(',') {
        let (name, column) = part.split_once('=').ok_or_else(|| format!("{part:?} is not NAME=COLUMN"))?;
        let place = columns.iter_mut().find(|(known, _)| *known == name.trim());
        let (_, place) = place.ok_or_else(|| format!("{name:?} is none of id, item and resp"))?;
        *place = Some(column.trim().to_owned());
    }
    match columns.map(|(_, column)| column) {
        [Some(id), Some(item), Some(response)] => Ok(LongColumns { id, item, response }),
        _ => Err("id, item and resp are needed".to_owned()),
    }
}
/// A parser of named values, with a help text for each.
fn choices<T: Copy + Send + Sync + 'static>(
    values: &'static [(T, &'static str)],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let possible = move |(value, help): &(T, &'static str)| PossibleValue::new(name(*value)).help(*help);
    PossibleValuesParser::new(values.iter().map(possible)).map(move |text| {
        let found = values.iter().find(|(value, _)| name(*value) == text);
        found.map(|(value, _)| *value).expect("the parser accepts only these names")
    })
}

/// Site effects.
const EFFECTS: &[(Effects, &str)] = &[
    (Effects::None, "all sites draw from one population"),
    (Effects::Fixed, "one effect per site, summing to zero"),
    (Effects::Random, "effects drawn from a normal distribution"),
];

/// Treatment of answers that are missing.
/// Levels of privacy.
const LEVELS: &[(PrivacyLevel, &str)] =
    &[(PrivacyLevel::Strict, "ε = 1"), (PrivacyLevel::Standard, "ε = 2"), (PrivacyLevel::Light, "ε = 6")];

/// What private calibrations sum.
const MECHANISMS: &[(PrivateMechanism, &str)] = &[
    (PrivateMechanism::Optimal, "scores bounded so that the error of items and site effects is smallest"),
    (PrivateMechanism::Score2, "whitened scores, cut at a length"),
];

const MISSING_ANSWERS: &[(MissingAnswers, &str)] = &[
    (
        MissingAnswers::Counted,
        "they are left out; private fits leave the whole row out, and estimate the number of complete rows",
    ),
    (MissingAnswers::Wrong, "they are scored as the lowest category"),
];

/// The name of a treatment of rows that lack an answer, as plans write it.
fn missing_name(missing: MissingAnswers) -> &'static str {
    match missing {
        MissingAnswers::Counted => "counted",
        MissingAnswers::Wrong => "wrong",
    }
}

/// Modes of a study.
const MODES: &[(Mode, &str)] = &[
    (Mode::Private, "the coordinator sees sums with noise that protects each student"),
    (
        Mode::Secure,
        "the coordinator is sent only sums over all sites, from which it may be able to infer answers, and with site effects their sites",
    ),
    (Mode::Plain, "the coordinator sees each site's sums, from which answers can be reconstructed"),
];

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    /// Two flags of one name are found when a command is first used; this uses all of them.
    #[test]
    fn flags_have_names_of_their_own() {
        Cli::command().debug_assert();
    }
}
