//! What is simulated.

use crate::StudyError;
use crate::private::uniform_truth;
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::{
    Missing, SiteEffects, SiteRows, SiteSizes, Spec, TrueItem, TrueSite, Truth, simulate,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Normal};

/// Which items are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Items {
    /// So many 2PL items: log a from N(0, 0.4²), b from N(0, 1).
    Ordinary(usize),
    /// Ten 2PL items: a = 0.5 or 1 with b = ±3, the others with |b| ≤ 2.
    Extreme,
    /// So many items of a model with four categories.
    Polytomous(&'static str, usize),
    /// Ten 2PL items and five sites as in the paper's Study 2, with FedIRT-DP beside the other methods.
    Published,
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Name.
    pub name: &'static str,
    /// Items.
    pub items: Items,
    /// Students of all sites.
    pub students: usize,
    /// Sites.
    pub sites: usize,
    /// ε, at δ = 1e-6.
    pub epsilon: f64,
}

const fn condition(
    name: &'static str,
    items: Items,
    students: usize,
    sites: usize,
    epsilon: f64,
) -> Condition {
    Condition { name, items, students, sites, epsilon }
}

/// The conditions: short and long tests, other models, items far from all students, and the sizes of the paper.
pub const CONDITIONS: [Condition; 14] = [
    condition("J10-N1000", Items::Ordinary(10), 1000, 5, 1.0),
    condition("J10-N3000", Items::Ordinary(10), 3000, 5, 1.0),
    condition("J8-K20", Items::Ordinary(8), 1000, 20, 1.0),
    condition("J10-N300", Items::Ordinary(10), 300, 3, 0.5),
    condition("J30-N1000", Items::Ordinary(30), 1000, 5, 1.0),
    condition("J30-N3000", Items::Ordinary(30), 3000, 5, 1.0),
    condition("J60-N3000", Items::Ordinary(60), 3000, 5, 1.0),
    condition("gpcm8-N1500", Items::Polytomous("gpcm", 8), 1500, 3, 1.0),
    condition("grm8-N1500", Items::Polytomous("grm", 8), 1500, 3, 1.0),
    condition("extreme-N1000", Items::Extreme, 1000, 5, 1.0),
    condition("paper-N500", Items::Published, 500, 5, 1.0),
    condition("paper-N1000", Items::Published, 1000, 5, 1.0),
    condition("paper-N3000", Items::Published, 3000, 5, 1.0),
    condition("paper-N10000", Items::Published, 10_000, 5, 1.0),
];

/// (a, b) of the items at the edge and of ordinary ones beside them.
const EXTREME: [(f64, f64); 10] = [
    (0.5, 3.0),
    (0.5, -3.0),
    (1.0, 3.0),
    (1.0, -3.0),
    (0.8, -2.0),
    (1.2, -1.0),
    (0.7, -0.3),
    (1.5, 0.3),
    (1.0, 1.0),
    (1.3, 2.0),
];

impl Condition {
    /// Parameters and rows of a seed.
    pub(super) fn draw(&self, seed: u64) -> Result<(Truth, Vec<ResponseTable>), StudyError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let sizes: Vec<usize> = (0..self.sites).map(|k| (self.students + k) / self.sites).collect();
        let mut spec = Spec {
            sites: self.sites,
            students: SiteSizes::List(sizes.clone()),
            items: 0,
            model: "2pl".into(),
            categories: 2,
            effects: SiteEffects::Drawn { sd: 0.5, centred: true },
            missing: Missing::Complete,
            latent_sd: 1.0,
            seed,
        };
        let mut normal = |sd: f64| Normal::new(0.0, sd).map_or(0.0, |normal| normal.sample(&mut rng));
        let pairs: Vec<(f64, f64)> = match self.items {
            Items::Polytomous(model, items) => {
                (spec.items, spec.model, spec.categories) = (items, model.into(), 4);
                let data = simulate(&spec)?;
                return Ok((data.truth, data.tables));
            }
            Items::Published => {
                let truth = uniform_truth(10, &sizes, &mut rng);
                return Ok(rows(spec, truth));
            }
            Items::Ordinary(items) => (0..items).map(|_| (normal(0.4).exp(), normal(1.0))).collect(),
            Items::Extreme => EXTREME.to_vec(),
        };
        let item = |(j, (a, b)): (usize, &(f64, f64))| TrueItem {
            name: format!("i{:02}", j + 1),
            model: "2pl".into(),
            categories: 2,
            a: *a,
            d: vec![-a * b],
            b: vec![*b],
        };
        let items = pairs.iter().enumerate().map(item).collect();
        let effects: Vec<f64> = sizes.iter().map(|_| normal(0.5)).collect();
        let mean = effects.iter().sum::<f64>() / effects.len() as f64;
        let site = |(k, (n, effect)): (usize, (&usize, &f64))| TrueSite {
            name: format!("s{:02}", k + 1),
            n: *n,
            effect: effect - mean,
        };
        let sites = sizes.iter().zip(&effects).enumerate().map(site).collect();
        Ok(rows(spec, Truth { latent_sd: 1.0, items, sites }))
    }
}

/// Rows of a truth.
fn rows(spec: Spec, truth: Truth) -> (Truth, Vec<ResponseTable>) {
    let effects = SiteEffects::Given(truth.sites.iter().map(|s| s.effect).collect());
    let spec = Spec { items: truth.items.len(), effects, ..spec };
    let tables = (0..truth.sites.len()).map(|k| SiteRows::new(&spec, &truth, k).into_table()).collect();
    (truth, tables)
}
