//! What was typed: the command line as text, and the options of a subcommand with their values.

use crate::args::Cli;
use clap::{ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches};
use fedirt_data::results::shell_line;
use std::collections::BTreeMap;

/// A command line that could be read.
pub(crate) struct Typed {
    command: Command,
    matches: ArgMatches,
}

impl Typed {
    /// Reads the command line of this process. Where it is wrong or asks for help, the process ends.
    pub(crate) fn read() -> (Cli, Self) {
        let mut command = Cli::command();
        let matches = command.get_matches_mut();
        let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        (cli, Self { command, matches })
    }

    /// The command, quoted for a shell; none if it has an argument that is no text.
    pub(crate) fn command(&self) -> Option<String> {
        let arguments: Option<Vec<String>> =
            std::env::args_os().skip(1).map(|argument| argument.into_string().ok()).collect();
        let arguments = arguments?;
        Some(shell_line(std::iter::once("fedirt").chain(arguments.iter().map(String::as_str))))
    }

    /// The options of a subcommand that were typed or have a default, by the names of their flags.
    pub(crate) fn options(&self, subcommand: &str) -> BTreeMap<String, String> {
        let command = self.command.find_subcommand(subcommand);
        let matches = self.matches.subcommand_matches(subcommand);
        let Some((command, matches)) = command.zip(matches) else { return BTreeMap::new() };
        let value = |arg: &clap::Arg| {
            let name = arg.get_long().unwrap_or(arg.get_id().as_str()).to_owned();
            let values = matches.get_raw(arg.get_id().as_str())?;
            let text = values.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(",");
            let switched_off = matches!(arg.get_action(), ArgAction::SetTrue) && text == "false";
            (!switched_off).then_some((name, text))
        };
        let known = |arg: &&clap::Arg| matches.try_contains_id(arg.get_id().as_str()).is_ok();
        command.get_arguments().filter(known).filter_map(value).collect()
    }
}
