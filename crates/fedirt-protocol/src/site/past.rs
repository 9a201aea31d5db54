//! What has left a site in a study, and what may therefore not be asked any more. It follows from the persisted events
//! alone.

use super::asked::Answered;
use super::open::design_hash;
use super::{Refusal, Release};
use crate::coverage;
use crate::declaration::Declarations;
use crate::message::Turn;
use crate::terms::{OnLoss, Terms};
use fedirt_model::exchange::Request;
use fedirt_model::site::EffectEstimate;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Chain, SiteId};
use std::collections::BTreeSet;

/// What has left.
pub(super) struct Past {
    /// The cohorts that have shared sums.
    chain: Chain,
    /// Points at which this site has answered, in the centre's coordinates.
    points: Vec<Vec<f64>>,
    /// Questions that were answered, of those that have a limit.
    answered: Answered,
    /// The turn in which the effect was given by name.
    published: Option<Turn>,
    /// The cohort and the items of its calibration.
    design: Option<(BTreeSet<SiteId>, [u8; 32])>,
    /// The attempts in which numbers have left, or may have. A record that is made anew after a crash, because the answer was
    /// not on disk yet, is of the same attempt, the same question and the same numbers: it counts once.
    released: BTreeSet<Turn>,
    /// μ² that this study has spent here: the price of every question that was accepted.
    spent: f64,
    own_effect: Option<EffectEstimate>,
}

impl Past {
    pub(super) fn new(terms: &Terms) -> Self {
        Self {
            chain: Chain::new(terms.thresholds),
            points: Vec::new(),
            answered: Answered::default(),
            published: None,
            design: None,
            released: BTreeSet::new(),
            spent: 0.0,
            own_effect: None,
        }
    }

    pub(super) fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// In how many attempts numbers have left.
    pub(super) fn releases(&self) -> u32 {
        u32::try_from(self.released.len()).unwrap_or(u32::MAX)
    }

    /// The same without this one.
    pub(super) fn releases_but(&self, turn: Turn) -> u32 {
        self.releases() - u32::from(self.released.contains(&turn))
    }

    pub(super) fn spent(&self) -> f64 {
        self.spent
    }

    /// The site's own effect, where a round has told it.
    pub(super) fn own_effect(&self) -> Option<EffectEstimate> {
        self.own_effect
    }

    /// A question was accepted: its price is spent, whether or not an answer comes of it.
    pub(super) fn spend(&mut self, mu_squared: f64) {
        self.spent += mu_squared;
    }

    /// Whether a question was asked as often as it may be.
    pub(super) fn check_times(
        &self,
        terms: &Terms,
        turn: Turn,
        request: &Request,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(), Refusal> {
        self.answered.check(terms, turn, request, cohort)
    }

    /// Whether a masked question goes with what has left: the chain of cohorts, and what may be told once only.
    pub(super) fn check(
        &self,
        terms: &Terms,
        declarations: &Declarations,
        turn: Turn,
        request: &Request,
        cohort: &BTreeSet<SiteId>,
    ) -> Result<(), Refusal> {
        if terms.on_loss == OnLoss::RevealLostSite {
            self.chain.clone().extend_revealing_lost_sites(cohort)?;
        } else {
            self.chain.check(cohort)?;
            if let Some(previous) = self.chain.current() {
                coverage::check_step(terms.thresholds, request, declarations, previous, cohort)?;
            }
        }
        let conditions = request.ask.conditions();
        if let Some(last) = self.published.filter(|last| conditions.publishes_effects && *last != turn) {
            return Err(Refusal::PublishedTwice(last));
        }
        if let (Some((sites, known)), Some(asked)) = (&self.design, design_hash(request))
            && sites == cohort
            && *known != asked
        {
            return Err(Refusal::AnotherDesign);
        }
        Ok(())
    }

    /// Numbers have left.
    pub(super) fn add(&mut self, terms: &Terms, release: &Release) -> Result<(), Refusal> {
        let cohort = (release.cohort.iter())
            .map(|name| SiteId::try_from(name.as_str()))
            .collect::<Result<BTreeSet<SiteId>, _>>()
            .map_err(|_| Refusal::Mismatch("a site has no proper name"))?;
        if terms.mode == Mode::Secure {
            if terms.on_loss == OnLoss::RevealLostSite {
                self.chain.extend_revealing_lost_sites(&cohort)?;
            } else {
                self.chain.extend(&cohort)?;
            }
        }
        if self.released.insert(release.turn) {
            self.points.extend(release.points.iter().cloned());
            self.answered.add(&cohort, release);
        }
        if release.by_name {
            self.published = Some(release.turn);
        }
        if let Some(design) = release.design {
            self.design = Some((cohort, design));
        }
        if let Some((effect, se)) = release.place {
            self.own_effect = Some(EffectEstimate { effect, se });
        }
        Ok(())
    }
}
