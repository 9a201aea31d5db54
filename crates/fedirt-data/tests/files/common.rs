//! Small files for the tests, each in a folder of its own.

use std::path::{Path, PathBuf};

use fedirt_data::{Cause, Input, Problem, Problems, ReadOptions, Responses, SiteResponses};
use tempfile::TempDir;

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(&path, contents).expect("a file can be written");
        path
    }
}

/// Reads files.
pub(crate) fn read(files: &[impl AsRef<Path>], options: &ReadOptions) -> Result<Responses, Problems> {
    fedirt_data::read(files.iter().map(|file| Input::file(file.as_ref())), options)
}

/// Reads one file `answers.csv` with these contents.
pub(crate) fn read_one(contents: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Responses, Problems> {
    let folder = Folder::new();
    read(&[folder.file("answers.csv", contents)], options)
}

/// The same without options, for files with nothing wrong.
pub(crate) fn good(contents: impl AsRef<[u8]>) -> SiteResponses {
    let mut reading = read_one(contents, &ReadOptions::default()).expect("a file with nothing wrong");
    assert_eq!(reading.sites.len(), 1);
    reading.sites.remove(0)
}

/// The same without options, for files with something wrong.
pub(crate) fn bad(contents: impl AsRef<[u8]>) -> Problems {
    read_one(contents, &ReadOptions::default()).expect_err("something is wrong")
}

/// The only problem there is.
pub(crate) fn only(problems: &Problems) -> &Problem {
    assert_eq!(problems.total(), 1, "{problems}");
    problems.iter().next().expect("one problem")
}

/// Line, column and cause of each problem.
pub(crate) fn places(problems: &Problems) -> Vec<(Option<u64>, Option<&str>, Cause)> {
    problems.iter().map(|p| (p.line, p.column.as_deref(), p.cause.clone())).collect()
}

pub(crate) fn rows(site: &SiteResponses) -> Vec<Vec<u8>> {
    site.table.rows().map(<[u8]>::to_vec).collect()
}
