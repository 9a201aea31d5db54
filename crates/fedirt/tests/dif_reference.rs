//! Comparisons of groups against another program's: run by hand.
//!
//! `FEDIRT_REFERENCE` names a folder with `reference/more/DATA__DIF_classical.json` and its like, and `data/DATA.csv`. Without it
//! these tests say so and end.

use fedirt::{DifOptions, Effects, Fit, FitOptions, GridSpec, Input, ReadOptions, Settings, fit, read};
use fedirt_model::fit::Dif;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("FEDIRT_REFERENCE").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: FEDIRT_REFERENCE names no folder of reference values");
    }
    folder
}

/// The references whose names end so.
fn references(folder: &Path, end: &str) -> Vec<(String, Value)> {
    let entries = std::fs::read_dir(folder.join("reference").join("more")).expect("a folder of references");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let named = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(end)?.to_owned();
        let text = std::fs::read_to_string(&path).expect("a reference");
        Some((name, serde_json::from_str(&text).expect("reference values are JSON")))
    };
    let mut found: Vec<(String, Value)> = paths.filter_map(named).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!found.is_empty());
    found
}

/// A fit with groups that are the reference's column, without site effects.
fn calibrated(folder: &Path, reference: &Value, options: FitOptions) -> Fit {
    let data = reference["dataset"].as_str().expect("a name");
    let path = folder.join("data").join(format!("{data}.csv"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let read_options = ReadOptions { group: Some("site".into()), ..ReadOptions::default() };
    let responses = read([Input::new(data, text.as_bytes())], &read_options).expect("a response file");
    fit(&responses, &FitOptions { effects: Some(Effects::None), ..options }).expect("a fit").fit
}

fn options(reference: &str) -> FitOptions {
    let dif = DifOptions { reference: Some(reference.into()), purify: false, ..DifOptions::default() };
    // Likelihoods are compared with the maximum.
    let settings = Settings { tolerance: 1e-8, ..Settings::default() };
    FitOptions { dif, settings, ..FitOptions::default() }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("numbers").iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Largest difference, relative to what is wanted.
fn compare(what: &str, got: impl IntoIterator<Item = Option<f64>>, want: &Value, wrong: &mut Vec<String>) {
    let (got, want) = (got.into_iter().collect::<Vec<_>>(), numbers(want));
    assert_eq!(got.len(), want.len(), "{what}");
    let off = |(g, w): (&Option<f64>, &f64)| (g.unwrap_or(f64::NAN) - w).abs() / w.abs().max(1e-2);
    let worst = got
        .iter()
        .zip(&want)
        .map(off)
        .fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b) });
    eprintln!("{what:<60} {worst:.1e}");
    if worst > 1e-2 {
        wrong.push(format!("{what}: {worst:.1e}"));
    }
}

