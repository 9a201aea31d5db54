//! The test characteristic curve: the expected sum score by ability.

use fedirt_model::fit::Fit;

use crate::canvas::{Canvas, Ink, Readout};
use crate::figure::{Figure, Table, Width, Z};
use crate::frame::{ABILITY, Frame, ticks_across};
use crate::scale::Scale;
use crate::shape::{self, POINTS, Shape};
use crate::text;

/// Expected sum score over all items by ability, with the band in which 95 % of single scores fall.
pub fn expected_score(fit: &Fit) -> Figure {
    let title = "Expected score".to_owned();
    let grid = shape::grid(fit, POINTS);
    let shapes: Vec<Shape> = fit.items.iter().filter_map(|item| shape::shape(item, &grid)).collect();
    if shapes.is_empty() {
        return Figure::without(
            title,
            "No item has finite estimates, so there is no expected score.".to_owned(),
        );
    }
    let most: f64 = shapes.iter().map(|shape| (shape.probability.len() - 1) as f64).sum();
    let sum = |of: fn(&Shape) -> &Vec<f64>| -> Vec<f64> {
        (0..grid.len()).map(|n| shapes.iter().map(|shape| of(shape)[n]).sum()).collect()
    };
    let curve =
        Score { expected: sum(|s| &s.expected), sd: sum(|s| &s.variance).iter().map(|v| v.sqrt()).collect() };
    let description = format!(
        "Expected sum score of {} by ability, from 0 to {most}; at the mean ability it is {}.",
        text::counted(shapes.len() as u64, "item", "items"),
        text::reading(curve.expected[POINTS / 2], 1)
    );
    let mut table = Table::new("Expected score", &["Ability", "Expected score", "SD of a score"]);
    table.rows = (0..grid.len())
        .map(|n| {
            vec![text::fixed(grid[n], 2), text::fixed(curve.expected[n], 2), text::fixed(curve.sd[n], 2)]
        })
        .collect();
    Figure::drawn(title, description.clone(), |width| curve.draw(fit, width, &grid, most, &description))
        .table(table)
        .note("The band holds about 95\u{a0}% of the sum scores of persons with that ability who answer every item.")
}

struct Score {
    expected: Vec<f64>,
    sd: Vec<f64>,
}

impl Score {
    fn draw(&self, fit: &Fit, width: Width, grid: &[f64], most: f64, description: &str) -> String {
        let (w, h) = (width.pixels(), if width.is_narrow() { 320.0 } else { 430.0 });
        let mut canvas = Canvas::new(w, h);
        let (low, high) = shape::range(fit);
        let (left, right, top, bottom) = (46.0, w - 14.0, 34.0, h - 46.0);
        let frame = Frame {
            left,
            right,
            top,
            bottom,
            x: Scale::linear(low, high, left, right),
            y: Scale::linear(0.0, most, bottom, top),
        };
        frame.vertical(&mut canvas, &format!("Expected sum score (0 to {most})"), 6);
        let limit = |sign: f64| {
            let at = |n: usize| (self.expected[n] + sign * Z * self.sd[n]).clamp(0.0, most);
            frame.points(grid, &(0..grid.len()).map(at).collect::<Vec<_>>())
        };
        canvas.band(&limit(-1.0), &limit(1.0), Ink::Accent);
        canvas.curve(&frame.points(grid, &self.expected), Ink::Accent, 2.0);
        frame.horizontal(&mut canvas, ABILITY, ticks_across(width));
        frame.announce(&mut canvas);
        canvas.readout(Readout { axis: 'x', first: left, last: right, rows: grid.len() });
        canvas.finish(description)
    }
}
