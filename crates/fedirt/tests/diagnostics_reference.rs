//! Diagnostics against another program's: run by hand.
//!
//! `FEDIRT_REFERENCE` names a folder with `reference/more/DATA__MODEL__diag.json` (numbers of mirt, and the formulas recomputed where
//! mirt errs) and `data/DATA.csv`. Without it these tests say so and end. Everything is compared at fedirt's own estimates, so
//! tolerances allow for the digits of the estimates.

use fedirt::{Effects, FitOptions, Input, ReadOptions, fit, read};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("FEDIRT_REFERENCE").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: FEDIRT_REFERENCE names no folder of reference values");
    }
    folder
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("reference values are JSON")
}

/// fit.json of a reference's data under its model, without site effects.
fn calibrated(folder: &Path, reference: &Value) -> Value {
    let name = reference["dataset"].as_str().expect("a data set");
    let path = folder.join("data").join(format!("{name}.csv"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let site = text.starts_with("site,").then(|| "site".to_owned());
    let options = ReadOptions { site, ..ReadOptions::default() };
    let responses = read([Input::new(name, text.as_bytes())], &options).expect("a response file");
    let model = match reference["model"].as_str().expect("a model") {
        "2PL" => "2pl",
        "Rasch"
            if responses
                .sites
                .iter()
                .flat_map(|s| s.table.rows().flatten())
                .any(|c| (2..255).contains(c)) =>
        {
            "pcm"
        }
        "Rasch" => "rasch",
        "gpcm" => "gpcm",
        "graded" => "grm",
        other => panic!("no counterpart of {other}"),
    };
    let options =
        FitOptions { model: Some(model.into()), effects: Some(Effects::None), ..FitOptions::default() };
    serde_json::to_value(&fit(&responses, &options).expect("a fit").fit).expect("a fit is JSON")
}

/// Every number of a reference as (path, value); arrays and objects are walked through.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Number(x) => vec![x.as_f64().expect("a finite number")],
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        Value::Null => vec![f64::NAN],
        other => panic!("not a number: {other}"),
    }
}

struct Report {
    data: String,
    wrong: Vec<String>,
}

impl Report {
    /// Largest difference, over 1 + |wanted| where `relative`.
    fn compare(&mut self, what: &str, got: &[f64], want: &[f64], tolerance: f64, relative: bool) {
        assert_eq!(got.len(), want.len(), "{} {what}", self.data);
        let off = |(g, w): (&f64, &f64)| (g - w).abs() / if relative { w.abs().max(1e-3) } else { 1.0 };
        let there = got.iter().zip(want).filter(|(_, w)| w.is_finite());
        let worst = there.map(off).fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b) });
        eprintln!("{:<24} {what:<14} {worst:.1e}", self.data);
        if worst > tolerance {
            self.wrong.push(format!("{what}: {worst:.2e} > {tolerance:e}"));
        }
    }
}

fn of_items(diagnostics: &Value, field: &str) -> Vec<f64> {
    let items = diagnostics["item_fit"].as_array().expect("item fit");
    items.iter().flat_map(|item| numbers(&item[field])).collect()
}

/// LD-X² and its V, pair by pair in the order of the reference.
fn upper(report: &mut Report, diagnostics: &Value, reference: &Value) {
    for field in ["X2", "V_signed"] {
        let matrix = diagnostics["ld"][field].as_array().expect("a matrix");
        let place = |item: &Value| {
            let items = diagnostics["q3"]["items"].as_array().expect("items");
            items.iter().position(|name| name == item).expect("an item of the fit")
        };
        let (first, second) = (&reference["item_i"], &reference["item_j"]);
        let pairs = first.as_array().expect("items").iter().zip(second.as_array().expect("items"));
        let got: Vec<f64> = pairs.flat_map(|(i, j)| numbers(&matrix[place(i)][place(j)])).collect();
        report.compare(field, &got, &numbers(&reference[field]), 1e-2, field == "X2");
    }
}

