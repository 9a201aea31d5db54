//! What a site keeps of a finished study: the fit, its own effect, and scores of its own students.

use super::store::Readers;
use super::study::in_results;
use super::{AgentError, Home, Study, ledger_table};
use fedirt_data::results::{csv, fit_json};
use fedirt_data::{Errors, ItemBank, ScoreOptions, SiteScores};
use fedirt_model::fit::Fit;
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::EffectEstimate;
use serde::Serialize;

/// The site's own part of a result, to be scored and written down.
#[derive(Debug)]
pub struct Own {
    /// Its own effect, where it has one.
    pub own_effect: Option<EffectEstimate>,
    /// Its rows.
    pub table: ResponseTable,
    /// Their identifiers, where the file has them.
    pub ids: Option<Vec<String>>,
}

/// `own_place.json`: what this site alone knows.
#[derive(Serialize)]
struct OwnEffectFile<'a> {
    format: &'a str,
    study: &'a str,
    site: &'a str,
    effect: Option<f64>,
    se: Option<f64>,
    /// The ledger when this was written: lines that are cut off it later are missed.
    ledger_head: &'a str,
}

/// Writes everything into the study's folder, `fit.json` last. Gives the names of the files.
pub fn write_results(
    home: &Home,
    study: &Study,
    fit: &Fit,
    own: Own,
    with_scores: bool,
) -> Result<Vec<&'static str>, AgentError> {
    let keep = |name, content: &[u8]| study.folder.replace(&in_results(name), content, Readers::Usual);
    let published = fit.sites.iter().find(|site| site.name == study.connection.site);
    let effect = own.own_effect.and_then(|p| p.effect).or_else(|| published.and_then(|s| s.effect));
    let se = own.own_effect.and_then(|p| p.se).or_else(|| published.and_then(|s| s.se));
    let ledger = ledger_table(home)?;
    let told = OwnEffectFile {
        format: "fedirt.own_place/1",
        study: study.folder.name(),
        site: &study.connection.site,
        effect,
        se,
        ledger_head: &ledger.head,
    };
    let mut text = serde_json::to_vec_pretty(&told).expect("an effect has text keys");
    text.push(b'\n');
    keep("own_place.json", &text)?;
    let mut names = vec!["own_place.json"];
    if with_scores {
        let bank = ItemBank::new(fit)?;
        let items: Vec<String> = study.plan.items.iter().map(|item| item.name.clone()).collect();
        let options = ScoreOptions::default();
        let prior = bank.prior(effect.unwrap_or(0.0), options.prior);
        let students = bank.score(&own.table, &items, prior, &options, 0).map_err(Errors::from)?;
        let (name, places) = (study.connection.site.clone(), Vec::new());
        let site = SiteScores { name, ids: own.ids, places, students };
        let scores = bank.scores(&options, vec![site], Vec::new());
        let mut table = Vec::new();
        csv::scores(&mut table, &scores).expect("memory takes every byte");
        keep("scores.csv", &table)?;
        names.push("scores.csv");
    }
    keep("fit.json", fit_json(fit).expect("a fit has text keys").as_bytes())?;
    names.push("fit.json");
    Ok(names)
}
