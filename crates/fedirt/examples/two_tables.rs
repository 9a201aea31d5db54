//! Two tables in memory, calibrated together: `cargo run --example two_tables --no-default-features`.

use fedirt::{Column, Columns, FitOptions, Input, ReadOptions, fit, read};

/// A table of answers, row by row: one letter a code.
fn table(rows: &[&str]) -> Columns {
    let column = |item: usize| rows.iter().map(|row| &row[item..=item]).collect::<Column>();
    (0..rows[0].len()).map(|item| (format!("item{}", item + 1), column(item))).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let north = table(&[
        "1110", "1100", "1011", "0110", "1111", "0000", "1000", "0100", "1101", "0010", "1.10", "0111",
        "1001", "0011",
    ]);
    let south = table(&[
        "1100", "0100", "1010", "1110", "0000", "1000", "0110", "1111", "0001", "10.0", "1011", "0101",
        "0010", "1101",
    ]);
    let tables = [Input::columns("north", north), Input::columns("south", south)];
    let responses = read(tables, &ReadOptions::default())?;
    let calibration = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?;
    for item in &calibration.fit.items {
        let (b, se) = (item.b[0].unwrap_or(f64::NAN), item.se_b[0].unwrap_or(f64::NAN));
        println!("{}: difficulty {b:.3} (SE {se:.3})", item.name);
    }
    for site in &calibration.fit.sites {
        println!("{}: effect {:.3}", site.name, site.effect.unwrap_or(f64::NAN));
    }
    Ok(())
}
