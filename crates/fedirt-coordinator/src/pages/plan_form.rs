//! From a form to the text of a plan: the text that `fedirt coordinator init` writes, with the form's answers in it.

use crate::tools::Tools;
use fedirt_model::exchange::Effects;
use fedirt_model::items;
use fedirt_model::statistics::Mode;
use fedirt_pages::Fields;
use fedirt_protocol::plan::{PlanError, PlanItem, StudyPlan, template};
use fedirt_protocol::terms::OnLoss;

/// What was typed, as it was typed: a form with mistakes is shown again with everything in it.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) study: String,
    pub(super) purpose: String,
    pub(super) items: String,
    pub(super) categories: String,
    pub(super) binary: String,
    pub(super) graded: String,
    pub(super) sites: String,
    pub(super) students: String,
    pub(super) mode: String,
    pub(super) epsilon: String,
    pub(super) delta: String,
    pub(super) effects: String,
    pub(super) colluders: String,
    pub(super) n_min: String,
    pub(super) on_loss: String,
    pub(super) join_days: String,
    pub(super) hello_hours: String,
    pub(super) upload_hours: String,
    pub(super) publish: bool,
}

/// A problem with a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complaint {
    /// Which field; empty: the form as a whole.
    pub(super) field: &'static str,
    /// What, and what would help.
    pub(super) text: String,
}

impl Default for Form {
    fn default() -> Self {
        Self {
            study: String::new(),
            purpose: String::new(),
            items: String::new(),
            categories: "2".into(),
            binary: "2pl".into(),
            graded: "gpcm".into(),
            sites: String::new(),
            students: String::new(),
            mode: "private".into(),
            epsilon: "1".into(),
            delta: "1e-6".into(),
            effects: "fixed".into(),
            colluders: "0".into(),
            n_min: "3".into(),
            on_loss: "wait".into(),
            join_days: String::new(),
            hello_hours: "24".into(),
            upload_hours: "24".into(),
            publish: false,
        }
    }
}

impl Form {
    /// What was sent.
    pub(super) fn of(fields: &Fields) -> Self {
        let text = |name: &str| fields.get(name).to_owned();
        Self {
            study: text("study"),
            purpose: text("purpose"),
            items: text("items"),
            categories: text("categories"),
            binary: text("binary"),
            graded: text("graded"),
            sites: text("sites"),
            students: text("students"),
            mode: text("mode"),
            epsilon: text("epsilon"),
            delta: text("delta"),
            effects: text("effects"),
            colluders: text("colluders"),
            n_min: text("n_min"),
            on_loss: text("on_loss"),
            join_days: text("join_days"),
            hello_hours: text("hello_hours"),
            upload_hours: text("upload_hours"),
            publish: fields.has("publish"),
        }
    }

