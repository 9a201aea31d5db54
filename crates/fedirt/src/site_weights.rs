//! How much each site counts in a calibration.

use fedirt_model::fit::Warning;
use fedirt_model::responses::{ResponseTable, TableError};
use std::fmt;
use std::str::FromStr;

/// Similarity of students of one site (intraclass correlation) where none is given: usual for achievement in schools (Hedges &
/// Hedberg 2007).
const USUAL_SIMILARITY: f64 = 0.2;

/// How much each site counts. All but the first make a weighted likelihood, with sandwich errors.
///
/// ```
/// use fedirt::SiteWeights;
///
/// assert_eq!("capped:500".parse::<SiteWeights>()?, SiteWeights::Capped(500));
/// assert_eq!(SiteWeights::Equal.to_string(), "equal");
/// assert!("capped:0".parse::<SiteWeights>().is_err());
/// # Ok::<(), fedirt::UnknownSiteWeights>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum SiteWeights {
    /// As many students as it has.
    #[default]
    Students,
    /// As much as any other site.
    Equal,
    /// As many students as it has, but no more than these.
    Capped(u64),
    /// n/(1 + (n − 1)ρ) students, what n students tell about a mean whose likeness within the site is ρ (Kish 1965, section 5.4).
    Effective(f64),
}

/// There are no such weights.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?}: site weights are n, equal, capped:500 or effective:0.2")]
pub struct UnknownSiteWeights(String);

impl FromStr for SiteWeights {
    type Err = UnknownSiteWeights;

    fn from_str(text: &str) -> Result<Self, UnknownSiteWeights> {
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        let found = match (name, number) {
            ("n", None) => Some(Self::Students),
            ("equal", None) => Some(Self::Equal),
            ("capped", Some(number)) => number.parse().ok().filter(|most| *most > 0).map(Self::Capped),
            ("effective", None) => Some(Self::Effective(USUAL_SIMILARITY)),
            ("effective", Some(number)) => {
                number.parse().ok().filter(|likeness| (0.0..=1.0).contains(likeness)).map(Self::Effective)
            }
            _ => None,
        };
        found.ok_or_else(|| UnknownSiteWeights(text.to_owned()))
    }
}

impl fmt::Display for SiteWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Students => f.write_str("n"),
            Self::Equal => f.write_str("equal"),
            Self::Capped(most) => write!(f, "capped:{most}"),
            Self::Effective(likeness) => write!(f, "effective:{likeness}"),
        }
    }
}

impl SiteWeights {
    /// As how many students a site of `students` counts.
    fn counts(self, students: f64) -> f64 {
        match self {
            Self::Students => students,
            Self::Equal => 1.0,
            Self::Capped(most) => students.min(most as f64),
            Self::Effective(likeness) => students / (1.0 + (students - 1.0) * likeness),
        }
    }

    /// A site's table with the weight of each student, beside the weight that the student has already.
    pub(crate) fn weigh(self, table: ResponseTable) -> Result<ResponseTable, TableError> {
        let students = table.students();
        if self == Self::Students || students == 0 {
            return Ok(table);
        }
        let each = self.counts(students as f64) / students as f64;
        let own = table.weights().map(<[f64]>::to_vec).unwrap_or_else(|| vec![1.0; students]);
        table.with_weights(own.into_iter().map(|w| w * each).collect())
    }
}

/// Below this share of the students, a sample that counts for so few deserves a word.
const EFFECTIVE_SHARE: f64 = 0.5;

/// Whether weights are so unequal that the estimates are as precise as those from far fewer students of equal weight: from
/// (Σw)²/Σw² of them (Kish 1965, section 11.7).
pub(crate) fn few_effective<'a>(tables: impl Iterator<Item = &'a ResponseTable>) -> Option<Warning> {
    let (mut students, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for table in tables {
        let (own, own_squares) = table.weight_moments();
        students += table.students() as f64;
        sum += own;
        squares += own_squares;
    }
    let effective = sum * sum / squares;
    (effective < EFFECTIVE_SHARE * students).then(|| Warning {
        code: "unequal_weights".into(),
        message: format!(
            "weights are so unequal that {students:.0} students tell as much as {effective:.0} of equal weight: limits that go by the number of students are too hopeful"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_count_as_they_should() {
        let total = |weights: SiteWeights, students: usize| {
            let table = ResponseTable::new(students, 1, vec![0; students]).unwrap();
            weights.weigh(table).unwrap().weights().unwrap().iter().sum::<f64>()
        };
        assert!((total(SiteWeights::Equal, 700) - 1.0).abs() < 1e-12);
        assert!((total(SiteWeights::Capped(500), 700) - 500.0).abs() < 1e-9);
        assert!((total(SiteWeights::Capped(500), 70) - 70.0).abs() < 1e-9);
        // Of 10 students who are alike to 0.5, 10/(1 + 9·0.5).
        assert!((total(SiteWeights::Effective(0.5), 10) - 10.0 / 5.5).abs() < 1e-12);
        for text in ["n", "equal", "capped:500", "effective:0.1"] {
            assert_eq!(text.parse::<SiteWeights>().unwrap().to_string(), text);
        }
        for text in ["", "capped", "capped:-1", "effective:2", "equal:1"] {
            assert!(text.parse::<SiteWeights>().is_err(), "{text}");
        }
    }

    #[test]
    fn unequal_weights_are_told_by_the_students_that_they_leave() {
        let table = |weights: Vec<f64>| {
            let students = weights.len();
            ResponseTable::new(students, 1, vec![1; students]).unwrap().with_weights(weights).unwrap()
        };
        // (90 + 10·91)²/(90 + 10·91²) = 12.06.
        let unequal = table([vec![1.0; 90], vec![91.0; 10]].concat());
        let found = few_effective([&unequal].into_iter()).unwrap();
        assert!(
            found.code == "unequal_weights" && found.message.contains("as much as 12 "),
            "{}",
            found.message
        );
        assert_eq!(few_effective([&table(vec![7.0; 100])].into_iter()), None);
        let unweighted = ResponseTable::new(2, 1, vec![0, 1]).unwrap();
        assert_eq!(few_effective([&unweighted].into_iter()), None);
        assert_eq!(few_effective(std::iter::empty()), None);
    }
}
