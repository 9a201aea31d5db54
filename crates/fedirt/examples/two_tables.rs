//! Two tables in memory, calibrated together: `cargo run --example two_tables --no-default-features`.

use fedirt::{FitOptions, ResponseColumns, Responses, fit};

/// A table of answers, row by row: one letter a code.
fn table(rows: &[&str]) -> ResponseColumns {
    let items = (0..rows[0].len()).map(|item| {
        let codes = rows
            .iter()
            .map(|row| row.as_bytes()[item])
            .map(|code| code.is_ascii_digit().then(|| code - b'0'));
        (format!("item{}", item + 1), codes.collect())
    });
    ResponseColumns { items: items.collect(), ..ResponseColumns::default() }
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
    let responses = Responses::from_columns([("north", north), ("south", south)])?;
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
