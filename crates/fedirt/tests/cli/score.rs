//! `fedirt score`.

use crate::common::{Bench, rows};

#[test]
fn eap_reproduces_the_scores_of_the_fit() {
    let bench = Bench::simulated();
    for effects in ["fixed", "random", "none"] {
        bench.expect(0, &format!("fit all.csv --site school --effects {effects} --out out"));
        let (out, _) = bench.expect(0, "score out/fit.json all.csv --site school");
        assert!(out == bench.read("out/scores.csv"), "{effects}");
    }
    bench.expect(0, "score out/fit.json all.csv --site school --out scores.csv");
    assert_eq!(bench.read("scores.csv"), bench.read("out/scores.csv"));
    assert!(bench.names("").iter().all(|name| !name.starts_with(".fedirt")));
}

#[test]
fn a_site_without_an_effect_is_told() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --out out");
    bench.write("new.csv", bench.read("north.csv"));
    let (zero, err) = bench.expect(0, "score out/fit.json new.csv");
    assert!(err.contains("no effect for new: scored with 0"), "{err}");
    let (low, err) = bench.expect(0, "score out/fit.json new.csv --site-effect=-1.5");
    assert!(err.is_empty(), "{err}");
    let ability = |text: &str| rows(text)[0][4].parse::<f64>().unwrap();
    assert!(ability(&low) < ability(&zero));
    assert!(zero.contains("\n1,new,") && zero.contains("\n120,new,"));
}

#[test]
fn a_site_where_everyone_knows_everything() {
    let bench = Bench::simulated();
    bench.write("gifted.csv", format!("M1,M2,M3,M4,M5,M6\n{}", "1,1,1,1,1,2\n".repeat(20)));
    let (out, _) = bench.expect(0, "fit north.csv south.csv gifted.csv --out out");
    assert!(out.contains("no effect is known for gifted: scored with 0"), "{out}");
    assert!(bench.read("out/sites.csv").ends_with("\ngifted,20,,\n"));
    let (out, err) = bench.expect(0, "score out/fit.json north.csv south.csv gifted.csv");
    assert!(err.contains("no effect for gifted"), "{err}");
    assert_eq!(out, bench.read("out/scores.csv"));
}

#[test]
fn all_methods() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --out out");
    for method in ["map", "wle", "ml"] {
        let (out, _) =
            bench.expect(0, &format!("score out/fit.json all.csv --site school --method {method}"));
        assert!(out.starts_with("id,site,answered,raw,F1,SE_F1,Zh,infit,outfit,prior\n"), "{method}");
        let empty = rows(&out).iter().filter(|row| row[4].is_empty()).count();
        assert_eq!(empty > 0, method == "ml", "perfect rows have no ML estimate, and {method} left {empty}");
    }
}

#[test]
fn plausible_values_depend_on_seed_and_row_only() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --out out");
    let run = |flags: &str, threads: &str| {
        let arguments = format!("score out/fit.json all.csv --site school --method pv {flags}");
        let output = bench.command(&arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(output.status.success());
        (crate::common::text(&output.stdout), crate::common::text(&output.stderr))
    };
    let (one, err) = run("--draws 3", "1");
    assert!(err.contains("seed 1"), "{err}");
    assert!(one.starts_with("id,site,answered,raw,PV1,PV2,PV3,Zh,infit,outfit,prior\n"), "{one}");
    let (two, err) = run("--draws 3 --seed 1", "2");
    assert!(one == two && !err.contains("seed"), "{err}");
    assert!(run("--draws 3 --seed 2", "1").0 != one);
    // Rows with the same answers draw different values, and draws differ from each other.
    let table = rows(&one);
    let firsts: std::collections::HashSet<&str> = table.iter().map(|row| row[4]).collect();
    assert_eq!(firsts.len(), table.len());
    assert!(table.iter().all(|row| row[4] != row[5]));
}

#[test]
fn answers_that_the_fit_does_not_know() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --out out");
    let rest = "0,1,0,1,0,0\n".repeat(9);
    bench.write("new.csv", format!("M1,M2,M3,M4,M5,M6\n{rest}2,1,0,1,0,3\n2,1,1,1,0,1\n"));
    let (out, err) = bench.expect(2, "score out/fit.json new.csv");
    assert!(out.is_empty(), "{out}");
    assert!(err.contains("site new, item M1: 2 answers with the code 2"), "{err}");
    assert!(err.contains("item M6: 1 answer with the code 3") && err.contains("(it has 0, 1, 2)"), "{err}");
    // Other items are left out, and told; so is a file without any item of the fit.
    bench.write("more.csv", format!("M1,M2,M3,M4,M5,X6\n{rest}"));
    let (out, err) = bench.expect(0, "score out/fit.json more.csv");
    assert!(
        err.contains("not among the selected items: `X6`") && rows(&out).iter().all(|row| row[2] == "5"),
        "{err}"
    );
    bench.write("other.csv", "A,B\n0,1\n1,0\n");
    let (_, err) = bench.expect(2, "score out/fit.json other.csv");
    assert!(err.contains("none of the columns is one of the items that are selected"), "{err}");
}

