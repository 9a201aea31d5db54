//! A site's own rules, which win over any plan: what it will answer, and with which parameters.
//!
//! A coordinator that may choose the parameters can read rows out of sums: with all slopes near zero the gradient
//! is the item totals, with one steep item it is that item's answers. These limits stop such abuse, not
//! inference from honest sums.

mod points;
mod refusal;

pub(crate) use points::coordinates;
pub use refusal::{BeyondLimits, Differs, PolicyRefusal};

use crate::message::Turn;
use crate::plan::{FEW_ITEMS, FEW_STUDENTS};
use crate::terms::{Terms, most_exchanges};
use fedirt_model::exchange::{Effects, Request};
use fedirt_model::items::{MODELS, default_model, name_in_first_format};
use fedirt_model::questions::{NOISY_SCORES, SiteTerm};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use serde::{Deserialize, Serialize};

/// How a site's officer wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Joining is approval; the limits below guard every round.
    #[default]
    Once,
    /// Every round waits for the officer.
    EachRound,
}

/// A site's rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Modes in which the site takes part.
    pub modes: Vec<Mode>,
    /// Item models that it knows.
    pub models: Vec<String>,
    /// Statistics that it never sends, by their registered names.
    pub refused_statistics: Vec<String>,
    /// Fewest students with whom it takes part.
    pub minimum_students: u64,
    /// Fewest sites that must share a sum.
    pub n_min: usize,
    /// Sites that it believes may work with the coordinator. At least one: each other site knows its own part of the noise.
    pub colluders: usize,
    /// Most rounds of estimation of a study, as in a plan: a plan that allows more is refused before anything is sent. A
    /// study is closed by a few more exchanges; [`Policy::most_exchanges`] counts those too, and no more are answered.
    pub max_rounds: u32,
    /// Steepest slope.
    pub largest_slope: f64,
    /// A slope below this says next to nothing of ability.
    pub flat_slope: f64,
    /// Largest share of items with such slopes.
    pub flat_share: f64,
    /// Largest distance between an item's neighbouring intercepts.
    pub largest_step_intercept: f64,
    /// Largest step between rounds, in the centre's coordinates.
    pub largest_change: f64,
    /// Whether effects may be published by name.
    pub publish_effects: bool,
    /// Whether a plan may go on without a lost site, which reveals that site's sums.
    pub allow_reveal_lost_site: bool,
    /// Whether the pooled rows of all sites may be inferable from the sums (small tests and samples in `secure`).
    pub allow_pooled_rows_inferred: bool,
    /// Fewest rows of a booklet, where there are any: how many it has is told exactly.
    pub fewest_booklet_rows: u64,
    /// Fewest students of a group of which sums are told, where a study compares groups: students of rarer groups are left out
    /// of all sums. Tables by sum score of fewer complete rows, of a group or of the whole site, are zero.
    pub fewest_in_group: u64,
    /// Whether exact sums and private releases may be about the same students: an ε says nothing beside exact sums.
    pub allow_exact_and_private: bool,
    /// Smallest share of a private study's noise that this site makes itself, as a part of the variance that ε asks for:
    /// what is left to its students if all others work with the coordinator.
    pub least_own_noise: f64,
    /// Largest ε of a private study: beyond about 10 it promises a student next to nothing.
    pub largest_epsilon: f64,
    /// How the officer wants to be asked.
    pub approval: Approval,
    /// Whether the roster of sites and keys is taken on the coordinator's word: a coordinator could then play every
    /// other site, and read this one's sums.
    pub trust_roster_from_coordinator: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            modes: vec![Mode::Secure, Mode::Private],
            models: MODELS.iter().map(|model| model.name().to_owned()).collect(),
            refused_statistics: Vec::new(),
            minimum_students: 10,
            n_min: 3,
            colluders: 1,
            max_rounds: 60,
            largest_slope: 8.0,
            flat_slope: 0.05,
            flat_share: 0.25,
            largest_step_intercept: 12.0,
            largest_change: 1.5,
            publish_effects: false,
            allow_reveal_lost_site: false,
            allow_pooled_rows_inferred: false,
            fewest_booklet_rows: 10,
            fewest_in_group: 10,
            allow_exact_and_private: false,
            least_own_noise: 0.02,
            largest_epsilon: 10.0,
            approval: Approval::Once,
            trust_roster_from_coordinator: false,
        }
    }
}

impl Policy {
    /// A policy without limits of its own, for a site that is in the same hands as the coordinator.
    pub fn unlimited() -> Self {
        Self {
            modes: vec![Mode::Plain, Mode::Secure, Mode::Private],
            minimum_students: 0,
            n_min: 0,
            colluders: 0,
            max_rounds: u32::MAX,
            largest_slope: f64::INFINITY,
            flat_slope: 0.0,
            flat_share: 1.0,
            largest_step_intercept: f64::INFINITY,
            largest_change: f64::INFINITY,
            publish_effects: true,
            allow_reveal_lost_site: true,
            allow_pooled_rows_inferred: true,
            fewest_booklet_rows: 0,
            fewest_in_group: 0,
            allow_exact_and_private: true,
            least_own_noise: 0.0,
            largest_epsilon: f64::INFINITY,
            trust_roster_from_coordinator: true,
            ..Self::default()
        }
    }

