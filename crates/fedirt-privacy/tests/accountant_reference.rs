//! The accountants against two others, written by other hands, over a grid of plans.
//!
//! `FEDIRT_REFERENCE` names a folder with `reference/accounting_reference.csv`: sampling rate, noise multiplier, rounds and δ, with ε by
//! Rényi accounting at the best real order, and ε by the privacy-loss distribution. Without it the test says so and passes.

use fedirt_privacy::accountant::{Conversion, Delta, Mechanism, rdp_epsilon};
use std::path::PathBuf;

/// The reference is printed with six decimals, and its privacy-loss distribution is on a grid of its own.
const RDP_TOLERANCE: f64 = 2e-5;
const PLD_TOLERANCE: f64 = 1e-3;

#[test]
fn every_row_of_the_reference_is_met() {
    let Some(folder) = std::env::var_os("FEDIRT_REFERENCE").map(PathBuf::from) else {
        eprintln!("skipped: FEDIRT_REFERENCE names no folder of reference values");
        return;
    };
    let text =
        std::fs::read_to_string(folder.join("reference/accounting_reference.csv")).expect("the reference");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|n| *n == name).expect("a column of the reference");
    let [q, sigma, rounds, delta, rdp, pld] =
        ["q", "sigma", "rounds", "delta", "eps_rdp_cks_continuous_order", "eps_pld"].map(column);
    let mut off = Vec::new();
    let mut count = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>();
        let read = |at: usize| number(at).expect("a number");
        let mechanism = Mechanism::new(read(q), read(sigma), read(rounds) as u32).expect("a plan");
        let delta = Delta::new(read(delta)).expect("a δ");
        let by_orders = rdp_epsilon(&[mechanism], delta, Conversion::Improved).expect("an ε").epsilon;
        // Not every row has both.
        for (ours, at, within) in
            [(by_orders, rdp, RDP_TOLERANCE), (mechanism.epsilon(delta), pld, PLD_TOLERANCE)]
        {
            let Ok(theirs) = number(at) else { continue };
            if (ours - theirs).abs() > within * theirs.max(0.01) {
                off.push(format!("{}: {ours} here, {line}", header[at]));
            }
        }
        count += 1;
    }
    assert_eq!(count, 47, "rows of the reference");
    assert!(off.is_empty(), "{}", off.join("\n"));
}
