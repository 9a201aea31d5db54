//! All item parameters with their intervals, easy items first.

use fedirt_model::fit::{Fit, FitItem};

use crate::canvas::{Anchor, Canvas, Ink, Readout, TEXT};
use crate::figure::{Figure, Table, Width, interval};
use crate::frame::Frame;
use crate::rows::{self, Estimate, Rows};
use crate::scale::Scale;
use crate::text::{self, finite};

/// Slope a and difficulties b of every item with 95 % intervals.
pub fn item_parameters(fit: &Fit) -> Figure {
    let title = "Item parameters".to_owned();
    let mut entries: Vec<Entry<'_>> = fit.items.iter().filter_map(Entry::new).collect();
    if entries.is_empty() {
        return Figure::without(title, "No item has finite estimates.".to_owned());
    }
    entries.sort_by(|x, y| x.mean().total_cmp(&y.mean()));
    let slopes = entries.iter().any(|e| e.a.is_some_and(|a| a.limits.is_some() || a.value != 1.0));
    let steps = entries.iter().map(|e| e.b.len()).max().unwrap_or(1);
    let description = format!(
        "{} of {}, with 95\u{a0}% intervals, from the easiest ({}) to the hardest ({}).",
        if slopes { "Slopes and difficulties" } else { "Difficulties" },
        text::counted(entries.len() as u64, "item", "items"),
        entries[0].item.name,
        entries[entries.len() - 1].item.name
    );
    let mut figure = Figure::drawn(title, description.clone(), |width| {
        draw(&entries, width, slopes, steps, &description)
    })
    .note("Lines are 95\u{a0}% intervals; a point without a line has no standard error (given, fixed or not estimable).")
    .table(table(&entries, steps));
    if !slopes {
        figure = figure.note("Slopes are fixed at 1.");
    }
    let without = fit.items.len() - entries.len();
    if without > 0 {
        figure = figure.note(format!(
            "Left out: {} without finite estimates.",
            text::counted(without as u64, "item", "items")
        ));
    }
    figure
}

struct Entry<'a> {
    item: &'a FitItem,
    a: Option<Estimate>,
    b: Vec<Option<Estimate>>,
}

impl<'a> Entry<'a> {
    fn new(item: &'a FitItem) -> Option<Self> {
        let estimate = |value: Option<f64>, se: Option<f64>| {
            finite(value).map(|value| Estimate { value, limits: interval(value, se) })
        };
        let b: Vec<_> = item
            .b
            .iter()
            .enumerate()
            .map(|(c, b)| estimate(*b, item.se_b.get(c).copied().flatten()))
            .collect();
        b.iter().any(Option::is_some).then(|| Self { item, a: estimate(item.a, item.se_a), b })
    }

    fn mean(&self) -> f64 {
        let known: Vec<f64> = self.b.iter().flatten().map(|b| b.value).collect();
        known.iter().sum::<f64>() / known.len().max(1) as f64
    }
}

fn draw(entries: &[Entry<'_>], width: Width, slopes: bool, steps: usize, description: &str) -> String {
    let w = width.pixels();
    let rows = Rows::new(38.0, entries.len());
    let mut canvas = Canvas::new(w, rows.bottom() + 46.0);
    let room = if width.is_narrow() { 84.0 } else { 130.0 };
    let widest = entries
        .iter()
        .enumerate()
        .filter(|(row, _)| rows.labelled(*row))
        .map(|(_, e)| text::width(&e.item.name, TEXT))
        .fold(24.0, f64::max);
    let left = widest.min(room) + 16.0;
    let right = w - 14.0;
    let split = if slopes { left + (right - left) * 0.36 } else { left };
    let panel = |from: f64, to: f64, domain: (f64, f64), ticks: usize| Frame {
        left: from,
        right: to,
        top: rows.top,
        bottom: rows.bottom(),
        x: Scale::nice(domain.0, domain.1, from, to, ticks),
        y: Scale::linear(0.0, 1.0, 0.0, 1.0),
    };
    let ticks = if width.is_narrow() { 3 } else { 5 };
    canvas.text((left - 8.0, rows.heading()), Anchor::End, Ink::Muted, "Item");
    if slopes {
        let all: Vec<Estimate> = entries.iter().filter_map(|e| e.a).collect();
        let (low, high) = rows::domain(&all);
        // The slope's axis begins at zero, where an item says nothing about ability.
        let frame = panel(left, split - 18.0, (low.min(0.0), high), ticks.min(4));
        frame.vertical_grid(&mut canvas, ticks.min(4));
        frame.horizontal(&mut canvas, "Slope a", ticks.min(4));
        if rows.far() {
            frame.labels_above(&mut canvas, ticks.min(4));
        }
        for (row, a) in entries.iter().enumerate().filter_map(|(row, e)| Some((row, e.a?))) {
            rows::mark(&mut canvas, &frame, &rows, rows.at(row), a, Ink::Accent);
        }
    }
    let all: Vec<Estimate> = entries.iter().flat_map(|e| e.b.iter().flatten().copied()).collect();
    let frame = panel(if slopes { split + 8.0 } else { left }, right, rows::domain(&all), ticks);
    frame.vertical_grid(&mut canvas, ticks);
    frame.horizontal(&mut canvas, "Difficulty b", ticks);
    if rows.far() {
        frame.labels_above(&mut canvas, ticks);
    }
    for (row, entry) in entries.iter().enumerate() {
        for (step, b) in entry.b.iter().enumerate().filter_map(|(step, b)| Some((step, (*b)?))) {
            // Steps of an item lie one under the other in its row, where there is room.
            let offset = if rows.roomy() && entry.b.len() > 1 {
                (step as f64 - (entry.b.len() - 1) as f64 / 2.0) * (rows.pitch - 6.0) / entry.b.len() as f64
            } else {
                0.0
            };
            let ink = if steps == 1 { Ink::Accent } else { Ink::category(step + 1, steps + 1) };
            rows::mark(&mut canvas, &frame, &rows, rows.at(row) + offset, b, ink);
        }
        if rows.labelled(row) {
            let name = text::shorten(&entry.item.name, TEXT, room);
            canvas.text((left - 8.0, rows.at(row) + 4.0), Anchor::End, Ink::Text, &name);
        }
    }
    canvas.readout(Readout {
        axis: 'y',
        first: rows.at(0),
        last: rows.at(entries.len() - 1),
        rows: entries.len(),
    });
    canvas.finish(description)
}

fn table(entries: &[Entry<'_>], steps: usize) -> Table {
    let mut table = Table::new("Item parameters", &["Item", "a", "SE(a)"]);
    for step in 1..=steps {
        let name = if steps == 1 { "b".to_owned() } else { format!("b{step}") };
        table.headers.extend([name.clone(), format!("SE({name})")]);
    }
    for entry in entries {
        let mut row = vec![
            entry.item.name.clone(),
            text::fixed_or_dash(finite(entry.item.a), 3),
            text::fixed_or_dash(finite(entry.item.se_a), 3),
        ];
        for step in 0..steps {
            row.push(text::fixed_or_dash(finite(entry.item.b.get(step).copied().flatten()), 3));
            row.push(text::fixed_or_dash(finite(entry.item.se_b.get(step).copied().flatten()), 3));
        }
        table.rows.push(row);
    }
    table
}
