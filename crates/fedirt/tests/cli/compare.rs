//! `fedirt compare`.

use crate::common::Bench;
use serde_json::Value;

#[test]
fn nested_models_are_tested_and_others_are_not() {
    let bench = Bench::simulated();
    for model in ["rasch", "gpcm", "grm"] {
        bench.expect(0, &format!("fit all.csv --site school --effects none --model {model} --out {model}"));
    }
    let (out, _) = bench.expect(0, "compare rasch/fit.json gpcm/fit.json grm/fit.json --json");
    let found: Value = serde_json::from_str(&out).unwrap();
    let loglik = |k: usize| found["fits"][k]["loglik"].as_f64().unwrap();
    let x2 = found["tests"][0]["X2"].as_f64().unwrap();
    assert!((x2 - 2.0 * (loglik(1) - loglik(0))).abs() < 1e-9);
    // Six slopes instead of one SD of ability.
    assert_eq!(found["tests"][0]["df"], 5);
    assert_eq!(found["tests"][1]["not_available"], "the models have the same number of parameters");
    // Any pair of which one is a special case of the other is tested, and neighbours are told of in any case.
    let (out, _) = bench.expect(0, "compare rasch/fit.json grm/fit.json gpcm/fit.json --json");
    let found: Value = serde_json::from_str(&out).unwrap();
    let tests: Vec<_> =
        found["tests"].as_array().unwrap().iter().map(|t| (&t["fits"][1], &t["df"])).collect();
    assert_eq!(tests.len(), 3, "{tests:?}");
    assert_eq!(tests[1], (&"gpcm".into(), &5.into()));
    let (out, _) = bench.expect(0, "compare rasch/fit.json gpcm/fit.json");
    assert!(out.contains("Likelihood ratio of rasch and gpcm: X2 = ") && out.contains("df = 5"), "{out}");
    assert!(out.contains("Nothing is linked"), "{out}");
}

#[test]
fn scales_are_linked_and_drawn() {
    let bench = Bench::simulated();
    bench.expect(0, "fit north.csv south.csv --effects none --model gpcm --out spring");
    bench.expect(0, "fit west.csv --model gpcm --out autumn");
    for method in ["stocking-lord", "haebara", "mean-sigma"] {
        let (out, _) =
            bench.expect(0, &format!("compare spring/fit.json autumn/fit.json --link {method} --json"));
        let found: Value = serde_json::from_str(&out).unwrap();
        let line = &found["comparisons"][0]["link"];
        assert_eq!(line["method"], method);
        // The second sample is abler by about half a standard deviation: its scale begins higher.
        let (a, b) = (line["A"].as_f64().unwrap(), line["B"].as_f64().unwrap());
        assert!((0.4..2.0).contains(&a) && (0.0..1.2).contains(&b), "{method}: {a} {b}");
        assert_eq!(line["drift"].as_array().unwrap().len(), 6);
    }
    let (_, err) =
        bench.expect(0, "compare spring/fit.json autumn/fit.json --link stocking-lord --picture drift.svg");
    assert!(err.contains("wrote drift.svg"), "{err}");
    assert!(bench.read("drift.svg").starts_with("<svg"));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let bench = Bench::simulated();
    bench.expect(0, "fit west.csv --out west");
    bench.write("broken.json", "{}");
    let (_, err) = bench.expect(2, "compare west/fit.json broken.json missing.json");
    assert!(err.contains("broken.json") && err.contains("missing.json"), "{err}");
    let (_, err) = bench.expect(2, "compare west/fit.json west/fit.json west/fit.json --picture p.svg");
    assert!(err.contains("--picture"), "{err}");
    let apart = bench.read("west/fit.json").replace("\"M1\"", "\"X1\"").replace("\"M2\"", "\"X2\"");
    let apart = ["M3", "M4", "M5"]
        .iter()
        .fold(apart, |text, name| text.replace(&format!("\"{name}\""), &format!("\"Y{name}\"")));
    bench.write("apart.json", apart);
    let (_, err) = bench.expect(2, "compare west/fit.json apart.json --link haebara");
    assert!(err.contains("there are 1"), "{err}");
    let (out, _) = bench.expect(0, "compare west/fit.json apart.json");
    assert!(out.contains("Only in west: M1, M2, M3, M4, M5"), "{out}");
}
