//! Private results of neighbouring files: one student's row is another, and nothing exact may tell.

use crate::common::{Bench, simulated};
use serde_json::Value;

/// Five 0/1 items; the row of one student as it is given here.
fn with_row(bench: &Bench, name: &str, row: Option<&str>) {
    let site = &simulated()[0];
    let mut text = String::from("M1,M2,M3,M4,M5\n");
    for (i, answers) in site.rows.iter().enumerate() {
        match row.filter(|_| i == 17) {
            Some(row) => text.push_str(&format!("{row}\n")),
            None => text.push_str(&format!("{}\n", answers[..5].join(","))),
        }
    }
    bench.write(name, text);
}

/// A fit without its noisy numbers: those that are no whole numbers.
fn exact_part(value: &Value) -> Value {
    match value {
        Value::Number(n) if n.as_f64().is_some_and(|x| x.fract() != 0.0) => Value::from("noisy"),
        Value::Array(all) => all.iter().map(exact_part).collect(),
        Value::Object(all) => all.iter().map(|(key, value)| (key.clone(), exact_part(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn one_student_changes_nothing_exact() {
    let bench = Bench::simulated();
    for how in ["--private --epsilon 1", "--algorithm fedirt-dp --epsilon 1 --max-rounds 5"] {
        let mut results = Vec::new();
        for row in &[None, Some(",,,,"), Some("0,0,0,0,0"), Some("1,1,1,1,1"), Some("1,,0,,")] {
            with_row(&bench, "school.csv", *row);
            let (_, said) = bench.expect(0, &format!("fit school.csv {how} --out out"));
            let empty = *row == Some(",,,,");
            assert_eq!(
                said.contains("no answer at all"),
                empty,
                "the person at the keyboard is told: {said}"
            );
            let mut fit = bench.json("out/fit.json");
            // The hash of a file would tell of its rows.
            assert_eq!(
                fit["provenance"]["files"],
                serde_json::json!([{"name": "school.csv", "sha256": null}])
            );
            fit["provenance"]["time"].take();
            // Which items lean on the prior, and how many rows are complete, follows from the noisy sums.
            fit["privacy"]["error_sources"].take();
            let warnings = fit["warnings"].as_array_mut().expect("warnings");
            warnings.retain(|warning| {
                warning["code"] != "leans_on_prior" && warning["code"] != "incomplete_rows"
            });
            let fit = exact_part(&fit);
            assert!(!bench.read("out/report.html").contains("no answer at all"));
            results.push(fit);
        }
        for other in &results[1..] {
            assert_eq!(&results[0], other, "{how}");
        }
        assert_eq!(results[0]["items"][3]["codes"], serde_json::json!([0, 1]));
        assert_eq!(results[0]["sites"][0]["n"], 120);
    }
}

#[test]
fn a_code_that_nobody_declared_is_an_error_at_home() {
    let bench = Bench::simulated();
    with_row(&bench, "school.csv", Some("0,1,0,2,0"));
    let (out, said) = bench.expect(2, "fit school.csv --private --epsilon 1 --out results");
    for word in ["school.csv, line 19, column M4: code 2", "--codebook"] {
        assert!(said.contains(word), "{said}");
    }
    assert!(out.is_empty() && !bench.path("results/fit.json").exists());
    // Polytomous models have no number of categories of their own.
    let (_, said) = bench.expect(2, "fit school.csv --private --epsilon 1 --model gpcm");
    assert!(said.contains("never from the answers"), "{said}");
    bench.write("codebook.csv", "item,categories\nM1,2\nM2,2\nM3,2\nM4,3\nM5,2\n");
    let fit = bench.fit("school.csv --private --epsilon 1 --codebook codebook.csv");
    assert_eq!(fit["items"][3]["codes"], serde_json::json!([0, 1, 2]));
    // Codes from 1 up are declared, never found out.
    let raised: String =
        bench.read("school.csv").lines().skip(1).fold("M1,M2,M3,M4,M5\n".into(), |text, line| {
            let cells =
                line.split(',').map(|c| c.parse::<u8>().map_or(String::new(), |c| (c + 1).to_string()));
            text + &cells.collect::<Vec<_>>().join(",") + "\n"
        });
    bench.write("raised.csv", raised);
    bench.expect(2, "fit raised.csv --private --epsilon 1 --codebook codebook.csv");
    bench.write("from_one.csv", "item,categories,lowest\nM1,2,1\nM2,2,1\nM3,2,1\nM4,3,1\nM5,2,1\n");
    let fit = bench.fit("raised.csv --private --epsilon 1 --codebook from_one.csv");
    assert_eq!(fit["items"][3]["codes"], serde_json::json!([1, 2, 3]));
}

#[test]
fn long_files_name_their_items_in_a_codebook() {
    let bench = Bench::new();
    let mut text = String::from("id,item,response\n");
    for i in 0..40 {
        for j in 0..4 {
            text.push_str(&format!("s{i},I{j},{}\n", (i * 7 + j * 3) % 5 % 2));
        }
    }
    bench.write("long.csv", &text);
    let (_, said) = bench.expect(2, "fit long.csv --private --epsilon 8");
    assert!(said.contains("--codebook"), "{said}");
    bench.write("codebook.csv", "item,categories\nI0,2\nI1,2\nI2,2\nI3,2\n");
    bench.expect(0, "fit long.csv --private --epsilon 8 --codebook codebook.csv");
}
