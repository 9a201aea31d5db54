//! Items of many categories, and categories that become one.

use crate::common::{Bench, number};
use crate::messy::{NAMES, csv, lsat7};
use serde_json::Value;

/// Items and an essay of 0 to 60 points, which goes with the items. The multiplier spreads points without a generator.
fn with_essay() -> String {
    let mut rows = lsat7();
    for (at, row) in rows.iter_mut().enumerate() {
        let right = row.iter().filter(|cell| *cell == "1").count();
        row.push((right * 4 + at * 7919 % 41).to_string());
    }
    csv(&[&NAMES[..], &["essay"]].concat(), &rows)
}

const BOOK: &str = "item,categories\ni1,2\ni2,2\ni3,2\ni4,2\ni5,2\nessay,61\n";

/// The log-likelihood of complete rows under the generalised partial credit model (Muraki 1992), student by student on the
/// grid that the fit names; `change` moves one of an item's cumulative intercepts.
fn log_likelihood(fit: &Value, text: &str, change: Option<(usize, usize, f64)>) -> f64 {
    let grid = &fit["quadrature"];
    let (nodes, to) = (grid["nodes"].as_u64().expect("a count"), number(&grid["to"]));
    let theta: Vec<f64> = (0..nodes).map(|q| to * (2.0 * q as f64 / (nodes - 1) as f64 - 1.0)).collect();
    let density: Vec<f64> = theta.iter().map(|t| (-t * t / 2.0).exp()).collect();
    let mass: f64 = density.iter().sum();
    let items: Vec<(f64, Vec<f64>, Vec<u64>)> = fit["items"]
        .as_array()
        .expect("a list")
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let mut d: Vec<f64> = item["d"].as_array().expect("a list").iter().map(number).collect();
            if let Some((_, step, by)) = change.filter(|(changed, ..)| *changed == at) {
                d[step] += by;
            }
            let codes = item["codes"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|code| code.as_u64().expect("a code"))
                .collect();
            (number(&item["a"]), d, codes)
        })
        .collect();
    // Probabilities of each item at each node.
    let tables: Vec<Vec<Vec<f64>>> = items
        .iter()
        .map(|(a, d, _)| {
            theta
                .iter()
                .map(|t| {
                    let logits: Vec<f64> =
                        std::iter::once(0.0).chain((1..).zip(d).map(|(c, d)| c as f64 * a * t + d)).collect();
                    let top = logits.iter().copied().fold(f64::MIN, f64::max);
                    let sum: f64 = logits.iter().map(|z| (z - top).exp()).sum();
                    logits.iter().map(|z| (z - top).exp() / sum).collect()
                })
                .collect()
        })
        .collect();
    text.lines()
        .skip(1)
        .map(|line| {
            let answers = line.split(',').map(|cell| cell.parse::<u64>().expect("a code"));
            let places: Vec<usize> = answers
                .zip(&items)
                .map(|(x, (.., codes))| codes.iter().position(|c| *c == x).expect("a code of the item"))
                .collect();
            let at = |q: usize| places.iter().zip(&tables).map(|(c, table)| table[q][*c]).product::<f64>();
            (0..theta.len()).map(|q| density[q] / mass * at(q)).sum::<f64>().ln()
        })
        .sum()
}

