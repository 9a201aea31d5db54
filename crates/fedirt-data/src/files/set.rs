//! Several files of a folder that come to stand there together, when all of them are complete.

use super::durable::Draft;
use super::{FileError, ResultFolder};
use crate::Readers;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files that do not stand in their places yet. One that is dropped leaves nothing behind, not even a folder that was made for it.
pub struct FileSet {
    drafts: Vec<(PathBuf, Draft)>,
    folder: ResultFolder,
}

impl FileSet {
    /// A set for a folder, which is made where it does not exist.
    pub fn prepare(folder: &Path) -> Result<Self, FileError> {
        Ok(Self { drafts: Vec::new(), folder: ResultFolder::prepare(folder)? })
    }

    /// Writes a file of the folder, beside its place.
    pub fn add(
        &mut self,
        path: &Path,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FileError> {
        if path.is_dir() {
            return Err(FileError::Folder(path.to_owned()));
        }
        let draft = Draft::write(self.folder.path(), Readers::Usual, fill).map_err(FileError::at(path))?;
        self.drafts.push((path.to_owned(), draft));
        Ok(())
    }

    /// Moves all files to their places.
    pub fn place(self) -> Result<(), FileError> {
        for (path, draft) in self.drafts {
            draft.place(&path).map_err(FileError::at(path))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_stand_there_or_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("a/b");
        let mut set = FileSet::prepare(&inside).expect("it can be made");
        set.add(&inside.join("one"), |out| out.write_all(b"1")).expect("it can be written");
        assert!(!inside.join("one").exists());
        assert!(set.add(&inside.join("two"), |_| Err(io::Error::other("stopped"))).is_err());
        drop(set);
        assert!(!folder.path().join("a").exists());
        let mut set = FileSet::prepare(&inside).expect("it can be made");
        set.add(&inside.join("one"), |out| out.write_all(b"1")).expect("it can be written");
        set.place().expect("it can be placed");
        assert_eq!(std::fs::read_dir(&inside).expect("a folder").count(), 1);
    }
}
