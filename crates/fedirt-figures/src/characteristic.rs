//! Characteristic curves of one item, with the observed shares.

use fedirt_model::fit::{Fit, FitItem};

use crate::canvas::{Anchor, Canvas, Ink, Readout};
use crate::figure::{Figure, Table, Width, withheld};
use crate::frame::{ABILITY, Frame, ticks_across};
use crate::observed::{self, Observed};
use crate::scale::Scale;
use crate::shape::{self, POINTS, Shape};
use crate::text;

/// How to read the observed points.
pub(crate) const ABOUT_POINTS: &str = "Points are observed shares, their area the number of answers, their \
    whiskers 95\u{a0}% (binomial); an answer counts at the abilities its student may have.";

/// The same without whiskers, which would tangle where there are several categories.
pub(crate) const ABOUT_BARE_POINTS: &str = "Points are observed shares, their area the number of answers; an answer counts \
    at the abilities its student may have. Intervals are in the numbers behind this picture.";

/// How to read the band.
pub(crate) const ABOUT_BAND: &str = "The band is the 95\u{a0}% confidence band of the curve.";

/// The curve of each category (of the upper one for binary items) with the observed shares around it.
pub fn characteristic_curves(fit: &Fit, item: usize) -> Figure {
    let Some(own) = fit.items.get(item) else {
        return Figure::without(
            "Characteristic curves".to_owned(),
            "There is no such item in this fit.".to_owned(),
        );
    };
    let title = format!("Characteristic curves of {}", own.name);
    let grid = shape::grid(fit, POINTS);
    let Some(shape) = shape::shape(own, &grid) else {
        return Figure::without(title, shape::no_estimates(own));
    };
    let points = observed::points(fit, item);
    let plot = Plot { fit, item: own, shape: &shape, grid: &grid, points: points.as_deref().unwrap_or(&[]) };
    let description = describe(own);
    let mut figure = Figure::drawn(title, description.clone(), |width| plot.draw(width, &description))
        .table(model_table(own, &grid, &shape));
    if let Some(points) = &points {
        figure = figure
            .note(if own.categories == 2 { ABOUT_POINTS } else { ABOUT_BARE_POINTS })
            .table(observed_table(own, points));
    } else {
        figure = figure.note(withheld(&fit.mode, "observed shares by ability"));
    }
    if shape::band(own).is_some() {
        figure = figure.note(ABOUT_BAND);
    }
    figure
}

fn describe(item: &FitItem) -> String {
    let numbers = |values: &[Option<f64>]| {
        values
            .iter()
            .map(|v| v.map_or_else(|| "not known".into(), |v| text::reading(v, 2)))
            .collect::<Vec<_>>()
    };
    let a = item.a.map_or_else(|| "not known".into(), |a| text::reading(a, 2));
    let what = if item.categories == 2 {
        format!("Probability of answer {} to item {}", item.category_name(1), item.name)
    } else {
        format!("Probability of each of the {} categories of item {}", item.categories, item.name)
    };
    format!("{what} by ability: slope {a}, difficulty {}.", text::listed(&numbers(&item.b)))
}

/// The categories that are drawn: of two, the upper one says everything.
fn drawn(categories: usize) -> std::ops::Range<usize> {
    if categories == 2 { 1..2 } else { 0..categories }
}

struct Plot<'a> {
    fit: &'a Fit,
    item: &'a FitItem,
    shape: &'a Shape,
    grid: &'a [f64],
    points: &'a [Observed],
}