#[test]
fn diagnostics_agree_with_the_reference() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join("reference").join("more"))
        .expect("a folder of references")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with("__diag.json"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for path in files {
        let reference = json(&path);
        let name = path.file_name().expect("a name").to_string_lossy().replace("__diag.json", "");
        let fit = calibrated(&folder, &reference);
        let d = &fit["diagnostics"];
        let mut report = Report { data: name, wrong: Vec::new() };
        report.compare("Q3", &numbers(&d["q3"]["matrix"]), &numbers(&reference["Q3"]["matrix"]), 1e-3, false);
        let classic = &reference["itemfit"]["infit_outfit"];
        for field in ["infit", "outfit"] {
            report.compare(field, &of_items(d, field), &numbers(&classic[field]), 1e-2, true);
        }
        report.compare("z.infit", &of_items(d, "z.infit"), &numbers(&classic["z.infit"]), 2e-2, false);
        let z = numbers(&reference["itemfit"]["z.outfit_per_item_N"]);
        report.compare("z.outfit", &of_items(d, "z.outfit"), &z, 2e-2, false);
        let r = &reference["reliability"];
        let got = numbers(&d["reliability"]["empirical"]);
        report.compare("empirical", &got, &numbers(&r["empirical_rxx"]), 1e-3, true);
        let got = numbers(&d["reliability"]["marginal"]);
        report.compare("marginal", &got, &numbers(&r["marginal_rxx_proper"]), 1e-3, true);
        upper(&mut report, d, &reference["LD"]);
        let binary = fit["items"].as_array().expect("items").iter().all(|item| item["categories"] == 2);
        if binary {
            let by_score = &reference["itemfit"]["S_X2"];
            report.compare("S_X2", &of_items(d, "S_X2"), &numbers(&by_score["S_X2"]), 1e-2, true);
            let df = numbers(&by_score["df.S_X2"]);
            report.compare("df.S_X2", &of_items(d, "df.S_X2"), &df, 0.0, false);
            let rmsea = numbers(&by_score["RMSEA.S_X2"]);
            report.compare("RMSEA.S_X2", &of_items(d, "RMSEA.S_X2"), &rmsea, 1e-3, false);
        }
        let table = &reference["EAPsum"]["table"];
        if !table.is_null() {
            for (ours, theirs) in [("theta", "F1"), ("se", "SE_F1"), ("expected", "expected")] {
                let got = d["score_table"].as_array().expect("a table").iter();
                let got: Vec<f64> = got.flat_map(|row| numbers(&row[ours])).collect();
                report.compare(ours, &got, &numbers(&table[theirs]), 1e-2, true);
            }
        }
        // With missing answers there is no proper counterpart.
        if !reference["M2_proper"].is_null() {
            let proper = if binary { "M2_proper" } else { "C2_proper" };
            assert_eq!(d["global"]["type"], proper[..2]);
            let with_srmsr = if binary || reference["C2"].is_null() { "M2" } else { "C2" };
            let got = numbers(&d["global"]["statistic"]);
            report.compare("M2/C2", &got, &numbers(&reference[proper]["stat"]), 1e-2, true);
            let srmsr = numbers(&reference[with_srmsr]["SRMSR"]);
            report.compare("SRMSR", &numbers(&d["global"]["SRMSR"]), &srmsr, 1e-2, true);
            let df = numbers(&reference[proper]["df"]);
            report.compare("df", &numbers(&d["global"]["df"]), &df, 0.0, false);
            for field in ["RMSEA", "RMSEA_5", "RMSEA_95", "TLI", "CFI"] {
                let want = numbers(&reference[proper][field]);
                report.compare(field, &numbers(&d["global"][field]), &want, 1e-2, true);
            }
        } else {
            assert!(d["global"].is_null());
        }
        wrong.extend(report.wrong.into_iter().map(|w| format!("{}: {w}", report.data)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
