//! From columns and options to results, as a language calls it.

use fedirt::{Column, Columns, Input};
use fedirt_bindings::{
    Cells, Failure, Frame, Kind, Options, PICTURES, Tables, TraceEntry, Unwatched, Varied, Watcher,
    calibrate, checked, compared, covariance, curves_table, fit_table, likelihood, picture, planned, redrawn,
    scored, scored_again, scores_frame, sensitivity, simulated, summary_text,
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
    // Pictures of what this fit was not asked for say so; those are drawn elsewhere.
    let apart = ["group_differences", "site_influence"];
    for (name, _) in PICTURES {
        if apart.contains(&name) {
            assert_eq!(picture(&fit, name, &[]).expect_err(name).kind, Kind::Calibration);
            continue;
        }
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
fn groups_and_sites_are_compared() {
    let grouped = |more: &str| {
        let given = format!(r#"{{"id": "id", "group": "site", "reference_group": "site02"{more}}}"#);
        calibrate(answers(), Tables::default(), &options(&given), &mut Unwatched).expect("a fit").fit
    };
    let fit = grouped(r#", "purify": false"#);
    assert!(fit_table(&fit, "dif").expect("groups were compared").columns.len() > 5);
    assert!(picture(&fit, "group_differences", &[]).expect("a picture").starts_with("<svg"));
    // A slope and a difficulty more in each of the other groups.
    assert_eq!(grouped(r#", "free": {"i03": ["site01", "site03"]}"#).npar, fit.npar + 4);
    assert_eq!(grouped(r#", "free": {"i03": "all"}"#).npar, fit.npar + 4);
    let influence = fitted(r#", "diagnostics": ["influence", "latent", "pairs"], "compare_sites": true"#)
        .expect("a fit")
        .fit;
    for name in ["influence", "latent", "dimensions", "site_heterogeneity"] {
        assert!(fit_table(&influence, name).is_some(), "{name}");
    }
    assert!(picture(&influence, "site_influence", &[]).expect("a picture").starts_with("<svg"));
    let refused = fitted(r#", "free": {"i03": "all"}"#).expect_err("no groups");
    assert_eq!(refused.problems[0].option.as_deref(), Some("free"));
}

#[test]
fn items_and_sites_count_as_they_are_told() {
    let merged = fitted(r#", "bundles": [["i01", "i02"], "i03+i04"]"#).expect("a fit").fit;
    let names: Vec<&str> = merged.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["i05", "i01+i02", "i03+i04"]);
    let equal = fitted(r#", "site_weights": "equal""#).expect("a fit").fit;
    assert_ne!(equal.items[0].a, fitted("").expect("a fit").fit.items[0].a);
    let held = fitted(r#", "model": "rasch", "latent_sd": 1"#).expect("a fit").fit;
    assert_eq!(held.model, "rasch-sd1");
    for (wrong, option) in [
        (r#", "latent_sd": 1"#, "latent_sd"),
        (r#", "model": "rasch", "latent_sd": 2"#, "latent_sd"),
        (r#", "bundles": ["i01"]"#, "bundles"),
        (r#", "site_weights": "many""#, "site_weights"),
        (r#", "mechanism": "score2""#, "mechanism"),
        (r#", "mode": "private", "epsilon": 1, "level": "strict""#, "level"),
        (r#", "mode": "private", "epsilon": 1, "group": "id""#, "group"),
    ] {
        let refused = fitted(wrong).expect_err(wrong);
        assert_eq!(refused.problems[0].option.as_deref(), Some(option), "{wrong}");
    }
}

#[test]
fn sensitivity_is_tables() {
    let given = options(r#"{"site": "site", "id": "id", "model": "rasch", "vary": ["sites"]}"#);
    let Varied { fits, items, notes } =
        sensitivity(answers(), Tables::default(), &given, &mut Unwatched).expect("fits");
    assert!(notes.is_empty());
    assert_eq!(numbers(&fits, "largest_change_in_se")[0], None, "the fit as it is");
    let [a, there] = ["b", "b_there"].map(|name| numbers(&items, name));
    assert!(a.len() % 5 == 0 && a.iter().zip(there).any(|(a, there)| a != there));
    let private = options(r#"{"site": "site", "mode": "private", "epsilon": 1}"#);
    let refused = sensitivity(answers(), Tables::default(), &private, &mut Unwatched).expect_err("private");
    assert_eq!(refused.kind, Kind::Option);
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
fn answers_are_drawn_anew_from_a_fit() {
    let fit = fitted(r#", "model": "rasch""#).expect("a fit").fit;
    let drawn = redrawn(&fit, 5).expect("answers");
    assert_eq!(drawn, redrawn(&fit, 5).expect("answers"));
    assert_ne!(drawn, redrawn(&fit, 6).expect("answers"));
    // Shares of right answers are those of the calibration, within four standard errors of a difference (0.037 for 360 students).
    let given = simulated(&options(r#"{"sites": 3, "students": 120, "items": 5, "seed": 3}"#))
        .expect("a study")
        .answers;
    for item in &fit.items {
        let share = |frame: &Frame| match frame.columns.iter().find(|(name, _)| *name == item.name) {
            Some((_, Cells::Count(codes))) => {
                codes.iter().flatten().sum::<u64>() as f64 / codes.iter().flatten().count() as f64
            }
            other => panic!("{other:?}"),
        };
        let (here, there) = (share(&drawn), share(&given));
        assert!((here - there).abs() < 0.15, "{}: {here} {there}", item.name);
    }
    let secure = fitted(r#", "mode": "secure""#).expect("a fit").fit;
    assert_eq!(redrawn(&secure, 1).expect_err("no effects").kind, Kind::Calibration);
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
    let study = |more: &str| {
        let given = format!(r#"{{"sites": 4, "students": 200, "items": 4, "epsilon": 1{more}}}"#);
        planned(&options(&given)).map(|(table, _)| numbers(&table, "se_b")[0].expect("an error"))
    };
    let whole = study("").expect("a plan");
    assert_ne!(study(r#", "mechanism": "score2""#), Ok(whole));
    assert!(study(r#", "booklets": [[1, 2, 3], [2, 3, 4]]"#).expect("a plan") > whole, "fewer answers");
    assert!(study(r#", "booklets": [[1, 5]]"#).is_err());
}
