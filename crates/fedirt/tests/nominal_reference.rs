//! Nominal items against the exact maximum found by another program: run by hand.
//!
//! `FEDIRT_REFERENCE` names a folder with `reference/more/DATA__nominal.json` and `data/DATA.csv`. Without it this test says so and
//! ends.

use fedirt::{Calibration, Effects, FitMode, FitOptions, Input, ReadOptions, fit, read};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The file in so many parts, each with the header.
fn split(file: &str, sites: usize) -> Vec<String> {
    let mut lines = file.lines();
    let header = lines.next().expect("a header");
    let rows: Vec<&str> = lines.collect();
    let part = |rows: &[&str]| format!("{header}\n{}\n", rows.join("\n"));
    rows.chunks(rows.len().div_ceil(sites)).map(part).collect()
}

fn calibrated(file: &str, sites: usize, mode: FitMode) -> Calibration {
    let parts = split(file, sites);
    let inputs = parts.iter().enumerate().map(|(k, part)| Input::new(format!("S{k}.csv"), part.as_bytes()));
    let responses = read(inputs, &ReadOptions::default()).expect("a response file");
    let model = Some("nrm".into());
    let options = FitOptions { model, effects: Some(Effects::None), mode, ..FitOptions::default() };
    fit(&responses, &options).expect("a fit")
}

/// Slopes and intercepts of an item's categories, with the sums 0.
fn centred(values: &Value) -> Vec<f64> {
    let values: Vec<f64> =
        values.as_array().expect("numbers").iter().map(|x| x.as_f64().expect("a number")).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|x| x - mean).collect()
}

#[test]
fn the_exact_maximum_is_found_in_plain_and_secure() {
    let Some(folder) = std::env::var_os("FEDIRT_REFERENCE").map(PathBuf::from) else {
        eprintln!("skipped: FEDIRT_REFERENCE names no folder of reference values");
        return;
    };
    for data in ["Science7", "VerbAgg"] {
        let reference = text(&folder.join("reference/more").join(format!("{data}__nominal.json")));
        let reference: Value = serde_json::from_str(&reference).expect("reference values are JSON");
        let exact = &reference["exact_check"];
        let file = text(&folder.join("data").join(format!("{data}.csv")));
        let plain = calibrated(&file, 1, FitMode::Plain).fit;
        let secure = calibrated(&file, 3, FitMode::Secure { publish_effects: false }).fit;
        let most = exact["at_maximum"].as_f64().expect("a log-likelihood");
        assert!((plain.loglik.expect("told") - most).abs() < 1e-4, "{data}: {:?} {most}", plain.loglik);
        let mut farthest = 0.0f64;
        for (item, wanted) in plain.items.iter().zip(exact["bock_first_zero"].as_array().expect("items")) {
            assert_eq!(item.name, wanted["item"].as_str().expect("a name"));
            for letter in ["a", "c"] {
                for (c, wanted) in centred(&wanted[letter]).into_iter().enumerate() {
                    let found = item.parameters.get(&format!("bock_{letter}{c}")).expect("a parameter");
                    farthest = farthest.max((found - wanted).abs());
                }
            }
        }
        let mut apart = 0.0f64;
        for (one, other) in plain.items.iter().zip(&secure.items) {
            for ((name, x), (_, y)) in one.parameters.iter().zip(other.parameters.iter()) {
                let (x, y) = (x.expect("told"), y.expect("told"));
                apart = apart.max((x - y).abs() / one.se.get(name).unwrap_or(1.0));
            }
        }
        println!(
            "{data}: log-likelihood {:.6}, {} rounds; farthest parameter {farthest:.1e}; secure {} rounds, {apart:.1e} standard errors away",
            plain.loglik.expect("told"),
            plain.rounds,
            secure.rounds
        );
        assert!(farthest < 1e-4 && apart < 1e-4, "{data}: {farthest:e} {apart:e}");
        assert!(plain.rounds <= 6 && secure.rounds <= 8, "{data}: {} and {}", plain.rounds, secure.rounds);
    }
}
