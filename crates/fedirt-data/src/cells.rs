//! From the bytes of a cell to a category code.

use fedirt_model::responses::MISSING;

use std::collections::HashMap;

use crate::options::ReadOptions;
use crate::scoring_rule::ScoringRule;

/// The largest code of an item whose categories nobody has declared: higher numbers are ids, ages or years, not scores.
const HIGHEST_UNDECLARED: u8 = 63;

/// Looked up, but not decided by one byte alone.
const UNDECIDED: u8 = MISSING - 1;

/// Why a cell is no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Text,
    Fraction,
    Negative,
    TooLarge,
    /// None of the texts that the codebook lists.
    Unlisted,
}

/// Reads cells: knows which codes mean "no answer", and how answers become codes.
pub(crate) struct CellReader {
    /// Code of each cell of one byte.
    single: [u8; 256],
    missing: Vec<(String, Option<f64>)>,
    rule: Option<ScoringRule>,
    highest: u8,
}

impl CellReader {
    pub(crate) fn new<'a>(missing: impl IntoIterator<Item = &'a String>, rule: Option<ScoringRule>) -> Self {
        let missing: Vec<(String, Option<f64>)> =
            missing.into_iter().map(|code| (code.trim().to_string(), number(code.trim()))).collect();
        let mut reader = Self { single: [UNDECIDED; 256], missing, rule, highest: HIGHEST_UNDECLARED };
        for byte in b'!'..=b'~' {
            reader.single[usize::from(byte)] = reader.read_text(&[byte]).unwrap_or(UNDECIDED);
        }
        reader.single[usize::from(b' ')] = MISSING;
        reader
    }

    /// The same for an item that has these codes.
    fn with_codes(mut self, codes: Option<&[u8]>) -> Self {
        let declared = codes.and_then(|codes| codes.last()).copied();
        self.highest = self.highest.max(declared.unwrap_or_default());
        self
    }

    /// The category code, or [`MISSING`]. Nearly every cell is one byte, and decided by one look into a table.
    #[inline]
    pub(crate) fn read(&self, cell: &[u8]) -> Result<u8, Fault> {
        match cell {
            [] => Ok(MISSING),
            [byte] if self.single[usize::from(*byte)] != UNDECIDED => Ok(self.single[usize::from(*byte)]),
            _ => self.read_text(cell),
        }
    }

    /// Whether the cell is an option of a keyed item, all of which are kept.
    pub(crate) fn keeps_options(&self) -> bool {
        self.rule.as_ref().is_some_and(|rule| rule.otherwise.is_some())
    }

    #[cold]
    fn read_text(&self, cell: &[u8]) -> Result<u8, Fault> {
        let cell = std::str::from_utf8(cell).map_err(|_| Fault::Text)?.trim();
        if matches!(cell, "" | "NA" | ".") || self.missing.iter().any(|(code, _)| code == cell) {
            return Ok(MISSING);
        }
        let value = number(cell);
        // A declared `9.0` also means the cell `9`.
        if value.is_some() && self.missing.iter().any(|(_, code)| *code == value) {
            return Ok(MISSING);
        }
        if let Some(rule) = &self.rule {
            return rule.code(cell).ok_or(Fault::Unlisted);
        }
        let Some(value) = value else {
            return Err(if decimal(cell).is_some() { Fault::Fraction } else { Fault::Text });
        };
        match value {
            v if v < 0.0 => Err(Fault::Negative),
            v if v.is_finite() && v.fract() != 0.0 => Err(Fault::Fraction),
            v if v > f64::from(self.highest) => Err(Fault::TooLarge),
            // In 0..=100 and whole: the conversion is exact.
            v => Ok(v as u8),
        }
    }
}

/// The readers of all items.
pub(crate) struct CellReaders<'a> {
    usual: CellReader,
    own: HashMap<&'a str, CellReader>,
}

