//! Files that are on the disk when we say so.
//!
//! A new file is written beside its place, synchronised, renamed, and its folder synchronised. Secrets are readable
//! by the site's user alone, and overwritten before they are removed.

use super::AgentError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readers {
    /// As the system has it.
    Usual,
    /// The site's user alone (0600).
    Owner,
}

fn options(readers: Readers) -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    if readers == Readers::Owner {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = readers;
    options
}

/// Makes a folder with everything above it.
pub(super) fn folder(path: &Path, readers: Readers) -> Result<(), AgentError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    #[cfg(not(unix))]
    let _ = readers;
    builder.create(path).map_err(AgentError::at(path))?;
    sync_folder_of(path)
}

/// Makes sure that a file's name is on the disk.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), AgentError> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Folders cannot be opened everywhere; where they can, their entries must be safe.
    if cfg!(unix) {
        File::open(folder).and_then(|f| sync(&f)).map_err(AgentError::at(folder))?;
    }
    Ok(())
}

/// Writes a whole file, or leaves what was there.
pub(super) fn write(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), AgentError> {
    crash_point(path)?;
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    let draft = Path::new(&draft);
    let _ = fs::remove_file(draft);
    let written = options(readers)
        .write(true)
        .create_new(true)
        .open(draft)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| sync(&file)));
    written.map_err(AgentError::at(draft))?;
    crash_point(path)?;
    fs::rename(draft, path).map_err(AgentError::at(path))?;
    sync_folder_of(path)
}

/// Opens a file to which lines are appended, and makes sure that its name is on the disk.
pub(super) fn open_to_append(path: &Path, readers: Readers) -> Result<File, AgentError> {
    let new = !path.exists();
    let file = options(readers).append(true).create(true).open(path).map_err(AgentError::at(path))?;
    if new {
        sync_folder_of(path)?;
    }
    Ok(file)
}

/// Appends a line in one write, and waits until it is on the disk.
pub(super) fn append(file: &mut File, path: &Path, line: &str) -> Result<(), AgentError> {
    crash_point(path)?;
    file.write_all(line.as_bytes()).and_then(|()| sync(file)).map_err(AgentError::at(path))?;
    crash_point(path)
}

/// Overwrites a secret and removes it. A file that is not there is fine.
pub(super) fn erase(path: &Path) -> Result<(), AgentError> {
    crash_point(path)?;
    match OpenOptions::new().write(true).open(path) {
        Ok(mut file) => {
            let length = file.metadata().map_err(AgentError::at(path))?.len();
            let zeros = vec![0; usize::try_from(length).unwrap_or(0)];
            file.write_all(&zeros).and_then(|()| sync(&file)).map_err(AgentError::at(path))?;
            drop(file);
            fs::remove_file(path).map_err(AgentError::at(path))?;
            sync_folder_of(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(AgentError::at(path)(error)),
    }
}

/// Waits until a file is on the disk. Tests stop programs, not machines, and need not wait.
fn sync(file: &File) -> io::Result<()> {
    if cfg!(test) { Ok(()) } else { file.sync_all() }
}

/// A file's bytes; `None` if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, AgentError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(AgentError::at(path)(error)),
    }
}

/// Where a test may let the machine stop.
#[cfg(not(test))]
fn crash_point(_path: &Path) -> Result<(), AgentError> {
    Ok(())
}

#[cfg(test)]
thread_local! {
    /// Crash points that are passed before the machine stops.
    pub(super) static FUSE: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
fn crash_point(path: &Path) -> Result<(), AgentError> {
    match FUSE.get() {
        None => Ok(()),
        Some(0) => Err(AgentError::at(path)(io::Error::other("the machine stopped"))),
        Some(left) => {
            FUSE.set(Some(left - 1));
            Ok(())
        }
    }
}
