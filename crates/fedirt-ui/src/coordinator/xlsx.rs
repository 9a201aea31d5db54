//! The results as an Excel workbook. A value that was not released is an empty cell.

use fedirt_model::fit::Fit;
use fedirt_protocol::plan::StudyPlan;
use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};

/// The content of a cell.
enum Cell<'a> {
    Words(&'a str),
    Number(Option<f64>),
}

use Cell::{Number, Words};

/// A sheet that is filled row by row.
struct Sheet<'a> {
    sheet: &'a mut Worksheet,
    row: u32,
}

impl Sheet<'_> {
    fn head(&mut self, cells: &[&str], bold: &Format) -> Result<(), XlsxError> {
        for (column, text) in (0u16..).zip(cells) {
            self.sheet.write_string_with_format(self.row, column, *text, bold)?;
        }
        self.row += 1;
        self.sheet.set_freeze_panes(self.row, 1)?;
        Ok(())
    }

    fn line(&mut self, cells: &[Cell<'_>]) -> Result<(), XlsxError> {
        for (column, cell) in (0u16..).zip(cells) {
            let sheet = &mut *self.sheet;
            match cell {
                // Written as a string, so that no name can become a formula.
                Words(text) => sheet.write_string(self.row, column, *text)?,
                Number(Some(value)) if value.is_finite() => sheet.write_number(self.row, column, *value)?,
                Number(_) => sheet,
            };
        }
        self.row += 1;
        Ok(())
    }
}

fn sheet<'a>(book: &'a mut Workbook, name: &str) -> Result<Sheet<'a>, XlsxError> {
    let sheet = book.add_worksheet();
    sheet.set_name(name)?;
    sheet.set_column_width(0, 24)?;
    Ok(Sheet { sheet, row: 0 })
}

/// The workbook as bytes.
pub(super) fn workbook(fit: &Fit, plan: &StudyPlan) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let bold = Format::new().set_bold();
    summary(&mut book, fit, plan, &bold)?;
    items(&mut book, fit, &bold)?;
    sites(&mut book, fit, &bold)?;
    rounds(&mut book, fit, &bold)?;
    book.save_to_buffer()
}

fn summary(book: &mut Workbook, fit: &Fit, plan: &StudyPlan, bold: &Format) -> Result<(), XlsxError> {
    let mut sheet = sheet(book, "Summary")?;
    sheet.head(&["Field", "Value"], bold)?;
    let words = [
        ("study", plan.study.as_str()),
        ("purpose", plan.purpose.as_str()),
        ("model", &fit.model),
        ("effects", &fit.effects),
        ("algorithm", &fit.algorithm),
        ("mode", &fit.mode),
        ("version", &fit.version),
        ("codebook_hash", &fit.codebook_hash),
    ];
    for (name, text) in words {
        sheet.line(&[Words(name), Words(text)])?;
    }
    let privacy = fit.privacy.as_ref();
    let numbers = [
        ("n", Some(fit.n as f64)),
        ("loglik", fit.loglik),
        ("npar", Some(fit.npar as f64)),
        ("aic", fit.aic),
        ("bic", fit.bic),
        ("sabic", fit.sabic),
        ("rounds", Some(fit.rounds as f64)),
        ("max_gradient", fit.max_gradient),
        ("condition_number", fit.condition_number),
        ("latent_mean", Some(fit.latent.mean)),
        ("latent_sd", Some(fit.latent.sd)),
        ("site_sd", fit.site_sd),
        ("epsilon", privacy.map(|p| p.epsilon)),
        ("delta", privacy.map(|p| p.delta)),
    ];
    for (name, value) in numbers {
        sheet.line(&[Words(name), Number(value)])?;
    }
    for warning in &fit.warnings {
        sheet.line(&[Words("warning"), Words(&warning.message)])?;
    }
    Ok(())
}

fn items(book: &mut Workbook, fit: &Fit, bold: &Format) -> Result<(), XlsxError> {
    let mut sheet = sheet(book, "Items")?;
    let steps = fit.items.iter().map(|item| item.d.len()).max().unwrap_or(0);
    let mut head: Vec<String> = ["item", "model", "categories", "n", "a", "se_a"].map(String::from).to_vec();
    for letter in ["b", "d"] {
        for step in 1..=steps {
            let number = if steps == 1 { String::new() } else { step.to_string() };
            head.extend([format!("{letter}{number}"), format!("se_{letter}{number}")]);
        }
    }
    sheet.head(&head.iter().map(String::as_str).collect::<Vec<_>>(), bold)?;
    for item in &fit.items {
        let mut cells = vec![Words(&item.name), Words(&item.model), Number(Some(item.categories as f64))];
        cells.extend([Number(item.n.map(|n| n as f64)), Number(item.a), Number(item.se_a)]);
        for (values, errors) in [(&item.b, &item.se_b), (&item.d, &item.se_d)] {
            for step in 0..steps {
                cells.push(Number(values.get(step).copied().flatten()));
                cells.push(Number(errors.get(step).copied().flatten()));
            }
        }
        sheet.line(&cells)?;
    }
    Ok(())
}

fn sites(book: &mut Workbook, fit: &Fit, bold: &Format) -> Result<(), XlsxError> {
    let mut sheet = sheet(book, "Sites")?;
    sheet.head(&["site", "n", "effect", "se"], bold)?;
    for site in &fit.sites {
        sheet.line(&[
            Words(&site.name),
            Number(Some(site.n as f64)),
            Number(site.effect),
            Number(site.se),
        ])?;
    }
    Ok(())
}

fn rounds(book: &mut Workbook, fit: &Fit, bold: &Format) -> Result<(), XlsxError> {
    let mut sheet = sheet(book, "Rounds")?;
    sheet.head(&["round", "loglik", "max_gradient", "max_change", "slowest_items"], bold)?;
    for entry in &fit.trace {
        let slowest = entry.slowest_items.join(", ");
        let numbers = [Some(entry.round as f64), entry.loglik, entry.max_gradient, entry.max_change];
        let mut cells: Vec<Cell<'_>> = numbers.map(Number).into();
        cells.push(Words(&slowest));
        sheet.line(&cells)?;
    }
    Ok(())
}
