//! What was found, in words and in a table for the terminal. Every number comes from the records.

use super::bound::{Bound, bounds};
use super::condition::Protocol;
use super::summary::Cell;
use crate::publish::{aligned, brief};

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
            "Secure sums do not keep the rows: of all schools' rows together came back {}. (With school effects the sums also tell which rows belong to the same school: only noise protects students.)",
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

/// "0.31 of 50", for all sizes.
fn at_most(bound: &Bound) -> String {
    let said: Vec<String> =
        bound.at_most.iter().map(|a| format!("{} of {}", brief(a.beyond.max(0.0), 2), a.rows)).collect();
    match &said[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => said.join(", "),
    }
}

/// What noise leaves at each ε, with one bound for all comparisons.
fn verdict(bound: &Bound, epsilon: f64, cells: &[Cell]) -> Option<String> {
    let tried = || cells.iter().filter(|c| c.protocol == Protocol::Private && c.epsilon == Some(epsilon));
    let top = tried().max_by(|a, b| standing(a).total_cmp(&standing(b)))?;
    let largest = format!(
        "{} ± {} rows of {}, {}",
        brief(top.beyond, 2),
        brief(top.beyond_error.unwrap_or(0.0), 1),
        top.rows,
        top.attack
    );
    let all = format!(
        "with {:.0} % confidence for all {} together, rows beyond the guess are {} at most",
        100.0 * bound.confidence,
        bound.comparisons,
        at_most(bound)
    );
    Some(match bound.above {
        0 => format!(
            "Private with ε = {epsilon}: none of {} attacks found more rows than the guess, beyond Monte Carlo error (the one that stands out most: {largest}). In numbers: {all}.",
            bound.comparisons
        ),
        above => format!(
            "Private with ε = {epsilon}: {above} of {} attacks found more rows than the guess (the one that stands out most: {largest}). In numbers: {all}.",
            bound.comparisons
        ),
    })
}

/// How far a difference is from zero, in units of its error.
fn standing(cell: &Cell) -> f64 {
    match cell.beyond_error {
        Some(error) if error > 0.0 => cell.beyond / error,
        _ => cell.beyond.signum() * f64::MAX,
    }
}

/// What noise leaves, and what the same attack finds without it.
fn private(cells: &[Cell]) -> Vec<String> {
    let mut bounds = bounds(cells);
    // The strongest promise first.
    bounds.reverse();
    let mut out: Vec<String> =
        bounds.iter().filter_map(|bound| verdict(bound, bound.epsilon?, cells)).collect();
    if out.is_empty() && cells.iter().any(|c| c.protocol == Protocol::Private) {
        out.push(
            "Private: one data set says nothing about whether an attack finds more than a guess.".into(),
        );
    }
    let private = cells.iter().filter(|c| c.protocol == Protocol::Private);
    let control: Vec<&Cell> = private.filter(|c| c.epsilon.is_none() && c.beyond_the_guess()).collect();
    if let Some(best) = control.iter().max_by(|a, b| a.share().total_cmp(&b.share())) {
        out.push(format!(
            "It is the noise that protects: the same attack on the same sums without noise finds {} of {} rows on average where the guess is {} ({}).",
            brief(best.found, 3),
            best.rows,
            brief(best.guess, 3),
            size(best)
        ));
    }
    out
}

/// Headers of the table.
pub(super) const HEADERS: [&str; 13] = [
    "protocol",
    "items",
    "schools",
    "attack",
    "rounds",
    "decimals",
    "ε",
    "data sets",
    "rows",
    "found",
    "guess",
    "beyond the guess",
    "at most",
];

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
        cell.seeds.to_string(),
        cell.rows.to_string(),
        range(cell.found_range),
        range(cell.guess_range),
        match cell.beyond_error {
            Some(error) => format!("{} ({})", brief(cell.beyond, 3), brief(error, 1)),
            None => brief(cell.beyond, 3),
        },
        cell.beyond_limits.map_or("–".into(), |(_, high)| brief(high, 2)),
    ]
}

/// The findings and the table.
pub(super) fn text(cells: &[Cell]) -> String {
    let mut out = String::from("What the sums reveal\n\n");
    findings(cells).iter().for_each(|finding| out += &format!("• {finding}\n"));
    let mut rows: Vec<Vec<String>> = vec![HEADERS.map(str::to_owned).to_vec()];
    rows.extend(cells.iter().map(line));
    out.push('\n');
    out + &aligned(&rows, 5)
}
