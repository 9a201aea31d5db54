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
        .and_then(number)
        .filter(|weight| weight.is_finite() && *weight >= 0.0);
    value.unwrap_or_else(|| {
        complaints.cell(fields.line, &columns.names[column], Cause::BadWeight(shown(bytes)));
        0.0
    })
}
