//! How many students each site has.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Numbers of students: one for all sites, a range to draw from, or one per site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SiteSizes {
    /// The same for every site.
    Each(usize),
    /// Drawn uniformly, both ends included.
    Between(usize, usize),
    /// Given site by site.
    List(Vec<usize>),
}

/// A text that is no number of students.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no number of students: give one (100), a range (6-8) or one per site (30,45,60)")]
pub struct ParseSizesError(String);

impl FromStr for SiteSizes {
    type Err = ParseSizesError;

    fn from_str(text: &str) -> Result<Self, ParseSizesError> {
        let number = |part: &str| part.trim().parse::<usize>().map_err(|_| ParseSizesError(text.to_owned()));
        if text.contains(',') {
            return text.split(',').map(number).collect::<Result<_, _>>().map(Self::List);
        }
        // People copy the dash of a printed table, too.
        match text.split_once(['-', '–']) {
            Some((from, to)) => Ok(Self::Between(number(from)?, number(to)?)),
            None => Ok(Self::Each(number(text)?)),
        }
    }
}

impl TryFrom<String> for SiteSizes {
    type Error = ParseSizesError;

    fn try_from(text: String) -> Result<Self, ParseSizesError> {
        text.parse()
    }
}

impl From<SiteSizes> for String {
    fn from(sizes: SiteSizes) -> Self {
        sizes.to_string()
    }
}

impl fmt::Display for SiteSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Each(n) => write!(f, "{n}"),
            Self::Between(from, to) => write!(f, "{from}-{to}"),
            Self::List(sizes) => {
                let texts: Vec<String> = sizes.iter().map(usize::to_string).collect();
                f.write_str(&texts.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways_to_say_it() {
        assert_eq!("100".parse(), Ok(SiteSizes::Each(100)));
        assert_eq!("6-8".parse(), Ok(SiteSizes::Between(6, 8)));
        assert_eq!("6–8".parse(), Ok(SiteSizes::Between(6, 8)));
        assert_eq!("3, 4,5".parse(), Ok(SiteSizes::List(vec![3, 4, 5])));
        assert!("many".parse::<SiteSizes>().is_err());
        assert!("-5".parse::<SiteSizes>().is_err());
        assert_eq!(SiteSizes::List(vec![3, 4]).to_string(), "3,4");
    }
}
