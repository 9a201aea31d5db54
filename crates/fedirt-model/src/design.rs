//! What is calibrated: the items, their models and categories, and where their parameters stand.
//!
//! An item with categories 0..=m has m + 1 parameters (a, d_1..d_m), so parameters and categories share one
//! layout: item j owns positions `offset(j)..offset(j + 1)` of either.

use crate::items::{self, ItemModel};
use serde::{Deserialize, Serialize};

/// Most categories an item may have.
pub const MAX_CATEGORIES: usize = 32;

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
    #[error("there is no model {0:?}; models are 2pl, 1pl, rasch, pcm, gpcm and grm")]
    UnknownModel(String),
    /// Fewer than two categories, too many, or codes not in ascending order.
    #[error("item at column {column}: codes {codes:?} are not 2 to 32 ascending categories")]
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
    offsets: Vec<usize>,
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
        let mut offsets = vec![0];
        let mut end = 0;
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
            end += categories;
            offsets.push(end);
        }
        Ok(Self { items, models, offsets })
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

    /// Number of categories of an item, which is its number of parameters.
    pub fn categories(&self, item: usize) -> usize {
        self.offsets[item + 1] - self.offsets[item]
    }

    /// Position of an item's slope (as a parameter) or lowest category.
    pub fn offset(&self, item: usize) -> usize {
        self.offsets[item]
    }

    /// All offsets, and at the end the number of parameters.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Number of item parameters.
    pub fn parameters(&self) -> usize {
        self.offsets[self.items.len()]
    }

    /// Positions of an item's parameters.
    pub fn span(&self, item: usize) -> std::ops::Range<usize> {
        self.offsets[item]..self.offsets[item + 1]
    }

    /// The item that owns a parameter.
    pub fn item_of(&self, parameter: usize) -> usize {
        self.offsets.partition_point(|o| *o <= parameter) - 1
    }

    /// Whether all intercepts are admissible and all numbers finite.
    pub fn admissible(&self, psi: &[f64]) -> bool {
        psi.iter().all(|x| x.is_finite())
            && (0..self.len()).all(|j| self.model(j).admissible(&psi[self.offset(j) + 1..self.offset(j + 1)]))
    }

    /// How the parameters move when the origin of ability moves down by one: a_j·score for intercepts, 0 for slopes.
    pub fn shift_direction(&self, psi: &[f64]) -> Vec<f64> {
        let mut direction = vec![0.0; self.parameters()];
        for j in 0..self.len() {
            for step in 1..self.categories(j) {
                direction[self.offset(j) + step] = psi[self.offset(j)] * self.model(j).shift_score(step);
            }
        }
        direction
    }
}
