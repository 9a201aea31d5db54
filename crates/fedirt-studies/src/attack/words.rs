//! What was found, in words and in a table for the terminal. Every number comes from the records.

use super::condition::Protocol;
use super::record::Record;
use super::summary::{Cell, cells};
use crate::publish::aligned;

/// "3 of 7", or "86–98 of 100".
fn of(range: (usize, usize), rows: usize) -> String {
    match range {
        (low, high) if low == high => format!("{low} of {rows}"),
        (low, high) => format!("{low}–{high} of {rows}"),
    }
}

/// Sizes for people.
pub(super) fn size(cell: &Cell) -> String {
    format!("{} × {} students, {} items", cell.sites, cell.students, cell.items)
}

/// The strongest exact attack of a kind on each condition: no rounding, most rounds.
pub(super) fn strongest(cells: &[Cell], protocol: Protocol) -> Vec<&Cell> {
    let mut out: Vec<&Cell> = Vec::new();
    for cell in cells.iter().filter(|c| c.protocol == protocol && c.decimals.is_none()) {
        match out.iter_mut().find(|c| c.condition == cell.condition) {
            Some(best) if cell.found >= best.found => *best = cell,
            Some(_) => {}
            None => out.push(cell),
        }
    }
    out
}

/// The findings, the most important first.
pub(super) fn findings(cells: &[Cell]) -> Vec<String> {
    let mut out = Vec::new();
    let published = strongest(cells, Protocol::Published);
    if !published.is_empty() {
        let whole = published.iter().filter(|c| c.all_found()).count();
        let sizes: Vec<String> = published
            .iter()
            .map(|c| {
                format!(
                    "{} ({}; guess without any attack: {})",
                    of(c.found_range, c.rows),
                    size(c),
                    of(c.guess_range, c.rows)
                )
            })
            .collect();
        let verdict = match whole == published.len() {
            true => "gives away every row of a school".to_owned(),
            false => format!("gives away every row of a school in {whole} of {} conditions", published.len()),
        };
        out.push(format!(
            "The published protocol {verdict}: from log-likelihoods and gradients, rows rebuilt were {}.",
            sizes.join("; ")
        ));
        let alone: Vec<&Cell> = cells.iter().filter(|c| c.attack == "gradients alone").collect();
        if !alone.is_empty() {
            let whole = alone.iter().filter(|c| c.all_found()).count();
            out.push(format!("Gradients alone suffice in {whole} of {} conditions.", alone.len()));
        }
    }
    out.extend(rounding(cells));
    let secure = strongest(cells, Protocol::Secure);
    if !secure.is_empty() {
        let sizes: Vec<String> =
            secure.iter().map(|c| format!("{} ({})", of(c.found_range, c.rows), size(c))).collect();
        out.push(format!(
            "Secure sums hide which school a row belongs to, not the rows: of all schools' rows together came back {}.",
            sizes.join("; ")
        ));
    }
    out.extend(private(cells));
    out
}

/// What rounding does to the published protocol.
fn rounding(cells: &[Cell]) -> Option<String> {
    let rounded = |c: &&Cell| {
        c.protocol == Protocol::Published && c.decimals == Some(4) && c.attack.starts_with("log-likelihoods")
    };
    let mut last: Vec<&Cell> = Vec::new();
    for cell in cells.iter().filter(rounded) {
        match last.iter_mut().find(|c| c.condition == cell.condition) {
            Some(held) => *held = cell,
            None => last.push(cell),
        }
    }
    let told: Vec<String> =
        last.iter().map(|c| format!("{} ({})", of(c.found_range, c.rows), size(c))).collect();
    (!told.is_empty()).then(|| format!("With numbers rounded to 4 decimals: {}.", told.join("; ")))
}

/// What noise leaves, and what the same attack finds without it.
fn private(cells: &[Cell]) -> Vec<String> {
    let mut out = Vec::new();
    let mut epsilons: Vec<f64> = Vec::new();
    let private = || cells.iter().filter(|c| c.protocol == Protocol::Private);
    for epsilon in private().filter_map(|c| c.epsilon) {
        if !epsilons.contains(&epsilon) {
            epsilons.push(epsilon);
        }
    }
    epsilons.sort_by(f64::total_cmp);
    for epsilon in epsilons {
        let tried: Vec<&Cell> = private().filter(|c| c.epsilon == Some(epsilon)).collect();
        let beyond: Vec<&&Cell> = tried.iter().filter(|c| c.beyond_the_guess()).collect();
        let Some(top) = tried.iter().max_by(|a, b| a.beyond.total_cmp(&b.beyond)) else { continue };
        let error = top.beyond_error.map_or(String::new(), |error| format!(" ± {error:.2}"));
        let most = format!("{:+.2}{error}", top.beyond);
        out.push(match beyond.is_empty() {
            true => format!(
                "Private with ε = {epsilon}: no attack of {} found more rows than the fitted model lets one guess, beyond Monte Carlo error (the largest mean difference is {most} rows).",
                tried.len()
            ),
            false => format!(
                "Private with ε = {epsilon}: {} of {} attacks found more rows than the guess, by {most} on average at most.",
                beyond.len(),
                tried.len()
            ),
        });
    }
    let control: Vec<&Cell> = private().filter(|c| c.epsilon.is_none() && c.beyond_the_guess()).collect();
    if let Some(best) = control.iter().max_by(|a, b| a.share().total_cmp(&b.share())) {
        out.push(format!(
            "It is the noise that protects: the same attack on the same sums without noise finds {} where the guess is {} ({}).",
            of(best.found_range, best.rows),
            of(best.guess_range, best.rows),
            size(best)
        ));
    }
    out
}

/// Headers of the table.
pub(super) const HEADERS: [&str; 10] =
    ["protocol", "items", "schools", "attack", "rounds", "decimals", "ε", "rows", "found", "guess"];

/// One line of the table.
pub(super) fn line(cell: &Cell) -> Vec<String> {
    let range =
        |(low, high): (usize, usize)| if low == high { low.to_string() } else { format!("{low}–{high}") };
    let private = cell.protocol == Protocol::Private;
    vec![
        cell.protocol.name().replace('_', " "),
        cell.items.to_string(),
        format!("{}×{}", cell.sites, cell.students),
        cell.attack.clone(),
        range(cell.rounds),
        cell.decimals.map_or("all".into(), |d| d.to_string()),
        match cell.epsilon {
            Some(epsilon) => epsilon.to_string(),
            None if private => "no noise".into(),
            None => "–".into(),
        },
        cell.rows.to_string(),
        range(cell.found_range),
        range(cell.guess_range),
    ]
}

/// The findings and the table.
pub fn text(records: &[Record]) -> String {
    let cells = cells(records);
    let mut out = String::from("What the sums reveal\n\n");
    findings(&cells).iter().for_each(|finding| out += &format!("• {finding}\n"));
    let mut rows: Vec<Vec<String>> = vec![HEADERS.map(str::to_owned).to_vec()];
    rows.extend(cells.iter().map(line));
    out.push('\n');
    out + &aligned(&rows, 5)
}
