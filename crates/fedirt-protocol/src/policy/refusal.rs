//! What a site's own rules refuse, with the numbers that an officer needs to judge it.

use crate::message::Turn;
use crate::plan::{FEW_ITEMS, FEW_STUDENTS};
use fedirt_model::questions::{Malformed, Unplanned};

/// What of a question differs from the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Differs {
    /// The distribution of ability, or its grid.
    Population,
    /// What is assumed about site effects.
    Effects,
    /// The list of items.
    Items,
    /// The model of an item.
    Model(String),
    /// The categories of an item.
    Categories(String),
}

impl std::fmt::Display for Differs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Population => f.write_str("the distribution of ability, or the grid over it,"),
            Self::Effects => f.write_str("the assumption about site effects"),
            Self::Items => f.write_str("the list of items"),
            Self::Model(item) => write!(f, "the model of {item}"),
            Self::Categories(item) => write!(f, "the list of categories of {item}"),
        }
    }
}

/// Parameters at which sums would tell more of single answers than an estimation needs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BeyondLimits {
    /// A steep slope: the sums are nearly one item's answers.
    #[error("a slope of {slope:.3e}, and {most} is the most")]
    Slope {
        /// The slope.
        slope: f64,
        /// The policy's limit.
        most: f64,
    },
    /// Intercepts far apart.
    #[error("a step of {step:.3e} between intercepts, and {most} is the most")]
    Intercepts {
        /// The distance.
        step: f64,
        /// The policy's limit.
        most: f64,
    },
    /// Many flat slopes: the sums are nearly plain counts.
    #[error("{flat} of {items} items have slopes below {limit}: their sums would be plain counts")]
    Flat {
        /// Items with flat slopes.
        flat: usize,
        /// Items.
        items: usize,
        /// Below which a slope is flat.
        limit: f64,
    },
    /// A long step since earlier rounds.
    #[error("a step of {change:.2} since earlier rounds, and {most} is the most")]
    Change {
        /// The largest change of a coordinate.
        change: f64,
        /// The policy's limit.
        most: f64,
    },
}

/// Why a plan or a round is refused by the site's own rules.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PolicyRefusal {
    /// The mode.
    #[error("this site does not take part in {0} studies (its policy allows {1})")]
    Mode(&'static str, String),
    /// A model.
    #[error("item {item}: this site's policy does not allow the model {model}")]
    Model {
        /// Item.
        item: String,
        /// Model.
        model: String,
    },
    /// A statistic.
    #[error("this site's policy never sends {0}")]
    Statistic(&'static str),
    /// A statistic that the plan's mode or algorithm does not need.
    #[error("{statistic} is refused: {reason}")]
    NotInPlan {
        /// Statistic.
        statistic: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// Too few students here.
    #[error("{students} students are here, and this site's policy wants {minimum} before it takes part")]
    Students {
        /// Students.
        students: u64,
        /// Fewest.
        minimum: u64,
    },
    /// The plan's thresholds are below the site's.
    #[error("the plan lets {plan} sites share a sum, and this site's policy wants {own}")]
    Sites {
        /// n_min of the plan.
        plan: usize,
        /// n_min of the policy.
        own: usize,
    },
    /// The plan assumes fewer colluders.
    #[error(
        "the plan assumes {plan} sites that work with the coordinator, and this site's policy {own}: each of them could remove its own part of what hides the others"
    )]
    Colluders {
        /// c of the plan.
        plan: usize,
        /// c of the policy.
        own: usize,
    },
    /// The plan allows more rounds than the site.
    #[error("the plan allows {plan} rounds of estimation, and this site's policy {own}")]
    PlanRounds {
        /// max_rounds of the plan.
        plan: u32,
        /// max_rounds of the policy.
        own: u32,
    },
    /// Too many rounds.
    #[error("{turn} is beyond the {most} rounds that are allowed, closing ones included")]
    Rounds {
        /// Round.
        turn: Turn,
        /// Most.
        most: u32,
    },
    /// A question that no site can answer.
    #[error("the question is not the plan's: {0}")]
    Malformed(#[from] Malformed),
    /// Something in the question that the plan says otherwise.
    #[error("the question is not the plan's: {0} differs from the plan's")]
    Differs(Differs),
    /// A question that the plan does not have.
    #[error("the question is not the plan's: {0}")]
    Unplanned(#[from] Unplanned),
    /// A number for each site, by which two sums would differ.
    #[error("the question is not the plan's: effects of single sites are not told in this mode")]
    EffectsBySite,
    /// More sets of parameters in one round than the plan says: their answers together say more of the rows.
    #[error(
        "the round asks about {asked} sets of parameters, and the plan about {planned}: several at once can read out tables of answers"
    )]
    Points {
        /// Asked about.
        asked: usize,
        /// In the plan.
        planned: usize,
    },
    /// A parameter out of range.
    #[error("the parameters are refused: {0}")]
    Parameters(#[from] BeyondLimits),
    /// A booklet with few rows.
    #[error(
        "booklet {} of the plan would have {rows} rows here, and this site's policy wants {least}, or none: how many rows a booklet has is told exactly",
        booklet + 1
    )]
    BookletRows {
        /// Its place in the plan, from 0.
        booklet: usize,
        /// Its rows.
        rows: u64,
        /// What the policy wants.
        least: u64,
    },
    /// Too small a part of the noise is this site's own.
    #[error(
        "with {sites} sites this site would make {:.1} % of the noise, and its policy wants {:.1} %: less would be left to its students if the others worked with the coordinator",
        100.0 * share, 100.0 * least
    )]
    OwnNoise {
        /// Sites.
        sites: usize,
        /// Its share.
        share: f64,
        /// What the policy wants.
        least: f64,
    },
    /// What the officers must consent to.
    #[error("the plan says {0}, and this site's policy does not allow it")]
    Risk(&'static str),
    /// An ε that promises next to nothing.
    #[error("the plan's epsilon is {plan}, and this site takes part up to {own} (largest_epsilon)")]
    Epsilon {
        /// The plan's.
        plan: f64,
        /// This site's.
        own: f64,
    },
    /// Exact sums about few students or few items, whatever the plan expected.
    #[error(
        "the sums would be about {items} items and {students} students, without those of the largest other sites, as many as may work with the coordinator; rows may be inferred from so little: this site's policy asks for more than {FEW_ITEMS} items and {FEW_STUDENTS} students (allow_pooled_rows_inferred)"
    )]
    SmallSums {
        /// Students that the sites of the cohort have declared, but for those of as many sites as may work with the coordinator.
        students: u64,
        /// Items of the question.
        items: usize,
    },
}
