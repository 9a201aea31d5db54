//! `fit.xlsx`: the tables of a fit as an Excel workbook. A value that was not released is an empty cell.

use super::tables::{self, Cell, Table};
use fedirt_model::fit::Fit;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, XlsxError};

/// Why a workbook cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the workbook cannot be written: {0}")]
pub struct WorkbookError(#[from] XlsxError);

/// The fit as a workbook. `study` are lines about the study at the head of the summary.
///
/// ```no_run
/// # fn f(fit: &fedirt_model::fit::Fit) -> Result<(), Box<dyn std::error::Error>> {
/// std::fs::write("fit.xlsx", fedirt_data::results::workbook(fit, &[("study", "reading")])?)?;
/// # Ok(())
/// # }
/// ```
pub fn workbook(fit: &Fit, study: &[(&str, &str)]) -> Result<Vec<u8>, WorkbookError> {
    let mut sheets = vec![
        ("Summary", tables::summary(fit, study)),
        ("Items", tables::items(fit)),
        ("Sites", tables::sites(&fit.sites)),
    ];
    if let Some(diagnostics) = &fit.diagnostics {
        sheets.extend(diagnostics.item_fit.iter().map(|items| ("Item fit", tables::item_fit(items))));
        sheets.extend(diagnostics.score_table.iter().map(|rows| ("Sum scores", tables::score_table(rows))));
    }
    sheets.push(("Rounds", tables::rounds(fit)));
    let mut book = Workbook::new();
    // Without a time of its own the writer would take the clock's, and the same fit would give other bytes.
    let time = fit.provenance.as_ref().and_then(|provenance| provenance.time.as_deref());
    let made = time.and_then(|time| ExcelDateTime::parse_from_str(time).ok());
    let made = made.map_or_else(|| ExcelDateTime::from_ymd(2000, 1, 1), Ok)?;
    book.set_properties(&DocProperties::new().set_creation_datetime(&made));
    let bold = Format::new().set_bold();
    for (name, table) in sheets {
        write(&mut book, name, &table, &bold)?;
    }
    Ok(book.save_to_buffer()?)
}

fn write(book: &mut Workbook, name: &str, table: &Table, bold: &Format) -> Result<(), XlsxError> {
    let sheet = book.add_worksheet();
    sheet.set_name(name)?;
    sheet.set_column_width(0, 24)?;
    sheet.set_freeze_panes(1, 1)?;
    for (column, header) in (0u16..).zip(&table.headers) {
        sheet.write_string_with_format(0, column, header, bold)?;
    }
    for (row, cells) in (1u32..).zip(&table.rows) {
        for (column, cell) in (0u16..).zip(cells) {
            match cell {
                // Written as a string, so that no name can become a formula.
                Cell::Text(text) => sheet.write_string(row, column, text)?,
                Cell::Count(Some(count)) => sheet.write_number(row, column, *count as f64)?,
                Cell::Number(Some(value)) if value.is_finite() => sheet.write_number(row, column, *value)?,
                Cell::Flag(flag) => sheet.write_boolean(row, column, *flag)?,
                Cell::Count(None) | Cell::Number(_) => continue,
            };
        }
    }
    Ok(())
}
