//! Marks of methods that are compared: each has a shape as well as a colour, and the legend that explains both.

use crate::canvas::{Anchor, Canvas, Ink, TEXT};
use crate::text;

/// The most methods that can be told apart.
pub(crate) const MOST: usize = 10;

/// Draws the mark of a method, about `2 · radius` wide.
pub(crate) fn mark(canvas: &mut Canvas, (x, y): (f64, f64), radius: f64, series: usize) {
    let ink = Ink::Series(series);
    let around = |corners: &[(f64, f64)]| {
        corners.iter().map(|(u, v)| (x + radius * u, y + radius * v)).collect::<Vec<_>>()
    };
    let square = [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)];
    let diamond = [(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)];
    let up = [(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)];
    let down = [(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)];
    match series % MOST {
        0 => canvas.dot((x, y), radius, ink),
        1 => canvas.outline(&around(&square), ink, ink, 0.5),
        2 => canvas.outline(&around(&up), ink, ink, 0.5),
        3 => canvas.outline(&around(&diamond), ink, ink, 0.5),
        4 => {
            for turn in [-0.95, 0.95] {
                canvas.line((x - radius, y - radius * turn), (x + radius, y + radius * turn), ink, 1.7);
            }
        }
        5 => canvas.outline(&around(&down), ink, ink, 0.5),
        6 => canvas.outline(&around(&circle()), Ink::Paper, ink, 1.5),
        7 => canvas.outline(&around(&square), Ink::Paper, ink, 1.5),
        8 => canvas.outline(&around(&up), Ink::Paper, ink, 1.5),
        _ => {
            canvas.line((x - 1.2 * radius, y), (x + 1.2 * radius, y), ink, 1.7);
            canvas.line((x, y - 1.2 * radius), (x, y + 1.2 * radius), ink, 1.7);
        }
    }
}

/// A hollow circle as corners, so that the page fills it like the other hollow marks.
fn circle() -> Vec<(f64, f64)> {
    (0..16).map(|i| (f64::from(i) * std::f64::consts::TAU / 16.0).sin_cos()).collect()
}

/// Where the names of a legend stand: line and left edge of each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Legend {
    names: Vec<String>,
    places: Vec<(usize, f64)>,
}

const LINE: f64 = 19.0;
const SWATCH: f64 = 26.0;

impl Legend {
    /// Names in lines of `width` pixels.
    pub(crate) fn new(names: &[String], width: f64) -> Self {
        let room = width - SWATCH - 8.0;
        let names: Vec<String> = names.iter().map(|name| text::shorten(name, TEXT, room)).collect();
        let (mut line, mut x) = (0, 0.0);
        let mut places = Vec::new();
        for name in &names {
            // Fonts differ between machines: some room to spare.
            let wide = SWATCH + 1.06 * text::width(name, TEXT) + 16.0;
            if x > 0.0 && x + wide > width {
                (line, x) = (line + 1, 0.0);
            }
            places.push((line, x));
            x += wide;
        }
        Self { names, places }
    }

    /// Height of all lines; one method needs no legend.
    pub(crate) fn height(&self) -> f64 {
        match self.places.last() {
            Some((line, _)) if self.names.len() > 1 => LINE * (line + 1) as f64 + 6.0,
            _ => 0.0,
        }
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        if self.height() == 0.0 {
            return;
        }
        for (series, (name, (line, x))) in self.names.iter().zip(&self.places).enumerate() {
            let (x, y) = (left + x, top + LINE * (*line as f64 + 0.5));
            canvas.line((x, y), (x + SWATCH - 6.0, y), Ink::Series(series), 1.6);
            mark(canvas, (x + (SWATCH - 6.0) / 2.0, y), 3.6, series);
            canvas.text((x + SWATCH, y + 4.0), Anchor::Start, Ink::Text, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_its_own_mark() {
        let drawn = |series| {
            let mut canvas = Canvas::new(10.0, 10.0);
            mark(&mut canvas, (5.0, 5.0), 3.0, series);
            // Without colours: the shape alone must tell.
            canvas.finish("").replace(Ink::Series(series).css(), "")
        };
        let all: Vec<String> = (0..MOST).map(drawn).collect();
        assert!(all.iter().enumerate().all(|(i, one)| !all[..i].contains(one)));
    }

    #[test]
    fn legends_wrap_and_one_method_has_none() {
        let names: Vec<String> = (0..6).map(|i| format!("Method number {i}")).collect();
        let legend = Legend::new(&names, 300.0);
        assert!(legend.places.iter().all(|(_, x)| *x < 200.0));
        assert!(legend.height() > 2.0 * LINE);
        assert_eq!(Legend::new(&names[..1], 300.0).height(), 0.0);
        assert_eq!(Legend::new(&[], 300.0).height(), 0.0);
    }
}
