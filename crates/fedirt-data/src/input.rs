//! A file to be read: a name for messages, and bytes from anywhere.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
#[cfg(feature = "files")]
use std::path::Path;
use std::path::PathBuf;

use crate::cause::Cause;
use crate::columns::Columns;
use crate::reading::site_of_file;

/// Large enough that the system is asked 80 times for 20 MB, small enough for the processor's cache.
const BUFFER: usize = 256 << 10;

pub(crate) type Opener<'a> = Box<dyn FnOnce() -> Result<Box<dyn BufRead + 'a>, Cause> + 'a>;

/// A text to be read: its bytes, and the name by which messages call it. It is opened when its turn comes, so that
/// thousands of inputs do not hold thousands of files open.
///
/// ```
/// use fedirt_data::{Input, ReadOptions, read};
///
/// let north = Input::new("north.csv", "I1,I2\n0,1\n1,1\n".as_bytes());
/// let reading = read([north], &ReadOptions::default())?;
/// assert_eq!(reading.sites[0].name, "north");
/// assert_eq!(reading.sites[0].table.students(), 2);
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
pub struct Input<'a> {
    pub(crate) name: String,
    /// The canonical path of a file, so that one that is given twice under two names is found.
    pub(crate) identity: Option<PathBuf>,
    pub(crate) content: Content<'a>,
}

/// What is to be read.
pub(crate) enum Content<'a> {
    Bytes(Opener<'a>),
    Columns(Columns),
}

impl<'a> Input<'a> {
    /// Bytes from any reader. The name stands in messages; without its extension it names the site of the rows.
    pub fn new(name: impl Into<String>, bytes: impl Read + 'a) -> Self {
        let open = move || Ok(Box::new(BufReader::with_capacity(BUFFER, bytes)) as Box<dyn BufRead + 'a>);
        Self { name: name.into(), identity: None, content: Content::Bytes(Box::new(open)) }
    }

    /// A table in memory, column by column. The name stands in messages, which count rows from 1, and names the site of the rows.
    pub fn columns(name: impl Into<String>, columns: Columns) -> Input<'static> {
        Input { name: name.into(), identity: None, content: Content::Columns(columns) }
    }

    /// The site of its rows where no column names one.
    pub(crate) fn site(&self) -> String {
        match self.content {
            Content::Bytes(_) => site_of_file(&self.name),
            Content::Columns(_) => self.name.clone(),
        }
    }

    /// A file. It is opened when its turn comes; one that cannot be opened is a [`Problem`](crate::Problem) like others.
    #[cfg(feature = "files")]
    pub fn file(path: &Path) -> Input<'static> {
        let (name, path) = (path.display().to_string(), path.to_path_buf());
        let identity = std::fs::canonicalize(&path).ok();
        let open = move || {
            let file = open_file(&path)?;
            Ok(Box::new(BufReader::with_capacity(BUFFER, file)) as Box<dyn BufRead>)
        };
        Input { name, identity, content: Content::Bytes(Box::new(open)) }
    }

    /// The same, with its bytes shown to `watch` as they are read, such as to take their hash. A table in memory has
    /// no bytes to be shown.
    ///
    /// ```
    /// let (mut length, text) = (0, "I1,I2\n0,1\n1,1\n");
    /// let input = fedirt_data::Input::new("a.csv", text.as_bytes()).watched(|bytes| length += bytes.len());
    /// fedirt_data::read([input], &fedirt_data::ReadOptions::default())?;
    /// assert_eq!(length, text.len());
    /// # Ok::<(), fedirt_data::Problems>(())
    /// ```
    pub fn watched(self, watch: impl FnMut(&[u8]) + 'a) -> Self {
        let Content::Bytes(open) = self.content else { return self };
        let open = move || Ok(Box::new(Watched { inner: open()?, watch }) as Box<dyn BufRead + 'a>);
        Self { content: Content::Bytes(Box::new(open)), ..self }
    }
}

/// A reader whose bytes are shown to somebody else when they are taken.
struct Watched<R, W> {
    inner: R,
    watch: W,
}

impl<R: BufRead, W: FnMut(&[u8])> BufRead for Watched<R, W> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // What is consumed has been filled, so that nothing is read here and nothing can fail.
        if let Ok(filled) = self.inner.fill_buf() {
            (self.watch)(&filled[..amount.min(filled.len())]);
        }
        self.inner.consume(amount);
    }
}

impl<R: BufRead, W: FnMut(&[u8])> Read for Watched<R, W> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let taken = self.fill_buf()?.read(out)?;
        self.consume(taken);
        Ok(taken)
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({:?})", self.name)
    }
}

#[cfg(feature = "files")]
fn open_file(path: &Path) -> Result<std::fs::File, Cause> {
    use std::io::ErrorKind;
    let opened = std::fs::metadata(path).and_then(|about| {
        if about.is_dir() { Err(ErrorKind::IsADirectory.into()) } else { std::fs::File::open(path) }
    });
    opened.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Cause::NoSuchFile(near_files(path)),
        ErrorKind::IsADirectory => Cause::Directory,
        _ => Cause::Unreadable(error.to_string()),
    })
}

/// Files in the same folder whose names look like the one that is not there.
#[cfg(feature = "files")]
fn near_files(path: &Path) -> Vec<String> {
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else { return Vec::new() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let others: Vec<String> =
        entries.flatten().take(10_000).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    crate::near::near_names(&name.to_string_lossy(), others.iter().map(String::as_str))
}
