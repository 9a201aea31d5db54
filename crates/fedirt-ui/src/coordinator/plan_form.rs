//! The form for a new study, and the plan that it describes: the text that `fedirt coordinator init` writes, with the values
//! of the form.

use super::plan_items;
use crate::Fields;
pub(super) use crate::complaints::Complaint;
use fedirt_coordinator::edit::{EditError, TomlEdit};
use fedirt_model::exchange::Effects;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{Booklet, PlanError, PlanField, StudyPlan, template};
use fedirt_protocol::terms::OnLoss;
use std::collections::BTreeMap;
use toml_edit::Value;

/// Every field in the order of the form, with its initial value. Where a field may be empty, the plan gets the default of
/// the command line.
const FIELDS: [(&str, &str); 36] = [
    ("study", ""),
    ("purpose", ""),
    ("organisation", ""),
    ("person", ""),
    ("telephone", ""),
    ("email", ""),
    ("legal_basis", ""),
    ("retention", ""),
    ("items", ""),
    ("categories", "2"),
    ("binary", "2pl"),
    ("graded", "gpcm"),
    ("anchors", ""),
    ("sites", ""),
    ("students", ""),
    ("mode", "private"),
    ("epsilon", "1"),
    ("delta", "1e-6"),
    ("booklets", ""),
    ("missing_answers", "counted"),
    ("mixture", ""),
    ("effects", "fixed"),
    ("site_sd", "0"),
    ("publish", ""),
    ("join_days", ""),
    ("hello_hours", "24"),
    ("upload_hours", "24"),
    ("colluders", ""),
    ("n_min", "3"),
    ("on_loss", "wait"),
    ("max_rounds", ""),
    ("algorithm", "newton"),
    ("tolerance", ""),
    ("nodes", ""),
    ("range", ""),
    ("quadrature", "density"),
];

/// Who asks: keys of the plan and fields of the form.
const CONTACT: [(&str, &str); 6] = [
    ("contact.organisation", "organisation"),
    ("contact.person", "person"),
    ("contact.telephone", "telephone"),
    ("contact.email", "email"),
    ("contact.legal_basis", "legal_basis"),
    ("contact.retention", "retention"),
];

