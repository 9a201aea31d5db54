//! Bindings offer what the command line offers: every flag of `fedirt fit` is an option here, or stands below with the reason why not.

use fedirt::{Column, Columns, Input};
use fedirt_bindings::{Options, Tables, Unwatched, calibrate};

/// The sources that declare the flags. (The program itself is no library that a test could ask.)
const SOURCES: [&str; 3] = [
    include_str!("../../../crates/fedirt/src/cli/args/fit.rs"),
    include_str!("../../../crates/fedirt/src/cli/args/mod.rs"),
    include_str!("../../../crates/fedirt/src/cli/args/score.rs"),
];

/// Flags whose options are called otherwise: what may be several has a plural, and a switch says what it switches.
const RENAMED: [(&str, &str); 6] = [
    ("item_model", "item_models"),
    ("bundle", "bundles"),
    ("no_purify", "purify"),
    ("no_diagnostics", "diagnostics"),
    ("secure", "mode"),
    ("private", "mode"),
];

/// Flags that name tables, which are given apart from options.
const TABLES: [&str; 5] = ["codebook", "key", "map", "booklets", "fixed_items"];

const LEFT_OUT: [(&str, &str); 12] = [
    ("files", "answers are an argument of their own"),
    ("noise", "fedirt-dp is a baseline of research, for the command line"),
    ("preset", "fedirt-dp is a baseline of research, for the command line"),
    ("clip", "fedirt-dp is a baseline of research, for the command line"),
    ("sampling_rate", "fedirt-dp is a baseline of research, for the command line"),
    ("prior", "scores are asked for apart from the fit"),
    ("scale", "scores are asked for apart from the fit"),
    ("out", "results are values; the caller writes files"),
    ("no_scores", "scores are asked for apart from the fit"),
    ("transcript", "a fit in one process sends nothing"),
    ("json", "results are values; to_json and write_fit give the text"),
    ("quiet", "nothing is printed"),
];

/// The fields of a struct of flags, those of the structs in it included.
fn flags(name: &str) -> Vec<String> {
    let head = format!("pub(crate) struct {name} {{");
    let body = SOURCES.iter().find_map(|source| source.split_once(&head)).expect("the struct is there").1;
    let body = body.split_once("\n}").expect("it ends").0;
    let mut found = Vec::new();
    let mut flattened = false;
    for line in body.lines().map(str::trim) {
        if line == "#[command(flatten)]" {
            flattened = true;
        } else if let Some((field, kind)) = line.strip_prefix("pub ").and_then(|line| line.split_once(": ")) {
            if std::mem::take(&mut flattened) {
                found.extend(flags(kind.trim_end_matches(',')));
            } else {
                found.push(field.to_owned());
            }
        }
    }
    found
}

fn answers() -> Vec<Input<'static>> {
    let columns = [("i1", [1, 0, 1, 1, 0, 0]), ("i2", [1, 1, 0, 1, 0, 1]), ("i3", [0, 0, 0, 1, 0, 1])];
    let columns: Columns =
        columns.into_iter().map(|(name, codes)| (name, Column::from_iter(codes))).collect();
    vec![Input::columns("answers", columns)]
}

/// A fit with options that are there but not given.
fn fitted_with(names: &[String]) -> Result<fedirt::Calibration, fedirt_bindings::Failure> {
    let fields = names.iter().map(|name| (name.clone(), serde_json::Value::Null)).collect();
    calibrate(answers(), Tables::default(), &Options::of(fields), &mut Unwatched)
}

#[test]
fn every_flag_of_a_fit_is_an_option_or_left_out_for_a_reason() {
    let all = flags("FitArgs");
    assert!(all.len() > 50, "{all:?}");
    let left_out = |flag: &String| LEFT_OUT.iter().any(|(name, _)| name == flag);
    let offered: Vec<String> = all
        .iter()
        .filter(|flag| !left_out(flag) && !TABLES.contains(&flag.as_str()))
        .map(|flag| {
            RENAMED.iter().find(|(name, _)| name == flag).map_or(flag.clone(), |(_, name)| (*name).to_owned())
        })
        .collect();
    if let Err(failure) = fitted_with(&offered) {
        panic!("flags of the command line without an option: {}", failure.message);
    }
    let gone = LEFT_OUT.iter().map(|(name, _)| *name).chain(RENAMED.map(|(name, _)| name)).chain(TABLES);
    let gone: Vec<&str> = gone.filter(|name| !all.iter().any(|flag| flag == name)).collect();
    assert!(gone.is_empty(), "no flags any more: {gone:?}");
}

#[test]
fn an_option_that_does_not_exist_is_found() {
    let failure = fitted_with(&["not_an_option".to_owned()]).expect_err("there is none");
    assert!(failure.message.contains("not_an_option"));
}
