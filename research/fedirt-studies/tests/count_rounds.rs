//! The study of rounds, at its smallest.

use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Effects;
use fedirt_studies::rounds::{self, Options, RoundsStudy, SIZES};

fn options() -> Options {
    Options {
        replications: 1,
        sizes: vec![SIZES[0].clone()],
        algorithms: vec![AlgorithmKind::Newton, AlgorithmKind::Em, AlgorithmKind::Meta],
        models: vec!["2pl".into(), "grm".into()],
        effects: vec![Effects::Fixed, Effects::Random],
        ..Options::default()
    }
}

fn study() -> RoundsStudy {
    let records = options().tasks().iter().flat_map(rounds::Task::run).collect();
    RoundsStudy { options: options(), records }
}

#[test]
fn newton_arrives_in_six_rounds_and_meta_never() {
    let study = study();
    // Two models × two assumptions × complete and booklets, and two algorithms more in the first of them.
    assert_eq!(study.records.len(), 10);
    for record in &study.records {
        assert_eq!(record.failure, None);
        match record.algorithm.as_str() {
            "newton" => assert!(record.converged && record.rounds <= 6, "{record:?}"),
            "em" => {
                assert!(record.converged && record.rounds > 6, "{record:?}");
                assert!(record.slope_error.unwrap() < 1e-3, "{record:?}");
            }
            _ => assert!(!record.converged && record.slope_error.unwrap() > 1e-3, "{record:?}"),
        }
    }
    let told = study.report().unwrap();
    assert!(told.text.contains("10×50 J10") && told.text.contains("ends at"), "{}", told.text);
    let file =
        |name: &str| told.files.iter().find(|(n, _)| n == name).map(|(_, bytes)| bytes.clone()).unwrap();
    assert_eq!(file("rounds.csv").iter().filter(|b| **b == b'\n').count(), 11);
    assert!(String::from_utf8(file("rounds.json")).unwrap().contains("\"fedirt.study.rounds/1\""));
    assert!(file("rounds.png").starts_with(b"\x89PNG") && file("index.html").starts_with(b"<!"));
}
