//! The actions of an administrator (begin, drop sites, end), each with a page that explains it and asks for confirmation.

use super::{App, CoordinatorState, CoordinatorStudy, Name, Page, frame, words};
use crate::{Fields, Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect};
use fedirt_coordinator::store::OperatorInput;
use fedirt_coordinator::study::{NotTaken, Order};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Maximum length of a reason, in characters.
const MAX_REASON: usize = 500;

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmPage {
    frame: Frame,
    name: String,
    subtitle: String,
    heading: String,
    sentences: Vec<String>,
    /// Sites to choose from.
    sites: Vec<String>,
    wants_reason: bool,
    button: &'static str,
    danger: bool,
}

fn page(
    visitor: &Visitor,
    seen: &CoordinatorStudy,
    heading: &str,
    sentences: Vec<String>,
    button: &'static str,
) -> ConfirmPage {
    ConfirmPage {
        frame: frame(visitor, seen, heading, ""),
        name: seen.study.name.to_string(),
        subtitle: words::subtitle(seen),
        heading: heading.to_owned(),
        sentences,
        sites: Vec::new(),
        wants_reason: false,
        button,
        danger: false,
    }
}

/// `GET …/begin`.
pub(super) async fn ask_begin(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    let joined = seen.study.so_far().declared().len();
    let sentences = vec![
        format!(
            "{} have joined, of {}. Those that have not are left out of this study for good: {}.",
            words::counted(joined, "site", "sites"),
            seen.plan.cohort.sites.len(),
            if seen.status.waiting_for.is_empty() {
                "none".into()
            } else {
                seen.status.waiting_for.join(", ")
            }
        ),
        "The roster is then shown to every site, and officers compare its fingerprint by telephone.".into(),
    ];
    Ok(render(&page(&visitor, &seen, "Begin without waiting", sentences, "Begin now")))
}

/// `POST …/begin`.
pub(super) async fn begin(State(app): App, Path(name): Name) -> Page {
    tell(app, name, OperatorInput::Begin).await
}

/// `GET …/drop`.
pub(super) async fn ask_drop(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    let mut sentences = vec![
        "Sites that are left out cannot return to this study. Where the plan or the chain of cohorts forbids it, the \
         coordinator refuses and says why."
            .to_owned(),
    ];
    if seen.status.released {
        sentences.push(
            "Sums have been released already. Continuing without a site could reveal what it sent, so the other sites refuse \
             unless enough sites leave together."
                .to_owned(),
        );
    }
    let lost = |site: &&String| !seen.status.sites.iter().any(|s| s.name == **site && s.lost);
    let mut page = page(&visitor, &seen, "Continue without some sites", sentences, "Continue without them");
    page.sites = seen.plan.cohort.sites.iter().filter(lost).cloned().collect();
    page.danger = true;
    Ok(render(&page))
}

/// `POST …/drop`.
pub(super) async fn drop_sites(
    State(app): App,
    Path(name): Name,
    Extension(fields): Extension<Fields>,
) -> Page {
    let sites: Vec<String> = fields.all("site").map(str::to_owned).collect();
    if sites.is_empty() {
        let text = "Select at least one site to continue without.";
        return Err(PageError::bad(text).leading(&format!("/studies/{name}/drop"), "Go back"));
    }
    tell(app, name, OperatorInput::Drop { sites }).await
}

/// `GET …/end`.
pub(super) async fn ask_end(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    let sentences = vec![
        "The study ends at once, without a result, and cannot be continued. Every site is shown the reason below."
            .to_owned(),
        "Sites do not get back what they have spent of their privacy budgets.".to_owned(),
    ];
    let mut page = page(&visitor, &seen, "End the study", sentences, "End it");
    page.wants_reason = true;
    page.danger = true;
    Ok(render(&page))
}

/// `POST …/end`.
pub(super) async fn end(State(app): App, Path(name): Name, Extension(fields): Extension<Fields>) -> Page {
    let reason = fields.get("reason").to_owned();
    if reason.is_empty() || reason.chars().count() > MAX_REASON {
        let text = format!("Give a reason of 1 to {MAX_REASON} characters, which every site is shown.");
        return Err(PageError::bad(text).leading(&format!("/studies/{name}/end"), "Go back"));
    }
    tell(app, name, OperatorInput::End { reason }).await
}

/// Hands the input to the study, waits until it is carried out, and shows the state of the study.
async fn tell(app: Arc<CoordinatorState>, name: String, input: OperatorInput) -> Page {
    let seen = app.find(&name)?;
    let back = format!("/studies/{name}");
    let refused = |text: &str| Err(PageError::bad(text).leading(&back, "Go back to the study"));
    let (reply, answer) = oneshot::channel();
    match seen.study.order(Order::Act { input, reply }) {
        Ok(()) => {}
        Err(NotTaken::Busy) => return refused("The coordinator is busy. Nothing was done: try again."),
        Err(NotTaken::Stopped) => return Err(PageError::ours()),
    }
    match answer.await {
        Ok(Ok(())) => Ok(Redirect::to(&back).into_response()),
        Ok(Err(refusal)) => refused(&refusal.to_string()),
        Err(_) => Err(PageError::ours()),
    }
}
