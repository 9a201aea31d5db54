//! Why a site cannot answer a question at all, whatever its policy says.

use crate::population::Family;

/// What is wrong with the shapes or the numbers of a question.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Malformed {
    /// No items, or linked parts that are not those of the items.
    #[error("items and linked parts do not fit together")]
    Parts,
    /// An item that the table does not have.
    #[error("item {} of {columns} does not exist", column + 1)]
    NoSuchItem {
        /// Its column, from 0.
        column: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// An item that the design holds twice.
    #[error("item {} is asked for twice", column + 1)]
    Twice {
        /// Its column, from 0.
        column: usize,
    },
    /// A distribution of ability that does not exist.
    #[error("there is no distribution of ability that is {0:?}")]
    Population(Family),
    /// A question that is only defined for normal ability.
    #[error("the question is defined for normal ability only")]
    NormalOnly,
    /// Too few or too many nodes, or nodes too far out.
    #[error("a grid of {nodes} nodes to {range} is out of range")]
    Grid {
        /// Nodes.
        nodes: usize,
        /// The outermost node.
        range: f64,
    },
    /// Parameters that are not finite, or not as many as the items and the population have.
    #[error("{wanted} finite parameters are needed")]
    Parameters {
        /// How many there must be.
        wanted: usize,
    },
    /// Parameters of the population that no distribution has.
    #[error("parameters of the population beyond their bounds")]
    PopulationParameters,
    /// A standard deviation of site effects that is negative, enormous or no number.
    #[error("an SD of site effects of {0}")]
    SiteSd(f64),
    /// No points, or more than one question may be about.
    #[error("{0} points in one evaluation")]
    Points(usize),
    /// More local steps than a site makes in a round.
    #[error("{0} local steps are too many")]
    Steps(usize),
    /// A number that is not finite.
    #[error("{0} must be finite")]
    NotFinite(&'static str),
    /// A number that is not above 0.
    #[error("{0} must be a finite number above 0")]
    NotPositive(&'static str),
    /// Items without difficulties in federated averaging.
    #[error("items without difficulties cannot be trained")]
    NoDifficulties,
    /// Matrices for standard errors that do not fit the items.
    #[error("what is needed for standard errors has the wrong shape")]
    ErrorShapes,
    /// More groups of students than are compared, or none.
    #[error("{0} groups of students cannot be compared")]
    Groups(usize),
    /// Items that students are matched by, or parameters, that are not those of the design.
    #[error("items to match students by that are not those of the design")]
    Anchors,
}
