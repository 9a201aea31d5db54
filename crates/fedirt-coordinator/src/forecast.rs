//! What to expect of a plan, before anything is spent.

use fedirt_figures::{ErrorCurve, Figure, errors_by_epsilon};
use fedirt_model::exchange::Effects;
use fedirt_protocol::forecast::{Errors, Expected, Outlook, PlannedStudy, outlook, remarks};
use fedirt_protocol::plan::{PrivacyLevel, StudyPlan};
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
    let planned = PlannedStudy::of(plan);
    let found = outlook(&planned, None, epsilons)?;
    let mut remarks: Vec<String> =
        remarks(&planned, &found).iter().map(|remark| remark.told("no site effects")).collect();
    remarks.splice(..0, of_levels(&found));
    Ok(Forecast { figure: picture(&planned, &found), remarks })
}

/// What each level of privacy costs a plan, in a sentence for each, and what else deserves a word.
pub fn levels(plan: &StudyPlan) -> Result<Vec<String>, PrivateRefusal> {
    let planned = PlannedStudy::of(plan);
    let found = outlook(&planned, None, &PrivacyLevel::ALL.map(PrivacyLevel::epsilon))?;
    let mut out = of_levels(&found);
    out.extend(remarks(&planned, &found).iter().map(|remark| remark.told("no site effects")));
    Ok(out)
}

/// A sentence for each level among the ε of an outlook.
fn of_levels(found: &Outlook) -> Vec<String> {
    let named = found.private.iter().filter(|at| PrivacyLevel::of(at.epsilon).is_some());
    named.map(Expected::in_words).collect()
}

/// What to expect of a plan's exact sums, in sentences.
pub fn expects(plan: &StudyPlan) -> Result<Vec<String>, PrivateRefusal> {
    let found = outlook(&PlannedStudy::of(plan), None, &[])?.maximum_likelihood;
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
