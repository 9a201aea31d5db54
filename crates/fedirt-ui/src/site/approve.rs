//! The approval of what is sent: by whom, how often the officer wants to be asked, and within which budget. It starts the agent.

use super::looked::look;
use super::officer_settings::Asked;
use super::overview::subtitle;
use super::{App, Name, Page, aside, at, frame, told, words};
use crate::{Fields, Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect};
use fedirt_agent as agent;
use fedirt_model::statistics::Mode;
use fedirt_protocol::policy::Approval;

/// Maximum length of a person's name, in characters.
const LONGEST_NAME: usize = 80;

#[derive(Template)]
#[template(path = "officer_approve.html")]
struct ApprovePage {
    frame: Frame,
    name: String,
    subtitle: String,
    mode: &'static str,
    learns: &'static str,
    students: u64,
    file: String,
    hash: String,
    rounds: u32,
    private: bool,
    epsilon: String,
    accounts: Vec<(String, String)>,
    population: String,
    warnings: Vec<String>,
    each_round: bool,
    administers: bool,
    base: String,
}

/// `GET /studies/{study}/approve`.
pub(super) async fn show(
    State(app): App,
    Path(name): Name,
    RawQuery(query): RawQuery,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    if app.must_be_open(&seen).is_err() {
        return Ok(Redirect::to(&at(&seen.study, "/running")).into_response());
    }
    let Ok(looked) = look(&seen).await? else {
        return Ok(Redirect::to(&at(&seen.study, "/check")).into_response());
    };
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let population = match (query.get("population"), &seen.settings.population) {
        ("", Some(before)) => before.clone(),
        // Nobody names them but the officer.
        ("", None) => String::new(),
        (given, _) => given.to_owned(),
    };
    let ledger = agent::ledger_table(&app.home).map_err(told)?;
    let policy = app.home.policy().map_err(told)?;
    let warnings = match population.as_str() {
        "" => Vec::new(),
        name => agent::other_names(&app.home, &seen.study, &looked.own, name).map_err(told)?,
    };
    let plan = &seen.study.plan;
    Ok(render(&ApprovePage {
        frame: frame(&visitor, &seen, "Approve", "/preview"),
        subtitle: subtitle(&seen),
        mode: plan.mode.name(),
        learns: words::who_learns_what(plan),
        students: looked.own.table.students() as u64,
        file: seen
            .settings
            .file
            .as_ref()
            .map_or_else(String::new, |file| super::file::shown(&seen.settings, file)),
        hash: looked.hash,
        rounds: plan.most_rounds(),
        private: plan.mode == Mode::Private,
        epsilon: plan.privacy.as_ref().map_or_else(String::new, |privacy| privacy.epsilon.to_string()),
        accounts: ledger.populations,
        population,
        warnings,
        each_round: policy.approval == Approval::EachRound,
        administers: visitor.administers(),
        base: at(&seen.study, ""),
        name,
    }))
}

/// `POST /studies/{study}/approve`.
pub(super) async fn approve(State(app): App, Path(name): Name, Extension(fields): Extension<Fields>) -> Page {
    let _changing = app.changing.lock().await;
    let mut seen = app.find(&name)?;
    app.must_be_open(&seen)?;
    let back = at(&seen.study, "/approve");
    let wrong = |text: String| PageError::bad(text).leading(&back, "Back to the approval");
    let by = fields.get("by").to_owned();
    if by.is_empty() || by.chars().count() > LONGEST_NAME || by.chars().any(char::is_control) {
        return Err(wrong(
            "Your name is recorded in the audit log with the approval. Enter it in its field.".into(),
        ));
    }
    let asked = match fields.get("asked") {
        "once" => Asked::Once,
        "each_round" => Asked::EachRound,
        "rounds" => match fields.get("rounds").parse() {
            Ok(rounds) if rounds > 0 => Asked::Rounds(rounds),
            _ => return Err(wrong("The number of approved rounds must be a whole number above 0.".into())),
        },
        _ => return Err(wrong("Choose how often you want to be asked.".into())),
    };
    let Ok(looked) = look(&seen).await? else {
        return Ok(Redirect::to(&at(&seen.study, "/check")).into_response());
    };
    if looked.hash != fields.get("file_sha256") {
        return Err(wrong(
            "The file has changed since it was shown. Look at it again, then approve it.".into(),
        ));
    }
    let population = match (fields.get("account"), fields.get("population")) {
        ("", "") => {
            return Err(wrong(
                "Choose the name of these students, or write a new one into its field.".into(),
            ));
        }
        ("", name) => name.to_owned(),
        (known, _) => known.to_owned(),
    };
    let warnings = agent::other_names(&app.home, &seen.study, &looked.own, &population).map_err(told)?;
    if !warnings.is_empty() && !fields.has("warned") {
        let query: String = population.bytes().map(|byte| format!("%{byte:02X}")).collect();
        return Ok(Redirect::to(&format!("{back}?population={query}")).into_response());
    }
    let policy = app.home.policy().map_err(told)?;
    let refused = agent::refused_with(&policy, &seen.study, &looked.own);
    if !refused.is_empty() {
        return Err(wrong(refused.iter().map(|r| words::sentence(r)).collect::<Vec<_>>().join(" ")));
    }
    if seen.study.plan.mode == Mode::Private && !agent::has_budget(&app.home, &population).map_err(told)? {
        if fields.get("budget").is_empty() {
            let text = format!(
                "{population:?} has no budget yet. Enter ε in its field: what all private studies of these students may spend."
            );
            return Err(wrong(text));
        }
        let opened = open_budget(&app.home, &population, &fields).await;
        opened.map_err(|page| page.leading(&back, "Back to the approval"))?;
    }
    if let Some(refusal) = agent::foreseen(&app.home, &seen.study, &looked.own, &population).map_err(told)? {
        return Err(wrong(format!(
            "This site's ledger refuses: {} Nothing was sent.",
            words::sentence(&refusal.to_string())
        )));
    }
    let settings = &mut seen.settings;
    (settings.population, settings.asked, settings.paused) = (Some(population), asked, false);
    settings.approved_by = Some(by.clone());
    let (settings, folder, hash) = (seen.settings.clone(), seen.folder.clone(), looked.hash);
    let consent =
        move || folder.consent(&by, settings.asked.words(), hash).and_then(|()| settings.write(&folder));
    aside(consent).await?.map_err(told)?;
    app.runners.start(&name);
    Ok(Redirect::to(&at(&seen.study, "/running")).into_response())
}

/// Sets the budget of the students, which cannot be changed afterwards.
async fn open_budget(home: &agent::Home, population: &str, fields: &Fields) -> Result<(), PageError> {
    let number = |field: &str, what: &str| {
        let text = fields.get(field).replace(',', ".");
        let wrong = |_| PageError::bad(format!("{what} must be a number above 0, not {text:?}."));
        text.parse::<f64>().map_err(wrong)
    };
    let (epsilon, delta) = (number("budget", "The budget")?, number("budget_delta", "δ")?);
    let (home, population) = (home.clone(), population.to_owned());
    aside(move || agent::open_account(&home, &population, epsilon, delta)).await?.map_err(told)
}
