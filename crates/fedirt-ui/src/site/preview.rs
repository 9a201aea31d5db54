//! The preview of everything that will be sent, number by number, with examples of masked numbers.

use super::check::rare_cells;
use super::looked::look;
use super::overview::subtitle;
use super::records::left_in_words;
use super::words::capital;
use super::{App, Name, Page, aside, at, frame, told, words};
use crate::{Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect};
use fedirt_agent::{Preview, RoundPreview, StatisticPreview, preview};
use fedirt_data::text::{counted, grouped};
use fedirt_model::statistics::Mode;
use rand::TryRng;
use rand::rngs::SysRng;

/// Maximum number of values of a statistic that are shown.
const SHOWN: usize = 200;

/// A number, and what is sent in its place.
struct Number {
    own: String,
    leaves: String,
}

/// A statistic with its numbers.
struct Statistic {
    name: &'static str,
    meaning: &'static str,
    count: String,
    by_name: bool,
    numbers: Vec<Number>,
    more: usize,
}

struct Round {
    name: String,
    remark: String,
    statistics: Vec<Statistic>,
}

#[derive(Template)]
#[template(path = "officer_preview.html")]
struct PreviewPage {
    frame: Frame,
    name: String,
    subtitle: String,
    left: String,
    joined: bool,
    students: String,
    items: usize,
    weights: Option<String>,
    masked: bool,
    private: bool,
    learns: &'static str,
    epsilon: Option<String>,
    rounds: Vec<Round>,
    rare: Vec<String>,
    remarks: Vec<String>,
    next: String,
    base: String,
}

/// `GET /studies/{study}/preview`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let Ok(looked) = look(&seen).await? else {
        return Ok(Redirect::to(&at(&seen.study, "/check")).into_response());
    };
    let rare = rare_cells(&looked);
    let study = seen.folder.load().map_err(told)?;
    let own = looked.own;
    let policy = app.home.policy().map_err(told)?;
    let shown: Preview = aside(move || preview(&study, &own, &policy)).await?.map_err(told)?;
    let plan = &seen.study.plan;
    let masked = plan.mode != Mode::Plain;
    let rounds = shown.rounds.iter().map(|round| show_round(round, masked)).collect::<Result<_, _>>()?;
    Ok(render(&PreviewPage {
        frame: frame(&visitor, &seen, "What will be sent", "/preview"),
        subtitle: subtitle(&seen),
        left: left_in_words(&seen.folder),
        joined: app.must_be_open(&seen).is_err(),
        students: counted(shown.students, "student", "students"),
        items: shown.items.iter().filter(|item| !item.codes.is_empty()).count(),
        weights: shown
            .weights
            .map(|(total, most)| format!("their weights add up to {total}, none above {most}")),
        masked,
        private: plan.mode == Mode::Private,
        learns: words::who_learns_what(plan),
        epsilon: words::epsilon_in_words(plan),
        rounds,
        rare,
        remarks: shown.remarks,
        next: at(&seen.study, "/approve"),
        base: at(&seen.study, ""),
        name,
    }))
}

fn show_round(round: &RoundPreview, masked: bool) -> Result<Round, PageError> {
    let statistics = round.statistics.iter().map(|s| show_statistic(s, masked)).collect::<Result<_, _>>()?;
    let name = match round.name.as_str() {
        "closing" => "Closing round".into(),
        "for robust standard errors" => "Round for robust standard errors".into(),
        name if name.starts_with("last") => name.replacen("last but one", "Last round but one", 1),
        name if name.contains("later") => format!("Rounds {name}"),
        name => format!("Round {name}"),
    };
    Ok(Round { name, remark: capital(&round.remark), statistics })
}

fn show_statistic(statistic: &StatisticPreview, masked: bool) -> Result<Statistic, PageError> {
    // A statistic that is sent with the site's name is not masked.
    let covered = masked && !statistic.by_name;
    let numbers = statistic.numbers.iter().take(SHOWN).map(|value| {
        let own = number(*value);
        let leaves = if covered { masked_example()? } else { own.clone() };
        Ok(Number { own, leaves })
    });
    Ok(Statistic {
        name: statistic.name,
        meaning: statistic.meaning,
        count: counted(statistic.count as u64, "number", "numbers"),
        by_name: statistic.by_name,
        numbers: numbers.collect::<Result<_, PageError>>()?,
        more: statistic.numbers.len().saturating_sub(SHOWN),
    })
}

/// An example of a masked number: a uniformly random word of 64 bits. It is drawn here; the masks of a round are derived from
/// keys that the sites make for that round.
fn masked_example() -> Result<String, PageError> {
    let mut bytes = [0; 8];
    SysRng.try_fill_bytes(&mut bytes).map_err(|_| PageError::ours())?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

/// Whole numbers without decimals, others with four.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}{}", grouped(value.abs() as u64));
    }
    format!("{value:.4}").replace('-', "−")
}
