//! Estimates with intervals, one row each: what the caterpillar and the forest have in common.

use crate::canvas::{Anchor, Canvas, Ink};
use crate::frame::Frame;
use crate::text;

/// Where a picture is so high that its axis is labelled at the top too.
const FAR: f64 = 600.0;

/// Evenly spaced rows whose labels thin out when there are many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) top: f64,
    pub(crate) pitch: f64,
    pub(crate) count: usize,
}

impl Rows {
    /// Rows from `top` down: roomy for a few, 2.2 pixels each for hundreds.
    pub(crate) fn new(top: f64, count: usize) -> Self {
        Self { top, pitch: (760.0 / count.max(1) as f64).clamp(2.2, 24.0), count }
    }

    /// The middle of a row.
    pub(crate) fn at(&self, row: usize) -> f64 {
        self.top + (row as f64 + 0.5) * self.pitch
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.pitch * self.count.max(1) as f64
    }

    /// Whether the axis needs its labels at the top too.
    pub(crate) fn far(&self) -> bool {
        self.bottom() > FAR
    }

    /// Where the names of the columns stand: above those labels, where there are some.
    pub(crate) fn heading(&self) -> f64 {
        self.top - if self.far() { 24.0 } else { 12.0 }
    }

    /// Whether a row is labelled: as many as fit, and always the last.
    pub(crate) fn labelled(&self, row: usize) -> bool {
        let every = (13.0 / self.pitch).ceil().max(1.0) as usize;
        let last = self.count.saturating_sub(1);
        row == last || (row.is_multiple_of(every) && last - row >= every)
    }

    /// Whether every row has its label.
    pub(crate) fn roomy(&self) -> bool {
        self.pitch >= 13.0
    }

    pub(crate) fn dot(&self) -> f64 {
        (self.pitch * 0.16).clamp(1.2, 3.2)
    }

    pub(crate) fn stroke(&self) -> f64 {
        (self.pitch * 0.09).clamp(0.8, 1.6)
    }
}

/// An estimate and its 95 % limits, where it has some.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) limits: Option<(f64, f64)>,
}

/// An axis that shows nearly everything: a runaway estimate or interval must not flatten all the others.
/// What does not fit is drawn as an arrow at the edge by [`mark`].
pub(crate) fn domain(estimates: &[Estimate]) -> (f64, f64) {
    let mut values: Vec<f64> = estimates.iter().map(|e| e.value).collect();
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return (-1.0, 1.0) };
    let (low, high) = (values[last / 4], values[last - last / 4]);
    let reach = 5.0 * (high - low).max(0.4);
    values.retain(|v| (low - reach..=high + reach).contains(v));
    let (Some(&least), Some(&most)) = (values.first(), values.last()) else { return (-1.0, 1.0) };
    let mut halves: Vec<f64> =
        estimates.iter().filter_map(|e| e.limits.map(|(l, h)| (h - l) / 2.0)).collect();
    halves.sort_by(f64::total_cmp);
    let usual = halves.get(halves.len() / 2).copied().unwrap_or(0.0);
    let beyond = (4.0 * usual).max(0.05 * (most - least));
    let ends = estimates.iter().filter(|e| (least..=most).contains(&e.value)).filter_map(|e| e.limits);
    ends.fold((least, most), |(l, h), (from, to)| {
        (l.min(from.max(least - beyond)), h.max(to.min(most + beyond)))
    })
}

/// Draws an estimate with its interval; arrows at the edge where either leaves the axis.
pub(crate) fn mark(canvas: &mut Canvas, frame: &Frame, rows: &Rows, y: f64, estimate: Estimate, ink: Ink) {
    mark_by(canvas, frame, rows, y, estimate, ink, |canvas, at| canvas.dot(at, rows.dot(), ink));
}

/// [`mark`] with a mark of the caller's own.
pub(crate) fn mark_by(
    canvas: &mut Canvas,
    frame: &Frame,
    rows: &Rows,
    y: f64,
    estimate: Estimate,
    ink: Ink,
    dot: impl FnOnce(&mut Canvas, (f64, f64)),
) {
    let (low, high) = frame.x.domain();
    let arrow = |canvas: &mut Canvas, right: bool| {
        let (x, turn) = if right { (frame.right, -1.0) } else { (frame.left, 1.0) };
        let size = rows.dot().max(2.0) + 1.0;
        canvas.curve(&[(x + turn * size, y - size), (x, y), (x + turn * size, y + size)], ink, rows.stroke());
    };
    if !frame.x.holds(estimate.value) {
        let right = estimate.value > high;
        arrow(canvas, right);
        if rows.roomy() {
            let (x, anchor) =
                if right { (frame.right - 9.0, Anchor::End) } else { (frame.left + 9.0, Anchor::Start) };
            canvas.label((x, y + 4.0), anchor, ink, &text::reading(estimate.value, 1));
        }
        return;
    }
    if let Some((from, to)) = estimate.limits {
        canvas.line((frame.x.at(from), y), (frame.x.at(to), y), ink, rows.stroke());
        if from < low {
            arrow(canvas, false);
        }
        if to > high {
            arrow(canvas, true);
        }
    }
    dot(canvas, (frame.x.at(estimate.value), y));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sure(value: f64, half: f64) -> Estimate {
        Estimate { value, limits: Some((value - half, value + half)) }
    }

    #[test]
    fn a_runaway_estimate_does_not_flatten_the_rest() {
        let mut all: Vec<Estimate> = (0..20).map(|i| sure(-1.0 + 0.1 * i as f64, 0.2)).collect();
        let usual = domain(&all);
        assert!((usual.0 + 1.2).abs() < 1e-9 && (usual.1 - 1.1).abs() < 1e-9, "{usual:?}");
        all.push(sure(-619.0, 4194.0));
        all.push(sure(0.5, 4194.0));
        let (low, high) = domain(&all);
        assert!(low > -4.0 && high < 4.0, "{low} {high}");
    }

    #[test]
    fn few_or_no_estimates() {
        assert_eq!(domain(&[]), (-1.0, 1.0));
        let (low, high) = domain(&[sure(0.0, 0.3)]);
        assert!(low <= -0.3 && high >= 0.3);
    }

    #[test]
    fn labels_thin_out() {
        let few = Rows::new(0.0, 3);
        assert!((0..3).all(|row| few.labelled(row)) && few.roomy());
        let many = Rows::new(0.0, 500);
        let shown = (0..500).filter(|&row| many.labelled(row)).count();
        assert!(shown > 30 && shown as f64 * 13.0 <= many.bottom() + 13.0, "{shown}");
        assert!(many.labelled(499));
    }
}
