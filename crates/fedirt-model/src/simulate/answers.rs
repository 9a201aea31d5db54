//! The answers of one site, row by row.

use super::booklets::booklets;
use super::{Missing, Spec, Stream, Truth};
use crate::exchange::Effects;
use crate::fit::{Fit, FitItem};
use crate::items::{self, ItemModel, Node, Order};
use crate::responses::{MISSING, ResponseTable};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use thiserror::Error;

struct Item {
    model: &'static dyn ItemModel,
    psi: Vec<f64>,
    node: Node,
}

/// Draws the students of one site, one after the other, and keeps none of them.
pub struct SiteRows {
    items: Vec<Item>,
    effect: f64,
    latent_sd: f64,
    site: usize,
    students: usize,
    drawn: usize,
    booklets: Vec<Vec<bool>>,
    missing_rate: f64,
    answers: ChaCha8Rng,
    missing: ChaCha8Rng,
}

/// Why answers cannot be drawn from a fit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotDrawn {
    /// Ability is not normal with one mean and SD.
    #[error("answers are drawn from fits with one normal distribution of ability, without groups")]
    Population,
    /// An item has no estimates.
    #[error("item {0} has no estimates to draw answers from")]
    Item(String),
    /// The effect of a site is not published.
    #[error("the effect of site {0} is not in this fit, as its mode does not release it")]
    Effect(String),
    /// There is no such site.
    #[error("this fit has no such site")]
    Site,
}

impl std::fmt::Debug for SiteRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SiteRows({} of {} students)", self.drawn, self.students)
    }
}

impl SiteRows {
    /// The students of a site of the truth that was drawn from `spec`.
    pub fn new(spec: &Spec, truth: &Truth, site: usize) -> Self {
        let items = truth
            .items
            .iter()
            .map(|item| Item {
                model: items::model(&item.model).expect("the truth names models that exist"),
                psi: std::iter::once(item.a).chain(item.d.iter().copied()).collect(),
                node: Node::new(item.categories, item.categories, 1, Order::Probability),
            })
            .collect();
        let (booklets, missing_rate) = match spec.missing {
            Missing::Complete => (Vec::new(), 0.0),
            Missing::Booklets(number) => (booklets(number, truth.items.len()), 0.0),
            Missing::AtRandom(rate) => (Vec::new(), rate),
        };
        Self {
            items,
            effect: truth.sites[site].effect,
            latent_sd: truth.latent_sd,
            site,
            students: truth.sites[site].n,
            drawn: 0,
            booklets,
            missing_rate,
            answers: Stream::Answers(site).rng(spec.seed),
            missing: Stream::Missing(site).rng(spec.seed),
        }
    }

    /// The students of a site of a fit, drawn anew from its estimates.
    pub fn of_fit(fit: &Fit, site: usize, seed: u64) -> Result<Self, NotDrawn> {
        if fit.latent.shape.is_some() || !fit.latent.groups.is_empty() {
            return Err(NotDrawn::Population);
        }
        let item = |item: &FitItem| {
            let (model, psi) = item.estimates().ok_or_else(|| NotDrawn::Item(item.name.clone()))?;
            let node = Node::new(item.categories, psi.len(), 1, Order::Probability);
            Ok(Item { model, psi, node })
        };
        let place = fit.sites.get(site).ok_or(NotDrawn::Site)?;
        let effect = if fit.effects == Effects::None.name() { Some(0.0) } else { place.effect };
        Ok(Self {
            items: fit.items.iter().map(item).collect::<Result<_, _>>()?,
            effect: fit.latent.mean + effect.ok_or_else(|| NotDrawn::Effect(place.name.clone()))?,
            latent_sd: fit.latent.sd,
            site,
            students: usize::try_from(place.n).map_err(|_| NotDrawn::Site)?,
            drawn: 0,
            booklets: Vec::new(),
            missing_rate: 0.0,
            answers: Stream::Answers(site).rng(seed),
            missing: Stream::Missing(site).rng(seed),
        })
    }

    /// Draws the next student's answers into `row`, one cell per item; `false` when all have been drawn.
    ///
    /// Answers that will be missing are drawn too: the complete data of a seed are then the same whatever
    /// is missing.
    pub fn next_into(&mut self, row: &mut [u8]) -> bool {
        if self.drawn == self.students {
            return false;
        }
        let z: f64 = StandardNormal.sample(&mut self.answers);
        let t = self.effect + self.latent_sd * z;
        for (cell, item) in row.iter_mut().zip(&mut self.items) {
            item.model.node(&item.psi, &[t], Order::Probability, &mut item.node);
            *cell = draw(&item.node.log_p, self.answers.random());
        }
        if !self.booklets.is_empty() {
            // Booklets rotate, beginning with another one at each site: small sites then cover all of them.
            let booklet = &self.booklets[(self.site + self.drawn) % self.booklets.len()];
            for (cell, held) in row.iter_mut().zip(booklet) {
                if !held {
                    *cell = MISSING;
                }
            }
        }
        if self.missing_rate > 0.0 {
            for cell in row.iter_mut() {
                if self.missing.random::<f64>() < self.missing_rate {
                    *cell = MISSING;
                }
            }
        }
        self.drawn += 1;
        true
    }

    /// All remaining students as a table.
    pub fn into_table(mut self) -> ResponseTable {
        let (students, items) = (self.students - self.drawn, self.items.len());
        let mut cells = vec![MISSING; students * items];
        for row in cells.chunks_exact_mut(items) {
            self.next_into(row);
        }
        ResponseTable::new(students, items, cells).expect("cells were made for students × items")
    }
}

/// The category that a uniform number in [0, 1) draws.
fn draw(log_p: &[f64], uniform: f64) -> u8 {
    let mut below = 0.0;
    let last = log_p.len() - 1;
    for (c, log_p) in log_p[..last].iter().enumerate() {
        below += log_p.exp();
        if uniform < below {
            return c as u8;
        }
    }
    last as u8
}
