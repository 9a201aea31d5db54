//! Lines and fields of a delimited text, streaming, with the line numbers that an editor shows.
//!
//! Lines are read here, fields of lines with quotes are taken apart by `csv-core`. The `csv` crate on top of it
//! is not used because its line numbers are off after blank lines and in files with CRLF.

use std::io::{BufRead, ErrorKind};

use crate::decode::of_windows_1252;
use crate::text::Lines;

/// Longest record, in bytes. Beyond it a quote was left open, or the file is no text.
const LONGEST: usize = 16 << 20;

/// Why a file cannot be read to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The system says no.
    Io(std::io::Error),
    /// A quote is opened in the record that starts on this line and never closed.
    UnclosedQuote(u64),
    /// The record that starts on this line is longer than any sensible one.
    TooLong(u64),
    /// This line is UTF-8, and the first with other letters than ASCII was not.
    MixedEncodings { line: u64, first: u64 },
}

/// How letters beyond ASCII are written, which the first line that has some tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Ascii,
    Utf8,
    /// From this line on.
    Windows1252(u64),
}

/// Where records come from: a text, or a table in memory.
pub(crate) trait Rows {
    /// The next record.
    fn next(&mut self) -> Result<Option<Fields<'_>>, Failure>;
    /// Blank lines between records, which are skipped.
    fn blank(&self) -> &Lines;
    /// The first line that was read as Windows-1252.
    fn windows_1252(&self) -> Option<u64>;
}

/// Records of a delimited text.
pub(crate) struct Records<R> {
    input: R,
    parser: csv_core::Reader,
    delimiter: u8,
    /// Physical lines read so far.
    lines: u64,
    encoding: Encoding,
    /// The last line ended in `\r`: a `\n` that follows belongs to it.
    after_return: bool,
    /// The lines of the current record, joined by `\n`.
    raw: Vec<u8>,
    /// Fields without their quotes, one after another.
    unquoted: Vec<u8>,
    ends: Vec<usize>,
    spans: Vec<(usize, usize)>,
    quoted: bool,
    first_line: u64,
    pending_blank: Vec<u64>,
    blank: Lines,
}

/// The fields of the current record.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    spans: &'a [(usize, usize)],
    raw: &'a [u8],
    /// Line on which the record starts.
    pub(crate) line: u64,
}

impl<'a> Fields<'a> {
    /// Fields that stand one after another.
    pub(crate) fn new(bytes: &'a [u8], spans: &'a [(usize, usize)], line: u64) -> Self {
        Self { bytes, spans, raw: bytes, line }
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// A field; the empty field where the record is too short.
    #[inline]
    pub(crate) fn get(&self, column: usize) -> &'a [u8] {
        self.spans.get(column).and_then(|(from, to)| self.bytes.get(*from..*to)).unwrap_or_default()
    }

    /// Line and byte (both from 1) of the first byte that is not UTF-8, and that byte.
    pub(crate) fn invalid_utf8(&self) -> Option<(u64, usize, u8)> {
        let at = std::str::from_utf8(self.raw).err()?.valid_up_to();
        let (line, byte) = self.place(at);
        Some((line, byte, self.raw.get(at).copied().unwrap_or_default()))
    }

    /// Line and byte (both from 1) of the first NUL.
    pub(crate) fn nul(&self) -> Option<(u64, usize)> {
        self.raw.iter().position(|byte| *byte == 0).map(|at| self.place(at))
    }

    fn place(&self, at: usize) -> (u64, usize) {
        let before = &self.raw[..at];
        let breaks = before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        (self.line + breaks as u64, at - start + 1)
    }
}