    /// Whether a model is allowed. A policy that was written when `1pl` meant slopes of 1 with an SD of 1 still allows those.
    fn allows(&self, model: &str) -> bool {
        self.models.iter().any(|allowed| allowed == model || name_in_first_format(allowed) == model)
    }

    /// Everything about a plan that this policy refuses.
    pub fn check_plan(&self, terms: &Terms, students: u64, pooled_rows_inferred: bool) -> Vec<PolicyRefusal> {
        let mut refusals = Vec::new();
        if !self.modes.contains(&terms.mode) {
            let allowed: Vec<&str> = self.modes.iter().map(|m| m.name()).collect();
            refusals.push(PolicyRefusal::Mode(terms.mode.name(), allowed.join(", ")));
        }
        for item in &terms.plan.items {
            if let Some(model) = &item.model
                && !self.allows(model)
            {
                refusals.push(PolicyRefusal::Model { item: item.name.clone(), model: model.clone() });
            }
        }
        if students < self.minimum_students {
            refusals.push(PolicyRefusal::Students { students, minimum: self.minimum_students });
        }
        if terms.mode == Mode::Secure {
            let (plan, own) = (terms.thresholds.n_min(), self.n_min);
            if plan < own {
                refusals.push(PolicyRefusal::Sites { plan, own });
            }
            if terms.on_loss == crate::terms::OnLoss::RevealLostSite && !self.allow_reveal_lost_site {
                refusals.push(PolicyRefusal::Risk("reveal_lost_site"));
            }
            if pooled_rows_inferred && !self.allow_pooled_rows_inferred {
                refusals.push(PolicyRefusal::Risk("rows_and_sites_may_be_inferred"));
            }
        }
        let (plan, own) = (terms.estimation_rounds(), self.max_rounds);
        if plan > own {
            refusals.push(PolicyRefusal::PlanRounds { plan, own });
        }
        // With one or two sites each carries the whole noise, whatever the plan says.
        let own_noise = terms.mode == Mode::Private && terms.sites.len() <= 2;
        let plan = if own_noise { usize::MAX } else { terms.thresholds.colluders() };
        if terms.mode != Mode::Plain && plan < self.colluders {
            let own = self.colluders;
            refusals.push(PolicyRefusal::Colluders { plan, own });
        }
        if terms.plan.publish_effects && terms.mode != Mode::Plain && !self.publish_effects {
            refusals.push(PolicyRefusal::Risk("effects_by_name"));
        }
        refusals.extend(self.check_own_noise(terms, terms.sites.len()).err());
        if let Some(private) = &terms.private
            && (private.epsilon.is_nan() || private.epsilon > self.largest_epsilon)
        {
            refusals.push(PolicyRefusal::Epsilon { plan: private.epsilon, own: self.largest_epsilon });
        }
        refusals
    }

    /// Whether exact sums about so many students and items may be told, as declared and asked: what the plan expected is the
    /// coordinator's word.
    pub fn check_size(&self, students: u64, items: usize) -> Result<(), PolicyRefusal> {
        if !self.allow_pooled_rows_inferred && (students < FEW_STUDENTS || items <= FEW_ITEMS) {
            return Err(PolicyRefusal::SmallSums { students, items });
        }
        Ok(())
    }

    /// How often this site answers at most in a study: by the plan's limit or by its own, whichever is lower.
    pub fn most_exchanges(&self, terms: &Terms) -> u32 {
        let own = most_exchanges(terms.mode, self.max_rounds, &terms.plan);
        terms.most_exchanges().min(own)
    }

    /// Whether a round's question may be answered, after earlier points.
    pub fn check_request(
        &self,
        terms: &Terms,
        turn: Turn,
        request: &Request,
        cohort: usize,
        earlier: &[Vec<f64>],
    ) -> Result<(), PolicyRefusal> {
        let most = self.most_exchanges(terms);
        if turn.round > most {
            return Err(PolicyRefusal::Rounds { turn, most });
        }
        request.check(terms.plan.items.len())?;
        self.check_design(terms, request, cohort)?;
        // How often it was asked is for what has left the site to say.
        request.ask.planned(&terms.plan)?;
        for tensor in request.tensors() {
            let statistic = tensor.statistic;
            if !statistic.modes.contains(&terms.mode) {
                let reason = "the plan's mode does not let it leave";
                return Err(PolicyRefusal::NotInPlan { statistic: statistic.name, reason });
            }
            if self.refused_statistics.iter().any(|name| name == statistic.name) {
                return Err(PolicyRefusal::Statistic(statistic.name));
            }
            if terms.mode == Mode::Secure {
                check_site_term(terms, statistic.name, tensor.term, cohort)?;
            }
        }
        if request.ask.conditions().differs_by_site && terms.mode != Mode::Plain {
            // Each site would evaluate at its own: two such sums differ by one site's numbers.
            return Err(PolicyRefusal::EffectsBySite);
        }
        let points = request.points();
        let planned = terms.plan.most_points();
        if points.len() > planned {
            return Err(PolicyRefusal::Points { asked: points.len(), planned });
        }
        points.iter().try_for_each(|psi| self.check_point(request, psi, earlier))?;
        Ok(())
    }

