//! The answers of one site, row by row.

use super::booklets::booklets;
use super::{Missing, Spec, Stream, Truth};
use crate::items::{self, ItemModel, Node, Order};
use crate::responses::{MISSING, ResponseTable};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

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
