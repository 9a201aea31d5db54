//! What `fit --out` writes.

use crate::common::{Bench, number, rows};
use serde_json::Value;
use sha2::{Digest, Sha256};

const FIT: [&str; 34] = [
    "format",
    "model",
    "effects",
    "algorithm",
    "mode",
    "n",
    "loglik",
    "npar",
    "aic",
    "bic",
    "sabic",
    "converged",
    "rounds",
    "exchanges",
    "numbers_sent",
    "max_gradient",
    "se_type",
    "condition_number",
    "quadrature",
    "latent",
    "site_sd",
    "se_site_sd",
    "items",
    "sites",
    "trace",
    "curves",
    "ability_histogram",
    "diagnostics",
    "privacy",
    "codebook_hash",
    "warnings",
    "seed",
    "version",
    "provenance",
];
const ITEM: [&str; 10] = ["name", "model", "categories", "a", "d", "b", "se_a", "se_d", "se_b", "n"];

fn has(value: &Value, names: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    for name in names {
        assert!(object.contains_key(*name), "{name} is missing: {:?}", object.keys().collect::<Vec<_>>());
    }
}

#[test]
fn everything_is_there_and_can_be_read() {
    let bench = Bench::simulated();
    let (out, err) = bench.expect(0, "fit all.csv --site school --out results/run --transcript");
    assert_eq!(
        bench.names("results/run"),
        [
            "covariance.csv",
            "diagnostics",
            "fit.json",
            "fit.xlsx",
            "items.csv",
            "repeat.sh",
            "report.html",
            "score_table.csv",
            "scores.csv",
            "sites.csv",
            "transcript.jsonl"
        ]
    );
    assert!(out.contains("Written to results/run") && err.is_empty(), "{out}\n{err}");

    let fit = bench.json("results/run/fit.json");
    has(&fit, &FIT);
    has(&fit["quadrature"], &["nodes", "from", "to", "weights"]);
    has(&fit["latent"], &["mean", "sd", "se_sd"]);
    fit["items"].as_array().unwrap().iter().for_each(|item| has(item, &ITEM));
    fit["sites"].as_array().unwrap().iter().for_each(|site| has(site, &["name", "n", "effect", "se"]));
    has(&fit["trace"][1], &["round", "loglik", "max_gradient", "max_change", "slowest_items"]);
    has(&fit["curves"][0], &["item", "theta", "observed", "weight"]);
    has(&fit["ability_histogram"], &["edges", "counts"]);
    assert_eq!((&fit["format"], &fit["converged"]), (&"fedirt.fit/2".into(), &true.into()));
    assert_eq!((&fit["model"], &fit["n"]), (&"mixed".into(), &370.into()));

    let items = bench.read("results/run/items.csv");
    assert!(items.starts_with("item,model,categories,n,a,se_a,d1,d2,se_d1,se_d2,b1,b2,se_b1,se_b2,fixed\n"));
    for (row, item) in rows(&items).iter().zip(fit["items"].as_array().unwrap()) {
        assert_eq!((row.len(), row[0]), (15, item["name"].as_str().unwrap()));
        assert_eq!(row[4].parse::<f64>().unwrap(), number(&item["a"]));
        assert_eq!(row[6].parse::<f64>().unwrap(), number(&item["d"][0]));
    }
    let diagnostics = &fit["diagnostics"];
    let fits = bench.read("results/run/diagnostics/items.csv");
    let fits = rows(&fits);
    assert_eq!(fits.len(), diagnostics["item_fit"].as_array().unwrap().len());
    assert_eq!(fits[0][1].parse::<f64>().unwrap(), number(&diagnostics["item_fit"][0]["infit"]));
    let pairs = bench.read("results/run/diagnostics/pairs.csv");
    let pairs = rows(&pairs);
    assert_eq!(pairs.len(), fits.len() * (fits.len() - 1) / 2);
    assert_eq!(pairs[0][2].parse::<f64>().unwrap(), number(&diagnostics["q3"]["matrix"][0][1]));

    let sites = bench.read("results/run/sites.csv");
    assert!(sites.starts_with("site,n,effect,se\nnorth,120,"), "{sites}");

    let scores = bench.read("results/run/scores.csv");
    assert!(
        scores.starts_with("id,site,answered,raw,F1,SE_F1,Zh,infit,outfit,prior\nnorth0,north,"),
        "{scores}"
    );
    assert_eq!(rows(&scores).len(), 370);

    let covariance = bench.read("results/run/covariance.csv");
    let names: Vec<&str> = covariance.lines().next().unwrap().split(',').collect();
    assert_eq!((names[0], names[1], names.len()), ("parameter", "M1.a", 1 + 5 * 2 + 3));
    let matrix = rows(&covariance);
    assert_eq!(matrix.len(), names.len() - 1);
    let se: f64 = matrix[0][1].parse::<f64>().unwrap().sqrt();
    assert!((se - number(&fit["items"][0]["se_a"])).abs() < 1e-12);

    let page = bench.read("results/run/report.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));

    bench.expect(0, "fit all.csv --site school --out results/run --no-diagnostics");
    assert!(!bench.names("results/run").contains(&"diagnostics".to_owned()));
}

#[test]
fn a_free_sd_stands_in_the_covariance() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --model pcm --out out --no-scores");
    let covariance = bench.read("out/covariance.csv");
    assert!(covariance.lines().next().unwrap().ends_with(",latent.sd"), "{covariance}");
    assert!(!bench.path("out/scores.csv").exists());
}

