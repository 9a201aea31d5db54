//! Diagnostics and comparisons of models against another program's: run by hand.
//!
//! `FEDIRT_REFERENCE` names a folder with `reference/more/DATA__MODEL__diag.json` and `DATA__comparison.json` (numbers of mirt, and the formulas recomputed where
//! mirt errs) and `data/DATA.csv`. Without it these tests say so and end. Everything is compared at fedirt's own estimates, so
//! tolerances allow for the digits of the estimates.

use fedirt::{Effects, Family, Fit, FitOptions, Input, ReadOptions, fit, likelihood_ratio, read};
use fedirt_model::items::model_called;
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

/// What a fit of these data under another program's model is here, without site effects; `None` where there is no such model.
fn calibrated(folder: &Path, data: &str, model: &str) -> Option<Fit> {
    calibrated_with(folder, data, model, Family::Normal)
}

/// The same with another distribution of ability.
fn calibrated_with(folder: &Path, data: &str, model: &str, population: Family) -> Option<Fit> {
    let path = folder.join("data").join(format!("{data}.csv"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let site = text.starts_with("site,").then(|| "site".to_owned());
    let options = ReadOptions { site, ..ReadOptions::default() };
    let responses = read([Input::new(data, text.as_bytes())], &options).expect("a response file");
    let mut model = model_called(model)?.name();
    if model == "rasch"
        && responses.sites.iter().flat_map(|s| s.table.rows().flatten()).any(|c| (2..255).contains(c))
    {
        model = "pcm";
    }
    let options = FitOptions {
        model: Some(model.into()),
        effects: Some(Effects::None),
        population,
        ..FitOptions::default()
    };
    Some(fit(&responses, &options).expect("a fit").fit)
}

/// The references whose names end so, with what stands before.
fn references(folder: &Path, end: &str) -> Vec<(String, Value)> {
    let folder = folder.join("reference").join("more");
    let entries = std::fs::read_dir(folder).expect("a folder of references");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let named = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(end)?.to_owned();
        Some((name, json(&path)))
    };
    let mut found: Vec<(String, Value)> = paths.filter_map(named).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!found.is_empty());
    found
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
    for (name, reference) in references(&folder, "__diag.json") {
        let text = |field: &str| reference[field].as_str().expect("a name");
        let fit = calibrated(&folder, text("dataset"), text("model")).expect("a model of ours");
        let fit = serde_json::to_value(&fit).expect("a fit is JSON");
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
                // Abilities as they are; expected counts, which go up to hundreds, in proportion.
                report.compare(ours, &got, &numbers(&table[theirs]), 1e-3, ours == "expected");
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

/// Davidian curves reach the best maximum that is known, and the likelihood ratio against the normal follows.
#[test]
fn shapes_of_ability_reach_the_reference() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for (name, reference) in references(&folder, "__density.json") {
        let text = |field: &str| reference[field].as_str().expect("a name");
        let normal = reference["fits"]["Gaussian"]["logLik"].as_f64().expect("a log-likelihood");
        for (fit, theirs) in reference["fits"].as_object().expect("fits") {
            let Some(degree) = fit.strip_prefix("Davidian-") else { continue };
            let best = theirs["exact_check"]["best_maximum_found"].as_f64().expect("a log-likelihood");
            let degree = degree.parse().expect("a degree");
            let ours = calibrated_with(&folder, text("dataset"), text("model"), Family::Davidian { degree });
            let ours = ours.expect("a model of ours");
            let reached = ours.loglik.expect("plain");
            let ratio = ours.diagnostics.and_then(|d| d.latent?.lr);
            eprintln!("{name:<24} {fit} {reached:.4}, best known {best:.4}, ratio {ratio:?}");
            if reached < best - 0.05 {
                wrong.push(format!("{name} {fit}: {reached} < {best}"));
            }
            if ratio.is_none_or(|ratio| (ratio - 2.0 * (reached - normal)).abs() > 0.01) {
                wrong.push(format!("{name} {fit}: ratio {ratio:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Information criteria, and likelihood ratios of nested models.
#[test]
fn comparisons_agree_with_the_reference() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for (name, reference) in references(&folder, "__comparison.json") {
        let mut report = Report { data: name.clone(), wrong: Vec::new() };
        let mut fits: Vec<(&str, Fit)> = Vec::new();
        for (model, theirs) in reference["models"].as_object().expect("models") {
            // Where the other program stopped below the maximum, there is nothing to be equal to.
            let stopped = theirs["converged"] == false;
            let Some(fit) = calibrated(&folder, &name, model).filter(|_| !stopped) else {
                eprintln!("{name:<24} {model}: {}", if stopped { "stopped there" } else { "no model here" });
                continue;
            };
            let got =
                [fit.loglik, fit.aic, fit.bic, fit.sabic, Some(fit.npar as f64)].map(|x| x.expect("plain"));
            let want = ["logLik", "AIC", "BIC", "SABIC", "npar"].map(|field| numbers(&theirs[field])[0]);
            report.compare(model, &got, &want, 1e-3, false);
            fits.push((model, fit));
        }
        let mut tests = 0;
        for anova in reference["anova"].as_array().expect("tests") {
            let of = |side: &str| fits.iter().find(|(model, _)| anova[side] == *model).map(|(_, fit)| fit);
            let (Some(small), Some(large)) = (of("small"), of("large")) else { continue };
            let what = format!("{} {}", anova["small"], anova["large"]);
            let Ok(ratio) = likelihood_ratio(small, large) else {
                eprintln!("{name:<24} {what}: not nested");
                continue;
            };
            let want = ["X2", "df", "p"].map(|field| numbers(&anova["table"][field])[1]);
            report.compare(&what, &[ratio.statistic, ratio.df as f64, ratio.p], &want, 1e-3, false);
            tests += 1;
        }
        assert!(tests > 0, "{name}");
        wrong.extend(report.wrong.into_iter().map(|w| format!("{}: {w}", report.data)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
