//! Item response models behind one trait, [`ItemModel`].
//!
//! A model declares the parameters of an item (slopes first, then all others) and gives the log-probability of every
//! category, with first and second derivatives, at a point of ability. Everything else in the program reads these
//! declarations: kernels see tables of node × category, the centre steps in coordinates that follow from the roles of
//! the parameters, reports print the names. A new model is a new file here and one line in [`MODELS`].

mod curves;
mod divide_by_total;
mod grm;
mod node;
mod nrm;
mod one_slope;

pub use curves::Curves;
pub use node::{AbilityNode, Node, Order};
pub use one_slope::OneSlope;
pub(crate) use one_slope::reported_names;

/// The generalised partial credit model.
pub const GPCM: &dyn ItemModel = &divide_by_total::GPCM;

/// Every model, by the name that users type.
pub const MODELS: &[&dyn ItemModel] = &[
    &divide_by_total::TWO_PL,
    &divide_by_total::ONE_PL,
    &divide_by_total::RASCH,
    &divide_by_total::RASCH_SD1,
    &divide_by_total::PCM,
    &divide_by_total::GPCM,
    &grm::Grm,
    &nrm::Nrm,
];

/// The model of that name.
pub fn model(name: &str) -> Option<&'static dyn ItemModel> {
    MODELS.iter().copied().find(|m| m.name() == name)
}

/// Other programs' words for models: what users may type instead.
pub const ALIASES: &[(&str, &str)] = &[("graded", "grm"), ("nominal", "nrm")];

/// The model that a user means: by its name or another program's word, in any case.
pub fn model_called(word: &str) -> Option<&'static dyn ItemModel> {
    let word = word.to_lowercase();
    model(ALIASES.iter().find(|(alias, _)| *alias == word).map_or(word.as_str(), |(_, name)| name))
}

/// The model of an item for which nobody named one, by its number of categories.
pub fn default_model(categories: usize) -> &'static dyn ItemModel {
    if categories > 2 { &divide_by_total::GPCM } else { &divide_by_total::TWO_PL }
}

/// The model that a model of slopes 1 and an estimated SD becomes when the SD is held at 1; none for other models.
pub fn with_sd_of_one(model: &dyn ItemModel) -> Option<&'static dyn ItemModel> {
    (model.slope() == SlopeRule::LatentSd).then_some(&divide_by_total::RASCH_SD1)
}

/// The names of all models, for messages and help texts: `2pl, 1pl, …`.
pub fn model_names() -> String {
    MODELS.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ")
}

/// What a model name stands for in a sentence: `2PL` for `2pl`, `mixed-format` for `mixed`.
pub fn title(name: &str) -> &str {
    model(name).map_or(if name == "mixed" { "mixed-format" } else { name }, |model| model.title())
}

/// The model that a name meant in files and plans of the first format, where `1pl` stood for slopes of 1 with an SD of 1.
pub fn name_in_first_format(name: &str) -> &str {
    if name == "1pl" { divide_by_total::RASCH_SD1.name } else { name }
}

/// Where an item's slopes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlopeRule {
    /// They are estimated for the item.
    Free,
    /// One slope is estimated for all such items, and ability has an SD of 1.
    Common,
    /// They are fixed at 1, and ability has an SD of 1.
    One,
    /// They are fixed at 1, and the SD of ability is estimated: on standardised ability all such items share one slope.
    LatentSd,
}

/// Which log-odds of an item's categories are linear in ability. Between two categories all of these are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logits {
    /// Those of neighbouring categories, all with the item's slope.
    Adjacent,
    /// Those of reaching a category at all, all with the item's slope.
    Cumulative,
    /// Those of each category against the first, each with a slope of its own; adjacent logits are a special case.
    Baseline,
}

/// Whether one model of an item with that many categories is a special case of another, itself included. With ability on
/// a scale of its own, one slope for all items and slopes of 1 with a free SD are one model in two parametrisations.
pub fn is_special_case(special: &dyn ItemModel, general: &dyn ItemModel, categories: usize) -> bool {
    let freedom = |model: &dyn ItemModel| match model.slope() {
        SlopeRule::One => 0,
        SlopeRule::Common | SlopeRule::LatentSd => 1,
        SlopeRule::Free => 2,
    };
    let same_curves = categories == 2
        || special.logits() == general.logits()
        || (special.logits(), general.logits()) == (Logits::Adjacent, Logits::Baseline);
    same_curves && freedom(special) <= freedom(general)
}