#[test]
fn an_essay_of_sixty_points() {
    let bench = Bench::new();
    let text = with_essay();
    bench.write("essay.csv", &text);
    bench.write("book.csv", BOOK);
    let (_, err) = bench.expect(2, "fit essay.csv");
    assert!(err.contains("column essay") && err.contains("more than 20 different values"), "{err}");
    let (out, _) = bench.expect(0, "fit essay.csv --codebook book.csv --out out");
    assert!(out.contains("report.html"), "{out}");
    let fit = bench.json("out/fit.json");
    let essay = &fit["items"][5];
    // 0, 1, …, 60 but for what nobody reached.
    assert!(essay["categories"].as_u64() > Some(50) && essay["model"] == "gpcm", "{essay}");
    let at_estimates = log_likelihood(&fit, &text, None);
    assert!((at_estimates - number(&fit["loglik"])).abs() < 1e-6, "{at_estimates} {}", fit["loglik"]);
    // A maximum: steps of the essay that are moved make it smaller.
    for (step, by) in [(0, 0.05), (0, -0.05), (30, 0.05), (30, -0.05), (49, 0.05), (49, -0.05)] {
        assert!(log_likelihood(&fit, &text, Some((5, step, by))) < at_estimates, "{step} {by}");
    }
    bench.expect(0, "score out/fit.json essay.csv --out again.csv");
    assert_eq!(bench.read("again.csv"), bench.read("out/scores.csv"));
    // Every third student in a file of its own: masked sums of three sites give what all rows together give.
    for (site, name) in ["x.csv", "y.csv", "z.csv"].into_iter().enumerate() {
        let rows: Vec<&str> = text.lines().skip(1).skip(site).step_by(3).collect();
        bench.write(name, format!("{}\n{}\n", text.lines().next().unwrap(), rows.join("\n")));
    }
    let (secure, pooled) = (
        bench.fit("x.csv y.csv z.csv --codebook book.csv --effects none --secure"),
        bench.fit("essay.csv --codebook book.csv"),
    );
    assert!((number(&secure["loglik"]) - number(&pooled["loglik"])).abs() < 1e-3);
}

/// Codes beyond 63 count where a codebook declares them, and nowhere else.
#[test]
fn a_hundred_points() {
    let bench = Bench::new();
    let (ends, plain) =
        (csv(&NAMES, &lsat7()).replace(",1\n", ",100\n").replace(",0\n", ",1\n"), csv(&NAMES, &lsat7()));
    bench.write("ends.csv", &ends);
    bench.write("plain.csv", &plain);
    bench.write("book.csv", "item,categories,lowest\ni1,2,0\ni2,2,0\ni3,2,0\ni4,2,0\ni5,100,1\n");
    let (_, err) = bench.expect(2, "fit ends.csv");
    assert!(
        err.contains("column i5") && err.contains("too large") || err.contains("a large number"),
        "{err}"
    );
    // Ninety-eight categories that nobody chose are closed up: what is left is the 0/1 item.
    let (with, without) = (bench.fit("ends.csv --codebook book.csv"), bench.fit("plain.csv"));
    assert_eq!(with["loglik"], without["loglik"]);
    assert_eq!(with["items"][4]["codes"], serde_json::json!([1, 100]));
    bench.expect(0, "fit ends.csv --codebook book.csv --out out");
    bench.expect(0, "score out/fit.json ends.csv --out again.csv");
    assert_eq!(bench.read("again.csv"), bench.read("out/scores.csv"));
}

/// A site's ratings of 0 to 5, where `five` students in a hundred got 5 and as many 4.
fn ratings(students: usize, five: usize) -> String {
    let mut rows = lsat7();
    rows.truncate(students);
    for (at, row) in rows.iter_mut().enumerate() {
        let right = row.iter().filter(|cell| *cell == "1").count();
        let rating = match at % 100 {
            rare if rare < five => 5,
            rare if rare < 2 * five => 4,
            _ => (right + at * 7919 % 11) / 4,
        };
        row.push(rating.to_string());
    }
    csv(&[&NAMES[..], &["rating"]].concat(), &rows)
}

fn merged_by_hand(text: &str) -> String {
    text.replace(",5\n", ",4\n")
}

fn estimates(fit: &Value) -> Value {
    serde_json::json!([fit["loglik"], fit["sites"], fit["items"][5]["d"], fit["items"][0]["b"]])
}

