//! Roles and rights.

use serde::{Deserialize, Serialize};

/// The role of a person, which decides what they may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May see everything and change nothing.
    Auditor,
    /// May also have something computed, such as a forecast for a plan, but changes nothing.
    Analyst,
    /// May do everything.
    Administrator,
}

/// The right that a page needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// To see something.
    Read,
    /// To have something computed that is not stored.
    Analyse,
    /// To change something.
    Administer,
}

impl Role {
    /// All roles, from the least to the most powerful.
    pub const ALL: [Self; 3] = [Self::Auditor, Self::Analyst, Self::Administrator];

    /// Whether the role has this right.
    pub fn may(self, right: Right) -> bool {
        match right {
            Right::Read => true,
            Right::Analyse => self >= Self::Analyst,
            Right::Administer => self == Self::Administrator,
        }
    }

    /// The name of the role.
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
