//! Students and items on one scale.

use fedirt_model::fit::Fit;

use crate::canvas::{Anchor, Canvas, Ink, Readout, TEXT};
use crate::figure::{Figure, Table, Width, interval, withheld};
use crate::frame::Frame;
use crate::scale::Scale;
use crate::shape;
use crate::text::{self, finite};

/// The distribution of ability beside the difficulties of the items (of their steps).
pub fn wright_map(fit: &Fit) -> Figure {
    let title = "Wright map".to_owned();
    let steps = steps(fit);
    if steps.is_empty() {
        return Figure::without(
            title,
            "No item has a finite difficulty to be placed beside the students.".to_owned(),
        );
    }
    let map = Map::new(fit, steps);
    let (low, high) = (map.steps[0].b, map.steps[map.steps.len() - 1].b);
    let description = format!(
        "Students by ability beside {} from {} to {}; mean ability is {}, its standard deviation {}.",
        text::counted(map.steps.len() as u64, "item difficulty", "item difficulties"),
        text::reading(low, 2),
        text::reading(high, 2),
        text::reading(fit.latent.mean, 2),
        text::reading(fit.latent.sd, 2)
    );
    let mut figure = Figure::drawn(title, description.clone(), |width| map.draw(width, &description));
    figure.tables.push(map.table());
    figure = if fit.ability_histogram.is_some() {
        figure.note("Students: expected number by ability, after their answers (sum of posteriors).")
    } else {
        figure.note(withheld(&fit.mode, "the distribution of ability among the students"))
    };
    figure = figure.note(
        "Items: difficulty b (name.2 is the second step of an item) with its 95\u{a0}% interval, which is left to the \
         item parameters where intervals would run into each other; counts by bin where names would, too.",
    );
    let outside = map.steps.iter().filter(|s| s.b < map.low || s.b > map.high).count();
    if outside > 0 {
        figure = figure.note(format!(
            "{} outside the picture.",
            text::counted(outside as u64, "difficulty lies", "difficulties lie")
        ));
    }
    figure
}

struct Step {
    label: String,
    b: f64,
    limits: Option<(f64, f64)>,
}

fn steps(fit: &Fit) -> Vec<Step> {
    let mut steps: Vec<Step> = fit
        .items
        .iter()
        .flat_map(|item| {
            item.b.iter().enumerate().filter_map(move |(c, b)| {
                let b = finite(*b)?;
                let label =
                    if item.b.len() == 1 { item.name.clone() } else { format!("{}.{}", item.name, c + 1) };
                Some(Step { label, b, limits: interval(b, item.se_b.get(c).copied().flatten()) })
            })
        })
        .collect();
    steps.sort_by(|x, y| x.b.total_cmp(&y.b));
    steps
}

struct Bin {
    from: f64,
    to: f64,
    students: Option<f64>,
}

struct Map {
    steps: Vec<Step>,
    /// Highest first, as they are drawn.
    bins: Vec<Bin>,
    low: f64,
    high: f64,
}

impl Map {
    fn new(fit: &Fit, steps: Vec<Step>) -> Self {
        let (out_low, out_high) = shape::range(fit);
        let sd = (out_high - out_low) / 8.0;
        let mut bins: Vec<Bin> = match &fit.ability_histogram {
            Some(histogram) => histogram
                .edges
                .windows(2)
                .zip(&histogram.counts)
                .filter(|(edge, count)| edge[1] > edge[0] && count.is_finite())
                .map(|(edge, count)| Bin { from: edge[0], to: edge[1], students: Some(count.max(0.0)) })
                .collect(),
            None => Vec::new(),
        };
        if bins.is_empty() {
            let step = sd / 4.0;
            bins = (0..32)
                .map(|i| out_low + step * f64::from(i))
                .map(|from| Bin { from, to: from + step, students: None })
                .collect();
        }
        let total: f64 = bins.iter().filter_map(|b| b.students).sum();
        let shown = |b: f64| (out_low - 2.0 * sd..=out_high + 2.0 * sd).contains(&b);
        let low = steps.iter().map(|s| s.b).filter(|b| shown(*b)).fold(out_low + sd, f64::min);
        let high = steps.iter().map(|s| s.b).filter(|b| shown(*b)).fold(out_high - sd, f64::max);
        // Bins that hold next to nobody and no item only push the rest together.
        bins.retain(|b| {
            b.students.unwrap_or(0.0) > 5e-4 * total || (b.to > low - 1e-9 && b.from < high + 1e-9)
        });
        bins.reverse();
        let low = bins.last().map_or(low, |b| b.from.min(low));
        let high = bins.first().map_or(high, |b| b.to.max(high));
        Self { steps, bins, low, high }
    }

