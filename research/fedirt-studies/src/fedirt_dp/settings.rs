//! The settings of FedIRT-DP: rounds, sampling, clipping and learning rates, with the settings of the paper and tuned ones.

use serde::{Deserialize, Serialize};

/// The decay of the learning rates over the planned rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decay {
    /// Constant rates.
    Constant,
    /// In round t of R the rate is (1 − (t − 1)/R) of the first.
    Linear,
}

impl Decay {
    /// Factor of the learning rate in a round, from 1.
    pub(super) fn factor(self, round: usize, rounds: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Linear => 1.0 - (round - 1) as f64 / rounds as f64,
        }
    }
}

/// Adam's learning rates by kind of parameter: η_a, η_β and η_s of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LearningRates {
    /// For log a.
    pub slope: f64,
    /// For b.
    pub difficulty: f64,
    /// For s.
    pub effect: f64,
}

impl LearningRates {
    /// The same for all.
    pub fn all(rate: f64) -> Self {
        Self { slope: rate, difficulty: rate, effect: rate }
    }
}

/// How the sum over a sample of students meets the prior. Without sampling there is no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleWeight {
    /// The sum is divided by q_s: it stands for all students, and the prior has its own weight, whatever q_s is.
    Students,
    /// The sum as it is, as printed in the paper: the prior then weighs 1/q_s times as much.
    Sample,
}

/// Settings of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// R, the planned rounds. ε is that of R, whether or not the run ends sooner.
    pub rounds: usize,
    /// q_s: each student takes part in a round with this probability.
    pub sampling_rate: f64,
    /// How the sum over a sample meets the prior.
    pub sample_weight: SampleWeight,
    /// C, the longest that a student's gradient may be.
    pub clip: f64,
    /// Learning rates of the first round.
    pub learning_rates: LearningRates,
    /// The decay of the learning rates.
    pub decay: Decay,
    /// Ends the run when no coordinate of the noisy gradient exceeds this number and no parameter x moved by more
    /// than this number times max(1, |x|).
    pub stop: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self::published()
    }
}

/// Tuned settings: students, ε; q_s, R, learning rate, C, decay. The best of 31 settings in simulations with 10
/// items (2pl, a in [0.5, 2], b in [−1, 1]) and 5 sites, chosen by the squared error over a, b and s.
const TUNED: [(f64, f64, Settings); 15] = [
    (500.0, 0.5, descent(1.0, 100, 0.05, 1.6, Decay::Linear)),
    (500.0, 2.0, descent(0.1, 200, 0.03, 2.4, Decay::Linear)),
    (500.0, 8.0, descent(0.1, 200, 0.03, 3.0, Decay::Constant)),
    (1e3, 0.5, descent(0.3, 100, 0.05, 2.0, Decay::Linear)),
    (1e3, 2.0, descent(1.0, 100, 0.05, 3.0, Decay::Linear)),
    (1e3, 8.0, descent(0.3, 100, 0.05, 3.9, Decay::Linear)),
    (3e3, 0.5, descent(0.1, 100, 0.05, 2.4, Decay::Linear)),
    (3e3, 2.0, descent(0.1, 100, 0.05, 3.0, Decay::Linear)),
    (3e3, 8.0, descent(0.1, 100, 0.05, 3.9, Decay::Linear)),
    (1e4, 0.5, descent(0.1, 100, 0.05, 3.0, Decay::Linear)),
    (1e4, 2.0, descent(1.0, 100, 0.05, 3.0, Decay::Linear)),
    (1e4, 8.0, descent(1.0, 100, 0.05, 3.0, Decay::Linear)),
    (1e5, 0.5, descent(0.1, 200, 0.03, 3.9, Decay::Linear)),
    (1e5, 2.0, descent(0.1, 200, 0.03, 3.9, Decay::Linear)),
    (1e5, 8.0, descent(0.1, 200, 0.03, 3.9, Decay::Linear)),
];

const fn descent(sampling_rate: f64, rounds: usize, rate: f64, clip: f64, decay: Decay) -> Settings {
    Settings {
        rounds,
        sampling_rate,
        sample_weight: SampleWeight::Students,
        clip,
        learning_rates: LearningRates { slope: rate, difficulty: rate, effect: rate },
        decay,
        stop: None,
    }
}

impl Settings {
    /// Settings that reproduce Studies 1 and 2 of the paper, which does not print its own: all students in each of
    /// 100 rounds, C = 3, learning rates of 0.05 that go down linearly.
    pub fn published() -> Self {
        descent(1.0, 100, 0.05, 3.0, Decay::Linear)
    }

    /// Settings that give the flat curves of the paper's Study 3: 50 rounds at a constant 0.02. Adam then moves a
    /// parameter by 1 at most, and estimates lean on where they started and on the prior.
    pub fn study3() -> Self {
        descent(1.0, 50, 0.02, 3.0, Decay::Constant)
    }

    /// The settings that were best in simulations near this number of students and this ε, both by their ratio. Of
    /// two equally near values of ε the larger counts.
    ///
    /// They depend on public numbers alone: tuning on the data themselves would cost privacy.
    pub fn tuned(students: u64, epsilon: f64) -> Self {
        let distance = |n: f64, e: f64| {
            let (by_n, by_e) = ((n / students.max(1) as f64).ln(), (e / epsilon).ln());
            // A rounding error must not decide between equals.
            (by_n.abs() - 1e-9, by_e.abs() - 1e-9 * e)
        };
        let mut best = TUNED[0];
        for entry in TUNED {
            if distance(entry.0, entry.1) < distance(best.0, best.1) {
                best = entry;
            }
        }
        best.2
    }

    /// What is wrong, if anything.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let rates = &self.learning_rates;
        if !(1..=100_000).contains(&self.rounds) {
            return Some("there must be 1 to 100000 rounds");
        }
        if !(self.sampling_rate > 0.0 && self.sampling_rate <= 1.0) {
            return Some("the sampling rate must be more than 0 and at most 1");
        }
        if ![rates.slope, rates.difficulty, rates.effect].iter().all(|r| positive(*r) && *r <= 10.0) {
            return Some("learning rates must be more than 0 and at most 10");
        }
        if !positive(self.clip) || self.stop.is_some_and(|s| !positive(s)) {
            return Some("the clipping norm and the tolerance must be positive");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuned_settings_are_the_nearest() {
        assert_eq!(Settings::tuned(1000, 2.0), descent(1.0, 100, 0.05, 3.0, Decay::Linear));
        assert_eq!(Settings::tuned(1400, 0.4), descent(0.3, 100, 0.05, 2.0, Decay::Linear));
        assert_eq!(Settings::tuned(1000, 1.0), Settings::tuned(1000, 2.0));
        assert_eq!(Settings::tuned(0, 1e9), descent(0.1, 200, 0.03, 3.0, Decay::Constant));
        assert_eq!(Settings::tuned(u64::MAX, 0.01), descent(0.1, 200, 0.03, 3.9, Decay::Linear));
    }

    #[test]
    fn linear_rates_end_just_above_zero() {
        assert_eq!(Decay::Linear.factor(1, 100), 1.0);
        assert!((Decay::Linear.factor(100, 100) - 0.01).abs() < 1e-15);
        assert_eq!(Decay::Constant.factor(100, 100), 1.0);
    }
}
