//! The approval of what is sent: by whom, how often the officer wants to be asked, and within which budget. It starts the agent.

use super::budget;
use super::looked::{Looked, look};
use super::officer_settings::Asked;
use super::overview::subtitle;
use super::{App, Name, OfficerState, Page, SiteStudy, aside, at, frame, told, words};
use crate::complaints::Complaints;
use crate::frame::respond;
use crate::{Fields, Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use fedirt_agent as agent;
use fedirt_data::Audience;
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
    /// The account that is chosen; empty for a new one.
    account: String,
    population: String,
    warnings: Vec<String>,
    budgets: Vec<budget::Choice>,
    budget: String,
    budget_delta: String,
    each_round: bool,
    asked: String,
    limit: String,
    by: String,
    complaints: Complaints,
    administers: bool,
    base: String,
}

fn page(
    app: &OfficerState,
    visitor: &Visitor,
    seen: &SiteStudy,
    looked: &Looked,
    fields: &Fields,
    complaints: Complaints,
) -> Result<ApprovePage, PageError> {
    let plan = &seen.study.plan;
    let ledger = agent::ledger_table(&app.home).map_err(told)?;
    let policy = app.home.policy().map_err(told)?;
    let entered = |field: &str, otherwise: &str| match fields.get(field) {
        "" => otherwise.to_owned(),
        text => text.to_owned(),
    };
    let before = seen.settings.population.clone().unwrap_or_default();
    // Where no students have a name yet, none can be confused with others.
    let first = if ledger.populations.is_empty() {
        format!("students of {}", seen.study.site)
    } else {
        String::new()
    };
    let population = entered("population", if before.is_empty() { &first } else { &before });
    let named = entered("account", &population);
    let warnings = match named.as_str() {
        "" => Vec::new(),
        name => {
            agent::other_names(&app.home, &seen.study, &looked.own, name, Audience::Page).unwrap_or_default()
        }
    };
    let rounds = plan.most_rounds();
    let file = seen.settings.file.as_ref();
    Ok(ApprovePage {
        frame: frame(visitor, seen, "Approve", super::Step::Approve),
        name: seen.folder.name().to_owned(),
        subtitle: subtitle(seen),
        mode: plan.mode.name(),
        learns: words::who_learns_what(plan),
        students: looked.own.table.students() as u64,
        file: file.map_or_else(String::new, |file| super::file::shown(&seen.settings, file)),
        hash: looked.hash.clone(),
        rounds,
        private: plan.mode == Mode::Private,
        epsilon: plan.privacy.as_ref().map_or_else(String::new, |privacy| privacy.epsilon.to_string()),
        accounts: ledger.populations,
        account: named,
        population,
        warnings,
        budgets: budget::choices(plan, &entered("budget-for", "one"))
            .map_err(|error| PageError::bad(error.to_string()))?,
        budget: fields.get("budget").to_owned(),
        budget_delta: entered("budget_delta", "1e-6"),
        each_round: policy.approval == Approval::EachRound,
        asked: entered("asked", "once"),
        limit: entered("rounds", &rounds.min(10).to_string()),
        by: entered("by", seen.settings.approved_by.as_deref().unwrap_or_default()),
        complaints,
        administers: visitor.administers(),
        base: at(&seen.study, ""),
    })
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
    Ok(render(&page(&app, &visitor, &seen, &looked, &query, Complaints::default())?))
}

