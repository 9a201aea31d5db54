//! The dictionary at the beginning of a system file: variables, labels, missing values, encoding.
//!
//! The format is described in the developer's guide of PSPP, "System File Format".

use std::collections::HashMap;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::SavError;
use super::bytes::{Cursor, Order};

/// Bytes of a very long text that stand in one variable.
const SEGMENT: usize = 255;
/// A very long text has a variable for each so many bytes.
const SEGMENT_STEP: usize = 252;
/// Print formats of dates and times (record 2, "print format", byte 2).
const DATES: [u8; 11] = [20, 21, 22, 23, 24, 25, 28, 29, 30, 38, 39];

/// What a column is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    pub(super) name: String,
    /// Widths of its texts, one per segment; none where it is a number.
    pub(super) widths: Vec<usize>,
    pub(super) date: bool,
    pub(super) missing: Missing,
    /// Values with their labels, in the order of the file.
    pub(super) labels: Vec<([u8; 8], String)>,
}

/// Values that the file declares missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Missing {
    pub(super) values: Vec<[u8; 8]>,
    pub(super) range: Option<(f64, f64)>,
}

/// How cases are compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Compression {
    No,
    Bytecode,
    Zlib,
}

/// The dictionary, and where the cases begin.
#[derive(Debug)]
pub(super) struct Dictionary {
    pub(super) order: Order,
    pub(super) compression: Compression,
    pub(super) bias: f64,
    /// Cases, where the file says how many there are.
    pub(super) cases: Option<usize>,
    /// The variable of weights, by its place among the variables.
    pub(super) weight: Option<usize>,
    pub(super) system_missing: f64,
    pub(super) encoding: &'static Encoding,
    pub(super) variables: Vec<Variable>,
}

/// A variable as it stands in its record.
struct Raw {
    /// Eight-byte elements before it.
    slot: usize,
    short: Vec<u8>,
    width: usize,
    date: bool,
    missing: Missing,
    labels: Vec<([u8; 8], Vec<u8>)>,
}

/// What extension records say.
#[derive(Default)]
struct Extensions {
    character_code: Option<i32>,
    encoding: Option<Vec<u8>>,
    system_missing: Option<f64>,
    /// `SHORT=Long` between tabs.
    long_names: Vec<u8>,
    /// `SHORT=00300` between NUL and tab.
    long_texts: Vec<u8>,
}

/// Reads the dictionary; what is left are the cases.
pub(super) fn read(file: &[u8]) -> Result<(Dictionary, &[u8]), SavError> {
    // The layout code is 2 or 3 in the byte order of the file.
    let order = match file.get(64..68) {
        Some([2 | 3, 0, 0, 0]) => Order::Little,
        Some([0, 0, 0, 2 | 3]) => Order::Big,
        _ => return Err(SavError::Damaged("its header")),
    };
    let mut cursor = Cursor { rest: file, order };
    cursor.take(68)?;
    cursor.int()?;
    let compression = match cursor.int()? {
        0 => Compression::No,
        1 => Compression::Bytecode,
        2 => Compression::Zlib,
        _ => return Err(SavError::Damaged("an unknown compression")),
    };
    let weight_slot = cursor.int()?;
    let cases = usize::try_from(cursor.int()?).ok();
    let bias = cursor.number()?;
    cursor.take(84)?;
    let (mut raw, mut slots, mut found) = (Vec::<Raw>::new(), 0, Extensions::default());
    loop {
        match cursor.int()? {
            2 => slots += variable(&mut cursor, slots, &mut raw)?,
            3 => labels(&mut cursor, &mut raw)?,
            6 => {
                let lines = cursor.count()?;
                cursor.take(lines.checked_mul(80).ok_or(SavError::Truncated)?)?;
            }
            7 => extension(&mut cursor, &mut found)?,
            999 => {
                cursor.int()?;
                break;
            }
            other => return Err(SavError::Record(other)),
        }
    }
    let encoding = encoding(&found)?;
    let weight = usize::try_from(weight_slot).ok().and_then(|slot| slot.checked_sub(1));
    let (variables, places) = assemble(raw, &found, encoding)?;
    let weight = weight.and_then(|slot| places.get(&slot).copied());
    let system_missing = found.system_missing.unwrap_or(-f64::MAX);
    let dictionary =
        Dictionary { order, compression, bias, cases, weight, system_missing, encoding, variables };
    Ok((dictionary, cursor.rest))
}

/// Record 2: a variable, or a further part of a text. Returns how many elements of a case it takes: one.
fn variable(cursor: &mut Cursor<'_>, slot: usize, raw: &mut Vec<Raw>) -> Result<usize, SavError> {
    let kind = cursor.int()?;
    let (labelled, missing_count, print) = (cursor.int()?, cursor.int()?, cursor.int()?);
    cursor.int()?;
    let short = cursor.take(8)?.trim_ascii_end().to_vec();
    if labelled != 0 {
        let length = cursor.count()?;
        cursor.take(length.checked_next_multiple_of(4).ok_or(SavError::Truncated)?)?;
    }
    let mut missing = Missing::default();
    if missing_count < 0 {
        missing.range = Some((cursor.number()?, cursor.number()?));
    }
    let single = if missing_count < 0 { -missing_count - 2 } else { missing_count };
    if !(0..=3).contains(&single) {
        return Err(SavError::Damaged("its missing values"));
    }
    for _ in 0..single {
        missing.values.push(cursor.eight()?);
    }
    // A part of a text that is longer than eight bytes: the variable before it has the width of all.
    if kind < 0 {
        return Ok(1);
    }
    let width = usize::try_from(kind).unwrap_or_default();
    let date = DATES.contains(&((print >> 16) as u8)) && width == 0;
    raw.push(Raw { slot, short, width, date, missing, labels: Vec::new() });
    Ok(1)
}

