//! From the bytes of a cell to a category code.

use fedirt_model::responses::MISSING;

use crate::HIGHEST_CODE;

/// Looked up, but not decided by one byte alone.
const UNDECIDED: u8 = MISSING - 1;

/// Why a cell is no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Text,
    Fraction,
    Negative,
    TooLarge,
}

/// Reads cells: knows which codes mean "no answer".
pub(crate) struct CellReader {
    /// Code of each cell of one byte.
    single: [u8; 256],
    missing: Vec<(String, Option<f64>)>,
}

impl CellReader {
    pub(crate) fn new(missing: &[String]) -> Self {
        let missing: Vec<(String, Option<f64>)> =
            missing.iter().map(|code| (code.trim().to_string(), number(code.trim()))).collect();
        let mut single = [UNDECIDED; 256];
        for digit in 0..10 {
            single[usize::from(b'0' + digit)] = digit;
        }
        single[usize::from(b'.')] = MISSING;
        single[usize::from(b' ')] = MISSING;
        for (code, value) in &missing {
            if let [byte] = code.as_bytes() {
                single[usize::from(*byte)] = MISSING;
            }
            // A declared `9.0` also means the cell `9`.
            if let Some(digit) = (0..10_u8).find(|digit| *value == Some(f64::from(*digit))) {
                single[usize::from(b'0' + digit)] = MISSING;
            }
        }
        Self { single, missing }
    }

    /// The category code, or [`MISSING`]. Nearly every cell is one byte, and decided by one look into a table.
    #[inline]
    pub(crate) fn read(&self, cell: &[u8]) -> Result<u8, Fault> {
        match cell {
            [] => Ok(MISSING),
            [byte] if self.single[usize::from(*byte)] != UNDECIDED => Ok(self.single[usize::from(*byte)]),
            _ => self.read_slowly(cell),
        }
    }

    #[cold]
    fn read_slowly(&self, cell: &[u8]) -> Result<u8, Fault> {
        let cell = std::str::from_utf8(cell).map_err(|_| Fault::Text)?.trim();
        if matches!(cell, "" | "NA" | ".") || self.missing.iter().any(|(code, _)| code == cell) {
            return Ok(MISSING);
        }
        let Some(value) = number(cell) else {
            let decimal_comma = cell.contains(',') && number(&cell.replacen(',', ".", 1)).is_some();
            return Err(if decimal_comma { Fault::Fraction } else { Fault::Text });
        };
        if self.missing.iter().any(|(_, code)| *code == Some(value)) {
            return Ok(MISSING);
        }
        match value {
            v if v < 0.0 => Err(Fault::Negative),
            v if v.is_finite() && v.fract() != 0.0 => Err(Fault::Fraction),
            v if v > f64::from(HIGHEST_CODE) => Err(Fault::TooLarge),
            // In 0..=63 and whole: the conversion is exact.
            v => Ok(v as u8),
        }
    }
}

/// A number written in digits; not `inf`, `nan` and their kind, which `f64` would take.
pub(crate) fn number(text: &str) -> Option<f64> {
    let written = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
    if written { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        let reader = CellReader::new(&["9".into(), "-99".into(), " omit ".into()]);
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
}
