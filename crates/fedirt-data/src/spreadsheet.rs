//! Workbooks (.xlsx, .xlsb, .xls, .ods) as CSV text, so that they are read by the rules of text files. A row of the sheet is a
//! line of the text: complaints name the row that a spreadsheet program shows.

use std::io::Cursor;

use calamine::{Data, Range, Reader};

use crate::cause::Cause;
use crate::decode::quoted;

/// The only sheet with something in it, as CSV.
pub(crate) fn as_csv(workbook: Vec<u8>) -> Result<Vec<u8>, Cause> {
    let unreadable = |error: calamine::Error| Cause::BadWorkbook(error.to_string());
    let mut workbook = calamine::open_workbook_auto_from_rs(Cursor::new(workbook)).map_err(unreadable)?;
    let mut filled: Vec<(String, Range<Data>)> = Vec::new();
    for name in workbook.sheet_names() {
        let sheet = workbook.worksheet_range(&name).map_err(unreadable)?;
        if sheet.used_cells().any(|(_, _, cell)| !text(cell).trim().is_empty()) {
            filled.push((name, sheet));
        }
    }
    match filled.as_slice() {
        [] => Ok(Vec::new()),
        [(_, sheet)] => Ok(csv(sheet)),
        several => Err(Cause::SeveralSheets(several.iter().map(|(name, _)| name.clone()).collect())),
    }
}

fn csv(sheet: &Range<Data>) -> Vec<u8> {
    // The range begins at the first row with something in it; the rows above are lines, too.
    let above = sheet.start().map_or(0, |(row, _)| row as usize);
    let mut out = "\n".repeat(above);
    for row in sheet.rows() {
        // Formats leave empty cells behind: a row of these is a blank line, not a student.
        if row.iter().any(|cell| !text(cell).trim().is_empty()) {
            let cells: Vec<String> = row.iter().map(|cell| quoted(&text(cell))).collect();
            out.push_str(&cells.join(","));
        }
        out.push('\n');
    }
    out.into_bytes()
}

/// What a cell says. Dates are named as such: a time of day is a number inside, and no score.
fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(date) => format!("date {date}"),
        Data::DateTimeIso(date) => format!("date {date}"),
        Data::DurationIso(time) => format!("time {time}"),
        Data::Bool(value) => value.to_string().to_uppercase(),
        Data::Int(_) | Data::Float(_) | Data::String(_) | Data::Error(_) | Data::Empty => cell.to_string(),
    }
}
