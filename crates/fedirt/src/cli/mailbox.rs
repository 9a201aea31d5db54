//! Mailboxes on UNIX sockets: one request, one answer, and the connection ends.

use crate::error::CliError;
use crate::output::stderr;
use crate::usage::UsageError;
use fedirt_protocol::mailbox::Parcel;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections that are answered at a time; others wait in the system's queue.
const AT_A_TIME: usize = 4;
/// Most time for a request to arrive, and for its answer to be taken.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest path of a socket that every UNIX takes.
const LONGEST_PATH: usize = 100;

/// Answers at a socket, in threads of its own, until the process ends. The socket is its owner's alone, or its group's too.
pub(crate) fn serve<Q, A>(
    path: &Path,
    for_group: bool,
    answer: impl Fn(Parcel<Q>) -> Parcel<A> + Send + Sync + 'static,
) -> Result<(), CliError>
where
    Q: Serialize + DeserializeOwned,
    A: Serialize + DeserializeOwned,
{
    let listener = Arc::new(listen(path, if for_group { 0o660 } else { 0o600 })?);
    let answer = Arc::new(answer);
    for _ in 0..AT_A_TIME {
        let (listener, answer) = (listener.clone(), answer.clone());
        std::thread::spawn(move || {
            loop {
                let served = listener.accept().map_err(Into::into).and_then(|(stream, _)| {
                    let request = Parcel::read(&mut Timed::new(&stream))?;
                    answer(request).write(&mut Timed::new(&stream))
                });
                if let Err(error) = served {
                    stderr::warning(&format!("a connection was not answered: {error}"));
                    // Where connections cannot be taken at all, the log is not to fill the disk.
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
        });
    }
    Ok(())
}

/// A socket that nobody else could connect to at any moment: it is made in a folder of its own and moved into its place. What a
/// mailbox that was killed has left there is replaced.
fn listen(path: &Path, mode: u32) -> Result<UnixListener, CliError> {
    let wrong = CliError::file(path);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(wrong(io::ErrorKind::InvalidInput.into()));
    };
    if let Ok(there) = fs::symlink_metadata(path) {
        if !there.file_type().is_socket() {
            return Err(
                UsageError::SocketTaken { what: "a file that is no socket", path: path.into() }.into()
            );
        }
        if UnixStream::connect(path).is_ok() {
            return Err(UsageError::SocketTaken { what: "a mailbox that answers", path: path.into() }.into());
        }
    }
    let own = folder.join(format!(".{}", std::process::id()));
    let inside = own.join(name);
    if inside.as_os_str().len() > LONGEST_PATH {
        let needed = "the path of a socket has 90 characters at most";
        return Err(UsageError::value("--socket", path.display(), needed).into());
    }
    let made = || {
        fs::DirBuilder::new().mode(0o700).create(&own)?;
        let listener = UnixListener::bind(&inside)?;
        fs::set_permissions(&inside, fs::Permissions::from_mode(mode))?;
        fs::rename(&inside, path)?;
        Ok(listener)
    };
    let made = made();
    let _ = fs::remove_file(&inside);
    let _ = fs::remove_dir(&own);
    made.map_err(wrong)
}

/// A connection that has an end: a peer that says nothing, or little, does not hold it for longer.
struct Timed<'a> {
    stream: &'a UnixStream,
    until: Instant,
}

impl<'a> Timed<'a> {
    fn new(stream: &'a UnixStream) -> Self {
        Self { stream, until: Instant::now() + PATIENCE }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
