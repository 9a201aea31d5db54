//! The page of the study of problems.

use super::problem::{AFFECTED, ITEMS};
use super::summary::{Cell, Mean, cells};
use super::trial::{CHECKS, DESCRIPTIVE, OF_MODEL};
use super::{IssuesStudy, Problem};
use crate::StudyError;
use crate::publish::{Article, DataFile, Section, StudyOutput, aligned, brief};
use fedirt_figures::{Figure, PanelPoint, PanelRow, Panels, Table, panels};
use serde::Serialize;
use std::ops::Range;

#[derive(Serialize)]
struct Document {
    format: &'static str,
    version: &'static str,
    replications: usize,
    first_seed: u64,
    students: usize,
    checks: [&'static str; CHECKS.len()],
    cells: Vec<Cell>,
}

const DASH: &str = "–";

fn share(x: Option<Mean>) -> String {
    x.map_or_else(|| DASH.to_owned(), |x| format!("{:.1} % ({:.1})", 100.0 * x.mean, 100.0 * x.se))
}

fn number(x: Option<Mean>) -> String {
    x.map_or_else(|| DASH.to_owned(), |x| format!("{} ({})", brief(x.mean, 2), brief(x.se, 1)))
}

fn root(x: Option<Mean>) -> String {
    x.map_or_else(|| DASH.to_owned(), |x| brief(x.mean.sqrt(), 2))
}

impl IssuesStudy {
    /// `issues.csv`: one row per fit.
    pub fn csv(&self) -> String {
        let mut out = String::from("problem,mode,remedied,seed");
        for check in CHECKS {
            out += &format!(",{check}");
        }
        for check in CHECKS {
            out += &format!(",false alarms of {check}");
        }
        for items in ["affected", "others"] {
            for what in ["bias", "mse", "coverage"] {
                out += &format!(",{items}_{what}_a,{items}_{what}_b");
            }
        }
        out.push('\n');
        let cell = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
        for r in &self.records {
            let found = r.items.iter().flat_map(|items| [items.bias, items.mse, items.coverage].concat());
            let spoke = r.checks.iter().chain(&r.false_alarms).copied();
            let numbers: Vec<String> = spoke.chain(found).map(cell).collect();
            out += &format!("{},{},{},{},{}\n", r.problem, r.mode, r.remedied, r.seed, numbers.join(","));
        }
        out
    }

