//! Comparisons of two methods on the same answers, with statements that the number of replications supports.

use crate::publish::brief;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Minimum number of replications for a statement.
pub(super) const ENOUGH: usize = 10;

/// The statement with fewer replications.
pub(super) const TOO_FEW: &str = "too few replications to say";

/// The sign of a mean, tested against its Monte Carlo error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// There are too few replications.
    TooFew,
    /// Below zero.
    Less,
    /// Above zero.
    More,
    /// Not significantly different from zero.
    Unclear,
}

/// Student's quantile for an interval of 95 % from so many replications; 1.96 for many.
pub(super) fn quantile(replications: usize) -> f64 {
    let freedom = replications.saturating_sub(1).max(1) as f64;
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}

impl Verdict {
    /// Of a mean with its standard error, at 5 %.
    pub(super) fn of(mean: f64, error: Option<f64>, replications: usize) -> Self {
        let Some(error) = error.filter(|_| replications >= ENOUGH) else { return Self::TooFew };
        let limit = quantile(replications) * error;
        if mean > limit {
            Self::More
        } else if mean < -limit {
            Self::Less
        } else {
            Self::Unclear
        }
    }
}

/// Mean squared errors of two methods on the same answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Paired {
    /// One divided by the other, and its Monte Carlo standard error.
    pub(super) ratio: (f64, Option<f64>),
    /// One less the other, and its Monte Carlo standard error.
    pub(super) difference: (f64, Option<f64>),
    /// Replications that both have.
    pub(super) replications: usize,
}

impl Paired {
    pub(super) fn verdict(&self) -> Verdict {
        Verdict::of(self.difference.0, self.difference.1, self.replications)
    }

    /// Such as `0.75 ± 0.02 times that of FedIRT`.
    pub(super) fn words(&self, whose: &str) -> String {
        let ratio = ratio_text(Some(self.ratio));
        match self.verdict() {
            Verdict::TooFew => format!("{ratio} times {whose}, {TOO_FEW}"),
            Verdict::Unclear => format!("{ratio} times {whose}, no clear difference"),
            Verdict::Less | Verdict::More => format!("{ratio} times {whose}"),
        }
    }
}

/// A comparison in words, or a dash if there is none.
pub(super) fn compared(paired: Option<Paired>, whose: &str) -> String {
    paired.map_or("–".into(), |p| p.words(whose))
}

/// A ratio with its Monte Carlo error.
pub(super) fn ratio_text(ratio: Option<(f64, Option<f64>)>) -> String {
    match ratio {
        Some((ratio, error)) => plus_minus(ratio, error, 3),
        None => "–".into(),
    }
}

/// A number with its Monte Carlo error.
pub(super) fn plus_minus(value: f64, error: Option<f64>, digits: i32) -> String {
    match error {
        Some(error) => format!("{} ± {}", brief(value, digits), brief(error, 1)),
        None => brief(value, digits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (replications, known) in [(2, 12.706), (3, 4.303), (10, 2.262), (100, 1.984), (100_000, 1.960)] {
            assert!((quantile(replications) - known).abs() < 5e-4, "{replications}");
        }
    }

    #[test]
    fn verdicts_need_replications_and_a_distance() {
        assert_eq!(Verdict::of(5.0, Some(0.1), 9), Verdict::TooFew);
        assert_eq!(Verdict::of(5.0, None, 90), Verdict::TooFew);
        // Student's quantile for ten is 2.262.
        assert_eq!(Verdict::of(2.2, Some(1.0), 10), Verdict::Unclear);
        assert_eq!(Verdict::of(2.3, Some(1.0), 10), Verdict::More);
        assert_eq!(Verdict::of(-2.3, Some(1.0), 10), Verdict::Less);
    }

    #[test]
    fn words_follow_the_verdict() {
        let paired = |difference, replications| Paired {
            ratio: (0.75, Some(0.02)),
            difference: (difference, Some(0.01)),
            replications,
        };
        assert_eq!(paired(-0.05, 20).words("FedIRT's"), "0.750 ± 0.02 times FedIRT's");
        assert_eq!(paired(-0.01, 20).words("FedIRT's"), "0.750 ± 0.02 times FedIRT's, no clear difference");
        assert!(paired(-0.05, 3).words("FedIRT's").contains(TOO_FEW));
    }
}
