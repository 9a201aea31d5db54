//! The budget of a site's students, in words: what all private studies about them may spend together.

use super::words::most_certain;
use crate::Fields;
use crate::complaints::Complaints;
use fedirt_privacy::accountant::{AccountantError, Delta, Epsilon, GaussianDp};
use fedirt_protocol::plan::StudyPlan;

/// A budget that can be chosen.
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) text: String,
    pub(super) hint: String,
    pub(super) chosen: bool,
}

/// ε, at the study's δ, that suffices for this many studies like this one: their μ² add up, so that ε grows more slowly than their
/// number (Dong, Roth and Su 2022, corollary 2.1: n releases that are μ-GDP are √n·μ-GDP).
fn epsilon_of(studies: u32, plan: &StudyPlan) -> Result<Option<(f64, f64)>, AccountantError> {
    let Some(privacy) = &plan.privacy else { return Ok(None) };
    let delta = Delta::new(privacy.delta)?;
    if studies == 1 {
        return Ok(Some((privacy.epsilon, privacy.delta)));
    }
    let one = GaussianDp::for_budget(Epsilon::new(privacy.epsilon)?, delta);
    let all = GaussianDp::new(one.mu() * f64::from(studies).sqrt())?;
    // Rounded up, so that rounding does not refuse the last study.
    Ok(Some(((all.epsilon(delta) * 1000.0).ceil() / 1000.0, privacy.delta)))
}

/// The budgets from which the officer chooses.
pub(super) fn choices(plan: &StudyPlan, chosen: &str) -> Result<Vec<Choice>, AccountantError> {
    let mut out = Vec::new();
    for (value, studies, text) in
        [("one", 1, "This study only (recommended)"), ("two", 2, "Two such studies about these students")]
    {
        if let Some((epsilon, _)) = epsilon_of(studies, plan)? {
            out.push(Choice {
                value,
                text: text.to_owned(),
                hint: format!("ε = {epsilon}. {}", consequence(epsilon)),
                chosen: chosen == value,
            });
        }
    }
    out.push(Choice {
        value: "other",
        text: "Another budget".to_owned(),
        hint: "The larger ε, the more can be learned about a student.".to_owned(),
        chosen: chosen == "other",
    });
    Ok(out)
}

/// What a budget means for a student.
fn consequence(epsilon: f64) -> String {
    format!(
        "Somebody who considers it as likely as not that a certain student is among the data can be at most {:.0} % sure of it after everything that this budget pays for.",
        most_certain(epsilon)
    )
}

/// The ε and δ that were chosen, or what is wrong with them.
pub(super) fn entered(plan: &StudyPlan, fields: &Fields) -> Result<(f64, f64), Complaints> {
    let chosen = match fields.get("budget-for") {
        // A form without the choice names the budget itself.
        "" if fields.get("budget").is_empty() => {
            return Err(Complaints::one(
                "budget-for",
                "These students have no budget yet. Choose what all private studies about them may spend.",
            ));
        }
        "one" => epsilon_of(1, plan),
        "two" => epsilon_of(2, plan),
        _ => return typed(fields),
    };
    match chosen {
        Ok(Some(budget)) => Ok(budget),
        Ok(None) => typed(fields),
        Err(error) => Err(Complaints::one("budget-for", error.to_string())),
    }
}

fn typed(fields: &Fields) -> Result<(f64, f64), Complaints> {
    let mut wrong = Complaints::default();
    let mut number = |field: &'static str, what: &str| {
        let text = fields.get(field).replace(',', ".");
        let number = text.parse::<f64>().ok().filter(|number| *number > 0.0);
        if number.is_none() {
            wrong.add(field, format!("{what} must be a number above 0, not {text:?}."));
        }
        number.unwrap_or_default()
    };
    let budget = (number("budget", "ε"), number("budget_delta", "δ"));
    if wrong.is_empty() { Ok(budget) } else { Err(wrong) }
}
