//! Ordinary files with something that is no answer: right estimates or a question, never other estimates.

use crate::common::{Bench, assert_close};
use serde_json::Value;

/// LSAT section 7 (Bock & Lieberman 1970): counts of the patterns 00000, 00001, …, 11111, first item first.
const LSAT7: [usize; 32] = [
    12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28, 7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18,
    136, 32, 308,
];
pub(crate) const NAMES: [&str; 5] = ["i1", "i2", "i3", "i4", "i5"];

pub(crate) fn lsat7() -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (pattern, count) in LSAT7.iter().enumerate() {
        let row: Vec<String> = (0..5).rev().map(|bit| (pattern >> bit & 1).to_string()).collect();
        rows.extend(std::iter::repeat_n(row, *count));
    }
    rows
}

/// A linear congruential generator: the same choice on every machine.
pub(crate) struct Chance(u64);

impl Chance {
    /// True in `percent` of a hundred cases.
    fn falls(&mut self, percent: u64) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % 100 < percent
    }
}

/// LSAT 7 with another text in some percent of the cells.
pub(crate) fn spoilt(percent: u64, cell: impl Fn(usize, &str) -> String) -> Vec<Vec<String>> {
    let (mut rows, mut chance) = (lsat7(), Chance(1970));
    for (at, value) in rows.iter_mut().flatten().enumerate() {
        if chance.falls(percent) {
            *value = cell(at, value);
        }
    }
    rows
}

pub(crate) fn csv(header: &[&str], rows: &[Vec<String>]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    format!("{}\n{}\n", header.join(","), lines.join("\n"))
}

/// LSAT 7 with a further column at its end.
pub(crate) fn with_column(name: &str, value: impl Fn(usize, &[String]) -> String) -> String {
    let header = [&NAMES[..], &[name]].concat();
    let mut rows = lsat7();
    for (at, row) in rows.iter_mut().enumerate() {
        let value = value(at, row);
        row.push(value);
    }
    csv(&header, &rows)
}

fn asked(bench: &Bench, arguments: &str, wanted: &[&str]) {
    for command in ["fit", "check"] {
        let (out, err) = bench.expect(2, &format!("{command} {arguments}"));
        assert!(out.is_empty() && err.starts_with("error:"), "{out}\n{err}");
        for text in wanted {
            assert!(err.contains(text), "{text:?} is not in\n{err}");
        }
    }
}

pub(crate) fn same_estimates(one: &Value, other: &Value) {
    for part in ["items", "loglik", "n"] {
        assert_close(&one[part], &other[part], 0.0, part);
    }
}

#[test]
fn nines_in_lsat_7() {
    let bench = Bench::new();
    bench.write("lsat_9.csv", csv(&NAMES, &spoilt(2, |_, _| "9".into())));
    bench.write("lsat_empty.csv", csv(&NAMES, &spoilt(2, |_, _| String::new())));
    let first = spoilt(2, |_, _| "9".into()).iter().position(|row| row[0] == "9").unwrap() + 2;
    let line = format!("line {first}, column i1");
    asked(&bench, "lsat_9.csv", &["lsat_9.csv", &line, "5 problems", "add --missing 9;", "9 ("]);
    let fit = bench.fit("lsat_9.csv --missing 9");
    same_estimates(&fit, &bench.fit("lsat_empty.csv"));
    assert_eq!(fit["items"][0]["categories"], 2);
}

#[test]
fn a_codebook_makes_gaps_legal() {
    let bench = Bench::new();
    bench.write(
        "scale.csv",
        csv(&NAMES, &spoilt(30, |at, _| if at.is_multiple_of(2) { "2" } else { "4" }.into())),
    );
    asked(&bench, "scale.csv", &["column i1", "--missing 4", "--codebook FILE"]);
    let book: String = NAMES.map(|name| format!("{name},5\n")).concat();
    bench.write("book.csv", format!("item,categories\n{book}"));
    bench.expect(0, "check scale.csv --codebook book.csv");
    let output = bench.run("fit scale.csv --codebook book.csv");
    assert_ne!(output.status.code(), Some(2));
    bench.write("bad_book.csv", "item,categories\ni1,two\n");
    let (_, err) = bench.expect(2, "check scale.csv none.csv --codebook bad_book.csv");
    assert!(err.contains("`two`") && err.contains("none.csv"), "{err}");
}

#[test]
fn a_private_fit_asks_nothing_more() {
    let bench = Bench::new();
    let female = with_column("female", |at, _| (at % 2).to_string());
    bench.write("a.csv", female);
    let (_, err) = bench.expect(0, "fit a.csv --private --epsilon 5");
    assert!(!err.contains("error:"), "{err}");
}

