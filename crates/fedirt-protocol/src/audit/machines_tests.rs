//! Shares of the product's machines: independent, fresh in every attempt, and as large as they should be.

use super::*;
use crate::audit::EPSILON;
use fedirt_privacy::accountant::{Delta, Epsilon, GaussianDp};
use fedirt_privacy::audit::{Check, coupling, noise};
use rayon::prelude::*;

fn machines(sites: usize, colluders: usize) -> Machines {
    Machines::of(&Sites::of(sites, colluders).unwrap())
}

#[test]
fn shares_of_the_machines_are_independent_and_fresh_in_a_retry() {
    let sound = machines(4, 1);
    assert_eq!(sound.run(Rows::All, 1).released.len(), 8, "{:?}", sound.run(Rows::All, 1).remarks);
    assert_eq!(noise(&sound, 80, 1), Vec::new());
    for feed in [Feed::OneForAll, Feed::AgainInRetry] {
        let found = noise(&Machines { feed, ..sound.clone() }, 80, 1);
        assert!(found.iter().any(|f| f.check == Check::Correlation), "{feed:?}: {found:?}");
    }
}

/// Declarations, kinds and sizes of messages, and everything in the result but estimates.
#[test]
fn a_row_changes_nothing_but_numbers_on_the_way_from_declaration_to_result() {
    let whole = Machines { to_the_end: true, ..machines(3, 1) };
    let transcript = whole.run(Rows::All, 5);
    let has = |text: &str| transcript.remarks.iter().any(|remark| remark.contains(text));
    assert!(has("join, ") && has("upload, ") && has("numbers_sent"), "{:?}", transcript.remarks);
    assert_eq!(coupling(&whole, 5), Vec::new());
}

/// Noise in shares costs |U|/(|U| − c), and no more: the variance of the opened sum of rows that count for nothing is
/// σ²C²·|U|/(|U| − c), and σ²C² when c sites take their shares off. With two sites each carries the whole noise (c = 1).
#[test]
fn distributed_noise_costs_what_it_must() {
    let delta = Delta::new(1e-6).unwrap();
    let mu = GaussianDp::for_budget(Epsilon::new(EPSILON).unwrap(), delta).mu();
    for (sites, colluders, runs) in [(1, 0, 100), (2, 0, 70), (3, 0, 60), (10, 1, 60), (5, 3, 40)] {
        let machines = Machines { attempts: 3, ..machines(sites, colluders) };
        let known = if sites == 2 { 1 } else { colluders };
        let noise = *machines.sites.noise(0);
        // The first round has 0.3 of μ²; C and γ are numbers of the plan.
        let central = noise.lattice.clip() / (mu * 0.3f64.sqrt() * noise.lattice.step());
        let of = |seed: u64| {
            let released = machines.run(Rows::Nobody, seed).released;
            assert_eq!(released.len(), 3 * sites);
            let sum = |from: usize| -> Vec<f64> {
                (1..=3)
                    .flat_map(|attempt| {
                        let shares = released.iter().filter(|r| r.attempt == attempt && r.site >= from);
                        let mut total = vec![0u64; released[0].words.len()];
                        shares.for_each(|r| fedirt_privacy::fixed_point::add(&mut total, &r.words));
                        total.into_iter().map(|w| (w as i64 as f64 / central).powi(2)).collect::<Vec<_>>()
                    })
                    .collect()
            };
            (sum(0), sum(known))
        };
        let all: Vec<(Vec<f64>, Vec<f64>)> = (0..runs).into_par_iter().map(of).collect();
        let check = |squares: Vec<f64>, want: f64| {
            let n = squares.len() as f64;
            let ratio = squares.iter().sum::<f64>() / n / want;
            let z = (ratio - 1.0) / (2.0 / n).sqrt();
            println!("|U| = {sites}, c = {known}: {ratio:.4} of {want:.3} σ²C² (z = {z:.2}, {n} draws)");
            assert!(z.abs() < 4.0, "|U| = {sites}, c = {known}: {ratio} of what it should be, z = {z}");
        };
        let whole = sites as f64 / (sites - known) as f64;
        check(all.iter().flat_map(|(sum, _)| sum.clone()).collect(), whole);
        check(all.iter().flat_map(|(_, rest)| rest.clone()).collect(), 1.0);
    }
}
