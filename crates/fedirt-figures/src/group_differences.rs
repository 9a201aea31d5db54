//! Items that work differently in groups of students: a forest of differences, largest first.

use fedirt_model::fit::{Dif, Fit};

use crate::canvas::{Anchor, Canvas, Ink, Readout, TEXT};
use crate::figure::{Figure, Table, Width, interval};
use crate::frame::Frame;
use crate::rows::{self, Estimate, Rows};
use crate::scale::Scale;
use crate::text;

/// Rows that are drawn; the table has all.
const DRAWN: usize = 60;

/// Differences between each focal group and the reference group, item by item.
pub fn group_differences(fit: &Fit) -> Figure {
    let title = "Items in different groups".to_owned();
    let Some(rows) = fit.diagnostics.as_ref().and_then(|diagnostics| diagnostics.dif.as_ref()) else {
        return Figure::without(title, why_missing(fit));
    };
    let scale = if rows.iter().any(|row| row.delta_mh.is_some()) { Size::Delta } else { Size::Mean };
    let mut entries: Vec<(&Dif, Estimate)> =
        rows.iter().filter_map(|row| Some((row, scale.of(row)?))).collect();
    if entries.is_empty() {
        return Figure::without(
            title,
            "No item has an estimate of its difference between groups.".to_owned(),
        );
    }
    entries.sort_by(|a, b| b.1.value.abs().total_cmp(&a.1.value.abs()));
    let flagged = rows.iter().filter(|row| row.flagged).count() as u64;
    let reference = fit.latent.groups.first().map_or("the reference group", |group| group.name.as_str());
    let description = format!(
        "{} between groups at equal sum scores, compared with {reference}, the largest first ({}); {} by more than chance and by enough to matter.",
        scale.name(),
        entries[0].0.item,
        if flagged == 1 {
            "one item differs".to_owned()
        } else {
            format!("{} items differ", text::count(flagged))
        },
    );
    let several = fit.latent.groups.len() > 2;
    let drawn = &entries[..entries.len().min(DRAWN)];
    let mut figure = Figure::drawn(title, description.clone(), |width| draw(drawn, scale, several, width, &description))
        .note(scale.reading())
        .note("Red: effect size (class B or C) and p adjusted for the number of items (below 0.05) both say that the item works differently. Look at wording, translation and content; what has nothing to do with what the test measures is a reason to leave the item out, or to give it parameters of its own in each group.")
        .table(table(rows));
    if drawn.len() < entries.len() {
        figure = figure
            .note(format!("The {} smallest differences are in the table only.", entries.len() - drawn.len()));
    }
    figure
}

fn why_missing(fit: &Fit) -> String {
    let known = fit.diagnostics.as_ref().and_then(|d| d.not_available.iter().find(|n| n.name == "dif"));
    known.map_or_else(
        || "No groups were compared.".to_owned(),
        |missing| format!("Not available: {}.", missing.reason),
    )
}

/// How large a difference is.
#[derive(Debug, Clone, Copy)]
enum Size {
    /// On the delta scale of ETS, for items with two categories.
    Delta,
    /// In SDs of the item.
    Mean,
}

impl Size {
    fn of(self, row: &Dif) -> Option<Estimate> {
        match self {
            Self::Delta => {
                let value = text::finite(row.delta_mh)?;
                Some(Estimate { value, limits: interval(value, row.se_log_alpha_mh.map(|se| 2.35 * se)) })
            }
            Self::Mean => Some(Estimate { value: text::finite(row.smd_sd)?, limits: None }),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Delta => "Differences in difficulty (delta scale of ETS)",
            Self::Mean => "Differences of mean item scores (in SDs of the item)",
        }
    }

    /// What is called negligible, and large.
    fn limits(self) -> [f64; 2] {
        match self {
            Self::Delta => [1.0, 1.5],
            Self::Mean => [0.17, 0.25],
        }
    }

    fn reading(self) -> &'static str {
        match self {
            Self::Delta => {
                "Left of 0 an item is harder for the group than for students of the reference group with the same sum score, right of it easier. Lines are 95\u{a0}% intervals. Up to 1 (inner lines) a difference is called negligible, from 1.5 on (outer lines) large. Items with more than two categories are in the table."
            }
            Self::Mean => {
                "Left of 0 the group scores lower on the item than students of the reference group with the same sum score, right of it higher. Up to 0.17 (inner lines) a difference is called negligible, above 0.25 (outer lines) large."
            }
        }
    }
}

