//! Small multiples: measures in rows, conditions in columns, methods as lines.

mod draw;
mod range;

use crate::figure::Z;
use crate::figure::{Figure, Table};
use crate::marker;
use crate::text;

/// Results of a simulation study, in the arrangement of a paper's figure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panels {
    /// What it shows, as a heading.
    pub title: String,
    /// What it shows, as sentences.
    pub description: String,
    /// Rows of panels from the top; panels of a row share the vertical axis.
    pub rows: Vec<PanelRow>,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// Name of the horizontal axis, which all panels share.
    pub x_label: String,
    /// Values that are written at the horizontal axis, and how.
    pub x_ticks: Vec<(f64, String)>,
    /// Whether the horizontal axis is logarithmic.
    pub x_log: bool,
    /// Names of the methods, in the order of the legend: at most ten can be told apart.
    pub series: Vec<String>,
    /// The results.
    pub points: Vec<PanelPoint>,
    /// How to read it: sentences to stand under the drawing.
    pub notes: Vec<String>,
    /// How many standard errors a bar is long to each side, such as Student's quantile; none stands for 1.96.
    pub bars: Option<f64>,
}

/// A row of panels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PanelRow {
    /// Name of the vertical axis.
    pub label: String,
    /// Whether the vertical axis is logarithmic.
    pub log: bool,
    /// Whether zero belongs into the picture; its line is then drawn. Does not apply to a logarithmic axis.
    pub zero: bool,
}

/// One result: a method under one condition.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PanelPoint {
    /// Index of the row.
    pub row: usize,
    /// Index of the column.
    pub column: usize,
    /// Index of the method.
    pub series: usize,
    /// Where it stands along the horizontal axis.
    pub x: f64,
    /// The result. What is not finite is left out.
    pub y: f64,
    /// Its Monte Carlo standard error; a bar of so many of it as [`Panels::bars`] says is drawn.
    pub error: Option<f64>,
}

/// Draws small multiples.
pub fn panels(panels: &Panels) -> Figure {
    let title = panels.title.clone();
    let shown: Vec<PanelPoint> = panels.points.iter().copied().filter(|p| panels.can_show(p)).collect();
    if shown.is_empty() {
        return Figure::without(title, "There are no finite results to draw.".to_owned());
    }
    let ranges: Vec<range::Range> =
        (0..panels.rows.len()).map(|row| range::of_row(panels, &shown, row)).collect();
    let beyond = shown.iter().filter(|p| !ranges[p.row].holds(p.y)).count();
    let mut figure =
        Figure::drawn(title, panels.description.clone(), |width| draw::draw(panels, &shown, &ranges, width));
    figure.notes = panels.notes.clone();
    if shown.iter().any(|p| text::finite(p.error).is_some_and(|e| e > 0.0)) {
        let bars = panels.bars.filter(|bars| *bars > 1.965).map_or("1.96".to_owned(), text::significant);
        figure = figure.note(format!("Bars are ±{bars} Monte Carlo standard errors."));
    }
    if beyond > 0 {
        let points = text::counted(beyond as u64, "point lies", "points lie");
        figure = figure.note(format!("{points} beyond the axis: arrows at its edge."));
    }
    let left_out = panels.points.len() - shown.len();
    if left_out > 0 {
        let results = text::counted(left_out as u64, "result", "results");
        let why = if panels.rows.iter().any(|row| row.log) { ", or zero or less on a log axis" } else { "" };
        figure = figure.note(format!("Left out: {results} not finite{why}."));
    }
    figure.table(panels.table())
}

impl Panels {
    /// Standard errors from the middle of a bar to its end.
    fn bar_length(&self) -> f64 {
        self.bars.unwrap_or(Z)
    }

    /// Whether a point is finite, belongs to a panel, and can stand on its axes.
    fn can_show(&self, p: &PanelPoint) -> bool {
        let known = p.column < self.columns.len() && p.series < self.series.len().min(marker::MOST);
        let Some(row) = self.rows.get(p.row).filter(|_| known) else { return false };
        p.y.is_finite() && (!row.log || p.y > 0.0) && self.place(p.x).is_finite()
    }

    /// Where a value stands along the horizontal axis, before pixels.
    fn place(&self, x: f64) -> f64 {
        if self.x_log { x.log10() } else { x }
    }

    /// A value of the horizontal axis as its tick writes it.
    fn x_name(&self, x: f64) -> String {
        let tick = self.x_ticks.iter().find(|(value, _)| *value == x);
        tick.map_or_else(|| text::brief(x), |(_, label)| label.clone())
    }

