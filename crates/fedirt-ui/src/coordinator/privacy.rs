//! The privacy page: what was released and when, what it cost, and the forecast at other values of ε.

use super::{App, CoordinatorStudy, Name, Page, frame, words};
use crate::figure::{Numbers, figure};
use crate::{Fields, Frame, Html, Moment, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_coordinator::forecast::{self, Forecast};
use fedirt_coordinator::study::AnsweredAttempt;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::StudyPlan;
use fedirt_protocol::private::PrivateRefusal;

struct Row {
    round: String,
    what: String,
    sites: usize,
    numbers: String,
    opened: Moment,
}

#[derive(Template)]
#[template(path = "privacy.html")]
struct PrivacyPage {
    frame: Frame,
    name: String,
    subtitle: String,
    promise: Vec<String>,
    private: bool,
    rows: Vec<Row>,
    epsilons: String,
    problem: Option<String>,
    forecast: Option<(Html, Vec<String>)>,
    analyses: bool,
}

/// `GET /studies/{study}/privacy`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    Ok(render(&page(&visitor, &seen)))
}

/// `POST /studies/{study}/privacy`: a forecast at other values of ε.
pub(super) async fn what_if(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let seen = app.find(&name)?;
    let mut page = page(&visitor, &seen);
    page.epsilons = fields.get("epsilons").to_owned();
    match epsilons(&page.epsilons) {
        Ok(list) => match forecast(&seen.plan, list).await {
            Ok(found) => {
                page.forecast = Some((figure("forecast", &found.figure, Numbers::Beside), found.remarks))
            }
            Err(error) => page.problem = Some(error.to_string()),
        },
        Err(error) => page.problem = Some(error.to_string()),
    }
    Ok(render(&page))
}

/// Why there is no forecast.
#[derive(Debug, thiserror::Error)]
pub(super) enum ForecastError {
    #[error("ε: {0:?} is not a number; write a list such as 0.5, 1, 2")]
    NotANumber(String),
    #[error("ε: 1 to 8 numbers from 0.01 to 50 are needed, such as 0.5, 1, 2, 4")]
    OutOfRange,
    #[error(transparent)]
    Refused(#[from] PrivateRefusal),
    #[error("The forecast failed because of an error in the program; see the log.")]
    Panic,
}

/// Parses a list of values of ε.
fn epsilons(text: &str) -> Result<Vec<f64>, ForecastError> {
    let parts = text.split([' ', ';', ',']).filter(|part| !part.is_empty());
    let number = |part: &str| part.parse::<f64>().map_err(|_| ForecastError::NotANumber(part.to_owned()));
    let mut list = parts.map(number).collect::<Result<Vec<f64>, _>>()?;
    if list.is_empty() || list.len() > 8 || list.iter().any(|e| !(0.01..=50.0).contains(e)) {
        return Err(ForecastError::OutOfRange);
    }
    list.sort_by(f64::total_cmp);
    list.dedup();
    Ok(list)
}

/// Computes the forecast for the plan as if it were private, in a thread of its own, so that connections are still served.
pub(super) async fn forecast(plan: &StudyPlan, list: Vec<f64>) -> Result<Forecast, ForecastError> {
    let plan = plan.clone();
    let work = tokio::task::spawn_blocking(move || forecast::forecast(&plan, &list));
    Ok(work.await.map_err(|_| ForecastError::Panic)??)
}

fn page(visitor: &Visitor, seen: &CoordinatorStudy) -> PrivacyPage {
    let released = seen.study.so_far().releases();
    let private = seen.plan.mode == Mode::Private;
    let row = |release: &AnsweredAttempt| Row {
        round: match release.turn.attempt {
            1 => release.turn.round.to_string(),
            attempt => format!("{}, attempt {attempt}", release.turn.round),
        },
        what: match seen.plan.mode {
            Mode::Private => "sums over all sites, with noise".into(),
            Mode::Secure => "exact sums over all sites, masked".into(),
            Mode::Plain => "each site's exact sums".into(),
        },
        sites: release.sites,
        numbers: words::count(release.numbers),
        opened: Moment(release.last.0),
    };
    PrivacyPage {
        frame: frame(visitor, seen, "Privacy", "/privacy"),
        name: seen.study.name.to_string(),
        subtitle: words::subtitle(seen),
        promise: promise(&seen.plan),
        private,
        rows: released.iter().map(row).collect(),
        epsilons: "0.5, 1, 2, 4, 8".into(),
        problem: None,
        forecast: None,
        analyses: visitor.analyses(),
    }
}

fn promise(plan: &StudyPlan) -> Vec<String> {
    let mut out = vec![words::reveals(plan.mode).to_owned()];
    if let (Mode::Private, Some(privacy)) = (plan.mode, &plan.privacy) {
        out.push(format!(
            "ε = {} and δ = {:e} are for the whole study as planned, which has two rounds. Each site's ledger is debited before its \
             numbers are sent, and never refunded; a repeated attempt is debited again.",
            privacy.epsilon, privacy.delta
        ));
        out.push(
            "Adjacency: one student's answers at one site are zeroed out. Only the site itself knows how much of its budget is left."
                .into(),
        );
    } else {
        out.push(
            "Exact sums have no ε. Sites record this study in their ledgers as an exact release, and their policies may refuse \
             private studies of the same students afterwards."
                .into(),
        );
    }
    out
}
