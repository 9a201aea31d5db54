//! What can be done about dependent items and unequal sites: `--bundle`, `--site-weights`, `fedirt sensitivity`.

use crate::common::Bench;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn bundles_are_fitted_and_scored() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --bundle M1+M2,M4+M6 --out merged");
    let fit = json(&bench.read("merged/fit.json"));
    let names: Vec<&str> =
        fit["items"].as_array().expect("items").iter().map(|i| i["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["M3", "M5", "M1+M2", "M4+M6"]);
    assert_eq!(fit["items"][3]["categories"], 4);
    assert_eq!(fit["items"][3]["bundle"][1], serde_json::json!({"item": "M6", "codes": [0, 1, 2]}));
    assert!(fit["items"][0]["bundle"] == serde_json::json!([]));
    // The file has the items apart; their scores are those of the fit.
    bench.expect(0, "score merged/fit.json all.csv --site school --out again.csv");
    let scores = |name: &str| -> Vec<String> {
        let text = bench.read(name);
        let at = text.lines().next().expect("a header").split(',').position(|h| h == "F1").expect("scores");
        text.lines().skip(1).map(|line| line.split(',').nth(at).expect("a score").to_owned()).collect()
    };
    assert_eq!(scores("again.csv"), scores("merged/scores.csv"));
    let (_, err) = bench.expect(2, "fit all.csv --site school --bundle M1+M9,M1+M2");
    assert!(err.contains("there is no item M9") && err.contains("M1 is in a bundle already"), "{err}");
    let (_, err) = bench.expect(2, "fit all.csv --site school --bundle M1");
    assert!(err.contains("ITEM+ITEM"), "{err}");
}

#[test]
fn sites_count_as_they_are_told() {
    let bench = Bench::simulated();
    let fit = |flags: &str| json(&bench.expect(0, &format!("fit all.csv --site school --json {flags}")).0);
    let (plain, equal) = (fit(""), fit("--site-weights equal"));
    assert_eq!((&plain["se_type"], &equal["se_type"]), (&"observed".into(), &"sandwich".into()));
    assert_ne!(plain["items"][0]["a"], equal["items"][0]["a"]);
    // No site has so many students: the weights are those of the plain fit.
    let capped = fit("--site-weights capped:100000");
    let a = |fit: &Value| fit["items"][0]["a"].as_f64().expect("a slope");
    assert!((a(&capped) - a(&plain)).abs() < 1e-8);
    let (_, err) = bench.expect(2, "fit all.csv --site school --site-weights most");
    assert!(err.contains("effective:0.2"), "{err}");
    let (_, err) = bench.expect(2, "fit all.csv --site school --site-weights equal --private --epsilon 2");
    assert!(err.contains("--site-weights equal"), "{err}");
}

#[test]
fn influence_is_told_by_name_where_it_was_asked_for() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --effects none --diagnostics influence,latent --out run");
    let fit = json(&bench.read("run/fit.json"));
    assert_eq!(fit["diagnostics"]["influence"]["sites"].as_array().expect("sites").len(), 3);
    assert_eq!(bench.read("run/diagnostics/sites.csv").lines().count(), 4);
    assert_eq!(fit["diagnostics"]["latent"]["df"], 2.0);
    assert_eq!(bench.read("run/diagnostics/ability.csv").lines().count(), 62);
}

#[test]
fn sensitivity_tabulates_what_changes() {
    let bench = Bench::simulated();
    let (out, _) = bench.expect(0, "sensitivity all.csv --site school --model rasch --sites --json");
    let found = json(&out);
    let names: Vec<&str> = found["variants"]
        .as_array()
        .expect("fits")
        .iter()
        .map(|v| v["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(names[3], "without south, the largest site");
    assert_eq!(found["variants"][3]["n"], 230);
    let items = found["variants"][0]["items"].as_array().expect("items");
    assert_eq!(items.len(), 6);
    assert!(items[0]["b"]["change_in_se"].as_f64().expect("a change").abs() < 5.0);
    let (out, _) = bench.expect(0, "sensitivity all.csv --site school --model rasch");
    assert!(out.contains("sites count equally") && out.contains("largest change"), "{out}");
    let (_, err) = bench.expect(2, "sensitivity all.csv --site school --out x");
    assert!(err.contains("--out"), "{err}");
    let (out, _) = bench.expect(0, "sensitivity all.csv --site school --secure --sites --model rasch");
    assert!(out.contains("which this mode hides"), "{out}");
}