    fn table(&self) -> Table {
        let x = if self.x_label.is_empty() { "x" } else { &self.x_label };
        let mut table =
            Table::new(&self.title, &["Measure", "Panel", "Method", x, "Value", "Monte Carlo SE"]);
        let mut points: Vec<&PanelPoint> = self.points.iter().collect();
        points.sort_by(|p, q| {
            (p.row, p.column, p.series).cmp(&(q.row, q.column, q.series)).then(p.x.total_cmp(&q.x))
        });
        for p in points {
            let (Some(row), Some(column), Some(series)) =
                (self.rows.get(p.row), self.columns.get(p.column), self.series.get(p.series))
            else {
                continue;
            };
            table.rows.push(vec![
                row.label.clone(),
                column.clone(),
                series.clone(),
                self.x_name(p.x),
                text::significant(p.y),
                text::finite(p.error).map_or_else(|| text::MISSING.to_owned(), text::significant),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two measures, three conditions, four methods, three sizes.
    fn study() -> Panels {
        let mut points = Vec::new();
        for (row, column, series) in (0..24).map(|i| (i % 2, i / 2 % 3, i / 6)) {
            for x in [10.0, 30.0, 100.0] {
                let y = (1.0 + series as f64) / x;
                points.push(PanelPoint { row, column, series, x, y, error: Some(0.1 * y) });
            }
        }
        Panels {
            title: "Recovery".into(),
            description: "Bias and RMSE.".into(),
            rows: vec![
                PanelRow { label: "Bias".into(), log: false, zero: true },
                PanelRow { label: "RMSE".into(), log: true, zero: false },
            ],
            columns: ["K = 10", "K = 50", "<K>"].map(String::from).to_vec(),
            x_label: "Students per school".into(),
            x_ticks: [10.0, 30.0, 100.0].map(|x| (x, format!("{x}"))).to_vec(),
            x_log: true,
            series: ["A", "B", "C", "D & E"].map(String::from).to_vec(),
            points,
            notes: vec!["A note.".into()],
            bars: None,
        }
    }

    fn check(figure: &Figure) {
        for svg in [&figure.svg, &figure.narrow] {
            assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<K>"), "{svg}");
            assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        }
    }

    #[test]
    fn every_point_is_drawn_in_both_widths() {
        let figure = panels(&study());
        check(&figure);
        for svg in [&figure.svg, &figure.narrow] {
            assert_eq!(svg.matches("<title>").count(), 72);
            for word in ["Bias", "RMSE", "K = 10", "&lt;K&gt;", "Students per school", "D &amp; E"] {
                assert!(svg.contains(word), "{word}");
            }
        }
        assert!(figure.narrow.contains("viewBox=\"0 0 360 "));
        assert_eq!(figure.tables[0].rows.len(), 72);
        assert_eq!(figure.notes[..2], ["A note.", "Bars are ±1.96 Monte Carlo standard errors."]);
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out_and_said() {
        let mut study = study();
        study.points[0].y = f64::NAN;
        study.points[1].x = f64::INFINITY;
        study.points[2].error = Some(f64::NAN);
        study.points[3].y = f64::INFINITY;
        study.points[70].series = 99;
        study.points.push(PanelPoint { row: 1, column: 0, series: 0, x: 10.0, y: -1.0, error: None });
        let figure = panels(&study);
        check(&figure);
        assert!(
            figure.notes.iter().any(|note| note.starts_with("Left out: 5 results")),
            "{:?}",
            figure.notes
        );
        study.points.clear();
        assert!(panels(&study).missing.is_some());
        assert!(panels(&Panels::default()).missing.is_some());
    }

    #[test]
    fn a_runaway_point_is_an_arrow() {
        let mut study = study();
        study.points[0].y = 1e9;
        let figure = panels(&study);
        check(&figure);
        assert!(
            figure.notes.iter().any(|note| note.starts_with("1 point lies beyond")),
            "{:?}",
            figure.notes
        );
    }

    #[test]
    fn ten_methods_and_eight_columns_are_drawn() {
        let mut study = study();
        study.series = (0..10).map(|i| format!("Method {i}")).collect();
        study.columns = (0..8).map(|i| format!("Condition {i}")).collect();
        study.points = (0..80)
            .map(|i| PanelPoint { row: 0, column: i % 8, series: i / 8, x: 30.0, y: 1.0, error: None })
            .collect();
        let figure = panels(&study);
        check(&figure);
        assert_eq!(figure.svg.matches("<title>").count(), 80);
    }
}
