//! The drawing of small multiples.

use super::range::{Range, bar};
use super::{PanelPoint, Panels};
use crate::canvas::{Anchor, Canvas, Ink, TEXT};
use crate::figure::Width;
use crate::frame::Frame;
use crate::marker::{self, Legend};
use crate::scale::Scale;
use crate::text;

/// Room for the labels of the vertical axis.
const LEFT: f64 = 52.0;
const GAP: f64 = 16.0;
const TICKS: usize = 4;

/// Panels side by side: as many as stay legible, the rest in further lines.
struct Layout {
    width: f64,
    per_line: usize,
    panel: (f64, f64),
    narrow: bool,
}

impl Layout {
    fn new(columns: usize, width: Width) -> Self {
        let columns = columns.max(1);
        let (whole, most) = if width.is_narrow() {
            (width.pixels(), 2)
        } else {
            ((120.0 + 200.0 * columns as f64).clamp(width.pixels(), 900.0), 5)
        };
        // Lines of equal length, as far as that goes.
        let per_line = columns.div_ceil(columns.div_ceil(most));
        let across = (whole - LEFT - 8.0 - GAP * (per_line - 1) as f64) / per_line as f64;
        let tall = if width.is_narrow() { 130.0 } else { (0.8 * across).clamp(140.0, 260.0) };
        Self { width: whole, per_line, panel: (across, tall), narrow: width.is_narrow() }
    }

    fn lines(&self, columns: usize) -> usize {
        columns.div_ceil(self.per_line)
    }
}

pub(super) fn draw(panels: &Panels, points: &[PanelPoint], ranges: &[Range], width: Width) -> String {
    let columns = panels.columns.len();
    let layout = Layout::new(columns, width);
    let legend = Legend::new(&panels.series[..panels.series.len().min(marker::MOST)], layout.width - 8.0);
    let wrapped = layout.lines(columns) > 1;
    let headed = panels.columns.iter().any(|heading| !heading.is_empty());
    let mut y = legend.height() + 4.0;
    let mut places = Vec::new();
    for row in 0..panels.rows.len() {
        y += 20.0;
        let label = y;
        for line in 0..layout.lines(columns) {
            y += if headed && (row == 0 || wrapped) { 28.0 } else { 10.0 };
            places.push((row, line, label, y));
            // Ticks are named under every line of a wrapped row, otherwise under the last row alone.
            y += layout.panel.1 + if wrapped || row + 1 == panels.rows.len() { 22.0 } else { 8.0 };
        }
    }
    let mut canvas = Canvas::new(layout.width, y + 22.0);
    legend.draw(&mut canvas, 4.0, 2.0);
    for (row, line, label, top) in places {
        if line == 0 {
            let log = if panels.rows[row].log { " (log scale)" } else { "" };
            let name = text::shorten(&format!("{}{log}", panels.rows[row].label), TEXT, layout.width - 8.0);
            canvas.heading((4.0, label - 2.0), Anchor::Start, Ink::Text, &name);
        }
        let first = line * layout.per_line;
        for column in first..(first + layout.per_line).min(columns) {
            let left = LEFT + (column - first) as f64 * (layout.panel.0 + GAP);
            let own: Vec<&PanelPoint> =
                points.iter().filter(|p| (p.row, p.column) == (row, column)).collect();
            let frame = frame(panels, points, &layout, ranges[row], (left, top));
            let headed = headed && (row == 0 || wrapped);
            let named = wrapped || row + 1 == panels.rows.len();
            axes(&mut canvas, panels, &frame, row, Shown { labels: column == first, ticks: named });
            if headed {
                let heading = text::shorten(&panels.columns[column], TEXT, layout.panel.0);
                let middle = (frame.left + frame.right) / 2.0;
                canvas.text((middle, top - 9.0), Anchor::Middle, Ink::Text, &heading);
            }
            marks(&mut canvas, panels, &frame, ranges[row], &own, &layout);
        }
    }
    let across = (LEFT + layout.width - 8.0) / 2.0;
    let name = text::shorten(&panels.x_label, TEXT, layout.width - 16.0);
    canvas.text((across, y + 12.0), Anchor::Middle, Ink::Text, &name);
    canvas.finish(&panels.description)
}

/// Scales of a panel. All panels share the horizontal one, with room for marks beside the outermost values.
fn frame(panels: &Panels, points: &[PanelPoint], layout: &Layout, range: Range, at: (f64, f64)) -> Frame {
    let ((left, top), (across, tall)) = (at, layout.panel);
    let (right, bottom) = (left + across, top + tall);
    let ticks = panels.x_ticks.iter().map(|(value, _)| panels.place(*value)).filter(|v| v.is_finite());
    let all = points.iter().map(|p| panels.place(p.x)).chain(ticks);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let pad = if high > low { 0.14 * (high - low) } else { 1.0 };
    Frame {
        left,
        right,
        top,
        bottom,
        x: Scale::linear(low - pad, high + pad, left, right),
        y: range.scale(bottom, top, TICKS),
    }
}

