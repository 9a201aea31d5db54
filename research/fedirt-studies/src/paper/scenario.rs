//! The simulated scenarios: items, schools and abilities, which are drawn once, and answers, which are drawn in each
//! replication.

use super::estimate::ItemsAndSites;
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::{TrueItem, TrueSite, Truth};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// Constant rows, which carry no information about a student.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extreme {
    /// Every answer is wrong.
    Zeros,
    /// Every answer is right.
    Ones,
}

impl Extreme {
    /// The name in files and pictures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Ones => "ones",
        }
    }
}

/// How abilities are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Abilities {
    /// Drawn once for all replications, as the paper has it: the same students answer again and again.
    #[default]
    Fixed,
    /// Drawn anew in each replication.
    Drawn,
}

/// From where to where the parameters of an item are drawn, uniformly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ranges {
    /// Slopes.
    pub slopes: (f64, f64),
    /// Difficulties.
    pub difficulties: (f64, f64),
}

/// One condition of a study, with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// The factors with their levels, in the order of the columns of the files.
    pub factors: Vec<(&'static str, String)>,
    /// Parameters.
    pub truth: Truth,
    /// How abilities are drawn.
    pub abilities: Abilities,
    /// Extreme rows, and their share of each site's rows.
    pub extreme: Option<(Extreme, f64)>,
    /// Seed of the study.
    pub seed: u64,
    /// Number of this scenario within the study: its random streams follow from it.
    pub index: u64,
}

/// Streams of one scenario. The numbers are part of what a seed means: they never change.
const STREAMS: u64 = 1 << 32;

/// What a random stream is for.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Abilities,
    Answers(u64),
    /// Noise of one method.
    Noise(u64, u64),
}

/// The generator for items of a group of scenarios, which have them in common.
fn item_rng(seed: u64, group: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(group);
    rng
}

/// 2PL items of a group of scenarios.
pub(super) fn items(seed: u64, group: u64, number: usize, ranges: Ranges) -> Vec<TrueItem> {
    let mut rng = item_rng(seed, group);
    let mut between = |(from, to): (f64, f64)| from + (to - from) * rng.random::<f64>();
    let item = |j: usize| {
        let (a, b) = (between(ranges.slopes), between(ranges.difficulties));
        let name = format!("i{:02}", j + 1);
        TrueItem { name, model: "2pl".into(), categories: 2, a, d: vec![-a * b], b: vec![b] }
    };
    (0..number).map(item).collect()
}

/// Sites of the same size with these effects.
pub(super) fn sites(students: usize, effects: &[f64]) -> Vec<TrueSite> {
    let site = |(k, effect): (usize, &f64)| TrueSite {
        name: format!("s{:02}", k + 1),
        n: students,
        effect: *effect,
    };
    effects.iter().enumerate().map(site).collect()
}

