//! What secure aggregation costs, with the threads of the machine. Nothing is gated on it: machines differ and are busy.
//!
//! ```sh
//! cargo test --release -p fedirt-privacy speed -- --nocapture
//! ```

use super::*;
use std::time::Instant;

const SITES: usize = 30;
const NUMBERS: usize = 20_000;

/// Seconds of the fastest of several runs: other work on the machine only ever adds.
fn fastest<T>(run: impl Fn() -> T) -> f64 {
    let time = || {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| time()).fold(f64::INFINITY, f64::min)
}

#[test]
fn speed() {
    let world = World::new(1, SITES);
    let (hellos, cohort, first) = (world.hellos(), world.cohort(b"parameters"), &world.sites[0]);
    let mask = |numbers: usize| first.round_key().mask(&first.name, &cohort, vec![1; numbers]).unwrap();
    let verifying = fastest(|| world.cohort_of(&hellos, b"parameters"));
    let agreeing = fastest(|| mask(0));
    let stream = (fastest(|| mask(NUMBERS)) - agreeing).max(1e-9) / (SITES - 1) as f64;
    let uploads: Vec<Upload> = world.sites.iter().map(|s| s.upload(&cohort, &[1; NUMBERS])).collect();
    let opening = fastest(|| open(&cohort, NUMBERS, &uploads).unwrap());
    assert_eq!(open(&cohort, NUMBERS, &uploads).unwrap(), [SITES as u64; NUMBERS]);

    println!("{SITES} sites, {NUMBERS} numbers");
    println!("a hello verified          {:7.1} µs", verifying * 1e6 / SITES as f64);
    println!("a pair's key agreed       {:7.1} µs", agreeing * 1e6 / (SITES - 1) as f64);
    println!("a pair's mask applied     {:7.1} µs", stream * 1e6);
    println!("  per number              {:7.2} ns", stream * 1e9 / NUMBERS as f64);
    println!("  keystream               {:7.2} GB/s", 8e-9 * NUMBERS as f64 / stream);
    println!("an upload verified, added {:7.1} µs", opening * 1e6 / SITES as f64);
}

/// What one of a hundred sites pays in a round: hellos verified, 10,000 words masked.
#[test]
fn speed_of_a_large_cohort() {
    let (sites, numbers) = (100, 10_000);
    let world = World::new(2, sites);
    let (hellos, first) = (world.hellos(), &world.sites[0]);
    let cohort = world.cohort(b"parameters");
    let verifying = fastest(|| world.cohort_of(&hellos, b"parameters"));
    let masking = fastest(|| first.round_key().mask(&first.name, &cohort, vec![1; numbers]).unwrap());
    println!(
        "{sites} sites, {numbers} numbers: verified in {:.1} ms, masked in {:.1} ms",
        verifying * 1e3,
        masking * 1e3
    );
}
