//! Information about ability: of one item, and of the test with its standard error.

use fedirt_model::fit::Fit;

use crate::canvas::{Anchor, Canvas, Ink, Readout};
use crate::figure::{Figure, Table, Width};
use crate::frame::{ABILITY, Frame, ticks_across};
use crate::scale::Scale;
use crate::shape::{self, POINTS, Shape};
use crate::text;

/// Fisher information of one item about ability.
pub fn item_information(fit: &Fit, item: usize) -> Figure {
    let Some(own) = fit.items.get(item) else {
        return Figure::without(
            "Item information".to_owned(),
            "There is no such item in this fit.".to_owned(),
        );
    };
    let title = format!("Information of {}", own.name);
    let grid = shape::grid(fit, POINTS);
    let Some(shape) = shape::shape(own, &grid) else {
        return Figure::without(title, shape::no_estimates(own));
    };
    let (best, top) = peak(&grid, &shape.information);
    let description = format!(
        "Fisher information of item {} by ability: at most {} at ability {}.",
        own.name,
        text::reading(top, 2),
        text::reading(best, 2)
    );
    let mut table = Table::new("Information", &["Ability", "Information"]);
    table.rows = grid
        .iter()
        .zip(&shape.information)
        .map(|(t, i)| vec![text::fixed(*t, 2), text::fixed(*i, 3)])
        .collect();
    Figure::drawn(title, description.clone(), |width| {
        let (w, h) = (width.pixels(), if width.is_narrow() { 300.0 } else { 380.0 });
        let mut canvas = Canvas::new(w, h);
        let frame = frame(fit, &shape.information, w, 34.0, h - 46.0, 5);
        frame.vertical(&mut canvas, "Information about ability", 5);
        frame.horizontal(&mut canvas, ABILITY, ticks_across(width));
        frame.announce(&mut canvas);
        canvas.readout(Readout { axis: 'x', first: frame.left, last: frame.right, rows: grid.len() });
        canvas.group("marks");
        canvas.curve(&frame.points(&grid, &shape.information), Ink::Accent, 2.0);
        canvas.end_group();
        canvas.finish(&description)
    })
    .table(table)
    .note("The vertical axis is the item's own: it changes from item to item.")
}

/// Sum of the items' information, and SE(t) = 1/√I(t), the standard error of an ability from all items.
pub fn test_information(fit: &Fit) -> Figure {
    let title = "Test information and standard error".to_owned();
    let grid = shape::grid(fit, POINTS);
    let shapes: Vec<Shape> = fit.items.iter().filter_map(|item| shape::shape(item, &grid)).collect();
    if shapes.is_empty() {
        return Figure::without(
            title,
            "No item has finite estimates, so there is no information.".to_owned(),
        );
    }
    let information: Vec<f64> =
        (0..grid.len()).map(|n| shapes.iter().map(|shape| shape.information[n]).sum()).collect();
    let se: Vec<f64> = information.iter().map(|i| 1.0 / i.max(f64::MIN_POSITIVE).sqrt()).collect();
    let (best, top) = peak(&grid, &information);
    let description = format!(
        "Information of {} by ability, at most {} at ability {}, where the standard error of ability is {}.",
        text::counted(shapes.len() as u64, "item", "items"),
        text::reading(top, 2),
        text::reading(best, 2),
        text::reading(1.0 / top.max(f64::MIN_POSITIVE).sqrt(), 2)
    );
    let mut table = Table::new("Test information", &["Ability", "Information", "SE"]);
    table.rows = (0..grid.len())
        .map(|n| vec![text::fixed(grid[n], 2), text::fixed(information[n], 3), text::fixed(se[n], 3)])
        .collect();
    let left_out = fit.items.len() - shapes.len();
    let mut figure = Figure::drawn(title, description.clone(), |width| {
        draw_test(fit, width, &grid, &information, &se, &description)
    })
    .table(table)
    .note("SE is the standard error of an ability estimated from answers to all items, 1/√I.");
    if left_out > 0 {
        figure = figure.note(format!(
            "Left out: {} without finite estimates.",
            text::counted(left_out as u64, "item", "items")
        ));
    }
    figure
}

/// Two panels over one ability axis: two quantities on one pair of axes would invite a false crossing.
fn draw_test(fit: &Fit, width: Width, grid: &[f64], information: &[f64], se: &[f64], words: &str) -> String {
    let (w, h) = (width.pixels(), 430.0);
    let mut canvas = Canvas::new(w, h);
    let upper = frame(fit, information, w, 34.0, 196.0, 4);
    upper.vertical(&mut canvas, "Information", 4);
    canvas.curve(&upper.points(grid, information), Ink::Accent, 2.0);
    // Far out the error grows without bound; the axis ends at 1.5 times the latent SD, and the curve leaves it.
    let (low, high) = shape::range(fit);
    let shown: Vec<f64> = se.iter().copied().filter(|s| *s <= (high - low) / 8.0 * 1.5).collect();
    let cap = shown.iter().copied().fold(0.0, f64::max);
    let cap = if cap > 0.0 { cap } else { se.iter().copied().fold(f64::INFINITY, f64::min) * 2.0 };
    let lower = Frame {
        top: 240.0,
        bottom: h - 46.0,
        y: Scale::nice(0.0, cap, h - 46.0, 240.0, 3),
        ..frame(fit, se, w, 240.0, h - 46.0, 3)
    };
    lower.vertical(&mut canvas, "Standard error of ability", 3);
    let inside: Vec<f64> = se.iter().map(|s| if lower.y.holds(*s) { *s } else { f64::NAN }).collect();
    canvas.curve(&lower.points(grid, &inside), Ink::Accent, 2.0);
    if inside.iter().any(|s| s.is_nan()) {
        let side =
            if inside[0].is_nan() { (lower.left + 4.0, Anchor::Start) } else { (lower.right, Anchor::End) };
        canvas.label((side.0, lower.top + 4.0), side.1, Ink::Muted, "above the axis");
    }
    lower.horizontal(&mut canvas, ABILITY, ticks_across(width));
    canvas.readout(Readout { axis: 'x', first: lower.left, last: lower.right, rows: grid.len() });
    lower.announce(&mut canvas);
    canvas.finish(words)
}

/// A frame from zero: information has a meaning at zero, so its axis begins there.
fn frame(fit: &Fit, values: &[f64], w: f64, top: f64, bottom: f64, ticks: usize) -> Frame {
    let (low, high) = shape::range(fit);
    let most = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    let (left, right) = (46.0, w - 14.0);
    Frame {
        left,
        right,
        top,
        bottom,
        x: Scale::linear(low, high, left, right),
        y: Scale::nice(0.0, if most > 0.0 { most } else { 1.0 }, bottom, top, ticks),
    }
}

fn peak(grid: &[f64], values: &[f64]) -> (f64, f64) {
    grid.iter()
        .zip(values)
        .fold((0.0, f64::NEG_INFINITY), |best, (&t, &v)| if v > best.1 { (t, v) } else { best })
}
