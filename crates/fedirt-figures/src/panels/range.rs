//! How far the vertical axis of a row reaches.

use super::{PanelPoint, Panels};
use crate::scale::Scale;
use crate::text;

/// Lowest and highest value of a row, and how its axis is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
    log: bool,
}

/// A value further from the median than this many times the usual distance would flatten all others.
const FAR: f64 = 40.0;

/// The range of all panels of a row.
pub(super) fn of_row(panels: &Panels, points: &[PanelPoint], row: usize) -> Range {
    let kind = &panels.rows[row];
    let own: Vec<&PanelPoint> = points.iter().filter(|p| p.row == row).collect();
    let values: Vec<f64> = own.iter().map(|p| p.y).collect();
    // On a logarithmic axis large values take little room, so all of them stand on it.
    let (least, most) = if kind.log { extremes(&values) } else { usual(&values) };
    let span = most - least;
    let (mut low, mut high) = (least, most);
    for p in own.iter().filter(|p| (least..=most).contains(&p.y)) {
        let half = panels.bar_length() * bar(p);
        // A bar may widen the axis, but not take most of it.
        if kind.log {
            low = low.min((p.y - half).max(p.y / 2.0).max(least / 2.0));
            high = high.max((p.y + half).min(2.0 * most));
        } else if span > 0.0 {
            low = low.min((p.y - half).max(least - span));
            high = high.max((p.y + half).min(most + span));
        } else {
            (low, high) = (low.min(p.y - half), high.max(p.y + half));
        }
    }
    if kind.zero && !kind.log {
        // What cannot be negative, such as a squared error, has no room below zero for its bars either.
        let never_negative = values.iter().all(|v| *v >= 0.0);
        (low, high) = (if never_negative { 0.0 } else { low.min(0.0) }, high.max(0.0));
    }
    Range { low, high, log: kind.log }
}

/// The standard error that is drawn; zero where there is none.
pub(super) fn bar(point: &PanelPoint) -> f64 {
    text::finite(point.error).filter(|e| *e > 0.0).unwrap_or(0.0)
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)))
}

/// The extremes of the values that are not absurdly far from the rest.
fn usual(values: &[f64]) -> (f64, f64) {
    let Some(middle) = median(values.to_vec()) else { return (0.0, 1.0) };
    let reach = FAR * median(values.iter().map(|v| (v - middle).abs()).collect()).unwrap_or(0.0);
    let near: Vec<f64> = values.iter().copied().filter(|v| (v - middle).abs() <= reach).collect();
    if reach > 0.0 { extremes(&near) } else { extremes(values) }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl Range {
    /// Whether a value has a place on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The axis, from the pixel at the bottom to that at the top.
    pub(super) fn scale(&self, bottom: f64, top: f64, ticks: usize) -> Scale {
        if self.log {
            Scale::log_close(self.low, self.high, bottom, top)
        } else {
            Scale::nice(self.low, self.high, bottom, top, ticks)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::usual;

    #[test]
    fn methods_may_differ_widely_but_not_absurdly() {
        let mut values = vec![0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 1.0];
        assert_eq!(usual(&values), (0.05, 1.0));
        values.push(1e6);
        assert_eq!(usual(&values), (0.05, 1.0));
        assert_eq!(usual(&[0.0, 0.0, 0.0, 3.0]), (0.0, 3.0), "most alike: nothing is usual");
        assert_eq!(usual(&[]), (0.0, 1.0));
    }
}
