//! A folder of results: all files of a run, or none.

use super::FileError;
use super::durable::Draft;
use crate::Readers;
use crate::results::read_fit;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Every file that `fedirt fit` may write.
const OURS: [&str; 17] = [
    "items.csv",
    "sites.csv",
    "scores.csv",
    "covariance.csv",
    "score_table.csv",
    "diagnostics/items.csv",
    "diagnostics/pairs.csv",
    "diagnostics/dimensions.csv",
    "diagnostics/ability.csv",
    "diagnostics/sites.csv",
    "diagnostics/dif.csv",
    "diagnostics/site_heterogeneity.csv",
    "fit.xlsx",
    "repeat.sh",
    "report.html",
    "transcript.jsonl",
    "fit.json",
];

/// Writes the content of one file.
pub type Fill<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// A folder that can be written to.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    /// Folders that were made for it, innermost first; they go again if nothing is written.
    made: Vec<PathBuf>,
}

impl ResultFolder {
    /// Makes the folder where it does not exist, and tries whether it can be written to.
    pub fn prepare(path: &Path) -> Result<Self, FileError> {
        let made: Vec<PathBuf> = path
            .ancestors()
            .take_while(|p| !p.as_os_str().is_empty() && fs::symlink_metadata(p).is_err())
            .map(Path::to_path_buf)
            .collect();
        let folder = Self { path: path.to_owned(), made };
        if path.exists() && !path.is_dir() {
            return Err(FileError::NotAFolder(path.to_owned()));
        }
        fs::create_dir_all(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                FileError::PartIsAFile(path.to_owned())
            }
            _ => FileError::at(path)(error),
        })?;
        for name in OURS {
            if path.join(name).is_dir() {
                return Err(FileError::FolderInTheWay { path: path.to_owned(), name });
            }
        }
        // Without a name, so that a program that is killed here leaves nothing behind.
        folder.scratch()?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A nameless file in it, gone when it is closed.
    pub fn scratch(&self) -> Result<File, FileError> {
        tempfile::tempfile_in(&self.path).map_err(FileError::at(&self.path))
    }

    /// Writes all files beside their places, and moves them there when all are complete.
    /// Files of an earlier run that this one does not write are removed: they would belong to another fit.
    /// Files that are not of fedirt are left alone. Returns the names that were removed.
    pub fn write(mut self, files: Vec<(&'static str, Fill<'_>)>) -> Result<Vec<&'static str>, FileError> {
        let mut drafts = Vec::new();
        for (name, fill) in files {
            debug_assert!(OURS.contains(&name), "{name} must be known, so that it can be replaced");
            let draft = Draft::write(&self.path, Readers::Usual, fill);
            drafts.push((name, draft.map_err(FileError::at(self.path.join(name)))?));
        }
        let old: Vec<&str> = if self.holds_a_fit() {
            let written = |name: &str| drafts.iter().any(|(draft, _)| *draft == name);
            OURS.into_iter().filter(|name| !written(name) && self.path.join(name).is_file()).collect()
        } else {
            Vec::new()
        };
        for (name, draft) in drafts {
            let target = self.path.join(name);
            let parents = target.parent().map_or(Ok(()), fs::create_dir_all);
            parents.and_then(|()| draft.place(&target)).map_err(FileError::at(target))?;
            self.made.clear();
        }
        for name in &old {
            fs::remove_file(self.path.join(name)).map_err(FileError::at(self.path.join(name)))?;
        }
        // A folder for tables that this run does not write goes too, if nothing else is in it.
        let folders = old.iter().filter_map(|name| Path::new(name).parent());
        folders.filter(|folder| !folder.as_os_str().is_empty()).for_each(|folder| {
            let _ = fs::remove_dir(self.path.join(folder));
        });
        Ok(old)
    }

    fn holds_a_fit(&self) -> bool {
        fs::read(self.path.join("fit.json")).is_ok_and(|bytes| read_fit(&bytes).is_ok())
    }
}

impl Drop for ResultFolder {
    fn drop(&mut self) {
        for path in &self.made {
            // Only empty folders go; whatever else has come to stand there is not ours.
            let _ = fs::remove_dir(path);
        }
    }
}