impl Plot<'_> {
    fn draw(&self, width: Width, description: &str) -> String {
        let (w, h) = (width.pixels(), if width.is_narrow() { 300.0 } else { 380.0 });
        let mut canvas = Canvas::new(w, h);
        let (low, high) = shape::range(self.fit);
        let (left, right, top, bottom) = (38.0, w - 14.0, 34.0, h - 46.0);
        let frame = Frame {
            left,
            right,
            top,
            bottom,
            x: Scale::linear(low, high, left, right),
            y: Scale::linear(0.0, 1.0, bottom, top),
        };
        let name = if self.item.categories == 2 {
            format!("Probability of answer {}", self.item.category_name(1))
        } else {
            "Probability of each category".to_owned()
        };
        frame.vertical(&mut canvas, &name, 5);
        frame.horizontal(&mut canvas, ABILITY, ticks_across(width));
        frame.announce(&mut canvas);
        canvas.readout(Readout { axis: 'x', first: left, last: right, rows: self.grid.len() });
        canvas.group("marks");
        self.marks(&mut canvas, &frame);
        canvas.end_group();
        canvas.finish(description)
    }

    fn marks(&self, canvas: &mut Canvas, frame: &Frame) {
        let categories = self.item.categories;
        if let Some((psi, covariance)) = shape::band(self.item) {
            let limits: Vec<(f64, f64)> =
                self.grid.iter().map(|&t| shape::limits(psi, covariance, t)).collect();
            let line = |pick: fn(&(f64, f64)) -> f64| {
                frame.points(self.grid, &limits.iter().map(pick).collect::<Vec<_>>())
            };
            canvas.band(&line(|l| l.0), &line(|l| l.1), Ink::Accent);
        }
        for c in drawn(categories) {
            canvas.curve(
                &frame.points(self.grid, &self.shape.probability[c]),
                Ink::category(c, categories),
                2.0,
            );
        }
        for c in drawn(categories) {
            self.observed(canvas, frame, c);
        }
        if categories == 2 {
            self.difficulty(canvas, frame);
        } else {
            self.labels(canvas, frame);
        }
    }

    fn observed(&self, canvas: &mut Canvas, frame: &Frame, c: usize) {
        let categories = self.item.categories;
        let largest = if categories == 2 { 6.5 } else { 4.5 };
        let most = self.points.iter().map(|p| p.weight).fold(f64::MIN_POSITIVE, f64::max);
        let ink = Ink::category(c, categories);
        for point in self.points {
            let (x, share) = (frame.x.at(point.ability), point.shares[c]);
            if categories == 2 {
                let (low, high) = observed::limits(share, point.weight);
                canvas.line((x, frame.y.at(low)), (x, frame.y.at(high)), ink, 0.8);
            }
            canvas.ring((x, frame.y.at(share)), (largest * (point.weight / most).sqrt()).max(1.2), ink);
        }
    }

    /// Where the curve crosses one half.
    fn difficulty(&self, canvas: &mut Canvas, frame: &Frame) {
        let Some(b) = self.item.b.first().copied().and_then(text::finite).filter(|b| frame.x.holds(*b))
        else {
            return;
        };
        let (x, half) = (frame.x.at(b), frame.y.at(0.5));
        canvas.dashed((x, half), (x, frame.bottom), Ink::Text, 1.0, "3 3");
        let label = format!("b = {}", text::reading(b, 2));
        let (at, anchor) =
            if x > frame.right - 80.0 { (x - 6.0, Anchor::End) } else { (x + 6.0, Anchor::Start) };
        canvas.label((at, frame.bottom - 8.0), anchor, Ink::Text, &label);
    }

    /// Each category's name at the top of its curve, a little aside if another name is there already.
    fn labels(&self, canvas: &mut Canvas, frame: &Frame) {
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for (c, p) in self.shape.probability.iter().enumerate() {
            let curve = frame.points(self.grid, p);
            let mut order: Vec<usize> = (2..curve.len().saturating_sub(2)).collect();
            order.sort_by(|&m, &n| p[n].total_cmp(&p[m]));
            let free = |&&n: &&usize| {
                let (x, y) = curve[n];
                taken.iter().all(|(u, v)| (x - u).abs() > 26.0 || (y - v).abs() > 15.0)
            };
            let Some(&n) = order.iter().find(free).or(order.first()) else { continue };
            taken.push(curve[n]);
            // Under the curve where there is no room above.
            let (x, y) = curve[n];
            let at = (x, if y < frame.top + 18.0 { y + 17.0 } else { y - 7.0 });
            canvas.label(at, Anchor::Middle, Ink::category(c, p.len()), &self.item.category_name(c));
        }
    }
}

fn model_table(item: &FitItem, grid: &[f64], shape: &Shape) -> Table {
    let shown = drawn(item.categories);
    let mut table = Table::new("Model", &["Ability"]);
    table.headers.extend(shown.clone().map(|c| format!("P(x = {})", item.category_name(c))));
    for (n, t) in grid.iter().enumerate() {
        let cells = shown.clone().map(|c| text::fixed(shape.probability[c][n], 3));
        table.rows.push(std::iter::once(text::fixed(*t, 2)).chain(cells).collect());
    }
    table
}

fn observed_table(item: &FitItem, points: &[Observed]) -> Table {
    let shown = drawn(item.categories);
    let mut table = Table::new("Observed", &["Ability", "Answers"]);
    for c in shown.clone() {
        table.headers.push(format!("Share of {}", item.category_name(c)));
        table.headers.push("95\u{a0}% from".to_owned());
        table.headers.push("to".to_owned());
    }
    for point in points {
        let mut row = vec![text::fixed(point.ability, 2), text::fixed(point.weight, 1)];
        for c in shown.clone() {
            let (low, high) = observed::limits(point.shares[c], point.weight);
            row.extend([point.shares[c], low, high].map(|v| text::fixed(v, 3)));
        }
        table.rows.push(row);
    }
    table
}
