//! What the columns of the file are: which of them are items, how answers stand in them, what means "no answer".

use super::file::{shown, unreadable};
use super::looked::column_values;
use super::mapping::{LONG_FIELDS, Mapping, NO_COLUMN, Odd, UNSAID, is_long, reason};
use super::officer_settings::Answers;
use super::overview::subtitle;
use super::remembered::Remembered;
use super::words::sentence;
use super::{App, Name, OfficerState, Page, SiteStudy, aside, at, keep};
use crate::complaints::Complaints;
use crate::frame::respond;
use crate::{Fields, Frame, PageError, Visitor};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use fedirt_data::text::{counted, grouped};
use fedirt_data::{Audience, ColumnValues, Proposal};
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::StudyPlan;

/// Most texts of a column that are shown beside it.
const TEXTS_SHOWN: usize = 6;

/// An item of the plan and its column.
struct ItemRow {
    field: String,
    name: String,
    chosen: String,
    why: &'static str,
    holds: String,
    reversed: bool,
}

/// A column that a file with a line for each answer must have.
struct LongColumn {
    field: &'static str,
    label: &'static str,
    chosen: String,
}

/// A radio button for how the answers stand.
struct AnswersChoice {
    value: &'static str,
    text: &'static str,
    chosen: bool,
}

#[derive(Template)]
#[template(path = "officer_columns.html")]
struct ColumnsPage {
    frame: Frame,
    name: String,
    subtitle: String,
    file: String,
    columns: Vec<String>,
    items: Vec<ItemRow>,
    /// Items with a column of their own name, and with any column.
    same: usize,
    found: usize,
    unsaid: Vec<String>,
    unused: Vec<String>,
    odd: Vec<(Odd, String)>,
    answers: Vec<AnswersChoice>,
    long: bool,
    lines: bool,
    long_columns: Vec<LongColumn>,
    said: Mapping,
    /// Codes that are typed, because no cell of the chosen columns has them.
    typed: String,
    /// What the plan asks about each student and the names of its groups, where it compares some.
    groups: Option<(String, String)>,
    private: bool,
    complaints: Complaints,
    unsaid_value: &'static str,
    no_column: &'static str,
    fixed: bool,
    administers: bool,
}

/// The columns of the chosen file with their texts, or an error page.
async fn values(seen: &SiteStudy) -> Result<Vec<ColumnValues>, PageError> {
    let Some(file) = seen.settings.file.clone() else {
        let text = "No file is chosen yet, or its copy was deleted when the study was over.";
        return Err(PageError::bad(text).leading(&at(&seen.study, "/file"), "Choose your file"));
    };
    aside(move || column_values(&file)).await?.map_err(|problems| unreadable(seen, &problems))
}

fn names(values: &[ColumnValues]) -> Vec<String> {
    values.iter().map(|column| column.column.clone()).collect()
}

/// The texts of a column in a few words.
fn holds(values: &[ColumnValues], column: &str) -> String {
    let Some(column) = values.iter().find(|values| values.column == column) else { return String::new() };
    let first = column.texts.iter().take(TEXTS_SHOWN).map(|(text, _)| text.as_str());
    let more = if column.texts.len() > TEXTS_SHOWN || column.many { ", …" } else { "" };
    first.collect::<Vec<_>>().join(", ") + more
}