    /// `issues.json`: settings and means.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(&Document {
            format: "fedirt.study.issues/1",
            version: env!("CARGO_PKG_VERSION"),
            replications: self.options.replications,
            first_seed: self.options.first_seed,
            students: self.options.students,
            checks: CHECKS,
            cells: cells(&self.records),
        })
    }

    /// What was found, as files and as text.
    pub fn report(&self) -> Result<StudyOutput, StudyError> {
        let all = cells(&self.records);
        let checks = self.checks_table(&all);
        let recovery = recovery_table(&all);
        let findings = findings(&all);
        let options = &self.options;
        let run = format!(
            "{} data sets for each problem and mode, {} students, {ITEMS} items, seed {}",
            options.replications, options.students, options.first_seed
        );
        let mut text = format!("{run}\n");
        findings.iter().for_each(|finding| text += &format!("\n{finding}"));
        for table in [&checks, &recovery] {
            let rows: Vec<Vec<String>> =
                std::iter::once(table.headers.clone()).chain(table.rows.clone()).collect();
            text += &format!("\n\n{}\n{}", table.caption, aligned(&rows, 3));
        }
        let article = Article {
            title: "When the model is not right".into(),
            run,
            findings,
            sections: vec![
                Section {
                    heading: "Do the checks see it?".into(),
                    paragraphs: vec![format!(
                        "How often each check speaks at 5 %. S-X², infit, outfit, what compares groups and site heterogeneity count items, LD-X² pairs, influence sites, the others data sets. Where the problem is about the first {AFFECTED} items, the rates are of these, and those of the other items, of which a check should not speak, stand in a line of their own. {} have no exact size: their rates are descriptive. Likelihood ratio and Wald need a fit for each item, which `secure` does not allow.",
                        DESCRIPTIVE.join(", ")
                    )],
                    pictures: vec![
                        ("checks".into(), self.checks_picture(&all, 0..OF_MODEL)),
                        ("comparisons".into(), self.checks_picture(&all, OF_MODEL..CHECKS.len())),
                    ],
                    tables: vec![checks],
                },
                Section {
                    heading: "What is wrong without the remedy, and what is left with it".into(),
                    paragraphs: vec![format!(
                        "Affected are the first {AFFECTED} items where the problem is about items. With a bundle these are one item, which has no slope to be compared with."
                    )],
                    pictures: vec![("coverage".into(), self.coverage_picture(&all))],
                    tables: vec![recovery],
                },
            ],
            settings: vec![
                ("Data sets".into(), options.replications.to_string()),
                ("First seed".into(), options.first_seed.to_string()),
                ("Students".into(), options.students.to_string()),
            ],
        };
        let data = vec![
            DataFile::new("issues.csv", self.csv(), "one row per fit"),
            DataFile::new("issues.json", self.json()?, "settings and means"),
        ];
        Ok(StudyOutput { files: article.files(data)?, text })
    }

    fn checks_table(&self, all: &[Cell]) -> Table {
        let mut table = Table::new(
            "How often each check speaks (Monte Carlo error)",
            &["problem", "mode", "fit", "items"],
        );
        table.headers.extend(CHECKS.map(str::to_owned));
        for cell in all {
            let about = if cell.false_alarms.iter().any(Option::is_some) { "first" } else { "all" };
            for (rates, items) in [(&cell.checks, about), (&cell.false_alarms, "others")] {
                if rates.iter().any(Option::is_some) {
                    let mut row =
                        vec![cell.problem.clone(), cell.mode.clone(), fitted(cell), items.to_owned()];
                    row.extend(rates.iter().map(|check| share(*check)));
                    table.rows.push(row);
                }
            }
        }
        table
    }

    /// The rates of the checks at the fits without remedy, a panel per problem.
    fn checks_picture(&self, all: &[Cell], checks: Range<usize>) -> Figure {
        let modes: Vec<String> = self.options.modes.iter().map(|mode| mode.name().to_owned()).collect();
        let mut points = Vec::new();
        for cell in all.iter().filter(|cell| !cell.remedied) {
            let column = self.options.problems.iter().position(|problem| problem.name() == cell.problem);
            let series = modes.iter().position(|mode| *mode == cell.mode);
            let Some((column, series)) = column.zip(series) else { continue };
            for (x, check) in cell.checks[checks.clone()].iter().enumerate() {
                let Some(Mean { mean, se }) = *check else { continue };
                points.push(PanelPoint { row: 0, column, series, x: x as f64, y: mean, error: Some(se) });
            }
        }
        panels(&Panels {
            title: "How often each check speaks".into(),
            description: "Share of data sets, items or pairs for which each check speaks at 5 %, by problem."
                .into(),
            rows: vec![PanelRow { label: "Share that speaks".into(), log: false, zero: true }],
            columns: self.options.problems.iter().map(|problem| problem.words().to_owned()).collect(),
            x_label: "Check".into(),
            x_ticks: CHECKS[checks]
                .iter()
                .enumerate()
                .map(|(x, name)| (x as f64, (*name).to_owned()))
                .collect(),
            x_log: false,
            series: modes,
            points,
            bars: None,
            notes: vec!["Where nothing is wrong, 0.05 is right.".into()],
        })
    }

    /// Coverage of the parameters, as the data are and with the remedy, a panel per problem.
    fn coverage_picture(&self, all: &[Cell]) -> Figure {
        let first = self.options.modes.first().map(|mode| mode.name());
        let mut points = Vec::new();
        for cell in all.iter().filter(|cell| Some(cell.mode.as_str()) == first) {
            let Some(column) =
                self.options.problems.iter().position(|problem| problem.name() == cell.problem)
            else {
                continue;
            };
            for (part, items) in cell.items.iter().enumerate() {
                for (row, coverage) in items.coverage.iter().enumerate() {
                    let Some(Mean { mean, se }) = *coverage else { continue };
                    let x = f64::from(u8::from(cell.remedied));
                    points.push(PanelPoint { row, column, series: part, x, y: mean, error: Some(se) });
                }
            }
        }
        let row = |label: &str| PanelRow { label: label.into(), log: false, zero: false };
        panels(&Panels {
            title: "Coverage of 95 % intervals".into(),
            description: "Share of 95 % intervals of slopes and difficulties that hold the truth, without and with the remedy.".into(),
            rows: vec![row("Slopes"), row("Difficulties")],
            columns: self.options.problems.iter().map(|problem| problem.words().to_owned()).collect(),
            x_label: "Fit".into(),
            x_ticks: vec![(0.0, "as it is".into()), (1.0, "remedy".into())],
            x_log: false,
            series: vec![format!("the first {AFFECTED} items"), "the other items".into()],
            points,
            bars: None,
            notes: Vec::new(),
        })
    }
}

