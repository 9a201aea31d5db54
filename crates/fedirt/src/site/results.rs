//! What a site keeps of a finished study: the fit, its own place, and scores of its own students.

use super::told;
use crate::error::CliError;
use crate::output::{csv, file, json};
use crate::scoring::{Bank, How, Shown, SiteScores};
use fedirt_model::fit::Fit;
use fedirt_model::scoring::Method;
use fedirt_site::agent::{self, Home, Study};
use fedirt_site::pages::{Own, Results};
use serde::Serialize;

/// `own_place.json`: what this site alone knows.
#[derive(Serialize)]
struct OwnPlace<'a> {
    format: &'a str,
    study: &'a str,
    site: &'a str,
    effect: Option<f64>,
    se: Option<f64>,
    /// The ledger when this was written: lines that are cut off it later are missed.
    ledger_head: &'a str,
}

/// Writes results for the pages, with scores.
pub(crate) struct Files;

impl Results for Files {
    fn write(&self, home: &Home, study: &Study, fit: &Fit, own: Own) -> Result<(), String> {
        write(home, study, fit, own, true).map(drop).map_err(|error| error.to_string())
    }
}

/// Writes everything, `fit.json` last. Gives the names of the files.
pub(super) fn write(
    home: &Home,
    study: &Study,
    fit: &Fit,
    own: Own,
    with_scores: bool,
) -> Result<Vec<&'static str>, CliError> {
    let folder = study.folder.results();
    let published = fit.sites.iter().find(|site| site.name == study.connection.site);
    let effect = own.place.and_then(|p| p.effect).or_else(|| published.and_then(|s| s.effect));
    let se = own.place.and_then(|p| p.se).or_else(|| published.and_then(|s| s.se));
    let ledger = agent::ledger_table(&home.ledger_path()).map_err(told)?;
    let place = OwnPlace {
        format: "fedirt.own_place/1",
        study: study.folder.name(),
        site: &study.connection.site,
        effect,
        se,
        ledger_head: &ledger.head,
    };
    let text = serde_json::to_string_pretty(&place).map_err(|e| CliError::Output(e.into()))?;
    file::replace(&folder.join("own_place.json"), |out| writeln!(out, "{text}"))?;
    let mut names = vec!["own_place.json"];
    if with_scores {
        let bank = Bank::new(fit)?;
        let items: Vec<String> = study.plan.items.iter().map(|item| item.name.clone()).collect();
        let how = How { method: Method::Eap, seed: 0 };
        let students = bank.score(&own.table, &bank.columns(&items), effect.unwrap_or(0.0), how, 0)?;
        let scores = [SiteScores { name: study.connection.site.clone(), ids: own.ids, students }];
        file::replace(&folder.join("scores.csv"), |out| csv::scores(out, Shown::Estimate, &scores))?;
        names.push("scores.csv");
    }
    let text = json::fit_json(fit).map_err(CliError::Output)?;
    file::replace(&folder.join("fit.json"), |out| out.write_all(text.as_bytes()))?;
    names.push("fit.json");
    Ok(names)
}