impl<'a> CellReaders<'a> {
    pub(crate) fn new(options: &'a ReadOptions) -> Self {
        let mut own = HashMap::new();
        for item in options.codebook.iter().flatten() {
            let codes = item.categories.as_deref();
            let many = codes.and_then(|codes| codes.last()).is_some_and(|code| *code > HIGHEST_UNDECLARED);
            if item.rule.is_some() || !item.missing.is_empty() || many {
                let missing = options.missing.iter().chain(&item.missing);
                let reader = CellReader::new(missing, item.rule.clone()).with_codes(codes);
                own.insert(item.name.as_str(), reader);
            }
        }
        for keyed in &options.key {
            let book = options.codebook.iter().flatten().find(|item| item.name == keyed.item);
            let missing = options.missing.iter().chain(book.into_iter().flat_map(|item| &item.missing));
            own.insert(&keyed.item, CellReader::new(missing, Some(keyed.rule.clone())));
        }
        Self { usual: CellReader::new(&options.missing, None), own }
    }

    /// The reader of an item.
    pub(crate) fn of(&self, item: &str) -> &CellReader {
        self.own.get(item).unwrap_or(&self.usual)
    }
}

/// A number written in digits; not `inf`, `nan` and their kind, which `f64` would take.
pub(crate) fn number(text: &str) -> Option<f64> {
    let written = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
    if written { text.parse().ok() } else { None }
}

/// A number as people write it: with a decimal comma, too.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    number(text).or_else(|| number(&text.replacen(',', ".", 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::key_rule;
    use crate::problems::{Complaints, Problems};

    #[test]
    fn cells() {
        let reader = CellReader::new(&["9".into(), "-99".into(), " omit ".into()], None);
        for (cell, expected) in [
            ("0", Ok(0)),
            ("7", Ok(7)),
            (" 3 ", Ok(3)),
            ("12", Ok(12)),
            ("63", Ok(63)),
            ("1.0", Ok(1)),
            ("2.", Ok(2)),
            ("02", Ok(2)),
            ("", Ok(MISSING)),
            (" ", Ok(MISSING)),
            ("   ", Ok(MISSING)),
            (".", Ok(MISSING)),
            ("NA", Ok(MISSING)),
            (" NA ", Ok(MISSING)),
            ("9", Ok(MISSING)),
            ("9.0", Ok(MISSING)),
            ("-99", Ok(MISSING)),
            ("omit", Ok(MISSING)),
            ("na", Err(Fault::Text)),
            ("x", Err(Fault::Text)),
            ("inf", Err(Fault::Text)),
            ("1.5", Err(Fault::Fraction)),
            ("1,5", Err(Fault::Fraction)),
            ("-1", Err(Fault::Negative)),
            ("-0.5", Err(Fault::Negative)),
            ("64", Err(Fault::TooLarge)),
            ("255", Err(Fault::TooLarge)),
            ("1e999", Err(Fault::TooLarge)),
            ("99999999999999999999999", Err(Fault::TooLarge)),
        ] {
            assert_eq!(reader.read(cell.as_bytes()), expected, "{cell:?}");
        }
        assert_eq!(reader.read(b"\xff"), Err(Fault::Text));
        assert_eq!(reader.read(b"1\0"), Err(Fault::Text));
    }

    #[test]
    fn options_and_words() {
        let rule = |text: &str| {
            let mut problems = Problems::default();
            key_rule(text, 1, &mut Complaints { file: "", problems: &mut problems })
        };
        let reader = CellReader::new(&["X".into()], rule("B|bc"));
        let cells = ["A", "B", "b", " BC ", "X", "x", "", "9"];
        let expected = [Ok(0), Ok(1), Ok(1), Ok(1), Ok(MISSING), Ok(0), Ok(MISSING), Ok(0)];
        assert_eq!(cells.map(|cell| reader.read(cell.as_bytes())), expected);
        let scale = ScoringRule {
            codes: [("never", 0), ("always", 1)].map(|(t, c)| (t.into(), c)).to_vec(),
            otherwise: None,
        };
        let reader = CellReader::new(&[], Some(scale));
        let cells = ["Never", "always", "1", "often"];
        let expected = [Ok(0), Ok(1), Err(Fault::Unlisted), Err(Fault::Unlisted)];
        assert_eq!(cells.map(|cell| reader.read(cell.as_bytes())), expected);
    }
}
