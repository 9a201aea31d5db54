//! `fedirt study`.

use super::{ColumnArgs, EFFECTS, choices};
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, ValueEnum};
use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Effects;
use fedirt_model::statistics::Mode;
use fedirt_protocol::terms::Masking;
use fedirt_studies::issues::Problem;
use fedirt_studies::private::study::CONDITIONS;
use fedirt_studies::rounds::{MODELS, SIZES, Size};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub study: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// The paper's Study 1: FedIRT, FedIRT-DP, the private default, FedSGD, FedAvg, meta-analysis and the pooled fit
    #[command(name = "1")]
    One(PaperArgs),
    /// The paper's Study 2: school effects as parameters, or as averages of students' abilities
    #[command(name = "2", mut_arg("students", hidden), mut_arg("with_r", hidden), mut_arg("rscript", hidden))]
    Two(PaperArgs),
    /// The paper's Study 3: rows in which all answers are wrong, or all are right
    #[command(name = "3", mut_arg("students", hidden), mut_arg("with_r", hidden), mut_arg("rscript", hidden))]
    Three(PaperArgs),
    /// The paper's empirical study on any file: FedIRT, FedIRT-DP and the private default side by side
    Empirical(EmpiricalArgs),
    /// Reconstruction attack: response rows from the transcripts of honest runs
    Attack(AttackArgs),
    /// How accurate private calibrations are, beside FedIRT-DP and no noise; whether their intervals hold
    Private(PrivateStudyArgs),
    /// Rounds and bytes that each algorithm needs, on simulated data
    Rounds(RoundsArgs),
    /// Dependent items, skewed ability, one site of half the students: what a plain fit gets wrong, whether the checks of the
    /// model see it, what the remedies repair
    Issues(IssuesArgs),
    /// Simulate lost, repeated and falsified messages and crashes, and check the invariants of the protocol
    Faults(FaultsArgs),
    /// Crash test: kill coordinator and sites (real processes, kill -9) repeatedly, and compare the result
    Kills(KillsArgs),
    /// Load test: the cost of rounds without the statistics, with many sites and studies at once
    Load(LoadArgs),
    /// Cost curve of masks: bytes and CPU at a site and at the coordinator by the number of sites, in one process
    Scale(ScaleArgs),
}

/// Hides an argument that only Study 1 has; the other studies refuse it with a reason.
fn hidden(argument: clap::Arg) -> clap::Arg {
    argument.hide(true)
}

/// The output folder of a study, and how the study is run.
#[derive(Debug, Args)]
pub(crate) struct StudyFolderArgs {
    /// Folder for tables, settings, pictures and the page [default: the study's name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Number of threads [default: all cores]; the files do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Start again and replace the content of the folder; otherwise an unfinished study is resumed, and results with other
    /// settings are not replaced
    #[arg(long)]
    pub restart: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PAPER_EXAMPLES)]
pub(crate) struct PaperArgs {
    /// Replications of each condition; the paper has 100
    #[arg(long, value_name = "T", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub replications: u64,
    /// Seed of parameters, answers and noise
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Draw abilities anew in each replication; the paper draws them once
    #[arg(long)]
    pub draw_abilities: bool,
    /// Study 1: students per school, out of 50, 100 and 300 [default: all three]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub students: Vec<usize>,
    /// Study 1: run mirt and ltm on the same answers, where R has them (slow)
    #[arg(long)]
    pub with_r: bool,
    /// The program that --with-r runs
    #[arg(long, value_name = "PROGRAM", default_value = "Rscript")]
    pub rscript: PathBuf,
    #[command(flatten)]
    pub folder: StudyFolderArgs,
}

const PAPER_EXAMPLES: &str = "Examples:
  fedirt study 1
  fedirt study 2 --replications 20 --out quick
  fedirt study 1 --students 50,100 --with-r

An interrupted study is resumed by the same command.";

#[derive(Debug, Args)]
#[command(after_help = EMPIRICAL_EXAMPLES)]
pub(crate) struct EmpiricalArgs {
    /// Response files (CSV): one per site, or with --site a column that names the site
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// ε of the private methods
    #[arg(long, value_name = "E", default_value_t = 2.0)]
    pub epsilon: f64,
    /// Number of draws of the noise
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub draws: u64,
    /// Seed of the noise; with a seed the results are reproducible and therefore not a private release
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub folder: StudyFolderArgs,
}

