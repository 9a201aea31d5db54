//! `fedirt site open`: the officer's pages in a browser that is logged in. What the icon of the desktop starts.

use super::told;
use crate::args::SiteOpenArgs;
use crate::error::CliError;
use crate::output::stdout;
use fedirt_ui::site::{leave_code, served_at};
use std::fs::OpenOptions;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How long a program that was started may take until it serves the pages.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between two looks whether it does.
const PAUSE: Duration = Duration::from_millis(100);

/// Why the pages cannot be opened.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[error("the pages were not served within {} seconds; what the program said is in {}", START_TIMEOUT.as_secs(), .0.display())]
    NotServed(PathBuf),
    #[error("no browser can be started with {program} ({error}). Open {} in a browser within a minute", .page.display())]
    NoBrowser { program: String, page: PathBuf, error: std::io::Error },
    #[error("the program that serves the pages cannot be started: {0}")]
    NotStarted(std::io::Error),
}

pub(super) fn run(home: &Path, args: &SiteOpenArgs) -> Result<ExitCode, CliError> {
    // A browser needs the whole path of the page.
    let home = std::path::absolute(home).map_err(CliError::file(home))?;
    let address = match served_at(&home).map_err(told)? {
        Some(address) => address,
        None => start(&home, args.port)?,
    };
    let page = leave_code(&home, &address).map_err(told)?;
    browse(&page)?;
    stdout::print(&format!("The pages of {} open in the browser: {address}\n", home.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Starts a program that serves the pages and goes on when this one ends. Gives their address.
fn start(home: &Path, port: u16) -> Result<String, CliError> {
    // Whoever opens an icon does not choose ports: another one is taken where this one is.
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let port = if free { port } else { 0 };
    let log = home.join("pages.log");
    let said = private_file(&log).map_err(CliError::file(&log))?;
    let program = std::env::current_exe().map_err(|e| CliError::because(OpenError::NotStarted(e)))?;
    let mut command = Command::new(program);
    command.args(["site", "pages", "--no-link", "--port", &port.to_string(), "--home"]).arg(home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // Ctrl+C in a terminal that opened the pages does not end them.
        command.process_group(0);
    }
    command.spawn().map_err(|e| CliError::because(OpenError::NotStarted(e)))?;
    let begun = Instant::now();
    while begun.elapsed() < START_TIMEOUT {
        if let Some(address) = served_at(home).map_err(told)? {
            return Ok(address);
        }
        std::thread::sleep(PAUSE);
    }
    Err(CliError::because(OpenError::NotServed(log)))
}

fn private_file(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

fn browse(page: &Path) -> Result<(), CliError> {
    let program = std::env::var("BROWSER").ok().filter(|program| !program.is_empty());
    let mut command = match &program {
        Some(program) => Command::new(program),
        None if cfg!(target_os = "macos") => Command::new("open"),
        None if cfg!(windows) => Command::new("explorer"),
        None => Command::new("xdg-open"),
    };
    let started = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.map(drop).map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        CliError::because(OpenError::NoBrowser { program, page: page.to_owned(), error })
    })
}