/// What a parameter does, which decides how it changes with the unit and the origin of ability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// It multiplies ability in one dimension: divided by σ when ability is reported in units of σ.
    Slope {
        /// The dimension, counted from 0.
        dimension: usize,
    },
    /// It is added to slope times ability: it grows by `score`·slope·x when the origin of ability moves down by x.
    Intercept {
        /// Which of the item's parameters is its slope.
        slope: usize,
        /// How many times that slope counts in this intercept.
        score: f64,
    },
}

/// One parameter of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name in covariances, such as `a` or `d2`.
    pub name: String,
    /// What it does.
    pub role: Role,
}

/// A number that `fit.json` reports of an item under a name, as a function of the item's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    /// The name, as mirt has it: `a1`, `d`, `d1`, `ak0`, …
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its derivatives in the item's parameters, for the delta method.
    pub gradient: Vec<f64>,
}

/// An item response model.
pub trait ItemModel: Sync + std::fmt::Debug {
    /// The name that users type and files carry.
    fn name(&self) -> &'static str;

    /// What it is called in a sentence.
    fn title(&self) -> &'static str;

    /// What it assumes, in a few words for help texts.
    fn summary(&self) -> &'static str;

    /// Where the slopes come from.
    fn slope(&self) -> SlopeRule;

    /// Which log-odds are linear in ability.
    fn logits(&self) -> Logits;

    /// Whether more than two categories make sense.
    fn polytomous(&self) -> bool;

    /// The parameters of an item with that many categories: slopes first.
    fn parameters(&self, categories: usize) -> Vec<Parameter>;

    /// Log-probabilities of all categories at a point of ability, and their derivatives in the parameters and in the
    /// coordinates of the point.
    fn node(&self, psi: &[f64], point: &[f64], order: Order, out: &mut Node);

    /// Log-probabilities and their first two derivatives in a one-dimensional ability, for scoring.
    fn along_ability(&self, psi: &[f64], t: f64, out: &mut AbilityNode);

    /// For models that are linear in their parameters: the weights w_rc of
    /// log p_c = Σ_r ψ_r w_rc z_r − log Σ_h exp(…), with z_r = t for slopes and 1 for intercepts, a row per parameter.
    /// Then the score of parameter r is z_r (w_rx − Σ_c w_rc p_c), and information follows from cross tables.
    fn category_weights(&self, categories: usize) -> Option<Vec<Vec<f64>>>;

    /// Whether the parameters are ones that the model allows.
    fn admissible(&self, psi: &[f64]) -> bool;

    /// The categories that ever lower and ever higher ability make certain; none where all slopes are zero.
    fn end_categories(&self, psi: &[f64]) -> Option<(usize, usize)>;

    /// The model as one of a single slope with ordered categories, which has difficulties; none if it is not.
    fn one_slope(&self) -> Option<&dyn OneSlope>;

    /// Starting parameters: `slope` is a first guess of the change of the log-odds of one unit of `scores`, which give
    /// each category a value along ability; `shares` are the observed shares of the categories.
    fn start(&self, slope: f64, scores: &[f64], shares: &[f64]) -> Vec<f64>;

    /// Parameters as coordinates without bounds, in which starting values are sought. Signs of slopes may get lost.
    fn unbounded(&self, psi: &[f64]) -> Vec<f64>;

    /// Inverse of [`ItemModel::unbounded`]; `sign` is that of the item's slope, where the model has one.
    fn bounded(&self, y: &[f64], sign: f64) -> Vec<f64>;

    /// The gradient in the unbounded coordinates from that in the parameters.
    fn unbounded_gradient(&self, y: &[f64], psi: &[f64], gradient: &[f64]) -> Vec<f64>;

    /// What `fit.json` reports of an item with these parameters on the reported scale.
    fn reported(&self, psi: &[f64]) -> Vec<Reported>;

    /// The parameters from reported values, where all that are needed are there.
    fn read_reported(&self, categories: usize, value: &dyn Fn(&str) -> Option<f64>) -> Option<Vec<f64>>;
}

#[cfg(test)]
mod tests;
