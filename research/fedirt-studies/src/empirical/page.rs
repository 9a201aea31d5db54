//! The page of the empirical study.

use super::{Empirical, MethodRun};
use crate::StudyError;
use crate::paper::{Estimates, Method};
use crate::publish::{Article, DataFile, Section, StudyOutput, aligned};
use fedirt_figures::{SideBySide, SideColumn, SideEstimate, side_by_side};
use serde::Serialize;

/// One parameter under one method: the first draw, and its standard error.
///
/// FedIRT-DP has no standard errors. What is shown for it is the standard deviation over draws of the noise, which
/// leaves out that students are a sample.
pub(super) struct Shown {
    pub(super) value: f64,
    pub(super) se: Option<f64>,
}

/// A kind of parameters: what it is called, and how it is read.
pub(super) type Read = fn(&Estimates) -> Vec<(f64, Option<f64>)>;

fn with_errors(values: &[f64], errors: &[Option<f64>]) -> Vec<(f64, Option<f64>)> {
    let error = |at: usize| errors.get(at).copied().flatten();
    values.iter().enumerate().map(|(at, value)| (*value, error(at))).collect()
}

pub(super) fn slopes(found: &Estimates) -> Vec<(f64, Option<f64>)> {
    with_errors(&found.a, &found.se_a)
}

pub(super) fn difficulties(found: &Estimates) -> Vec<(f64, Option<f64>)> {
    let errors: Vec<Option<f64>> = found.se_b.iter().flatten().copied().collect();
    with_errors(&found.b.concat(), &errors)
}

pub(super) fn effects(found: &Estimates) -> Vec<(f64, Option<f64>)> {
    with_errors(&found.s, &found.se_s)
}

