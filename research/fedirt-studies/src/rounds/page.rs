//! The page of the study of rounds.

use super::{Cell, MAX_ROUNDS, Rounds, RoundsStudy, TOLERANCE, cells, tables};
use crate::StudyError;
use crate::publish::{Article, DataFile, Section, StudyOutput, brief};
use fedirt_figures::{PanelPoint, PanelRow, Panels, Table, panels};

impl RoundsStudy {
    /// What was found, as files and as text.
    pub fn report(&self) -> Result<StudyOutput, StudyError> {
        let all = cells(&self.records);
        let plain: Vec<&Cell> = all
            .iter()
            .filter(|c| c.model == "2pl" && c.effects == "fixed" && c.missing == "complete")
            .collect();
        let newton: Vec<&Cell> = all.iter().filter(|c| c.algorithm == "newton").collect();
        let mut sections = Vec::new();
        if self.options.algorithm_table {
            sections.push(Section {
                heading: "Every algorithm".into(),
                paragraphs: vec![format!(
                    "2PL, fixed effects, nothing missing. An algorithm has arrived when no gradient per student exceeds {TOLERANCE:e}. What has not arrived in {MAX_ROUNDS} rounds stands where it stopped, and so does what ends by itself elsewhere."
                )],
                pictures: vec![("rounds".into(), self.picture(&plain))],
                tables: vec![self.table("Rounds, median (most); numbers and bytes that one site sends; distance of the slopes from the maximum", &plain)],
            });
        }
        if self.options.model_table {
            sections.push(Section {
                heading: "Newton's method for every model".into(),
                paragraphs: vec![
                    "Polytomous items have four categories; in booklets students answer half of the items."
                        .into(),
                ],
                pictures: Vec::new(),
                tables: vec![self.table("Rounds, median (most)", &newton)],
            });
        }
        let article = Article {
            title: "How many rounds, and how many bytes?".into(),
            run: format!(
                "{} data sets per condition, seed {}",
                self.options.replications, self.options.first_seed
            ),
            findings: self.findings(&plain, &newton),
            sections,
            settings: vec![
                ("Replications".into(), self.options.replications.to_string()),
                ("First seed".into(), self.options.first_seed.to_string()),
                ("Most rounds".into(), MAX_ROUNDS.to_string()),
                ("Arrived at a gradient per student of".into(), format!("{TOLERANCE:e}")),
            ],
        };
        let data = vec![
            DataFile::new("rounds.csv", self.csv(), "one row per calibration"),
            DataFile::new("rounds.json", self.json()?, "settings, seeds, summaries"),
        ];
        Ok(StudyOutput { files: article.files(data)?, text: tables(self) })
    }

    fn findings(&self, plain: &[&Cell], newton: &[&Cell]) -> Vec<String> {
        let mut out = Vec::new();
        let most = newton.iter().map(|c| c.max_rounds).reduce(|x, y| if y > x { y } else { x });
        if let Some(Rounds::In(most)) = most {
            out.push(format!(
                "Newton's method on sums arrives in {most} rounds at most, in all of {} conditions.",
                newton.len()
            ));
        }
        let mut names: Vec<&str> = Vec::new();
        for cell in plain.iter().filter(|c| c.algorithm != "newton") {
            if !names.contains(&cell.algorithm.as_str()) {
                names.push(&cell.algorithm);
            }
        }
        for name in names {
            let mine: Vec<&&Cell> = plain.iter().filter(|c| c.algorithm == name).collect();
            let bytes = |f: fn(f64, f64) -> f64| mine.iter().map(|c| c.bytes_sent).reduce(f).unwrap_or(0.0);
            let medians: Vec<f64> = mine
                .iter()
                .filter_map(|c| match c.median_rounds {
                    Rounds::In(rounds) => Some(rounds),
                    Rounds::Never => None,
                })
                .collect();
            let rounds =
                match (medians.iter().copied().reduce(f64::min), medians.iter().copied().reduce(f64::max)) {
                    (Some(low), Some(high)) if medians.len() == mine.len() && low == high => {
                        format!("arrives in {low} rounds")
                    }
                    (Some(low), Some(high)) if medians.len() == mine.len() => {
                        format!("arrives in {low} to {high} rounds")
                    }
                    (Some(low), Some(_)) => format!(
                        "arrives in {} of {} conditions, in {low} rounds at best",
                        medians.len(),
                        mine.len()
                    ),
                    _ => "does not arrive at the maximum".into(),
                };
            out.push(format!(
                "{name} {rounds}; a site sends {} to {} kB.",
                brief(bytes(f64::min) / 1000.0, 2),
                brief(bytes(f64::max) / 1000.0, 2)
            ));
        }
        out
    }

    /// Rounds and bytes by size, one line per algorithm.
    fn picture(&self, cells: &[&Cell]) -> fedirt_figures::Figure {
        let algorithms: Vec<String> = self.options.algorithms.iter().map(|a| a.name().to_owned()).collect();
        let mut points = Vec::new();
        for cell in cells {
            let size = self.options.sizes.iter().position(|s| s.name == cell.size);
            let series = algorithms.iter().position(|a| *a == cell.algorithm);
            let Some((x, series)) = size.zip(series) else { continue };
            let rounds = match cell.median_rounds {
                Rounds::In(rounds) => rounds,
                Rounds::Never => cell.spent_rounds as f64,
            };
            for (row, y) in [rounds, cell.bytes_sent].into_iter().enumerate() {
                points.push(PanelPoint { row, column: 0, series, x: x as f64, y, error: None });
            }
        }
        let row = |label: &str| PanelRow { label: label.into(), log: true, zero: false };
        panels(&Panels {
            title: "Rounds, and bytes that one site sends".into(),
            description: "Median rounds and bytes of each algorithm, by the size of the study, on logarithmic axes.".into(),
            rows: vec![row("Rounds"), row("Bytes a site sends")],
            columns: vec!["2PL, fixed effects".into()],
            x_label: "Sites × students, items J".into(),
            x_ticks: self.options.sizes.iter().enumerate().map(|(x, s)| (x as f64, s.title())).collect(),
            x_log: false,
            series: algorithms,
            points,
            bars: None,
            notes: vec!["FedAvg and meta-analysis end elsewhere than at the maximum; FedSGD may not arrive: the table says so.".into()],
        })
    }

    fn table(&self, caption: &str, cells: &[&Cell]) -> Table {
        let headers = [
            "size",
            "model",
            "effects",
            "answers",
            "algorithm",
            "rounds",
            "numbers",
            "bytes",
            "distance of slopes",
        ];
        let row = |c: &&Cell| {
            vec![
                c.size.clone(),
                c.model.clone(),
                c.effects.clone(),
                c.missing.clone(),
                c.algorithm.clone(),
                c.text(),
                format!("{}", c.numbers_sent.round()),
                format!("{}", c.bytes_sent.round()),
                c.slope_error
                    .filter(|_| c.algorithm != "newton")
                    .map_or("–".into(), |e| format!("{e:.1e}")),
            ]
        };
        Table {
            caption: caption.into(),
            headers: headers.map(str::to_owned).to_vec(),
            rows: cells.iter().map(row).collect(),
        }
    }
}
