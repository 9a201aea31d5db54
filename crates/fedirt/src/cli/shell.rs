//! `fedirt completions` and `fedirt man`: made from the same definitions as `--help`.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::error::CliError;
use crate::output::{stderr, stdout};
use clap::{Command, CommandFactory};
use fedirt_data::files;
use std::fs;
use std::process::ExitCode;

/// Prints the script that completes commands, flags and their values in a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fedirt", &mut script);
    stdout::print_raw(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a manual page for the program and one for each subcommand.
pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, CliError> {
    fs::create_dir_all(&args.out).map_err(CliError::file(&args.out))?;
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    collect(&command, "", &mut pages);
    for (name, page) in &pages {
        files::replace(&args.out.join(name), |out| page.render(out))?;
    }
    stderr::note(&format!(
        "wrote {} manual pages to {}: man -l {}",
        pages.len(),
        args.out.display(),
        args.out.join("fedirt.1").display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn collect(command: &Command, before: &str, pages: &mut Vec<(String, clap_mangen::Man)>) {
    let name = format!("{before}{}", command.get_name());
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        collect(sub, &format!("{name}-"), pages);
    }
    pages.push((format!("{name}.1"), clap_mangen::Man::new(command.clone())));
}
