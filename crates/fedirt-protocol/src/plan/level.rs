//! Three levels of privacy, for people who do not want to choose a number.

/// A level: an ε by name. Each is for the whole study, at the δ of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrivacyLevel {
    /// ε = 1.
    #[default]
    Strict,
    /// ε = 2.
    Standard,
    /// ε = 6.
    Light,
}

impl PrivacyLevel {
    /// All levels, the strongest first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Standard, Self::Light];

    /// ε.
    pub fn epsilon(self) -> f64 {
        match self {
            Self::Strict => 1.0,
            Self::Standard => 2.0,
            Self::Light => 6.0,
        }
    }

    /// The name on the command line and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Standard => "standard",
            Self::Light => "light",
        }
    }

    /// The level with this ε, if it has a name.
    pub fn of(epsilon: f64) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.epsilon() == epsilon)
    }

    /// An ε as people are told it: with the name of its level, if it has one.
    pub fn told(epsilon: f64) -> String {
        match Self::of(epsilon) {
            Some(level) => format!("{} (ε = {epsilon})", level.name()),
            None => format!("ε = {epsilon}"),
        }
    }

    /// What it means for a student: whoever sees the results decides with error whether that student took part; of two
    /// equally likely answers the right one is told at most this often (e^ε/(1 + e^ε), apart from δ; Kairouz, Oh and
    /// Viswanath 2015).
    pub fn told_at_most(self) -> f64 {
        1.0 / (1.0 + (-self.epsilon()).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names_and_values() {
        assert_eq!(PrivacyLevel::ALL.map(PrivacyLevel::epsilon), [1.0, 2.0, 6.0]);
        assert_eq!(PrivacyLevel::of(2.0), Some(PrivacyLevel::Standard));
        assert_eq!(PrivacyLevel::of(3.0), None);
        assert_eq!(PrivacyLevel::told(2.0), "standard (ε = 2)");
        assert_eq!(PrivacyLevel::told(3.0), "ε = 3");
        assert!((PrivacyLevel::Strict.told_at_most() - 0.7311).abs() < 1e-4);
    }
}