fn label(row: &Dif, several: bool) -> String {
    if several { format!("{} · {}", row.item, row.group) } else { row.item.clone() }
}

fn draw(entries: &[(&Dif, Estimate)], size: Size, several: bool, width: Width, description: &str) -> String {
    let w = width.pixels();
    let rows = Rows::new(38.0, entries.len());
    let mut canvas = Canvas::new(w, rows.bottom() + 46.0);
    let room = if width.is_narrow() { 96.0 } else { 180.0 };
    let labels: Vec<String> = entries.iter().map(|(row, _)| label(row, several)).collect();
    let widest = labels.iter().map(|label| text::width(label, TEXT)).fold(24.0, f64::max);
    let (left, right) = (widest.min(room) + 16.0, w - 14.0);
    let estimates: Vec<Estimate> = entries.iter().map(|(_, estimate)| *estimate).collect();
    let (low, high) = rows::domain(&estimates);
    let outer = 1.15 * size.limits()[1];
    let ticks = if width.is_narrow() { 4 } else { 7 };
    let frame = Frame {
        left,
        right,
        top: rows.top,
        bottom: rows.bottom(),
        x: Scale::nice(low.min(-outer), high.max(outer), left, right, ticks),
        y: Scale::linear(0.0, 1.0, 0.0, 1.0),
    };
    canvas.text((left - 8.0, rows.heading()), Anchor::End, Ink::Muted, "Item");
    frame.vertical_grid(&mut canvas, ticks);
    let what = match (size, width.is_narrow()) {
        (Size::Delta, false) => "Difference in difficulty, delta scale (left: harder for the group)",
        (Size::Delta, true) => "Difference, delta scale",
        (Size::Mean, _) => "Difference of means (SDs)",
    };
    frame.horizontal(&mut canvas, what, ticks);
    if rows.far() {
        frame.labels_above(&mut canvas, ticks);
    }
    for at in [0.0].into_iter().chain(size.limits().into_iter().flat_map(|x| [-x, x])) {
        let x = frame.x.at(at);
        let ink = if at == 0.0 { Ink::Text } else { Ink::Muted };
        canvas.line((x, rows.top), (x, rows.bottom()), ink, 1.0);
    }
    for (row, ((dif, estimate), label)) in entries.iter().zip(&labels).enumerate() {
        let ink = if dif.flagged { Ink::Alarm } else { Ink::Accent };
        rows::mark(&mut canvas, &frame, &rows, rows.at(row), *estimate, ink);
        if rows.labelled(row) {
            let name = text::shorten(label, TEXT, room);
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

fn table(rows: &[Dif]) -> Table {
    let headers = [
        "Item",
        "Group",
        "Odds ratio",
        "Delta",
        "χ²",
        "p",
        "p adjusted",
        "Class",
        "Mean difference",
        "Logistic p",
        "ΔR²",
        "Score test",
        "p",
        "LR",
        "p",
        "Expected score",
        "Works differently",
    ];
    let mut table = Table::new("Items by group, compared with the reference group", &headers);
    let mut sorted: Vec<&Dif> = rows.iter().collect();
    let strength = |row: &Dif| row.smd_sd.map_or(0.0, f64::abs);
    sorted.sort_by(|a, b| b.flagged.cmp(&a.flagged).then(strength(b).total_cmp(&strength(a))));
    table.rows.extend(sorted.into_iter().map(|row| {
        let number = |x: Option<f64>, decimals| text::fixed_or_dash(text::finite(x), decimals);
        let logistic = row.logistic.as_ref();
        vec![
            row.item.clone(),
            row.group.clone(),
            number(row.alpha_mh, 2),
            number(row.delta_mh, 2),
            number(row.chi2_cc.or(row.chi2), 2),
            number(row.p, 3),
            number(row.p_adjusted, 3),
            row.ets.clone().unwrap_or_else(|| "–".to_owned()),
            number(row.smd, 3),
            number(logistic.map(|l| l.both_p), 3),
            number(logistic.map(|l| l.delta_r2_uniform + l.delta_r2_nonuniform), 3),
            number(row.score, 2),
            number(row.score_p, 3),
            number(row.lr, 2),
            number(row.lr_p, 3),
            number(row.expected_score_difference, 3),
            if row.flagged { "yes" } else { "no" }.to_owned(),
        ]
    }));
    table
}
