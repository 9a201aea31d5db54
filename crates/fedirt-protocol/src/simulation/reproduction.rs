//! Seeds that once broke a rule, with what was wrong.

use super::run;

#[test]
fn an_old_opening_after_the_next_hello() {
    // An opening that the network repeated after the next round's hello was answered with the old bytes.
    for seed in [0, 3, 9, 13, 15] {
        run(seed).unwrap_or_else(|rule| panic!("{rule}"));
    }
}

#[test]
fn a_crash_between_debit_and_answer() {
    // The ledger refused the second debit of an attempt that had never been answered.
    for seed in [2, 22, 41] {
        run(seed).unwrap_or_else(|rule| panic!("{rule}"));
    }
}
