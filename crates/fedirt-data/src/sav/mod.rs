//! SPSS system files (.sav, .zsav) as CSV text, so that they are read by the rules of text files: the header is line 1, the
//! first case line 2. Values that the file declares missing are empty cells, and what is said about it.

mod bytes;
mod dictionary;
mod elements;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use crate::cause::Cause;
use crate::decode::quoted;
use crate::file_facts::{ColumnMissing, FileFacts, ValueLabels};
use bytes::Order;
use dictionary::{Dictionary, Variable};
use elements::Elements;

/// Most bytes of text that a file may become.
const MOST_TEXT: usize = 4 << 30;
/// Numbers from here on are written with an exponent: not all whole numbers beyond have a float.
const WHOLE: f64 = 1e15;

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SavError {
    #[error("it ends too early")]
    Truncated,
    #[error("{0} cannot be right")]
    Damaged(&'static str),
    #[error("it has a record of the unknown type {0}")]
    Record(i32),
    #[error("its texts are in {0}, which is not known here")]
    Encoding(String),
    #[error("it has a text that is not {0}, although it says so")]
    Text(&'static str),
    #[error("it says that there are {said} cases, and has {found}")]
    Cases { said: usize, found: usize },
    #[error("it is larger than 4 GB when it is unpacked")]
    TooLarge,
}

/// The file as CSV, and what it says about its columns.
pub(crate) fn as_csv(file: Vec<u8>) -> Result<(Vec<u8>, FileFacts), Cause> {
    csv(&file).map_err(|error| Cause::BadSav(error.to_string()))
}

fn csv(file: &[u8]) -> Result<(Vec<u8>, FileFacts), SavError> {
    let (dictionary, cases) = dictionary::read(file)?;
    let names: Vec<String> = dictionary.variables.iter().map(|variable| quoted(&variable.name)).collect();
    let mut out = names.join(",") + "\n";
    let mut elements = Elements::new(cases, &dictionary)?;
    let mut missing = vec![0_u64; names.len()];
    let mut found = 0;
    while case(&mut elements, &dictionary, &mut out, &mut missing)? {
        found += 1;
        if out.len() > MOST_TEXT {
            return Err(SavError::TooLarge);
        }
    }
    match dictionary.cases {
        Some(said) if said != found => return Err(SavError::Cases { said, found }),
        _ => {}
    }
    Ok((out.into_bytes(), facts(&dictionary, &missing)?))
}

/// Writes a case as a line; false at the end of the file.
fn case(
    elements: &mut Elements<'_>,
    dictionary: &Dictionary,
    out: &mut String,
    missing: &mut [u64],
) -> Result<bool, SavError> {
    for (at, variable) in dictionary.variables.iter().enumerate() {
        let Some(first) = elements.next()? else {
            return if at == 0 { Ok(false) } else { Err(SavError::Truncated) };
        };
        if at > 0 {
            out.push(',');
        }
        if variable.widths.is_empty() {
            let value = dictionary.order.number(first);
            if value.is_nan() || value == dictionary.system_missing {
                continue;
            }
            if declared_missing(variable, value, dictionary.order) {
                missing[at] += 1;
                continue;
            }
            out.push_str(&shown(value, variable.date));
            continue;
        }
        let bytes = long_text(variable, first, elements)?;
        let trimmed = bytes.trim_ascii_end();
        if variable.missing.values.iter().any(|value| value.trim_ascii_end() == trimmed)
            && !trimmed.is_empty()
        {
            missing[at] += 1;
        } else if !trimmed.is_empty() {
            out.push_str(&quoted(&dictionary::text(trimmed, dictionary.encoding)?));
        }
    }
    out.push('\n');
    Ok(!dictionary.variables.is_empty())
}

/// The bytes of a text: its segments without what fills up their last elements.
fn long_text(variable: &Variable, first: [u8; 8], elements: &mut Elements<'_>) -> Result<Vec<u8>, SavError> {
    let (mut text, mut next) = (Vec::new(), Some(first));
    for width in &variable.widths {
        let start = text.len();
        for _ in 0..width.div_ceil(8) {
            let element = match next.take() {
                Some(element) => element,
                None => elements.next()?.ok_or(SavError::Truncated)?,
            };
            text.extend(element);
        }
        text.truncate(start + width);
    }
    Ok(text)
}

fn declared_missing(variable: &Variable, value: f64, order: Order) -> bool {
    let missing = &variable.missing;
    missing.values.iter().any(|declared| order.number(*declared) == value)
        || missing.range.is_some_and(|(low, high)| (low..=high).contains(&value))
}

/// A number as text. Dates are named as such: they are seconds inside, and no score.
fn shown(value: f64, date: bool) -> String {
    let date = if date { "date " } else { "" };
    if value.abs() < WHOLE { format!("{date}{value}") } else { format!("{date}{value:e}") }
}

fn facts(dictionary: &Dictionary, counts: &[u64]) -> Result<FileFacts, SavError> {
    let mut facts = FileFacts { weight: None, missing: Vec::new(), labels: Vec::new() };
    facts.weight = dictionary.weight.map(|at| dictionary.variables[at].name.clone());
    for (variable, count) in dictionary.variables.iter().zip(counts) {
        let (order, text) = (dictionary.order, !variable.widths.is_empty());
        let value = |bytes: &[u8; 8]| match text {
            true => dictionary::text(bytes.trim_ascii_end(), dictionary.encoding),
            false => Ok(shown(order.number(*bytes), variable.date)),
        };
        let mut declared = String::new();
        if let Some((low, high)) = variable.missing.range {
            let end =
                |end: f64, name: &str| if end.abs() > 1e308 { name.to_owned() } else { shown(end, false) };
            // Writing to a string cannot fail.
            let _ = write!(declared, "{} to {}", end(low, "lowest"), end(high, "highest"));
        }
        for bytes in &variable.missing.values {
            declared.push_str(if declared.is_empty() { "" } else { ", " });
            declared.push_str(&value(bytes)?);
        }
        let column = variable.name.clone();
        if !declared.is_empty() {
            facts.missing.push(ColumnMissing { column: column.clone(), declared, count: *count });
        }
        let mut labels = Vec::new();
        for (bytes, label) in &variable.labels {
            let missing = match text {
                true => variable.missing.values.contains(bytes),
                false => declared_missing(variable, order.number(*bytes), order),
            };
            if !missing {
                labels.push((value(bytes)?, label.clone()));
            }
        }
        if !labels.is_empty() {
            facts.labels.push(ValueLabels { column, labels });
        }
    }
    Ok(facts)
}
