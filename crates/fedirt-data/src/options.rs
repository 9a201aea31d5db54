//! What the caller says about the columns.

/// Which columns are no items, and which codes mean "no answer".
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
    /// The items, by name (`anxiety`), pattern (`Q*`, `?` for one character) or range of numbers (`i1-i50`); other columns
    /// are left out. Empty: all columns are items that are nothing else.
    pub items: Vec<String>,
    /// Columns to leave out. In a long file also items to leave out.
    pub ignore: Vec<String>,
    /// Codes that mean "no answer", beside the empty cell, `NA` and `.`.
    pub missing: Vec<String>,
}