const EMPIRICAL_EXAMPLES: &str = "Examples:
  fedirt study empirical responses.csv --site school
  fedirt study empirical schools/*.csv --epsilon 8 --draws 5";

#[derive(Debug, Args)]
#[command(after_help = ATTACK_EXAMPLES)]
pub(crate) struct AttackArgs {
    /// Data sets per condition; private runs, for which an absence is claimed, have a hundred times as many
    #[arg(long, value_name = "T", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub replications: u64,
    /// Seed of the first data set; the others follow it
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Small conditions that take seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub folder: StudyFolderArgs,
}

const ATTACK_EXAMPLES: &str = "Examples:
  fedirt study attack --quick
  fedirt study attack --replications 5 --out attack

Rows can be reconstructed from the published protocol, school by school, and from secure sums, all schools together. From
private runs no more rows should be found than can be guessed from the fitted model. Read index.html first.";

#[derive(Debug, Args)]
pub(crate) struct KillsArgs {
    /// Number of kills
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub kills: u64,
    /// Seed of the times and processes
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Numbers of studies and sites, as STUDIESxSITES
    #[arg(long, value_name = "SxK,…", value_delimiter = ',', default_value = "1x3,1x100,50x20,1x500", value_parser = studies_and_sites)]
    pub settings: Vec<(usize, usize)>,
    /// With whom sites share masks: full, all others; sparse, from 100 sites on a few others
    #[arg(long, value_name = "WITH", default_value = "full", value_parser = masking)]
    pub masking: Masking,
}

fn masking(text: &str) -> Result<Masking, String> {
    match text {
        "full" => Ok(Masking::Full),
        "sparse" => Ok(Masking::Sparse),
        other => Err(format!("{other:?} is neither full nor sparse")),
    }
}

#[derive(Debug, Args)]
#[command(after_help = SCALE_EXAMPLES)]
pub(crate) struct ScaleArgs {
    /// Numbers of sites
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "10,100,1000,10000", value_parser = clap::value_parser!(u32).range(3..=100_000))]
    pub sites: Vec<u32>,
    /// Numbers that a site sends; 20 items in Newton's rounds have 860
    #[arg(long, value_name = "N", default_value_t = 860, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub numbers: u32,
    /// Sites that are measured where all of them would share more than a million masks
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub sample: u32,
}

const SCALE_EXAMPLES: &str = "Examples:
  fedirt study scale
  fedirt study scale --sites 100,300 --numbers 5000

Where all sites are run, their sum is compared with the plain one.";

fn studies_and_sites(text: &str) -> Result<(usize, usize), String> {
    let pair = text.split_once('x').and_then(|(s, k)| Some((s.parse().ok()?, k.parse().ok()?)));
    pair.filter(|(s, k)| *s >= 1 && *k >= 3)
        .ok_or_else(|| format!("{text:?} is not STUDIESxSITES, such as 1x100 (3 sites at least)"))
}

#[derive(Debug, Args)]
#[command(after_help = FAULTS_EXAMPLES)]
pub(crate) struct FaultsArgs {
    /// Number of simulated worlds
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// First seed
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub first: u64,
}

const FAULTS_EXAMPLES: &str = "Examples:
  fedirt study faults --seeds 10000
  fedirt study faults --first 4711 --seeds 1       repeat one world

Exit status: 0 no invariant violated, 1 an invariant violated (the seeds are listed).";

/// Tables of the study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableArg {
    /// all algorithms, 2PL with fixed effects
    Algorithms,
    /// newton for every model, fixed and random effects, complete and in booklets
    Models,
    /// both
    All,
}

#[derive(Debug, Args)]
pub(crate) struct PrivateStudyArgs {
    /// Data sets of each condition
    #[arg(long, value_name = "T", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub replications: u64,
    /// Seed of the first data set; the others follow
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Conditions [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(CONDITIONS.iter().map(|c| c.name)))]
    pub conditions: Vec<String>,
    #[command(flatten)]
    pub folder: StudyFolderArgs,
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RoundsArgs {
    /// Simulated data sets per condition; 20 are needed for reliable tables
    #[arg(long, value_name = "T", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub replications: u32,
    /// Seed of the first replication; the others follow it
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// The tables to compute
    #[arg(long, value_name = "TABLE", default_value = "all")]
    pub table: TableArg,
    /// Algorithms of the first table; newton always runs as the reference [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(AlgorithmKind::ALL.map(AlgorithmKind::name)).map(algorithm))]
    pub algorithm: Vec<AlgorithmKind>,
    /// Sizes: all, small (all but 20x1000), or names such as 10x50,50x6-8
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', default_value = "all", value_parser = sizes)]
    pub sizes: Vec<Sizes>,
    /// Models of the second table [default: all]
    #[arg(long, value_name = "MODEL,…", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(MODELS))]
    pub model: Vec<String>,
    /// Site effects of the second table [default: fixed,random]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = choices(&EFFECTS[1..], Effects::name))]
    pub effects: Vec<Effects>,
    /// Print rounds.json on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub folder: StudyFolderArgs,
}

const EXAMPLES: &str = "Examples:
  fedirt study rounds --sizes small
  fedirt study rounds --replications 20 --out rounds
  fedirt study rounds --table algorithms --algorithm newton,bfgs --sizes 10x50,5x100";

#[derive(Debug, Args)]
#[command(after_help = ISSUES_EXAMPLES)]
pub(crate) struct IssuesArgs {
    /// Simulated data sets for each problem and mode
    #[arg(long, value_name = "T", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub replications: u32,
    /// Seed of the first data set; the others follow it
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Students of each data set
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub students: u32,
    /// Problems [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = choices(PROBLEMS, Problem::name))]
    pub problem: Vec<Problem>,
    /// Modes [default: plain,secure]
    #[arg(long, value_name = "MODE,…", value_delimiter = ',', value_parser = choices(ISSUE_MODES, Mode::name))]
    pub mode: Vec<Mode>,
    #[command(flatten)]
    pub folder: StudyFolderArgs,
}

/// Problems that are simulated.
const PROBLEMS: &[(Problem, &str)] = &[
    (Problem::Nothing, "the model is right: how often the checks speak nevertheless"),
    (Problem::Dependence, "three items share a text"),
    (Problem::Skew, "ability has a long tail on the right"),
    (Problem::TwoHumps, "ability has two humps"),
    (Problem::Dif, "three items are harder for a group of students, which is less able besides"),
    (Problem::LargeSite, "one of ten sites has half of the students, and three items are harder there"),
];

/// Modes in which there are diagnostics.
const ISSUE_MODES: &[(Mode, &str)] = &[
    (Mode::Plain, "the coordinator sees each site's sums"),
    (Mode::Secure, "it sees sums over all sites alone"),
];

impl IssuesArgs {
    /// The problems that are simulated.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let chosen = |problem: &Problem| self.problem.is_empty() || self.problem.contains(problem);
        PROBLEMS.iter().map(|(problem, _)| *problem).filter(chosen).collect()
    }

    /// The modes in which they are fitted.
    pub(crate) fn modes(&self) -> Vec<Mode> {
        let chosen = |mode: &Mode| self.mode.is_empty() || self.mode.contains(mode);
        ISSUE_MODES.iter().map(|(mode, _)| *mode).filter(chosen).collect()
    }
}

const ISSUES_EXAMPLES: &str = "Examples:
  fedirt study issues --replications 20
  fedirt study issues --problem nothing --mode plain --replications 1000      sizes of the tests";

/// The sizes that one word after `--sizes` stands for.
#[derive(Debug, Clone)]
pub(crate) struct Sizes(pub Vec<Size>);

fn sizes(text: &str) -> Result<Sizes, String> {
    let chosen: Vec<Size> = SIZES
        .into_iter()
        .filter(|size| match text {
            "all" => true,
            "small" => size.name != "20x1000",
            name => size.name == name,
        })
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = SIZES.iter().map(|s| s.name).collect();
        return Err(format!("sizes are all, small, {}", names.join(", ")));
    }
    Ok(Sizes(chosen))
}

fn algorithm(name: String) -> AlgorithmKind {
    let found = AlgorithmKind::ALL.into_iter().find(|algorithm| algorithm.name() == name);
    found.expect("the parser accepts only these names")
}
