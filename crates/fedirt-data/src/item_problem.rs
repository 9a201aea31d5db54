//! What can be wrong with the items of a calibration, as data, and the sentences made of it.

use std::fmt;

use crate::audience::{Audience, ReadOption};
use crate::text::listed;
use crate::undeclared::UndeclaredCode;

/// What says how many categories an item has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CategorySource {
    /// The codebook.
    Codebook,
    /// The fixed items.
    FixedItems,
}

/// What is wrong with the items of a calibration.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemProblem {
    /// An item of the responses is not in the codebook.
    NotInCodebook(String),
    /// A model is given for an item that is not there.
    NoSuchItem {
        /// The item.
        item: String,
        /// The model.
        model: String,
    },
    /// A model that does not exist.
    UnknownModel {
        /// The item.
        item: String,
        /// The model.
        model: String,
    },
    /// Two models for one item.
    FixedModel {
        /// The item.
        item: String,
        /// The model that is asked for.
        asked: String,
        /// The model of its fixed parameters.
        fixed: String,
    },
    /// None of the fixed items is in the data.
    NoFixedItem(Vec<String>),
    /// Two numbers of categories for one item.
    CategoriesDiffer {
        /// The item.
        item: String,
        /// Its categories in the codebook.
        codebook: usize,
        /// Its categories in the fixed items.
        fixed: usize,
    },
    /// The data have codes that a number of categories does not explain.
    CodesOutside {
        /// The item.
        item: String,
        /// Its categories.
        categories: usize,
        /// What says so.
        source: CategorySource,
        /// The codes of the data.
        codes: Vec<u8>,
    },
    /// Categories of an item are to be merged by the answers, in a private fit.
    CollapseFromAnswers(String),
    /// Categories of an item with given parameters are to be merged.
    CollapseFixed(String),
    /// Categories without an order are to be merged with neighbours.
    CollapseUnordered(String),
    /// The groups of categories are not about the item's categories.
    CollapseOthers {
        /// The item.
        item: String,
        /// Its codes.
        codes: Vec<u8>,
    },
    /// A private fit of a long file without a codebook.
    LongWithoutCodebook,
    /// A private fit of items with more than two categories whose number nobody declared.
    UndeclaredCategories {
        /// The item.
        item: String,
        /// Its model.
        model: String,
    },
    /// A private fit of data with a code that nobody declared.
    UndeclaredCode(UndeclaredCode),
}

impl ItemProblem {
    /// What is wrong and what would help, for somebody.
    pub fn told(&self, audience: Audience) -> String {
        let (item_model, fixed_items) = match audience {
            Audience::CommandLine => ("--item-model", "--fixed-items"),
            Audience::Library | Audience::Page => ("`item_models`", "`fixed_items`"),
        };
        let codebook = match audience {
            Audience::CommandLine => "--codebook FILE (CSV: item, model, categories)",
            Audience::Library | Audience::Page => "`codebook`",
        };
        match self {
            Self::NotInCodebook(item) => format!(
                "item {item} is not in the codebook: add it there, or leave it out with {}",
                audience.with(ReadOption::Ignore, item)
            ),
            Self::NoSuchItem { item, model } => {
                format!("{item_model} {item}={model}: there is no item {item}")
            }
            Self::UnknownModel { item, model } => format!("item {item}: there is no model {model}"),
            Self::FixedModel { item, asked, fixed } => {
                format!("{item_model} {item}={asked}: the fixed items give {item} as {fixed}")
            }
            Self::NoFixedItem(items) => format!(
                "{fixed_items}: not in the data, and not used: {}. Items are matched by name",
                listed(items)
            ),
            Self::CategoriesDiffer { item, codebook, fixed } => {
                format!(
                    "item {item} has {codebook} categories in the codebook, and {fixed} in the fixed items"
                )
            }
            Self::CodesOutside { item, categories, source, codes } => {
                let source = match source {
                    CategorySource::Codebook => "codebook",
                    CategorySource::FixedItems => "fixed items",
                };
                let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
                format!(
                    "item {item} has {categories} categories in the {source}, and the data have the codes {}; \
                     correct one of them, or call a code missing with {}",
                    codes.join(", "),
                    audience.option(ReadOption::Missing)
                )
            }
            Self::CollapseFromAnswers(item) => format!(
                "item {item}: categories are merged by the answers of all sites only where these are in one place, and never in a private fit; list the groups in the codebook's column `collapse`, such as 0-2|3|4"
            ),
            Self::CollapseFixed(item) => {
                format!(
                    "item {item}: its parameters are given, and so are its categories; leave `collapse` empty"
                )
            }
            Self::CollapseUnordered(item) => {
                format!(
                    "item {item}: categories of a nominal item have no neighbours; leave `collapse` empty"
                )
            }
            Self::CollapseOthers { item, codes } => {
                let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
                format!(
                    "item {item}: `collapse` in the codebook must name each of its categories once: {}",
                    codes.join(", ")
                )
            }
            Self::LongWithoutCodebook => format!(
                "long files: a private fit needs {codebook}, for the items must not depend on the answers"
            ),
            Self::UndeclaredCategories { item, model } => format!(
                "item {item}: {model} has more than two categories, and a private fit takes their number from a codebook, never from the answers: {codebook}"
            ),
            Self::UndeclaredCode(found) => {
                let codes: Vec<String> = found.declared.iter().map(ToString::to_string).collect();
                let codebook = match audience {
                    Audience::CommandLine => {
                        "--codebook FILE (CSV: item, categories, and lowest where codes begin above 0)"
                    }
                    Audience::Library | Audience::Page => "`codebook`",
                };
                format!(
                    "{found} is none of those declared ({}). A private fit takes categories from a codebook, never from the answers: {codebook}, or {} if it means no answer",
                    codes.join(", "),
                    audience.with(ReadOption::Missing, &found.code.to_string())
                )
            }
        }
    }
}

impl fmt::Display for ItemProblem {
    /// As somebody reads it who calls a library.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(Audience::Library))
    }
}

impl std::error::Error for ItemProblem {}
