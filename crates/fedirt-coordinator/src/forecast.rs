//! What to expect of a plan, before anything is spent.

use fedirt_figures::{ErrorCurve, Figure, errors_by_epsilon};
use fedirt_model::exchange::Effects;
use fedirt_model::items;
use fedirt_model::private::{MissingAnswers, PrivateMethod};
use fedirt_protocol::forecast::{Errors, Expected, Outlook, PlannedStudy, UNUSABLE, outlook, remarks};
use fedirt_protocol::plan::{PlanItem, PrivacyLevel, StudyPlan};
use fedirt_protocol::private::PrivateRefusal;

/// What to expect of a private study.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// Expected standard errors against ε.
    pub figure: Figure,
    /// What that means, in sentences.
    pub remarks: Vec<String>,
}

/// What a plan's sites may expect at some ε, if it were private.
pub fn forecast(plan: &StudyPlan, epsilons: &[f64]) -> Result<Forecast, PrivateRefusal> {
    let planned = planned(plan);
    let found = outlook(&planned, None, epsilons)?;
    let mut remarks: Vec<String> =
        remarks(&planned, &found).iter().map(|remark| remark.told("no site effects")).collect();
    remarks.splice(..0, of_levels(&found));
    Ok(Forecast { figure: picture(&planned, &found), remarks })
}

/// What each level of privacy costs a plan, in a sentence for each, and what else deserves a word.
pub fn levels(plan: &StudyPlan) -> Result<Vec<String>, PrivateRefusal> {
    let planned = planned(plan);
    let found = outlook(&planned, None, &PrivacyLevel::ALL.map(PrivacyLevel::epsilon))?;
    let mut out = of_levels(&found);
    out.extend(remarks(&planned, &found).iter().map(|remark| remark.told("no site effects")));
    Ok(out)
}

/// A sentence for each level among the ε of an outlook.
fn of_levels(found: &Outlook) -> Vec<String> {
    let sentence = |at: &Expected| {
        let level = PrivacyLevel::of(at.epsilon)?;
        let se = |name: &str, se: Option<f64>| se.map(|se| format!("{name} {se:.2}"));
        let errors = [se("a", at.reported.a), se("b", Some(at.reported.b)), se("s", at.reported.s)];
        let usable = if at.over_no_noise > UNUSABLE { ": unusable" } else { "" };
        Some(format!(
            "{} (ε = {}): standard errors {}; squared errors {:.1} times those without privacy{usable}.",
            level.name(),
            at.epsilon,
            errors.into_iter().flatten().collect::<Vec<_>>().join(", "),
            at.over_no_noise
        ))
    };
    found.private.iter().filter_map(sentence).collect()
}

/// What to expect of a plan's exact sums, in sentences.
pub fn expects(plan: &StudyPlan) -> Result<Vec<String>, PrivateRefusal> {
    let found = outlook(&planned(plan), None, &[])?.maximum_likelihood;
    let mut parts = Vec::new();
    parts.extend(found.a.map(|se| format!("{se:.2} for slopes")));
    parts.push(format!("{:.2} for difficulties", found.b));
    parts.extend(found.s.map(|se| format!("{se:.2} for site effects")));
    Ok(vec![format!(
        "Standard errors to expect (root mean squares): {}. For an ordinary test, given whole to students spread evenly over \
         the sites; computed from the model alone.",
        parts.join(", ")
    )])
}

/// A planned study in one line.
pub fn heading(planned: &PlannedStudy, found: &Outlook) -> String {
    let effects = if planned.effects == Effects::None { "no site effects" } else { "fixed site effects" };
    format!(
        "{} sites, {} students, {} items, {effects}, δ = {:e}, {} colluders",
        planned.sites.len(),
        found.students,
        planned.items.len(),
        planned.delta,
        planned.colluders
    )
}

/// Expected standard errors against ε, as a picture.
pub fn picture(planned: &PlannedStudy, found: &Outlook) -> Figure {
    let epsilons: Vec<f64> = found.private.iter().map(|at| at.epsilon).collect();
    let curve = |name: &str, of: fn(&Errors) -> Option<f64>| {
        let without_noise = of(&found.without_noise)?;
        let private = found.private.iter().map(|at| of(&at.reported).unwrap_or(f64::NAN)).collect();
        Some(ErrorCurve { name: name.to_owned(), private, without_noise })
    };
    let curves = [curve("a", |e| e.a), curve("b", |e| Some(e.b)), curve("s", |e| e.s)];
    let curves: Vec<ErrorCurve> = curves.into_iter().flatten().collect();
    errors_by_epsilon(&heading(planned, found), &epsilons, &curves)
}

/// A plan as a forecast wants it: students spread evenly over its sites.
fn planned(plan: &StudyPlan) -> PlannedStudy {
    let item = |item: &PlanItem| {
        let categories = item.categories.len();
        let model = item.model.clone().unwrap_or_else(|| items::default_model(categories).name().to_owned());
        (model, categories)
    };
    let sites = plan.cohort.sites.len().max(1) as u64;
    let students = plan.cohort.expected_students.max(sites);
    let privacy = plan.privacy.as_ref();
    let place = |name: &String| plan.items.iter().position(|item| item.name == *name);
    let alone = plan.model.effects == Effects::None || sites < 2;
    PlannedStudy {
        items: plan.items.iter().map(item).collect(),
        sites: (0u64..)
            .zip(&plan.cohort.sites)
            .map(|(k, name)| (name.clone(), (students + k) / sites))
            .collect(),
        effects: if alone { Effects::None } else { Effects::Fixed },
        site_sd: privacy.map_or(0.0, |p| p.site_sd),
        missing: privacy.map_or(MissingAnswers::Counted, |p| p.missing_answers),
        booklets: plan.booklets.iter().map(|b| b.items.iter().filter_map(place).collect()).collect(),
        mixture: privacy.is_some_and(|p| p.mixture),
        method: privacy.map_or_else(PrivateMethod::default, |p| p.method()),
        delta: privacy.map_or(1e-6, |p| p.delta),
        colluders: plan.cohort.colluders(),
    }
}
