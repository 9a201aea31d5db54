//! The rectangle that marks are drawn into: scales, grid, axes and their labels.

use crate::canvas::{Anchor, Canvas, Ink, TEXT, number};
use crate::figure::Width;
use crate::scale::Scale;
use crate::text;

/// Margins and scales of one plot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

/// How many ticks fit along the bottom.
pub(crate) fn ticks_across(width: Width) -> usize {
    if width.is_narrow() { 5 } else { 8 }
}

impl Frame {
    /// Grid lines and labels of the vertical axis; its name stands above it, where it can be read without
    /// turning the head.
    pub(crate) fn vertical(&self, canvas: &mut Canvas, name: &str, ticks: usize) {
        canvas.group("y-axis");
        for tick in self.y.ticks(ticks) {
            let y = self.y.at(tick.value);
            canvas.line((self.left, y), (self.right, y), Ink::Rule, 1.0);
            canvas.text((self.left - 7.0, y + 4.0), Anchor::End, Ink::Muted, &tick.label);
        }
        canvas.end_group();
        if !name.is_empty() {
            let name = text::shorten(name, TEXT, self.right - 4.0);
            canvas.text((4.0, self.top - 13.0), Anchor::Start, Ink::Text, &name);
        }
    }

    /// The horizontal axis at the bottom, with its name under it.
    pub(crate) fn horizontal(&self, canvas: &mut Canvas, name: &str, ticks: usize) {
        canvas.group("x-axis");
        canvas.line((self.left, self.bottom), (self.right, self.bottom), Ink::Muted, 1.0);
        for tick in self.x.ticks(ticks) {
            let x = self.x.at(tick.value);
            canvas.line((x, self.bottom), (x, self.bottom + 4.0), Ink::Muted, 1.0);
            canvas.text((x, self.bottom + 17.0), Anchor::Middle, Ink::Muted, &tick.label);
        }
        canvas.text(((self.left + self.right) / 2.0, self.bottom + 36.0), Anchor::Middle, Ink::Text, name);
        canvas.end_group();
    }

    /// Thin vertical lines at the ticks, for pictures that are read along x.
    pub(crate) fn vertical_grid(&self, canvas: &mut Canvas, ticks: usize) {
        for tick in self.x.ticks(ticks) {
            let x = self.x.at(tick.value);
            canvas.line((x, self.top), (x, self.bottom), Ink::Rule, 1.0);
        }
    }

    /// The labels once more at the top, for pictures so high that the bottom is out of sight.
    pub(crate) fn labels_above(&self, canvas: &mut Canvas, ticks: usize) {
        for tick in self.x.ticks(ticks) {
            canvas.text((self.x.at(tick.value), self.top - 8.0), Anchor::Middle, Ink::Muted, &tick.label);
        }
    }

    /// Tells scripts where the frame stands, so that they can redraw what is inside.
    pub(crate) fn announce(&self, canvas: &mut Canvas) {
        let sides = [self.left, self.top, self.right, self.bottom].map(number).join(" ");
        canvas.attribute("data-frame", &sides);
    }

    /// The pixels of a series.
    pub(crate) fn points(&self, x: &[f64], y: &[f64]) -> Vec<(f64, f64)> {
        x.iter().zip(y).filter(|(_, y)| y.is_finite()).map(|(&x, &y)| (self.x.at(x), self.y.at(y))).collect()
    }
}

/// What the horizontal axis is called in every picture over ability.
pub(crate) const ABILITY: &str = "Ability t";
