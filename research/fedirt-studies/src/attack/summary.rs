//! Attacks of one kind over all seeds.

use super::bound::limit;
use super::condition::Protocol;
use super::record::AttackRecord;
use serde::Serialize;

/// One attack under one condition, over its seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
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
    /// What the attacker used.
    pub attack: String,
    /// Rounds that the attacker was to use; none: all.
    pub rounds_limit: Option<usize>,
    /// Fewest and most rounds that were used.
    pub rounds: (usize, usize),
    /// Decimals of the numbers that were sent; none: as they are.
    pub decimals: Option<u32>,
    /// ε; none: there was no noise.
    pub epsilon: Option<f64>,
    /// Seeds.
    pub seeds: usize,
    /// Rows that were looked for.
    pub rows: usize,
    /// Mean number of rows found.
    pub found: f64,
    /// Fewest and most.
    pub found_range: (usize, usize),
    /// Seeds in which the attacker could tell that all was right.
    pub certain: usize,
    /// Mean number of rows that the fitted model lets one guess.
    pub guess: f64,
    /// Fewest and most.
    pub guess_range: (usize, usize),
    /// Mean of rows found beyond the guess.
    pub beyond: f64,
    /// Its Monte Carlo standard error, where there are several seeds.
    pub beyond_error: Option<f64>,
    /// Limits that hold for all comparisons at the same ε together; `private` only.
    pub beyond_limits: Option<(f64, f64)>,
}

impl Cell {
    /// Whether every row was found with every seed.
    pub fn all_found(&self) -> bool {
        self.found_range.0 == self.rows
    }

    /// Share of the rows that were found.
    pub fn share(&self) -> f64 {
        self.found / self.rows.max(1) as f64
    }

    /// Whether more was found than guessed: the lower limit, which holds for all comparisons together, is above zero.
    pub fn beyond_the_guess(&self) -> bool {
        self.beyond_limits.is_some_and(|(low, _)| low > 0.0)
    }

    fn new(records: &[&AttackRecord]) -> Option<Self> {
        let first = records.first()?;
        let n = records.len() as f64;
        let mean = |of: &dyn Fn(&AttackRecord) -> f64| records.iter().map(|r| of(r)).sum::<f64>() / n;
        let range = |of: &dyn Fn(&AttackRecord) -> usize| {
            let values = || records.iter().map(|r| of(r));
            (values().min().unwrap_or(0), values().max().unwrap_or(0))
        };
        let difference = |r: &AttackRecord| r.found as f64 - r.guess as f64;
        let beyond = mean(&difference);
        let squares = mean(&|r| (difference(r) - beyond).powi(2));
        Some(Self {
            condition: first.condition.clone(),
            protocol: first.protocol,
            items: first.items,
            sites: first.sites,
            students: first.students,
            attack: first.attack.clone(),
            rounds_limit: first.rounds_limit,
            rounds: range(&|r| r.rounds),
            decimals: first.decimals,
            epsilon: first.epsilon,
            seeds: records.len(),
            rows: first.rows,
            found: mean(&|r| r.found as f64),
            found_range: range(&|r| r.found),
            certain: records.iter().filter(|r| r.certain).count(),
            guess: mean(&|r| r.guess as f64),
            guess_range: range(&|r| r.guess),
            beyond,
            beyond_error: (records.len() > 1).then(|| (squares / (n - 1.0)).sqrt()),
            beyond_limits: None,
        })
    }
}

/// Cells in the order of the records.
pub fn cells(records: &[AttackRecord]) -> Vec<Cell> {
    let same = |a: &AttackRecord, b: &AttackRecord| {
        a.condition == b.condition
            && a.attack == b.attack
            && a.rounds_limit == b.rounds_limit
            && a.decimals == b.decimals
            && a.epsilon == b.epsilon
    };
    let mut groups: Vec<Vec<&AttackRecord>> = Vec::new();
    for record in records {
        match groups.iter_mut().find(|group| same(group[0], record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    let mut cells: Vec<Cell> = groups.iter().filter_map(|group| Cell::new(group)).collect();
    limit(&mut cells);
    cells
}

#[cfg(test)]
mod tests {
    use super::super::condition::Condition;
    use super::super::whole::Rows;
    use super::*;

    #[test]
    fn means_ranges_and_errors() {
        let condition = &Condition::quick()[0];
        let record = |seed, found, guess| {
            let rows = |n| Rows { rounded: n, remainder: 0, likeliest: 0 };
            AttackRecord::new(condition, seed, "a", &[4.0, 6.0], rows(found), rows(guess))
        };
        let cell = cells(&[record(1, 10, 3), record(2, 9, 4), record(3, 8, 5)]).remove(0);
        assert_eq!((cell.rows, cell.found, cell.found_range), (10, 9.0, (8, 10)));
        // Differences 7, 5, 3: mean 5, SD 2, error 2/√3.
        assert_eq!(cell.beyond, 5.0);
        assert!((cell.beyond_error.unwrap() - 2.0 / 3f64.sqrt()).abs() < 1e-12);
        // Exact sums need no comparison with a guess: they give rows away, or do not.
        assert!(cell.beyond_limits.is_none() && !cell.all_found());
    }
}