    /// The plan's text and what it means, or everything that is wrong.
    pub(super) fn plan(&self, tools: &dyn Tools) -> Result<(String, StudyPlan), Vec<Complaint>> {
        let mut wrong = Vec::new();
        let items = self.read_items(tools).unwrap_or_else(|text| {
            wrong.push(Complaint { field: "items", text });
            Vec::new()
        });
        let sites: Vec<String> = self
            .sites
            .split(['\n', ',', ';'])
            .map(|site| site.trim().to_owned())
            .filter(|s| !s.is_empty())
            .collect();
        if sites.is_empty() {
            wrong.push(Complaint { field: "sites", text: "Name at least one site, one a line.".into() });
        }
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.study.is_empty() || self.study.starts_with('.') || !self.study.chars().all(fine) {
            let text = "A short name of letters, digits, '-', '_' and '.' is needed, which does not begin with a dot.";
            wrong.push(Complaint { field: "study", text: text.into() });
        }
        if self.purpose.is_empty() {
            let text = "Say in plain words why the study is done: officers read it before they approve.";
            wrong.push(Complaint { field: "purpose", text: text.into() });
        }
        let mode = match self.mode.as_str() {
            "plain" => Mode::Plain,
            "secure" => Mode::Secure,
            _ => Mode::Private,
        };
        let mut number = |field: &'static str, text: &str, low: f64, high: f64| {
            let value = text.parse::<f64>().ok().filter(|v| (low..=high).contains(v));
            if value.is_none() {
                wrong.push(Complaint { field, text: format!("A number from {low} to {high} is needed.") });
            }
            value.unwrap_or(low)
        };
        let students = number("students", &self.students, 1.0, 1e9) as u64;
        let hello = number("hello_hours", &self.hello_hours, 0.01, 8760.0);
        let upload = number("upload_hours", &self.upload_hours, 0.01, 8760.0);
        let join = (!self.join_days.is_empty()).then(|| number("join_days", &self.join_days, 0.01, 3650.0));
        let colluders = number("colluders", &self.colluders, 0.0, 10_000.0) as usize;
        let n_min = number("n_min", &self.n_min, 3.0, 10_000.0) as usize;
        let (epsilon, delta) = match mode {
            Mode::Private => {
                (number("epsilon", &self.epsilon, 0.01, 50.0), number("delta", &self.delta, 1e-12, 0.1))
            }
            _ => (1.0, 1e-6),
        };
        if !wrong.is_empty() {
            wrong.sort_by_key(|complaint| ORDER.iter().position(|field| *field == complaint.field));
            return Err(wrong);
        }
        let effects = match self.effects.as_str() {
            "none" => Effects::None,
            "random" => Effects::Random,
            _ => Effects::Fixed,
        };
        let on_loss = match self.on_loss.as_str() {
            "end" => OnLoss::End,
            "reveal_lost_site" => OnLoss::RevealLostSite,
            _ => OnLoss::Wait,
        };
        let mut text = template(&self.study, mode, &sites, &items, students);
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        // One line (a TOML string has no line breaks), where officers see it first.
        let purpose = self.purpose.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut set = |key: &str, value: String| replace_line(&mut text, key, &format!("{key} = {value}"));
        set("purpose", quoted(&purpose));
        set("effects", quoted(effects.name()));
        set("n_min", n_min.to_string());
        set("colluders", colluders.to_string());
        set(
            "on_loss",
            quoted(match on_loss {
                OnLoss::Wait => "wait",
                OnLoss::End => "end",
                OnLoss::RevealLostSite => "reveal_lost_site",
            }),
        );
        set("hello_seconds", seconds(hello, 3600.0));
        set("upload_seconds", seconds(upload, 3600.0));
        if let Some(days) = join {
            replace_line(&mut text, "# join_seconds", &format!("join_seconds = {}", seconds(days, 86_400.0)));
        }
        let mut set = |key: &str, value: String| replace_line(&mut text, key, &format!("{key} = {value}"));
        set("effects_by_name", self.publish.to_string());
        set("lost_site_is_revealed", (on_loss == OnLoss::RevealLostSite).to_string());
        if mode == Mode::Private {
            set("epsilon", float(epsilon));
            set("delta", format!("{delta:e}"));
        }
        let read = StudyPlan::parse(&text).and_then(|plan| plan.terms(&text).map(|_| plan));
        match read {
            Ok(plan) => Ok((text, plan)),
            Err(PlanError::Content(problems)) => {
                Err(problems.into_iter().map(|text| Complaint { field: field_of(&text), text }).collect())
            }
            Err(error) => Err(vec![Complaint { field: "", text: error.to_string() }]),
        }
    }

    /// Items from a codebook (CSV or TOML), or from the names of a file's columns.
    fn read_items(&self, tools: &dyn Tools) -> Result<Vec<PlanItem>, String> {
        let text = self.items.trim();
        if text.is_empty() {
            return Err("Paste a codebook, or the first line of a file with answers.".into());
        }
        let mut found = if text.contains("[[item]]") {
            #[derive(serde::Deserialize)]
            struct Codebook {
                item: Vec<PlanItem>,
            }
            toml::from_str::<Codebook>(text)
                .map_err(|e| format!("The codebook is not TOML of this kind: {e}"))?
                .item
        } else if text.lines().next().is_some_and(|head| head.to_lowercase().contains("categories")) {
            tools.codebook(&format!("{text}\n"))?
        } else {
            self.columns(text)?
        };
        for item in &mut found {
            let usual = if item.categories.len() == 2 { &self.binary } else { &self.graded };
            if items::model(usual).is_none() {
                return Err(format!("There is no model {usual:?}."));
            }
            item.model.get_or_insert_with(|| usual.clone());
        }
        Ok(found)
    }

    fn columns(&self, text: &str) -> Result<Vec<PlanItem>, String> {
        let categories = self.categories.parse::<u8>().ok().filter(|n| (2..=16).contains(n));
        let categories =
            categories.ok_or("Categories of each item: a whole number from 2 to 16 is needed.")?;
        let head = text.lines().next().unwrap_or_default();
        let by = [';', '\t', ','].into_iter().find(|c| head.contains(*c)).unwrap_or('\n');
        let names =
            text.lines().flat_map(|line| line.split(by)).map(|name| name.trim().trim_matches('"').trim());
        let known = ["id", "student", "site", "school", "group", "form", "weight"];
        let names = names.filter(|name| !name.is_empty() && !known.contains(&name.to_lowercase().as_str()));
        let item = |name: &str| PlanItem {
            name: name.to_owned(),
            categories: (0..categories).collect(),
            model: None,
            fixed: None,
        };
        Ok(names.map(item).collect())
    }
}

/// Fields as the form has them.
const ORDER: [&str; 11] = [
    "study",
    "purpose",
    "items",
    "sites",
    "students",
    "epsilon",
    "delta",
    "join_days",
    "hello_hours",
    "upload_hours",
    "colluders",
];

fn seconds(value: f64, unit: f64) -> String {
    ((value * unit).round().max(1.0) as u64).to_string()
}

/// A number that TOML reads as a float.
fn float(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.1}") } else { value.to_string() }
}

/// Replaces the first line that sets a key.
fn replace_line(text: &mut String, key: &str, line: &str) {
    let start = format!("{key} =");
    let mut done = false;
    let lines = text.lines().map(|old| {
        if !done && old.starts_with(&start) {
            done = true;
            line
        } else {
            old
        }
    });
    *text = lines.collect::<Vec<_>>().join("\n") + "\n";
}

/// The field that a complaint of the plan belongs to.
fn field_of(text: &str) -> &'static str {
    const FIELDS: [(&str, &str); 8] = [
        ("study", "study"),
        ("purpose", "purpose"),
        ("cohort.sites", "sites"),
        ("cohort.colluders", "colluders"),
        ("cohort", "n_min"),
        ("privacy.delta", "delta"),
        ("privacy.epsilon", "epsilon"),
        ("model.effects", "effects"),
    ];
    if text.starts_with("item") || text.contains("[[item]]") {
        return "items";
    }
    FIELDS.iter().find(|(start, _)| text.starts_with(start)).map_or("", |(_, field)| field)
}
