//! Who may do what, in one place.

use serde::{Deserialize, Serialize};

/// What a person is to the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees everything, changes nothing.
    Auditor,
    /// Works with results and tries plans out, and changes nothing.
    Analyst,
    /// Runs studies.
    Administrator,
}

/// What a page needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// To look.
    Read,
    /// To have something computed that is kept nowhere.
    Analyse,
    /// To change something.
    Administer,
}

impl Role {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Auditor, Self::Analyst, Self::Administrator];

    /// Whether it may.
    pub fn may(self, right: Right) -> bool {
        match right {
            Right::Read => true,
            Right::Analyse => self >= Self::Analyst,
            Right::Administer => self == Self::Administrator,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auditor => "auditor",
            Self::Analyst => "analyst",
            Self::Administrator => "administrator",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_grow_with_the_role() {
        let rights = [Right::Read, Right::Analyse, Right::Administer];
        let may = |role: Role| rights.map(|right| role.may(right));
        assert_eq!(may(Role::Auditor), [true, false, false]);
        assert_eq!(may(Role::Analyst), [true, true, false]);
        assert_eq!(may(Role::Administrator), [true, true, true]);
    }
}
