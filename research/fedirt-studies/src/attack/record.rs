//! The result of one attack on one data set.

use super::condition::{Condition, Protocol};
use super::whole::Rows;
use serde::{Deserialize, Serialize};

/// One attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackRecord {
    /// Name of the condition.
    pub condition: String,
    /// What was run.
    pub protocol: Protocol,
    /// Number of items.
    pub items: usize,
    /// Number of schools.
    pub sites: usize,
    /// Students of each.
    pub students: usize,
    /// Site effects of the calibration.
    pub effects: String,
    /// Seed of the data.
    pub seed: u64,
    /// What the attacker used.
    pub attack: String,
    /// Rounds that the attacker was to use; none: all.
    pub rounds_limit: Option<usize>,
    /// Rounds that were used.
    pub rounds: usize,
    /// Rounds of the run.
    pub rounds_run: usize,
    /// Decimals of the numbers that were sent; none: as they are.
    pub decimals: Option<u32>,
    /// ε of `private`; none: there was no noise.
    pub epsilon: Option<f64>,
    /// Numbers that were used, the number of students included.
    pub numbers: usize,
    /// Rows that were looked for.
    pub rows: usize,
    /// Rows that were found: by the likeliest rows in `private`, elsewhere by the best of three ways.
    pub found: usize,
    /// Whether the whole counts explain all numbers, so that the attacker knows that they are right.
    pub certain: bool,
    /// Rows that the fitted model alone lets one guess, counted in the same way.
    pub guess: usize,
    /// By rounding expected counts.
    pub guess_rounded: usize,
    /// By largest remainders.
    pub guess_remainder: usize,
    /// By the likeliest rows.
    pub guess_likeliest: usize,
}

impl AttackRecord {
    pub(super) fn new(
        condition: &Condition,
        seed: u64,
        attack: &str,
        truth: &[f64],
        found: Rows,
        guess: Rows,
    ) -> Self {
        // Where attack and guess are close, choosing between ways after the fact would decide between them.
        let counted = |rows: Rows| match condition.protocol {
            Protocol::Private => rows.likeliest,
            _ => rows.best(),
        };
        Self {
            condition: condition.name(),
            protocol: condition.protocol,
            items: condition.items,
            sites: condition.sites,
            students: condition.students,
            effects: condition.effects.name().to_owned(),
            seed,
            attack: attack.to_owned(),
            rounds_limit: None,
            rounds: 0,
            rounds_run: 0,
            decimals: None,
            epsilon: None,
            numbers: 0,
            rows: truth.iter().sum::<f64>() as usize,
            found: counted(found),
            certain: false,
            guess: counted(guess),
            guess_rounded: guess.rounded,
            guess_remainder: guess.remainder,
            guess_likeliest: guess.likeliest,
        }
    }
}
