//! Tables as CSV files: every digit, empty where there is no number.

use super::tables::{self, Cell, Table};
use crate::scores::Scores;
use fedirt_model::fit::{
    Covariance, Dif, Dimensionality, Fit, FitSite, ItemFit, LatentCheck, Q3, ScoreRow, SiteHeterogeneity,
    SiteInfluence,
};
use std::borrow::Cow;
use std::io::{self, Write};

/// A field, quoted where it must be.
fn quoted(text: &str) -> Cow<'_, str> {
    let plain = !text.contains(['"', ',', ';', '\t', '\n', '\r']) && text.trim() == text;
    if plain { Cow::Borrowed(text) } else { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) }
}

/// A number with the digits that read back as the same number.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { String::new() }
}

fn line(out: &mut dyn Write, fields: &[String]) -> io::Result<()> {
    writeln!(out, "{}", fields.join(","))
}

fn write(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    line(out, &table.headers.iter().map(|header| quoted(header).into_owned()).collect::<Vec<_>>())?;
    table.rows.iter().try_for_each(|row| cells(out, row))
}

fn cells(out: &mut dyn Write, row: &[Cell]) -> io::Result<()> {
    let field = |cell: &Cell| match cell {
        Cell::Text(text) => quoted(text).into_owned(),
        Cell::Count(count) => count.map(|count| count.to_string()).unwrap_or_default(),
        Cell::Number(value) => value.map(number).unwrap_or_default(),
        Cell::Flag(flag) => flag.to_string(),
    };
    line(out, &row.iter().map(field).collect::<Vec<_>>())
}

/// `items.csv`, which `--fixed-items` accepts. Where an item's model has more than one slope, its parameters stand in
/// columns of their names at the end.
pub fn items(out: &mut dyn Write, fit: &Fit) -> io::Result<()> {
    write(out, &tables::items(fit))
}

/// `sites.csv`.
pub fn sites(out: &mut dyn Write, sites: &[FitSite]) -> io::Result<()> {
    write(out, &tables::sites(sites))
}

/// `score_table.csv`: the ability that belongs to each sum score, with observed and expected students.
pub fn score_table(out: &mut dyn Write, rows: &[ScoreRow]) -> io::Result<()> {
    write(out, &tables::score_table(rows))
}

/// `diagnostics/items.csv`: how well each item fits.
pub fn item_fit(out: &mut dyn Write, items: &[ItemFit]) -> io::Result<()> {
    write(out, &tables::item_fit(items))
}

/// `diagnostics/pairs.csv`: residual correlations, a line per pair of items.
pub fn pairs(out: &mut dyn Write, q3: &Q3) -> io::Result<()> {
    write(out, &tables::pairs(q3))
}

/// `diagnostics/dimensions.csv`: eigenvalues with the limits from simulated data.
pub fn dimensions(out: &mut dyn Write, found: &Dimensionality) -> io::Result<()> {
    write(out, &tables::dimensions(found))
}

/// `diagnostics/ability.csv`: how ability is distributed, in the model and among the students.
pub fn latent(out: &mut dyn Write, check: &LatentCheck) -> io::Result<()> {
    write(out, &tables::latent(check))
}

/// `diagnostics/sites.csv`: what would change most without each site.
pub fn influence(out: &mut dyn Write, sites: &[SiteInfluence]) -> io::Result<()> {
    write(out, &tables::influence(sites))
}

/// `diagnostics/dif.csv`: items by focal group.
pub fn dif(out: &mut dyn Write, rows: &[Dif]) -> io::Result<()> {
    write(out, &tables::dif(rows))
}

/// `diagnostics/site_heterogeneity.csv`: items compared between sites.
pub fn site_heterogeneity(out: &mut dyn Write, rows: &[SiteHeterogeneity]) -> io::Result<()> {
    write(out, &tables::site_heterogeneity(rows))
}

/// `covariance.csv`.
pub fn covariance(out: &mut dyn Write, covariance: &Covariance) -> io::Result<()> {
    write(out, &tables::covariance(covariance))
}

/// `scores.csv`: one line per student, in the order of the files. With a scale for reporting, each estimate stands on it as
/// well, in a column whose name ends in `_scaled`.
pub fn scores(out: &mut dyn Write, scores: &Scores) -> io::Result<()> {
    line(out, &tables::score_headers(scores))?;
    tables::score_rows(scores).try_for_each(|row| cells(out, &row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("M1"), "M1");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted(" x"), "\" x\"");
    }

    #[test]
    fn numbers_read_back() {
        for x in [0.1 + 0.2, 1e-9, -3.0, 1e300] {
            assert_eq!(number(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(number(f64::NAN), "");
    }
}
