//! Which sites stand behind which number of an answer: those that give the items it is about.
//!
//! A sum that only one site fills is that site's number. So in `secure` every site counts, number by number, how
//! many sites of the cohort give it, from what all sites have declared.

use crate::exchange::{CURVE_POINTS, Effects, Request, Slot, triangle};
use crate::statistics::{Combination, Statistic};

/// What a site must give to stand behind a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// Nothing: every site does.
    Nothing,
    /// One item of the design.
    Item(usize),
    /// Two items, the smaller first.
    Pair(usize, usize),
    /// Any item of a linked part.
    Part(usize),
}

impl Need {
    fn pair(j: usize, l: usize) -> Self {
        if j == l { Self::Item(j) } else { Self::Pair(j.min(l), j.max(l)) }
    }
}

impl Request {
    /// The slots that are added up, with their places in the schema: what is masked in `secure`.
    pub fn summed(&self) -> Vec<(usize, Slot)> {
        let added = |slot: &Slot| slot.statistic.info().combination == Combination::Sum;
        self.schema().into_iter().enumerate().filter(|(_, slot)| added(slot)).collect()
    }

    /// The need of every number of the summed slots, in order.
    pub fn needs(&self) -> Vec<Need> {
        self.summed().into_iter().flat_map(|(_, slot)| self.needs_of(slot)).collect()
    }

    /// Whether a site that gives certain items (of the design) stands behind a number.
    pub fn meets(&self, need: Need, gives: impl Fn(usize) -> bool) -> bool {
        match need {
            Need::Nothing => true,
            Need::Item(j) => gives(j),
            Need::Pair(j, l) => gives(j) && gives(l),
            Need::Part(part) => (0..self.design.len()).any(|j| self.parts[j] == part && gives(j)),
        }
    }

    fn needs_of(&self, slot: Slot) -> Vec<Need> {
        use Statistic as S;
        let design = &self.design;
        let p = design.parameters();
        // Beyond the items stands the SD of random effects, or a linked part's effect.
        let item = |r: usize| if r < p { Need::Item(design.item_of(r)) } else { Need::Nothing };
        let both = |r: usize, c: usize| match (item(r), item(c)) {
            (Need::Item(j), Need::Item(l)) => Need::pair(j, l),
            (Need::Nothing, other) | (other, Need::Nothing) => other,
            (need, _) => need,
        };
        let lower = |size: usize, need: &dyn Fn(usize, usize) -> Need| -> Vec<Need> {
            (0..size).flat_map(|r| (0..=r).map(move |c| (r, c))).map(|(r, c)| need(r, c)).collect()
        };
        let size = |entries: usize| (0..).find(|&n| triangle(n) >= entries).unwrap_or(0);
        match slot.statistic {
            S::Gradient | S::TrainedParameters => (0..slot.len).map(item).collect(),
            S::CategoryCounts => (0..slot.len).map(|cell| Need::Item(design.item_of_cell(cell))).collect(),
            S::LocalEstimates | S::LocalWeights | S::LocalVariances => (0..slot.len).map(item).collect(),
            S::Information => lower(size(slot.len), &both),
            S::PairTable => {
                lower(design.cells(), &|c, h| Need::pair(design.item_of_cell(c), design.item_of_cell(h)))
            }
            S::ScoreProducts => {
                let fixed = self.effects == Effects::Fixed;
                lower(size(slot.len), &|r, c| match both(r, c) {
                    Need::Nothing if fixed && r >= p => Need::Part(r - p),
                    need => need,
                })
            }
            S::SchoolProducts | S::SchoolPairs => lower(design.len(), &Need::pair),
            S::CompleteInformation => {
                (0..design.len()).flat_map(|j| vec![Need::Item(j); triangle(design.span(j).len())]).collect()
            }
            S::Answers => (0..slot.len).map(Need::Item).collect(),
            S::Curves => (0..slot.len).map(|at| Need::Item(design.item_of_cell(at / CURVE_POINTS))).collect(),
            S::EffectSites | S::EffectSum | S::EffectVariances => (0..slot.len).map(Need::Part).collect(),
            S::EffectLoadings => (0..slot.len).map(|at| item(at % p)).collect(),
            S::Students | S::Weight | S::Loglik | S::AbilityHistogram | S::NoisyScores => {
                vec![Need::Nothing; slot.len]
            }
            S::EffectGradient | S::OwnEffect | S::TrainedEffect => vec![Need::Nothing; slot.len],
        }
    }
}
