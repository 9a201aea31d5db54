//! Tables on the terminal.

use crate::common::Bench;

#[test]
fn the_block_and_the_tables() {
    let bench = Bench::simulated();
    let (out, err) = bench.expect(0, "fit all.csv --site school");
    assert!(err.is_empty(), "{err}");
    for name in [
        "Model",
        "Sites",
        "N",
        "n per item",
        "Log-likelihood",
        "Deviance",
        "Parameters",
        "AIC",
        "BIC",
        "SABIC",
        "Rounds",
        "Max. change",
        "Max. gradient",
        "SE type",
        "Condition number",
        "(ε, δ)",
        "Seed",
        "Version",
        "Codebook hash",
    ] {
        assert!(out.contains(&format!("{name}  ")), "{name}\n{out}");
    }
    assert!(out.starts_with("Mixed-format calibration of 6 items at 3 sites, 370 students · converged\n"));
    // No colours in a pipe, and no line longer than a page.
    assert!(!out.contains('\u{1b}'));
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    let items = out.split("\nItems\n").nth(1).unwrap();
    let header: Vec<&str> = items.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["item", "model", "n", "a", "SE", "step", "d", "SE", "b", "SE"]);
    let sites = out.split("\nSites\n").nth(1).unwrap();
    assert!(sites.lines().nth(1).unwrap().starts_with("  north  120  -0."), "{sites}");
}

#[test]
fn long_tables_lose_their_middle() {
    let bench = Bench::new();
    let mut text = String::from("school,M1,M2,M3\n");
    for school in 0..60 {
        for i in 0..9 {
            let bit = |k: usize| (school * 7 + i * 5 + k * 3 + school * i * k) % 11 % 2;
            text.push_str(&format!("S{school},{},{},{}\n", bit(1), bit(2), bit(3)));
        }
    }
    bench.write("many.csv", text);
    let output = bench.run("fit many.csv --site school");
    let out = crate::common::text(&output.stdout);
    assert!(out.contains("… 36 more, use --out"), "{out}");
    assert!(out.contains("\n  S0 ") && out.contains("\n  S59 ") && !out.contains("\n  S30 "), "{out}");
}

#[test]
fn json_is_alone_on_standard_output_and_keeps_all_digits() {
    let bench = Bench::simulated();
    let (out, err) = bench.expect(0, "fit all.csv --site school --json --out out");
    assert_eq!(out, bench.read("out/fit.json"));
    let files = bench.json("out/fit.json")["provenance"]["files"].clone();
    assert_eq!(files[0]["name"], "all.csv");
    assert!(err.contains("Written to out"), "{err}");
    let fit: serde_json::Value = serde_json::from_str(&out).unwrap();
    let digits = fit["items"][0]["a"].to_string();
    assert!(digits.len() > 14, "{digits}");
}

#[test]
fn colours_are_for_terminals() {
    let bench = Bench::simulated();
    let colours = |name: &str, value: &str| {
        let output = bench.command("fit north.csv").env(name, value).output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(colours("CLICOLOR_FORCE", "1"));
    assert!(!colours("NO_COLOR", "1"));
}

#[test]
fn completions_and_manual_pages_know_the_flags() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (script, _) = bench.expect(0, &format!("completions {shell}"));
        assert!(script.contains("fixed-items") && script.contains("ledger"), "{shell}");
    }
    bench.expect(0, "man --out pages");
    let names = bench.names("pages");
    for name in ["fedirt.1", "fedirt-fit.1", "fedirt-site-join.1", "fedirt-privacy-epsilon.1"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let page = bench.read("pages/fedirt-fit.1");
    assert!(page.contains(r"fedirt\-fit") && page.contains(r"\-\-item\-model"), "{page}");
}
