//! Whether items differ between sites: Cochran's Q from the sites' χ² contributions, which name no site.

use super::score::ChiSquared;
use crate::diagnostics::score_fit::adjusted;
use crate::fit::SiteHeterogeneity;

/// What is known of an item's sites.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SitesOf {
    /// Sites that give the item.
    pub sites: usize,
    /// The item's own free parameters.
    pub parameters: usize,
}

/// Q, its p on (K − 1)·m degrees of freedom, and I² for each item that two sites or more give (Higgins & Thompson 2002).
pub(crate) fn heterogeneity(contrasts: &[f64], names: &[String], of: &[SitesOf]) -> Vec<SiteHeterogeneity> {
    let rows = contrasts.iter().zip(names).zip(of).filter_map(|((q, name), of)| {
        let df = (of.sites.saturating_sub(1) * of.parameters) as f64;
        let test = ChiSquared::new(*q, df)?;
        let i2 = if *q > df { (q - df) / q } else { 0.0 };
        Some(SiteHeterogeneity { item: name.clone(), q: *q, df, p: test.p, p_adjusted: None, i2 })
    });
    let mut rows: Vec<SiteHeterogeneity> = rows.collect();
    let p: Vec<Option<f64>> = rows.iter().map(|row| Some(row.p)).collect();
    rows.iter_mut().zip(adjusted(&p)).for_each(|(row, p)| row.p_adjusted = p);
    rows
}
