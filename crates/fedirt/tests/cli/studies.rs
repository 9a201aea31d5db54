//! The paper's studies, at their smallest.

use assert_cmd::Command;
use std::collections::BTreeMap;
use std::path::Path;

fn fedirt() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fedirt"))
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("an entry");
        (entry.file_name().into_string().expect("a name"), std::fs::read(entry.path()).expect("a file"))
    };
    std::fs::read_dir(folder).expect("a folder").map(read).collect()
}

fn study(words: &str, out: &Path) -> BTreeMap<String, Vec<u8>> {
    fedirt().arg("study").args(words.split(' ')).arg("--out").arg(out).assert().success();
    files(out)
}

/// Rows of a tidy table as maps from column to cell. No cell of these tables holds a comma.
fn rows(csv: &[u8]) -> Vec<BTreeMap<String, String>> {
    let text = String::from_utf8(csv.to_vec()).expect("text");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    lines.map(|cells| header.iter().cloned().zip(cells).collect()).collect()
}

#[test]
fn threads_change_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["1", "2"].map(|threads| {
        study(&format!("2 --replications 2 --threads {threads}"), &folder.path().join(threads))
    });
    let names: Vec<&String> = one.keys().collect();
    for name in [
        "cells.csv",
        "index.html",
        "items.png",
        "items.svg",
        "replications.csv",
        "schools.png",
        "settings.json",
    ] {
        assert!(one.contains_key(name), "{name} of {names:?}");
    }
    assert!(!one.contains_key("unfinished.jsonl"));
    assert!(one == two);
    assert!(one["items.png"].starts_with(b"\x89PNG") && one["schools.svg"].starts_with(b"<svg"));
    let settings: serde_json::Value = serde_json::from_slice(&one["settings.json"]).unwrap();
    assert_eq!((&settings["seed"], &settings["replications"]), (&1.into(), &2.into()));
    assert_eq!(settings["scenarios"][0]["truth"]["sites"][4]["effect"], 1.0);
    assert!(
        settings["methods"]
            .as_array()
            .unwrap()
            .iter()
            .any(|m| m["how"] == "published" && m["epsilon"] == 2.0)
    );
}

#[test]
fn a_stopped_study_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let whole = study("2 --replications 3", &folder.path().join("whole"));
    // What a stop leaves: the journal of two replications, one of them marked, and a line that was cut off.
    let stopped = folder.path().join("stopped");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_fedirt"))
        .args(["study", "2", "--replications", "3", "--threads", "1", "--out"])
        .arg(&stopped)
        .spawn()
        .unwrap();
    let journal = stopped.join("unfinished.jsonl");
    // Whole lines only: the last one may be half written when the program is killed.
    let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.matches('\n').count());
    while lines() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(journal.exists(), "the study was faster than its killer");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, format!("{text}{{\"key\":\"stud")).unwrap();
    assert!(study("2 --replications 3", &stopped) == whole);
    // A record is used as it stands: it is not computed again.
    let marked = text.lines().nth(1).unwrap().replacen("\"failure\":null", "\"failure\":\"marked\"", 1);
    let settings = text.lines().next().unwrap();
    std::fs::remove_dir_all(&stopped).unwrap();
    std::fs::create_dir(&stopped).unwrap();
    std::fs::write(&journal, format!("{settings}\n{marked}\n")).unwrap();
    let files = study("2 --replications 3", &stopped);
    assert!(String::from_utf8_lossy(&files["replications.csv"]).contains("marked"));
    // Other settings are another study.
    std::fs::write(&journal, format!("{settings}\n{marked}\n")).unwrap();
    let other = ["study", "2", "--replications", "3", "--seed", "2", "--out"];
    let refused = fedirt().args(other).arg(&stopped).assert().failure();
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(message.contains("unfinished.jsonl") && message.contains("--restart"), "{message}");
    fedirt().args(other).arg(&stopped).arg("--restart").assert().success();
}

#[test]
fn fedirt_is_the_pooled_fit() {
    let folder = tempfile::tempdir().unwrap();
    let files = study("1 --replications 1 --students 50", folder.path());
    let all = rows(&files["replications.csv"]);
    let mine: Vec<_> = all.iter().filter(|r| r["method"] == "fedirt").collect();
    // Four conditions, a and b.
    assert_eq!(mine.len(), 8);
    for row in mine {
        assert!(row["largest_distance"].parse::<f64>().unwrap() < 1e-4, "{row:?}");
    }
    let methods: std::collections::BTreeSet<&str> = all.iter().map(|r| r["method"].as_str()).collect();
    for method in ["pooled", "fedirt_dp_1", "fedirt_dp_c1_8", "private_1", "fedsgd", "fedavg", "meta"] {
        assert!(methods.contains(method), "{method} of {methods:?}");
    }
    assert!(String::from_utf8_lossy(&files["index.html"]).contains("mirt and ltm were not run"));
}

