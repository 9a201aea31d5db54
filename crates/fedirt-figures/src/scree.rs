//! Eigenvalues of the items' correlations, with the band in which they stay if there is one ability.

use fedirt_model::fit::{Dimensionality, Fit};

use crate::canvas::{Anchor, Canvas, Ink, Readout};
use crate::figure::{Figure, Table, Width};
use crate::frame::Frame;
use crate::scale::Scale;
use crate::text;

/// Eigenvalues that are drawn: those behind them are all alike.
const MOST: usize = 15;

/// The scree of the eigenvalues.
pub fn scree(fit: &Fit) -> Figure {
    let title = "Dimensions of the test".to_owned();
    let diagnostics = fit.diagnostics.as_ref();
    let Some(found) = diagnostics.and_then(|diagnostics| diagnostics.dimensionality.as_ref()) else {
        let known = diagnostics.and_then(|d| d.not_available.iter().find(|n| n.name == "dimensionality"));
        let why = known.map_or_else(
            || "Diagnostics were not asked for.".to_owned(),
            |missing| format!("Not available: {}.", missing.reason),
        );
        return Figure::without(title, why);
    };
    let shown = found.eigenvalues.len().min(MOST);
    let description = format!(
        "The largest eigenvalues of the items' correlations. The first is {}, the second {}; with one ability the second stays below {} in 95 of 100 cases.",
        text::reading(found.eigenvalues[0], 2),
        text::reading(found.eigenvalues[1], 2),
        text::reading(found.parallel_95[1], 2),
    );
    let mut table =
        Table::new("Eigenvalues", &["Rank", "Eigenvalue", "Simulated, 5 %", "Simulated, 95 %", "Above"]);
    table.rows.extend((0..shown).map(|k| {
        let (own, limit) = (found.eigenvalues[k], found.parallel_95[k]);
        vec![
            (k + 1).to_string(),
            text::fixed(own, 3),
            text::fixed(found.parallel_5[k], 3),
            text::fixed(limit, 3),
            if own > limit { "yes" } else { "no" }.to_owned(),
        ]
    }));
    let ratio = found.ratio.map_or_else(|| text::MISSING.to_owned(), |ratio| text::reading(ratio, 1));
    Figure::drawn(title, description.clone(), |width| draw(found, shown, width, &description))
        .note(format!(
            "The grey band holds nine in ten of the eigenvalues of {} data sets simulated from the fitted model, which has one ability (seed {}; Monte Carlo error of the second limit {}). Ringed eigenvalues lie above it. The first is {ratio} times the second.",
            found.replications,
            found.seed,
            text::reading(found.parallel_95_se[1], 3),
        ))
        .table(table)
}

fn draw(found: &Dimensionality, shown: usize, width: Width, description: &str) -> String {
    let (w, h) = (width.pixels(), if width.is_narrow() { 260.0 } else { 320.0 });
    let mut canvas = Canvas::new(w, h);
    let (left, right, top, bottom) = (46.0, w - 14.0, 34.0, h - 46.0);
    let all = || found.eigenvalues[..shown].iter().chain(&found.parallel_95[..shown]).copied();
    let lowest = found.parallel_5[..shown].iter().copied().chain(all()).fold(0.0, f64::min);
    let frame = Frame {
        left,
        right,
        top,
        bottom,
        x: Scale::linear(0.5, shown as f64 + 0.5, left, right),
        y: Scale::nice(lowest, all().fold(1.0, f64::max), bottom, top, 5),
    };
    frame.vertical(&mut canvas, "Eigenvalue", 5);
    let ranks: Vec<f64> = (1..=shown).map(|k| k as f64).collect();
    let along = |values: &[f64]| frame.points(&ranks, &values[..shown]);
    canvas.band(&along(&found.parallel_5), &along(&found.parallel_95), Ink::Muted);
    let own = along(&found.eigenvalues);
    canvas.curve(&own, Ink::Accent, 1.5);
    for (k, at) in own.iter().enumerate() {
        canvas.dot(*at, 3.2, Ink::Accent);
        if k > 0 && found.eigenvalues[k] > found.parallel_95[k] {
            canvas.ring(*at, 6.5, Ink::Alarm);
        }
    }
    canvas.group("x-axis");
    canvas.line((left, bottom), (right, bottom), Ink::Muted, 1.0);
    let every = if width.is_narrow() && shown > 8 { 2 } else { 1 };
    for rank in (1..=shown).step_by(every) {
        canvas.text((frame.x.at(rank as f64), bottom + 17.0), Anchor::Middle, Ink::Muted, &rank.to_string());
    }
    canvas.text(((left + right) / 2.0, bottom + 36.0), Anchor::Middle, Ink::Text, "Rank of the eigenvalue");
    canvas.end_group();
    let (first, last) = (frame.x.at(1.0), frame.x.at(shown as f64));
    canvas.readout(Readout { axis: 'x', first, last, rows: shown });
    canvas.finish(description)
}
