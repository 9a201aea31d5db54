//! The site's own results: its effect, its students' scores, the items. They are not sent.

use super::overview::subtitle;
use super::{App, Name, Page, Step, aside, at, frame, told, unstepped};
use crate::figure::{Numbers, figure};
use crate::{Fields, Frame, Html, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::IntoResponse;
use fedirt_data::text::counted;
use fedirt_figures::{Figure, characteristic_curves, site_effects, test_information};
use fedirt_model::fit::{Fit, FitSite};
use serde::Deserialize;

/// Maximum number of scores on the page; the file contains all of them.
const SHOWN: usize = 500;

/// Files for download, with descriptions.
const FILES: [(&str, &str); 4] = [
    ("scores.csv", "Scores of your own students. Not sent, not for release."),
    ("own_place.json", "Your site's own effect. Not sent by this program, not for release."),
    ("fit.json", "The fit, the same at every site."),
    ("transcript.jsonl", "Everything that was sent from this site, line by line."),
];

#[derive(Deserialize)]
struct OwnPlace {
    effect: Option<f64>,
    se: Option<f64>,
}

struct File {
    name: &'static str,
    what: &'static str,
}

#[derive(Template)]
#[template(path = "officer_results.html")]
struct ResultsPage {
    frame: Frame,
    name: String,
    subtitle: String,
    ended: Option<String>,
    finished: bool,
    not_converged: bool,
    place: Option<String>,
    published: bool,
    figures: Vec<Html>,
    items: Vec<(String, bool)>,
    headers: Vec<String>,
    scores: Vec<Vec<String>>,
    students: String,
    more: usize,
    files: Vec<File>,
    base: String,
}

/// `GET /studies/{study}/results`.
pub(super) async fn show(
    State(app): App,
    Path(name): Name,
    RawQuery(query): RawQuery,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    let item = Fields::parse(query.unwrap_or_default().as_bytes()).get("item").to_owned();
    let folder = seen.folder.clone();
    let read = move || -> Option<(Fit, Option<OwnPlace>, Vec<Vec<String>>)> {
        let file = |name| folder.result(name).ok().flatten();
        let fit = serde_json::from_slice(&file("fit.json")?).ok()?;
        let place = file("own_place.json").and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let scores = file("scores.csv").and_then(|bytes| String::from_utf8(bytes).ok());
        Some((fit, place, table(&scores.unwrap_or_default())))
    };
    let there = seen.folder.results().map_err(told)?;
    let found = aside(read).await?;
    let mut page = ResultsPage {
        frame: match found {
            Some(_) => frame(&visitor, &seen, "Your results", Step::Done),
            None => unstepped(&visitor, &seen, "Your results"),
        },
        subtitle: subtitle(&seen),
        ended: seen.settings.ended.clone(),
        finished: found.is_some(),
        not_converged: false,
        place: None,
        published: false,
        figures: Vec::new(),
        items: Vec::new(),
        headers: Vec::new(),
        scores: Vec::new(),
        students: String::new(),
        more: 0,
        files: FILES
            .iter()
            .filter(|(f, _)| there.iter().any(|name| name == f))
            .map(|(name, what)| File { name, what })
            .collect(),
        base: at(&seen.study, ""),
        name,
    };
    if let Some((mut fit, place, mut scores)) = found {
        page.not_converged = fit.converged == Some(false);
        page.published = fit.sites.iter().any(|site| site.effect.is_some());
        page.place = place.as_ref().and_then(in_words);
        let shown = fit.items.iter().position(|i| i.name == item).unwrap_or(0);
        page.items = fit.items.iter().enumerate().map(|(at, i)| (i.name.clone(), at == shown)).collect();
        page.figures.push(figure(
            "place",
            &place_among(&mut fit, seen.study.site.as_str(), place.as_ref()),
            Numbers::Folded,
        ));
        page.figures.push(figure("curve", &characteristic_curves(&fit, shown), Numbers::Folded));
        page.figures.push(figure("information", &test_information(&fit), Numbers::Folded));
        if !scores.is_empty() {
            page.headers = scores.remove(0);
            page.students = counted(scores.len() as u64, "student", "students");
            page.more = scores.len().saturating_sub(SHOWN);
            scores.truncate(SHOWN);
            page.scores = scores;
        }
    }
    Ok(render(&page))
}

/// The figure of the site's effect, with the effects of the others where the plan publishes them.
fn place_among(fit: &mut Fit, site: &str, place: Option<&OwnPlace>) -> Figure {
    let published = fit.sites.iter().filter(|s| s.effect.is_some()).count();
    if published > 1 {
        return site_effects(fit);
    }
    let own = fit.sites.iter().find(|s| s.name == site).cloned();
    let n = own.as_ref().map_or(0, |own| own.n);
    let effect = place.and_then(|p| p.effect).or_else(|| own.as_ref().and_then(|own| own.effect));
    let se = place.and_then(|p| p.se).or_else(|| own.and_then(|own| own.se));
    fit.sites = vec![FitSite { name: site.to_owned(), n, effect, se }];
    let mut drawn = site_effects(fit);
    drawn.title = "Your site's effect".into();
    if drawn.missing.is_none() {
        drawn.notes = vec![
            "0 is the average of all sites, and positive values mean higher ability, on the scale of ability. The line is the 95 % \
             interval. The effects of the other sites are not published."
                .into(),
        ];
    }
    drawn
}

/// The table of scores with three decimals, without the column of the site, which is always the same.
fn table(csv: &str) -> Vec<Vec<String>> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let Some(header) = lines.next() else { return Vec::new() };
    let kept: Vec<usize> = (0..header.len()).filter(|c| header[*c] != "site").collect();
    let short = |cell: &str| match cell.parse::<f64>() {
        Ok(value) if cell.contains('.') => format!("{value:.3}").replace('-', "−"),
        _ => cell.to_owned(),
    };
    let mut rows = vec![kept.iter().map(|c| header[*c].to_owned()).collect()];
    rows.extend(lines.map(|line| {
        // The first column contains identifiers, which are not changed.
        let cell = |c: &usize| {
            line.get(*c).map_or_else(String::new, |cell| if *c == 0 { (*cell).into() } else { short(cell) })
        };
        kept.iter().map(cell).collect()
    }));
    rows
}

