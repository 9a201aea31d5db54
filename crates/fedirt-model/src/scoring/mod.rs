//! Scores of students whose items are calibrated, and how well a student's answers fit the model.
//!
//! Everything here happens at the site, row by row: nothing is sent. A [`Scorer`] holds one site's items (on the
//! reported scale) and its prior N(mean, sd²), whose mean includes the site effect; a [`RowScorer`] holds the
//! buffers that the rows share. Every log p_c of the models in [`crate::items`] is concave in ability, so a
//! likelihood and a posterior have one mode; searches start at the best node of the grid all the same.

mod likelihood;
mod person_fit;
mod posterior;
mod table;
mod warm;

pub use person_fit::PersonFit;

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::items::{AbilityNode, ItemModel};
use crate::population::Population;
use crate::quadrature::{Grid, GridSpec};
use crate::responses::{MISSING, ResponseTable};
use table::Table;

/// Half-width of the search for ML, MAP and WLE, in prior SDs: an estimate beyond it is no estimate.
const REACH: f64 = 20.0;

/// A calibrated item.
#[derive(Debug, Clone)]
pub struct ScoredItem {
    /// Its model.
    pub model: &'static dyn ItemModel,
    /// Number of its categories.
    pub categories: usize,
    /// Its parameters on the reported scale, as its model lays them out.
    pub psi: Vec<f64>,
}

/// Distribution of ability at the site, N(mean, sd²).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// Mean, the site effect included.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// How ability is distributed in standardised form, where it is not normal.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its family.
    pub population: Population,
    /// The parameters of the family.
    pub parameters: Vec<f64>,
}

/// How ability is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Mean and SD of the posterior (Bock & Mislevy 1982).
    Eap,
    /// Mode of the posterior.
    Map,
    /// Mode of the likelihood; none where it has no finite one.
    Ml,
    /// Warm's weighted likelihood estimate (Warm 1989): finite for perfect rows too.
    Wle,
    /// Plausible values: draws from the posterior (Mislevy 1991).
    Pv {
        /// Draws per student.
        draws: usize,
    },
}

impl Method {
    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eap => "eap",
            Self::Map => "map",
            Self::Ml => "ml",
            Self::Wle => "wle",
            Self::Pv { .. } => "pv",
        }
    }
}

/// One student's ability.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// The estimate, where one exists.
    pub estimate: Option<f64>,
    /// Its standard error (the posterior SD for EAP).
    pub standard_error: Option<f64>,
}

impl Score {
    /// No estimate.
    pub const NONE: Self = Self { estimate: None, standard_error: None };

    /// An estimate whose standard error is 1/√information.
    fn with_information(estimate: f64, information: f64) -> Self {
        let standard_error = (information > 0.0).then(|| information.sqrt().recip());
        Self { estimate: Some(estimate), standard_error }
    }
}

/// Why rows cannot be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScoringError {
    /// Parameters are missing, not finite, or not ordered as the model wants them.
    #[error("the parameters of item {item} are not admissible for its model")]
    Parameters {
        /// Zero-based item.
        item: usize,
    },
    /// The prior's mean is not finite, or its SD is not finite and positive.
    #[error("ability needs a finite mean and a positive standard deviation (got {mean} and {sd})")]
    Prior {
        /// Mean given.
        mean: f64,
        /// SD given.
        sd: f64,
    },
    /// Parameters that the population does not have.
    #[error("the parameters of the distribution of ability are not those of {0}")]
    Shape(String),
    /// The grid has fewer than three nodes or no width.
    #[error("the grid needs at least three nodes and a positive range")]
    Grid,
    /// A row has not one cell per item.
    #[error("the row has {cells} cells, there are {items} items")]
    Length {
        /// Cells in the row.
        cells: usize,
        /// Items of the scorer.
        items: usize,
    },
    /// A category code that the item does not have.
    #[error("item {item} has categories 0 to {highest}, the row says {code}")]
    Category {
        /// Zero-based item.
        item: usize,
        /// Code in the row.
        code: u8,
        /// Highest category of the item.
        highest: usize,
    },
    /// An ability at which nothing can be computed.
    #[error("person fit needs a finite ability (got {ability})")]
    Ability {
        /// Ability given.
        ability: f64,
    },
}

/// Items and prior of one site, with the tables that its rows share.
#[derive(Debug)]
pub struct Scorer {
    items: Vec<ScoredItem>,
    prior: Prior,
    shape: Option<Shape>,
    range: f64,
    grid: Table,
    log_weights: Vec<f64>,
    fine: OnceLock<Table>,
    information: OnceLock<Vec<f64>>,
}

impl Scorer {
    /// A scorer whose grid has its nodes at mean + sd·V(n).
    pub fn new(items: Vec<ScoredItem>, prior: Prior, spec: GridSpec) -> Result<Self, ScoringError> {
        let Prior { mean, sd } = prior;
        if !mean.is_finite() || !sd.is_finite() || sd <= 0.0 {
            return Err(ScoringError::Prior { mean, sd });
        }
        if spec.nodes < 3 || !spec.range.is_finite() || spec.range <= 0.0 {
            return Err(ScoringError::Grid);
        }
        let admissible = |item: &ScoredItem| {
            (2..=usize::from(MISSING)).contains(&item.categories)
                && item.psi.len() == item.model.parameters(item.categories).len()
                && item.psi.iter().all(|x| x.is_finite())
                && item.model.admissible(&item.psi)
        };
        if let Some(item) = items.iter().position(|item| !admissible(item)) {
            return Err(ScoringError::Parameters { item });
        }
        let grid = Grid::new(spec);
        let nodes = grid.nodes().iter().map(|v| mean + sd * v).collect();
        Ok(Self {
            grid: Table::new(&items, nodes),
            log_weights: grid.log_weights().to_vec(),
            range: spec.range,
            items,
            prior,
            shape: None,
            fine: OnceLock::new(),
            information: OnceLock::new(),
        })
    }