#[test]
fn a_transcript_holds_sums_and_no_rows() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --out out --transcript");
    let fit = bench.json("out/fit.json");
    let mut largest = 0;
    let mut by_site = std::collections::BTreeMap::new();
    for line in bench.read("out/transcript.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        has(&line, &["site", "round", "name", "meaning", "values"]);
        let values = line["values"].as_array().unwrap().len();
        largest = largest.max(values);
        if line["round"] != 0 {
            *by_site.entry(line["site"].as_str().unwrap().to_owned()).or_insert(0) += values as u64;
        }
    }
    // Each site sent what the fit says, and nothing is as long as a site's table.
    assert_eq!(by_site.keys().collect::<Vec<_>>(), ["north", "south", "west"]);
    assert!(by_site.values().all(|n| *n == fit["numbers_sent"].as_u64().unwrap()), "{by_site:?}");
    assert!(largest < 110 * 6, "{largest}");
    assert!(!bench.read("out/transcript.jsonl").contains("north0"));
}

#[test]
fn old_files_of_a_run_go_and_others_stay() {
    let bench = Bench::simulated();
    bench.expect(0, "fit north.csv --out out --transcript");
    bench.write("out/mine.txt", "keep");
    bench.write("out/items.csv", "old");
    let (out, _) = bench.expect(0, "fit south.csv --out out --no-scores");
    assert!(out.contains("removed files of an earlier run: scores.csv, transcript.jsonl"), "{out}");
    assert_eq!(
        bench.names("out"),
        [
            "covariance.csv",
            "diagnostics",
            "fit.json",
            "fit.xlsx",
            "items.csv",
            "mine.txt",
            "repeat.sh",
            "report.html",
            "score_table.csv",
            "sites.csv"
        ]
    );
    assert!(bench.read("out/items.csv").starts_with("item,"));
    assert_eq!(bench.read("out/mine.txt"), "keep");
    // Where no fit stood before, a file of that name is somebody else's.
    std::fs::create_dir(bench.path("other")).unwrap();
    bench.write("other/scores.csv", "mine");
    bench.expect(0, "fit south.csv --out other --no-scores");
    assert_eq!(bench.read("other/scores.csv"), "mine");
}

