//! `fedirt score`.

use super::{AnswerArgs, ColumnArgs, MISSING_ANSWERS, choices, missing_name};
use clap::{Args, ValueEnum};
use fedirt::{PriorChoice, ReportScale, ScoreOptions};
use fedirt_model::private::MissingAnswers;
use std::path::PathBuf;

/// Estimates of ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// mean of the posterior
    Eap,
    /// mode of the posterior
    Map,
    /// Warm's weighted likelihood
    Wle,
    /// maximum likelihood; undefined for students with all answers or no answer right
    Ml,
    /// plausible values: draws from the posterior
    Pv,
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScoreArgs {
    /// A fit, as written by fedirt fit
    #[arg(value_name = "FIT.json")]
    pub fit: PathBuf,
    /// Response files (CSV): one per site, or with --site a column that names the site
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// Answers that are missing, where the item was given [default: counted]
    #[arg(long, value_name = "HOW", help_heading = "Answers", value_parser = choices(MISSING_ANSWERS, missing_name))]
    pub missing_answers: Option<MissingAnswers>,
    /// How ability is estimated
    #[arg(long, value_name = "METHOD", default_value = "eap", help_heading = "Scores")]
    pub method: MethodArg,
    /// Plausible values per student (pv) [default: 5]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "Scores")]
    pub draws: Option<u16>,
    /// Seed of the plausible values (pv) [default: 1]
    #[arg(long, value_name = "S", help_heading = "Scores")]
    pub seed: Option<u64>,
    /// Column of student weights, which scores do not use
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,
    /// Effect of sites that are not in the fit (eap, map, pv) [default: 0]
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = "Scores")]
    pub site_effect: Option<f64>,
    #[command(flatten)]
    pub score_scale: ScoreScaleArgs,
    /// Print or write JSON instead of CSV
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Say nothing but errors on standard error
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
    /// Write the scores to a file [default: standard output]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
}

/// The prior of scores, and the scale on which they are reported.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScoreScaleArgs {
    /// Distribution that scores start from [default: site]
    #[arg(long, value_name = "WHICH", help_heading = "Scores")]
    pub prior: Option<PriorArg>,
    /// Scores on another scale as well: the mean and SD of the students of the calibration on it
    #[arg(long, value_name = "mean=M,sd=S", value_parser = parse_scale, help_heading = "Scores")]
    pub scale: Option<ReportScale>,
}

/// The distribution that scores start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PriorArg {
    /// that of the student's site: for means of groups
    Site,
    /// that of all students: the same answers give the same score everywhere
    Common,
}

impl ScoreScaleArgs {
    /// Adds them to the options of scoring.
    pub(crate) fn add_to(&self, options: &mut ScoreOptions) {
        options.scale = self.scale;
        options.prior = match self.prior {
            Some(PriorArg::Common) => PriorChoice::Common,
            Some(PriorArg::Site) | None => PriorChoice::Site,
        };
    }
}

fn parse_scale(text: &str) -> Result<ReportScale, String> {
    let wanted = || format!("{text:?} is not mean=M,sd=S with S above 0, such as mean=500,sd=100");
    let (mut mean, mut sd) = (None, None);
    for part in text.split(',') {
        let (name, value) = part.split_once('=').ok_or_else(wanted)?;
        let value: f64 = value.trim().parse().map_err(|_| wanted())?;
        match name.trim() {
            "mean" => mean = Some(value),
            "sd" => sd = Some(value),
            _ => return Err(wanted()),
        }
    }
    let scale = mean.zip(sd).map(|(mean, sd)| ReportScale { mean, sd });
    scale.filter(|s| s.mean.is_finite() && s.sd.is_finite() && s.sd > 0.0).ok_or_else(wanted)
}

const EXAMPLES: &str = "Examples:
  fedirt score results/fit.json north.csv south.csv --out scores.csv
  fedirt score results/fit.json exam.csv --site school --method pv --draws 10 --seed 7
  fedirt score results/fit.json newschool.csv --site-effect=-0.3 --method map

Items are matched by name; a site's effect is looked up by the site's name.
Columns: id (or the row's number within its site), site, answered (items), raw (sum of categories,
the lowest counting 0), F1 and SE_F1 (or PV1, PV2, …), with --scale the same on it (F1_scaled, …),
Zh, infit, outfit, prior. Rows stand in the order of the files; students without an answer have no score.";
