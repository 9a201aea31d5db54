//! Figures, tables and texts that the pages of the paper's studies share.

use super::verdict::quantile;
use super::{Cell, PaperStudy, Replication, Summary, page1, page2, page3};
use crate::StudyError;
use crate::publish::{Article, DataFile, StudyOutput, aligned, brief};
use fedirt_figures::{Figure, PanelPoint, PanelRow, Panels, Table, panels};

/// A criterion of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Criterion {
    Mse,
    Bias,
}

impl Criterion {
    pub(super) fn of(self, cell: &Cell) -> (f64, Option<f64>) {
        match self {
            Self::Mse => (cell.mse, cell.mse_se),
            Self::Bias => (cell.bias, cell.bias_se),
        }
    }
}

/// A row of panels: a criterion of one kind of parameters.
pub(super) struct Row {
    pub(super) criterion: Criterion,
    pub(super) parameter: &'static str,
    pub(super) label: &'static str,
    pub(super) log: bool,
}

/// The position of a scenario in a figure.
pub(super) struct PanelPosition {
    pub(super) column: usize,
    pub(super) x: f64,
}

/// A picture of errors: rows of criteria, columns of conditions, one line per method.
pub(super) struct Picture<'a> {
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    pub(super) rows: &'a [Row],
    pub(super) columns: Vec<String>,
    pub(super) x_label: &'a str,
    pub(super) x_ticks: Vec<(f64, String)>,
    pub(super) x_log: bool,
    /// Names of the methods; those that the study does not have are left out.
    pub(super) methods: &'a [&'a str],
    pub(super) notes: Vec<String>,
    /// Replications behind each point.
    pub(super) replications: usize,
}

impl Picture<'_> {
    pub(super) fn draw(
        &self,
        study: &PaperStudy,
        summary: &Summary,
        place: impl Fn(usize) -> Option<PanelPosition>,
    ) -> Figure {
        let methods: Vec<usize> = self.methods.iter().filter_map(|name| study.method(name)).collect();
        let mut points = Vec::new();
        for (row, shown) in self.rows.iter().enumerate() {
            for (series, method) in methods.iter().enumerate() {
                for scenario in 0..study.scenarios.len() {
                    let cell = summary.cell(scenario, *method, shown.parameter);
                    let Some((cell, at)) = cell.zip(place(scenario)) else { continue };
                    let (y, error) = shown.criterion.of(cell);
                    points.push(PanelPoint { row, column: at.column, series, x: at.x, y, error });
                }
            }
        }
        self.named(methods.iter().map(|m| study.methods[*m].label.clone()).collect(), points)
    }

    /// The figure with the caller's lines and points.
    pub(super) fn named(&self, series: Vec<String>, points: Vec<PanelPoint>) -> Figure {
        let row = |row: &Row| PanelRow {
            label: row.label.into(),
            log: row.log,
            zero: row.criterion == Criterion::Bias || !row.log,
        };
        panels(&Panels {
            title: self.title.into(),
            description: self.description.into(),
            rows: self.rows.iter().map(row).collect(),
            columns: self.columns.clone(),
            x_label: self.x_label.into(),
            x_ticks: self.x_ticks.clone(),
            x_log: self.x_log,
            series,
            points,
            notes: self.notes.clone(),
            bars: Some(quantile(self.replications)),
        })
    }
}

/// How much was run, in a few words.
fn run(study: &PaperStudy) -> String {
    format!("T = {} replications, seed {}", study.options.replications, study.options.seed)
}

/// A number with its Monte Carlo standard error in brackets.
pub(super) fn with_error((value, error): (f64, Option<f64>)) -> String {
    match error {
        Some(error) => format!("{} ({})", brief(value, 3), brief(error, 1)),
        None => brief(value, 3),
    }
}

/// A range, or one number where both ends look alike.
pub(super) fn range(ends: Option<(f64, f64)>, digits: i32) -> String {
    let Some((low, high)) = ends else { return "–".into() };
    let (low, high) = (brief(low, digits), brief(high, digits));
    if low == high { low } else { format!("{low} to {high}") }
}

/// Every cell of a criterion and some parameters: scenarios in rows, methods in columns.
pub(super) fn table(
    study: &PaperStudy,
    summary: &Summary,
    caption: &str,
    criterion: Criterion,
    parameter: &str,
) -> Table {
    let mut headers: Vec<String> = study
        .scenarios
        .first()
        .map_or(Vec::new(), |s| s.factors.iter().map(|(n, _)| (*n).to_owned()).collect());
    headers.extend(study.methods.iter().map(|m| m.label.clone()));
    let rows = study.scenarios.iter().enumerate().map(|(at, scenario)| {
        let mut row: Vec<String> = scenario.factors.iter().map(|(_, value)| value.clone()).collect();
        row.extend((0..study.methods.len()).map(|method| {
            summary.cell(at, method, parameter).map_or("–".into(), |cell| with_error(criterion.of(cell)))
        }));
        row
    });
    Table { caption: caption.into(), headers, rows: rows.collect() }
}

