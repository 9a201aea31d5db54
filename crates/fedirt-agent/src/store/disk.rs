//! Files in a folder.

use super::{Lock, Readers, Store, StoreError};
use fedirt_data::files;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Files in a folder of this computer. Folders inside are made when a file is written to them, for their owner alone.
#[derive(Debug, Clone)]
pub struct DiskStore {
    root: PathBuf,
}

impl DiskStore {
    /// A store in this folder, which need not be there yet.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a file.
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    fn failed(&self, file: &str) -> impl FnOnce(io::Error) -> StoreError {
        let location = self.location(file);
        move |error| StoreError { location, error }
    }

    /// Does something with a file, and once more with its folder made where it is not there.
    fn in_its_folder<T>(&self, file: &str, work: impl Fn(&Path) -> io::Result<T>) -> Result<T, StoreError> {
        let path = self.path(file);
        let done = work(&path).or_else(|error| match (error.kind(), path.parent()) {
            (ErrorKind::NotFound, Some(folder)) => {
                files::make_folder(folder, Readers::Owner)?;
                work(&path)
            }
            _ => Err(error),
        });
        done.map_err(self.failed(file))
    }
}

/// What there is; none where a file, or a folder above it, is not there.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        found => found.map(Some),
    }
}

impl Store for DiskStore {
    fn read(&self, file: &str) -> Result<Option<Vec<u8>>, StoreError> {
        found(std::fs::read(self.path(file))).map_err(self.failed(file))
    }

    fn replace(&self, file: &str, content: &[u8], readers: Readers) -> Result<(), StoreError> {
        self.in_its_folder(file, |path| files::write_whole(path, readers, |out| out.write_all(content)))
    }

    fn append(&self, file: &str, content: &[u8]) -> Result<(), StoreError> {
        self.in_its_folder(file, |path| files::append(path, Readers::Owner, content))
    }

    fn erase(&self, file: &str) -> Result<(), StoreError> {
        files::erase(&self.path(file)).map_err(self.failed(file))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let read = || -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in found(std::fs::read_dir(self.path(folder)))?.into_iter().flatten() {
                names.extend(entry?.file_name().into_string().ok());
            }
            names.sort();
            Ok(names)
        };
        read().map_err(self.failed(folder))
    }

    fn try_lock(&self, file: &str) -> Result<Option<Lock>, StoreError> {
        Ok(self.in_its_folder(file, files::FileLock::take)?.map(Lock::new))
    }

    fn lock(&self, file: &str) -> Result<Lock, StoreError> {
        self.in_its_folder(file, files::FileLock::wait).map(Lock::new)
    }

    fn location(&self, file: &str) -> String {
        self.path(file).display().to_string()
    }
}
