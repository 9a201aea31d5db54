//! The quick form of the audit, with fixed seeds. The full one is `fedirt privacy audit`.

use super::*;
use fedirt_privacy::audit::Check::*;

const QUICK: Effort = Effort { noise_runs: 150, world_runs: 400, seed: 1 };

#[test]
fn every_planted_fault_is_found_in_the_product() {
    let sites = Sites::new().unwrap();
    let noisy = [Moments, Distribution, TwoWorlds].as_slice();
    for (fault, by) in Fault::ALL.into_iter().zip([
        noisy,
        noisy,
        noisy,
        &[Moments, Distribution],
        &[Moments, Distribution],
        &[Correlation],
        &[Correlation],
        noisy,
        &[Norm, TwoWorlds],
        &[Norm, TwoWorlds],
        &[Coupling],
        &[Coupling],
    ]) {
        let caught = plant(&sites, fault, QUICK);
        println!("{caught:?}");
        assert!(by.iter().all(|check| caught.by.contains(&name(*check))), "{caught:?}");
    }
}

#[test]
fn the_product_raises_no_alarm() {
    let sites = Sites::new().unwrap();
    let hostile = hostile(&sites);
    for seed in 0..5 {
        let effort = Effort { seed: 1_000_000 * seed, ..QUICK };
        let (lines, found) =
            checks(&sites, &hostile[..if seed == 0 { 12 } else { 0 }], |sites| sites, effort);
        assert!(found.is_empty(), "seed {seed}: {lines:?}");
        if seed == 0 {
            lines.iter().for_each(|line| println!("{line:?}"));
        }
    }
}