    fn draw(&self, width: Width, description: &str) -> String {
        let w = width.pixels();
        let (left, right, top) = (38.0, w - 6.0, 50.0);
        let split = left + (right - left) * if width.is_narrow() { 0.25 } else { 0.28 };
        let framed = |h: f64| Frame {
            left,
            right,
            top,
            bottom: h - 12.0,
            x: Scale::linear(0.0, 1.0, left, right),
            y: Scale::linear(self.low, self.high, h - 12.0, top),
        };
        // As high as the names need; apart from each other's intervals if they fit, at least from each
        // other's names if not; counted if neither fits.
        let tries =
            [(520.0, true), (520.0, false), (740.0, true), (740.0, false), (960.0, false), (1200.0, false)];
        let found = tries.iter().find_map(|&(h, intervals)| {
            let offsets = self.columns(&framed(h), right - split - 10.0, intervals)?;
            Some((h, Some((offsets, intervals))))
        });
        let (h, placed) = found.unwrap_or((520.0, None));
        let frame = framed(h);
        let bottom = frame.bottom;
        let mut canvas = Canvas::new(w, h);
        frame.vertical(&mut canvas, "", 9);
        canvas.text((4.0, 15.0), Anchor::Start, Ink::Text, "Ability t and difficulty b");
        canvas.text((split - 10.0, top - 12.0), Anchor::End, Ink::Muted, &self.students_heading(width));
        canvas.text((split + 10.0, top - 12.0), Anchor::Start, Ink::Muted, "Items");
        self.students(&mut canvas, &frame, split);
        canvas.line((split, top), (split, bottom), Ink::Muted, 1.0);
        match placed {
            Some((offsets, intervals)) => self.names(&mut canvas, &frame, split + 12.0, &offsets, intervals),
            None => self.tally(&mut canvas, &frame, split),
        }
        let even =
            self.bins.windows(2).all(|p| ((p[0].to - p[0].from) / (p[1].to - p[1].from) - 1.0).abs() < 1e-6);
        if let (true, Some(first), Some(last)) = (even, self.bins.first(), self.bins.last()) {
            let middle = |bin: &Bin| frame.y.at((bin.from + bin.to) / 2.0);
            let readout =
                Readout { axis: 'y', first: middle(first), last: middle(last), rows: self.bins.len() };
            canvas.readout(readout);
        }
        canvas.finish(description)
    }

    /// Bars need a scale: the length of the longest one.
    fn students_heading(&self, width: Width) -> String {
        let most = self.bins.iter().filter_map(|b| b.students).fold(0.0, f64::max);
        match width {
            _ if most <= 0.0 => "Students not released".to_owned(),
            Width::Wide => format!("Students (at most {})", text::reading(most, 0)),
            Width::Narrow => format!("Students, ≤ {}", text::reading(most, 0)),
        }
    }

