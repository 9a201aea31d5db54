//! `fedirt study`.

mod faults;
mod real;

use crate::args::{RoundsArgs, StudyArgs, StudyCommand, TableArg};
use crate::error::CliError;
use fedirt_studies::rounds::{self, Options};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &StudyArgs) -> Result<ExitCode, CliError> {
    match &args.study {
        StudyCommand::Rounds(args) => count_rounds(args),
        StudyCommand::Faults(args) => faults::run(args),
        StudyCommand::Kills(args) => real::kills::run(args),
        StudyCommand::Load(args) => real::load::run(args),
    }
}

fn count_rounds(args: &RoundsArgs) -> Result<ExitCode, CliError> {
    if args.table == TableArg::Models && !args.algorithm.is_empty() {
        return Err(CliError::Usage("--table models runs newton only: leave out --algorithm".into()));
    }
    if args.table == TableArg::Algorithms && !(args.model.is_empty() && args.effects.is_empty()) {
        let message =
            "--table algorithms compares them for 2pl with fixed effects: leave out --model and --effects";
        return Err(CliError::Usage(message.into()));
    }
    if let Some(folder) = &args.out {
        // Before hours of work, not after.
        std::fs::create_dir_all(folder).map_err(CliError::file(folder))?;
    }
    let defaults = Options::default();
    let mut sizes = Vec::new();
    for size in args.sizes.iter().flat_map(|s| &s.0) {
        if !sizes.contains(size) {
            sizes.push(size.clone());
        }
    }
    let or = |given: &Vec<_>, all| if given.is_empty() { all } else { given.clone() };
    let options = Options {
        replications: args.replications as usize,
        first_seed: args.seed,
        sizes,
        algorithms: if args.algorithm.is_empty() { defaults.algorithms } else { args.algorithm.clone() },
        models: or(&args.model, defaults.models),
        effects: if args.effects.is_empty() { defaults.effects } else { args.effects.clone() },
        algorithm_table: args.table != TableArg::Models,
        model_table: args.table != TableArg::Algorithms,
    };
    // Hidden when standard error is not a terminal.
    let bar = ProgressBar::new(options.trials() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} calibrations, {eta} left") {
        bar.set_style(style);
    }
    let study = rounds::run(options, &|| bar.inc(1));
    bar.finish_and_clear();
    let json = study.json().map_err(|e| CliError::Usage(e.to_string()))?;
    if let Some(folder) = &args.out {
        write(&folder.join("rounds.csv"), &study.csv())?;
        write(&folder.join("rounds.json"), &json)?;
    }
    let mut text = if args.json { format!("{json}\n") } else { rounds::tables(&study) };
    if let (Some(folder), false) = (&args.out, args.json) {
        text += &format!("\nWrote rounds.csv and rounds.json to {}\n", folder.display());
    }
    crate::output::stdout::print_raw(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(path, text).map_err(CliError::file(path))
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn study(words: &str) -> Result<(), String> {
        let cli = Cli::try_parse_from(format!("fedirt study {words}").split_whitespace())
            .map_err(|e| e.to_string())?;
        let Command::Study(args) = cli.command else { return Err("another command".into()) };
        super::run(&args).map(|_| ()).map_err(|e| e.to_string())
    }

    #[test]
    fn rounds_are_counted_and_written() {
        let folder = tempfile::tempdir().unwrap();
        let words = "rounds --replications 1 --sizes 10x50 --table algorithms --algorithm newton,em --out";
        study(&format!("{words} {}", folder.path().display())).unwrap();
        let csv = std::fs::read_to_string(folder.path().join("rounds.csv")).unwrap();
        assert_eq!(csv.lines().count(), 3);
        assert!(csv.lines().nth(1).unwrap().starts_with("10x50,2pl,fixed,complete,newton,1,"), "{csv}");
        let json = std::fs::read_to_string(folder.path().join("rounds.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["seeds"], serde_json::json!([1]));
        assert_eq!(json["cells"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        for (words, wanted) in [
            ("rounds --replications 0", "0"),
            ("rounds --sizes 7x7", "sizes are all, small, 10x50"),
            ("rounds --algorithm sgd", "algorithms are newton, em"),
            ("rounds --model 3pl", "3pl"),
            ("rounds --effects none", "fixed and random"),
            ("rounds --table models --algorithm em", "newton only"),
            ("rounds --table algorithms --model grm", "leave out --model"),
        ] {
            let message = study(words).unwrap_err();
            assert!(message.contains(wanted), "{words}: {message}");
        }
    }
}
