//! The problems that are simulated: data, what is true of the items, and the remedy.

use fedirt_model::centre::ItemPlan;
use fedirt_model::comparison::{Freed, table_with};
use fedirt_model::population::Family;
use fedirt_model::responses::{ResponseTable, TableError};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// Number of items.
pub(super) const ITEMS: usize = 20;

/// Items that the problem is about, where it is about items.
pub(super) const AFFECTED: usize = 3;

/// Number of sites.
pub(super) const SITES: usize = 10;

/// SD of what the items of a bundle share beside ability.
const BUNDLE_SD: f64 = 1.0;

/// By how much the affected items are harder at the large site, and in the focal group.
const HARDER: f64 = 0.6;

/// The groups that are compared, the reference group first, and the mean ability of the other.
pub(super) const GROUPS: [&str; 2] = ["reference", "focal"];
const IMPACT: f64 = -0.5;

/// The codebook, and the sites' tables by name.
type Prepared = (Vec<ItemPlan>, Vec<(String, ResponseTable)>);

/// What is wrong with the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// Nothing: the model is right.
    Nothing,
    /// Three items share a text.
    Dependence,
    /// Ability has a long tail on the right.
    Skew,
    /// Ability has two humps.
    TwoHumps,
    /// Three items are harder for a group of students, which is less able besides.
    Dif,
    /// Half of the students are at one of ten sites, where three items are harder.
    LargeSite,
}

