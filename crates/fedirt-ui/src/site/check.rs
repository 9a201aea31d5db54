//! The check of the file: everything that is wrong with it, or a summary of what is in it. Nothing is sent.

use super::looked::{Looked, look};
use super::overview::subtitle;
use super::records::left_in_words;
use super::words::sentence;
use super::{App, Name, Page, SiteStudy, at, frame};
use crate::figure::{Numbers, figure};
use crate::{Frame, Html, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect};
use fedirt_agent::{self as agent, AgentError};
use fedirt_data::text::{counted, grouped};
use fedirt_data::{Audience, Problems};
use fedirt_figures::{category_shares, missing_map, score_histogram};
use fedirt_model::private::MissingAnswers;
use fedirt_protocol::private::incomplete_rows;

/// Categories with fewer answers than this are listed as rare.
const RARE: u64 = 5;

/// A problem with the file.
struct Wrong {
    place: String,
    what: String,
    remedy: String,
}

/// A line of the checklist.
struct Point {
    fine: bool,
    text: String,
}

#[derive(Template)]
#[template(path = "officer_check.html")]
struct CheckPage {
    frame: Frame,
    name: String,
    subtitle: String,
    left: String,
    joined: bool,
    wrong: Vec<Wrong>,
    total: u64,
    points: Vec<Point>,
    stops: Vec<String>,
    notes: Vec<String>,
    figures: Vec<Html>,
    file_href: String,
    columns_href: String,
    next: String,
}

/// `GET /studies/{study}/check`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    if !seen.settings.mapped && seen.settings.file.is_some() {
        return Ok(Redirect::to(&at(&seen.study, "/columns")).into_response());
    }
    let looked = look(&seen).await?;
    let mut page = CheckPage {
        frame: frame(&visitor, &seen, "Check", super::Step::Check),
        subtitle: subtitle(&seen),
        left: left_in_words(&seen.folder),
        joined: app.must_be_open(&seen).is_err(),
        wrong: Vec::new(),
        total: 0,
        points: Vec::new(),
        stops: Vec::new(),
        notes: Vec::new(),
        figures: Vec::new(),
        file_href: at(&seen.study, "/file"),
        columns_href: at(&seen.study, "/columns"),
        next: at(&seen.study, "/preview"),
        name,
    };
    match looked {
        Ok(looked) => {
            let policy = app.home.policy().map_err(super::told)?;
            page.points = points(&seen, &looked, policy.minimum_students);
            page.stops =
                agent::refused_with(&policy, &seen.study, &looked.own).iter().map(|r| sentence(r)).collect();
            page.notes = looked.own.remarks(Audience::Page);
            page.figures = vec![
                figure("answers", &category_shares(&looked.items), Numbers::Folded),
                figure("scores", &score_histogram(&looked.scores), Numbers::Folded),
                figure("missing", &missing_map(&looked.missing), Numbers::Folded),
            ];
        }
        Err(error) => (page.wrong, page.total) = wrong(error),
    }
    Ok(render(&page))
}

fn wrong(error: AgentError) -> (Vec<Wrong>, u64) {
    match error {
        AgentError::Files(problems) => (of_files(&problems), problems.total()),
        AgentError::Columns(problems) => {
            let total = problems.len() as u64;
            let whole = |what: String| Wrong { place: String::new(), what, remedy: String::new() };
            (problems.iter().map(|problem| whole(problem.told(Audience::Page))).collect(), total)
        }
        other => {
            (vec![Wrong { place: String::new(), what: other.told(Audience::Page), remedy: String::new() }], 1)
        }
    }
}

fn of_files(problems: &Problems) -> Vec<Wrong> {
    let mut all = Vec::new();
    for group in problems.groups() {
        all.extend(group.first.iter().map(|problem| {
            let line = problem.line.map(|line| format!("line {}", grouped(line)));
            let column = problem.column.as_ref().map(|column| format!("column {column}"));
            Wrong {
                place: [line, column].into_iter().flatten().collect::<Vec<_>>().join(", "),
                what: problem.cause.told(Audience::Page),
                remedy: problem.remedy(Audience::Page),
            }
        }));
        let more = group.total - group.first.len() as u64;
        if more > 0 {
            let what = format!("{} of this kind", counted(more, "more", "more"));
            all.push(Wrong { place: String::new(), what, remedy: String::new() });
        }
    }
    all
}

fn points(seen: &SiteStudy, looked: &Looked, minimum: u64) -> Vec<Point> {
    let students = looked.own.table.students() as u64;
    let summary = &looked.summary;
    let given = looked.items.iter().filter(|item| item.counts.iter().any(|(_, n)| *n > 0)).count();
    let planned = looked.items.len();
    let mut points = vec![
        Point {
            fine: students >= minimum,
            text: format!(
                "{} (this site's rules require at least {})",
                counted(students, "student", "students"),
                grouped(minimum)
            ),
        },
        Point { fine: given == planned, text: format!("{given} of the plan's {planned} items have answers") },
        Point {
            fine: summary.empty_rows == 0,
            text: match summary.empty_rows {
                0 => "Every student has answered something".into(),
                n => format!("{} without any answer", counted(n, "student", "students")),
            },
        },
    ];
    let extreme = summary.all_highest + summary.all_lowest;
    points.push(Point {
        fine: extreme * 20 <= students,
        text: format!(
            "{} with the highest category everywhere, {} with the lowest",
            counted(summary.all_highest, "student", "students"),
            grouped(summary.all_lowest)
        ),
    });
    let rare: Vec<String> = rare_cells(looked);
    points.push(Point {
        fine: rare.is_empty(),
        text: if rare.is_empty() {
            format!("Every category has {RARE} answers or more")
        } else {
            format!("Categories with fewer than {RARE} answers: {}", rare.join(", "))
        },
    });
    if let Some(private) = &seen.study.terms.private {
        let incomplete = incomplete_rows(&private.booklets, &looked.own.table);
        let what = match private.missing {
            MissingAnswers::Counted => "lack an answer, and are left out of this study",
            MissingAnswers::Wrong => "lack an answer, which is scored as wrong in this study",
        };
        points.push(Point {
            fine: incomplete == 0,
            text: format!("{} of {} students {what}", grouped(incomplete), grouped(students)),
        });
    }
    if seen.settings.id.is_none() {
        points.push(Point {
            fine: true,
            text: "No column of identifiers is chosen, so scores will be numbered by row".into(),
        });
    }
    points
}

/// Categories that only a few students of this site chose.
pub(super) fn rare_cells(looked: &Looked) -> Vec<String> {
    const SHOWN: usize = 12;
    let all = looked.items.iter().filter(|item| item.counts.iter().any(|(_, n)| *n > 0)).flat_map(|item| {
        let few = item.counts.iter().filter(|(_, n)| *n < RARE);
        few.map(move |(code, n)| format!("{} = {code} ({n})", item.name))
    });
    let mut rare: Vec<String> = all.collect();
    if rare.len() > SHOWN {
        let more = rare.len() - SHOWN;
        rare.truncate(SHOWN);
        rare.push(format!("and {more} more"));
    }
    rare
}
