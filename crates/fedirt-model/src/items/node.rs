//! Room for what a model says at one point of ability.

/// How many derivatives are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Log-probabilities.
    Probability,
    /// And first derivatives.
    Score,
    /// And second derivatives.
    Curvature,
}

/// Log-probabilities of an item's categories at one point of ability, and their derivatives.
///
/// Derivatives are indexed by `r`: the item's parameters in their order, then the dimensions of ability.
#[derive(Debug, Clone)]
pub struct Node {
    width: usize,
    /// log p_c.
    pub log_p: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Node {
    /// Room for an item of that many categories and parameters, in that many dimensions.
    pub fn new(categories: usize, parameters: usize, dimensions: usize, order: Order) -> Self {
        let width = parameters + dimensions;
        let room = |wanted: Order, size: usize| vec![0.0; if order >= wanted { size } else { 0 }];
        Self {
            width,
            log_p: vec![0.0; categories],
            first: room(Order::Score, categories * width),
            second: room(Order::Curvature, categories * width * width),
        }
    }

    /// ∂ log p_c / ∂r.
    pub fn first(&mut self, c: usize, r: usize) -> &mut f64 {
        &mut self.first[c * self.width + r]
    }

    /// ∂² log p_c / ∂r∂s. Both triangles are filled.
    pub fn second(&mut self, c: usize, r: usize, s: usize) -> &mut f64 {
        &mut self.second[(c * self.width + r) * self.width + s]
    }

    /// All first derivatives of one category.
    pub(super) fn first_row(&self, c: usize) -> &[f64] {
        &self.first[c * self.width..(c + 1) * self.width]
    }

    /// All second derivatives of one category, row by row.
    pub(super) fn second_block(&self, c: usize) -> &[f64] {
        &self.second[c * self.width * self.width..(c + 1) * self.width * self.width]
    }
}

/// Log-probabilities at one ability and their first two derivatives in it.
#[derive(Debug, Clone)]
pub struct AbilityNode {
    /// log p_c.
    pub log_p: Vec<f64>,
    /// ∂ log p_c / ∂t.
    pub first: Vec<f64>,
    /// ∂² log p_c / ∂t².
    pub second: Vec<f64>,
}

impl AbilityNode {
    /// Room for items of at most that many categories.
    pub fn new(categories: usize) -> Self {
        Self { log_p: vec![0.0; categories], first: vec![0.0; categories], second: vec![0.0; categories] }
    }
}
