//! A hundred worlds. Ten thousand: `cargo run --release -p fedirt -- study faults --seeds 10000`.

use super::{Ending, run};
use std::collections::BTreeMap;

#[test]
fn no_rule_is_broken_in_a_hundred_worlds() {
    let mut endings: BTreeMap<Ending, u32> = BTreeMap::new();
    let mut crashes = 0;
    let mut broken = Vec::new();
    for seed in 0..100 {
        let report = match run(seed) {
            Ok(report) => report,
            Err(rule) => {
                broken.push(rule);
                continue;
            }
        };
        *endings.entry(report.ending).or_default() += 1;
        crashes += report.crashes;
    }
    assert!(broken.is_empty(), "{broken:#?}");
    // The worlds are worth something only if faults happen and most studies come through.
    assert!(endings[&Ending::Finished] > 50, "{endings:?}");
    assert!(crashes > 100, "{crashes}");
}

#[test]
fn a_seed_replays_the_same_world() {
    assert_eq!(run(17), run(17));
}

/// A world in which a site went down between the record of a release and the answer, made the record anew, and counted both
/// against a limit of few rounds: it refused an honest coordinator.
#[test]
fn a_record_that_is_made_anew_after_a_crash_counts_once() {
    let report = run(5866).expect("no rule is broken");
    assert!(report.crashes > 0);
}
