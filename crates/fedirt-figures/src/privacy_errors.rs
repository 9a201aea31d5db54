//! What privacy costs: expected standard errors against ε, beside those without noise.

use crate::canvas::{Anchor, Canvas, Ink};
use crate::figure::{Figure, Table, Width};
use crate::frame::Frame;
use crate::privacy_epsilon::apart;
use crate::scale::Scale;
use crate::text;

/// One kind of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorCurve {
    /// What it is called: a, b, s.
    pub name: String,
    /// Expected standard errors, one for each ε.
    pub private: Vec<f64>,
    /// The same without noise.
    pub without_noise: f64,
}

/// Expected standard errors against ε (ascending), one line for each kind of parameters.
pub fn errors_by_epsilon(heading: &str, epsilons: &[f64], curves: &[ErrorCurve]) -> Figure {
    let title = "Expected standard errors".to_owned();
    if epsilons.is_empty() || curves.is_empty() {
        return Figure::without(title, "There is nothing to expect.".into());
    }
    let mut description = format!("Expected standard errors against ε. {heading}.");
    let mut headers = vec!["ε".to_owned()];
    for curve in curves {
        headers.push(format!("SE of {}", curve.name));
        if let (Some(first), Some(last)) = (curve.private.first(), curve.private.last()) {
            description += &format!(
                " {}: {} at ε = {}, {} at ε = {}, {} without noise.",
                curve.name,
                text::fixed(*first, 3),
                text::brief(epsilons[0]),
                text::fixed(*last, 3),
                text::brief(epsilons[epsilons.len() - 1]),
                text::fixed(curve.without_noise, 3)
            );
        }
    }
    let mut table = Table { caption: "Expected standard errors".into(), headers, rows: Vec::new() };
    for (at, epsilon) in epsilons.iter().enumerate() {
        let mut row = vec![text::brief(*epsilon)];
        row.extend(curves.iter().map(|c| text::fixed_or_dash(c.private.get(at).copied(), 4)));
        table.rows.push(row);
    }
    let mut row = vec!["no noise".to_owned()];
    row.extend(curves.iter().map(|c| text::fixed(c.without_noise, 4)));
    table.rows.push(row);
    Figure::drawn(title, description.clone(), |width| draw(heading, epsilons, curves, width, &description))
        .note("Dashed: the same study without noise and without clipping.")
        .table(table)
}

const INKS: [Ink; 3] = [Ink::Accent, Ink::Text, Ink::Ramp(0)];

fn draw(heading: &str, epsilons: &[f64], curves: &[ErrorCurve], width: Width, description: &str) -> String {
    let w = width.pixels();
    let (left, right, top, bottom) = (52.0, w - 120.0, 56.0, 320.0);
    let place = |epsilon: f64| epsilon.max(f64::MIN_POSITIVE).log2();
    let ends = (place(epsilons[0]), place(epsilons[epsilons.len() - 1]));
    let x = if ends.0 < ends.1 {
        Scale::linear(ends.0, ends.1, left, right)
    } else {
        Scale::linear(ends.0 - 1.0, ends.0 + 1.0, left, right)
    };
    let all = curves.iter().flat_map(|c| c.private.iter().chain([&c.without_noise]));
    let y = Scale::nice(0.0, all.filter(|v| v.is_finite()).fold(0.0, |m, v| f64::max(m, *v)), bottom, top, 5);
    let frame = Frame { left, right, top, bottom, x, y };
    let mut canvas = Canvas::new(w, bottom + 46.0);
    canvas.text((4.0, 16.0), Anchor::Start, Ink::Muted, &text::shorten(heading, 12.0, w - 8.0));
    frame.vertical(&mut canvas, "Standard error (root mean square)", 5);
    canvas.line((left, bottom), (right, bottom), Ink::Muted, 1.0);
    let mut free = f64::NEG_INFINITY;
    for epsilon in epsilons {
        let (at, label) = (x.at(place(*epsilon)), text::brief(*epsilon));
        canvas.line((at, bottom), (at, bottom + 4.0), Ink::Muted, 1.0);
        let half = text::width(&label, 12.0) / 2.0;
        if at - half > free {
            canvas.text((at, bottom + 17.0), Anchor::Middle, Ink::Muted, &label);
            free = at + half + 4.0;
        }
    }
    canvas.text(((left + right) / 2.0, bottom + 36.0), Anchor::Middle, Ink::Text, "ε (log scale)");
    let mut names = Vec::new();
    for (curve, ink) in curves.iter().zip(INKS.into_iter().cycle()) {
        let places: Vec<f64> = epsilons.iter().map(|e| place(*e)).collect();
        let pixels = frame.points(&places, &curve.private);
        let level = y.at(curve.without_noise);
        canvas.dashed((left, level), (right, level), ink, 1.2, "4 4");
        canvas.curve(&pixels, ink, 1.8);
        pixels.iter().for_each(|at| canvas.dot(*at, 3.0, ink));
        names.push((level, ink, format!("{}, no noise", curve.name)));
        if let Some(end) = curve.private.last() {
            names.push((y.at(*end), ink, format!("{}, private", curve.name)));
        }
    }
    for (at, ink, name) in apart(names, 15.0) {
        canvas.label((right + 9.0, at + 4.0), Anchor::Start, ink, &name);
    }
    canvas.finish(description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_levels_are_drawn() {
        let curve =
            |name: &str, private: Vec<f64>| ErrorCurve { name: name.into(), private, without_noise: 0.1 };
        for epsilons in [vec![1.0], vec![0.5, 1.0, 2.0]] {
            let errors: Vec<f64> = epsilons.iter().map(|e| 0.1 + 1.0 / e).collect();
            let curves = [curve("a", errors.clone()), curve("b", vec![f64::INFINITY; errors.len()])];
            let figure = errors_by_epsilon("A <test>", &epsilons, &curves);
            assert!(figure.svg.contains("a, private") && figure.svg.contains("b, no noise"));
            assert!(!figure.svg.contains("NaN") && !figure.svg.contains("<test>"));
            assert_eq!(figure.tables[0].rows.len(), epsilons.len() + 1);
        }
        assert!(errors_by_epsilon("", &[], &[]).missing.is_some());
    }
}
