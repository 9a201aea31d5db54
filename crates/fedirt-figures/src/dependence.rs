//! Which pairs of items go together more than ability explains: residual correlations as a triangle of fields.

use fedirt_model::fit::{Fit, Q3};

use crate::canvas::{Anchor, Canvas, Ink, TEXT};
use crate::figure::{Figure, Table, Width};
use crate::text;

/// Pairs in the table: those with the largest deviations.
const PAIRS: usize = 40;

/// Q3 less its mean, pair by pair.
pub fn residual_correlations(fit: &Fit) -> Figure {
    let title = "Dependence of pairs of items".to_owned();
    let Some(q3) = fit.diagnostics.as_ref().and_then(|diagnostics| diagnostics.q3.as_ref()) else {
        return Figure::without(title, why_missing(fit));
    };
    let mut pairs: Vec<(usize, usize, f64)> = (0..q3.items.len())
        .flat_map(|j| (0..j).map(move |l| (j, l)))
        .filter_map(|(j, l)| Some((j, l, q3.matrix[j][l]?)))
        .collect();
    pairs.sort_by(|a, b| (b.2 - q3.mean).abs().total_cmp(&(a.2 - q3.mean).abs()));
    let flagged = q3.flagged.len() as u64;
    let description = format!(
        "Correlations of residuals (Q3) of {} less their mean of {}; {} above the limit of {}.",
        text::counted(q3.items.len() as u64, "item", "items"),
        text::reading(q3.mean, 3),
        if flagged == 1 { "one pair lies".to_owned() } else { format!("{} pairs lie", text::count(flagged)) },
        text::reading(q3.critical, 3),
    );
    let mut table = Table::new(
        "Pairs with the largest deviations",
        &["Item", "Other item", "Q3", "Q3 − mean", "Dependent"],
    );
    table.rows.extend(pairs.iter().take(PAIRS).map(|(j, l, value)| {
        let above = value - q3.mean;
        vec![
            q3.items[*l].clone(),
            q3.items[*j].clone(),
            text::reading(*value, 3),
            text::reading(above, 3),
            if above > q3.critical { "yes" } else { "no" }.to_owned(),
        ]
    }));
    Figure::drawn(title, description.clone(), |width| draw(q3, &pairs, width, &description))
        .note("Each field is a pair: the item at the end of its row, and the item at the head of its column, where the diagonal has its name. Red pairs go together more than ability explains, blue ones less; framed ones lie above the limit.")
        .note(format!(
            "If the model is right, the largest of all deviations stays below {} in 95 of 100 cases (from {} simulated data sets, seed {}; Monte Carlo error {}).",
            text::reading(q3.critical, 3),
            q3.replications,
            q3.seed,
            text::reading(q3.critical_se, 3)
        ))
        .table(table)
}

fn why_missing(fit: &Fit) -> String {
    let known = fit.diagnostics.as_ref().and_then(|d| d.not_available.iter().find(|n| n.name == "q3"));
    known.map_or_else(
        || "Diagnostics were not asked for.".to_owned(),
        |missing| format!("Not available: {}.", missing.reason),
    )
}

fn draw(q3: &Q3, pairs: &[(usize, usize, f64)], width: Width, description: &str) -> String {
    let w = width.pixels();
    let items = q3.items.len().max(1) as f64;
    let name = q3.items.iter().map(|name| text::width(name, TEXT).min(110.0)).fold(20.0, f64::max);
    let (left, top) = (10.0, 6.0);
    let side = ((w - left - name - 14.0) / items).min(24.0);
    let mut canvas = Canvas::new(w, top + side * items + 12.0);
    let strongest = pairs.first().map_or(1.0, |(_, _, x)| (x - q3.mean).abs()).max(1.5 * q3.critical);
    for &(j, l, value) in pairs {
        let above = value - q3.mean;
        let ink = if above > 0.0 { Ink::Alarm } else { Ink::Accent };
        let (x, y) = (left + l as f64 * side, top + j as f64 * side);
        let gap = if side > 6.0 { 1.0 } else { 0.0 };
        let strength = (above.abs() / strongest).min(1.0);
        canvas.shade((x, y), (x + side - gap, y + side - gap), ink, 0.04 + 0.9 * strength);
        if above > q3.critical {
            let (right, bottom) = (x + side - gap, y + side - gap);
            for (from, to) in [
                ((x, y), (right, y)),
                ((right, y), (right, bottom)),
                ((right, bottom), (x, bottom)),
                ((x, bottom), (x, y)),
            ] {
                canvas.line(from, to, Ink::Text, 1.4);
            }
        }
    }
    // Where fields are smaller than letters, every so many items have a name.
    let every = (13.0 / side).ceil().max(1.0) as usize;
    for (j, item) in q3.items.iter().enumerate().step_by(every) {
        let at = (left + j as f64 * side + 5.0, top + (j as f64 + 0.5) * side + 4.0);
        canvas.text(at, Anchor::Start, Ink::Text, &text::shorten(item, TEXT, 110.0));
    }
    canvas.finish(description)
}