/// Records 3 and 4: labels of values, and the variables that have them.
fn labels(cursor: &mut Cursor<'_>, raw: &mut [Raw]) -> Result<(), SavError> {
    let count = cursor.count()?;
    let mut labels = Vec::new();
    for _ in 0..count {
        let value = cursor.eight()?;
        let [length] = cursor.take(1)? else { return Err(SavError::Truncated) };
        let length = usize::from(*length);
        // Length and text fill whole elements.
        let padded = (length + 1).next_multiple_of(8) - 1;
        labels.push((value, cursor.take(padded)?[..length].trim_ascii_end().to_vec()));
    }
    if cursor.int()? != 4 {
        return Err(SavError::Damaged("labels without variables"));
    }
    for _ in 0..cursor.count()? {
        let slot = cursor.count()?.wrapping_sub(1);
        if let Some(variable) = raw.iter_mut().find(|variable| variable.slot == slot) {
            variable.labels.extend(labels.iter().cloned());
        }
    }
    Ok(())
}

/// Record 7: whatever came later to the format. Subtypes that say nothing of the answers are passed over.
fn extension(cursor: &mut Cursor<'_>, found: &mut Extensions) -> Result<(), SavError> {
    let (subtype, size, count) = (cursor.int()?, cursor.count()?, cursor.count()?);
    let content = cursor.take(size.checked_mul(count).ok_or(SavError::Truncated)?)?;
    let mut inner = Cursor { rest: content, order: cursor.order };
    match subtype {
        // Integers of the machine; the eighth is the character code.
        3 => {
            inner.take(28)?;
            found.character_code = Some(inner.int()?);
        }
        // Numbers of the machine; the first is the system's missing value.
        4 => found.system_missing = Some(inner.number()?),
        13 => found.long_names = content.to_vec(),
        14 => found.long_texts = content.to_vec(),
        20 => found.encoding = Some(content.to_vec()),
        _ => {}
    }
    Ok(())
}

/// The encoding of all texts: by its name, by its code page, or Windows-1252.
fn encoding(found: &Extensions) -> Result<&'static Encoding, SavError> {
    let named = |name: &[u8]| {
        let unknown = || SavError::Encoding(String::from_utf8_lossy(name).into_owned());
        Encoding::for_label(name).ok_or_else(unknown)
    };
    if let Some(name) = &found.encoding {
        return named(name);
    }
    match found.character_code {
        Some(65001) => Ok(UTF_8),
        Some(code @ 1250..=1258) => named(format!("windows-{code}").as_bytes()),
        Some(code @ 28591..=28606) => named(format!("iso-8859-{}", code - 28590).as_bytes()),
        Some(932) => named(b"shift_jis"),
        Some(936) => named(b"gbk"),
        Some(949) => named(b"euc-kr"),
        Some(950) => named(b"big5"),
        // 2 and 3 are ASCII of seven and eight bits.
        None | Some(0..=3) => Ok(WINDOWS_1252),
        Some(other) => Err(SavError::Encoding(format!("code page {other}"))),
    }
}

/// The text of some bytes.
pub(super) fn text(bytes: &[u8], encoding: &'static Encoding) -> Result<String, SavError> {
    let decoded = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    decoded.map(|text| text.into_owned()).ok_or_else(|| SavError::Text(encoding.name()))
}

/// Variables with their long names, very long texts as one variable each; and the place of the variable at a slot.
fn assemble(
    raw: Vec<Raw>,
    found: &Extensions,
    encoding: &'static Encoding,
) -> Result<(Vec<Variable>, HashMap<usize, usize>), SavError> {
    let pairs = |text: &[u8], by: fn(char) -> bool| -> Result<HashMap<String, String>, SavError> {
        let text = self::text(text, encoding)?;
        let pair = |part: &str| part.split_once('=').map(|(a, b)| (a.to_uppercase(), b.to_owned()));
        Ok(text.split(by).filter_map(pair).collect())
    };
    let long_names = pairs(&found.long_names, |c| c == '\t')?;
    let long_texts = pairs(&found.long_texts, |c| c == '\t' || c == '\0')?;
    let (mut variables, mut places) = (Vec::<Variable>::new(), HashMap::new());
    // Segments that still belong to the last variable.
    let mut segments = 0;
    for raw in raw {
        if segments > 0 {
            segments -= 1;
            variables.last_mut().ok_or(SavError::Damaged("its long texts"))?.widths.push(raw.width);
            continue;
        }
        let short = text(&raw.short, encoding)?;
        let name = long_names.get(&short.to_uppercase()).cloned().unwrap_or_else(|| short.clone());
        if let Some(width) = long_texts.get(&short.to_uppercase()) {
            let width: usize = width.trim().parse().map_err(|_| SavError::Damaged("its long texts"))?;
            segments = if width > SEGMENT { width.div_ceil(SEGMENT_STEP) - 1 } else { 0 };
        }
        places.insert(raw.slot, variables.len());
        let labels: Result<Vec<_>, SavError> =
            raw.labels.iter().map(|(value, label)| Ok((*value, text(label, encoding)?))).collect();
        variables.push(Variable {
            name,
            widths: if raw.width == 0 { Vec::new() } else { vec![raw.width] },
            date: raw.date,
            missing: raw.missing,
            labels: labels?,
        });
    }
    Ok((variables, places))
}
