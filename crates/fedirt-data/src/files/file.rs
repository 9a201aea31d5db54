//! One file of results, whole or not at all.

use super::{FileError, write_whole};
use crate::Readers;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file beside its place and moves it there when it is complete.
pub fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    // Through a link, so that the link stays one.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(kind) if kind.is_dir() => Err(FileError::Folder(path.to_owned())),
        // A device or a pipe is written to, not replaced.
        Ok(kind) if !kind.is_file() => {
            let file = File::options().write(true).open(&target).map_err(FileError::at(path))?;
            let mut out = BufWriter::new(file);
            fill(&mut out).and_then(|()| out.flush()).map_err(FileError::at(path))
        }
        _ => write_whole(&target, Readers::Usual, fill).map_err(FileError::at(path)),
    }
}
