//! From the bytes of a file to text: UTF-16 and spreadsheets as a whole, Windows-1252 line by line.

use std::io::{BufRead, Cursor};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::cause::Cause;
use crate::file_facts::FileFacts;

/// How files that are no text begin, and what they are.
const OTHER_FORMATS: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "an Excel or ZIP file"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"RDX", "an R data file"),
    (b"$FL2", "an SPSS file"),
    (b"$FL3", "a compressed SPSS file"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF", "a PDF"),
];

/// A text, and what its file says about the columns.
pub(crate) type Text<'a> = (Box<dyn BufRead + 'a>, FileFacts);

/// The text of an input in UTF-8, or in another encoding that keeps ASCII; `Err`: what the file is instead.
pub(crate) fn text<'a>(mut bytes: Box<dyn BufRead + 'a>) -> Result<Text<'a>, Cause> {
    let unreadable = |error: std::io::Error| Cause::Unreadable(error.to_string());
    let start = loop {
        match bytes.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            start => break start.map_err(unreadable)?,
        }
    };
    if let Some(ends) = utf16(start) {
        return whole(bytes, |all| Ok((of_utf16(&all, ends)?, FileFacts::default())));
    }
    match OTHER_FORMATS.iter().find(|(beginning, _)| start.starts_with(beginning)) {
        #[cfg(feature = "spreadsheets")]
        Some((b"PK\x03\x04" | b"\xd0\xcf\x11\xe0", _)) => {
            whole(bytes, |all| Ok((crate::spreadsheet::as_csv(all)?, FileFacts::default())))
        }
        #[cfg(feature = "parquet")]
        Some((b"PAR1", _)) => {
            whole(bytes, |all| Ok((crate::parquet_file::as_csv(all)?, FileFacts::default())))
        }
        #[cfg(feature = "spss")]
        Some((b"$FL2" | b"$FL3", _)) => whole(bytes, crate::sav::as_csv),
        #[cfg(not(feature = "spss"))]
        Some((b"$FL2" | b"$FL3", what)) => Err(Cause::NotBuilt { what, feature: "spss" }),
        #[cfg(not(feature = "parquet"))]
        Some((b"PAR1", what)) => Err(Cause::NotBuilt { what, feature: "parquet" }),
        Some((_, what)) => Err(Cause::NotText(what)),
        None => Ok((bytes, FileFacts::default())),
    }
}

/// The text that a decoder makes of all bytes. Readers of workbooks and Parquet files are not ours: where damaged bytes make
/// one panic, the file is refused, and the program goes on.
fn whole<'a>(
    mut bytes: Box<dyn BufRead + 'a>,
    text: impl FnOnce(Vec<u8>) -> Result<(Vec<u8>, FileFacts), Cause>,
) -> Result<Text<'a>, Cause> {
    let mut all = Vec::new();
    bytes.read_to_end(&mut all).map_err(|error| Cause::Unreadable(error.to_string()))?;
    let text = catch_unwind(AssertUnwindSafe(|| text(all)));
    let (text, facts) = text.unwrap_or(Err(Cause::NotText("a damaged file")))?;
    Ok((Box::new(Cursor::new(text)), facts))
}

/// A field of a CSV text, on one line and in quotes.
#[cfg(any(feature = "spreadsheets", feature = "parquet", feature = "spss"))]
pub(crate) fn quoted(text: &str) -> String {
    let line: String = text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    format!("\"{}\"", line.replace('"', "\"\""))
}

/// Which byte of a pair comes first.
#[derive(Clone, Copy)]
enum Ends {
    Low,
    High,
}

/// Whether a text is UTF-16: it has a byte order mark, or every other of its first bytes is zero.
fn utf16(start: &[u8]) -> Option<Ends> {
    match start {
        [0xff, 0xfe, ..] => Some(Ends::Low),
        [0xfe, 0xff, ..] => Some(Ends::High),
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some(Ends::Low),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => Some(Ends::High),
        _ => None,
    }
}

fn of_utf16(bytes: &[u8], ends: Ends) -> Result<Vec<u8>, Cause> {
    let damaged = || Cause::NotText("a damaged UTF-16 text");
    let (pairs, []) = bytes.as_chunks::<2>() else { return Err(damaged()) };
    let units = pairs.iter().map(|pair| match ends {
        Ends::Low => u16::from_le_bytes(*pair),
        Ends::High => u16::from_be_bytes(*pair),
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    let text = text.map_err(|_| damaged())?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).as_bytes().to_vec())
}

/// The characters of the bytes 0x80 to 0x9f in Windows-1252 (WHATWG Encoding Standard, index windows-1252); five are unused.
const UPPER: [Option<char>; 32] = [
    Some('€'),
    None,
    Some('‚'),
    Some('ƒ'),
    Some('„'),
    Some('…'),
    Some('†'),
    Some('‡'),
    Some('ˆ'),
    Some('‰'),
    Some('Š'),
    Some('‹'),
    Some('Œ'),
    None,
    Some('Ž'),
    None,
    None,
    Some('‘'),
    Some('’'),
    Some('“'),
    Some('”'),
    Some('•'),
    Some('–'),
    Some('—'),
    Some('˜'),
    Some('™'),
    Some('š'),
    Some('›'),
    Some('œ'),
    None,
    Some('ž'),
    Some('Ÿ'),
];

/// A line of Windows-1252 as text; `None` if it has bytes that no such text has.
pub(crate) fn of_windows_1252(line: &[u8]) -> Option<String> {
    let character = |byte: &u8| match byte {
        0x80..=0x9f => UPPER[usize::from(byte - 0x80)],
        0..=8 | 0x0b..=0x1f | 0x7f => None,
        // The rest is Latin-1, whose bytes are the numbers of the characters.
        byte => Some(char::from(*byte)),
    };
    line.iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_1252_is_latin_1_with_signs() {
        assert_eq!(of_windows_1252(b"caf\xe9;\x80 \x93x\x94").as_deref(), Some("café;€ “x”"));
        assert_eq!(of_windows_1252(b"\x81"), None);
        assert_eq!(of_windows_1252(b"a\0"), None);
    }

    #[test]
    fn utf_16_in_both_orders_with_and_without_a_mark() {
        let units: Vec<u16> = "a;ü\n1;0\n".encode_utf16().collect();
        let bytes = |turn: fn(u16) -> [u8; 2], mark: bool| -> Vec<u8> {
            let mark = mark.then_some(0xfeff);
            mark.into_iter().chain(units.iter().copied()).flat_map(turn).collect()
        };
        for bytes in
            [bytes(u16::to_le_bytes, true), bytes(u16::to_be_bytes, true), bytes(u16::to_le_bytes, false)]
        {
            let mut read = String::new();
            text(Box::new(Cursor::new(bytes))).unwrap().0.read_to_string(&mut read).unwrap();
            assert_eq!(read, "a;ü\n1;0\n");
        }
        assert!(text(Box::new(Cursor::new(b"\xff\xfea"))).is_err());
    }
}
