//! From an input to its records and column names.

use std::io::BufRead;

use crate::cause::Cause;
use crate::decode;
use crate::file_facts::FileFacts;
use crate::input::{Content, Input};
use crate::problems::{Complaints, Problems};
use crate::records::{Failure, Fields, Records, Rows};

/// An input whose header was read.
pub(crate) struct Opened<'a> {
    pub(crate) records: Box<dyn Rows + 'a>,
    /// Column names, without the spaces around them.
    pub(crate) names: Vec<String>,
    /// The line of the names; a table in memory has none.
    pub(crate) header_line: Option<u64>,
    /// What the file says about its columns.
    pub(crate) facts: FileFacts,
}

/// Opens an input and reads its header; `None` if that is impossible, with the reason among the complaints.
pub(crate) fn open<'a>(input: Input<'a>, complaints: &mut Complaints<'_>) -> Option<Opened<'a>> {
    let opener = match input.content {
        Content::Bytes(opener) => opener,
        Content::Columns(columns) => {
            let (names, rows) = columns.open(complaints)?;
            return Some(Opened {
                records: Box::new(rows),
                names,
                header_line: None,
                facts: FileFacts::default(),
            });
        }
    };
    let (bytes, facts) = match opener().and_then(decode::text) {
        Ok(opened) => opened,
        Err(cause) => {
            complaints.file(cause);
            return None;
        }
    };
    let mut records = Records::new(bytes);
    match read_header(&mut records, complaints) {
        Ok((names, line)) => {
            Some(Opened { records: Box::new(records), names: names?, header_line: Some(line), facts })
        }
        Err(failure) => {
            complain(failure, complaints);
            None
        }
    }
}

/// The names of an input's columns, without the spaces around them.
///
/// ```
/// let input = fedirt_data::Input::new("a.csv", "id; I1; I2\n7;0;1\n".as_bytes());
/// assert_eq!(fedirt_data::column_names(input)?, ["id", "I1", "I2"]);
/// # Ok::<(), fedirt_data::Problems>(())
/// ```
pub fn column_names(input: Input<'_>) -> Result<Vec<String>, Problems> {
    let mut problems = Problems::default();
    let file = input.name.clone();
    let opened = open(input, &mut Complaints { file: &file, problems: &mut problems });
    let names = opened.map(|opened| opened.names).unwrap_or_default();
    problems.unless_empty(names)
}

/// Tells why a file could not be read to its end.
pub(crate) fn complain(failure: Failure, complaints: &mut Complaints<'_>) {
    match failure {
        Failure::Io(error) => complaints.file(Cause::Unreadable(error.to_string())),
        Failure::UnclosedQuote(line) => complaints.line(line, Cause::UnclosedQuote),
        Failure::TooLong(line) => complaints.line(line, Cause::LineTooLong),
        Failure::MixedEncodings { line, first } => complaints.line(line, Cause::MixedEncodings(first)),
    }
}

/// Complains about bytes that are no text, if the record has any.
pub(crate) fn complain_about_bytes(
    fields: &Fields<'_>,
    column: Option<&str>,
    complaints: &mut Complaints<'_>,
) -> bool {
    let column = column.map(str::to_string);
    if let Some((line, byte)) = fields.nul() {
        complaints.add(Some(line), column, Cause::NulByte(byte));
    } else if let Some((line, byte, value)) = fields.invalid_utf8() {
        complaints.add(Some(line), column, Cause::NotUtf8 { byte, value });
    } else {
        return false;
    }
    true
}

type Header = (Option<Vec<String>>, u64);

fn read_header<R: BufRead>(
    records: &mut Records<R>,
    complaints: &mut Complaints<'_>,
) -> Result<Header, Failure> {
    let mut declared = None;
    loop {
        let Some(line) = records.begin()? else {
            complaints.file(Cause::EmptyFile);
            return Ok((None, 0));
        };
        // Excel writes and understands a first line `sep=;`.
        match line {
            [b's', b'e', b'p', b'=', delimiter @ (b',' | b';' | b'\t')] if declared.is_none() => {
                declared = Some(*delimiter);
            }
            _ => {
                let delimiter = declared.unwrap_or_else(|| find_delimiter(line));
                records.set_delimiter(delimiter);
                break;
            }
        }
    }
    let fields = records.finish()?;
    complain_about_bytes(&fields, None, complaints);
    let name = |column| String::from_utf8_lossy(fields.get(column)).trim().to_string();
    Ok((Some((0..fields.len()).map(name).collect()), fields.line))
}

/// The most frequent of tab, semicolon and comma outside quotes.
fn find_delimiter(header: &[u8]) -> u8 {
    let mut counts = [(b',', 0_usize), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in header {
        quoted ^= *byte == b'"';
        if let Some(count) = counts.iter_mut().find(|(delimiter, _)| !quoted && delimiter == byte) {
            count.1 += 1;
        }
    }
    counts
        .iter()
        .max_by_key(|(_, count)| *count)
        .filter(|(_, count)| *count > 0)
        .map_or(b',', |(byte, _)| *byte)
}

#[cfg(test)]
mod tests {
    use super::find_delimiter;

    #[test]
    fn delimiters_are_found_outside_quotes() {
        assert_eq!(find_delimiter(b"a,b,c"), b',');
        assert_eq!(find_delimiter(b"a;\"b,c,d\";e"), b';');
        assert_eq!(find_delimiter(b"a\tb c\td"), b'\t');
        assert_eq!(find_delimiter(b"alone"), b',');
    }
}
