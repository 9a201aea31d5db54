//! Curves of several items on one picture, each with its name beside it.

use fedirt_model::fit::Fit;

use crate::canvas::{Anchor, Canvas, Ink, Readout};
use crate::figure::{Figure, Table, Width};
use crate::frame::{ABILITY, Frame, ticks_across};
use crate::scale::Scale;
use crate::shape::{self, POINTS};
use crate::text;

/// Most items on one picture: more names and colours than this nobody tells apart.
pub const MOST_OVERLAID: usize = 8;

/// The expected scores of these items (their indices) as shares of the highest one; for items of two categories the
/// probability of the upper answer. Items without curves and those behind the eighth are left out.
pub fn item_overlay(fit: &Fit, items: &[usize]) -> Figure {
    let title = "Several items".to_owned();
    let grid = shape::grid(fit, POINTS);
    let curves: Vec<(&str, Vec<f64>)> = items
        .iter()
        .filter_map(|&index| {
            let item = fit.items.get(index)?;
            let highest = item.categories.max(2) as f64 - 1.0;
            let expected = shape::shape(item, &grid)?.expected;
            Some((item.name.as_str(), expected.iter().map(|e| e / highest).collect()))
        })
        .take(MOST_OVERLAID)
        .collect();
    if curves.is_empty() {
        return Figure::without(title, "None of these items has finite estimates.".to_owned());
    }
    let names: Vec<String> = curves.iter().map(|(name, _)| (*name).to_owned()).collect();
    let description = format!("Expected scores by ability of {}.", text::listed(&names));
    let mut table = Table::new("Expected scores, as shares of the highest", &["Ability"]);
    table.headers.extend(names);
    table.rows = grid
        .iter()
        .enumerate()
        .map(|(n, t)| {
            let cells = curves.iter().map(|(_, curve)| text::fixed(curve[n], 3));
            std::iter::once(text::fixed(*t, 2)).chain(cells).collect()
        })
        .collect();
    Figure::drawn(title, description.clone(), |width| draw(fit, &grid, &curves, width, &description))
        .note(
            "The expected score as a share of the highest one; of items with two categories it is the probability of the upper \
             answer.",
        )
        .table(table)
}

fn draw(fit: &Fit, grid: &[f64], curves: &[(&str, Vec<f64>)], width: Width, description: &str) -> String {
    let (w, h) = (width.pixels(), if width.is_narrow() { 320.0 } else { 420.0 });
    let mut canvas = Canvas::new(w, h);
    let (low, high) = shape::range(fit);
    let (left, right, top, bottom) = (38.0, w - 14.0, 34.0, h - 46.0);
    let frame = Frame {
        left,
        right,
        top,
        bottom,
        x: Scale::linear(low, high, left, right),
        y: Scale::linear(0.0, 1.0, bottom, top),
    };
    frame.vertical(&mut canvas, "Expected score, share of the highest", 5);
    frame.horizontal(&mut canvas, ABILITY, ticks_across(width));
    frame.announce(&mut canvas);
    canvas.readout(Readout { axis: 'x', first: left, last: right, rows: grid.len() });
    canvas.group("marks");
    for (n, (_, curve)) in curves.iter().enumerate() {
        canvas.curve(&frame.points(grid, curve), Ink::Series(n), 2.0);
    }
    for (n, at) in places(grid.len(), curves).into_iter().enumerate() {
        let point = (frame.x.at(grid[at]), frame.y.at(curves[n].1[at]));
        canvas.label((point.0, point.1 + 4.0), Anchor::Middle, Ink::Series(n), curves[n].0);
    }
    canvas.end_group();
    canvas.finish(description)
}

/// Where each name stands on its curve: as far as can be from other curves and from names that stand already.
fn places(points: usize, curves: &[(&str, Vec<f64>)]) -> Vec<usize> {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut out = Vec::new();
    for (n, (_, curve)) in curves.iter().enumerate() {
        // Distances in units of a name: about an eighth of the width, a twentieth of the height.
        let room = |at: usize| {
            let names = taken.iter().map(|(x, y)| {
                (((at as f64 / points as f64 - x) / 0.125).powi(2) + ((curve[at] - y) / 0.05).powi(2)).sqrt()
            });
            let others = curves.iter().enumerate().filter(|(m, _)| *m != n);
            let beside = others.map(|(_, (_, other))| ((curve[at] - other[at]) / 0.05).abs());
            names.chain(beside).fold(3.0, f64::min)
        };
        let inside = (points / 8..points - points / 8).filter(|&at| (0.06..0.94).contains(&curve[at]));
        let best = inside.max_by(|&a, &b| room(a).total_cmp(&room(b))).unwrap_or(points / 2);
        taken.push((best as f64 / points as f64, curve[best]));
        out.push(best);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn names_stand_on_their_curves_and_apart() {
        let curve = |b: f64| -> Vec<f64> {
            (0..81).map(|n| 1.0 / (1.0 + (-1.5 * (f64::from(n) * 0.1 - 4.0 - b)).exp())).collect()
        };
        let curves: Vec<(&str, Vec<f64>)> =
            (0..8).map(|k| ("item", curve(0.4 * f64::from(k) - 1.4))).collect();
        let at = places(81, &curves);
        for (n, one) in at.iter().enumerate() {
            for (m, other) in at.iter().enumerate().skip(n + 1) {
                let apart =
                    (curves[n].1[*one] - curves[m].1[*other]).abs() > 0.03 || one.abs_diff(*other) >= 5;
                assert!(apart, "{n} at {one} and {m} at {other}");
            }
        }
    }
}
