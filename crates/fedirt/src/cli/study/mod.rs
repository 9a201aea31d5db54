//! `fedirt study`.

mod attack;
mod empirical;
mod error;
mod faults;
mod finished;
mod folder;
mod issues;
mod paper;
mod private;
mod r;
mod real;
mod rounds;
mod scale;

use crate::args::{StudyArgs, StudyCommand};
use crate::error::CliError;
use fedirt_studies::paper::Number;
use std::process::ExitCode;

pub(crate) fn run(args: &StudyArgs) -> Result<ExitCode, CliError> {
    match &args.study {
        StudyCommand::One(args) => paper::run(Number::One, args),
        StudyCommand::Two(args) => paper::run(Number::Two, args),
        StudyCommand::Three(args) => paper::run(Number::Three, args),
        StudyCommand::Empirical(args) => empirical::run(args),
        StudyCommand::Attack(args) => attack::run(args),
        StudyCommand::Private(args) => private::run(args),
        StudyCommand::Rounds(args) => rounds::run(args),
        StudyCommand::Issues(args) => issues::run(args),
        StudyCommand::Faults(args) => faults::run(args),
        StudyCommand::Kills(args) => real::kills::run(args),
        StudyCommand::Load(args) => real::load::run(args),
        StudyCommand::Scale(args) => scale::run(args),
    }
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

    /// Each of three graphs is run to its sum; one that did not open would be an error.
    #[test]
    fn masks_of_all_sites_cancel() {
        study("scale --sites 10,120 --numbers 7").unwrap();
        let message = study("load --masking half").unwrap_err();
        assert!(message.contains("neither full nor sparse"), "{message}");
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        for (words, wanted) in [
            ("rounds --replications 0", "0"),
            ("rounds --sizes 7x7", "sizes are all, small, 10x50"),
            ("rounds --algorithm sgd", "possible values: newton, em"),
            ("rounds --model 3pl", "3pl"),
            ("rounds --effects none", "possible values: fixed, random"),
            ("rounds --table models --algorithm em", "newton only"),
            ("rounds --table algorithms --model grm", "leave out --model"),
        ] {
            let message = study(words).unwrap_err();
            assert!(message.contains(wanted), "{words}: {message}");
        }
    }
}
