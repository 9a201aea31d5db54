//! Atomic replacement, durable appending, erasing, and locks: what every program of this workspace that keeps files uses.
//!
//! A file is written beside its place, synchronised, renamed, and its folder synchronised: after a crash there is the old
//! file or the new one, and never a part of either.

use crate::Readers;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Options to open a file with, which apply to its mode where the file is made.
fn options(readers: Readers) -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = readers;
    options
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes sure that a file's name is on the disk.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    // Folders cannot be opened everywhere; where they can, their entries must be safe.
    if cfg!(unix) { File::open(folder_of(path)).and_then(|folder| folder.sync_all()) } else { Ok(()) }
}

/// Makes a folder with everything above it; one that is there stays as it is.
pub fn make_folder(path: &Path, readers: Readers) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = readers;
    builder.create(path)?;
    sync_folder_of(path)
}

/// A whole file that does not stand in its place yet. One that is dropped is removed.
pub(super) struct Draft(tempfile::TempPath);

impl Draft {
    /// Writes a file to a folder, under a name of its own, and waits until it is on the disk.
    pub(super) fn write(
        folder: &Path,
        readers: Readers,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".fedirt-");
        #[cfg(unix)]
        if readers == Readers::Usual {
            // As for every new file: what the umask takes away is taken away here too.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        #[cfg(not(unix))]
        let _ = readers;
        let draft = builder.tempfile_in(folder)?;
        let mut out = BufWriter::new(draft.as_file());
        fill(&mut out)?;
        out.flush()?;
        drop(out);
        draft.as_file().sync_all()?;
        // Closed, because a set may have more files than a program may hold open.
        Ok(Self(draft.into_temp_path()))
    }

    /// Moves it to its place, on the same file system.
    pub(super) fn place(self, path: &Path) -> io::Result<()> {
        self.0.persist(path).map_err(|error| error.error)?;
        sync_folder_of(path)
    }
}

/// Replaces a file, or leaves what was there: the new content is on the disk when this returns.
pub fn write_whole(
    path: &Path,
    readers: Readers,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    Draft::write(folder_of(path), readers, fill)?.place(path)
}

/// Opens an empty file to write to.
pub fn create(path: &Path, readers: Readers) -> io::Result<File> {
    options(readers).write(true).create(true).truncate(true).open(path)
}

/// Appends in one write, and waits until it is on the disk. A file that is not there is made.
pub fn append(path: &Path, readers: Readers, bytes: &[u8]) -> io::Result<()> {
    let new = !path.exists();
    let mut file = options(readers).append(true).create(true).open(path)?;
    if new {
        sync_folder_of(path)?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Overwrites a file and removes it. One that is not there is fine.
pub fn erase(path: &Path) -> io::Result<()> {
    let mut file = match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    io::copy(&mut io::Read::take(io::repeat(0), file.metadata()?.len()), &mut file)?;
    file.sync_all()?;
    drop(file);
    fs::remove_file(path)?;
    sync_folder_of(path)
}

/// A lock that is held until it is dropped. The system lets go of it when its holder dies, so that none is left behind.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "the lock is held as long as the file is open")] File);

impl FileLock {
    fn open(path: &Path) -> io::Result<File> {
        File::options().create(true).truncate(false).write(true).open(path)
    }

    /// Takes the lock; none if another holder has it.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let file = Self::open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Waits for the lock: for steps that take an instant.
    pub fn wait(path: &Path) -> io::Result<Self> {
        let file = Self::open(path)?;
        file.lock()?;
        Ok(Self(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        write_whole(&path, Readers::Owner, |out| out.write_all(b"one")).unwrap();
        let stopped = write_whole(&path, Readers::Owner, |out| {
            out.write_all(b"half of tw")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(stopped.is_err());
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"one".to_vec(), vec!["key".into()]));
        append(&path, Readers::Owner, b", two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one, two");
        erase(&path).unwrap();
        erase(&path).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn secrets_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (key, log, inside) =
            (folder.path().join("key"), folder.path().join("log"), folder.path().join("a/b"));
        write_whole(&key, Readers::Owner, |out| out.write_all(b"x")).unwrap();
        append(&log, Readers::Owner, b"x").unwrap();
        make_folder(&inside, Readers::Owner).unwrap();
        assert_eq!([mode(&key), mode(&log), mode(&inside)], [0o600, 0o600, 0o700]);
        // Others are as the system makes any file.
        let (usual, plain) = (folder.path().join("usual"), folder.path().join("plain"));
        write_whole(&usual, Readers::Usual, |out| out.write_all(b"x")).unwrap();
        fs::write(&plain, "x").unwrap();
        assert_eq!(mode(&usual), mode(&plain));
    }

    #[test]
    fn a_lock_has_one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = FileLock::take(&path).unwrap();
        assert!(held.is_some() && FileLock::take(&path).unwrap().is_none());
        drop(held);
        assert!(FileLock::take(&path).unwrap().is_some());
    }
}