/// `POST /studies/{study}/approve`.
pub(super) async fn approve(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let _changing = app.changing.lock().await;
    let mut seen = app.find(&name)?;
    app.must_be_open(&seen)?;
    let Ok(looked) = look(&seen).await? else {
        return Ok(Redirect::to(&at(&seen.study, "/check")).into_response());
    };
    let approval = match entered(&fields, &looked) {
        Ok(approval) => with_budget(&app, &seen, &looked, &fields, approval).await?,
        Err(complaints) => Err(complaints),
    };
    let approval = match approval {
        Ok(approval) => approval,
        Err(complaints) => {
            let page = page(&app, &visitor, &seen, &looked, &fields, complaints)?;
            return Ok(respond(StatusCode::UNPROCESSABLE_ENTITY, &page));
        }
    };
    let Approved { by, asked, population } = approval;
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

/// What the officer approves.
struct Approved {
    by: String,
    asked: Asked,
    population: String,
}

/// What was entered, or everything that is wrong with it.
fn entered(fields: &Fields, looked: &Looked) -> Result<Approved, Complaints> {
    let mut wrong = Complaints::default();
    let by = fields.get("by").to_owned();
    if by.is_empty() || by.chars().count() > LONGEST_NAME || by.chars().any(char::is_control) {
        wrong.add("by", "Your name is recorded in the audit log with the approval. Enter it in its field.");
    }
    let asked = match (fields.get("asked"), fields.get("rounds").parse()) {
        ("each_round", _) => Asked::EachRound,
        ("rounds", Ok(rounds)) if rounds > 0 => Asked::Rounds(rounds),
        ("rounds", _) => {
            wrong.add("rounds", "The number of approved rounds must be a whole number above 0.");
            Asked::Once
        }
        ("once", _) => Asked::Once,
        _ => {
            wrong.add("asked", "Choose how often you want to be asked.");
            Asked::Once
        }
    };
    if looked.hash != fields.get("file_sha256") {
        wrong.add("", "The file has changed since it was shown. Look at it again, then approve it.");
    }
    let population = match (fields.get("account"), fields.get("population")) {
        ("", name) => name.to_owned(),
        (known, _) => known.to_owned(),
    };
    if population.is_empty() {
        wrong.add("population", "Choose the name of these students, or write a new one into its field.");
    }
    if wrong.is_empty() { Ok(Approved { by, asked, population }) } else { Err(wrong) }
}

/// Asks the site's rules and its ledger, and sets the budget of students who have none.
async fn with_budget(
    app: &OfficerState,
    seen: &SiteStudy,
    looked: &Looked,
    fields: &Fields,
    approved: Approved,
) -> Result<Result<Approved, Complaints>, PageError> {
    let (plan, population) = (&seen.study.plan, &approved.population);
    let mut wrong = Complaints::default();
    let warnings = agent::other_names(&app.home, &seen.study, &looked.own, population, Audience::Page);
    match warnings {
        Err(error) => wrong.add("population", told(error).text.join(" ")),
        Ok(warnings) if !warnings.is_empty() && !fields.has("warned") => {
            wrong.add(
                "warned",
                "Read the warning about the name of these students, and tick that it is correct.",
            );
        }
        Ok(_) => {}
    }
    let policy = app.home.policy().map_err(told)?;
    agent::refused_with(&policy, &seen.study, &looked.own)
        .iter()
        .for_each(|r| wrong.add("", words::sentence(r)));
    if !wrong.is_empty() {
        return Ok(Err(wrong));
    }
    if plan.mode == Mode::Private && !agent::has_budget(&app.home, population).map_err(told)? {
        let (epsilon, delta) = match budget::entered(plan, fields) {
            Ok(budget) => budget,
            Err(complaints) => return Ok(Err(complaints)),
        };
        let (home, name) = (app.home.clone(), population.clone());
        if let Err(error) = aside(move || agent::open_account(&home, &name, epsilon, delta)).await? {
            return Ok(Err(Complaints::one("budget-for", told(error).text.join(" "))));
        }
    }
    let refusal = agent::foreseen(&app.home, &seen.study, &looked.own, population).map_err(told)?;
    Ok(match refusal {
        Some(refusal) => Err(Complaints::one(
            "population",
            format!(
                "This site's ledger refuses: {} Nothing was sent.",
                words::sentence(&refusal.to_string())
            ),
        )),
        None => Ok(approved),
    })
}
