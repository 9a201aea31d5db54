//! Scoring and scores on real data: run by hand.
//!
//! `FEDIRT_REFERENCE` names a folder with `data/SAT12.csv` (scored, omitted answers wrong), `data/SAT12_na.csv` (scored, omitted
//! answers missing), `data/SAT12_raw.csv` (options) with `data/SAT12_key.csv`, and `data/timssAusTwn.csv` with the column `site`.
//! Without it these tests say so and end.

use fedirt::{
    Fit, FitOptions, Input, PriorChoice, ReadOptions, ScoreNote, ScoreOptions, Scores, fit, read, read_key,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn text(name: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("FEDIRT_REFERENCE").map(PathBuf::from) else {
        eprintln!("skipped: FEDIRT_REFERENCE names no folder of reference data");
        return None;
    };
    let path = folder.join("data").join(name);
    Some(std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

fn calibrated(name: &str, options: &ReadOptions) -> Option<Fit> {
    let text = text(name)?;
    let responses = read([Input::new(name, text.as_bytes())], options).expect("a response file");
    Some(fit(&responses, &FitOptions::default()).expect("a fit").fit)
}

/// Estimates of two fits to the last digit; notes about reading and options may differ.
fn same(one: &Fit, other: &Fit) {
    assert_eq!(one.loglik, other.loglik);
    for (a, b) in one.items.iter().zip(&other.items) {
        assert_eq!(
            (&a.name, &a.a, &a.d, &a.b, &a.se_a, &a.se_d),
            (&b.name, &b.a, &b.d, &b.b, &b.se_a, &b.se_d)
        );
    }
    assert_eq!(one.items.len(), other.items.len());
    eprintln!("log-likelihood {}", one.loglik.expect("a plain fit"));
}

#[test]
fn keyed_options_give_the_estimates_of_the_scored_file() {
    let Some(key) = text("SAT12_key.csv") else { return };
    let key = read_key(Input::new("SAT12_key.csv", key.as_bytes())).expect("an answer key");
    let keyed = ReadOptions { key, ..ReadOptions::default() };
    let wrong = ReadOptions { missing_is_wrong: true, ..keyed.clone() };
    for (options, scored) in [(&keyed, "SAT12_na.csv"), (&wrong, "SAT12.csv")] {
        let raw = calibrated("SAT12_raw.csv", options).expect("the data are there");
        same(&raw, &calibrated(scored, &ReadOptions::default()).expect("the data are there"));
        assert!(raw.items.iter().all(|item| !item.options.is_empty()));
    }
}

/// The same answers at two schools: different scores by default, which a note says, and the same ones under `common`.
#[test]
fn identical_rows_have_identical_scores_under_the_common_prior() {
    let Some(text) = text("timssAusTwn.csv") else { return };
    let options = ReadOptions { site: Some("site".into()), ..ReadOptions::default() };
    let responses =
        read([Input::new("timssAusTwn.csv", text.as_bytes())], &options).expect("a response file");
    let calibration = fit(&responses, &FitOptions::default()).expect("a fit");
    let widest = |scores: &Scores| {
        let mut by_answers: BTreeMap<Vec<u8>, (f64, f64)> = BTreeMap::new();
        for (site, scores) in responses.sites.iter().zip(&scores.sites) {
            for (row, student) in site.table.rows().zip(&scores.students) {
                let Some(score) = student.score.estimate else { continue };
                let range = by_answers.entry(row.to_vec()).or_insert((score, score));
                *range = (range.0.min(score), range.1.max(score));
            }
        }
        by_answers.values().map(|(low, high)| high - low).fold(0.0, f64::max)
    };
    let of = |prior| {
        let scores = calibration.scores(&ScoreOptions { prior, ..ScoreOptions::default() });
        scores.expect("scores")
    };
    let (site, common) = (of(PriorChoice::Site), of(PriorChoice::Common));
    eprintln!(
        "largest difference between scores of the same answers: {:.3} by site, {} common",
        widest(&site),
        widest(&common)
    );
    assert!(widest(&site) > 0.4 && widest(&common) == 0.0);
    assert!(site.notes.contains(&ScoreNote::SitePriors) && !common.notes.contains(&ScoreNote::SitePriors));
}
