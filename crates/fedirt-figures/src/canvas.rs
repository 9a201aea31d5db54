//! A small SVG writer.
//!
//! Colours are CSS variables with the light value as fallback: inside a page they follow light and dark, alone
//! they are the light ones, and [`crate::Figure::standalone`] writes the plain values for programs that know
//! no variables.

use std::fmt::Write;

pub(crate) use crate::ink::Ink;
use crate::text::escape;

/// Size of the text in pictures, in pixels.
pub(crate) const TEXT: f64 = 12.0;

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Which way a pointer reads the picture: it picks the nearest row of the figure's first table, whose rows are
/// spread evenly from the first pixel to the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Readout {
    pub(crate) axis: char,
    pub(crate) first: f64,
    pub(crate) last: f64,
    pub(crate) rows: usize,
}

/// A drawing in the making.
#[derive(Debug)]
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    body: String,
    attributes: String,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new(), attributes: String::new() }
    }

    /// An attribute of the whole drawing.
    pub(crate) fn attribute(&mut self, name: &str, value: &str) {
        let _ = write!(self.attributes, " {name}=\"{}\"", escape(value));
    }

    pub(crate) fn readout(&mut self, readout: Readout) {
        self.attribute("data-read", &readout.axis.to_string());
        self.attribute("data-first", &number(readout.first));
        self.attribute("data-last", &number(readout.last));
        self.attribute("data-rows", &readout.rows.to_string());
    }

    /// Begins a group that a script may find by its class.
    pub(crate) fn group(&mut self, class: &str) {
        let _ = write!(self.body, "<g class=\"{}\">", escape(class));
    }

    pub(crate) fn end_group(&mut self) {
        self.body.push_str("</g>");
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, width: f64) {
        self.dashed(from, to, ink, width, "");
    }

    pub(crate) fn dashed(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, width: f64, dash: &str) {
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        let _ = write!(
            self.body,
            "<path d=\"M{} {}L{} {}\" stroke=\"{}\" stroke-width=\"{}\"{dash}/>",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1),
            ink.css(),
            number(width)
        );
    }

    /// A line through points.
    pub(crate) fn curve(&mut self, points: &[(f64, f64)], ink: Ink, width: f64) {
        if points.len() > 1 {
            let _ = write!(
                self.body,
                "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"/>",
                path(points),
                ink.css(),
                number(width)
            );
        }
    }

    /// A filled area between two lines over the same abscissae.
    pub(crate) fn band(&mut self, low: &[(f64, f64)], high: &[(f64, f64)], ink: Ink) {
        let around: Vec<(f64, f64)> = high.iter().copied().chain(low.iter().rev().copied()).collect();
        if around.len() > 2 {
            let _ = write!(
                self.body,
                "<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"0.14\"/>",
                path(&around),
                ink.css()
            );
        }
    }

    pub(crate) fn dot(&mut self, at: (f64, f64), radius: f64, ink: Ink) {
        let _ = write!(
            self.body,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>",
            number(at.0),
            number(at.1),
            number(radius),
            ink.css()
        );
    }

    /// A dot that lets what lies under it shine through.
    pub(crate) fn ring(&mut self, at: (f64, f64), radius: f64, ink: Ink) {
        let _ = write!(
            self.body,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" fill-opacity=\"0.25\" stroke=\"{}\"/>",
            number(at.0),
            number(at.1),
            number(radius),
            ink.css(),
            ink.css()
        );
    }

    pub(crate) fn bar(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        self.shade(from, to, ink, 0.55);
    }

    /// A rectangle of some opacity.
    pub(crate) fn shade(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, opacity: f64) {
        let _ = write!(
            self.body,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{opacity:.2}\"/>",
            number(from.0.min(to.0)),
            number(from.1.min(to.1)),
            number((to.0 - from.0).abs()),
            number((to.1 - from.1).abs()),
            ink.css()
        );
    }

    /// Straight lines around an area, or through points without one.
    pub(crate) fn outline(&mut self, points: &[(f64, f64)], fill: Ink, ink: Ink, width: f64) {
        let _ = write!(
            self.body,
            "<path d=\"{}Z\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"/>",
            path(points),
            fill.css(),
            ink.css(),
            number(width)
        );
    }

    /// Many squares as one mark; hollow ones are drawn inside the same size.
    pub(crate) fn squares(&mut self, corners: &[(f64, f64)], size: f64, ink: Ink, filled: bool) {
        if corners.is_empty() {
            return;
        }
        let (inset, side) = if filled { (0.0, size) } else { (0.5, size - 1.0) };
        let side = number(side);
        let mut d = String::with_capacity(corners.len() * 24);
        for (x, y) in corners {
            let _ = write!(d, "M{} {}h{side}v{side}h-{side}z", number(x + inset), number(y + inset));
        }
        let paint = if filled { "fill" } else { "fill=\"none\" stroke" };
        let _ = write!(self.body, "<path d=\"{d}\" {paint}=\"{}\"/>", ink.css());
    }

    /// Begins a group that a resting pointer explains.
    pub(crate) fn hint(&mut self, words: &str) {
        let _ = write!(self.body, "<g class=\"point\"><title>{}</title>", escape(words));
    }

    pub(crate) fn text(&mut self, at: (f64, f64), anchor: Anchor, ink: Ink, text: &str) {
        self.write_text(at, anchor, ink, text, "");
    }

    /// A text that stands out, over nothing.
    pub(crate) fn heading(&mut self, at: (f64, f64), anchor: Anchor, ink: Ink, text: &str) {
        self.write_text(at, anchor, ink, text, " font-weight=\"600\"");
    }

    /// A text over marks: the page shines around its letters.
    pub(crate) fn label(&mut self, at: (f64, f64), anchor: Anchor, ink: Ink, text: &str) {
        let halo = format!(
            " font-weight=\"600\" paint-order=\"stroke\" stroke=\"{}\" stroke-width=\"4\" stroke-linejoin=\"round\"",
            Ink::Paper.css()
        );
        self.write_text(at, anchor, ink, text, &halo);
    }

    /// Vertical lines as one mark: their x, top and bottom.
    pub(crate) fn uprights(&mut self, lines: impl Iterator<Item = (f64, f64, f64)>, ink: Ink, width: f64) {
        let d: String = lines
            .map(|(x, top, bottom)| format!("M{} {}V{}", number(x), number(top), number(bottom)))
            .collect();
        if !d.is_empty() {
            let (ink, width) = (ink.css(), number(width));
            let _ = write!(self.body, "<path d=\"{d}\" stroke=\"{ink}\" stroke-width=\"{width}\"/>");
        }
    }

    /// Small texts that are read from below, each ending at its point. What they share is written once.
    pub(crate) fn upwards<'a>(
        &mut self,
        size: f64,
        ink: Ink,
        texts: impl Iterator<Item = ((f64, f64), &'a str)>,
    ) {
        let _ = write!(
            self.body,
            "<g text-anchor=\"end\" font-size=\"{}\" fill=\"{}\">",
            number(size),
            ink.css()
        );
        for ((x, y), text) in texts {
            let (x, y) = (number(x), number(y));
            let _ = write!(
                self.body,
                "<text transform=\"translate({x} {y})rotate(-90)\">{}</text>",
                escape(text)
            );
        }
        self.end_group();
    }

    /// Short texts over marks, centred on their points: the page shines around their letters.
    pub(crate) fn labels<'a>(&mut self, ink: Ink, texts: impl Iterator<Item = ((f64, f64), &'a str)>) {
        let (paper, ink) = (Ink::Paper.css(), ink.css());
        let _ = write!(
            self.body,
            "<g text-anchor=\"middle\" font-weight=\"600\" fill=\"{ink}\" paint-order=\"stroke\" stroke=\"{paper}\" \
             stroke-width=\"4\" stroke-linejoin=\"round\">"
        );
        for ((x, y), text) in texts {
            let _ =
                write!(self.body, "<text x=\"{}\" y=\"{}\">{}</text>", number(x), number(y), escape(text));
        }
        self.end_group();
    }

    fn write_text(&mut self, at: (f64, f64), anchor: Anchor, ink: Ink, text: &str, more: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = write!(
            self.body,
            "<text x=\"{}\" y=\"{}\"{anchor} fill=\"{}\"{more}>{}</text>",
            number(at.0),
            number(at.1),
            ink.css(),
            escape(text)
        );
    }

    /// The finished drawing, with words for those who cannot see it.
    pub(crate) fn finish(self, description: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             role=\"img\" aria-label=\"{label}\" font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, \
             'Helvetica Neue', Arial, sans-serif\" font-size=\"{TEXT}\"{attributes}>{body}</svg>",
            w = number(self.width),
            h = number(self.height),
            label = escape(description),
            attributes = self.attributes,
            body = self.body
        )
    }
}

/// `M… L…` through points.
pub(crate) fn path(points: &[(f64, f64)]) -> String {
    let mut out = String::with_capacity(points.len() * 12);
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{} {}", if i == 0 { 'M' } else { 'L' }, number(*x), number(*y));
    }
    out
}

/// A coordinate with at most one decimal (a width may need it); what is not finite never reaches a file.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        assert_eq!(number(3.0), "3");
        assert_eq!(number(-0.01), "0");
        assert_eq!(number(2.25), "2.2");
        assert_eq!(number(f64::NAN), "0");
        assert_eq!(number(f64::INFINITY), "0");
    }

    #[test]
    fn names_cannot_leave_their_text() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.text((1.0, 1.0), Anchor::End, Ink::Text, "</text><script>alert(1)</script>");
        let svg = canvas.finish("\" onload=\"alert(1)");
        assert!(!svg.contains("<script") && !svg.contains("\" onload"), "{svg}");
    }
}
