//! Students and items on one scale (Wright & Masters 1982): students left, a column for each item, its thresholds stacked.

use fedirt_model::fit::Fit;

use crate::canvas::{Anchor, Canvas, Ink, Readout};
use crate::figure::{Figure, Table, Width, interval, withheld};
use crate::frame::Frame;
use crate::scale::Scale;
use crate::shape;
use crate::text::{self, finite};

/// Most columns of a panel: with more, names would run into each other.
const MOST_COLUMNS: [usize; 2] = [60, 20];

/// The distribution of ability beside the difficulties of the items (of their steps), the easiest item first.
pub fn wright_map(fit: &Fit) -> Figure {
    let title = "Wright map".to_owned();
    let columns = columns(fit);
    if columns.is_empty() {
        return Figure::without(
            title,
            "No item has a finite difficulty to be placed beside the students.".to_owned(),
        );
    }
    let map = Map::new(fit, columns);
    let all = || map.columns.iter().flat_map(|column| &column.steps);
    let (low, high) =
        all().map(|step| step.b).fold((f64::MAX, f64::MIN), |(low, high), b| (low.min(b), high.max(b)));
    let description = format!(
        "Students by ability beside {} of {} from {} to {}; mean ability is {}, its standard deviation {}.",
        text::counted(all().count() as u64, "difficulty", "difficulties"),
        text::counted(map.columns.len() as u64, "item", "items"),
        text::reading(low, 2),
        text::reading(high, 2),
        text::reading(fit.latent.mean, 2),
        text::reading(fit.latent.sd, 2)
    );
    let mut figure = Figure::drawn(title, description.clone(), |width| map.draw(width, &description));
    figure.tables.push(map.bins_table());
    figure = if fit.ability_histogram.is_some() {
        figure.note("Students: expected number by ability, after their answers (sum of posteriors).")
    } else {
        figure.note(withheld(&fit.mode, "the distribution of ability among the students"))
    };
    figure = figure.note(if map.columns.iter().any(|column| column.steps.len() > 1) {
        "Items from the easiest to the hardest on average, each with the difficulties of its steps by their numbers. The dashed \
         line is the mean of ability."
    } else {
        "Items from the easiest to the hardest, with 95\u{a0}% intervals. The dashed line is the mean of ability."
    });
    let outside = all().filter(|step| step.b < map.low || step.b > map.high).count();
    if outside > 0 {
        figure = figure.note(format!(
            "{} outside the picture.",
            text::counted(outside as u64, "difficulty lies", "difficulties lie")
        ));
    }
    figure
}

struct Step {
    /// From 1.
    number: usize,
    b: f64,
    se: Option<f64>,
}

/// An item and the difficulties of its steps.
struct Column {
    name: String,
    steps: Vec<Step>,
}

impl Column {
    fn mean(&self) -> f64 {
        self.steps.iter().map(|step| step.b).sum::<f64>() / self.steps.len() as f64
    }
}

fn columns(fit: &Fit) -> Vec<Column> {
    let column = |item: &fedirt_model::fit::FitItem| {
        let step = |(c, b): (usize, &Option<f64>)| {
            let se = item.se_b.get(c).copied().flatten();
            Some(Step { number: c + 1, b: finite(*b)?, se })
        };
        let steps: Vec<Step> = item.b.iter().enumerate().filter_map(step).collect();
        (!steps.is_empty()).then(|| Column { name: item.name.clone(), steps })
    };
    let mut columns: Vec<Column> = fit.items.iter().filter_map(column).collect();
    columns.sort_by(|one, other| one.mean().total_cmp(&other.mean()));
    columns
}

struct Bin {
    from: f64,
    to: f64,
    students: Option<f64>,
}

struct Map {
    columns: Vec<Column>,
    /// Highest first, as they are drawn.
    bins: Vec<Bin>,
    low: f64,
    high: f64,
    mean: f64,
}

/// Where the parts of a panel stand.
struct Panel {
    frame: Frame,
    /// Between students and items.
    split: f64,
    /// Width of an item's column.
    step: f64,
}

impl Map {
    fn new(fit: &Fit, columns: Vec<Column>) -> Self {
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
        let shown = |b: &f64| (out_low - 2.0 * sd..=out_high + 2.0 * sd).contains(b);
        let all = || columns.iter().flat_map(|column| &column.steps).map(|step| step.b).filter(shown);
        let low = all().fold(out_low + sd, f64::min);
        let high = all().fold(out_high - sd, f64::max);
        // Bins that hold next to nobody and no item only push the rest together.
        bins.retain(|b| {
            b.students.unwrap_or(0.0) > 5e-4 * total || (b.to > low - 1e-9 && b.from < high + 1e-9)
        });
        bins.reverse();
        let low = bins.last().map_or(low, |b| b.from.min(low));
        let high = bins.first().map_or(high, |b| b.to.max(high));
        Self { columns, bins, low, high, mean: fit.latent.mean }
    }

