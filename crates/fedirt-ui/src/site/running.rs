//! The page of a running study: what it waits for, rosters and rounds that need an approval, pause, and withdrawal.

use super::officer_settings::{self, OfficerSettings};
use super::overview::subtitle;
use super::records::sent_in_words;
use super::shared::{Phase, RosterWaiting, State as AgentState};
use super::{App, Name, OfficerState, Page, SiteStudy, aside, at, frame, told};
use crate::complaints::Complaints;
use crate::frame::respond;
use crate::{Fields, Frame, PageError, Visitor, events as sse, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use data_encoding::HEXLOWER;
use fedirt_agent::{self as agent, AgentError, Https, JournalEvent, StudyState, Withdrawal};
use fedirt_data::text::counted;
use fedirt_model::statistics::Statistic;
use fedirt_privacy::secure::{Fingerprint, SiteId};
use fedirt_protocol::message::Turn;
use std::collections::BTreeSet;
use std::time::Duration;

/// Maximum number of refusals that are shown, the latest first.
const REFUSALS: usize = 20;
/// What the coordinator and the other sites are told when an officer gives no reason, or keeps it.
const WITHDRAWN: &str = "the site has withdrawn";
/// Interval at which the state of a study is compared for open pages.
const INTERVAL: Duration = Duration::from_millis(500);

/// A statistic that a round asks for.
struct Wanted {
    name: &'static str,
    meaning: &'static str,
    size: String,
}

fn wanted(statistics: &[(Statistic, usize)]) -> Vec<Wanted> {
    let one = |(statistic, size): &(Statistic, usize)| {
        let size = counted(*size as u64, "number", "numbers");
        Wanted { name: statistic.name, meaning: statistic.meaning, size }
    };
    statistics.iter().map(one).collect()
}

/// The name of a turn; the attempt is named only if it is not the first.
fn named(turn: Turn) -> String {
    match turn.attempt {
        1 => format!("Round {}", turn.round),
        attempt => format!("Round {}, attempt {attempt},", turn.round),
    }
}

/// A site of a roster that waits for the officer.
struct OnRoster {
    site: String,
    key: String,
    students: u64,
    own: bool,
    verified: bool,
}

fn on_roster(waiting: &RosterWaiting, own: &SiteId) -> Vec<OnRoster> {
    let one = |(site, key, students): &(SiteId, Fingerprint, u64)| OnRoster {
        site: site.to_string(),
        key: key.to_string(),
        students: *students,
        own: site == own,
        verified: waiting.known.contains(site),
    };
    waiting.shown.sites.iter().map(one).collect()
}

#[derive(Template)]
#[template(path = "officer_running.html")]
struct RunningPage {
    frame: Frame,
    name: String,
    subtitle: String,
    heading: &'static str,
    class: &'static str,
    waiting: String,
    state: AgentState,
    roster: Vec<OnRoster>,
    complaints: Complaints,
    question: String,
    round: String,
    wanted: Vec<Wanted>,
    sent: String,
    answered: String,
    cautions: Vec<String>,
    refusals: Vec<String>,
    ended: Option<String>,
    asked: String,
    may_pause: bool,
    may_resume: bool,
    approved: bool,
    over: bool,
    finished: bool,
    administers: bool,
    base: String,
}

/// `GET /studies/{study}/running`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    Ok(render(&page(&app, &visitor, &seen, Complaints::default())?))
}

