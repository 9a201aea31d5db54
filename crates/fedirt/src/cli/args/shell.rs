//! `fedirt completions` and `fedirt man`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// Folder for the pages: fedirt.1, fedirt-fit.1, …; files of these names are replaced
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

const COMPLETIONS_EXAMPLES: &str = "Examples:
  fedirt completions bash > ~/.local/share/bash-completion/completions/fedirt
  fedirt completions zsh > \"${fpath[1]}/_fedirt\"
  fedirt completions fish > ~/.config/fish/completions/fedirt.fish";

const MAN_EXAMPLES: &str = "Examples:
  fedirt man --out ~/.local/share/man/man1            then: man fedirt-fit
  fedirt man --out pages && man -l pages/fedirt-fit.1";
