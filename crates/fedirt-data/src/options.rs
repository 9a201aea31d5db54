//! What the caller says about the columns.

use crate::codebook::CodebookItem;
use crate::item_names::Renamed;
use crate::key::KeyedItem;

/// Which columns are items, which codes mean "no answer", and how answers become codes.
///
/// Columns called `id`, `site`, `weight`, `group` or `form` (in any case) are no items even if nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Column that names the site of a row; without it, each file is a site.
    pub site: Option<String>,
    /// Column that identifies a row; without it, a column called `id` is used where there is one.
    pub id: Option<String>,
    /// Column with the weight of a row; without it, all rows count once.
    pub weight: Option<String>,
    /// Column with the group of a row (sex, language, region); empty cells belong to none.
    pub group: Option<String>,
    /// The items, by name (`anxiety`), pattern (`Q*`, `?` for one character) or range of numbers (`i1-i50`); other columns
    /// are left out. Empty: those of the codebook, or all columns that are nothing else.
    pub items: Vec<String>,
    /// Columns to leave out. In a long file also items to leave out.
    pub ignore: Vec<String>,
    /// Codes that mean "no answer", beside the empty cell, `NA` and `.`.
    pub missing: Vec<String>,
    /// The columns of long files; without it, a file with columns called `item` and `resp` or `response` is one.
    pub long: Option<LongColumns>,
    /// Names that files have for items.
    pub renamed: Vec<Renamed>,
    /// The items: it selects them, and says how their answers become codes.
    pub codebook: Option<Vec<CodebookItem>>,
    /// Right answers of items whose files hold the option that was chosen.
    pub key: Vec<KeyedItem>,
    /// Whether a missing answer counts as the lowest category, where the site has answers to the item and the row has any.
    pub missing_is_wrong: bool,
}

impl ReadOptions {
    /// The same with items that are known, and their codes: they are selected as by a codebook. What the caller says about
    /// them stays.
    pub fn selecting(&self, items: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let item = |(name, codes): (String, Vec<u8>)| {
            let own =
                self.codebook.iter().flatten().find(|own| own.name == name).cloned().unwrap_or_default();
            let codes = Some(codes).filter(|codes| !codes.is_empty());
            CodebookItem { name, categories: codes.or(own.categories), ..own }
        };
        Self { codebook: Some(items.into_iter().map(item).collect()), ..self.clone() }
    }

    /// The lowest code of an item, if a codebook or a key says which codes it has.
    pub(crate) fn lowest_code(&self, item: &str) -> Option<u8> {
        let keyed = self.key.iter().find(|keyed| keyed.item == item).map(|keyed| keyed.rule.categories());
        let known = self.codebook.iter().flatten().find(|known| known.name == item);
        keyed.or_else(|| known?.categories.clone())?.first().copied()
    }

    /// Whether a codebook or a key says which codes an item has.
    pub(crate) fn declares(&self, item: &str) -> bool {
        self.lowest_code(item).is_some()
    }
}

/// The columns of a long file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongColumns {
    /// Who answered; the same as [`ReadOptions::id`], which need not be given as well.
    pub id: String,
    /// The item's name.
    pub item: String,
    /// The answer.
    pub response: String,
}
