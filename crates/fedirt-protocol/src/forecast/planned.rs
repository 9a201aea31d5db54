//! A private study as the protocol knows it, before there are any sites or rows.

use crate::plan::{PlanItem, StudyPlan};
use crate::private::{Noise, PrivateRefusal, PrivateTerms, noise};
use crate::terms::{Deadlines, Masking, OnLoss, Terms};
use crate::{SiteId, StudyId};
use fedirt_model::centre::{ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::design::{Design, DesignItem, MAX_CATEGORIES};
use fedirt_model::exchange::Effects;
use fedirt_model::items::default_model;
use fedirt_model::private::{MissingAnswers, PrivateError, PrivateMethod, PrivatePlan};
use fedirt_model::quadrature::GridSpec;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::Thresholds;

/// What a private study is to calibrate, with whom, and whom it trusts.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedStudy {
    /// Model and number of categories of each item.
    pub items: Vec<(String, usize)>,
    /// Sites and their students.
    pub sites: Vec<(String, u64)>,
    /// Fixed site effects or none.
    pub effects: Effects,
    /// Without effects: SD between sites.
    pub site_sd: f64,
    /// Rows that lack answers.
    pub missing: MissingAnswers,
    /// Item sets that students are given, in equal parts at every site; none: all items to everybody.
    pub booklets: Vec<Vec<usize>>,
    /// Whether rows that are all lowest or all highest are modelled apart.
    pub mixture: bool,
    /// What is summed, and what is believed before any data.
    pub method: PrivateMethod,
    /// δ.
    pub delta: f64,
    /// Sites that may work with the coordinator.
    pub colluders: usize,
}

impl PlannedStudy {
    /// A plan as a forecast wants it: students spread evenly over its sites.
    pub fn of(plan: &StudyPlan) -> Self {
        let item = |item: &PlanItem| {
            let categories = item.categories.len();
            let model = item.model.clone().unwrap_or_else(|| default_model(categories).name().to_owned());
            (model, categories)
        };
        let sites = plan.cohort.sites.len().max(1) as u64;
        let students = plan.cohort.expected_students.max(sites);
        let privacy = plan.privacy.as_ref();
        let place = |name: &String| plan.items.iter().position(|item| item.name == *name);
        let alone = plan.model.effects == Effects::None || sites < 2;
        Self {
            items: plan.items.iter().map(item).collect(),
            sites: (0u64..)
                .zip(&plan.cohort.sites)
                .map(|(k, name)| (name.clone(), (students + k) / sites))
                .collect(),
            effects: if alone { Effects::None } else { Effects::Fixed },
            site_sd: privacy.map_or(0.0, |p| p.site_sd),
            missing: privacy.map_or(MissingAnswers::Counted, |p| p.missing_answers),
            booklets: plan.booklets.iter().map(|b| b.items.iter().filter_map(place).collect()).collect(),
            mixture: privacy.is_some_and(|p| p.mixture),
            method: privacy.map_or_else(PrivateMethod::default, |p| p.method()),
            delta: privacy.map_or(1e-6, |p| p.delta),
            colluders: plan.cohort.colluders(),
        }
    }

    /// Whether its forecast would take minutes.
    pub fn is_large(&self) -> bool {
        self.items.len() * self.sites.len() > LARGE
    }
}

/// Items times sites beyond which a forecast would take minutes.
const LARGE: usize = 20_000;

/// Terms and plan of a study at a given ε.
#[derive(Debug, Clone)]
pub struct StudyAtEpsilon {
    /// The terms, with nobody invited yet.
    pub terms: Terms,
    /// The calibration.
    pub plan: PrivatePlan,
}

impl StudyAtEpsilon {
    /// As the protocol would plan it, on the grid that a fit uses by default.
    pub fn new(planned: &PlannedStudy, epsilon: f64) -> Result<Self, PrivateRefusal> {
        let cannot = |what: String| PrivateRefusal::Model(PrivateError::Plan(what));
        let codes = |categories: usize| (0..categories.min(MAX_CATEGORIES) as u8).collect::<Vec<u8>>();
        let entry = |(column, (model, categories)): (usize, &(String, usize))| DesignItem {
            column,
            model: model.clone(),
            codes: codes(*categories),
        };
        let design = Design::try_from(planned.items.iter().enumerate().map(entry).collect::<Vec<_>>())
            .map_err(|e| cannot(e.to_string()))?;
        let private = PrivateTerms {
            epsilon,
            delta: planned.delta,
            mixture: planned.mixture,
            missing: planned.missing,
            site_sd: planned.site_sd,
            booklets: planned.booklets.clone(),
            method: planned.method,
            seed: 1,
        };
        // One site has no effect of its own.
        let effects = if planned.sites.len() < 2 { Effects::None } else { planned.effects };
        let mut plan = PrivatePlan::new(design, effects, planned.sites.clone(), private.mu()?)?;
        plan.grid = GridSpec::default();
        (plan.site_sd, plan.missing, plan.mixture) = (planned.site_sd, planned.missing, planned.mixture);
        (plan.mechanism, plan.prior.difficulty_sd) = (planned.method.mechanism, planned.method.difficulty_sd);
        if !planned.booklets.is_empty() {
            let parts = planned.booklets.len() as u64;
            plan.booklets.clone_from(&planned.booklets);
            for (site, (_, students)) in plan.sites.iter_mut().zip(&planned.sites) {
                site.rows = (0..parts).map(|part| (students + part) / parts).collect();
            }
        }
        plan.noise_sd = plan.central_noise()?;
        let items = planned.items.iter().enumerate().map(|(j, (model, categories))| ItemPlan {
            name: format!("i{}", j + 1),
            model: Some(model.clone()),
            codes: Some(codes(*categories)),
            merged: Vec::new(),
            anchor: None,
        });
        let site = |(k, (name, _)): (usize, &(String, u64))| {
            let id = SiteId::try_from(format!("{k:09}").as_str()).map_err(|e| cannot(e.to_string()))?;
            Ok::<_, PrivateRefusal>((id, name.clone()))
        };
        let terms = Terms {
            study: StudyId::try_from("a planned").map_err(|e| cannot(e.to_string()))?,
            plan_hash: [0; 32],
            plan: Plan {
                items: items.collect(),
                effects,
                population: plan.grid.into(),
                settings: Settings::default(),
                publish_effects: false,
                secrecy: Secrecy::BySite,
                diagnostics: Vec::new(),
                groups: Vec::new(),
                purify: true,
                compare_sites: false,
            },
            mode: Mode::Private,
            private: Some(private),
            thresholds: Thresholds::new(3 + planned.colluders, planned.colluders)
                .map_err(|e| cannot(e.to_string()))?,
            masking: Masking::Full,
            on_loss: OnLoss::End,
            deadlines: Deadlines::default(),
            sites: planned.sites.iter().enumerate().map(site).collect::<Result<_, _>>()?,
        };
        Ok(Self { terms, plan })
    }

    /// The noise of a round, from 0, as the sites would make it.
    pub fn noise(&self, stage: usize) -> Result<Noise, PrivateRefusal> {
        noise(&self.terms, &self.plan, stage)
    }

    /// SD of the noise in each coordinate of the sum, in both rounds.
    pub fn noise_sd(&self) -> Result<[f64; 2], PrivateRefusal> {
        Ok([self.noise(0)?.sum_sd(), self.noise(1)?.sum_sd()])
    }
}
