//! `fedirt site service`: a systemd user unit that serves the officer's pages.

use crate::args::SiteServiceArgs;
use crate::error::CliError;
use crate::output::stdout;
use fedirt_data::files;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The name of the unit.
const UNIT: &str = "fedirt-site.service";

/// Why the unit cannot be written.
#[derive(Debug, thiserror::Error)]
enum ServiceError {
    #[error("no folder for systemd's user units is known: HOME is not set. Name one with --out")]
    NoHome,
    #[error("{}: systemd cannot take a path with line breaks or quotes", .0.display())]
    Path(PathBuf),
}

pub(super) fn run(home: &Path, args: &SiteServiceArgs) -> Result<ExitCode, CliError> {
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => {
            let home = std::env::var_os("HOME").ok_or_else(|| CliError::because(ServiceError::NoHome))?;
            PathBuf::from(home).join(".config/systemd/user")
        }
    };
    let program = std::env::current_exe().map_err(CliError::file("fedirt"))?;
    let home = std::path::absolute(home).map_err(CliError::file(home))?;
    let text = unit(&program, &home, args.port)?;
    std::fs::create_dir_all(&folder).map_err(CliError::file(&folder))?;
    let path = folder.join(UNIT);
    files::replace(&path, |out| out.write_all(text.as_bytes()))?;
    stdout::print(&format!(
        "Wrote {}. It begins with: systemctl --user daemon-reload && systemctl --user enable --now fedirt-site\n",
        path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The unit's text.
fn unit(program: &Path, home: &Path, port: u16) -> Result<String, CliError> {
    let (program, home) = (quoted(program)?, quoted(home)?);
    Ok(format!(
        "[Unit]\nDescription=Pages of a fedirt site, on this machine only\n\n[Service]\n\
         ExecStart={program} site --home {home} pages --no-link --port {port}\n\
         Restart=on-failure\nUMask=0077\nNoNewPrivileges=yes\n\n[Install]\nWantedBy=default.target\n"
    ))
}

/// A path as a word of `ExecStart=`, in which `%` and `$` begin what systemd replaces.
fn quoted(path: &Path) -> Result<String, CliError> {
    let text = path.to_string_lossy();
    if text.contains(['"', '\n', '\\']) {
        return Err(CliError::because(ServiceError::Path(path.to_owned())));
    }
    let mut word = String::from("\"");
    for c in text.chars() {
        // Each of the two stands for itself when it is doubled.
        if matches!(c, '%' | '$') {
            word.push(c);
        }
        word.push(c);
    }
    Ok(word + "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_of_the_unit() {
        let text = unit(Path::new("/usr/bin/fedirt"), Path::new("/home/o p/100% site"), 8445).unwrap();
        assert!(
            text.contains(
                "ExecStart=\"/usr/bin/fedirt\" site --home \"/home/o p/100%% site\" pages --no-link"
            ),
            "{text}"
        );
        assert!(unit(Path::new("/bin/f"), Path::new("/a\"b"), 1).is_err());
    }
}