#[test]
fn columns_that_are_no_items() {
    let bench = Bench::new();
    let clean = bench.write("clean.csv", csv(&NAMES, &lsat7()));
    assert!(clean.exists());
    let right = bench.fit("clean.csv");
    let total = |_: usize, row: &[String]| row.iter().filter(|cell| *cell == "1").count().to_string();
    let parity = |at: usize, _: &[String]| (at % 2).to_string();
    for (name, text) in [
        ("total", with_column("total", total)),
        ("female", with_column("female", parity)),
        ("age", with_column("age", |at, _| (14 + at % 3).to_string())),
        ("Grade", with_column("Grade", |at, _| (at * 7 % 4).to_string())),
    ] {
        bench.write("other.csv", text);
        asked(&bench, "other.csv", &["other.csv", &format!("column {name}"), &format!("--ignore {name}")]);
        for settled in [format!("--ignore {name}"), "--items i1-i5".into(), "--items i*".into()] {
            same_estimates(&right, &bench.fit(&format!("other.csv {settled}")));
        }
    }
    // A selection is told.
    let (_, err) = bench.expect(0, "fit other.csv --items i1,i2,i3,i4,i5 --json");
    assert!(err.contains("1 column is not among the selected items: `Grade`"), "{err}");
    let (_, err) = bench.expect(2, "fit other.csv --items i1-i5,Grades");
    assert!(err.contains("--items selects an item that no file has") && err.contains("`Grade`"), "{err}");
    // An unknown name that goes with nothing is a warning only.
    bench.write("noise.csv", with_column("x", parity));
    let (_, err) = bench.expect(0, "fit noise.csv --json");
    assert!(err.contains("item-rest correlation near zero: `x`"), "{err}");
}

#[test]
fn items_that_sites_spell_differently() {
    let bench = Bench::new();
    let rows = lsat7();
    let (even, odd): (Vec<_>, Vec<_>) =
        rows.into_iter().enumerate().partition(|(at, _)| at.is_multiple_of(2));
    let half = |rows: Vec<(usize, Vec<String>)>| rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>();
    let (even, odd) = (half(even), half(odd));
    bench.write("north.csv", csv(&NAMES, &even));
    for other in [
        ["I1", "I2", "I3", "I4", "I5"],
        ["i01", "i02", "i03", "i04", "i05"],
        ["i_1", "i 2", "i.3", "i-4", "i5"],
    ] {
        bench.write("south.csv", csv(&other, &odd));
        asked(
            &bench,
            "north.csv south.csv",
            &["south.csv", &format!("column {}", other[0]), "`i1` in north.csv"],
        );
    }
    bench.write("south.csv", csv(&NAMES, &odd));
    assert_eq!(bench.fit("north.csv south.csv")["items"].as_array().unwrap().len(), 5);
}

/// LSAT 7 as a long file.
pub(crate) fn long(rows: &[Vec<String>]) -> String {
    let mut text = "id,item,resp\n".to_owned();
    for (student, row) in rows.iter().enumerate() {
        for (item, cell) in NAMES.iter().zip(row) {
            text.push_str(&format!("{student},{item},{cell}\n"));
        }
    }
    text
}

/// LSAT 7 as a scale from 1 to 5: two neighbouring items and the last make one of them.
pub(crate) fn scale(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let right = |row: &[String], at: usize| usize::from(row[at % 5] == "1");
    let cell = |row: &[String], at| 1 + right(row, at) + 2 * right(row, at + 1) + right(row, at + 2);
    rows.iter().map(|row| (0..5).map(|at| cell(row, at).to_string()).collect()).collect()
}

#[test]
fn codes_for_no_answer_in_other_files() {
    let bench = Bench::new();
    let (nines, empty) = (spoilt(2, |_, _| "9".into()), spoilt(2, |_, _| String::new()));
    bench.write("long.csv", long(&nines));
    bench.write("long_empty.csv", long(&empty));
    asked(&bench, "long.csv", &["long.csv", "column i1", "add --missing 9;"]);
    same_estimates(&bench.fit("long.csv --missing 9"), &bench.fit("long_empty.csv"));
    // At one of two sites only: the other site's file is not at fault.
    bench.write("good.csv", csv(&NAMES, &lsat7()));
    bench.write("nines.csv", csv(&NAMES, &nines));
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.write("empty/nines.csv", csv(&NAMES, &empty));
    asked(&bench, "good.csv nines.csv", &["\nnines.csv\n", "add --missing 9;"]);
    same_estimates(&bench.fit("good.csv nines.csv --missing 9"), &bench.fit("good.csv empty/nines.csv"));
    // Three codes beyond a scale from 1 to 5.
    let mut chance = Chance(7);
    let (mut coded, mut blank) = (scale(lsat7()), scale(lsat7()));
    for (at, (code, blank)) in coded.iter_mut().flatten().zip(blank.iter_mut().flatten()).enumerate() {
        if chance.falls(3) {
            *code = ["7", "8", "9"][at % 3].into();
            blank.clear();
        }
    }
    bench.write("scale.csv", csv(&NAMES, &coded));
    bench.write("scale_empty.csv", csv(&NAMES, &blank));
    asked(&bench, "scale.csv", &["7, 8, 9 leave a gap above 5", "add --missing 7,8,9;"]);
    same_estimates(&bench.fit("scale.csv --missing 7,8,9"), &bench.fit("scale_empty.csv"));
}

#[test]
fn several_questions_at_once() {
    let bench = Bench::new();
    let mut rows = spoilt(2, |_, _| "9".into());
    for (at, row) in rows.iter_mut().enumerate() {
        let total = row.iter().filter(|cell| *cell == "1").count().to_string();
        let nines = row.contains(&"9".to_owned());
        row.push((at % 2).to_string());
        row.push(if nines { String::new() } else { total });
    }
    bench.write("export.csv", csv(&[&NAMES[..], &["female", "total"]].concat(), &rows));
    asked(&bench, "export.csv", &["add --missing 9;", "--ignore female"]);
    // A sum is seen once the codes are settled.
    asked(&bench, "export.csv --missing 9", &["--ignore female", "--ignore total"]);
    bench.write("empty.csv", csv(&NAMES, &spoilt(2, |_, _| String::new())));
    same_estimates(&bench.fit("export.csv --missing 9 --ignore female,total"), &bench.fit("empty.csv"));
}
