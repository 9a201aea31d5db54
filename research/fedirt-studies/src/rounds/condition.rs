//! The conditions of the study: sizes, models, site effects, missing answers.

use fedirt_model::exchange::Effects;
use fedirt_model::items;
use fedirt_model::simulate::{MIXED, Missing, SiteEffects, SiteSizes, Spec};

/// Models of the second table.
pub const MODELS: [&str; 7] = ["2pl", "gpcm", "grm", "pcm", "1pl", "rasch", MIXED];

/// Categories of polytomous items.
pub(super) const CATEGORIES: usize = 4;

/// Booklets: each student then answers half of the items.
pub(super) const BOOKLETS: usize = 4;

/// SD of site effects, where they are drawn.
pub(super) const SITE_SD: f64 = 0.5;

/// Sites, students and items.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    /// Name: sites × students.
    pub name: &'static str,
    /// Number of sites.
    pub sites: usize,
    /// Fewest and most students of a site.
    pub students: (usize, usize),
    /// Number of items.
    pub items: usize,
    /// Site effects, where they are given.
    pub effects: Option<&'static [f64]>,
}

const fn size(name: &'static str, sites: usize, students: (usize, usize), items: usize) -> Size {
    Size { name, sites, students, items, effects: None }
}

/// The sizes: those of the paper's Study 1 (10 × 50, 100, 300) and Study 2 (5 × 100, with its effects), many
/// small schools, and a large study.
pub const SIZES: [Size; 6] = [
    size("10x50", 10, (50, 50), 10),
    size("10x100", 10, (100, 100), 10),
    size("10x300", 10, (300, 300), 10),
    Size { effects: Some(&[-1.0, -0.5, 0.0, 0.5, 1.0]), ..size("5x100", 5, (100, 100), 10) },
    size("50x6-8", 50, (6, 8), 15),
    size("20x1000", 20, (1000, 1000), 50),
];

impl Size {
    /// For people: with the number of items.
    pub fn title(&self) -> String {
        format!("{} J{}", self.name.replace('x', "×").replace('-', "–"), self.items)
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Sites, students, items.
    pub size: Size,
    /// Model of the items, in the data and in the calibration.
    pub model: String,
    /// Assumption of the calibration about sites.
    pub effects: Effects,
    /// Whether students answer one of four booklets, half of the items, or all of them.
    pub booklets: bool,
}

impl Condition {
    /// The condition of the first table: 2PL, fixed effects, nothing missing.
    pub fn plain(size: &Size) -> Self {
        Self { size: size.clone(), model: "2pl".into(), effects: Effects::Fixed, booklets: false }
    }

    /// Name of what is missing.
    pub fn missing(&self) -> &'static str {
        if self.booklets { "booklets" } else { "complete" }
    }

    /// The data of a replication. They do not depend on the calibration's assumption about sites.
    pub fn spec(&self, seed: u64) -> Spec {
        let size = &self.size;
        let binary = items::model(&self.model).is_some_and(|model| !model.polytomous());
        Spec {
            sites: size.sites,
            students: SiteSizes::Between(size.students.0, size.students.1),
            items: size.items,
            model: self.model.clone(),
            categories: if binary { 2 } else { CATEGORIES },
            effects: match size.effects {
                Some(given) => SiteEffects::Given(given.to_vec()),
                None => SiteEffects::Drawn { sd: SITE_SD, centred: true },
            },
            missing: if self.booklets { Missing::Booklets(BOOKLETS) } else { Missing::Complete },
            latent_sd: 1.0,
            seed,
        }
    }
}
