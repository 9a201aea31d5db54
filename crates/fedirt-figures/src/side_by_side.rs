//! The same parameters as several methods estimate them, one row for each item or school.

use crate::canvas::{Anchor, Canvas, Ink, Readout, TEXT};
use crate::figure::{Figure, Table, Width, interval};
use crate::frame::Frame;
use crate::marker::{self, Legend};
use crate::rows::{self, Estimate, Rows};
use crate::scale::Scale;
use crate::text;

/// Estimates of several methods for the same items or schools.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideBySide {
    /// What it shows, as a heading.
    pub title: String,
    /// What it shows, as sentences.
    pub description: String,
    /// What a row is: `Item`, `School`.
    pub row_label: String,
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// Parameters, one column each.
    pub columns: Vec<SideColumn>,
    /// Names of the methods, in the order of the legend: at most ten can be told apart.
    pub methods: Vec<String>,
    /// The estimates.
    pub estimates: Vec<SideEstimate>,
    /// How to read it: sentences to stand under the drawing.
    pub notes: Vec<String>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideColumn {
    /// Its name, under the axis.
    pub label: String,
    /// Whether zero belongs into the picture; its line is then drawn.
    pub zero: bool,
}

/// What one method says about one parameter of one row.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SideEstimate {
    /// Index of the row.
    pub row: usize,
    /// Index of the column.
    pub column: usize,
    /// Index of the method.
    pub method: usize,
    /// The estimate. What is not finite is left out.
    pub value: f64,
    /// Its standard error, for the 95 % interval.
    pub se: Option<f64>,
}

/// Draws estimates of several methods side by side.
pub fn side_by_side(side: &SideBySide) -> Figure {
    let methods = side.methods.len().min(marker::MOST);
    let shown: Vec<SideEstimate> = side.estimates.iter().copied().filter(|e| side.can_show(e)).collect();
    if shown.is_empty() {
        return Figure::without(side.title.clone(), "There are no finite estimates to draw.".to_owned());
    }
    let mut figure = Figure::drawn(side.title.clone(), side.description.clone(), |width| {
        draw(side, &shown, methods, width)
    });
    figure.notes = side.notes.clone();
    if shown.iter().any(|e| text::finite(e.se).is_some()) {
        figure = figure.note("Lines are 95\u{a0}% intervals; a mark without a line has no standard error.");
    }
    let left_out = side.estimates.len() - shown.len();
    if left_out > 0 {
        let estimates = text::counted(left_out as u64, "estimate", "estimates");
        figure = figure.note(format!("Left out: {estimates} not finite."));
    }
    figure = figure.table(side.table("Estimates", |e| Some(e.value)));
    figure.table(side.table("Standard errors", |e| e.se))
}

impl SideBySide {
    fn can_show(&self, e: &SideEstimate) -> bool {
        e.row < self.rows.len()
            && e.column < self.columns.len()
            && e.method < self.methods.len().min(marker::MOST)
            && e.value.is_finite()
    }

    /// One row for each item or school; a column for each parameter and method.
    fn table(&self, caption: &str, of: impl Fn(&SideEstimate) -> Option<f64>) -> Table {
        let mut table =
            Table::new(caption, &[if self.row_label.is_empty() { "Row" } else { &self.row_label }]);
        for column in &self.columns {
            table.headers.extend(self.methods.iter().map(|method| format!("{}, {method}", column.label)));
        }
        let methods = self.methods.len();
        let mut cells = vec![vec![None; self.columns.len() * methods]; self.rows.len()];
        for e in &self.estimates {
            if e.row < self.rows.len() && e.column < self.columns.len() && e.method < methods {
                cells[e.row][e.column * methods + e.method] = of(e).filter(|v| v.is_finite());
            }
        }
        for (name, cells) in self.rows.iter().zip(cells) {
            let cells = cells.into_iter().map(|value| text::fixed_or_dash(value, 3));
            table.rows.push(std::iter::once(name.clone()).chain(cells).collect());
        }
        table
    }
}

/// Methods of a row lie under each other, this far apart.
const LANE: f64 = 6.0;

fn draw(side: &SideBySide, shown: &[SideEstimate], methods: usize, width: Width) -> String {
    let w = width.pixels();
    let legend = Legend::new(&side.methods[..methods], w - 8.0);
    let pitch = (LANE * methods as f64 + 5.0).max(15.0);
    let rows = Rows { top: legend.height() + 42.0, pitch, count: side.rows.len() };
    let mut canvas = Canvas::new(w, rows.bottom() + 46.0);
    legend.draw(&mut canvas, 4.0, 2.0);
    let room = if width.is_narrow() { 84.0 } else { 150.0 };
    let widest = side.rows.iter().map(|name| text::width(name, TEXT)).fold(24.0, f64::max);
    let left = widest.min(room) + 16.0;
    canvas.text((left - 8.0, rows.heading()), Anchor::End, Ink::Muted, &side.row_label);
    for (row, name) in side.rows.iter().enumerate() {
        let y = rows.top + pitch * row as f64;
        canvas.line((4.0, y), (w - 8.0, y), Ink::Rule, 0.8);
        let name = text::shorten(name, TEXT, room);
        canvas.text((left - 8.0, rows.at(row) + 4.0), Anchor::End, Ink::Text, &name);
    }
    // Labels of neighbouring axes must not meet.
    let (gap, right) = (36.0, w - 12.0);
    let columns = side.columns.len() as f64;
    let across = (right - left - gap * (columns - 1.0)) / columns;
    for column in 0..side.columns.len() {
        let from = left + (across + gap) * column as f64;
        let own: Vec<&SideEstimate> = shown.iter().filter(|e| e.column == column).collect();
        panel(&mut canvas, side, column, &own, &PanelArea { rows, methods, from, to: from + across });
    }
    let last = side.rows.len() - 1;
    canvas.readout(Readout { axis: 'y', first: rows.at(0), last: rows.at(last), rows: side.rows.len() });
    canvas.finish(&side.description)
}

