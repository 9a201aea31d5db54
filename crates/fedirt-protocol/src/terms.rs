//! The terms of a study as both machines know them: what the plan says, ready for use.

use crate::encoding::Precision;
use crate::message::Turn;
use crate::private::PrivateTerms;
use fedirt_model::centre::{FEWEST_ROUNDS, Plan, Secrecy, closing_exchanges};
use fedirt_model::private::ROUND_SHARES;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Protection, RoundId, SiteId, Sparse, StudyId, Thresholds};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happens when a site vanishes after sums have been released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLoss {
    /// Wait for it to come back.
    #[default]
    Wait,
    /// End the study.
    End,
    /// Go on without it, which lets the coordinator compute what it sent: the officers have consented.
    RevealLostSite,
}

/// With whom a site shares masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Masking {
    /// With all others: nothing but the sum is learnt by a coordinator that works with all but two.
    #[default]
    Full,
    /// From 100 sites on with a few others ([`Sparse`]): the same against a third of the plan's sites.
    Sparse,
}

impl Masking {
    /// Whether it is what plans have that say nothing.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// How long sites have, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// To join and to approve the roster; none: as long as it takes.
    pub join: Option<u64>,
    /// To say hello to a round.
    pub hello: u64,
    /// To answer it.
    pub upload: u64,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { join: None, hello: 3_600_000, upload: 3_600_000 }
    }
}

/// The terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Name of the study.
    pub study: StudyId,
    /// SHA-256 of the plan's text, which officers approve and every signature covers.
    pub plan_hash: [u8; 32],
    /// What is calibrated, and how. Its secrecy is set when the cohort is known.
    pub plan: Plan,
    /// Who learns what.
    pub mode: Mode,
    /// What `private` promises.
    pub private: Option<PrivateTerms>,
    /// How many sites a sum must have.
    pub thresholds: Thresholds,
    /// With whom a site shares masks.
    pub masking: Masking,
    /// What happens when a site vanishes.
    pub on_loss: OnLoss,
    /// Deadlines.
    pub deadlines: Deadlines,
    /// The sites that are invited, and what to call them in results.
    pub sites: BTreeMap<SiteId, String>,
}

/// How often a site answers at most under a plan with this limit of estimation rounds. Exact sums are closed by a few
/// exchanges that the limit does not count; a private study has no closing exchanges. Plans, policies and both machines
/// take their limit from here, so that a study that reaches `max_rounds` still ends with its results.
pub fn most_exchanges(mode: Mode, max_rounds: u32, plan: &Plan) -> u32 {
    match mode {
        Mode::Private => max_rounds,
        Mode::Plain | Mode::Secure => max_rounds.max(FEWEST_ROUNDS).saturating_add(closing_exchanges(plan)),
    }
}

impl Terms {
    /// Most rounds of estimation, the opening one included: the plan's `max_rounds`, or the two rounds of the private
    /// mechanism.
    pub fn estimation_rounds(&self) -> u32 {
        let rounds = match self.mode {
            Mode::Private => ROUND_SHARES.len(),
            Mode::Plain | Mode::Secure => self.plan.settings.max_rounds,
        };
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// How often a site answers at most, closing exchanges included.
    pub fn most_exchanges(&self) -> u32 {
        most_exchanges(self.mode, self.estimation_rounds(), &self.plan)
    }

    /// What hides a site's numbers.
    pub fn protection(&self) -> Option<Protection> {
        match self.mode {
            Mode::Plain => None,
            Mode::Secure => Some(Protection::Sums(self.thresholds)),
            Mode::Private => Some(Protection::Noise),
        }
    }

    /// With whom the sites of a cohort of this size share masks, where it is not with all others.
    pub fn sparse(&self, sites: usize) -> Option<Sparse> {
        let colluders = match self.mode {
            Mode::Plain => return None,
            Mode::Secure => self.thresholds.colluders(),
            Mode::Private => crate::private::colluders(self, sites),
        };
        match self.masking {
            Masking::Full => None,
            // A coordinator may leave out honest sites, and not those that work with it: the third is one of the plan's sites.
            Masking::Sparse => Sparse::of(sites, colluders.max(self.sites.len() / 3)),
        }
    }

    /// How many digits of a number leave a site.
    pub fn precision(&self) -> Precision {
        match self.mode {
            Mode::Secure => Precision::Needed { tolerance: self.plan.settings.tolerance },
            Mode::Plain | Mode::Private => Precision::Full,
        }
    }

    /// The calibration of so many sites: what may be asked depends on how many of them are honest.
    pub fn calibration_of(&self, sites: usize) -> Plan {
        let mut plan = self.plan.clone();
        if self.mode == Mode::Secure {
            let honest = sites.saturating_sub(self.thresholds.colluders());
            plan.secrecy = Secrecy::Sums { n_min: self.thresholds.n_min(), honest };
        }
        plan
    }

    /// How many of the other sites an officer must have verified, when so many are on the roster: those that are not may work
    /// with the coordinator, or be its inventions, and the plan reckons with so many and no more.
    pub fn calls(&self, sites: usize) -> usize {
        let colluders = match self.mode {
            Mode::Private => crate::private::colluders(self, sites),
            Mode::Plain | Mode::Secure => self.thresholds.colluders(),
        };
        sites.saturating_sub(1).saturating_sub(colluders)
    }

    /// Fewest sites that can go on.
    pub fn fewest_sites(&self) -> usize {
        if self.mode == Mode::Secure { self.thresholds.n_min() } else { 1 }
    }

    /// The name of an attempt, as it is signed.
    pub fn round(&self, turn: Turn) -> RoundId {
        RoundId {
            study: self.study.clone(),
            plan: self.plan_hash,
            round: u64::from(turn.round),
            attempt: u64::from(turn.attempt),
        }
    }

    /// What to call a site in results.
    pub fn label(&self, site: &SiteId) -> String {
        self.sites.get(site).cloned().unwrap_or_else(|| site.to_string())
    }
}
