//! Site, id and weight of a record.

use std::borrow::Cow;

use crate::cause::Cause;
use crate::cells::number;
use crate::header::Columns;
use crate::opened::complain_about_bytes;
use crate::problems::Complaints;
use crate::records::Fields;
use crate::text::shown;

/// The text of a field without the spaces around it; complains about bytes that are no text.
fn text<'a>(
    fields: &Fields<'a>,
    columns: &Columns,
    column: usize,
    complaints: &mut Complaints<'_>,
) -> Cow<'a, str> {
    let bytes = fields.get(column);
    if bytes.contains(&0) {
        complain_about_bytes(fields, columns.names.get(column).map(String::as_str), complaints);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text.trim()),
        Err(_) => {
            complain_about_bytes(fields, columns.names.get(column).map(String::as_str), complaints);
            Cow::Owned(String::from_utf8_lossy(bytes).trim().to_string())
        }
    }
}

/// The same, complaining about an empty field.
pub(crate) fn filled<'a>(
    fields: &Fields<'a>,
    columns: &Columns,
    column: usize,
    empty: Cause,
    complaints: &mut Complaints<'_>,
) -> Cow<'a, str> {
    let text = text(fields, columns, column, complaints);
    if text.is_empty() {
        complaints.cell(fields.line, &columns.names[column], empty);
    }
    text
}

/// The group of a record: empty for none, which a code for a missing answer says too.
pub(crate) fn group(
    fields: &Fields<'_>,
    columns: &Columns,
    column: usize,
    missing: &[String],
    complaints: &mut Complaints<'_>,
) -> String {
    let text = text(fields, columns, column, complaints);
    let none = ["NA", "."].contains(&text.as_ref()) || missing.iter().any(|code| *code == text);
    if none { String::new() } else { text.into_owned() }
}

/// The weight of a record, 0 after a complaint.
pub(crate) fn weight(
    fields: &Fields<'_>,
    columns: &Columns,
    column: usize,
    complaints: &mut Complaints<'_>,
) -> f64 {
    let bytes = fields.get(column).trim_ascii();
    let value = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| number(text).or_else(|| with_decimal_comma(text)))
        .filter(|weight| weight.is_finite() && *weight >= 0.0);
    value.unwrap_or_else(|| {
        complaints.cell(fields.line, &columns.names[column], Cause::BadWeight(shown(bytes)));
        0.0
    })
}

/// A number with a decimal comma. With three digits after the comma it could be thousands, unless it begins with 0.
fn with_decimal_comma(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once(',')?;
    let thousands = part.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
    number(&format!("{whole}.{part}")).filter(|_| !thousands && !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::with_decimal_comma;

    #[test]
    fn a_comma_that_could_separate_thousands_is_none() {
        let cases = [
            ("1,5", Some(1.5)),
            ("0,125", Some(0.125)),
            ("1,250", None),
            ("12,3456", Some(12.3456)),
            ("1.2,5", None),
        ];
        for (text, expected) in cases {
            assert_eq!(with_decimal_comma(text), expected, "{text}");
        }
    }
}
