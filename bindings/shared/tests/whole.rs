//! From columns and options to results, as a language calls it.

use fedirt::{Column, Columns, Input};
use fedirt_bindings::{
    Cells, Failure, Frame, Kind, Options, PICTURES, Tables, TraceEntry, Unwatched, Watcher, calibrate,
    checked, compared, covariance, curves_table, fit_table, likelihood, picture, planned, scored,
    scored_again, scores_frame, simulated, summary_text,
};

fn options(text: &str) -> Options {
    Options::from_json(text).expect("an object")
}

/// Simulated answers as columns.
fn answers() -> Vec<Input<'static>> {
    let drawn =
        simulated(&options(r#"{"sites": 3, "students": 120, "items": 5, "seed": 3}"#)).expect("a study");
    let column = |cells: Cells| {
        let mut column = Column::default();
        match cells {
            Cells::Text(texts) => texts.iter().for_each(|text| column.push_text(text)),
            Cells::Count(counts) => counts.iter().for_each(|count| match count {
                Some(count) => column.push_integer(*count),
                None => column.push_missing(),
            }),
            Cells::Number(_) | Cells::Flag(_) => unreachable!("answers are texts and counts"),
        }
        column
    };
    let columns: Columns =
        drawn.answers.columns.into_iter().map(|(name, cells)| (name, column(cells))).collect();
    vec![Input::columns("answers", columns)]
}

const COLUMNS: &str = r#"{"site": "site", "id": "id"}"#;

fn fitted(more: &str) -> Result<fedirt::Calibration, Failure> {
    let given = options(&format!(r#"{{"site": "site", "id": "id"{more}}}"#));
    calibrate(answers(), Tables::default(), &given, &mut Unwatched)
}

fn numbers<'a>(frame: &'a Frame, name: &str) -> &'a [Option<f64>] {
    match frame.columns.iter().find(|(own, _)| own == name) {
        Some((_, Cells::Number(numbers))) => numbers,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn it_is_the_fit_of_the_library() {
    let ours = fitted(r#", "model": "rasch", "threads": 2"#).expect("a fit").fit;
    let read = fedirt::ReadOptions { site: Some("site".into()), id: Some("id".into()), ..Default::default() };
    let fit_options = fedirt::FitOptions { model: Some("rasch".into()), ..Default::default() };
    let responses = fedirt::read(answers(), &read).expect("answers");
    let mut theirs = fedirt::fit(&responses, &fit_options).expect("a fit").fit;
    theirs.provenance.clone_from(&ours.provenance);
    assert_eq!(ours, theirs);
    let kept = ours.provenance.expect("where it comes from").options;
    assert_eq!(kept.get("model").map(String::as_str), Some("rasch"));
}

#[test]
fn results_are_columns() {
    let calibration = fitted("").expect("a fit");
    let fit = &calibration.fit;
    for name in ["items", "sites", "rounds", "summary", "item_fit", "pairs"] {
        let table = fit_table(fit, name).unwrap_or_else(|| panic!("no {name}"));
        assert!(table.columns.len() > 1, "{name}");
    }
    assert!(fit_table(fit, "nothing").is_none());
    let (names, matrix) = covariance(&calibration);
    assert_eq!(names.len() * names.len(), matrix.len());
    let again = scores_frame(&scored_again(&calibration, &options("{}")).expect("scores"));
    let other = scored(fit, answers(), Tables::default(), &options(COLUMNS)).expect("scores");
    assert_eq!(again, scores_frame(&other));
    let (loglik, students) =
        likelihood(fit, answers(), Tables::default(), &options(COLUMNS)).expect("a number");
    assert_eq!(students, fit.n);
    // Fixed effects are taken as known, as they are when the fit is maximised.
    assert!((loglik - fit.loglik.expect("a plain fit")).abs() < 1e-8);
    let curves = curves_table(fit, &[-1.0, 0.0, 1.0]);
    let probability: f64 = numbers(&curves, "probability")[..6].iter().flatten().sum();
    assert!((probability - 3.0).abs() < 1e-12, "two categories at three abilities");
    assert!(summary_text(fit).contains("loglik"));
    let found = checked(answers(), Tables::default(), &options(COLUMNS)).expect("a description");
    assert_eq!(found.sites.len(), 3);
}

#[test]
fn pictures_of_items_carry_their_titles() {
    let fit = fitted("").expect("a fit").fit;
    for (name, _) in PICTURES {
        assert!(picture(&fit, name, &[]).expect(name).starts_with("<svg"), "{name}");
    }
    let two = picture(&fit, "trace", &["i02".into(), "i04".into()]).expect("a picture");
    assert_eq!(two.matches("<text x=\"0\" y=\"18\"").count(), 2);
    let strangers = picture(&fit, "trace", &["i02".into(), "i09".into()]).expect_err("no such item");
    assert_eq!(strangers.problems[0].column.as_deref(), Some("i09"));
    assert_eq!(picture(&fit, "wright", &["i02".into()]).expect_err("of no item").kind, Kind::Option);
    let mut unchecked = fit;
    unchecked.diagnostics = None;
    assert_eq!(picture(&unchecked, "ability", &[]).expect_err("normal").kind, Kind::Calibration);
}

#[test]
fn fits_are_compared() {
    let (rasch, free) = (fitted(r#", "model": "rasch""#).expect("a fit").fit, fitted("").expect("a fit").fit);
    let fits = [("rasch".to_owned(), rasch.clone()), ("free".to_owned(), free.clone())];
    let tables = compared(&fits, &options(r#"{"link": "haebara"}"#)).expect("tables");
    let ratio = numbers(&tables[1].1, "X2")[0].expect("nested");
    assert!((ratio - 2.0 * (free.loglik.expect("one") - rasch.loglik.expect("one"))).abs() < 1e-9);
    assert_eq!(numbers(&tables[3].1, "slope").len(), 1);
    assert!(compared(&[], &options("{}")).is_err());
}

#[test]
fn an_option_that_nothing_uses_is_refused() {
    let refused = |more: &str| fitted(more).expect_err(more).problems[0].option.clone();
    assert_eq!(refused(r#", "epsilon": 1"#).as_deref(), Some("epsilon"));
    assert_eq!(refused(r#", "mode": "private""#).as_deref(), Some("epsilon"));
    assert_eq!(refused(r#", "mode": "private", "epsilon": 1, "seed": 3"#).as_deref(), Some("seed"));
    assert_eq!(refused(r#", "publish_effects": true"#).as_deref(), Some("publish_effects"));
    assert_eq!(refused(r#", "learning_rate": 0.1"#).as_deref(), Some("learning_rate"));
    assert_eq!(refused(r#", "long": {"id": "a"}"#).as_deref(), Some("long"));
    assert_eq!(refused(r#", "threads": 0"#).as_deref(), Some("threads"));
    assert_eq!(refused(r#", "sites": "site""#).as_deref(), Some("sites"));
    let tables = Tables {
        booklets: Some(Input::new("b.csv", "booklet,item\nA,i1\n".as_bytes())),
        ..Tables::default()
    };
    let refused = calibrate(answers(), tables, &options(COLUMNS), &mut Unwatched).expect_err("plain");
    assert_eq!(refused.problems[0].option.as_deref(), Some("booklets"));
}

#[test]
fn whoever_watches_sees_rounds_and_stops_them() {
    #[derive(Default)]
    struct Counting(Vec<usize>, Option<usize>);
    impl Watcher for Counting {
        fn round(&mut self, entry: &TraceEntry) {
            self.0.push(entry.round);
        }
        fn wants_to_stop(&mut self) -> bool {
            self.1.is_some_and(|most| self.0.len() >= most)
        }
    }
    let run = |watcher: &mut Counting, more: &str| {
        let given = options(&format!(r#"{{"site": "site", "id": "id"{more}}}"#));
        calibrate(answers(), Tables::default(), &given, watcher)
    };
    let mut all = Counting::default();
    let fit = run(&mut all, "").expect("a fit").fit;
    assert_eq!(all.0, fit.trace.iter().map(|entry| entry.round).collect::<Vec<_>>());
    let mut impatient = Counting(Vec::new(), Some(1));
    // Many short rounds, so that there is one at which it can stop.
    let stopped = run(&mut impatient, r#", "algorithm": "bfgs""#).expect_err("stopped");
    assert_eq!(stopped.kind, Kind::Stopped);
}

#[test]
fn private_studies_are_planned() {
    let (table, _) = planned(&options(r#"{"sites": 20, "students": 100, "items": 30, "epsilon": [8, 1]}"#))
        .expect("a plan");
    assert_eq!(numbers(&table, "epsilon"), [Some(1.0), Some(8.0)]);
    let refused =
        planned(&options(r#"{"sites": 3, "students": [1, 2], "items": 3}"#)).expect_err("two of three");
    assert_eq!(refused.problems[0].option.as_deref(), Some("students"));
    assert!(planned(&options(r#"{"sites": 1, "students": [], "items": 3}"#)).is_err());
}
