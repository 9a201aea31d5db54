//! `fedirt flower`: a project for Flower that carries the messages of a study.

use crate::args::{FlowerArgs, FlowerCommand, FlowerInitArgs};
use crate::error::CliError;
use crate::output::stdout;
use crate::usage::UsageError;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The files of a project, with `@STUDY@`, `@SOCKET@` and `@VERSION@` where those stand.
const FILES: [(&str, &str); 11] = [
    ("pyproject.toml", include_str!("pyproject.toml")),
    ("README.md", include_str!("README.md")),
    ("LICENSE", include_str!("../../../../../LICENSE")),
    ("fedirt_courier/__init__.py", include_str!("fedirt_courier/__init__.py")),
    ("fedirt_courier/parcel.py", include_str!("fedirt_courier/parcel.py")),
    ("fedirt_courier/client_app.py", include_str!("fedirt_courier/client_app.py")),
    ("fedirt_courier/server_app.py", include_str!("fedirt_courier/server_app.py")),
    ("systemd/fedirt-coordinator.service", include_str!("systemd/fedirt-coordinator.service")),
    ("systemd/fedirt-site.service", include_str!("systemd/fedirt-site.service")),
    ("systemd/flower-supernode.service", include_str!("systemd/flower-supernode.service")),
    (".gitignore", "__pycache__/\n*.fab\n"),
];

pub(crate) fn run(args: &FlowerArgs) -> Result<ExitCode, CliError> {
    match &args.command {
        FlowerCommand::Init(args) => init(args),
    }
}

fn init(args: &FlowerInitArgs) -> Result<ExitCode, CliError> {
    // The name stands in files of several formats, and homes of sites take no other names either.
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if args.study.is_empty() || args.study.starts_with('.') || !args.study.chars().all(fine) {
        let needed = "letters, digits, '-', '_' and '.', not beginning with '.'";
        return Err(UsageError::value("STUDY", &args.study, needed).into());
    }
    let default = format!("/run/fedirt/{}.sock", args.study);
    let socket = args.socket.as_ref().map_or(Ok(default.as_str()), |path| {
        let plain = |text: &&str| !text.contains(|c: char| c.is_control() || c == '"' || c == '\\');
        let needed = "a path that can stand in a settings file";
        path.to_str()
            .filter(plain)
            .ok_or_else(|| CliError::from(UsageError::value("--socket", path.display(), needed)))
    })?;
    for (name, text) in FILES {
        let text = text
            .replace("@STUDY@", &args.study)
            .replace("@SOCKET@", socket)
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
        write_new(&args.out.join(name), &text)?;
    }
    let out = args.out.display();
    stdout::print(&format!(
        "Made {out}. Read {out}/README.md; then, with Flower 1.41: flwr run {out} CONNECTION --stream\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(CliError::file(folder))?;
    }
    fedirt_coordinator::folder::create(path, text).map_err(CliError::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_site_comes_from_the_runs_configuration() {
        let text = |name: &str| FILES.iter().find(|(file, _)| *file == name).map_or("", |(_, text)| *text);
        let client = text("fedirt_courier/client_app.py");
        assert!(client.contains("context.node_config") && !client.contains("run_config"), "{client}");
        let server = text("fedirt_courier/server_app.py");
        assert!(!server.contains("node_config") && !server.contains("context.state"), "{server}");
        let unit = text("systemd/flower-supernode.service");
        let seconds = unit.lines().find_map(|line| line.strip_prefix("RestartSec="));
        assert!(seconds.and_then(|s| s.parse::<u32>().ok()).is_some_and(|s| s >= 60), "{unit}");
    }
}
