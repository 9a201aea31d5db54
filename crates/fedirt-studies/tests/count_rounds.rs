//! The study of rounds, at its smallest.

use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Effects;
use fedirt_studies::rounds::{self, Options, Record, SIZES};
use std::sync::atomic::{AtomicUsize, Ordering};

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

fn without_seconds(records: &[Record]) -> Vec<Record> {
    records.iter().map(|r| Record { seconds: 0.0, ..r.clone() }).collect()
}

#[test]
fn results_do_not_depend_on_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rounds::run(options(), &|| {}))
    };
    assert_eq!(without_seconds(&with(1).records), without_seconds(&with(4).records));
}

#[test]
fn newton_arrives_in_six_rounds_and_meta_never() {
    let done = AtomicUsize::new(0);
    let study = rounds::run(options(), &|| {
        done.fetch_add(1, Ordering::Relaxed);
    });
    // Two models × two assumptions × complete and booklets, and two algorithms more in the first of them.
    assert_eq!(study.records.len(), 10);
    assert_eq!(done.into_inner(), 10);
    assert_eq!(study.options.trials(), 10);
    for record in &study.records {
        assert_eq!(record.failure, None);
        match record.algorithm {
            "newton" => assert!(record.converged && record.rounds <= 6, "{record:?}"),
            "em" => {
                assert!(record.converged && record.rounds > 6, "{record:?}");
                assert!(record.slope_error.unwrap() < 1e-3, "{record:?}");
            }
            _ => assert!(!record.converged && record.slope_error.unwrap() > 1e-3, "{record:?}"),
        }
    }
    let text = rounds::tables(&study);
    assert!(text.contains("10×50 J10") && text.contains("ends at"), "{text}");
    assert_eq!(study.csv().lines().count(), 11);
    assert!(study.json().unwrap().contains("\"fedirt.study.rounds/1\""));
}