fn page(
    app: &OfficerState,
    visitor: &Visitor,
    seen: &SiteStudy,
    values: &[ColumnValues],
    said: Mapping,
    proposals: &[Proposal],
    complaints: Complaints,
) -> ColumnsPage {
    let plan = &seen.study.plan;
    let names = names(values);
    let why = |item: &str, column: &str| {
        let proposal = proposals.iter().find(|p| p.item == item && p.column == column);
        proposal.map_or("", |proposal| reason(proposal.likeness))
    };
    let items: Vec<ItemRow> = plan
        .items
        .iter()
        .zip(&said.columns)
        .enumerate()
        .map(|(place, (item, column))| ItemRow {
            field: format!("item-{place}"),
            why: why(&item.name, column),
            holds: holds(values, column),
            reversed: said.reversed.contains(&item.name),
            chosen: column.clone(),
            name: item.name.clone(),
        })
        .collect();
    let odd = said.odd(plan, values);
    let typed: Vec<&str> = said
        .missing
        .iter()
        .filter(|code| !odd.iter().any(|odd| odd.text == **code))
        .map(String::as_str)
        .collect();
    let used =
        |name: &String| said.columns.contains(name) || [&said.id, &said.weight, &said.group].contains(&name);
    let labels = ["Column of the student", "Column of the item’s name", "Column of the answer"];
    let long_columns = LONG_FIELDS.into_iter().zip(labels).zip(said.long.clone());
    let answers = [
        (Answers::Numbers, "The numbers of the plan’s categories, such as 0 and 1"),
        (Answers::Options, "The options that were chosen, such as A, B, C, D"),
        (Answers::Words, "Words of a scale, such as never, sometimes, always"),
    ];
    ColumnsPage {
        frame: super::frame(visitor, seen, "Columns", super::Step::File),
        name: seen.folder.name().to_owned(),
        subtitle: subtitle(seen),
        file: seen.settings.file.as_ref().map_or_else(String::new, |file| shown(&seen.settings, file)),
        same: items.iter().filter(|row| row.chosen == row.name).count(),
        found: items.iter().filter(|row| row.chosen != UNSAID && row.chosen != NO_COLUMN).count(),
        unsaid: items.iter().filter(|row| row.chosen == UNSAID).map(|row| row.name.clone()).collect(),
        unused: names.iter().filter(|name| !used(name)).cloned().collect(),
        typed: typed.join(" "),
        odd: odd.into_iter().map(|odd| (odd.clone(), frequency(&odd))).collect(),
        answers: answers
            .map(|(answers, text)| AnswersChoice {
                value: answers.name(),
                text,
                chosen: answers == said.answers,
            })
            .into(),
        long: is_long(&names),
        lines: said.long.iter().any(|column| !column.is_empty()),
        long_columns: long_columns
            .map(|((field, label), chosen)| LongColumn { field, label, chosen })
            .collect(),
        groups: plan.groups.as_ref().map(|groups| (groups.question.clone(), groups.names.join(", "))),
        private: plan.mode == Mode::Private,
        unsaid_value: UNSAID,
        no_column: NO_COLUMN,
        fixed: app.must_be_open(seen).is_err(),
        administers: visitor.administers(),
        columns: names,
        items,
        said,
        complaints,
    }
}

fn frequency(odd: &Odd) -> String {
    let answers = counted(odd.answers, "answer", "answers");
    match odd.items {
        1 => format!("{answers} to one item"),
        items => format!("{answers} to {} items", grouped(items)),
    }
}

fn first_or_said(
    app: &OfficerState,
    seen: &SiteStudy,
    plan: &StudyPlan,
    values: &[ColumnValues],
) -> (Mapping, Vec<Proposal>) {
    let (proposed, proposals) = Mapping::proposed(plan, values, &Remembered::read(app));
    if seen.settings.mapped {
        return (Mapping::said(&seen.settings, plan, &names(values)), proposals);
    }
    (proposed, proposals)
}

/// `GET /studies/{study}/columns`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let values = values(&seen).await?;
    let (said, proposals) = first_or_said(&app, &seen, &seen.study.plan, &values);
    let page = page(&app, &visitor, &seen, &values, said, &proposals, Complaints::default());
    Ok(respond(StatusCode::OK, &page))
}

/// `POST /studies/{study}/columns`.
pub(super) async fn map(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let _changing = app.changing.lock().await;
    let mut seen = app.find(&name)?;
    app.must_be_open(&seen)?;
    let values = values(&seen).await?;
    let names = names(&values);
    let plan = seen.study.plan.clone();
    let said = Mapping::entered(&fields, &plan, &names);
    let mut complaints = said.complaints(&plan, &names);
    said.keep(&plan, &names, &mut seen.settings);
    if let Err(problems) = seen.settings.options() {
        let told = |p: &fedirt_data::Problem| {
            let line = p.line.map_or_else(String::new, |line| format!(" (line {line})"));
            format!("{}{line}. {}", p.cause.told(Audience::Page), sentence(&p.remedy(Audience::Page)))
        };
        let told: Vec<String> = problems.iter().map(told).collect();
        complaints.add("key", format!("These tables cannot be read: {}", told.join(" ")));
    }
    if !complaints.is_empty() {
        let (_, proposals) = Mapping::proposed(&plan, &values, &Remembered::read(&app));
        let page = page(&app, &visitor, &seen, &values, said, &proposals, complaints);
        return Ok(respond(StatusCode::UNPROCESSABLE_ENTITY, &page));
    }
    Remembered::read(&app).learn(&said, &plan).write(&app)?;
    keep(&seen).await?;
    Ok(Redirect::to(&at(&seen.study, "/check")).into_response())
}