    /// A table without the groups of students that are too rare for sums about them.
    pub fn with_open_groups(&self, table: ResponseTable) -> ResponseTable {
        table.without_rare_groups(usize::try_from(self.fewest_in_group).unwrap_or(usize::MAX))
    }

    /// What this policy refuses about the rows by booklet that would be declared.
    pub fn check_booklets(&self, rows: &[u64]) -> Option<PolicyRefusal> {
        let few = |(_, rows): &(usize, &u64)| (1..self.fewest_booklet_rows).contains(*rows);
        // A plan without booklets has all rows in one.
        let found = rows.iter().enumerate().filter(|_| rows.len() > 1).find(few);
        found.map(|(booklet, &rows)| PolicyRefusal::BookletRows {
            booklet,
            rows,
            least: self.fewest_booklet_rows,
        })
    }

    /// Each site's noise has the variance that ε asks for, divided by the sites that are not thought to collude.
    fn check_own_noise(&self, terms: &Terms, sites: usize) -> Result<(), PolicyRefusal> {
        let honest = sites.saturating_sub(crate::private::colluders(terms, sites)).max(1);
        let (share, least) = (1.0 / honest as f64, self.least_own_noise);
        if terms.mode == Mode::Private && share < least {
            return Err(PolicyRefusal::OwnNoise { sites, share, least });
        }
        Ok(())
    }

    /// Whether a private round may be answered by so many sites: every time it is asked, not at joining alone.
    pub fn check_scores(&self, terms: &Terms, turn: Turn, sites: usize) -> Result<(), PolicyRefusal> {
        self.check_own_noise(terms, sites)?;
        let most = self.most_exchanges(terms);
        if turn.round > most {
            return Err(PolicyRefusal::Rounds { turn, most });
        }
        let name = NOISY_SCORES.name;
        if self.refused_statistics.iter().any(|refused| refused == name) {
            return Err(PolicyRefusal::Statistic(name));
        }
        if terms.plan.publish_effects && !self.publish_effects {
            return Err(PolicyRefusal::Risk("effects_by_name"));
        }
        Ok(())
    }

    fn check_design(&self, terms: &Terms, request: &Request, cohort: usize) -> Result<(), PolicyRefusal> {
        let plan = &terms.plan;
        let other = |what| Err(PolicyRefusal::Differs(what));
        if request.population != plan.population {
            return other(Differs::Population);
        }
        // One site has no effect of its own.
        if request.effects != plan.effects && !(cohort < 2 && request.effects == Effects::None) {
            return other(Differs::Effects);
        }
        for item in request.design.items() {
            let Some(planned) = plan.items.get(item.column) else { return other(Differs::Items) };
            let model = planned.model.as_deref().unwrap_or_else(|| default_model(item.codes.len()).name());
            if item.model != model {
                return other(Differs::Model(planned.name.clone()));
            }
            if planned.codes.as_ref().is_some_and(|codes| item.codes.iter().any(|c| !codes.contains(c))) {
                return other(Differs::Categories(planned.name.clone()));
            }
            if !self.allows(&item.model) {
                return Err(PolicyRefusal::Model { item: planned.name.clone(), model: item.model.clone() });
            }
        }
        if request.ask.conditions().publishes_effects
            && !(plan.publish_effects && (self.publish_effects || terms.mode == Mode::Plain))
        {
            return Err(PolicyRefusal::Risk("effects_by_name"));
        }
        Ok(())
    }
}

/// Fewest sites that do not work with the coordinator among which products of a site's totals are hidden in a sum.
const FEWEST_FOR_PRODUCTS: usize = 6;

/// Sums of products of each site's totals over few sites determine the terms of each site.
fn check_site_term(
    terms: &Terms,
    statistic: &'static str,
    term: SiteTerm,
    cohort: usize,
) -> Result<(), PolicyRefusal> {
    let honest = cohort.saturating_sub(terms.thresholds.colluders());
    let refuse = |reason| Err(PolicyRefusal::NotInPlan { statistic, reason });
    match term {
        SiteTerm::Plain => Ok(()),
        SiteTerm::Product { rounded: false } => refuse("in secure each site's terms must be rounded"),
        SiteTerm::Product { rounded: true } if honest < FEWEST_FOR_PRODUCTS => {
            refuse("sums of squares over fewer than six sites name them")
        }
        SiteTerm::Product { rounded: true } => Ok(()),
    }
}