fn page(
    app: &OfficerState,
    visitor: &Visitor,
    seen: &SiteStudy,
    complaints: Complaints,
) -> Result<RunningPage, PageError> {
    let name = seen.folder.name().to_owned();
    let entries = seen.folder.entries().map_err(told)?;
    let stands = seen.folder.state_after(&entries, seen.settings.choices()).map_err(told)?;
    let (over, finished) = (stands.is_over(), stands == StudyState::Finished);
    let state = app.runners.shared(&name).map(|shared| shared.state());
    let working = state.as_ref().is_some_and(|s| matches!(s.phase, Phase::Starting | Phase::Working));
    let state = state.unwrap_or_default();
    let asking = state.roster.is_some() || state.round.is_some();
    let approved = seen.settings.approved_by.is_some();
    let (heading, class) = match state.phase {
        _ if finished => ("Finished", ""),
        _ if stands.is_withdrawn() => ("Withdrawn", "bad"),
        _ if over => ("Ended without results", "bad"),
        _ if !approved => ("Nothing runs yet", ""),
        _ if seen.settings.paused && working => ("Pausing: the exchange under way ends first", ""),
        _ if seen.settings.paused => ("Paused", ""),
        Phase::Failed => ("Stopped because of an error", "bad"),
        _ if state.trouble.is_some() => ("The coordinator does not answer", "bad"),
        _ if state.roster.is_some() => ("The roster waits for you", "run"),
        _ if state.round.is_some() => ("A round waits for you", "run"),
        Phase::Starting => ("Starting", "run"),
        _ => ("Taking part", "run"),
    };
    let uploads =
        entries.iter().filter(|entry| matches!(entry.record, JournalEvent::Upload { .. })).count() as u64;
    let refused = entries.iter().rev().filter_map(|entry| match &entry.record {
        JournalEvent::Refused { .. } => Some(entry.record.in_words()),
        _ => None,
    });
    let refusals: Vec<String> = refused.take(REFUSALS).collect();
    Ok(RunningPage {
        complaints,
        frame: frame(visitor, seen, "Running", if over { super::Step::Done } else { super::Step::Roster })
            .live(at(&seen.study, "/events")),
        subtitle: subtitle(seen),
        heading,
        class,
        // While the officer is asked something, the question is shown in its place.
        waiting: if working && !asking { super::words::capital(&state.waiting) } else { String::new() },
        sent: sent_in_words(&seen.folder),
        answered: counted(uploads, "round", "rounds"),
        cautions: state.cautions.clone(),
        refusals,
        ended: seen.settings.ended.clone(),
        asked: seen.settings.asked.words(),
        may_pause: working && !over,
        may_resume: approved && !working && !over,
        approved,
        over,
        finished,
        administers: visitor.administers(),
        base: at(&seen.study, ""),
        round: state.round.as_ref().map_or_else(String::new, |round| named(round.turn)),
        wanted: state.round.as_ref().map_or_else(Vec::new, |round| wanted(&round.statistics)),
        roster: state.roster.as_ref().map_or_else(Vec::new, |waiting| on_roster(waiting, &seen.study.site)),
        question: state.round.as_ref().map_or_else(String::new, |round| HEXLOWER.encode(&round.question)),
        state,
        name,
    })
}

/// `POST /studies/{study}/running`: roster, round, pause or resume.
pub(super) async fn act(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let _changing = app.changing.lock().await;
    let seen = app.find(&name)?;
    let back = at(&seen.study, "/running");
    let shared = app.runners.shared(&name);
    let stale = || {
        let text = "This question is no longer open, because the study has continued. Nothing was done.";
        PageError::bad(text).leading(&back, "Show the state of the study")
    };
    match fields.get("act") {
        "roster" => {
            let shared = shared.ok_or_else(stale)?;
            let waiting = shared.state().roster.ok_or_else(stale)?;
            let others =
                waiting.shown.sites.iter().map(|(site, ..)| site).filter(|site| **site != seen.study.site);
            let called: BTreeSet<SiteId> =
                others.filter(|site| fields.has(&format!("called-{site}"))).cloned().collect();
            let missing = waiting.shown.calls.saturating_sub(waiting.known.union(&called).count());
            if missing > 0 {
                let text = format!(
                    "{} more must be verified: tick the sites whose officers you have called, and who read you the same fingerprint. Without that the roster is not approved.",
                    counted(missing as u64, "site", "sites")
                );
                let page = page(&app, &visitor, &seen, Complaints::one("roster", text))?;
                return Ok(respond(StatusCode::UNPROCESSABLE_ENTITY, &page));
            }
            if !shared.approve_roster(fields.get("fingerprint"), called) {
                return Err(stale());
            }
        }
        "round" => {
            let question = HEXLOWER.decode(fields.get("question").as_bytes()).ok();
            let question = question.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()).ok_or_else(stale)?;
            shared.filter(|s| s.approve_round(question)).ok_or_else(stale)?;
        }
        word @ ("pause" | "resume") => {
            let paused = word == "pause";
            if !paused && seen.settings.approved_by.is_none() {
                let text = "Nothing is approved yet. First look at your file and at what will be sent.";
                return Err(PageError::bad(text).leading(&at(&seen.study, ""), "Show the next step"));
            }
            let mut settings = seen.settings.clone();
            settings.paused = paused;
            let (app, name, folder) = (app.clone(), name.clone(), seen.folder.clone());
            let work = move || {
                settings.write(&folder)?;
                if paused {
                    app.runners.stop(&name);
                } else {
                    app.runners.start(&name);
                }
                Ok(())
            };
            aside(work).await?.map_err(told)?;
        }
        _ => return Err(stale()),
    }
    Ok(Redirect::to(&back).into_response())
}