    /// As many panels of equal width as are needed, one below the other, all with the same scale and the same students.
    fn draw(&self, width: Width, description: &str) -> String {
        let narrow = width.is_narrow();
        let panels = self.columns.len().div_ceil(MOST_COLUMNS[usize::from(narrow)]);
        let wide = self.columns.len().div_ceil(panels);
        let split = if narrow { 96.0 } else { 190.0 };
        // Columns as wide as the page allows, and never so narrow that names touch.
        let step =
            ((width.pixels() - split - 16.0) / wide as f64).clamp(if narrow { 12.5 } else { 14.0 }, 44.0);
        let w = (split + 16.0 + step * wide as f64).max(width.pixels());
        let name_room = self.columns.iter().map(|c| text::width(&c.name, NAME)).fold(0.0, f64::max).min(84.0);
        let (plot, above) = (if panels == 1 { 400.0 } else { 300.0 }, 44.0);
        let height = above + plot + name_room + 26.0;
        let mut canvas = Canvas::new(w, height * panels as f64);
        canvas.text((4.0, 15.0), Anchor::Start, Ink::Text, "Ability t and difficulty b");
        for (n, columns) in self.columns.chunks(wide).enumerate() {
            let top = height * n as f64 + above;
            let frame = Frame {
                left: 38.0,
                right: w - 6.0,
                top,
                bottom: top + plot,
                x: Scale::linear(0.0, 1.0, 38.0, w - 6.0),
                y: Scale::linear(self.low, self.high, top + plot, top),
            };
            self.panel(&mut canvas, &Panel { frame, split, step }, columns, width);
        }
        let even =
            self.bins.windows(2).all(|p| ((p[0].to - p[0].from) / (p[1].to - p[1].from) - 1.0).abs() < 1e-6);
        if let (1, true, Some(first), Some(last)) = (panels, even, self.bins.first(), self.bins.last()) {
            let y = Scale::linear(self.low, self.high, above + plot, above);
            let middle = |bin: &Bin| y.at((bin.from + bin.to) / 2.0);
            canvas.readout(Readout {
                axis: 'y',
                first: middle(first),
                last: middle(last),
                rows: self.bins.len(),
            });
        }
        canvas.finish(description)
    }

    fn panel(&self, canvas: &mut Canvas, panel: &Panel, columns: &[Column], width: Width) {
        let Panel { frame, split, step } = panel;
        frame.vertical(canvas, "", 9);
        canvas.text((split - 8.0, frame.top - 6.0), Anchor::End, Ink::Muted, &self.students_heading(width));
        self.students(canvas, frame, *split);
        canvas.line((*split, frame.top), (*split, frame.bottom), Ink::Muted, 1.0);
        if frame.y.holds(self.mean) {
            let y = frame.y.at(self.mean);
            canvas.dashed((*split, y), (frame.right, y), Ink::Muted, 1.0, "3 3");
        }
        let place = |n: usize| split + 8.0 + step * (n as f64 + 0.5);
        let inside = |b: f64| frame.y.at(b.clamp(self.low, self.high));
        // The interval of a single difficulty, or the line on which several stand.
        let line = |(n, column): (usize, &Column)| match &column.steps[..] {
            [only] => interval(only.b, only.se).map(|(low, high)| (place(n), inside(high), inside(low))),
            several => {
                let ends = several.iter().map(|step| inside(step.b));
                let (top, bottom) = ends.fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(y), b.max(y)));
                Some((place(n), top, bottom))
            }
        };
        canvas.uprights(columns.iter().enumerate().filter_map(line), Ink::Muted, 0.8);
        for (n, column) in columns.iter().enumerate() {
            if let [only] = &column.steps[..]
                && frame.y.holds(only.b)
            {
                canvas.dot((place(n), frame.y.at(only.b)), 3.2, Ink::Accent);
            }
        }
        let most = columns.iter().map(|column| column.steps.len()).max().unwrap_or(1);
        for number in 1..=most {
            let name = number.to_string();
            let of = |(n, column): (usize, &Column)| {
                let step = column.steps.iter().find(|step| step.number == number && frame.y.holds(step.b))?;
                (column.steps.len() > 1).then(|| (place(n), frame.y.at(step.b) + 4.0))
            };
            let points: Vec<(f64, f64)> = columns.iter().enumerate().filter_map(of).collect();
            if !points.is_empty() {
                let ink = Ink::category(number, most + 1);
                canvas.labels(ink, points.into_iter().map(|at| (at, name.as_str())));
            }
        }
        let names: Vec<String> = columns.iter().map(|c| text::shorten(&c.name, NAME, 84.0)).collect();
        let texts = names.iter().enumerate();
        canvas.upwards(
            NAME,
            Ink::Text,
            texts.map(|(n, name)| ((place(n) + 3.8, frame.bottom + 8.0), name.as_str())),
        );
    }

    /// Bars need a scale: the length of the longest one.
    fn students_heading(&self, width: Width) -> String {
        let most = self.bins.iter().filter_map(|b| b.students).fold(0.0, f64::max);
        match width {
            Width::Wide if most <= 0.0 => "Students not released".to_owned(),
            Width::Narrow if most <= 0.0 => "Not released".to_owned(),
            Width::Wide => format!("Students (at most {})", text::reading(most, 0)),
            Width::Narrow => format!("≤ {}", text::reading(most, 0)),
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

    /// What a difficulty is called in the table by ability: name.2 is the second step.
    fn labels(&self) -> impl Iterator<Item = (f64, String)> {
        self.columns.iter().flat_map(|column| {
            column.steps.iter().map(|step| match column.steps.len() {
                1 => (step.b, column.name.clone()),
                _ => (step.b, format!("{}.{}", column.name, step.number)),
            })
        })
    }

    fn bins_table(&self) -> Table {
        let mut table = Table::new("Students and difficulties", &["From", "To", "Students", "Items"]);
        for bin in &self.bins {
            let within = |(b, _): &(f64, String)| *b >= bin.from && *b < bin.to;
            let names: Vec<String> = self.labels().filter(within).map(|(_, label)| label).collect();
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

/// Size of the items' names.
const NAME: f64 = 11.0;
