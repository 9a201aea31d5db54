//! The preview of everything that will be sent, number by number, with examples of masked numbers.

use super::check::rare_cells;
use super::looked::look;
use super::mapping::quoted;
use super::overview::subtitle;
use super::records::left_in_words;
use super::words::capital;
use super::{App, Name, Page, aside, at, frame, told, words};
use crate::{Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect};
use fedirt_agent::{Preview, RoundPreview, StatisticPreview, preview};
use fedirt_data::text::{counted, grouped};
use fedirt_model::statistics::Mode;
use fedirt_protocol::leaves::{Form, Leaf, Leaves};
use rand::TryRng;
use rand::rngs::SysRng;

/// Maximum number of values of a statistic that are shown.
const SHOWN: usize = 200;

/// What leaves in one form.
struct FormShown {
    form: &'static str,
    what: Vec<String>,
}

/// The rows of the verdict: readable things one by one, and sums under masks as one line, because their kinds stand below.
fn by_form(leaves: &Leaves, mode: Mode) -> Vec<FormShown> {
    let worded = |leaf: &Leaf| {
        let shared = if leaf.is_shared(mode) { "; the other sites are told too" } else { "" };
        format!("{}{shared}", capital(leaf.in_words()))
    };
    let one = |form: Form| {
        let all: Vec<Leaf> =
            leaves.iter().filter(|(_, other)| *other == form).map(|(leaf, _)| *leaf).collect();
        let sums = all.iter().filter(|leaf| matches!(leaf, Leaf::Statistic(..))).count() as u64;
        let others = all.iter().filter(|leaf| !matches!(leaf, Leaf::Statistic(..)));
        let mut what: Vec<String> = others.map(worded).collect();
        if sums > 0 {
            what.push(format!(
                "Sums over your students, of {} that stand below",
                counted(sums, "kind", "kinds")
            ));
        }
        FormShown { form: form.in_words(), what }
    };
    let forms = [Form::Open, Form::Masked, Form::MaskedNoisy].map(one);
    forms.into_iter().filter(|form| !form.what.is_empty()).collect()
}

/// A number, and what is sent in its place.
struct Number {
    about: String,
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
    plain: bool,
    /// What leaves, by its form.
    leaves: Vec<FormShown>,
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
        frame: frame(&visitor, &seen, "What will be sent", super::Step::Sent),
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
        plain: plan.mode == Mode::Plain,
        leaves: by_form(&shown.leaves, plan.mode),
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
    let labels = statistic.about.iter().map(|about| capital_or(about, statistic.meaning));
    let numbers = statistic.numbers.iter().zip(labels).take(SHOWN).map(|(value, about)| {
        let own = number(*value);
        let leaves = if covered { masked_example()? } else { own.clone() };
        Ok(Number { about, own, leaves })
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

/// What a number is about; a number that stands for itself is about what its statistic says.
fn capital_or(about: &str, meaning: &str) -> String {
    if about.is_empty() { capital(meaning) } else { about.to_owned() }
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

/// `GET /studies/{study}/preview/numbers.csv`: every number, with what it is about.
pub(super) async fn numbers(State(app): App, Path(name): Name) -> Page {
    let seen = app.find(&name)?;
    let Ok(looked) = look(&seen).await? else {
        return Ok(Redirect::to(&at(&seen.study, "/check")).into_response());
    };
    let study = seen.folder.load().map_err(told)?;
    let policy = app.home.policy().map_err(told)?;
    let own = looked.own;
    let shown: Preview = aside(move || preview(&study, &own, &policy)).await?.map_err(told)?;
    let covered = |by_name: bool| match seen.study.plan.mode {
        Mode::Plain => "as it is",
        _ if by_name => "as it is",
        Mode::Secure => "masked",
        Mode::Private => "masked with noise",
    };
    let mut text = String::from("round,statistic,number,about,computed_here,leaves\n");
    for (round, statistic) in shown.rounds.iter().flat_map(|r| r.statistics.iter().map(move |s| (r, s))) {
        let leaves = covered(statistic.by_name);
        for (place, (value, about)) in statistic.numbers.iter().zip(&statistic.about).enumerate() {
            let (round, about) = (quoted(&round.name), quoted(about));
            text.push_str(&format!("{round},{},{},{about},{value:?},{leaves}\n", statistic.name, place + 1));
        }
    }
    let named = format!("attachment; filename=\"{name}-what-will-be-sent.csv\"");
    let headers =
        [(header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()), (header::CONTENT_DISPOSITION, named)];
    Ok((headers, text).into_response())
}