/// Where a column stands.
struct PanelArea {
    rows: Rows,
    methods: usize,
    from: f64,
    to: f64,
}

fn panel(canvas: &mut Canvas, side: &SideBySide, column: usize, own: &[&SideEstimate], place: &PanelArea) {
    let rows = place.rows;
    let estimate = |e: &SideEstimate| Estimate { value: e.value, limits: interval(e.value, e.se) };
    let (mut low, mut high) = rows::domain(&own.iter().map(|e| estimate(e)).collect::<Vec<_>>());
    let zero = side.columns[column].zero;
    if zero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    let ticks = ((place.to - place.from) / 55.0).clamp(2.0, 8.0) as usize;
    let frame = Frame {
        left: place.from,
        right: place.to,
        top: rows.top,
        bottom: rows.bottom(),
        x: Scale::nice(low, high, place.from, place.to, ticks),
        y: Scale::linear(0.0, 1.0, 0.0, 1.0),
    };
    frame.vertical_grid(canvas, ticks);
    if zero {
        let x = frame.x.at(0.0);
        canvas.line((x, frame.top), (x, frame.bottom), Ink::Muted, 1.0);
    }
    let label = text::shorten(&side.columns[column].label, TEXT, place.to - place.from);
    frame.horizontal(canvas, &label, ticks);
    if rows.far() {
        frame.labels_above(canvas, ticks);
    }
    // Lanes are too close for the numbers that roomy rows write at the edge.
    let lanes = Rows { pitch: 12.0, ..rows };
    for e in own {
        let lane = LANE * (e.method as f64 - (place.methods - 1) as f64 / 2.0);
        let (y, ink) = (rows.at(e.row) + lane, Ink::Series(e.method));
        rows::mark_by(canvas, &frame, &lanes, y, estimate(e), ink, |canvas, at| {
            marker::mark(canvas, at, 2.5, e.method);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(rows: usize) -> SideBySide {
        let mut estimates = Vec::new();
        for (row, column, method) in (0..rows * 6).map(|i| (i / 6, i % 2, i / 2 % 3)) {
            let value = row as f64 * 0.1 + method as f64 * 0.02;
            let se = (method != 1).then_some(0.1);
            estimates.push(SideEstimate { row, column, method, value, se });
        }
        SideBySide {
            title: "Estimates".into(),
            description: "Three methods.".into(),
            row_label: "Item".into(),
            rows: (0..rows).map(|i| format!("<M{i}>")).collect(),
            columns: ["Slope a", "Difficulty b"]
                .map(|label| SideColumn { label: label.into(), zero: label.starts_with('D') })
                .to_vec(),
            methods: ["Pooled", "Federated", "mirt"].map(String::from).to_vec(),
            estimates,
            notes: Vec::new(),
        }
    }

    #[test]
    fn one_to_sixty_rows_are_drawn() {
        for rows in [1, 5, 60] {
            let figure = side_by_side(&comparison(rows));
            for svg in [&figure.svg, &figure.narrow] {
                assert!(!svg.contains("NaN") && !svg.contains("<M"), "{svg}");
                assert_eq!(svg.matches("&lt;M").count(), rows);
                assert_eq!(svg.matches("<circle").count(), 2 * rows + 1, "one method's dots and its legend");
            }
            assert!(figure.narrow.contains("viewBox=\"0 0 360 "));
            assert_eq!(figure.tables[0].rows.len(), rows);
            assert!(figure.tables.iter().flat_map(|t| &t.rows).all(|row| row.len() == 7));
        }
    }

    #[test]
    fn runaway_and_missing_estimates_do_no_harm() {
        let mut side = comparison(10);
        side.estimates[0].value = f64::NAN;
        side.estimates[1].value = 1e8;
        side.estimates[2].se = Some(f64::INFINITY);
        side.estimates[3].row = 99;
        let figure = side_by_side(&side);
        assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"));
        assert!(
            figure.notes.iter().any(|note| note.starts_with("Left out: 2 estimates")),
            "{:?}",
            figure.notes
        );
        assert!(side_by_side(&SideBySide::default()).missing.is_some());
    }
}