impl Scenario {
    fn rng(&self, stream: Stream) -> ChaCha8Rng {
        let within = match stream {
            Stream::Abilities => 0,
            // Sixteen streams a replication: answers, and the noise of up to fifteen methods.
            Stream::Answers(replication) => 16 * (replication + 1),
            Stream::Noise(replication, method) => 16 * (replication + 1) + 1 + method % 15,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(STREAMS * (self.index + 1) + within);
        rng
    }

    /// Noise of a method in a replication.
    pub(super) fn noise(&self, replication: u64, method: usize) -> ChaCha8Rng {
        self.rng(Stream::Noise(replication, method as u64))
    }

    /// The items and sites.
    pub fn frame(&self) -> ItemsAndSites {
        ItemsAndSites {
            items: self.truth.items.iter().map(|i| (i.name.clone(), i.model.clone(), vec![0, 1])).collect(),
            sites: self.truth.sites.iter().map(|s| (s.name.clone(), s.n as u64)).collect(),
        }
    }

    /// Students of all sites.
    pub fn students(&self) -> usize {
        self.truth.sites.iter().map(|s| s.n).sum()
    }

    /// The answers of a replication, site by site.
    pub fn draw(&self, replication: u64) -> Vec<ResponseTable> {
        let mut answers = self.rng(Stream::Answers(replication));
        let mut fixed = self.rng(Stream::Abilities);
        let items = self.truth.items.len();
        let mut tables = Vec::with_capacity(self.truth.sites.len());
        for site in &self.truth.sites {
            let mut cells = Vec::with_capacity(site.n * items);
            // Rows are in no order, so which ones are extreme makes no difference.
            let extreme = self.extreme.map(|(kind, share)| (kind, (share * site.n as f64).round() as usize));
            for row in 0..site.n {
                let z: f64 = match self.abilities {
                    Abilities::Fixed => StandardNormal.sample(&mut fixed),
                    Abilities::Drawn => StandardNormal.sample(&mut answers),
                };
                for item in &self.truth.items {
                    // P(x = 1) = 1/(1 + exp(−a(θ + s − b))), the paper's equation of the 2PL.
                    let p = 1.0 / (1.0 + (-item.a * (z + site.effect - item.b[0])).exp());
                    let drawn = u8::from(answers.random::<f64>() < p);
                    cells.push(match extreme {
                        Some((Extreme::Zeros, rows)) if row < rows => 0,
                        Some((Extreme::Ones, rows)) if row < rows => 1,
                        _ => drawn,
                    });
                }
            }
            if let Ok(table) = ResponseTable::new(site.n, items, cells) {
                tables.push(table);
            }
        }
        tables
    }

    /// The value of a factor.
    pub fn factor(&self, name: &str) -> &str {
        self.factors.iter().find(|(n, _)| *n == name).map_or("", |(_, value)| value)
    }

    /// All values, for people and as a key.
    pub fn title(&self) -> String {
        let words: Vec<String> = self.factors.iter().map(|(name, value)| format!("{name} {value}")).collect();
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(abilities: Abilities, extreme: Option<(Extreme, f64)>) -> Scenario {
        let ranges = Ranges { slopes: (0.5, 2.0), difficulties: (-1.0, 1.0) };
        let truth = Truth { latent_sd: 1.0, items: items(3, 0, 5, ranges), sites: sites(400, &[-1.0, 1.0]) };
        Scenario { factors: Vec::new(), truth, abilities, extreme, seed: 3, index: 0 }
    }

    /// Right answers to the items, over all students of a site.
    fn rates(table: &ResponseTable) -> Vec<f64> {
        let n = table.students() as f64;
        (0..table.items()).map(|j| table.rows().map(|row| f64::from(row[j])).sum::<f64>() / n).collect()
    }

    #[test]
    fn answers_follow_the_model() {
        let scenario = scenario(Abilities::Drawn, None);
        let draws: Vec<_> = (0..20).map(|t| scenario.draw(t)).collect();
        for (k, site) in scenario.truth.sites.iter().enumerate() {
            for (j, item) in scenario.truth.items.iter().enumerate() {
                // The marginal probability, by a sum over a fine grid.
                let (mut p, mut total) = (0.0, 0.0);
                for step in -800..=800 {
                    let z = f64::from(step) / 100.0;
                    let w = (-0.5 * z * z).exp();
                    p += w / (1.0 + (-item.a * (z + site.effect - item.b[0])).exp());
                    total += w;
                }
                let p = p / total;
                let seen = draws.iter().map(|tables| rates(&tables[k])[j]).sum::<f64>() / 20.0;
                let se = (p * (1.0 - p) / 8000.0).sqrt();
                assert!((seen - p).abs() < 4.5 * se, "site {k}, item {j}: {seen} for {p}");
            }
        }
    }

    #[test]
    fn students_stay_the_same_where_they_should() {
        // The raw scores of the same students agree between replications far more than those of others.
        let agreement = |abilities| {
            let scenario = scenario(abilities, None);
            let raw = |t| -> Vec<f64> {
                scenario.draw(t)[0].rows().map(|row| row.iter().map(|x| f64::from(*x)).sum()).collect()
            };
            let (x, y): (Vec<f64>, Vec<f64>) = (raw(0), raw(1));
            let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
            let (mx, my) = (mean(&x), mean(&y));
            let products = |u: &[f64], v: &[f64], mu: f64, mv: f64| {
                u.iter().zip(v).map(|(u, v)| (u - mu) * (v - mv)).sum::<f64>()
            };
            products(&x, &y, mx, my) / (products(&x, &x, mx, mx) * products(&y, &y, my, my)).sqrt()
        };
        assert!(agreement(Abilities::Fixed) > 0.35);
        assert!(agreement(Abilities::Drawn).abs() < 0.2);
    }

    #[test]
    fn extreme_rows_are_a_share_of_each_site() {
        let clean = scenario(Abilities::Fixed, None).draw(0);
        for (kind, value) in [(Extreme::Zeros, 0), (Extreme::Ones, 1)] {
            let tables = scenario(Abilities::Fixed, Some((kind, 0.3))).draw(0);
            for (table, clean) in tables.iter().zip(&clean) {
                let constant = |row: &&[u8]| row.iter().all(|x| *x == value);
                assert!(table.rows().take(120).filter(constant).count() == 120);
                assert!(table.rows().skip(120).eq(clean.rows().skip(120)));
            }
        }
    }
}
