//! A picture together with the numbers behind it and words for those who cannot see it.

use crate::text;

/// One picture of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it shows, as a heading.
    pub title: String,
    /// What it shows, as sentences: the alternative text.
    pub description: String,
    /// The drawing for columns of about 600 pixels; empty if `missing` says why.
    pub svg: String,
    /// The same for telephones, about 360 pixels wide.
    pub narrow: String,
    /// The data behind the picture. A pointer over the drawing reads the rows of the first one.
    pub tables: Vec<Table>,
    /// How to read it: sentences to stand under the drawing.
    pub notes: Vec<String>,
    /// Why there is no drawing.
    pub missing: Option<String>,
}

/// Numbers behind a picture.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What the rows are.
    pub caption: String,
    /// Names of the columns.
    pub headers: Vec<String>,
    /// Cells, as text.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows as yet.
    pub fn new(caption: &str, headers: &[&str]) -> Self {
        Self {
            caption: caption.to_owned(),
            headers: headers.iter().map(|&h| h.to_owned()).collect(),
            rows: Vec::new(),
        }
    }
}

/// The two widths in which everything is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Wide,
    Narrow,
}

impl Width {
    pub(crate) fn pixels(self) -> f64 {
        match self {
            Self::Wide => 600.0,
            Self::Narrow => 360.0,
        }
    }

    pub(crate) fn is_narrow(self) -> bool {
        self == Self::Narrow
    }
}

impl Figure {
    /// A figure drawn in both widths.
    pub(crate) fn drawn(title: String, description: String, draw: impl Fn(Width) -> String) -> Self {
        Self {
            title,
            description,
            svg: draw(Width::Wide),
            narrow: draw(Width::Narrow),
            tables: Vec::new(),
            notes: Vec::new(),
            missing: None,
        }
    }

    /// A figure that cannot be drawn, and why.
    pub fn without(title: String, why: String) -> Self {
        Self {
            title,
            description: why.clone(),
            svg: String::new(),
            narrow: String::new(),
            tables: Vec::new(),
            notes: Vec::new(),
            missing: Some(why),
        }
    }

    /// Whether the wide drawing is wider than a column of text.
    pub(crate) fn is_broad(&self) -> bool {
        let width = self.svg.split_once("viewBox=\"0 0 ").and_then(|(_, rest)| rest.split(' ').next());
        width.and_then(|w| w.parse::<f64>().ok()).is_some_and(|w| w > Width::Wide.pixels() + 40.0)
    }

    /// The wide drawing with plain colours instead of CSS variables, for papers and other programs.
    pub fn standalone(&self) -> String {
        let mut out = String::with_capacity(self.svg.len());
        let mut rest = self.svg.as_str();
        while let Some(start) = rest.find("var(--") {
            let Some(end) = rest[start..].find(')').map(|e| start + e) else { break };
            out.push_str(&rest[..start]);
            let colour = rest[start..end].split_once(',').map_or("#000000", |(_, colour)| colour);
            out.push_str(colour);
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        out
    }

    /// Appends a sentence under the drawing.
    pub fn note(mut self, sentence: impl Into<String>) -> Self {
        self.notes.push(sentence.into());
        self
    }

    /// Appends a table.
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }
}

/// Why a mode keeps something back, as the end of a sentence.
pub(crate) fn withheld(mode: &str, what: &str) -> String {
    match mode {
        "private" => format!("A private run does not release {what}."),
        "secure" => format!("This secure run did not release {what}: only sums over all sites were opened."),
        _ => format!("The fit holds no {what}."),
    }
}

/// 95 % limits around an estimate.
pub(crate) fn interval(estimate: f64, se: Option<f64>) -> Option<(f64, f64)> {
    text::finite(se).map(|se| (estimate - Z * se, estimate + Z * se))
}

/// The 97.5 % point of the normal distribution.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standalone_pictures_hold_no_variables() {
        let mut figure = Figure::without("t".into(), "w".into());
        figure.svg = "<path stroke=\"var(--ink,#1b1f24)\" fill=\"var(--accent,#0b5f8a)\"/>".into();
        assert_eq!(figure.standalone(), "<path stroke=\"#1b1f24\" fill=\"#0b5f8a\"/>");
    }
}