/// Which words stand beside a panel.
struct Shown {
    labels: bool,
    ticks: bool,
}

fn axes(canvas: &mut Canvas, panels: &Panels, frame: &Frame, row: usize, shown: Shown) {
    for tick in frame.y.ticks(TICKS) {
        let y = frame.y.at(tick.value);
        canvas.line((frame.left, y), (frame.right, y), Ink::Rule, 1.0);
        if shown.labels {
            canvas.text((frame.left - 7.0, y + 4.0), Anchor::End, Ink::Muted, &tick.label);
        }
    }
    if panels.rows[row].zero && !panels.rows[row].log {
        let zero = frame.y.at(0.0);
        canvas.line((frame.left, zero), (frame.right, zero), Ink::Muted, 1.0);
    }
    canvas.line((frame.left, frame.bottom), (frame.right, frame.bottom), Ink::Muted, 1.0);
    let mut free = f64::NEG_INFINITY;
    for (value, label) in &panels.x_ticks {
        let place = panels.place(*value);
        if !place.is_finite() {
            continue;
        }
        let x = frame.x.at(place);
        canvas.line((x, frame.bottom), (x, frame.bottom + 4.0), Ink::Muted, 1.0);
        let half = 0.54 * text::width(label, TEXT);
        if shown.ticks && x - half > free {
            canvas.text((x, frame.bottom + 17.0), Anchor::Middle, Ink::Muted, label);
            free = x + half + 4.0;
        }
    }
}

fn marks(
    canvas: &mut Canvas,
    panels: &Panels,
    frame: &Frame,
    range: Range,
    own: &[&PanelPoint],
    layout: &Layout,
) {
    let methods = panels.series.len().min(marker::MOST);
    let step = aside(panels, frame, own, methods);
    let radius = if layout.narrow || methods > 6 { 2.8 } else { 3.3 };
    for series in 0..methods {
        let mut points: Vec<&PanelPoint> = own.iter().copied().filter(|p| p.series == series).collect();
        points.sort_by(|p, q| p.x.total_cmp(&q.x));
        let shift = step * (series as f64 - (methods - 1) as f64 / 2.0);
        let at = |p: &PanelPoint| (frame.x.at(panels.place(p.x)) + shift, frame.y.at(p.y));
        let ink = Ink::Series(series);
        // A line ends where its method leaves the axis.
        for run in points.split(|p| !range.holds(p.y)) {
            canvas.curve(&run.iter().map(|p| at(p)).collect::<Vec<_>>(), ink, 1.4);
        }
        for p in points {
            canvas.hint(&words(panels, p));
            let (x, y) = at(p);
            if range.holds(p.y) {
                let half = panels.bar_length() * bar(p);
                if half > 0.0 {
                    canvas.line((x, frame.y.at(p.y - half)), (x, frame.y.at(p.y + half)), ink, 1.1);
                }
                marker::mark(canvas, (x, y), radius, series);
            } else {
                arrow(canvas, (x, y), if y < (frame.top + frame.bottom) / 2.0 { 1.0 } else { -1.0 }, ink);
            }
            canvas.end_group();
        }
    }
}

/// How far neighbouring methods stand apart, so that marks at the same place do not hide each other.
fn aside(panels: &Panels, frame: &Frame, own: &[&PanelPoint], methods: usize) -> f64 {
    let mut places: Vec<f64> = own.iter().map(|p| frame.x.at(panels.place(p.x))).collect();
    places.sort_by(f64::total_cmp);
    let distance = places.windows(2).map(|w| w[1] - w[0]).filter(|d| *d > 0.5).fold(60.0, f64::min);
    (0.5 * distance / methods.max(1) as f64).min(4.0)
}

fn arrow(canvas: &mut Canvas, (x, y): (f64, f64), down: f64, ink: Ink) {
    canvas.curve(&[(x - 3.5, y + down * 5.0), (x, y), (x + 3.5, y + down * 5.0)], ink, 1.6);
    canvas.line((x, y), (x, y + down * 10.0), ink, 1.6);
}

fn words(panels: &Panels, p: &PanelPoint) -> String {
    let error = match bar(p) {
        0.0 => String::new(),
        error => format!(" ± {}", text::significant(panels.bar_length() * error)),
    };
    format!("{} at {}: {}{error}", panels.series[p.series], panels.x_name(p.x), text::significant(p.y))
}
