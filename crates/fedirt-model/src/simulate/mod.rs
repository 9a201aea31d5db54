//! Data with known parameters: what is drawn ([`Spec`]), the truth behind it ([`Truth`]), and the answers.
//!
//! Every kind of draw has a random stream of its own (`Stream`), and so has every site. So the same seed
//! gives the same answers whatever the number of threads; a further site or a share of missing answers leaves
//! all other draws as they were.

mod answers;
mod booklets;
mod sizes;
mod spec;
mod truth;

pub use answers::{NotDrawn, SiteRows};
pub use booklets::booklets;
pub use sizes::{ParseSizesError, SiteSizes};
pub use spec::{MIXED, Missing, SiteEffects, Spec, SpecError};
pub use truth::{TrueItem, TrueSite, Truth};

use crate::centre::ItemPlan;
use crate::responses::ResponseTable;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// What a random stream is for.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Items,
    Effects,
    Sizes,
    /// Abilities and answers of a site.
    Answers(usize),
    /// Which answers of a site are missing.
    Missing(usize),
}

impl Stream {
    /// The generator of this stream. The numbers are part of what a seed means: they never change.
    fn rng(self, seed: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(match self {
            Self::Items => 0,
            Self::Effects => 1,
            Self::Sizes => 2,
            Self::Answers(site) => 16 + 2 * site as u64,
            Self::Missing(site) => 17 + 2 * site as u64,
        });
        rng
    }
}

/// A simulated study: the truth, and what each site holds.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// Parameters behind the answers.
    pub truth: Truth,
    /// One table per site, in the order of the truth's sites.
    pub tables: Vec<ResponseTable>,
}

/// Draws parameters and answers. Sites are drawn in parallel.
pub fn simulate(spec: &Spec) -> Result<Simulated, SpecError> {
    let truth = Truth::draw(spec)?;
    let tables = (0..truth.sites.len())
        .into_par_iter()
        .map(|site| SiteRows::new(spec, &truth, site).into_table())
        .collect();
    Ok(Simulated { truth, tables })
}

impl Simulated {
    /// The tables with the names of their sites, as a calibration takes them.
    pub fn sites(&self) -> Vec<(String, ResponseTable)> {
        self.truth.sites.iter().map(|s| s.name.clone()).zip(self.tables.iter().cloned()).collect()
    }

    /// The codebook: each item with the model that its answers were drawn from.
    pub fn items(&self) -> Vec<ItemPlan> {
        let plan = |item: &TrueItem| ItemPlan {
            name: item.name.clone(),
            model: Some(item.model.clone()),
            codes: None,
            merged: Vec::new(),
            anchor: None,
        };
        self.truth.items.iter().map(plan).collect()
    }
}