impl<R: BufRead> Records<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            parser: csv_core::Reader::new(),
            delimiter: b',',
            lines: 0,
            encoding: Encoding::Ascii,
            after_return: false,
            raw: Vec::new(),
            unquoted: Vec::new(),
            ends: Vec::new(),
            spans: Vec::new(),
            quoted: false,
            first_line: 1,
            pending_blank: Vec::new(),
            blank: Lines::default(),
        }
    }

    /// The first line with anything on it, not yet taken apart; `None` at the end. A byte order mark is dropped.
    pub(crate) fn begin(&mut self) -> Result<Option<&[u8]>, Failure> {
        loop {
            self.raw.clear();
            self.first_line = self.lines + 1;
            if !self.physical_line()? {
                return Ok(None);
            }
            if self.lines == 1 && self.raw.starts_with(b"\xef\xbb\xbf") {
                self.raw.drain(..3);
                self.encoding = Encoding::Utf8;
            }
            self.decode(0)?;
            if self.raw.iter().any(|byte| *byte != b' ') {
                break;
            }
            if self.pending_blank.len() < 1000 {
                self.pending_blank.push(self.lines);
            }
        }
        Ok(Some(&self.raw))
    }

    pub(crate) fn set_delimiter(&mut self, delimiter: u8) {
        self.delimiter = delimiter;
        self.parser = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
    }

    /// Takes the record that `begin` began apart, with more lines if a quoted field goes on.
    pub(crate) fn finish(&mut self) -> Result<Fields<'_>, Failure> {
        self.spans.clear();
        self.quoted = self.raw.contains(&b'"');
        if self.quoted {
            self.split_quoted()?;
        } else {
            let mut start = 0;
            for (at, byte) in self.raw.iter().enumerate() {
                if *byte == self.delimiter {
                    self.spans.push((start, at));
                    start = at + 1;
                }
            }
            self.spans.push((start, self.raw.len()));
        }
        Ok(self.fields())
    }

    /// Brings what stands in `raw` from a place on to UTF-8. Bytes that no encoding explains stay, and are complained about.
    fn decode(&mut self, from: usize) -> Result<(), Failure> {
        let line = &self.raw[from..];
        if line.is_ascii() {
            return Ok(());
        }
        let is_utf8 = std::str::from_utf8(line).is_ok();
        match self.encoding {
            Encoding::Utf8 => {}
            Encoding::Ascii if is_utf8 => self.encoding = Encoding::Utf8,
            Encoding::Windows1252(first) if is_utf8 => {
                return Err(Failure::MixedEncodings { line: self.lines, first });
            }
            Encoding::Ascii | Encoding::Windows1252(_) => {
                if let Some(text) = of_windows_1252(line) {
                    self.raw.truncate(from);
                    self.raw.extend_from_slice(text.as_bytes());
                    if self.encoding == Encoding::Ascii {
                        self.encoding = Encoding::Windows1252(self.lines);
                    }
                }
            }
        }
        Ok(())
    }

    fn fields(&self) -> Fields<'_> {
        let bytes = if self.quoted { &self.unquoted } else { &self.raw };
        Fields { bytes, spans: &self.spans, raw: &self.raw, line: self.first_line }
    }

    fn split_quoted(&mut self) -> Result<(), Failure> {
        use csv_core::ReadRecordResult::{End, InputEmpty, OutputEndsFull, OutputFull, Record};
        self.parser.reset();
        let (mut read, mut written, mut fields) = (0, 0, 0);
        loop {
            // The parser's output never outgrows its input; room for one field more than there are bytes.
            self.unquoted.resize(self.unquoted.len().max(self.raw.len() + 2), 0);
            self.ends.resize(self.ends.len().max(16), 0);
            // The line break is fed apart from the line: `raw` keeps just what stood between the breaks.
            let rest = &self.raw[read..];
            let input = if rest.is_empty() { b"\n" } else { rest };
            let at_break = rest.is_empty();
            let (result, taken, out, ended) =
                self.parser.read_record(input, &mut self.unquoted[written..], &mut self.ends[fields..]);
            read += if at_break { 0 } else { taken };
            written += out;
            fields += ended;
            match result {
                Record | End => break,
                OutputFull => self.unquoted.resize(self.unquoted.len() * 2, 0),
                OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                InputEmpty if at_break => {
                    self.raw.push(b'\n');
                    read = self.raw.len();
                    if !self.physical_line()? {
                        return Err(Failure::UnclosedQuote(self.first_line));
                    }
                    self.decode(read)?;
                    // An empty line inside a quoted field: its break is all there is to feed.
                }
                InputEmpty => {}
            }
        }
        let mut start = 0;
        for end in &self.ends[..fields] {
            self.spans.push((start, *end));
            start = *end;
        }
        Ok(())
    }

    /// Appends the next line to `raw`, without its break; `false` at the end of the input.
    fn physical_line(&mut self) -> Result<bool, Failure> {
        let mut any = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Io(error)),
            };
            let Some(first) = buffer.first() else {
                self.lines += u64::from(any);
                return Ok(any);
            };
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                self.input.consume(1);
                continue;
            }
            any = true;
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let taken = end.unwrap_or(buffer.len());
            self.raw.extend_from_slice(&buffer[..taken]);
            self.after_return = end.is_some_and(|at| buffer[at] == b'\r');
            self.input.consume(taken + usize::from(end.is_some()));
            if self.raw.len() > LONGEST {
                return Err(Failure::TooLong(self.first_line));
            }
            if end.is_some() {
                self.lines += 1;
                return Ok(true);
            }
        }
    }
}

