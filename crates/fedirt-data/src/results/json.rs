//! `fit.json`: every digit, one line per field, item, site and round, so that two fits can be compared.

use fedirt_model::fit::Fit;
use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Serializer, Value};
use std::io::{self, Write};

/// Why a text is no fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAFit {
    /// It is no JSON.
    #[error("no JSON: {0}")]
    NoJson(String),
    /// It is JSON of something else.
    #[error("it names no format")]
    NoFormat,
    /// It is a fit of a version that is not known, or lacks something that a fit has.
    #[error("{0}")]
    Content(String),
}

/// The fit of a `fit.json`.
pub fn read_fit(bytes: &[u8]) -> Result<Fit, NotAFit> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| NotAFit::NoJson(error.to_string()))?;
    if value.get("format").and_then(Value::as_str).is_none() {
        return Err(NotAFit::NoFormat);
    }
    serde_json::from_value(value).map_err(|error| NotAFit::Content(error.to_string()))
}

/// The text of `fit.json`.
pub fn fit_json(fit: &Fit) -> io::Result<String> {
    let mut bytes = Vec::new();
    fit.serialize(&mut Serializer::with_formatter(&mut bytes, Lines { depth: 0, empty: true }))?;
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// New lines down to this depth: fields of the fit, and entries of its lists.
const OPEN: usize = 2;

/// Breaks lines near the root only: thousands of numbers, one a line, are no reading.
struct Lines {
    depth: usize,
    empty: bool,
}

impl Lines {
    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.empty = true;
        out.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if !self.empty && self.depth < OPEN {
            self.line(out)?;
        }
        self.empty = false;
        out.write_all(bracket)
    }

    fn entry<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.empty = false;
        if !first {
            out.write_all(b",")?;
        }
        match (self.depth <= OPEN, first) {
            (true, _) => self.line(out),
            (false, true) => Ok(()),
            (false, false) => out.write_all(b" "),
        }
    }

    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b" "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }
    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.entry(out, first)
    }
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }
    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.entry(out, first)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_stay_on_a_line() {
        let value = serde_json::json!({"a": [{"b": [1, 2], "c": {}}, {"d": []}], "e": [], "f": 0.1});
        let mut bytes = Vec::new();
        value
            .serialize(&mut Serializer::with_formatter(&mut bytes, Lines { depth: 0, empty: true }))
            .unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "{\n \"a\": [\n  {\"b\": [1, 2], \"c\": {}},\n  {\"d\": []}\n ],\n \"e\": [],\n \"f\": 0.1\n}"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
