//! The `fedirt` command.

mod args;
mod check;
mod compare;
mod coordinator;
mod demo;
mod error;
mod fit;
mod flower;
mod input;
mod interrupt;
#[cfg(unix)]
mod mailbox;
mod output;
mod privacy;
mod progress;
mod report;
mod score;
mod shell;
mod simulate;
mod site;
#[cfg(feature = "studies")]
mod study;
mod terminal;
mod typed;
mod usage;

use args::Command;
use error::CliError;
use std::process::ExitCode;
use typed::Typed;
use usage::UsageError;

fn main() -> ExitCode {
    let (cli, typed) = Typed::read();
    let result = match &cli.command {
        Command::Fit(args) => fit::run(args, &typed),
        Command::Sensitivity(args) => fit::sensitivity(args),
        Command::Score(args) => score::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Report(args) => report::run(args),
        Command::Check(args) => check::run(args),
        Command::Simulate(args) => simulate::run(args),
        #[cfg(feature = "studies")]
        Command::Study(args) => study::run(args),
        Command::Privacy(args) => privacy::run(args),
        Command::Site(args) => site::run(args),
        Command::Coordinator(args) => coordinator::run(args),
        Command::Flower(args) => flower::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args),
    };
    result.unwrap_or_else(|error| {
        error.print();
        ExitCode::from(2)
    })
}

/// Sets the number of threads of this process, where a flag names one.
fn use_threads(threads: Option<usize>) -> Result<(), CliError> {
    let Some(threads) = threads else { return Ok(()) };
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    Ok(built.map_err(|error| UsageError::refused("--threads", threads, error))?)
}
