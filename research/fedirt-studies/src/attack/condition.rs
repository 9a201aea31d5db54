//! The conditions of the study: what is run, on how much data, and what the attacker is given.

use crate::private::uniform_truth;
use fedirt_model::exchange::Effects;
use fedirt_model::simulate::{Missing, Simulated, SiteEffects, SiteRows, SiteSizes, Spec};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// What crosses between schools and coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// The published one: each school's log-likelihood and gradient in every BFGS evaluation.
    Published,
    /// The same, but only their sums over all schools.
    PublishedSums,
    /// `secure`: sums over all schools for Newton's method.
    Secure,
    /// `private`: two noisy sums of clipped scores.
    Private,
}

impl Protocol {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::PublishedSums => "published_sums",
            Self::Secure => "secure",
            Self::Private => "private",
        }
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// What is run.
    pub protocol: Protocol,
    /// Number of items.
    pub items: usize,
    /// Number of schools.
    pub sites: usize,
    /// Students of each.
    pub students: usize,
    /// Site effects, in the data and in the calibration.
    pub effects: Effects,
    /// How many rounds the attacker uses: so many, or with none all of them.
    pub rounds: Vec<Option<usize>>,
    /// Decimals of the numbers that are sent, or none as they are.
    pub decimals: Vec<Option<u32>>,
    /// ε of `private`; none is a control without noise.
    pub epsilons: Vec<Option<f64>>,
}

/// Data sets of `private` for each of the others: they are cheap, and what is claimed is an absence, which takes many.
const PRIVATE_SEEDS: u64 = 100;

impl Condition {
    fn new(protocol: Protocol, items: usize, sites: usize, students: usize) -> Self {
        let rounds = match (protocol, items) {
            (Protocol::Private, _) => vec![None],
            (Protocol::Secure, _) => vec![Some(1), Some(2), Some(3), None],
            // The columns of 32,768 patterns: few rounds are enough, and as much as memory should hold.
            (_, 13..) => vec![Some(1), Some(2), Some(5)],
            (_, 11..) => vec![Some(5), Some(10), Some(20)],
            _ => vec![Some(2), Some(5), Some(10), Some(20), None],
        };
        let exact = matches!(protocol, Protocol::Secure | Protocol::Private);
        Self {
            protocol,
            items,
            sites,
            students,
            effects: if protocol == Protocol::Published { Effects::Fixed } else { Effects::None },
            rounds,
            decimals: if exact { vec![None] } else { vec![None, Some(7), Some(4)] },
            epsilons: if protocol == Protocol::Private {
                vec![None, Some(8.0), Some(1.0)]
            } else {
                Vec::new()
            },
        }
    }

    /// Those of the study.
    pub fn all() -> Vec<Self> {
        use Protocol::{Private, Published, PublishedSums, Secure};
        let pooled = |items, sites, students| Self {
            rounds: vec![None],
            ..Self::new(PublishedSums, items, sites, students)
        };
        vec![
            Self::new(Published, 10, 10, 50),
            Self::new(Published, 10, 10, 100),
            Self::new(Published, 10, 10, 300),
            Self::new(Published, 12, 10, 50),
            Self::new(Published, 15, 50, 7),
            Self { effects: Effects::None, rounds: vec![Some(10), None], ..Self::new(Published, 10, 10, 50) },
            Self::new(Secure, 5, 3, 20),
            Self::new(Secure, 6, 3, 20),
            Self::new(Secure, 8, 5, 100),
            Self::new(Secure, 10, 10, 50),
            Self::new(Secure, 10, 10, 100),
            pooled(10, 10, 50),
            pooled(10, 10, 100),
            Self::new(Private, 5, 10, 10),
            Self::new(Private, 10, 10, 10),
            Self::new(Private, 10, 10, 50),
        ]
    }

    /// Some that take seconds.
    pub fn quick() -> Vec<Self> {
        use Protocol::{Private, Published, Secure};
        vec![
            Self::new(Published, 5, 4, 30),
            Self { effects: Effects::None, ..Self::new(Published, 8, 4, 20) },
            Self::new(Secure, 5, 3, 20),
            Self::new(Private, 5, 5, 10),
        ]
    }

    /// Its name: what is run, items, schools × students, effects.
    pub fn name(&self) -> String {
        let (protocol, effects) = (self.protocol.name(), self.effects.name());
        format!("{protocol} J{} {}x{} {effects}", self.items, self.sites, self.students)
    }

    /// How many seeds it takes for so many replications.
    pub(super) fn seeds(&self, replications: u64) -> u64 {
        if self.protocol == Protocol::Private { PRIVATE_SEEDS * replications } else { replications }
    }

    /// The data of a seed: a in [0.5, 2], b in [−1, 1]; effects, where there are any, at equal distances from −1 to 1.
    pub(super) fn data(&self, seed: u64) -> Simulated {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let sizes = vec![self.students; self.sites];
        let mut truth = uniform_truth(self.items, &sizes, &mut rng);
        if self.effects == Effects::None {
            truth.sites.iter_mut().for_each(|site| site.effect = 0.0);
        }
        let spec = Spec {
            sites: self.sites,
            students: SiteSizes::List(sizes),
            items: self.items,
            model: "2pl".into(),
            categories: 2,
            effects: SiteEffects::Given(truth.sites.iter().map(|s| s.effect).collect()),
            missing: Missing::Complete,
            latent_sd: 1.0,
            seed,
        };
        let tables = (0..self.sites).map(|site| SiteRows::new(&spec, &truth, site).into_table()).collect();
        Simulated { truth, tables }
    }
}