#[test]
fn observed_scores_agree_with_the_reference() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for (name, reference) in references(&folder, "__DIF_classical.json") {
        let group =
            reference["reference"].as_str().or(reference["settings"]["reference"].as_str()).expect("a group");
        let fit = calibrated(&folder, &reference, options(group));
        let rows = fit.diagnostics.and_then(|d| d.dif).expect("a comparison");
        let of = |part: &Value| -> Vec<&Dif> {
            let items = part["item"].as_array().expect("items").iter();
            items.map(|item| rows.iter().find(|row| row.item == *item).expect("an item of the fit")).collect()
        };
        let mut check = |part: &str, field: &str, get: &dyn Fn(&Dif) -> Option<f64>| {
            let theirs = &reference[part];
            let got: Vec<Option<f64>> = of(theirs).into_iter().map(get).collect();
            compare(&format!("{name} {part} {field}"), got, &theirs[field], &mut wrong);
        };
        check("mantel_haenszel", "alpha_MH", &|row| row.alpha_mh);
        check("mantel_haenszel", "SE_log_alpha", &|row| row.se_log_alpha_mh);
        check("mantel_haenszel", "chi2", &|row| row.chi2);
        check("mantel_haenszel", "chi2_cc", &|row| row.chi2_cc);
        check("mantel_haenszel", "delta_MH", &|row| row.delta_mh);
        check("mantel_polytomous", "mantel_chi2", &|row| row.chi2);
        check("mantel_polytomous", "gmh_chi2", &|row| row.gmh);
        check("mantel_polytomous", "gmh_df", &|row| row.gmh_df);
        check("mantel_polytomous", "smd", &|row| row.smd);
        check("mantel_polytomous", "smd_over_sd", &|row| row.smd_sd);
        for part in ["logistic", "ordinal_logistic"] {
            if reference[part].is_object() {
                check(part, "chi2_uniform", &|row| row.logistic.map(|l| l.uniform));
                check(part, "chi2_nonuniform", &|row| row.logistic.map(|l| l.nonuniform));
                check(part, "chi2_both", &|row| row.logistic.map(|l| l.both));
                check(part, "dR2_uniform", &|row| row.logistic.map(|l| l.delta_r2_uniform));
                check(part, "dR2_nonuniform", &|row| row.logistic.map(|l| l.delta_r2_nonuniform));
            }
        }
        let classes: Vec<&str> = of(&reference["mantel_haenszel"])
            .into_iter()
            .map(|row| row.ets.as_deref().expect("a class"))
            .collect();
        if reference["mantel_haenszel"]["ets"] != serde_json::json!(classes) {
            wrong.push(format!("{name}: classes {classes:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Log-likelihood, means and variances of groups at the maximum on a wide grid, with all items common and with some free.
#[test]
fn groups_agree_with_the_reference() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    let all = ["__groups_meanvar.json", "__groups_partial.json"]
        .into_iter()
        .flat_map(|end| references(&folder, end));
    for (name, reference) in all {
        let names: Vec<&str> =
            reference["group_names"].as_array().expect("groups").iter().filter_map(Value::as_str).collect();
        let mut options = wide(names[0], reference["model"].as_str().expect("a model"));
        for item in reference["free_items"].as_array().into_iter().flatten() {
            options.dif.free.push((item.as_str().expect("an item").to_owned(), None));
        }
        let fit = calibrated(&folder, &reference, options);
        let exact = &reference["exact_wide"];
        let loglik = (fit.loglik.expect("plain") - exact["at_maximum"].as_f64().expect("a number")).abs();
        eprintln!("{name}: log-likelihood {loglik:.1e}");
        if loglik > 1e-3 {
            wrong.push(format!("{name}: log-likelihood {loglik}"));
        }
        for group in &fit.latent.groups {
            let theirs = &exact["groups"][&group.name];
            let off = [
                group.mean.expect("a mean") - theirs["mean"].as_f64().expect("a mean"),
                group.sd.expect("an SD").powi(2) - theirs["var"].as_f64().expect("a variance"),
            ];
            eprintln!("{name} {}: mean and variance {off:.1?}", group.name);
            if off.iter().any(|x| x.abs() > 1e-3) {
                wrong.push(format!("{name} {}: {off:?}", group.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Options with the nodes of the exact maxima.
fn wide(reference: &str, model: &str) -> FitOptions {
    let model = model.split(' ').next().map(str::to_lowercase);
    let quadrature = GridSpec { nodes: 121, range: 12.0, ..GridSpec::default() };
    FitOptions { quadrature, model, ..options(reference) }
}

#[test]
fn likelihood_ratios_agree_with_the_reference() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for (name, reference) in references(&folder, "__DIF_LR.json") {
        let group = reference["constrained"]["reference_group"].as_str().expect("a group");
        let mut options = wide(group, reference["model"].as_str().expect("a model"));
        options.dif.refits = Some(true);
        let fit = calibrated(&folder, &reference, options);
        let rows = fit.diagnostics.and_then(|d| d.dif).expect("a comparison");
        let exact = reference["drop_exact"]["items"].as_array().expect("items");
        let row =
            |item: &Value| rows.iter().find(|row| row.item == item["item"]).expect("an item of the fit");
        let want = |field: &str| Value::Array(exact.iter().map(|item| item[field].clone()).collect());
        compare(&format!("{name} LR"), exact.iter().map(|item| row(item).lr), &want("X2"), &mut wrong);
        compare(&format!("{name} df"), exact.iter().map(|item| row(item).lr_df), &want("df"), &mut wrong);
        let drop = reference["drop"]["items"].as_array().expect("items");
        if drop.iter().all(|item| item["wald"]["W"].is_number()) {
            let wald = Value::Array(drop.iter().map(|item| item["wald"]["W"].clone()).collect());
            compare(&format!("{name} Wald"), drop.iter().map(|item| row(item).wald), &wald, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
