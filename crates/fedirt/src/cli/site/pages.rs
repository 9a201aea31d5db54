//! `fedirt site pages`.

use super::told;
use crate::args::SitePagesArgs;
use crate::error::CliError;
use crate::output::{stderr, stdout};
use fedirt_ui::site::{Pages, PagesSettings};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(home: &Path, args: &SitePagesArgs) -> Result<ExitCode, CliError> {
    let settings = PagesSettings { port: args.port, auditor: args.auditor.clone(), automatic: None };
    let pages = Pages::start(home, settings).map_err(told)?;
    let mut text = if args.no_link {
        format!("Pages of {}: {}\n", home.display(), pages.address)
    } else {
        format!(
            "Pages of {}: open {}\n       (this link is valid until the program is restarted; keep it secret)\n",
            home.display(),
            pages.link
        )
    };
    if let (Some(name), Some(link)) = (&args.auditor, &pages.auditor) {
        text.push_str(&format!("For {name}, who may look and change nothing: {link}\n"));
    }
    pages.broken.iter().for_each(|error| stderr::warning(error));
    text.push_str("Running studies are resumed. Ctrl+C stops everything; nothing is lost.\n");
    stdout::print(&text)?;
    pages.until_signal().map_err(told)?;
    Ok(ExitCode::SUCCESS)
}