/// Both criteria for slopes and difficulties.
fn item_tables(study: &PaperStudy, summary: &Summary) -> Vec<Table> {
    let mut tables = Vec::new();
    for (criterion, name) in [(Criterion::Mse, "Mean squared error"), (Criterion::Bias, "Bias")] {
        for (parameter, what) in [("a", "discrimination a"), ("b", "difficulty b")] {
            tables.push(table(study, summary, &format!("{name} of {what}"), criterion, parameter));
        }
    }
    tables
}

/// A table on a terminal: methods in rows there, since a line is not as wide as a page.
fn terminal(table: &Table, factors: usize) -> String {
    let mut rows: Vec<Vec<String>> = vec![vec![String::new()]];
    rows[0].extend(table.rows.iter().map(|row| row[..factors].join(" ")));
    for (column, header) in table.headers.iter().enumerate().skip(factors) {
        let mut row = vec![header.clone()];
        // Without the errors, which are in the files.
        row.extend(table.rows.iter().map(|r| r[column].split(' ').next().unwrap_or("").to_owned()));
        rows.push(row);
    }
    // A line of the terminal holds so many conditions.
    const COLUMNS: usize = 6;
    let conditions = table.rows.len();
    let mut out = String::new();
    for start in (0..conditions).step_by(COLUMNS) {
        let end = (start + COLUMNS).min(conditions);
        let part: Vec<Vec<String>> = rows
            .iter()
            .map(|row| std::iter::once(&row[0]).chain(&row[1 + start..1 + end]).cloned().collect())
            .collect();
        out += &aligned(&part, 1);
    }
    out
}

impl PaperStudy {
    /// What was found, as files and as text.
    pub fn report(&self, records: &[Replication]) -> Result<StudyOutput, StudyError> {
        let summary = Summary::new(self, records);
        let (tables, mut findings, sections) = match self.number {
            super::Number::One => {
                let tables = item_tables(self, &summary);
                let sections = page1::sections(self, &summary, &tables);
                (tables, page1::findings(self, &summary), sections)
            }
            super::Number::Two => {
                let tables = page2::tables(self, &summary);
                let sections = page2::sections(self, &summary, &tables);
                (tables, page2::findings(self, &summary), sections)
            }
            super::Number::Three => {
                let tables = item_tables(self, &summary);
                let sections = page3::sections(self, &summary, &tables);
                (tables, page3::findings(self, &summary), sections)
            }
        };
        findings.extend(failures(self, &summary));
        let article = Article {
            title: self.title.into(),
            run: run(self),
            findings,
            sections,
            settings: settings(self),
        };
        let text = text(self, &article, &tables);
        let data = vec![
            DataFile::new(
                "replications.csv",
                self.replications_csv(records),
                "errors of every replication, method and kind of parameters",
            ),
            DataFile::new(
                "cells.csv",
                self.cells_csv(&summary),
                "mean squared errors and biases with Monte Carlo standard errors",
            ),
            DataFile::new("settings.json", self.settings_json(&summary)?, "settings, seeds, true parameters"),
        ];
        Ok(StudyOutput { files: article.files(data)?, text })
    }
}

fn text(study: &PaperStudy, article: &Article, tables: &[Table]) -> String {
    let factors = study.scenarios.first().map_or(0, |s| s.factors.len());
    let mut out =
        format!("{}\n{}; ± and brackets: Monte Carlo standard errors\n\n", article.title, article.run);
    for finding in &article.findings {
        out += &format!("- {finding}\n");
    }
    for table in tables {
        out += &format!("\n{}\n{}", table.caption, terminal(table, factors));
    }
    out
}

/// A sentence for each method that failed in some replications.
fn failures(study: &PaperStudy, summary: &Summary) -> Vec<String> {
    let mut out = Vec::new();
    for (method, (times, reason)) in study.methods.iter().zip(&summary.failures) {
        if *times > 0 {
            let reason = reason.as_deref().unwrap_or("no reason given");
            out.push(format!("{}: no estimates in {times} replications ({reason}).", method.label));
        }
    }
    out
}

fn settings(study: &PaperStudy) -> Vec<(String, String)> {
    let options = &study.options;
    let students: Vec<String> = {
        let mut all: Vec<usize> =
            study.scenarios.iter().flat_map(|s| s.truth.sites.iter().map(|site| site.n)).collect();
        all.sort_unstable();
        all.dedup();
        all.iter().map(ToString::to_string).collect()
    };
    let first = study.scenarios.first();
    let abilities = match options.abilities {
        super::Abilities::Fixed => "drawn once for each condition, as in the paper",
        super::Abilities::Drawn => "drawn anew in each replication",
    };
    vec![
        ("Replications of each condition".into(), options.replications.to_string()),
        ("Conditions".into(), study.scenarios.len().to_string()),
        ("Schools".into(), first.map_or(0, |s| s.truth.sites.len()).to_string()),
        ("Students of a school".into(), students.join(", ")),
        ("Items".into(), first.map_or(0, |s| s.truth.items.len()).to_string()),
        ("Item parameters".into(), "drawn once, uniformly".into()),
        ("Abilities".into(), abilities.into()),
        ("δ of private methods".into(), format!("{:e}", super::DELTA)),
        ("Noise of FedIRT-DP".into(), "added by the server (central), as in the paper".into()),
        ("Seed".into(), options.seed.to_string()),
    ]
}
