//! A set of answer codes, such as those of an item that occur at a site.

use serde::{Deserialize, Serialize};

/// The largest code of an answer: an item of 100 categories may begin at 0 or at 1.
pub const HIGHEST_CODE: u8 = 100;

/// Codes from 0 to [`HIGHEST_CODE`]; a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeSet(u128);

impl CodeSet {
    /// Adds a code. Larger ones than [`HIGHEST_CODE`] are no codes of answers.
    pub fn insert(&mut self, code: u8) {
        if code <= HIGHEST_CODE {
            self.0 |= 1 << code;
        }
    }

    /// Whether the code is in the set.
    pub fn contains(self, code: u8) -> bool {
        code <= HIGHEST_CODE && self.0 >> code & 1 == 1
    }

    /// Whether no code is.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many codes there are.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The codes, ascending.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=HIGHEST_CODE).filter(move |code| self.contains(*code))
    }

    /// The lowest code.
    pub fn lowest(self) -> Option<u8> {
        self.iter().next()
    }

    /// The highest code.
    pub fn highest(self) -> Option<u8> {
        self.iter().last()
    }

    /// Codes of either set.
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all its codes are among others.
    pub fn within(self, codes: &[u8]) -> bool {
        self.iter().all(|code| codes.contains(&code))
    }
}

/// A code that counts as another: a category that was merged with its neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedCode {
    /// The code of the answer.
    pub code: u8,
    /// The code as which it counts: the lowest of the merged categories.
    pub into: u8,
}

impl FromIterator<u8> for CodeSet {
    fn from_iter<I: IntoIterator<Item = u8>>(codes: I) -> Self {
        let mut set = Self::default();
        codes.into_iter().for_each(|code| set.insert(code));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_from_0_to_100() {
        let set: CodeSet = [100, 3, 64, 3, 255].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 100]);
        assert_eq!((set.lowest(), set.highest(), set.len()), (Some(3), Some(100), 3));
        assert!(set.within(&[3, 64, 99, 100]) && !set.within(&[3, 64]) && !set.contains(255));
        assert_eq!(CodeSet::default().lowest(), None);
        assert_eq!(set.union([0].into_iter().collect()).iter().collect::<Vec<_>>(), [0, 3, 64, 100]);
    }
}
