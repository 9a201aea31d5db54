//! Difficulties of the same items in two fits, one against the other.

use crate::canvas::{Anchor, Canvas, Ink, TEXT};
use crate::figure::{Figure, Table, Width, interval};
use crate::frame::{Frame, ticks_across};
use crate::scale::Scale;
use crate::text;
use fedirt_model::comparison::{Comparison, ItemValue, Link, compare};
use fedirt_model::fit::Fit;

/// The mean difficulty of each common item in `second` (to the right) and `first` (upwards), with 95 % intervals. Under a link
/// the second ones are on the scale of the first, and items that drift are named.
pub fn difficulties(first: &Fit, second: &Fit, names: [&str; 2], link: Option<&Link>) -> Figure {
    let title = format!("Difficulties in {} and {}", names[0], names[1]);
    let compared = compare(first, second);
    let turn = |x: ItemValue| match link {
        Some(link) => {
            ItemValue { value: link.slope * x.value + link.intercept, se: x.se.map(|se| link.slope * se) }
        }
        None => x,
    };
    let named = farthest(&compared, turn);
    let drifts = |name: &str| link.is_some_and(|link| link.drift.iter().any(|d| d.flagged && d.item == name));
    let points: Vec<Point> = compared
        .located()
        .map(|(name, one, two)| {
            let (drifts, named) = (drifts(name), named.iter().any(|far| far == name));
            Point { name, first: one, second: turn(two), drifts, named: named || drifts }
        })
        .collect();
    if points.is_empty() {
        return Figure::without(title, "The two fits share no item with a difficulty.".to_owned());
    }
    let description = format!("Difficulties of {} items in {} against {}.", points.len(), names[0], names[1]);
    let scale = if link.is_some() { ", on the first scale" } else { "" };
    let mut table = Table::new("Difficulties", &["Item", names[1], names[0]]);
    let number = |x: ItemValue| text::fixed(x.value, 3);
    table.rows = points.iter().map(|p| vec![p.name.to_owned(), number(p.second), number(p.first)]).collect();
    let axes = [format!("b in {}{scale}", names[1]), format!("b in {}", names[0])];
    let mut figure =
        Figure::drawn(title, description.clone(), |width| draw(&points, width, &axes, &description));
    figure = figure
        .note("On the line both fits say the same; lines at the points are 95\u{a0}% intervals.")
        .table(table);
    figure = figure.note(if points.iter().any(|p| p.drifts) {
        "Named are items that differ most; those in black drift: they moved against the others by more than chance and rounding \
         explain."
    } else {
        "Named are items that differ most, in standard errors where these are known."
    });
    figure
}

/// So many of the items that differ most are named.
const NAMED: usize = 6;

/// The items that differ most: in standard errors where both have some, and otherwise as they are.
fn farthest(compared: &Comparison, turn: impl Fn(ItemValue) -> ItemValue) -> Vec<String> {
    let mut all: Vec<(f64, &str)> = compared
        .located()
        .map(|(name, one, two)| {
            let two = turn(two);
            (one.z(two).unwrap_or(one.value - two.value).abs(), name)
        })
        .filter(|(far, _)| *far > 1e-6)
        .collect();
    all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    all.iter().take(NAMED).map(|(_, name)| (*name).to_owned()).collect()
}

struct Point<'a> {
    name: &'a str,
    first: ItemValue,
    second: ItemValue,
    drifts: bool,
    named: bool,
}

fn draw(points: &[Point<'_>], width: Width, axes: &[String; 2], description: &str) -> String {
    let w = width.pixels();
    let (left, right, top) = (42.0, w - 14.0, 34.0);
    let bottom = top + (right - left).min(420.0);
    let mut canvas = Canvas::new(w, bottom + 46.0);
    let values = || points.iter().flat_map(|p| [p.first.value, p.second.value]);
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    let room = 0.06 * (high - low).max(0.5);
    let (low, high) = (low - room, high + room);
    let frame = Frame {
        left,
        right,
        top,
        bottom,
        x: Scale::nice(low, high, left, right, ticks_across(width)),
        y: Scale::nice(low, high, bottom, top, ticks_across(width)),
    };
    frame.vertical(&mut canvas, &axes[1], ticks_across(width));
    frame.vertical_grid(&mut canvas, ticks_across(width));
    frame.horizontal(&mut canvas, &axes[0], ticks_across(width));
    let (from, to) = frame.x.domain();
    canvas.line((frame.x.at(from), frame.y.at(from)), (frame.x.at(to), frame.y.at(to)), Ink::Muted, 1.0);
    for point in points {
        let (x, y) = (frame.x.at(point.second.value), frame.y.at(point.first.value));
        let ends = |x: ItemValue, scale: &Scale| {
            let (low, high) = scale.domain();
            interval(x.value, x.se).map(|(a, b)| (scale.at(a.max(low)), scale.at(b.min(high))))
        };
        if let Some((a, b)) = ends(point.second, &frame.x) {
            canvas.line((a, y), (b, y), Ink::Muted, 0.6);
        }
        if let Some((a, b)) = ends(point.first, &frame.y) {
            canvas.line((x, a), (x, b), Ink::Muted, 0.6);
        }
    }
    let radius = if points.len() > 100 { 2.5 } else { 3.5 };
    let ink = |point: &Point<'_>| if point.drifts { Ink::Text } else { Ink::Accent };
    let place = |point: &Point<'_>| (frame.x.at(point.second.value), frame.y.at(point.first.value));
    for point in points {
        canvas.dot(place(point), radius, ink(point));
    }
    // A name that would cover another is left out; the table has it.
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for point in points.iter().filter(|point| point.named) {
        let (at, size) = (place(point), text::width(point.name, TEXT));
        let (anchor, from) = if at.0 + size + 14.0 > right {
            (Anchor::End, at.0 - 7.0 - size)
        } else {
            (Anchor::Start, at.0 + 7.0)
        };
        if taken.iter().any(|(x, y, w)| from < x + w && *x < from + size && (at.1 - y).abs() < 13.0) {
            continue;
        }
        taken.push((from, at.1, size));
        let x = if anchor == Anchor::End { at.0 - 7.0 } else { from };
        canvas.label((x, at.1 + 4.0), anchor, ink(point), point.name);
    }
    canvas.finish(description)
}