/// The values as they were typed, so that a form with mistakes can be shown again unchanged.
#[derive(Debug, Clone)]
pub(super) struct Form(BTreeMap<&'static str, String>);

impl Default for Form {
    fn default() -> Self {
        Self(FIELDS.iter().map(|(name, first)| (*name, (*first).to_owned())).collect())
    }
}

impl Form {
    /// The form that was submitted.
    pub(super) fn of(fields: &Fields) -> Self {
        Self(FIELDS.iter().map(|(name, _)| (*name, fields.get(name).to_owned())).collect())
    }

    /// The value of a field.
    pub(super) fn get(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    /// Whether a checkbox is ticked.
    pub(super) fn ticked(&self, field: &str) -> bool {
        !self.get(field).is_empty()
    }

    /// Replaces a list of column names by a codebook, in which each item's categories and model can be changed.
    pub(super) fn list_items(&mut self) {
        if let Some(text) = plan_items::as_codebook(self) {
            self.0.insert("items", text);
        }
    }

    /// A number, or a complaint.
    fn number(&self, field: &'static str, from: f64, to: f64, wrong: &mut Vec<Complaint>) -> Option<f64> {
        let value = self.get(field).parse::<f64>().ok().filter(|v| (from..=to).contains(v));
        if value.is_none() {
            wrong.push(Complaint::new(field, format!("A number from {from} to {to} is needed.")));
        }
        value
    }

    /// A whole number, or a complaint.
    fn whole(&self, field: &'static str, from: u64, to: u64, wrong: &mut Vec<Complaint>) -> Option<u64> {
        let value = self.get(field).parse::<u64>().ok().filter(|v| (from..=to).contains(v));
        if value.is_none() {
            wrong.push(Complaint::new(field, format!("A whole number from {from} to {to} is needed.")));
        }
        value
    }

    /// Who learns what.
    pub(super) fn mode(&self) -> Mode {
        match self.get("mode") {
            "plain" => Mode::Plain,
            "secure" => Mode::Secure,
            _ => Mode::Private,
        }
    }

    /// The plan as text and parsed, or all problems of the form.
    pub(super) fn plan(&self) -> Result<(String, StudyPlan), Vec<Complaint>> {
        let mut wrong = Vec::new();
        let mode = self.mode();
        let items = plan_items::items(self).unwrap_or_else(|complaint| {
            wrong.push(complaint);
            Vec::new()
        });
        let booklets = plan_items::booklets(self.get("booklets"), &items);
        let booklets = booklets.unwrap_or_else(|complaint| {
            // If the items are wrong, the complaint about them is enough.
            if mode == Mode::Private && !items.is_empty() {
                wrong.push(complaint);
            }
            Vec::new()
        });
        let sites = self.get("sites").split(['\n', ',', ';']).map(str::trim);
        let sites: Vec<String> = sites.filter(|site| !site.is_empty()).map(str::to_owned).collect();
        if sites.is_empty() {
            wrong.push(Complaint::new("sites", "Name at least one site, one per line."));
        }
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let study = self.get("study");
        if study.is_empty() || study.starts_with('.') || !study.chars().all(fine) {
            let text = "A short name of letters, digits, '-', '_' and '.' is needed, which does not begin with a dot.";
            wrong.push(Complaint::new("study", text));
        }
        if self.get("purpose").is_empty() {
            let text = "State the purpose of the study in plain words. Officers read it before they approve.";
            wrong.push(Complaint::new("purpose", text));
        }
        let students = self.whole("students", 1, 1_000_000_000, &mut wrong);
        let values = self.values(mode, &mut wrong);
        if !wrong.is_empty() {
            wrong.sort_by_key(|complaint| FIELDS.iter().position(|(name, _)| *name == complaint.field));
            return Err(wrong);
        }
        let text = template(study, mode, &sites, &items, students.unwrap_or(1));
        let booklets = if mode == Mode::Private { booklets } else { Vec::new() };
        let text = filled(&text, values, &booklets).map_err(|e| vec![Complaint::new("", e.to_string())])?;
        match StudyPlan::parse(&text).and_then(|plan| plan.terms(&text).map(|_| plan)) {
            Ok(plan) => Ok((text, plan)),
            Err(PlanError::Content(problems)) => {
                Err(problems.into_iter().map(|p| Complaint::new(field_of(p.field), p.text)).collect())
            }
            Err(error) => Err(vec![Complaint::new("", error.to_string())]),
        }
    }

    /// The values of the form by their keys in the plan.
    fn values(&self, mode: Mode, wrong: &mut Vec<Complaint>) -> Vec<(&'static str, Value)> {
        let mut out: Vec<(&'static str, Value)> = Vec::new();
        // On one line, because a TOML string has no line breaks.
        let purpose = self.get("purpose").split_whitespace().collect::<Vec<_>>().join(" ");
        out.push(("purpose", purpose.into()));
        for (key, field) in CONTACT {
            let value = self.get(field).split_whitespace().collect::<Vec<_>>().join(" ");
            if !value.is_empty() {
                out.push((key, value.into()));
            }
        }
        let effects = match self.get("effects") {
            "none" => Effects::None,
            "random" => Effects::Random,
            _ => Effects::Fixed,
        };
        out.push(("model.effects", effects.name().into()));
        let on_loss = match self.get("on_loss") {
            "end" => OnLoss::End,
            "reveal_lost_site" => OnLoss::RevealLostSite,
            _ => OnLoss::Wait,
        };
        let name = match on_loss {
            OnLoss::Wait => "wait",
            OnLoss::End => "end",
            OnLoss::RevealLostSite => "reveal_lost_site",
        };
        out.push(("cohort.on_loss", name.into()));
        out.push(("risks.lost_site_is_revealed", (on_loss == OnLoss::RevealLostSite).into()));
        out.push(("publish.effects_by_name", self.ticked("publish").into()));
        for (key, field, unit, most) in [
            ("deadlines.hello_seconds", "hello_hours", 3600.0, 8760.0),
            ("deadlines.upload_seconds", "upload_hours", 3600.0, 8760.0),
            ("deadlines.join_seconds", "join_days", 86_400.0, 3650.0),
        ] {
            // No deadline for joining is expressed by leaving the line out.
            if field != "join_days" || !self.get(field).is_empty() {
                let value = self.number(field, 0.01, most, wrong);
                out.extend(value.map(|v| (key, ((v * unit).round().max(1.0) as i64).into())));
            }
        }
        for (key, field, from, to) in [
            ("cohort.colluders", "colluders", 0, 10_000),
            ("cohort.n_min", "n_min", 3, 10_000),
            ("model.max_rounds", "max_rounds", 4, 10_000),
            ("model.nodes", "nodes", 5, 501),
        ] {
            if !self.get(field).is_empty() {
                out.extend(self.whole(field, from, to, wrong).map(|v| (key, (v as i64).into())));
            }
        }
        for (key, field, from, to) in
            [("model.tolerance", "tolerance", 1e-12, 1.0), ("model.range", "range", 0.1, 20.0)]
        {
            if !self.get(field).is_empty() {
                out.extend(self.number(field, from, to, wrong).map(|v| (key, v.into())));
            }
        }
        for (key, field) in [("model.algorithm", "algorithm"), ("model.quadrature", "quadrature")] {
            if !self.get(field).is_empty() {
                out.push((key, self.get(field).into()));
            }
        }
        if mode == Mode::Private {
            out.extend(self.number("epsilon", 0.01, 50.0, wrong).map(|v| ("privacy.epsilon", v.into())));
            out.extend(self.number("delta", 1e-12, 0.1, wrong).map(|v| ("privacy.delta", v.into())));
            out.push(("privacy.mixture", self.ticked("mixture").into()));
            let missing = if self.get("missing_answers") == "wrong" { "wrong" } else { "counted" };
            out.push(("privacy.missing_answers", missing.into()));
            if !self.get("site_sd").is_empty() {
                out.extend(self.number("site_sd", 0.0, 10.0, wrong).map(|v| ("privacy.site_sd", v.into())));
            }
        }
        out
    }
}

/// A plan's text with the form's values, and with its booklets.
fn filled(text: &str, values: Vec<(&'static str, Value)>, booklets: &[Booklet]) -> Result<String, EditError> {
    let mut plan = TomlEdit::new(text)?;
    for (key, value) in values {
        plan.set(key, value)?;
    }
    for booklet in booklets {
        let items: Value = booklet.items.iter().collect();
        plan.push("booklet", vec![("name", booklet.name.as_str().into()), ("items", items)])?;
    }
    Ok(plan.text())
}

/// The field of the form that belongs to a problem of the plan.
fn field_of(field: PlanField) -> &'static str {
    match field {
        PlanField::Study => "study",
        PlanField::Purpose => "purpose",
        PlanField::Contact => "person",
        PlanField::Sites => "sites",
        PlanField::Cohort => "n_min",
        PlanField::Colluders => "colluders",
        PlanField::Items => "items",
        PlanField::Effects => "effects",
        PlanField::Algorithm => "algorithm",
        PlanField::Tolerance => "tolerance",
        PlanField::Nodes => "nodes",
        PlanField::Range => "range",
        PlanField::MaxRounds => "max_rounds",
        PlanField::Epsilon => "epsilon",
        PlanField::Delta => "delta",
        PlanField::SiteSd => "site_sd",
        PlanField::Booklets => "booklets",
        // The form sets these values itself.
        PlanField::Format
        | PlanField::Population
        | PlanField::Groups
        | PlanField::Privacy
        | PlanField::DifficultySd
        | PlanField::Risks => "",
    }
}

#[cfg(test)]
#[path = "plan_form_tests.rs"]
mod tests;