/// All parameters of a kind, method by method.
fn shown(study: &Empirical, records: &[MethodRun], read: Read) -> Vec<Vec<Shown>> {
    let one = |method: usize| {
        let draws: Vec<Vec<(f64, Option<f64>)>> =
            records.iter().filter(|r| r.method == method).map(|r| read(&r.estimates)).collect();
        let Some(first) = draws.first() else { return Vec::new() };
        let spread = |at: usize| {
            let values: Vec<f64> = draws.iter().filter_map(|d| d.get(at)).map(|(value, _)| *value).collect();
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            (n > 1.0).then(|| (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
        };
        let parameter = |(at, (value, se)): (usize, &(f64, Option<f64>))| Shown {
            value: *value,
            se: se.or_else(|| spread(at)),
        };
        first.iter().enumerate().map(parameter).collect()
    };
    (0..study.methods.len()).map(one).collect()
}

/// Three decimals, so that columns line up.
fn fixed(x: f64) -> String {
    if x.is_finite() { format!("{x:.3}").replace('-', "−") } else { "–".into() }
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: &'static str,
    seed: u64,
    draws: u64,
    epsilon: f64,
    delta: f64,
    methods: &'a [Method],
    items: &'a [(String, String, Vec<u8>)],
    sites: &'a [(String, u64)],
    remarks: &'a [String],
}

impl Empirical {
    /// Names of all difficulties: items, and their steps where they have several.
    fn step_names(&self) -> Vec<String> {
        let steps = |(name, _, codes): &(String, String, Vec<u8>)| match codes.len() {
            2 => vec![name.clone()],
            categories => (1..categories).map(|step| format!("{name}, step {step}")).collect(),
        };
        self.data.frame.items.iter().flat_map(steps).collect()
    }

    /// What was found, as files and as text.
    pub fn report(&self, records: &[MethodRun]) -> Result<StudyOutput, StudyError> {
        let (a, b, s) =
            (shown(self, records, slopes), shown(self, records, difficulties), shown(self, records, effects));
        let items: Vec<String> = self.data.frame.items.iter().map(|(name, ..)| name.clone()).collect();
        let sites: Vec<String> = self.data.frame.sites.iter().map(|(name, _)| name.clone()).collect();
        let steps = self.step_names();
        let findings = self.findings(records, [&a, &b, &s]);
        let figure =
            |title: &str, row_label: &str, rows: &[String], columns: Vec<(&str, &Vec<Vec<Shown>>)>| {
                self.figure(title, row_label, rows, &columns)
            };
        let mut pictures = Vec::new();
        if steps.len() == items.len() {
            let columns = vec![("discrimination a", &a), ("difficulty b (logits)", &b)];
            pictures.push(("items".to_owned(), figure("Item parameters", "Item", &items, columns)));
        } else {
            pictures.push((
                "slopes".to_owned(),
                figure("Discriminations", "Item", &items, vec![("discrimination a", &a)]),
            ));
            pictures.push((
                "difficulties".to_owned(),
                figure("Difficulties", "Item", &steps, vec![("difficulty b (logits)", &b)]),
            ));
        }
        let schools = figure("School effects", "School", &sites, vec![("effect s (logits)", &s)]);
        let article = Article {
            title: "FedIRT and FedIRT-DP on real answers".into(),
            run: format!("{} draws of the noise, seed {}", self.options.draws, self.options.seed),
            findings,
            sections: vec![
                Section {
                    heading: "Items".into(),
                    paragraphs: self.methods.iter().map(Method::sentence).collect(),
                    pictures,
                    ..Section::default()
                },
                Section {
                    heading: "Schools".into(),
                    paragraphs: vec!["Estimates of private methods are those of the first draw of the noise. Bars are 95 % intervals. FedIRT-DP has no standard errors: its bars show what fresh noise does to the estimates, and leave out that students are a sample.".into()],
                    pictures: vec![("schools".into(), schools)],
                    ..Section::default()
                },
            ],
            settings: self.settings(),
        };
        let text = self.text(&article, [(&items, &a), (&steps, &b), (&sites, &s)]);
        let document = Document {
            format: "fedirt.study.empirical/1",
            version: env!("CARGO_PKG_VERSION"),
            seed: self.options.seed,
            draws: self.options.draws,
            epsilon: self.options.epsilon,
            delta: crate::paper::DELTA,
            methods: &self.methods,
            items: &self.data.frame.items,
            sites: &self.data.frame.sites,
            remarks: &self.data.remarks,
        };
        let data = vec![
            DataFile::new(
                "estimates.csv",
                self.csv(
                    records,
                    [
                        ("a", &items, slopes as Read),
                        ("b", &steps, difficulties),
                        ("s", &sites, effects as Read),
                    ],
                ),
                "every estimate of every run",
            ),
            DataFile::new("settings.json", serde_json::to_string_pretty(&document)?, "settings and seed"),
        ];
        Ok(StudyOutput { files: article.files(data)?, text })
    }

    fn figure(
        &self,
        title: &str,
        row_label: &str,
        rows: &[String],
        columns: &[(&str, &Vec<Vec<Shown>>)],
    ) -> fedirt_figures::Figure {
        let mut estimates = Vec::new();
        for (column, (_, methods)) in columns.iter().enumerate() {
            for (method, parameters) in methods.iter().enumerate() {
                for (row, shown) in parameters.iter().enumerate() {
                    estimates.push(SideEstimate { row, column, method, value: shown.value, se: shown.se });
                }
            }
        }
        side_by_side(&SideBySide {
            title: title.into(),
            description: format!("{title} under each method, with 95 % intervals."),
            row_label: row_label.into(),
            rows: rows.to_vec(),
            columns: columns
                .iter()
                .map(|(label, _)| SideColumn { label: (*label).into(), zero: !label.starts_with("disc") })
                .collect(),
            methods: self.methods.iter().map(|m| m.label.clone()).collect(),
            estimates,
            notes: vec!["FedIRT-DP's bars show the spread over draws of the noise only.".into()],
        })
    }

    fn settings(&self) -> Vec<(String, String)> {
        vec![
            ("Schools".into(), self.data.frame.sites.len().to_string()),
            ("Students".into(), self.data.students().to_string()),
            ("Items".into(), self.data.frame.items.len().to_string()),
            ("ε of private methods".into(), self.options.epsilon.to_string()),
            ("δ".into(), format!("{:e}", crate::paper::DELTA)),
            ("Draws of the noise".into(), self.options.draws.to_string()),
            ("Seed".into(), self.options.seed.to_string()),
        ]
    }

    fn text(&self, article: &Article, tables: [(&Vec<String>, &Vec<Vec<Shown>>); 3]) -> String {
        let mut out = format!("{}\n{}\n\n", article.title, article.run);
        article.findings.iter().for_each(|finding| out += &format!("- {finding}\n"));
        for (title, (names, methods)) in
            ["Discrimination", "Difficulty", "School effect"].into_iter().zip(tables)
        {
            let mut rows = vec![vec![String::new()]];
            rows[0].extend(self.methods.iter().map(|m| m.label.clone()));
            for (at, name) in names.iter().enumerate() {
                let mut row = vec![name.clone()];
                row.extend(methods.iter().map(|m| m.get(at).map_or("–".into(), |s| fixed(s.value))));
                rows.push(row);
            }
            out += &format!("\n{title}\n{}", aligned(&rows, 1));
        }
        out
    }

    fn csv(&self, records: &[MethodRun], kinds: [(&str, &Vec<String>, Read); 3]) -> String {
        let mut out = String::from("method,draw,parameter,name,estimate,se\n");
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        for record in records {
            for (parameter, names, read) in &kinds {
                for (name, (value, se)) in names.iter().zip(read(&record.estimates)) {
                    let se = se.map_or(String::new(), |se| format!("{se:.10e}"));
                    let value = if value.is_finite() { format!("{value:.10e}") } else { String::new() };
                    let method = &self.methods[record.method].name;
                    out +=
                        &format!("{method},{},{parameter},{},{value},{se}\n", record.draw + 1, quoted(name));
                }
            }
        }
        out
    }
}
