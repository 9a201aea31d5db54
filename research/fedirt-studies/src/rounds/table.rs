//! The study on a terminal.

use super::{Cell, RoundsStudy, TOLERANCE, cells};
use crate::publish::aligned;

/// All tables that the study has records for.
pub fn tables(study: &RoundsStudy) -> String {
    let cells = cells(&study.records);
    let mut out = String::new();
    let options = &study.options;
    let (t, first) = (options.replications, options.first_seed);
    out += &format!("{t} replications (seeds {first} to {}); ", first.wrapping_add(t as u64).wrapping_sub(1));
    out += &format!("arrived when max|gradient|/N < {TOLERANCE:e}; every exchange is a round.\n");
    if options.algorithm_table {
        let plain: Vec<&Cell> = cells
            .iter()
            .filter(|c| c.model == "2pl" && c.effects == "fixed" && c.missing == "complete")
            .collect();
        let row = |c: &Cell| vec![c.algorithm.clone()];
        out += "\n2PL, fixed effects, nothing missing: rounds, median (max)\n";
        out += &matrix(study, &["algorithm"], &plain, row, Cell::text);
        out += "\nNumbers that one site sends, median\n";
        out += &matrix(study, &["algorithm"], &plain, row, |c| format!("{}", c.numbers_sent.round()));
        out += "\nDistance from newton's maximum: largest |a − a_newton|, median\n";
        out += &matrix(study, &["algorithm"], &plain, row, |c| match c.slope_error {
            Some(error) if c.algorithm != "newton" => format!("{error:.1e}"),
            _ => String::new(),
        });
    }
    if options.model_table {
        let newton: Vec<&Cell> = cells.iter().filter(|c| c.algorithm == "newton").collect();
        let row = |c: &Cell| vec![c.model.clone(), c.effects.clone(), c.missing.clone()];
        out +=
            "\nNewton: rounds, median (max); polytomous items have 4 categories, booklets leave out half\n";
        out += &matrix(study, &["model", "effects", "answers"], &newton, row, Cell::text);
    }
    out
}

/// One row per distinct key, one column per size.
fn matrix(
    study: &RoundsStudy,
    keys: &[&str],
    cells: &[&Cell],
    key: impl Fn(&Cell) -> Vec<String>,
    text: impl Fn(&Cell) -> String,
) -> String {
    let sizes = &study.options.sizes;
    let mut header: Vec<String> = keys.iter().map(|k| (*k).to_owned()).collect();
    header.extend(sizes.iter().map(super::Size::title));
    let mut rows: Vec<Vec<String>> = vec![header];
    let mut seen: Vec<Vec<String>> = Vec::new();
    for cell in cells {
        let name = key(cell);
        if seen.contains(&name) {
            continue;
        }
        let mut row = name.clone();
        row.extend(sizes.iter().map(|size| {
            let found = cells.iter().find(|c| c.size == size.name && key(c) == name);
            found.map_or(String::new(), |c| text(c))
        }));
        rows.push(row);
        seen.push(name);
    }
    aligned(&rows, keys.len())
}
