//! One file, whole or not at all.

use super::FileError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file beside its place and moves it there when it is complete.
pub fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    // Through a link, so that the link stays one.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(kind) if kind.is_dir() => {
            return Err(FileError::Folder(path.to_owned()));
        }
        // A device or a pipe is written to, not replaced.
        Ok(kind) if !kind.is_file() => {
            let file = File::options().write(true).open(&target).map_err(FileError::at(path))?;
            return write(file, fill).map_err(FileError::at(path));
        }
        _ => {}
    }
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let staging = staging(folder).map_err(FileError::at(path))?;
    let draft = staging.path().join("draft");
    File::create(&draft)
        .and_then(|file| write_and_sync(file, fill))
        .and_then(|()| fs::rename(&draft, &target))
        .map_err(FileError::at(path))
}

/// A folder for drafts, on the same file system as their place. It goes when it is dropped.
pub(super) fn staging(folder: &Path) -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(".fedirt-").tempdir_in(folder)
}

/// Writes a file and makes sure that it is on the disk.
pub(super) fn write_and_sync(
    file: File,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let copy = file.try_clone()?;
    write(file, fill)?;
    copy.sync_all()
}

fn write(file: File, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    fill(&mut out)?;
    out.flush()
}
