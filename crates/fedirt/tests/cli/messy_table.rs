//! A table of ordinary files: each gives the right estimates, or a question with its place and what would settle it. None
//! gives other estimates with exit status 0. The command line, the library and the check of a site are tried with all of them.

mod bad;
mod good;
mod library;

use crate::common::Bench;
use crate::messy::{NAMES, csv, long, lsat7, same_estimates, scale, spoilt, with_column};
use bad::bad_files;
use good::good_files;

/// What a file must give.
enum Gives {
    /// The estimates of a clean file.
    Estimates(&'static str),
    /// Exit status 2 and a question.
    Question(Asked),
}
use Gives::{Estimates, Question};

/// A question: where it points, and texts of what is said and of what would settle it.
struct Asked {
    file: Option<&'static str>,
    line: Option<u64>,
    column: Option<&'static str>,
    said: &'static str,
    remedy: &'static str,
}

/// A question about a place: file, line and column, of which any may be unknown.
fn asks(place: (&'static str, u64, &'static str), said: &'static str, remedy: &'static str) -> Gives {
    let known = |name: &'static str| (!name.is_empty()).then_some(name);
    let (file, line, column) = place;
    let line = (line > 0).then_some(line);
    Question(Asked { file: known(file), line, column: known(column), said, remedy })
}

struct Case {
    what: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    arguments: &'static str,
    gives: Gives,
}

fn case(what: &'static str, text: impl Into<Vec<u8>>, arguments: &'static str, gives: Gives) -> Case {
    Case { what, files: vec![("a.csv", text.into())], arguments, gives }
}

impl Case {
    fn with(mut self, name: &'static str, text: impl Into<Vec<u8>>) -> Self {
        self.files.push((name, text.into()));
        self
    }
}

type Rows = Vec<Vec<String>>;

fn number(cell: &str) -> usize {
    cell.parse().expect("cells of these files are whole numbers")
}

/// LSAT 7 with every cell changed.
fn cells(change: impl Fn(usize, usize, &str) -> String) -> Rows {
    let mut rows = lsat7();
    for (at, row) in rows.iter_mut().enumerate() {
        for (column, cell) in row.iter_mut().enumerate() {
            *cell = change(at, column, cell);
        }
    }
    rows
}

/// Right answers as these options, item by item; wrong ones run through the others.
fn options(key: [&str; 5], all: &[&str]) -> Rows {
    cells(|at, column, cell| {
        let wrong: Vec<&&str> = all.iter().filter(|option| **option != key[column]).collect();
        if cell == "1" { key[column].into() } else { wrong[(at * 7 + column) % wrong.len()].to_string() }
    })
}

fn key_of(key: [&str; 5]) -> String {
    let lines: Vec<String> = NAMES.iter().zip(key).map(|(name, key)| format!("{name},{key}\n")).collect();
    format!("item,key\n{}", lines.concat())
}

fn book(columns: &str, cells: &str) -> String {
    let lines: Vec<String> = NAMES.iter().map(|name| format!("{name},{cells}\n")).collect();
    format!("item,{columns}\n{}", lines.concat())
}

fn utf16(text: &str, turn: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(turn).collect()
}

/// A workbook with LSAT 7 from a row on; a cell in another sheet, and a time of day in a cell, where they are given.
fn workbook(first_row: u32, other_sheet: Option<&str>, time_at: Option<u32>) -> Vec<u8> {
    use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, XlsxError};
    let write = || -> Result<Vec<u8>, XlsxError> {
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet();
        for (column, name) in (0..).zip(NAMES) {
            sheet.write(first_row, column, name)?;
        }
        for (row, cells) in (first_row + 1..).zip(lsat7()) {
            for (column, cell) in (0..).zip(cells) {
                sheet.write(row, column, number(&cell) as f64)?;
            }
        }
        if let Some(row) = time_at {
            let midnight = ExcelDateTime::from_hms(0, 0, 0)?;
            sheet.write_with_format(row, 1, &midnight, &Format::new().set_num_format("hh:mm"))?;
        }
        let other = workbook.add_worksheet();
        if let Some(text) = other_sheet {
            other.write(0, 0, text)?;
        }
        workbook.save_to_buffer()
    };
    write().expect("a workbook can be written")
}

/// LSAT 7 with ids, in Windows-1252.
fn windows_1252() -> Vec<u8> {
    let mut bytes = csv(&[&NAMES[..], &["id"]].concat(), &numbered(|at| format!("M#ller {at}"))).into_bytes();
    bytes.iter_mut().filter(|byte| **byte == b'#').for_each(|byte| *byte = 0xfc);
    bytes
}

/// LSAT 7 with a further cell at the end of each row.
fn numbered(cell: impl Fn(usize) -> String) -> Rows {
    let mut rows = lsat7();
    rows.iter_mut().enumerate().for_each(|(at, row)| row.push(cell(at)));
    rows
}

const KEY: [&str; 5] = ["B", "A", "D", "C", "A"];
const LETTERS: [&str; 4] = ["A", "B", "C", "D"];
const DIGITS: [&str; 4] = ["1", "2", "3", "4"];
const WORDS: [&str; 5] = ["never", "seldom", "sometimes", "often", "always"];

