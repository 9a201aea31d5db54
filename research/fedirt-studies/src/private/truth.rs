//! Parameters and rows of the privacy studies.

use fedirt_model::design::{Design, DesignItem};
use fedirt_model::private::PrivateError;
#[cfg(test)]
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::{TrueItem, TrueSite, Truth};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// 2PL items with a in [0.5, 2] and b in [−1, 1], both uniform, and site effects at equal distances from −1 to 1.
pub(crate) fn uniform_truth(items: usize, sizes: &[usize], rng: &mut ChaCha8Rng) -> Truth {
    let item = |j: usize| {
        let (a, b) = (rng.random_range(0.5..2.0), rng.random_range(-1.0..1.0));
        TrueItem {
            name: format!("i{:02}", j + 1),
            model: "2pl".into(),
            categories: 2,
            a,
            d: vec![-a * b],
            b: vec![b],
        }
    };
    let items = (0..items).map(item).collect();
    let last = sizes.len().saturating_sub(1).max(1) as f64;
    let site = |(k, n): (usize, &usize)| TrueSite {
        name: format!("s{:02}", k + 1),
        n: *n,
        effect: if sizes.len() > 1 { 2.0 * k as f64 / last - 1.0 } else { 0.0 },
    };
    Truth { latent_sd: 1.0, items, sites: sizes.iter().enumerate().map(site).collect() }
}

/// The table with the first rows, a share of them all, answered 1 throughout. Rows are in no order, so which ones
/// makes no difference.
#[cfg(test)]
pub(crate) fn contaminate(table: &ResponseTable, share: f64) -> ResponseTable {
    let (n, items) = (table.students(), table.items());
    let bad = (share * n as f64).round() as usize;
    let mut cells: Vec<u8> = vec![1; bad.min(n) * items];
    table.rows().skip(bad).for_each(|row| cells.extend_from_slice(row));
    ResponseTable::new(n, items, cells).unwrap_or_else(|_| table.clone())
}

/// The items of a truth, with codes 0, 1, ….
pub(super) fn design(truth: &Truth) -> Result<Design, PrivateError> {
    let item = |(column, item): (usize, &TrueItem)| DesignItem {
        column,
        model: item.model.clone(),
        codes: (0..item.categories as u8).collect(),
    };
    let items: Vec<DesignItem> = truth.items.iter().enumerate().map(item).collect();
    Design::try_from(items).map_err(|e| PrivateError::Plan(e.to_string()))
}
