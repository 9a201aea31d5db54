//! What is calibrated: the items, their models and categories, and where their numbers stand.
//!
//! There are two layouts. Gradients and information are over *parameters*: item j owns positions `span(j)`, its slopes
//! first. Counts, pair tables and curves are over *cells*, one per category of each item: item j owns `cell_span(j)`.

use crate::items::{self, ItemModel, Parameter, Role};
use serde::{Deserialize, Serialize};

/// Most categories an item may have.
pub const MAX_CATEGORIES: usize = 100;

/// One calibrated item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignItem {
    /// Position in the codebook, which is also the column of a site's table.
    pub column: usize,
    /// Name of its model.
    pub model: String,
    /// The file's code of each category, lowest first.
    pub codes: Vec<u8>,
}

/// Why a design is not one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DesignError {
    /// A model that does not exist.
    #[error("there is no model {name:?}; models are {known}", name = .0, known = items::model_names())]
    UnknownModel(String),
    /// Fewer than two categories, too many, or codes not in ascending order.
    #[error("item at column {column}: codes {codes:?} are not 2 to {MAX_CATEGORIES} ascending categories")]
    Categories {
        /// Column of the item.
        column: usize,
        /// Its codes.
        codes: Vec<u8>,
    },
    /// A two-category model for an item with more.
    #[error("item at column {column} has {categories} categories, and {model} takes two")]
    NotBinary {
        /// Column of the item.
        column: usize,
        /// Its number of categories.
        categories: usize,
        /// The model asked for.
        model: String,
    },
}

/// The calibrated items, checked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Vec<DesignItem>", into = "Vec<DesignItem>")]
pub struct Design {
    items: Vec<DesignItem>,
    models: Vec<&'static dyn ItemModel>,
    parameters: Vec<Parameter>,
    offsets: Vec<usize>,
    cell_offsets: Vec<usize>,
}

impl PartialEq for Design {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl TryFrom<Vec<DesignItem>> for Design {
    type Error = DesignError;

    fn try_from(items: Vec<DesignItem>) -> Result<Self, DesignError> {
        let mut models = Vec::with_capacity(items.len());
        let mut parameters = Vec::new();
        let (mut offsets, mut cell_offsets) = (vec![0], vec![0]);
        let mut cells = 0;
        for item in &items {
            let model =
                items::model(&item.model).ok_or_else(|| DesignError::UnknownModel(item.model.clone()))?;
            let categories = item.codes.len();
            if !(2..=MAX_CATEGORIES).contains(&categories) || !item.codes.is_sorted_by(|a, b| a < b) {
                return Err(DesignError::Categories { column: item.column, codes: item.codes.clone() });
            }
            if categories > 2 && !model.polytomous() {
                let (column, model) = (item.column, item.model.clone());
                return Err(DesignError::NotBinary { column, categories, model });
            }
            models.push(model);
            parameters.extend(model.parameters(categories));
            offsets.push(parameters.len());
            cells += categories;
            cell_offsets.push(cells);
        }
        Ok(Self { items, models, parameters, offsets, cell_offsets })
    }
}

impl From<Design> for Vec<DesignItem> {
    fn from(design: Design) -> Self {
        design.items
    }
}

impl Design {
    /// The items in order.
    pub fn items(&self) -> &[DesignItem] {
        &self.items
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing is calibrated.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Model of an item.
    pub fn model(&self, item: usize) -> &'static dyn ItemModel {
        self.models[item]
    }

    /// Number of categories of an item.
    pub fn categories(&self, item: usize) -> usize {
        self.cell_offsets[item + 1] - self.cell_offsets[item]
    }

    /// Number of item parameters.
    pub fn parameters(&self) -> usize {
        self.parameters.len()
    }

    /// What a parameter is.
    pub fn parameter(&self, at: usize) -> &Parameter {
        &self.parameters[at]
    }

    /// Position of an item's first parameter, a slope.
    pub fn offset(&self, item: usize) -> usize {
        self.offsets[item]
    }

    /// Positions of an item's parameters.
    pub fn span(&self, item: usize) -> std::ops::Range<usize> {
        self.offsets[item]..self.offsets[item + 1]
    }

    /// Positions of an item's slopes, which stand before its other parameters.
    pub fn slopes(&self, item: usize) -> std::ops::Range<usize> {
        let span = self.span(item);
        let slopes =
            self.parameters[span.clone()].iter().filter(|p| matches!(p.role, Role::Slope { .. })).count();
        span.start..span.start + slopes
    }

    /// The item that owns a parameter.
    pub fn item_of(&self, parameter: usize) -> usize {
        self.offsets.partition_point(|o| *o <= parameter) - 1
    }

    /// Position of the slope that belongs to an intercept, and how often it counts; none for a slope.
    pub fn slope_of(&self, parameter: usize) -> Option<(usize, f64)> {
        match self.parameters[parameter].role {
            Role::Slope { .. } => None,
            Role::Intercept { slope, score } => Some((self.offset(self.item_of(parameter)) + slope, score)),
        }
    }

    /// Number of cells: categories of all items.
    pub fn cells(&self) -> usize {
        self.cell_offsets[self.items.len()]
    }

    /// Position of an item's lowest category.
    pub fn cell_offset(&self, item: usize) -> usize {
        self.cell_offsets[item]
    }

    /// Positions of an item's categories.
    pub fn cell_span(&self, item: usize) -> std::ops::Range<usize> {
        self.cell_offsets[item]..self.cell_offsets[item + 1]
    }

    /// The item that owns a cell.
    pub fn item_of_cell(&self, cell: usize) -> usize {
        self.cell_offsets.partition_point(|o| *o <= cell) - 1
    }

    /// Whether the models allow all parameters, and all numbers are finite.
    pub fn admissible(&self, psi: &[f64]) -> bool {
        psi.iter().all(|x| x.is_finite())
            && (0..self.len()).all(|j| self.model(j).admissible(&psi[self.span(j)]))
    }

    /// How the parameters move when the origin of ability moves down by one: slope times score for intercepts, 0 for
    /// slopes.
    pub fn shift_direction(&self, psi: &[f64]) -> Vec<f64> {
        let shift = |r: usize| self.slope_of(r).map_or(0.0, |(slope, score)| psi[slope] * score);
        (0..self.parameters()).map(shift).collect()
    }
}