/// Files whose estimates are known.
fn clean() -> Vec<(&'static str, String)> {
    let mut halves = cells(|_, _, cell| cell.into());
    halves.iter_mut().for_each(|row| row[4] = (number(&row[4]) + number(&row[0])).to_string());
    vec![
        ("clean.csv", csv(&NAMES, &lsat7())),
        ("empty.csv", csv(&NAMES, &spoilt(2, |_, _| String::new()))),
        ("zeros.csv", csv(&NAMES, &spoilt(2, |_, _| "0".into()))),
        ("scale.csv", csv(&NAMES, &scale(lsat7()))),
        ("halves.csv", csv(&NAMES, &halves)),
        ("weights.csv", csv(&[&NAMES[..], &["w"]].concat(), &numbered(|at| ["0.5", "1.25"][at % 2].into()))),
    ]
}

fn bench(case: &Case) -> Bench {
    let bench = Bench::new();
    for (name, text) in &case.files {
        bench.write(name, text);
    }
    bench
}

#[test]
fn files_that_give_the_right_estimates() {
    let known = Bench::new();
    for (name, text) in clean() {
        known.write(name, text);
    }
    let cases = good_files();
    assert!(cases.len() >= 30);
    for case in &cases {
        let Estimates(reference) = case.gives else { panic!("{}", case.what) };
        eprintln!("{}", case.what);
        let mut fit = bench(case).fit(&format!("a.csv {}", case.arguments));
        let mut right = known.fit(reference);
        // Codes may begin elsewhere, and options are counted where there are some; what is estimated may not differ.
        for fit in [&mut fit, &mut right] {
            for item in fit["items"].as_array_mut().unwrap() {
                for field in ["codes", "options"] {
                    item.as_object_mut().unwrap().remove(field);
                }
            }
        }
        same_estimates(&fit, &right);
    }
}

#[test]
fn files_that_bring_a_question() {
    let cases = bad_files();
    assert!(cases.len() >= 40);
    let mut missed = Vec::new();
    for case in &cases {
        let Question(asked) = &case.gives else { panic!("{}", case.what) };
        let bench = bench(case);
        let place = match (asked.line, asked.column) {
            (Some(line), Some(column)) => format!("line {line}, column {column}: "),
            (Some(line), None) => format!("line {line}: "),
            (None, Some(column)) => format!("column {column}: "),
            (None, None) => String::new(),
        };
        for command in ["fit", "check"] {
            let (out, err) = bench.expect(2, &format!("{command} a.csv {}", case.arguments));
            assert!(out.is_empty() && err.starts_with("error:"), "{}: {out}\n{err}", case.what);
            let wanted = [asked.file.unwrap_or_default(), &place, asked.said, asked.remedy];
            if let Some(absent) = wanted.into_iter().find(|text| !err.contains(text)) {
                missed.push(format!("{}: {absent:?} is not in\n{err}", case.what));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Classical statistics of keyed items show how distractors work; `--json` is for programs.
#[test]
fn check_tells_of_options() {
    let bench = Bench::new();
    bench.write("raw.csv", csv(&NAMES, &options(KEY, &LETTERS)));
    bench.write("key.csv", key_of(KEY));
    let (text, _) = bench.expect(0, "check raw.csv --key key.csv");
    assert!(
        text.contains("Options of keyed items") && text.contains("Alpha: 0.453 (1,000 complete rows)"),
        "{text}"
    );
    let (json, _) = bench.expect(0, "check raw.csv --key key.csv --json");
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let first = &found["items"][0];
    let right: usize = lsat7().iter().filter(|row| row[0] == "1").count();
    assert_eq!(first["p"].as_f64(), Some(right as f64 / 1000.0));
    let counts: u64 = first["options"].as_array().unwrap().iter().map(|o| o["count"].as_u64().unwrap()).sum();
    assert_eq!(
        (counts, &first["options"][1]["option"], &first["options"][1]["code"]),
        (1000, &"B".into(), &1.into())
    );
    assert!(first["options"][1]["item_rest_r"].as_f64() > Some(0.0));
    let (nothing, _) = bench.expect(0, "check raw.csv --key key.csv --quiet");
    assert!(nothing.is_empty());
}

/// An item that agrees with another one in every row has no finite slope: the others are estimated as if it were not there.
#[test]
fn an_item_without_a_finite_estimate_leaves_the_likelihood() {
    let bench = Bench::new();
    let mut rows = lsat7();
    // Right exactly if at least three of the others are.
    let step = |row: &[String]| usize::from(row.iter().filter(|cell| *cell == "1").count() >= 3).to_string();
    rows.iter_mut().for_each(|row| {
        let cell = step(row);
        row.push(cell);
    });
    bench.write("step.csv", csv(&[&NAMES[..], &["step"]].concat(), &rows));
    bench.write("clean.csv", csv(&NAMES, &lsat7()));
    let (mut with, without) = (bench.fit("step.csv"), bench.fit("clean.csv"));
    let items = with["items"].as_array_mut().unwrap();
    let step = items.pop().unwrap();
    assert!(step["name"] == "step" && step["a"].is_null() && step["n"] == 1000, "{step}");
    same_estimates(&with, &without);
    assert_eq!(with["npar"], 10);
    let warnings = with["warnings"].to_string();
    assert!(
        warnings.contains("items_left_out") && warnings.contains("estimated again without"),
        "{warnings}"
    );
    bench.expect(0, "fit step.csv --out out");
    bench.expect(0, "fit clean.csv --out clean");
    assert_eq!(bench.read("out/scores.csv").replace(",step,", ",clean,"), bench.read("clean/scores.csv"));
}
