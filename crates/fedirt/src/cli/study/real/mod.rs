//! Studies of the real programs: this very executable as coordinator and sites, over loopback TLS.

pub(super) mod kills;
pub(super) mod load;

use super::error::StudyFailure;
use crate::error::CliError;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// This program.
struct Program {
    path: PathBuf,
    /// Standard output and error of all processes, for when something goes wrong.
    log: PathBuf,
}

impl Program {
    fn new(folder: &Path) -> Result<Self, CliError> {
        let path = std::env::current_exe().map_err(CliError::Output)?;
        Ok(Self { path, log: folder.join("log.txt") })
    }

    fn command(&self, arguments: &[&str]) -> Result<Command, CliError> {
        let log =
            || File::options().create(true).append(true).open(&self.log).map_err(CliError::file(&self.log));
        let mut command = Command::new(&self.path);
        command.args(arguments).stdin(Stdio::null()).stdout(log()?).stderr(log()?);
        Ok(command)
    }

    /// Runs a command to its end, and gives what it printed.
    fn run(&self, arguments: &[&str]) -> Result<String, CliError> {
        let output = Command::new(&self.path)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(CliError::file(&self.path))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        Err(StudyFailure::Command { arguments, stderr }.into())
    }

    /// Starts a command that goes on.
    fn spawn(&self, arguments: &[&str]) -> Result<Child, CliError> {
        self.command(arguments)?.spawn().map_err(CliError::file(&self.path))
    }
}

/// A free port on loopback.
fn free_port() -> Result<u16, CliError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(CliError::Output)?;
    Ok(listener.local_addr().map_err(CliError::Output)?.port())
}

/// Waits until someone listens.
fn wait_for(port: u16) -> Result<(), CliError> {
    let since = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if since.elapsed() > Duration::from_secs(30) {
            return Err(StudyFailure::NotListening { port }.into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// A path as text.
fn text(path: &Path) -> Result<&str, CliError> {
    Ok(path.to_str().ok_or_else(|| StudyFailure::PathEncoding(path.to_owned()))?)
}

/// The one line of an output that is an invitation.
fn invitation(output: &str) -> Result<String, CliError> {
    let word = output.split_whitespace().find(|word| word.starts_with("fedirt-invitation:"));
    Ok(word.map(str::to_owned).ok_or(StudyFailure::NoInvitation)?)
}

/// A process that is killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