#[test]
fn thin_categories_are_merged_over_all_sites() {
    let bench = Bench::new();
    // North alone has too few 4s and 5s; both sites together have enough 4s and 5s for 20, and not for 40.
    for (name, text) in [("north", ratings(1000, 1)), ("south", ratings(1000, 2))] {
        bench.write(&format!("{name}.csv"), &text);
        bench.write(&format!("hand_{name}.csv"), merged_by_hand(&text));
    }
    // Few answers are 4 or 5: the codebook says that they are categories.
    bench.write("six.csv", "item,categories\ni1,2\ni2,2\ni3,2\ni4,2\ni5,2\nrating,6\n");
    let kept = bench.fit("north.csv south.csv --codebook six.csv --collapse 20");
    assert_eq!(kept["items"][5]["merged"], serde_json::json!([]));
    let mut fits = vec![bench.fit("north.csv south.csv --codebook six.csv --collapse 40")];
    bench.write(
        "book.csv",
        "item,categories,collapse\ni1,2,\ni2,2,\ni3,2,\ni4,2,\ni5,2,\nrating,6,0|1|2|3|4-5\n",
    );
    fits.push(bench.fit("north.csv south.csv --codebook book.csv"));
    bench.write("five.csv", "item,categories\ni1,2\ni2,2\ni3,2\ni4,2\ni5,2\nrating,5\n");
    let by_hand = bench.fit("hand_north.csv hand_south.csv --codebook five.csv");
    for fit in &fits {
        assert_eq!(fit["items"][5]["merged"], serde_json::json!([{"code": 5, "into": 4}]));
        let warnings = fit["warnings"].to_string();
        assert!(
            warnings.contains("categories_merged") && warnings.contains("rating 0|1|2|3|4-5"),
            "{warnings}"
        );
        assert_eq!(fit["loglik"], by_hand["loglik"]);
        assert_eq!(estimates(fit)[2], estimates(&by_hand)[2]);
    }
    // What was merged is merged again when others are scored.
    bench.expect(0, "fit north.csv south.csv --codebook six.csv --collapse 40 --out out");
    bench.expect(0, "score out/fit.json north.csv south.csv --out again.csv");
    assert_eq!(bench.read("again.csv"), bench.read("out/scores.csv"));
    let report = bench.read("out/report.html");
    assert!(
        report.contains("rating 0|1|2|3|4-5") && report.contains("4–5"),
        "the report names what was merged"
    );
    // The mapping is the same where sites are masked, of which there must be three; by the answers it is none of a private fit.
    bench.write("west.csv", ratings(1000, 0));
    let secure = bench.fit("north.csv south.csv west.csv --codebook six.csv --collapse 40 --secure");
    assert_eq!(secure["items"][5]["merged"], fits[0]["items"][5]["merged"]);
    let (_, err) = bench.expect(2, "fit north.csv south.csv --private --epsilon 8 --collapse 40");
    assert!(err.contains("--collapse") && err.contains("collapse"), "{err}");
    let private = bench.fit("north.csv south.csv --private --epsilon 8 --codebook book.csv");
    assert_eq!(private["items"][5]["merged"], fits[0]["items"][5]["merged"]);
    bench.write("thin.csv", "item,categories,collapse\ni1,2,\ni2,2,\ni3,2,\ni4,2,\ni5,2,\nrating,6,40\n");
    let (_, err) = bench.expect(2, "fit north.csv south.csv --private --epsilon 8 --codebook thin.csv");
    assert!(err.contains("item rating") && err.contains("0-2|3|4"), "{err}");
}

#[test]
fn merging_that_cannot_be() {
    let bench = Bench::new();
    bench.write("a.csv", ratings(1000, 1));
    let book = |cell: &str| {
        format!("item,categories,collapse\ni1,2,\ni2,2,\ni3,2,\ni4,2,\ni5,2,\nrating,6,{cell}\n")
    };
    for (cell, wanted) in [
        ("0-1", "line 7, column collapse"),
        ("5|4", "line 7, column collapse"),
        (
            "0-2|3|4",
            "item rating: `collapse` in the codebook must name each of its categories once: 0, 1, 2, 3, 4, 5",
        ),
    ] {
        bench.write("book.csv", book(cell));
        let (_, err) = bench.expect(2, "fit a.csv --codebook book.csv");
        assert!(err.contains(wanted), "{cell}: {err}");
    }
    bench.write("book.csv", book("0-2|3|4-5"));
    let (_, err) = bench.expect(2, "fit a.csv --codebook book.csv --item-model rating=nrm");
    assert!(err.contains("nominal"), "{err}");
}