    /// Bars by density, so that bins of unequal width do not lie.
    fn students(&self, canvas: &mut Canvas, frame: &Frame, split: f64) {
        let density = |b: &Bin| b.students.unwrap_or(0.0) / (b.to - b.from);
        let most = self.bins.iter().map(density).fold(f64::MIN_POSITIVE, f64::max);
        for bin in self.bins.iter().filter(|b| density(b) > 0.0) {
            let length = (split - frame.left - 8.0) * density(bin) / most;
            let (upper, lower) = (frame.y.at(bin.to) + 0.5, frame.y.at(bin.from) - 0.5);
            canvas.bar((split - length, upper), (split, lower.max(upper + 0.5)), Ink::Muted);
        }
    }

    /// How far right each name stands, in as many columns as fit, such that none covers another; `None` if
    /// they do not fit. Each takes the column that has been free for longest, which spreads them evenly.
    fn columns(&self, frame: &Frame, room: f64, intervals: bool) -> Option<Vec<f64>> {
        let widest =
            self.steps.iter().map(|s| text::width(&s.label, TEXT).min(110.0)).fold(0.0, f64::max) + 18.0;
        let mut floors = vec![f64::INFINITY; (room / widest).floor() as usize];
        let mut offsets = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let y = frame.y.at(step.b);
            let (low, high) = step.limits.filter(|_| intervals).unwrap_or((step.b, step.b));
            let (lowest, highest) = (frame.y.at(low).max(y + 6.5), frame.y.at(high).min(y - 6.5));
            // Beginning at the left: of equally free columns the first.
            let column = (0..floors.len()).rev().max_by(|&c, &e| floors[c].total_cmp(&floors[e]))?;
            if floors[column] < lowest {
                return None;
            }
            floors[column] = highest;
            offsets.push(column as f64 * widest);
        }
        Some(offsets)
    }

    fn names(&self, canvas: &mut Canvas, frame: &Frame, x: f64, offsets: &[f64], intervals: bool) {
        for (step, offset) in self.steps.iter().zip(offsets).filter(|(s, _)| frame.y.holds(s.b)) {
            let (x, y) = (x + offset, frame.y.at(step.b));
            if let Some((low, high)) = step.limits.filter(|_| intervals) {
                canvas.line((x, frame.y.at(low)), (x, frame.y.at(high)), Ink::Accent, 1.0);
            }
            canvas.dot((x, y), 2.6, Ink::Accent);
            canvas.text(
                (x + 6.0, y + 4.0),
                Anchor::Start,
                Ink::Text,
                &text::shorten(&step.label, TEXT, 110.0),
            );
        }
    }

    /// Too many to name: how many difficulties fall into each bin.
    fn tally(&self, canvas: &mut Canvas, frame: &Frame, split: f64) {
        let counts: Vec<usize> = self.bins.iter().map(|bin| self.within(bin).count()).collect();
        let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
        for (bin, &count) in self.bins.iter().zip(&counts).filter(|(_, count)| **count > 0) {
            let (upper, lower) = (frame.y.at(bin.to) + 0.5, frame.y.at(bin.from) - 0.5);
            let end = split + (frame.right - split - 34.0) * count as f64 / most;
            canvas.bar((split, upper), (end, lower.max(upper + 0.5)), Ink::Accent);
            if lower - upper > 8.0 {
                let middle = (upper + lower) / 2.0 + 4.0;
                canvas.text((end + 5.0, middle), Anchor::Start, Ink::Muted, &count.to_string());
            }
        }
    }

    fn within<'a>(&'a self, bin: &'a Bin) -> impl Iterator<Item = &'a Step> {
        self.steps.iter().filter(move |s| s.b >= bin.from && s.b < bin.to)
    }

    fn table(&self) -> Table {
        let mut table = Table::new("Students and difficulties", &["From", "To", "Students", "Items"]);
        for bin in &self.bins {
            let names: Vec<&str> = self.within(bin).map(|s| s.label.as_str()).collect();
            table.rows.push(vec![
                text::fixed(bin.from, 2),
                text::fixed(bin.to, 2),
                text::fixed_or_dash(bin.students, 1),
                names.join(", "),
            ]);
        }
        table
    }
}
