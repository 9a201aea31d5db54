//! Colours by what they mean.

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Text and axes.
    Text,
    /// Secondary text, and marks that do not stand out.
    Muted,
    /// Grid lines.
    Rule,
    /// What the picture is about.
    Accent,
    /// The page behind.
    Paper,
    /// What should make readers stop.
    Alarm,
    /// Ordered categories, 0 (lowest) to 4 (highest).
    Ramp(usize),
    /// Methods that are compared, in no order.
    Series(usize),
}

impl Ink {
    /// The colour as it is written into attributes.
    pub(crate) fn css(self) -> &'static str {
        match self {
            Self::Text => "var(--ink,#1b1f24)",
            Self::Muted => "var(--muted,#5b636d)",
            Self::Rule => "var(--rule,#e4e6e9)",
            Self::Accent => "var(--accent,#0b5f8a)",
            Self::Paper => "var(--paper,#ffffff)",
            Self::Ramp(0) => "var(--ramp-0,#6b7580)",
            Self::Ramp(1) => "var(--ramp-1,#357ca3)",
            Self::Ramp(2) => "var(--ramp-2,#1a6a99)",
            Self::Ramp(3) => "var(--ramp-3,#0b4f78)",
            Self::Alarm => "var(--alarm,#a3260c)",
            Self::Ramp(_) => "var(--ramp-4,#04263c)",
            Self::Series(index) => SERIES[index % SERIES.len()],
        }
    }

    /// The colour of category `c` of `categories`.
    pub(crate) fn category(c: usize, categories: usize) -> Self {
        if categories <= 2 {
            Self::Accent
        } else {
            Self::Ramp((4 * c + (categories - 1) / 2) / (categories - 1))
        }
    }
}

/// Colours of methods. They differ in lightness as well as in hue, so that most stay apart for colour-blind eyes
/// and on grey paper; the shapes of [`crate::marker`] tell the rest.
const SERIES: [&str; 10] = [
    "var(--series-0,#0b5f8a)",
    "var(--series-1,#d15a00)",
    "var(--series-2,#007a5c)",
    "var(--series-3,#a8327a)",
    "var(--series-4,#1b1f24)",
    "var(--series-5,#927000)",
    "var(--series-6,#2b93d9)",
    "var(--series-7,#7a4526)",
    "var(--series-8,#6a56c4)",
    "var(--series-9,#7b838c)",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_differ_and_never_run_out() {
        let all: Vec<&str> = (0..10).map(|s| Ink::Series(s).css()).collect();
        assert!(all.iter().enumerate().all(|(i, colour)| !all[..i].contains(colour)));
        assert_eq!(Ink::Series(10).css(), all[0]);
    }

    #[test]
    fn categories_use_the_whole_ramp() {
        assert_eq!(Ink::category(1, 2), Ink::Accent);
        assert_eq!((0..3).map(|c| Ink::category(c, 3)).collect::<Vec<_>>(), [0, 2, 4].map(Ink::Ramp));
        assert_eq!((0..5).map(|c| Ink::category(c, 5)).collect::<Vec<_>>(), [0, 1, 2, 3, 4].map(Ink::Ramp));
    }
}