#[test]
fn without_r_the_columns_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let words = "1 --replications 1 --students 50 --with-r --rscript /no/such/program";
    let files = study(words, folder.path());
    let csv = String::from_utf8(files["replications.csv"].clone()).unwrap();
    assert!(csv.contains("mirt,,,,,\"R has no package mirt\""), "{csv}");
    assert!(String::from_utf8_lossy(&files["index.html"]).contains("mirt gave no estimates"));
}

#[test]
fn any_file_can_be_compared() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let simulate = [
        "simulate",
        "--sites",
        "4",
        "--students",
        "60",
        "--items",
        "5",
        "--model",
        "2pl",
        "--seed",
        "1",
        "--out",
    ];
    fedirt().args(simulate).arg(&data).assert().success();
    let out = folder.path().join("out");
    let file = data.join("responses.csv");
    let words = format!("empirical {} --site site --draws 2 --epsilon 8", file.display());
    let files = study(&words, &out);
    let all = rows(&files["estimates.csv"]);
    // FedIRT once, two methods twice; five slopes, five difficulties, four schools.
    assert_eq!(all.len(), (1 + 2 * 2) * (5 + 5 + 4));
    assert!(files.contains_key("items.png") && files.contains_key("schools.svg"));
    assert!(String::from_utf8_lossy(&files["index.html"]).contains("not a private release"));
}

#[test]
fn a_perfect_school_costs_no_other_its_effect() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = String::from("school,x,y,z\n");
    for school in ["A", "B", "C"] {
        for row in ["1,0,0", "1,1,0", "0,1,1", "0,0,1", "1,1,1", "0,0,0", "1,0,1", "1,1,0"] {
            csv += &format!("{school},{row}\n");
        }
    }
    csv += "C,0,0,0\nB,1,0,\nPerfect,1,1,1\nPerfect,1,1,1\n";
    let file = folder.path().join("answers.csv");
    std::fs::write(&file, csv).unwrap();
    let words = format!("empirical {} --site school --draws 2 --epsilon 8", file.display());
    let files = study(&words, &folder.path().join("out"));
    let effects: Vec<_> = rows(&files["estimates.csv"])
        .into_iter()
        .filter(|r| r["method"] == "fedirt_fixed" && r["parameter"] == "s")
        .map(|r| (r["name"].clone(), !r["estimate"].is_empty()))
        .collect();
    let wanted = [("A", true), ("B", true), ("C", true), ("Perfect", false)];
    assert_eq!(effects, wanted.map(|(name, finite)| (format!("\"{name}\""), finite)));
    let page = String::from_utf8_lossy(&files["index.html"]).into_owned();
    assert!(page.contains("no finite effect for Perfect"));
    assert!(page.contains("1 of 28 rows lack an answer") && page.contains("over 2 draws"));
    let refused = fedirt().args(["study", "empirical"]).arg(&file).assert().failure();
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(message.contains("--site COLUMN is needed"), "{message}");
}

#[test]
fn results_are_not_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let two = study("2 --replications 2", &out);
    let page = String::from_utf8_lossy(&two["index.html"]).into_owned();
    assert!(page.contains("too few replications to say"), "two replications decide nothing");
    for words in ["2 --replications 2 --seed 2", "2 --replications 1", "2 --replications 2 --draw-abilities"]
    {
        let refused = fedirt().arg("study").args(words.split(' ')).arg("--out").arg(&out).assert().code(2);
        let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(message.contains("--restart"), "{words}: {message}");
        assert!(files(&out) == two, "{words}");
    }
    assert!(study("2 --replications 3", &out) != two);
    assert!(study("2 --replications 2 --restart", &out) == two);
}

#[test]
fn rows_are_rebuilt_from_published_gradients() {
    let folder = tempfile::tempdir().unwrap();
    let found = study("attack --quick --replications 1", &folder.path().join("attack"));
    for name in ["attack.json", "index.html", "rebuilt.png", "rebuilt.svg", "rounds.png", "rounds.svg"] {
        assert!(found.contains_key(name), "{name}");
    }
    let rows = rows(&found["attack.csv"]);
    let published: Vec<_> = rows
        .iter()
        .filter(|row| row["protocol"] == "published" && row["decimals"].is_empty())
        .filter(|row| row["rounds"] == row["rounds_run"])
        .collect();
    assert!(!published.is_empty());
    assert!(published.iter().all(|row| row["found"] == row["rows"]), "{published:?}");
}
