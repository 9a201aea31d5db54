//! Files that are whole or not there at all: results are written beside their place and moved there when complete.

mod durable;
mod file;
mod folder;
mod set;

pub use durable::{FileLock, append, create, erase, make_folder, write_whole};
pub use file::replace;
pub use folder::{Fill, ResultFolder};
pub use set::FileSet;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a file or folder cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system says no.
    #[error("{}: {}", .path.display(), reason(.error))]
    System {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A folder where a file is wanted.
    #[error("{}: this is a folder; name a file in it", .0.display())]
    Folder(PathBuf),
    /// A file where a folder is wanted.
    #[error("{}: this is a file, and a folder is needed", .0.display())]
    NotAFolder(PathBuf),
    /// A part of the path is a file.
    #[error("{}: a part of this path is a file, not a folder", .0.display())]
    PartIsAFile(PathBuf),
    /// The folder holds a folder of a name that a result file needs.
    #[error("{}: it holds a folder called {name}, where a file must go", .path.display())]
    FolderInTheWay {
        /// The folder.
        path: PathBuf,
        /// The name.
        name: &'static str,
    },
}

impl FileError {
    /// An input or output error at a path.
    pub fn at(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |error| Self::System { path, error }
    }
}

/// What the system says, and what would help.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "the disk is full; nothing was changed there. Make room, or name another place".to_owned()
        }
        ErrorKind::PermissionDenied => "no permission to write or read here; name another place".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only; name another place".to_owned(),
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::IsADirectory => "this is a folder, and a file is needed".to_owned(),
        // "No space left on device (os error 28)": the number helps nobody.
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}
