//! What is to be simulated, and whether that is possible.

use super::SiteSizes;
use crate::design::MAX_CATEGORIES;
use crate::items::{self, ItemModel, SlopeRule};
use serde::{Deserialize, Serialize};

/// The name of a test whose items take turns: 2pl, gpcm, grm.
pub const MIXED: &str = "mixed";

const MIXTURE: [&str; 3] = ["2pl", "gpcm", "grm"];

/// Where site effects come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteEffects {
    /// One per site, used as they are.
    Given(Vec<f64>),
    /// Normal with this SD.
    Drawn {
        /// Standard deviation.
        sd: f64,
        /// Whether their mean is taken off, as fixed effects are reported. Random effects are not centred.
        centred: bool,
    },
}

/// Which answers are not given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// None is missing.
    Complete,
    /// Students take turns with this many overlapping booklets, each of about half the items.
    Booklets(usize),
    /// Each answer is missing with this probability.
    AtRandom(f64),
}

/// What is to be simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Number of sites.
    pub sites: usize,
    /// Their students.
    pub students: SiteSizes,
    /// Number of items.
    pub items: usize,
    /// Model of all items, or [`MIXED`].
    pub model: String,
    /// Categories of items that may have more than two.
    pub categories: usize,
    /// Site effects.
    pub effects: SiteEffects,
    /// Missing answers.
    pub missing: Missing,
    /// SD of ability within a site.
    pub latent_sd: f64,
    /// Seed of everything.
    pub seed: u64,
}

/// Why a specification cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// A count that must be at least one.
    #[error("there must be at least one {0}")]
    None(&'static str),
    /// No such model.
    #[error("there is no model {0:?}; models are 2pl, 1pl, rasch, pcm, gpcm, grm and mixed")]
    Model(String),
    /// A number of categories out of range.
    #[error("items have 2 to {MAX_CATEGORIES} categories, not {0}")]
    Categories(usize),
    /// More categories than the model takes.
    #[error("{model} takes two categories, not {categories}: use pcm, gpcm or grm")]
    NotBinary {
        /// The model.
        model: String,
        /// Categories asked for.
        categories: usize,
    },
    /// Not one number of students per site.
    #[error("numbers of students are given for {given} sites, and there are {sites}")]
    Sizes {
        /// Sizes given.
        given: usize,
        /// Sites.
        sites: usize,
    },
    /// A range whose end is before its beginning.
    #[error("from {0} to {1} students is an empty range")]
    Range(usize, usize),
    /// Not one effect per site.
    #[error("{given} site effects are given, and there are {sites} sites")]
    Effects {
        /// Effects given.
        given: usize,
        /// Sites.
        sites: usize,
    },
    /// A number that is not finite or out of range.
    #[error("{what} must be {rule}, not {value}")]
    Number {
        /// Which number.
        what: &'static str,
        /// What it must be.
        rule: &'static str,
        /// What it is.
        value: f64,
    },
    /// An SD of ability that the model cannot express.
    #[error("{0} has an SD of ability of 1; only rasch and pcm have a free one")]
    LatentSd(String),
    /// Booklets that cannot be made of the items.
    #[error(
        "{items} items do not fill {booklets} overlapping booklets: give 2 booklets or more, and an item or more for each (two booklets need three)"
    )]
    Booklets {
        /// Booklets asked for.
        booklets: usize,
        /// Items.
        items: usize,
    },
}

impl Spec {
    /// Checks everything that can be checked before anything is drawn.
    pub fn check(&self) -> Result<(), SpecError> {
        for (count, what) in [(self.sites, "site"), (self.items, "item")] {
            if count == 0 {
                return Err(SpecError::None(what));
            }
        }
        self.check_model()?;
        match &self.students {
            SiteSizes::Each(0) | SiteSizes::Between(0, _) => return Err(SpecError::None("student per site")),
            SiteSizes::Each(_) => {}
            SiteSizes::Between(from, to) if from > to => return Err(SpecError::Range(*from, *to)),
            SiteSizes::Between(..) => {}
            SiteSizes::List(list) if list.len() != self.sites => {
                return Err(SpecError::Sizes { given: list.len(), sites: self.sites });
            }
            SiteSizes::List(list) if list.contains(&0) => return Err(SpecError::None("student per site")),
            SiteSizes::List(_) => {}
        }
        match &self.effects {
            SiteEffects::Given(list) if list.len() != self.sites => {
                return Err(SpecError::Effects { given: list.len(), sites: self.sites });
            }
            SiteEffects::Given(list) => {
                for &value in list {
                    number("a site effect", "between -20 and 20", value, value.abs() <= 20.0)?;
                }
            }
            SiteEffects::Drawn { sd, .. } => {
                number("the SD of site effects", "between 0 and 5", *sd, (0.0..=5.0).contains(sd))?;
            }
        }
        match self.missing {
            Missing::AtRandom(rate) => number(
                "the share of missing answers",
                "at least 0 and less than 1",
                rate,
                (0.0..1.0).contains(&rate),
            ),
            Missing::Booklets(b) if b < 2 || self.items < b.max(3) => {
                Err(SpecError::Booklets { booklets: b, items: self.items })
            }
            _ => Ok(()),
        }
    }

    fn check_model(&self) -> Result<(), SpecError> {
        if !(2..=MAX_CATEGORIES).contains(&self.categories) {
            return Err(SpecError::Categories(self.categories));
        }
        let sd = self.latent_sd;
        number("the SD of ability", "more than 0 and at most 10", sd, sd > 0.0 && sd <= 10.0)?;
        if self.model != MIXED {
            let model = items::model(&self.model).ok_or_else(|| SpecError::Model(self.model.clone()))?;
            if self.categories > 2 && !model.polytomous() {
                let (model, categories) = (self.model.clone(), self.categories);
                return Err(SpecError::NotBinary { model, categories });
            }
            if model.slope() == SlopeRule::LatentSd {
                return Ok(());
            }
        }
        // With free slopes the SD of ability is the unit of the scale: the truth could not be recovered.
        if sd == 1.0 { Ok(()) } else { Err(SpecError::LatentSd(self.model.clone())) }
    }

    /// Model and number of categories of an item.
    pub(super) fn item(&self, j: usize) -> Result<(&'static dyn ItemModel, usize), SpecError> {
        let name = if self.model == MIXED { MIXTURE[j % MIXTURE.len()] } else { &self.model };
        let model = items::model(name).ok_or_else(|| SpecError::Model(name.to_owned()))?;
        Ok((model, if model.polytomous() { self.categories } else { 2 }))
    }
}

fn number(what: &'static str, rule: &'static str, value: f64, holds: bool) -> Result<(), SpecError> {
    if holds { Ok(()) } else { Err(SpecError::Number { what, rule, value }) }
}
