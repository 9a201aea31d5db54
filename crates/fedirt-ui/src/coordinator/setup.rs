//! Setting up a study: the form, a preview of its consequences, and the plan that it writes.

use super::plan_form::Form;
use super::{App, CoordinatorState, Page, privacy, words};
use crate::complaints::{Complaint, Complaints};
use crate::figure::{Numbers, figure};
use crate::frame::respond;
use crate::{Fields, Frame, Html, Link, PageError, Visitor};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use fedirt_coordinator::{folder, forecast};
use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Effects;
use fedirt_model::items::MODELS;
use fedirt_model::quadrature::Weighting;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{PrivacyLevel, StudyPlan};
use std::sync::Arc;

/// Number of items times sites beyond which a forecast would take too long for a page.
const LARGE: usize = 20_000;

struct Follows {
    words: Vec<String>,
    warnings: Vec<String>,
    forecast: Option<Html>,
    remarks: Vec<String>,
    text: String,
}

struct Choice {
    value: &'static str,
    name: &'static str,
    hint: &'static str,
    chosen: bool,
}

#[derive(Template)]
#[template(path = "setup.html")]
struct SetupPage {
    frame: Frame,
    form: Form,
    modes: Vec<Choice>,
    effects: Vec<Choice>,
    losses: Vec<Choice>,
    missing: Vec<Choice>,
    binary_models: Vec<&'static str>,
    graded_models: Vec<&'static str>,
    algorithms: [&'static str; 6],
    weightings: [&'static str; 2],
    complaints: Complaints,
    follows: Option<Follows>,
    administers: bool,
}

impl SetupPage {
    /// Whether there is a complaint about one of these fields.
    fn unfolds(&self, fields: &[&str]) -> bool {
        self.complaints.unfold(fields)
    }

    /// The complaint about a field.
    fn told(&self, field: &str) -> Html {
        self.complaints.told(field)
    }

    /// The attributes that connect a field with its hint and its complaint.
    fn marks(&self, field: &str) -> Html {
        self.complaints.marks(field)
    }
}

fn page(visitor: &Visitor, form: Form) -> SetupPage {
    let mode = |mode: Mode| Choice {
        value: mode.name(),
        name: mode.name(),
        hint: words::reveals(mode),
        chosen: form.get("mode") == mode.name(),
    };
    let effect = |value, name, hint| Choice { value, name, hint, chosen: form.get("effects") == value };
    let loss = |value, name, hint| Choice { value, name, hint, chosen: form.get("on_loss") == value };
    let lacking =
        |value, name, hint| Choice { value, name, hint, chosen: form.get("missing_answers") == value };
    SetupPage {
        frame: Frame::of(visitor, "Set up a study").under(vec![Link::new("/", "Studies")]),
        modes: [Mode::Private, Mode::Secure, Mode::Plain].map(mode).into(),
        effects: vec![
            effect("fixed", "fixed", "An effect for each site. With many small sites this costs precision."),
            effect("none", "none", "All sites draw from one population."),
            effect(
                "random",
                "random",
                "Site effects are drawn from a normal distribution. Not available in private.",
            ),
        ],
        losses: vec![
            loss("wait", "wait for it", "Everybody waits until the site is back."),
            loss("end", "end the study", "Without a result."),
            loss(
                "reveal_lost_site",
                "continue without it",
                "This lets the coordinator compute what that site sent, so officers must consent.",
            ),
        ],
        missing: vec![
            lacking("counted", "is left out", "How many rows are complete is estimated, within ε."),
            lacking(
                "wrong",
                "is used, with the answer scored as wrong",
                "For tests in which an omission is an error.",
            ),
        ],
        binary_models: MODELS.iter().map(|model| model.name()).collect(),
        graded_models: MODELS.iter().filter(|model| model.polytomous()).map(|model| model.name()).collect(),
        algorithms: AlgorithmKind::ALL.map(AlgorithmKind::name),
        weightings: Weighting::ALL.map(Weighting::name),
        complaints: Complaints::default(),
        follows: None,
        administers: visitor.administers(),
        form,
    }
}

/// `GET /new`.
pub(super) async fn show(Extension(visitor): Extension<Visitor>) -> Page {
    Ok(respond(StatusCode::OK, &page(&visitor, Form::default())))
}

/// `POST /new/check`: shows what would follow from the plan. Nothing is stored.
pub(super) async fn check(
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let form = Form::of(&fields);
    let read = form.plan();
    let mut page = page(&visitor, form);
    match read {
        Ok((text, plan)) => {
            page.form.list_items();
            page.follows = Some(follows(text, &plan).await);
            Ok(respond(StatusCode::OK, &page))
        }
        Err(complaints) => {
            page.complaints = complaints.into();
            Ok(respond(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
    }
}

/// `POST /new`: writes the plan and opens the study.
pub(super) async fn create(
    State(app): App,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let form = Form::of(&fields);
    let read = form.plan();
    let made = match read {
        Ok((text, plan)) => write(app, text, plan.study).await?,
        Err(complaints) => Err(complaints),
    };
    match made {
        Ok(address) => Ok(Redirect::to(&address).into_response()),
        Err(complaints) => {
            let mut page = page(&visitor, form);
            page.complaints = complaints.into();
            Ok(respond(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
    }
}

/// Writes a plan and opens its study. Returns the address of its page, or a complaint about its name.
async fn write(
    app: Arc<CoordinatorState>,
    text: String,
    study: String,
) -> Result<Result<String, Vec<Complaint>>, PageError> {
    let work = move || {
        let path = app.folder.plans().join(format!("{study}.toml"));
        match folder::create(&path, &text) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let text = format!("There is a plan called {study} already. Choose another name.");
                return Ok(Err(vec![Complaint::new("study", text)]));
            }
            Err(error) => {
                return Err(PageError::bad(format!(
                    "The plan cannot be written to the coordinator's folder: {error}"
                )));
            }
        }
        match app.studies.open(&path) {
            Ok(_) => Ok(Ok(format!("/studies/{study}"))),
            Err(error) => {
                // A plan that cannot be opened must not be there at the next start.
                let _ = std::fs::remove_file(&path);
                Err(PageError::bad(error.to_string()).leading("/new", "Back to the form"))
            }
        }
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(PageError::ours()))
}

async fn follows(text: String, plan: &StudyPlan) -> Follows {
    let mut warnings = warnings(plan);
    let (mut drawn, mut remarks) = (None, Vec::new());
    if plan.mode == Mode::Private {
        if plan.items.len() * plan.cohort.sites.len() > LARGE {
            warnings.push(
                "With so many items and sites the forecast would take minutes. Use `fedirt privacy plan`."
                    .into(),
            );
        } else {
            let mut list = PrivacyLevel::ALL.map(PrivacyLevel::epsilon).to_vec();
            list.extend(plan.privacy.as_ref().map(|p| p.epsilon));
            list.sort_by(f64::total_cmp);
            list.dedup();
            match privacy::forecast(plan, list).await {
                Ok(found) => {
                    drawn = Some(figure("forecast", &found.figure, Numbers::Folded));
                    remarks = found.remarks;
                }
                Err(error) => warnings.push(error.to_string()),
            }
        }
    } else if plan.items.len() * plan.cohort.sites.len() <= LARGE {
        let plan = plan.clone();
        let work = tokio::task::spawn_blocking(move || forecast::expects(&plan)).await;
        match work {
            Ok(Ok(sentences)) => remarks = sentences,
            Ok(Err(problem)) => warnings.push(problem.to_string()),
            Err(_) => {}
        }
    }
    Follows { words: plan.in_words(), warnings, forecast: drawn, remarks, text }
}

/// Warnings about plans that are valid but give little precision or little privacy.
fn warnings(plan: &StudyPlan) -> Vec<String> {
    let mut out = Vec::new();
    let (items, sites, students) = (plan.items.len(), plan.cohort.sites.len(), plan.cohort.expected_students);
    if items < 5 {
        out.push(format!("{items} items are few: estimates will be imprecise, and sums will reveal much about single answers."));
    }
    if students < 500 {
        out.push(format!("About {students} students are few for a 2PL; 500 or more are usual."));
    }
    if sites as u64 * 10 > students && plan.model.effects == Effects::Fixed {
        out.push(format!(
            "There are about {} students per site: fixed effects will have standard errors of about half a standard deviation or more.",
            students / sites.max(1) as u64
        ));
    }
    if plan.booklets.len() > 1 && students / (plan.booklets.len() as u64) < 300 {
        out.push(format!(
            "There are about {} students per booklet: items that are in only one booklet get few answers.",
            students / plan.booklets.len() as u64
        ));
    }
    if plan.items.iter().filter(|item| item.fixed.is_some()).count() == 1 {
        out.push(
            "A single item with known parameters determines the origin of the scale. Two or more are usual."
                .into(),
        );
    }
    if plan.mode == Mode::Secure && plan.pooled_rows_may_be_inferred() {
        out.push("With 12 items or fewer, or fewer than 1000 students, exact sums can determine the pooled table of all answers. The plan names this risk.".into());
    }
    if plan.sites_may_be_inferred() {
        out.push("With site effects, a coordinator may also be able to infer which answers belong to the same site. The plan names this risk; effects = none does not have it.".into());
    }
    if plan.mode == Mode::Secure && sites == 3 {
        out.push("With three sites, each can see the sum of the other two. The plan names this risk.".into());
    }
    if plan.mode == Mode::Plain {
        out.push("The coordinator can reconstruct answers of single students from a site's sums. The plan names this risk.".into());
    }
    out
}