#[test]
fn things_that_are_no_fit() {
    let bench = Bench::simulated();
    bench.write("broken.json", "{\"format\": \"fedirt.fit/1\"");
    bench.write("other.json", "{\"x\": 1}");
    bench.write("future.json", "{\"format\": \"fedirt.fit/9\"}");
    bench.write("part.json", "{\"format\": \"fedirt.fit/1\"}");
    for name in ["broken.json", "other.json", "future.json", "part.json", "north.csv"] {
        let (_, err) = bench.expect(2, &format!("score {name} north.csv"));
        assert!(err.starts_with("error:") && err.contains(name) && err.contains("not a fit"), "{err}");
    }
    let (_, err) = bench.expect(2, "score none.json none.csv");
    assert!(err.matches("error:").count() == 2 && err.contains("none.csv"), "{err}");
}

/// Students of two sites in turn; the sixth row has no answer.
fn in_turn(bench: &Bench) -> Vec<String> {
    let table = bench.read("all.csv");
    let (north, others): (Vec<&str>, Vec<&str>) =
        table.lines().skip(1).partition(|line| line.contains(",north,"));
    let mut lines: Vec<String> =
        north.iter().zip(&others).flat_map(|(one, two)| [one.to_string(), two.to_string()]).collect();
    lines[5] = "nobody,south,,,,,,".into();
    bench.write("turns.csv", format!("{}\n{}\n", table.lines().next().expect("a header"), lines.join("\n")));
    lines.iter().map(|line| line.split(',').next().expect("an id").to_owned()).collect()
}

#[test]
fn rows_stand_in_the_order_of_the_file_and_without_an_answer_there_is_no_score() {
    let bench = Bench::simulated();
    let ids = in_turn(&bench);
    let (out, _) = bench.expect(0, "fit turns.csv --site school --out out");
    assert!(out.contains("1 student has no answer and no score: nobody (south)"), "{out}");
    let (scored, err) = bench.expect(0, "score out/fit.json turns.csv --site school");
    assert!(err.contains("no score: nobody (south)"), "{err}");
    for scores in [bench.read("out/scores.csv"), scored] {
        let table = rows(&scores);
        assert_eq!(table.iter().map(|row| row[0]).collect::<Vec<_>>(), ids);
        assert_eq!(table[5][2..], ["0", "0", "", "", "", "", "", "site"]);
    }
    let (values, _) = bench.expect(0, "score out/fit.json turns.csv --site school --method pv --draws 2");
    assert_eq!(rows(&values)[5][3..6], ["0", "", ""]);
    let (json, _) = bench.expect(0, "score out/fit.json turns.csv --site school --json --quiet");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["students"][5]["id"].as_str(), json["students"][5]["F1"].is_null()),
        (Some("nobody"), true)
    );
}

#[test]
fn the_same_answers_have_the_same_score_under_a_common_prior() {
    let bench = Bench::simulated();
    let (out, _) = bench.expect(0, "fit all.csv --site school --out out");
    assert!(out.contains("--prior common"), "{out}");
    let answers = "0,1,0,1,1,2";
    bench.write(
        "same.csv",
        format!("school,M1,M2,M3,M4,M5,M6\nnorth,{answers}\nwest,{answers}\nelsewhere,{answers}\n"),
    );
    let scores = |flags: &str| -> Vec<Vec<f64>> {
        let (out, _) = bench.expect(0, &format!("score out/fit.json same.csv --site school {flags}"));
        rows(&out)
            .iter()
            .map(|row| row[4..row.len() - 4].iter().map(|x| x.parse().unwrap()).collect())
            .collect()
    };
    let site = scores("");
    assert!(site[0][0] < site[1][0] - 0.05, "{site:?}");
    let common = scores("--prior common");
    assert_eq!(common[0], common[1]);
    assert_eq!(common[0], common[2]);
    let wle = scores("--method wle");
    // The search for it starts where the site's prior is.
    assert!((wle[0][0] - wle[1][0]).abs() < 1e-9 && (wle[0][1] - wle[1][1]).abs() < 1e-9, "{wle:?}");
    // 500 and 100 belong to the mixture of the sites' normal distributions.
    let fit = bench.json("out/fit.json");
    let of = |site: &serde_json::Value| (site["n"].as_f64().unwrap(), site["effect"].as_f64().unwrap());
    let sites: Vec<(f64, f64)> = fit["sites"].as_array().unwrap().iter().map(of).collect();
    let n: f64 = sites.iter().map(|(n, _)| n).sum();
    let mean = sites.iter().map(|(n, effect)| n * effect).sum::<f64>() / n;
    let spread = sites.iter().map(|(n, effect)| n * (effect - mean).powi(2)).sum::<f64>() / n;
    let sd = (1.0 + spread).sqrt();
    let scaled = scores("--prior common --scale mean=500,sd=100");
    assert!((scaled[0][2] - (500.0 + 100.0 * (common[0][0] - mean) / sd)).abs() < 1e-9, "{scaled:?}");
    assert!((scaled[0][3] - 100.0 * common[0][1] / sd).abs() < 1e-9, "{scaled:?}");
    bench.expect(2, "score out/fit.json same.csv --site school --method wle --prior common");
    bench.expect(2, "fit all.csv --site school --prior common");
}