fn in_words(place: &OwnPlace) -> Option<String> {
    let effect = place.effect?;
    let side = if effect < 0.0 { "below" } else { "above" };
    let mut text =
        format!("Your students are {:.2} standard deviations {side} the average of all sites", effect.abs());
    match place.se {
        Some(se) => {
            let (low, high) = (effect - 1.96 * se, effect + 1.96 * se);
            text.push_str(&format!(" (95 % interval {low:.2} to {high:.2})."));
            if low < 0.0 && high > 0.0 {
                text.push_str(" The interval includes 0, so the difference may be due to chance.");
            }
        }
        None => text.push('.'),
    }
    Some(text.replace('-', "−"))
}

/// `GET /studies/{study}/results/{file}`.
pub(super) async fn file(State(app): App, Path((name, file)): Path<(String, String)>) -> Page {
    let seen = app.find(&name)?;
    let missing = || PageError::not_found("There is no such file of results (yet).");
    let (known, _) = FILES.iter().find(|(known, _)| *known == file).ok_or_else(missing)?;
    let folder = seen.folder.clone();
    let bytes = aside(move || folder.result(known)).await?.map_err(told)?.ok_or_else(missing)?;
    let kind = if known.ends_with(".csv") { "text/csv; charset=utf-8" } else { "application/json" };
    let named = format!("attachment; filename=\"{}-{known}\"", seen.folder.name());
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, named)], bytes)
        .into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_shortened_and_identifiers_are_not() {
        let rows = table("id,site,raw,F1\n1.25000,north,6,-0.46452\n");
        assert_eq!(rows, [["id", "raw", "F1"], ["1.25000", "6", "−0.465"]]);
        assert!(table("").is_empty());
    }

    #[test]
    fn the_place_is_told_with_its_interval() {
        let place = |effect, se| OwnPlace { effect: Some(effect), se };
        let text = in_words(&place(-0.1, Some(0.1))).unwrap();
        assert!(
            text.contains("0.10 standard deviations below") && text.contains("may be due to chance"),
            "{text}"
        );
        assert!(!in_words(&place(0.5, Some(0.1))).unwrap().contains("chance"));
        assert_eq!(in_words(&OwnPlace { effect: None, se: None }), None);
    }
}