/// `GET /studies/{study}/events`: an event whenever the pages of the study should be fetched again.
pub(super) async fn events(State(app): App, Path(name): Name) -> Page {
    let seen = app.find(&name)?;
    let mut stopping = app.stopping.clone();
    let state = move || {
        let said = app.runners.shared(&name).map(|shared| shared.state());
        // Every event makes the journal longer.
        let about = |file| std::fs::metadata(app.path(&seen, file)).ok();
        let length = about("journal.jsonl").map_or(0, |about| about.len());
        let finished = about("results/fit.json").is_some();
        let chosen = about(officer_settings::FILE).and_then(|about| about.modified().ok());
        Some(format!("{said:?} {length} {finished} {chosen:?}"))
    };
    Ok(sse::stream(INTERVAL, state, async move {
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }))
}

#[derive(Template)]
#[template(path = "officer_withdraw.html")]
struct WithdrawPage {
    frame: Frame,
    name: String,
    subtitle: String,
    base: String,
}

fn nothing_left(seen: &SiteStudy) -> PageError {
    let text = "The study is over for this site, so it cannot withdraw.";
    PageError::bad(text).leading(&at(&seen.study, ""), "Back to the study")
}

/// `GET /studies/{study}/withdraw`.
pub(super) async fn ask_withdraw(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    if seen.state().map_err(told)?.is_over() {
        return Err(nothing_left(&seen));
    }
    Ok(render(&WithdrawPage {
        frame: super::unstepped(&visitor, &seen, "Withdraw"),
        subtitle: subtitle(&seen),
        base: at(&seen.study, ""),
        name,
    }))
}

/// `POST /studies/{study}/withdraw`.
pub(super) async fn withdraw(
    State(app): App,
    Path(name): Name,
    Extension(fields): Extension<Fields>,
) -> Page {
    let _changing = app.changing.lock().await;
    let seen = app.find(&name)?;
    if seen.state().map_err(told)?.is_over() {
        return Err(nothing_left(&seen));
    }
    let reason: String = fields.get("reason").chars().filter(|c| !c.is_control()).take(300).collect();
    // What officers write is for their own records, unless they say otherwise: a refusal is shown to every site.
    let sent = if reason.is_empty() || !fields.has("tell") { WITHDRAWN } else { &reason }.to_owned();
    let kept = if reason.is_empty() { String::new() } else { format!(". Reason: {reason}") };
    let base = at(&seen.study, "");
    let app = app.clone();
    let work = move || {
        if !app.runners.stop(&name) {
            return Err(AgentError::Mismatch(
                "an exchange with the coordinator is under way. Try again in a minute".into(),
            ));
        }
        let mut settings = OfficerSettings::read(&seen.folder)?;
        let authority = seen.study.connection.authority()?;
        let mut https = Https::new(&seen.study.connection.address, authority.as_deref())?;
        let told = agent::withdraw(&seen.study, &mut https, &sent)?;
        settings.ended = Some(match told {
            Withdrawal::Told(turn) => format!("this site withdrew in {turn}{kept}"),
            Withdrawal::NotTold(why) => {
                format!(
                    "this site withdrew. The coordinator was not informed ({why}), so tell its operator{kept}"
                )
            }
        });
        settings.write(&seen.folder)?;
        settings.erase_copy(&seen.folder)
    };
    aside(work).await?.map_err(told)?;
    Ok(Redirect::to(&base).into_response())
}
