//! From a request to a summary: a pure function of the request and the site's answers.

use super::evaluate::Depth;
use super::panel::SiteData;
use crate::design::Design;
use crate::exchange::{Effects, Point, Request, triangle};
use crate::population::Population;
use crate::questions::{ReplyError, Summary};
use crate::responses::ResponseTable;

/// A site's own effect on the reported scale, with its standard error, where there are such.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectEstimate {
    /// Effect.
    pub effect: Option<f64>,
    /// Standard error.
    pub se: Option<f64>,
}

impl EffectEstimate {
    /// From effect and standard error as they are sent: a negative error says that there is none; a zero effect then
    /// says that there is no effect either.
    pub(crate) fn read([effect, se]: [f64; 2]) -> Self {
        if se >= 0.0 {
            Self { effect: Some(effect), se: Some(se) }
        } else if effect != 0.0 {
            Self { effect: Some(effect), se: None }
        } else {
            Self { effect: None, se: None }
        }
    }
}

/// A site's table, and a cache of the layout of the last design it was asked about.
#[derive(Debug)]
pub struct Site {
    table: ResponseTable,
    index: usize,
    own_effect: Option<EffectEstimate>,
    prepared: Option<(Design, f64, SiteData)>,
}

impl Site {
    /// A site with its rows.
    pub fn new(table: ResponseTable) -> Self {
        Self { table, index: 0, own_effect: None, prepared: None }
    }

    /// The rows, for the site itself.
    pub fn into_table(self) -> ResponseTable {
        self.table
    }

    /// Gives the site its place in the cohort.
    pub fn set_index(&mut self, index: usize) {
        self.index = index;
    }

    /// The rows.
    pub fn table(&self) -> &ResponseTable {
        &self.table
    }

    /// The site's own effect, once the closing question has been answered. It stays here unless the plan publishes it.
    pub fn own_effect(&self) -> Option<EffectEstimate> {
        self.own_effect
    }

    /// The summary of a request. It fails only where a question's answer and its declaration disagree.
    pub fn answer(&mut self, request: &Request) -> Result<Summary, ReplyError> {
        let data = match self.prepared.take() {
            Some((design, scale, data)) if design == request.design && scale == request.weight_scale => data,
            _ => SiteData::new(&self.table, &request.design, request.weight_scale),
        };
        let population = &request.population;
        let view = SiteView { table: &self.table, data: &data, population, request, index: self.index };
        let answer = request.ask.answer(&view);
        self.prepared = Some((request.design.clone(), request.weight_scale, data));
        let (summary, own_effect) = answer?;
        self.own_effect = own_effect.or(self.own_effect);
        Ok(summary)
    }
}

/// Everything that a site's answer to a question can depend on.
pub(crate) struct SiteView<'a> {
    /// The rows, for questions that need another layout of them.
    pub table: &'a ResponseTable,
    /// The rows, laid out for the design of the request.
    pub data: &'a SiteData,
    /// Distribution of ability.
    pub population: &'a Population,
    /// The request that the question belongs to.
    pub request: &'a Request,
    /// The site's position in the cohort.
    pub index: usize,
}

impl SiteView<'_> {
    /// This site's entry in a list with one number per site.
    pub(crate) fn own(&self, effects: &[f64]) -> f64 {
        effects.get(self.index).copied().unwrap_or(0.0)
    }

    /// The site's effect at given parameters: none to estimate counts as 0; `None` where no finite one maximises the
    /// likelihood. A random effect stands at its posterior mean.
    pub(crate) fn effect_at(&self, point: &Point) -> Option<f64> {
        match self.request.effects {
            Effects::None => Some(0.0),
            Effects::Fixed if self.data.no_finite_effect(Some(&point.psi)) => None,
            Effects::Fixed => Some(self.data.profile(&point.psi, self.population, Depth::Gradient).s),
            Effects::Random => {
                Some(self.data.integrate(&point.psi, point.site_sd, self.population, Depth::Gradient).mean)
            }
        }
    }

    /// The linked part that this site's items belong to.
    pub(crate) fn part(&self) -> usize {
        let given = self.data.panels.iter().flat_map(|p| {
            p.items
                .iter()
                .enumerate()
                .filter(|(k, _)| p.column(*k).iter().any(|c| *c != crate::responses::MISSING))
        });
        given.map(|(_, &j)| self.request.parts[j]).next().unwrap_or(0)
    }
}

/// Lower triangle of a square matrix, row by row, times a factor.
pub(crate) fn lower(size: usize, factor: f64, at: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(triangle(size));
    for r in 0..size {
        for c in 0..=r {
            out.push(factor * at(r, c));
        }
    }
    out
}