    /// The same with ability of another shape around the prior's mean, in the prior's SD.
    pub fn with_shape(mut self, shape: Shape) -> Result<Self, ScoringError> {
        let Shape { population, parameters } = &shape;
        if !population.exists() || !population.admissible(parameters) {
            return Err(ScoringError::Shape(population.family.to_string()));
        }
        let grid = population.at(parameters);
        if grid.len() != self.log_weights.len() {
            return Err(ScoringError::Grid);
        }
        self.log_weights = grid.log_weights().to_vec();
        self.shape = Some(shape);
        Ok(self)
    }

    /// log f of the prior at an ability, up to a constant, with its first two derivatives.
    fn log_prior(&self, ability: f64) -> [f64; 3] {
        let Prior { mean, sd } = self.prior;
        let v = (ability - mean) / sd;
        let [value, first, second] = match &self.shape {
            None => [-0.5 * v * v, -v, -1.0],
            Some(shape) => shape.population.log_density_at(&shape.parameters, v),
        };
        [value, first / sd, second / (sd * sd)]
    }

    /// The items, in the order of a row's cells.
    pub fn items(&self) -> &[ScoredItem] {
        &self.items
    }

    /// The site's distribution of ability.
    pub fn prior(&self) -> Prior {
        self.prior
    }

    /// Buffers for scoring rows one after the other.
    pub fn row_scorer(&self) -> RowScorer<'_> {
        let most = self.items.iter().map(|item| item.categories).max().unwrap_or(2);
        RowScorer {
            scorer: self,
            on_grid: vec![0.0; self.grid.nodes().len()],
            on_fine: Vec::new(),
            cumulated: Vec::new(),
            node: AbilityNode::new(most),
            weight: warm::PatternWeight::default(),
        }
    }

    /// Scores of all rows of a table, on all threads; the numbers do not depend on how many there are.
    ///
    /// For [`Method::Pv`] these are mean and SD of the posterior; [`RowScorer::plausible_values`] draws from it.
    pub fn score_table(&self, table: &ResponseTable, method: Method) -> Result<Vec<Score>, ScoringError> {
        (0..table.students())
            .into_par_iter()
            .with_min_len(64)
            .map_init(|| self.row_scorer(), |rows, student| rows.score(table.row(student), method))
            .collect()
    }

    /// Answered items with the answers.
    fn answers<'a>(&'a self, row: &'a [u8]) -> impl Iterator<Item = (&'a ScoredItem, usize)> {
        self.items.iter().zip(row).filter(|(_, x)| **x != MISSING).map(|(item, x)| (item, usize::from(*x)))
    }

    /// The number of answers in a row, or what is wrong with it.
    fn check(&self, row: &[u8]) -> Result<usize, ScoringError> {
        if row.len() != self.items.len() {
            return Err(ScoringError::Length { cells: row.len(), items: self.items.len() });
        }
        let mut answered = 0;
        for (j, (item, &code)) in self.items.iter().zip(row).enumerate() {
            if code == MISSING {
                continue;
            }
            answered += 1;
            let highest = item.categories - 1;
            if usize::from(code) > highest {
                return Err(ScoringError::Category { item: j, code, highest });
            }
        }
        Ok(answered)
    }
}

/// Scores rows of one site, one after the other, without allocating for each.
pub struct RowScorer<'a> {
    scorer: &'a Scorer,
    on_grid: Vec<f64>,
    on_fine: Vec<f64>,
    cumulated: Vec<f64>,
    node: AbilityNode,
    weight: warm::PatternWeight,
}

/// No contents: what follows from a row must not reach a log.
impl std::fmt::Debug for RowScorer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowScorer({} items)", self.scorer.items.len())
    }
}

impl RowScorer<'_> {
    /// One student's score from category codes 0..=m, or [`MISSING`], per item.
    ///
    /// A row without answers has the prior's mean and SD for EAP and MAP, and no score for ML and WLE.
    /// For [`Method::Pv`] the score is mean and SD of the posterior, which the draws approach.
    pub fn score(&mut self, row: &[u8], method: Method) -> Result<Score, ScoringError> {
        let answers = self.scorer.check(row)?;
        let Prior { mean, sd } = self.scorer.prior;
        Ok(match method {
            Method::Eap | Method::Map | Method::Pv { .. } if answers == 0 => {
                Score { estimate: Some(mean), standard_error: Some(sd) }
            }
            Method::Eap | Method::Pv { .. } => self.eap(row),
            Method::Map => self.map(row),
            Method::Ml => self.ml(row),
            Method::Wle => self.wle(row),
        })
    }
}

#[cfg(test)]
mod tests;