impl<R: BufRead> Rows for Records<R> {
    fn next(&mut self) -> Result<Option<Fields<'_>>, Failure> {
        if self.begin()?.is_none() {
            return Ok(None);
        }
        // Blank lines at the end of a file are usual, so they count only once something follows them.
        for line in self.pending_blank.drain(..) {
            self.blank.push(line);
        }
        self.finish().map(Some)
    }

    fn blank(&self) -> &Lines {
        &self.blank
    }

    fn windows_1252(&self) -> Option<u64> {
        match self.encoding {
            Encoding::Windows1252(line) => Some(line),
            Encoding::Ascii | Encoding::Utf8 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(text);
        let mut out = Vec::new();
        while let Some(fields) = records.next().unwrap() {
            let texts = (0..fields.len()).map(|k| String::from_utf8(fields.get(k).to_vec()).unwrap());
            out.push((fields.line, texts.collect()));
        }
        out
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        for text in [
            "a,b\n\n\"x\n\ny\",1\n2,3",
            "a,b\r\n\r\n\"x\r\n\r\ny\",1\r\n2,3\r\n",
            "a,b\r\r\"x\r\ry\",1\r2,3\r",
        ] {
            let lines: Vec<u64> = all(text.as_bytes()).iter().map(|(line, _)| *line).collect();
            assert_eq!(lines, [1, 3, 6], "{text:?}");
            assert_eq!(all(text.as_bytes())[1].1, ["x\n\ny", "1"]);
        }
    }

    #[test]
    fn quotes_are_taken_off() {
        assert_eq!(all(b"\"a \"\"b\"\"\",\"\",c\"d\n\"1\",2,\"3\"\n")[0].1, ["a \"b\"", "", "c\"d"]);
        assert_eq!(all(b"\"1\",2,\"3\"")[0].1, ["1", "2", "3"]);
    }

    #[test]
    fn an_open_quote_is_found() {
        let mut records = Records::new(&b"a,b\n1,\"2\n3,4\n"[..]);
        records.next().unwrap();
        assert!(matches!(records.next(), Err(Failure::UnclosedQuote(2))));
    }

    #[test]
    fn any_size_of_buffer_gives_the_same_records() {
        let text = "a,\"b\r\nc\",d\r\n1,2,3\r\n\r\n\"4\",,\"\"\"\"\n";
        for size in 1..20 {
            let mut records = Records::new(std::io::BufReader::with_capacity(size, text.as_bytes()));
            let mut count = 0;
            while let Some(fields) = records.next().unwrap() {
                assert_eq!(fields.len(), 3);
                count += 1;
            }
            assert_eq!(count, 3);
        }
    }
}