impl Problem {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Nothing, Self::Dependence, Self::Skew, Self::TwoHumps, Self::Dif, Self::LargeSite];

    /// Name in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Dependence => "dependence",
            Self::Skew => "skew",
            Self::TwoHumps => "two-humps",
            Self::Dif => "dif",
            Self::LargeSite => "large-site",
        }
    }

    /// What is wrong, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nothing => "Nothing is wrong",
            Self::Dependence => "Three items share a text",
            Self::Skew => "Ability is skewed",
            Self::TwoHumps => "Ability has two humps",
            Self::Dif => "Three items are harder for one group",
            Self::LargeSite => "One site has half of the students",
        }
    }

    /// What is done about it; none where nothing is wrong.
    pub fn remedy(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Dependence => Some("the three items merged into one"),
            Self::Skew | Self::TwoHumps => Some("a mixture of two normals"),
            Self::Dif => Some("the three items free in that group"),
            Self::LargeSite => Some("sites weighted equally"),
        }
    }

    /// The population that the remedy estimates.
    pub(super) fn population(self, remedied: bool) -> Family {
        match self {
            Self::Skew | Self::TwoHumps if remedied => Family::Mixture { components: 2 },
            Self::Dif => Family::Groups { groups: GROUPS.len() as u8 },
            Self::Nothing | Self::Dependence | Self::Skew | Self::TwoHumps | Self::LargeSite => {
                Family::Normal
            }
        }
    }

    /// Whether the problem is about the first items.
    pub(super) fn about_items(self) -> bool {
        match self {
            Self::Dependence | Self::Dif | Self::LargeSite => true,
            Self::Nothing | Self::Skew | Self::TwoHumps => false,
        }
    }

    /// Slope and difficulty of an item, as a fit should find them: with a bundle, the slope once what its items share has been
    /// averaged out (Chen & Thissen 1997, appendix); with groups, those of the reference group; with unequal sites, the mean
    /// difficulty over sites.
    pub(super) fn truth(self, item: usize) -> (f64, f64) {
        let (a, b) = drawn(item);
        match self {
            Self::Dependence if item < AFFECTED => (a / (1.0 + (a * BUNDLE_SD / 1.702).powi(2)).sqrt(), b),
            Self::LargeSite if item < AFFECTED => (a, b + HARDER / SITES as f64),
            Self::Nothing | Self::Dependence | Self::Skew | Self::TwoHumps | Self::Dif | Self::LargeSite => {
                (a, b)
            }
        }
    }

    /// The groups that are compared.
    pub(super) fn groups(self) -> Vec<String> {
        let compared: &[&str] = if self == Self::Dif { &GROUPS } else { &[] };
        compared.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The items that the remedy frees in the focal group.
    pub(super) fn freed(self, remedied: bool) -> Vec<Freed> {
        let items = if remedied && self == Self::Dif { AFFECTED } else { 0 };
        (0..items).map(|item| Freed { item, group: 1 }).collect()
    }

    /// Students of each site.
    fn sites(self, students: usize) -> Vec<usize> {
        let mut sizes = vec![students / SITES; SITES];
        if self == Self::LargeSite {
            sizes = vec![students / 2 / (SITES - 1); SITES];
        }
        sizes[0] += students - sizes.iter().sum::<usize>();
        sizes
    }

    /// Standardised ability.
    fn ability(self, random: &mut ChaCha8Rng) -> f64 {
        let normal: f64 = StandardNormal.sample(random);
        match self {
            Self::Nothing | Self::Dependence | Self::Dif | Self::LargeSite => normal,
            // χ² with 4 degrees of freedom: skewness √2.
            Self::Skew => {
                let (x, y): (f64, f64) = (Exp1.sample(random), Exp1.sample(random));
                (x + y - 2.0) / 2f64.sqrt()
            }
            // Halves at ±0.9, so that the variance is 0.81 + 0.19.
            Self::TwoHumps => {
                let side = if random.random::<bool>() { 0.9 } else { -0.9 };
                side + 0.19f64.sqrt() * normal
            }
        }
    }

    /// Answers of all sites.
    pub(super) fn draw(self, students: usize, seed: u64) -> Vec<Vec<Vec<u8>>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let row = |site: usize, student: usize, random: &mut ChaCha8Rng| -> Vec<u8> {
            let focal = self == Self::Dif && group(student) == 1;
            let ability = self.ability(random) + if focal { IMPACT } else { 0.0 };
            let disadvantaged = focal || self == Self::LargeSite && site == 0;
            let shared: f64 = StandardNormal.sample(random);
            let answer = |item: usize| {
                let (a, b) = drawn(item);
                let affected = item < AFFECTED;
                let extra = if affected && self == Self::Dependence { BUNDLE_SD * shared } else { 0.0 };
                let harder = if affected && disadvantaged { HARDER } else { 0.0 };
                let p = 1.0 / (1.0 + (-a * (ability + extra - b - harder)).exp());
                u8::from(random.random::<f64>() < p)
            };
            (0..ITEMS).map(answer).collect()
        };
        let sizes = self.sites(students).into_iter().enumerate();
        sizes.map(|(site, n)| (0..n).map(|student| row(site, student, &mut random)).collect()).collect()
    }

    /// The codebook and the sites' tables, with the remedy or without.
    pub(super) fn prepared(self, rows: &[Vec<Vec<u8>>], remedied: bool) -> Result<Prepared, TableError> {
        let bundled = remedied && self == Self::Dependence;
        let item = |name: String, top: u8| ItemPlan {
            name,
            model: None,
            codes: Some((0..=top).collect()),
            merged: Vec::new(),
            anchor: None,
        };
        let mut items: Vec<ItemPlan> = (0..ITEMS).map(|j| item(name(j), 1)).collect();
        if bundled {
            items.drain(..AFFECTED);
            items.insert(0, item("bundle".into(), AFFECTED as u8));
        }
        let largest = rows.iter().map(Vec::len).sum::<usize>() as f64 / rows.len() as f64;
        let site = |(k, rows): (usize, &Vec<Vec<u8>>)| {
            let cells: Vec<u8> = (rows.iter())
                .flat_map(|row| {
                    let merged = bundled.then(|| row[..AFFECTED].iter().sum::<u8>());
                    merged.into_iter().chain(row[if bundled { AFFECTED } else { 0 }..].iter().copied())
                })
                .collect();
            let mut table = ResponseTable::new(rows.len(), items.len(), cells)?;
            if remedied && self == Self::LargeSite {
                table = table.with_weights(vec![largest / rows.len() as f64; rows.len()])?;
            }
            if self == Self::Dif {
                table = table.with_groups((0..rows.len()).map(group).collect())?;
                table = table_with(&table, &self.freed(remedied))?;
            }
            Ok((format!("s{:02}", k + 1), table))
        };
        let tables: Result<Vec<_>, TableError> = rows.iter().enumerate().map(site).collect();
        Ok((items.clone(), tables?))
    }
}

/// What an item is called.
pub(super) fn name(item: usize) -> String {
    format!("i{:02}", item + 1)
}

/// The group of a site's student, where groups are compared: two of five belong to the focal one.
fn group(student: usize) -> u8 {
    u8::from(student % 5 > 2)
}

/// Slope and difficulty with which answers are drawn: the same in every data set.
fn drawn(item: usize) -> (f64, f64) {
    let slopes = [1.0, 1.4, 0.8, 1.6, 1.2];
    // Difficulties from −2 to 2, in an order that has nothing to do with that of the slopes.
    (slopes[item % slopes.len()], -2.0 + 4.0 * ((item * 7) % ITEMS) as f64 / (ITEMS - 1) as f64)
}
