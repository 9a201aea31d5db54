//! Different files, same answers, same numbers.

use crate::common::{Bench, ITEMS, assert_close, number, simulated, wide, with_site_column};
use serde_json::Value;

/// A fit without what may differ: remarks about the files.
fn numbers(mut fit: Value) -> Value {
    fit["warnings"] = Value::Null;
    fit
}

#[test]
fn a_file_per_site_or_a_column() {
    let bench = Bench::simulated();
    let files = bench.fit("north.csv south.csv west.csv");
    let column = bench.fit("all.csv --site school");
    assert_eq!(numbers(files.clone()), numbers(column));
    // In another order of sites the sums are the same to the last bit.
    let mut turned = bench.fit("west.csv north.csv south.csv");
    let sites = turned["sites"].as_array_mut().unwrap();
    sites.rotate_left(1);
    assert_eq!(numbers(files), numbers(turned));
}

#[test]
fn columns_in_another_order_at_one_site() {
    let bench = Bench::simulated();
    let mut south = simulated().remove(1);
    let mut text = String::from("M4,M6,M1,M3,M5,M2\n");
    for row in &mut south.rows {
        let turned: Vec<&str> = [3, 5, 0, 2, 4, 1].iter().map(|j| row[*j].as_str()).collect();
        text.push_str(&format!("{}\n", turned.join(",")));
    }
    let straight = bench.fit("north.csv south.csv west.csv");
    bench.write("south.csv", text);
    assert_eq!(straight, bench.fit("north.csv south.csv west.csv"));
}

#[test]
fn long_format() {
    let bench = Bench::simulated();
    let mut text = String::from("id,school,item,resp\n");
    for site in simulated() {
        for (i, row) in site.rows.iter().enumerate() {
            for (item, answer) in ITEMS.iter().zip(row) {
                text.push_str(&format!("{}{i},{},{item},{answer}\n", site.name, site.name));
            }
        }
    }
    bench.write("long.csv", text);
    let (long, wide) = (bench.fit("long.csv --site school"), bench.fit("all.csv --site school"));
    assert_eq!(numbers(long), numbers(wide));
}

#[test]
fn codes_from_1() {
    let bench = Bench::simulated();
    let mut sites = simulated();
    for cell in sites.iter_mut().flat_map(|site| &mut site.rows).flatten().filter(|cell| !cell.is_empty()) {
        *cell = (cell.parse::<u8>().unwrap() + 1).to_string();
    }
    bench.write("ones.csv", with_site_column(&sites));
    let (mut ones, mut zeros) = (bench.fit("ones.csv --site school"), bench.fit("all.csv --site school"));
    let said = ones["warnings"].as_array().unwrap().iter().any(|w| w["code"] == "recoded");
    assert!(said && ones["items"][0]["codes"] == serde_json::json!([1, 2]), "{}", ones["warnings"]);
    for fit in [&mut ones, &mut zeros] {
        fit["codebook_hash"] = Value::Null;
        fit["items"].as_array_mut().unwrap().iter_mut().for_each(|item| item["codes"] = Value::Null);
    }
    assert_eq!(numbers(ones), numbers(zeros));
    // Fixed items and codebooks count categories; where they start is the file's matter.
    bench.expect(0, "fit all.csv --site school --effects none --out base");
    let fixed =
        |file| bench.fit(&format!("{file} --site school --effects none --fixed-items base/items.csv"));
    assert_eq!(fixed("ones.csv")["latent"], fixed("all.csv")["latent"]);
}

#[test]
fn anchors_reproduce_the_population() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --effects none --tolerance 1e-9 --out base");
    let fit = bench.fit("all.csv --site school --effects none --fixed-items base/items.csv");
    let (mean, sd) = (number(&fit["latent"]["mean"]), number(&fit["latent"]["sd"]));
    assert!(mean.abs() < 1e-4 && (sd - 1.0).abs() < 1e-4, "{mean} {sd}");
    assert!(fit["items"].as_array().unwrap().iter().all(|item| item["fixed"] == true));
    let base = bench.json("base/fit.json");
    assert_close(&fit["loglik"], &base["loglik"], 1e-9, "loglik");
    // A bank may have more items than a test; they are named.
    let bank = format!("{}X1,2pl,2,9,1.0,,0.5,,,,,,,,true\n", bench.read("base/items.csv"));
    bench.write("bank.csv", bank);
    let fit = bench.fit("all.csv --site school --effects none --fixed-items bank.csv");
    let warnings = fit["warnings"].to_string();
    assert!(warnings.contains("fixed_items_absent") && warnings.contains("X1"), "{warnings}");
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let bench = Bench::simulated();
    let run = |threads: &str| {
        bench.expect(0, &format!("fit all.csv --site school --threads {threads} --out t{threads}"));
        let tables = ["items.csv", "scores.csv", "covariance.csv", "score_table.csv"];
        (
            tables.map(|name| bench.read(&format!("t{threads}/{name}"))),
            bench.json(&format!("t{threads}/fit.json")),
        )
    };
    let ((tables, mut fit), (others, mut other)) = (run("1"), run("2"));
    assert!(tables == others);
    // Each says how it was called, and when.
    for fit in [&mut fit, &mut other] {
        fit["provenance"].take();
    }
    assert!(fit == other);
}

#[test]
fn remarks_of_the_reader_are_kept() {
    let bench = Bench::new();
    let text = wide(&simulated()[0]);
    let mut lines = text.lines();
    let mut with = format!("group,{}\n", lines.next().unwrap());
    lines.for_each(|line| with.push_str(&format!("g1,{line}\n")));
    with.push_str("g1,,,,,,\n");
    bench.write("answers.csv", with);
    let fit = bench.fit("answers.csv");
    let reading: Vec<&Value> =
        fit["warnings"].as_array().unwrap().iter().filter(|w| w["code"] == "reading").collect();
    assert_eq!(reading.len(), 2, "{}", fit["warnings"]);
    let (_, err) = bench.expect(0, "fit answers.csv --json");
    assert!(err.contains("column `group` is not used") && err.contains("no answer at all"), "{err}");
    let (out, err) = bench.expect(0, "fit answers.csv");
    assert!(out.contains("column `group` is not used") && err.is_empty(), "{out}\n{err}");
}