/// `repeat.sh` runs from anywhere, also after everything was moved, and gives the same numbers; the provenance says what the
/// fit was made of.
#[test]
fn a_fit_can_be_repeated_by_its_script() {
    let bench = Bench::simulated();
    std::fs::create_dir(bench.path("study")).unwrap();
    std::fs::rename(bench.path("all.csv"), bench.path("study/all sites' answers.csv")).unwrap();
    bench.write("study/book.csv", "item,model\nM1,2pl\nM2,2pl\nM3,2pl\nM4,2pl\nM5,2pl\nM6,grm\n");
    let typed =
        ["fit", "all sites' answers.csv", "--site", "school", "--codebook", "book.csv", "--out", "a/b"];
    let mut command = bench.command("");
    command.current_dir(bench.path("study")).args(typed);
    assert!(command.output().unwrap().status.success());
    let first = bench.json("study/a/b/fit.json");
    let provenance = &first["provenance"];
    assert_eq!(
        provenance["command"],
        r"fedirt fit 'all sites'\'' answers.csv' --site school --codebook book.csv --out a/b"
    );
    let options = &provenance["options"];
    assert_eq!((&options["site"], &options["algorithm"]), (&"school".into(), &"newton".into()));
    assert_eq!(options["tolerance"], "1e-6");
    let files = provenance["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    for (file, name) in files.iter().zip(["book.csv", "all sites' answers.csv"]) {
        let bytes = std::fs::read(bench.path("study").join(name)).unwrap();
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((&file["name"], &file["sha256"]), (&name.into(), &hash.into()));
    }
    let page = bench.read("study/a/b/report.html");
    assert!(page.contains("How to repeat this fit") && page.contains("--codebook book.csv --out a/b"));

    std::fs::rename(bench.path("study"), bench.path("moved")).unwrap();
    std::fs::remove_file(bench.path("moved/a/b/items.csv")).unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.arg(bench.path("moved/a/b/repeat.sh")).env("FEDIRT", assert_cmd::cargo::cargo_bin!("fedirt"));
    assert!(shell.output().unwrap().status.success());
    let mut again = bench.json("moved/a/b/fit.json");
    assert!(bench.path("moved/a/b/items.csv").exists());
    again["provenance"]["time"] = provenance["time"].clone();
    assert_eq!(first, again);

    bench.expect(0, "fit north.csv --private --epsilon 8 --ignore M6 --effects none --out private");
    let script = bench.read("private/repeat.sh");
    assert!(script.contains("ε of both runs adds up") && !script.contains("SHA-256"), "{script}");
}

/// The workbook holds the tables; it is read as any other workbook.
#[test]
fn the_workbook_can_be_read() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --out out");
    let (_, err) = bench.expect(2, "check out/fit.xlsx");
    for sheet in ["Summary", "Items", "Sites", "Item fit", "Sum scores", "Rounds"] {
        assert!(err.contains(sheet), "{err}");
    }
    let table = bench.read("out/score_table.csv");
    let rows = rows(&table);
    let listed = bench.json("out/fit.json")["diagnostics"]["score_table"].clone();
    assert_eq!(rows.len(), listed.as_array().unwrap().len());
    assert_eq!(rows[3][2].parse::<f64>().unwrap(), number(&listed[3]["theta"]));
}

#[test]
fn nothing_is_written_without_out() {
    let bench = Bench::simulated();
    let before = bench.names("");
    bench.expect(0, "fit north.csv south.csv");
    assert_eq!(bench.names(""), before);
}

#[test]
fn names_with_commas_and_quotes_survive() {
    let bench = Bench::simulated();
    let text = bench
        .read("all.csv")
        .replace("school,M1,", "school,\"M, \"\"1\"\"\",")
        .replace(",north,", ",\"N, 1\",");
    bench.write("all.csv", text);
    bench.expect(0, "fit all.csv --site school --out out");
    assert!(bench.read("out/items.csv").contains("\n\"M, \"\"1\"\"\",2pl,"));
    assert!(bench.read("out/sites.csv").contains("\n\"N, 1\",120,"));
    bench.expect(0, "fit all.csv --site school --fixed-items out/items.csv");
}