fn fitted(cell: &Cell) -> String {
    if cell.remedied { "remedy" } else { "as it is" }.to_owned()
}

fn recovery_table(all: &[Cell]) -> Table {
    let headers = [
        "problem",
        "mode",
        "fit",
        "items",
        "bias a",
        "RMSE a",
        "coverage a",
        "bias b",
        "RMSE b",
        "coverage b",
    ];
    let mut table = Table::new("Recovery of the items (Monte Carlo error)", &headers);
    for cell in all {
        for (items, part) in cell.items.iter().zip(["first", "others"]) {
            let mut row = vec![cell.problem.clone(), cell.mode.clone(), fitted(cell), part.to_owned()];
            for k in 0..2 {
                row.extend([number(items.bias[k]), root(items.mse[k]), share(items.coverage[k])]);
            }
            table.rows.push(row);
        }
    }
    table
}

/// A sentence for each problem.
fn findings(all: &[Cell]) -> Vec<String> {
    let mut out = Vec::new();
    for cell in all.iter().filter(|cell| !cell.remedied && cell.mode == all[0].mode) {
        let Some(problem) = Problem::ALL.into_iter().find(|problem| problem.name() == cell.problem) else {
            continue;
        };
        let exact = CHECKS.iter().zip(&cell.checks).filter(|(name, _)| !DESCRIPTIVE.contains(name));
        let rates: Vec<String> =
            exact.filter_map(|(name, rate)| Some(format!("{name} {:.1} %", 100.0 * (*rate)?.mean))).collect();
        let mut sentence = format!("{}: the checks speak in {}", problem.words(), rates.join(", "));
        let others: Vec<String> = (CHECKS.iter().zip(&cell.false_alarms))
            .filter(|(name, _)| !DESCRIPTIVE.contains(name))
            .filter_map(|(name, rate)| Some(format!("{name} {:.1} %", 100.0 * (*rate)?.mean)))
            .collect();
        if !others.is_empty() {
            sentence += &format!(" (of the other items in {})", others.join(", "));
        }
        let part = usize::from(!problem.about_items());
        let said = |cell: &Cell, part: usize| {
            let items = &cell.items[part];
            format!(
                "slopes are off by {} (root mean square), {} of their 95 % intervals hold the truth",
                root(items.mse[0]),
                items.coverage[0].map_or_else(|| DASH.to_owned(), |x| format!("{:.0} %", 100.0 * x.mean))
            )
        };
        if let Some(remedy) = problem.remedy() {
            sentence += &format!("; {}", said(cell, part));
            let repaired =
                all.iter().find(|c| c.remedied && c.problem == cell.problem && c.mode == cell.mode);
            if let Some(repaired) = repaired {
                // Merged items have no slopes to compare.
                let left = if repaired.items[part].mse[0].is_some() { part } else { 1 };
                let which = if left == part { "" } else { " of the other items" };
                sentence += &format!("; with {remedy}{which} {}", said(repaired, left));
            }
        }
        out.push(format!("{sentence}."));
    }
    out
}
