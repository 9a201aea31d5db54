//! From the texts of an item's answers to codes: words of a scale, options of a keyed item, half points, reversed codes.

use crate::cells::decimal;

/// How the texts of an item's answers become codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoringRule {
    /// Texts as they stand in files, and the code of each.
    pub codes: Vec<(String, u8)>,
    /// The code of any other text: an option that a key does not name is wrong. `None`: another text is a problem.
    pub otherwise: Option<u8>,
}

impl ScoringRule {
    /// Texts with the score of each. Codes are the ranks of the different scores, so that half points have codes too; 0 is
    /// among the scores where other texts are wrong.
    pub(crate) fn of_scores(scored: Vec<(String, f64)>, others_are_wrong: bool) -> Self {
        let mut scores: Vec<f64> = scored.iter().map(|(_, score)| *score).collect();
        scores.extend(others_are_wrong.then_some(0.0));
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        let rank = |score: f64| scores.iter().position(|other| *other == score).unwrap_or_default() as u8;
        let otherwise = others_are_wrong.then(|| rank(0.0));
        Self { codes: scored.into_iter().map(|(text, score)| (text, rank(score))).collect(), otherwise }
    }

    /// The codes, ascending and each once.
    pub fn categories(&self) -> Vec<u8> {
        let mut codes: Vec<u8> = self.codes.iter().map(|(_, code)| *code).chain(self.otherwise).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// The same with the order of the codes reversed.
    pub(crate) fn reversed(mut self) -> Self {
        let codes = self.categories();
        if let (Some(lowest), Some(highest)) = (codes.first(), codes.last()) {
            let turn = |code: u8| lowest + (highest - code);
            self.codes.iter_mut().for_each(|(_, code)| *code = turn(*code));
            self.otherwise = self.otherwise.map(turn);
        }
        self
    }

    /// Whether a text is listed with a code of its own.
    pub(crate) fn lists(&self, text: &str) -> bool {
        self.codes.iter().any(|(other, _)| same_answer(other, text))
    }

    /// The code of a text without the spaces around it: as it is written, then in any case, then as a number, so that
    /// `1.0` and `1` are one.
    pub fn code(&self, text: &str) -> Option<u8> {
        let found = |same: &dyn Fn(&str) -> bool| self.codes.iter().find(|(other, _)| same(other));
        let found = found(&|other| other == text).or_else(|| found(&|other| same_answer(other, text)));
        found.map(|(_, code)| *code).or(self.otherwise)
    }
}

/// Whether two texts are one answer: they differ in case alone, or are the same number.
pub(crate) fn same_answer(one: &str, other: &str) -> bool {
    let folded = || one.to_lowercase() == other.to_lowercase();
    folded() || decimal(one).is_some_and(|number| decimal(other) == Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(scored: &[(&str, f64)], others: bool) -> ScoringRule {
        ScoringRule::of_scores(
            scored.iter().map(|(text, score)| (text.to_string(), *score)).collect(),
            others,
        )
    }

    #[test]
    fn scores_become_ranks() {
        let partial = rule(&[("A", 2.0), ("B", 0.5)], true);
        assert_eq!(["A", "b", "C", "1"].map(|text| partial.code(text)), [Some(2), Some(1), Some(0), Some(0)]);
        assert_eq!(partial.categories(), [0, 1, 2]);
        let half = rule(&[("0", 0.0), ("0.5", 0.5), ("1", 1.0)], false);
        assert_eq!(
            ["0,5", "1.0", "0", "2", "x"].map(|text| half.code(text)),
            [Some(1), Some(2), Some(0), None, None]
        );
    }

    #[test]
    fn reversing_keeps_the_range() {
        let codes = ["1", "2", "3"].map(|text| (text.to_owned(), text.parse().unwrap())).to_vec();
        let turned = ScoringRule { codes, otherwise: None }.reversed();
        assert_eq!(["1", "2", "3"].map(|text| turned.code(text)), [Some(3), Some(2), Some(1)]);
    }
}
