//! `--secure`, `--private` and fedirt-dp, and real processes over TLS.

use crate::common::Bench;

fn numbers(fit: &serde_json::Value, name: &str) -> Vec<f64> {
    fit["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item[name].as_f64().expect("a number"))
        .collect()
}

#[test]
fn secure_equals_plain_and_keeps_effects_at_home() {
    let bench = Bench::simulated();
    bench.command("fit north.csv south.csv west.csv --out plain").assert().success();
    bench.command("fit north.csv south.csv west.csv --secure --out secure --transcript").assert().success();
    let (plain, secure) = (bench.json("plain/fit.json"), bench.json("secure/fit.json"));
    // Fewer digits leave a site in `secure`: what they move is below 1e-4 of a standard error.
    let errors = numbers(&plain, "se_a");
    for ((a, b), se) in numbers(&plain, "a").iter().zip(numbers(&secure, "a")).zip(errors) {
        assert!((a - b).abs() < 1e-4 * se, "{a} {b} {se}");
    }
    assert_eq!(secure["mode"], "secure");
    assert!(secure["sites"].as_array().unwrap().iter().all(|s| s["effect"].is_null() && s["se"].is_null()));
    // Each site scores its own students with its own effect: the same scores.
    let scores = |name: &str| bench.read(name).lines().nth(5).expect("a student").to_owned();
    let near = |a: &str, b: &str| {
        let (a, b): (Vec<&str>, Vec<&str>) = (a.split(',').collect(), b.split(',').collect());
        let score = |fields: &[&str]| fields[4].parse::<f64>().expect("a score");
        (score(&a) - score(&b)).abs() < 1e-4
    };
    assert!(near(&scores("plain/scores.csv"), &scores("secure/scores.csv")));
    let transcript = bench.read("secure/transcript.jsonl");
    assert!(transcript.lines().filter(|l| !l.contains("\"round\":0")).all(|l| l.contains("\"masked\":")));
    let published = bench
        .command("fit north.csv south.csv west.csv --secure --publish-effects --json")
        .output()
        .expect("the program runs");
    let fit: serde_json::Value = serde_json::from_slice(&published.stdout).expect("JSON");
    assert!(fit["sites"].as_array().unwrap().iter().all(|s| s["effect"].is_number()));
}

#[test]
fn private_fits_say_what_they_promise_and_nothing_else() {
    let bench = Bench::simulated();
    bench.write("codebook.csv", "item,categories\nM1,2\nM2,2\nM3,2\nM4,2\nM5,2\nM6,3\n");
    bench
        .command(
            "fit north.csv south.csv west.csv --codebook codebook.csv --private --epsilon 4 --out private",
        )
        .assert()
        .success();
    let fit = bench.json("private/fit.json");
    assert_eq!((fit["mode"].as_str(), fit["privacy"]["epsilon"].as_f64()), (Some("private"), Some(4.0)));
    for name in ["loglik", "aic", "max_gradient", "curves", "ability_histogram", "seed"] {
        assert!(fit[name].is_null(), "{name}");
    }
    // Whether the fit to the noisy sums came to rest is made of them alone.
    assert!(fit["converged"].is_boolean());
    assert!(bench.read("private/report.html").contains("private"));
    bench
        .command(
            "fit north.csv south.csv west.csv --codebook codebook.csv --algorithm fedirt-dp --epsilon 8 --max-rounds 20 --out dp",
        )
        .assert()
        .success();
    let fit = bench.json("dp/fit.json");
    assert_eq!((fit["mode"].as_str(), fit["algorithm"].as_str()), (Some("plain"), Some("fedirt-dp")));
}

#[test]
fn privacy_flags_are_checked_before_any_file_is_read() {
    let bench = Bench::new();
    for (flags, word) in [
        ("--private", "--epsilon"),
        ("--private --epsilon 0", "epsilon"),
        ("--private --epsilon 1 --delta 1", "delta"),
        ("--private --epsilon 1 --delta 0", "delta"),
        ("--private --epsilon 1 --seed 3", "--seed"),
        ("--private --epsilon 1 --tolerance 1e-4", "--tolerance"),
        ("--private --epsilon 1 --max-rounds 9", "--max-rounds"),
        ("--private --epsilon 1 --publish-effects", "--secure"),
        ("--algorithm fedirt-dp --epsilon 1 --tolerance 1e-4", "--tolerance"),
        ("--private --epsilon 1 --weight w", "--weight"),
        ("--private --epsilon 1 --effects random", "--effects random"),
        ("--private --epsilon 1 --algorithm bfgs", "--algorithm"),
        ("--private --epsilon 1 --model rasch", "use rasch-sd1"),
        ("--algorithm fedirt-dp --epsilon 1 --clip 0", "--clip"),
        ("--algorithm fedirt-dp --epsilon 1 --sampling-rate 1.5", "--sampling-rate"),
        ("--private --algorithm fedirt-dp --epsilon 1 --noise central", "--noise central"),
        ("--epsilon 1", "--private"),
        ("--booklets b.csv", "--booklets"),
        ("--secure --algorithm bfgs", "bfgs"),
        ("--secure --algorithm meta", "meta"),
    ] {
        let output = bench.command(&format!("fit nowhere.csv {flags}")).output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags}: {said}");
        assert!(said.contains(word) && !said.contains("no such file"), "{flags}: {said}");
    }
}

/// Where students were given different items, the booklets say so, and their rows count.
#[test]
fn booklets_make_incomplete_rows_count() {
    let bench = Bench::new();
    bench.expect(0, "simulate --sites 3 --students 150 --items 6 --booklets 2 --seed 4 --per-site --out sim");
    let files = "sim/site01.csv sim/site02.csv sim/site03.csv";
    // The booklets that were simulated, from the rows: which items are answered together.
    let text = bench.read("sim/site01.csv");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let mut sets: Vec<Vec<&str>> = Vec::new();
    for line in lines {
        let given: Vec<&str> = (names.iter().zip(line.split(',')))
            .filter(|(name, cell)| name.starts_with('i') && **name != "id" && !cell.is_empty())
            .map(|(name, _)| *name)
            .collect();
        if !sets.contains(&given) {
            sets.push(given);
        }
    }
    let mut file = String::from("booklet,item\n");
    for (b, items) in sets.iter().enumerate() {
        items.iter().for_each(|item| file.push_str(&format!("B{b},{item}\n")));
    }
    bench.write("booklets.csv", file);
    let (out, _) =
        bench.expect(0, &format!("fit {files} --id id --private --epsilon 8 --booklets booklets.csv --json"));
    let fit: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(fit["items"].as_array().expect("items").iter().all(|item| item["a"].is_number()));
    bench.write("bad.csv", "booklet,item\nA,i01\nA,i99\nB,i01\n");
    let (_, said) = bench.expect(2, &format!("fit {files} --id id --private --epsilon 8 --booklets bad.csv"));
    assert!(said.contains("i99") && said.contains("lies within"), "{said}");
}

#[test]
fn two_sites_cannot_hide_from_each_other() {
    let bench = Bench::simulated();
    let output = bench.command("fit north.csv south.csv --secure").output().expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("exact sums need three"));
}

/// Real processes over loopback TLS, killed with -9: the result is that of one process in every field but provenance.
/// 200 kills: `cargo run --release -- study kills`.
#[test]
fn killed_processes_lose_nothing() {
    let bench = Bench::new();
    let output = bench.command("study kills --kills 8 --seed 3").output().expect("the program runs");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("8 kills (-9)") && said.contains("0  of them lost"), "{said}");
}
