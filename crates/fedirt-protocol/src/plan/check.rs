//! What a plan must fulfil, all complaints at once.

use super::{FORMAT, PlanField, PlanProblem, StudyPlan};
use crate::encoding::FINEST_TOLERANCE;
use crate::terms::{Masking, OnLoss};
use fedirt_model::centre::AlgorithmKind;
use fedirt_model::code_set::{HIGHEST_CODE, MergedCode};
use fedirt_model::design::MAX_CATEGORIES;
use fedirt_model::exchange::Effects;
use fedirt_model::items;
use fedirt_model::population::{Family, MAX_GROUPS};
use fedirt_model::quadrature::Weighting;
use fedirt_model::statistics::Mode;
use fedirt_privacy::accountant::{Delta, Epsilon};
use fedirt_privacy::secure::{Protection, SiteId, StudyId, Thresholds, has_unseen};
use std::collections::{BTreeMap, BTreeSet};

/// Most bytes of the name of an item, booklet or group, and of what is asked about groups.
const LONGEST_NAME: usize = 400;
/// Most booklets of a plan: every two of them are compared.
const MOST_BOOKLETS: usize = 500;

/// How many items of its own each of two booklets needs, by the size of the smaller one: a third of them, and at least two.
fn least_apart(size: usize) -> usize {
    size.div_ceil(3).max(2)
}

impl StudyPlan {
    /// Everything that is wrong with the plan.
    pub(super) fn problems(&self) -> Vec<PlanProblem> {
        let mut problems = Vec::new();
        if self.format != FORMAT {
            problems.push(
                PlanField::Format
                    .wrong(format!("format is {:?}, and this version reads {FORMAT:?}", self.format)),
            );
        }
        if let Err(error) = StudyId::try_from(self.study.as_str()) {
            problems.push(PlanField::Study.wrong(format!("study: {error}")));
        }
        if !self.study.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
            problems.push(
                PlanField::Study
                    .wrong("study: letters, digits, '-', '_' and '.' only, as it is part of web addresses"),
            );
        }
        let named = self.items.iter().map(|item| (PlanField::Items, "item", &item.name));
        let named = named.chain(self.booklets.iter().map(|b| (PlanField::Booklets, "booklet", &b.name)));
        let groups = self.groups.iter().flat_map(|groups| groups.names.iter().chain([&groups.question]));
        let named = named.chain(groups.map(|text| (PlanField::Groups, "groups", text)));
        let named: Vec<_> = named.collect();
        for (field, kind, name) in named.iter().filter(|(.., name)| name.len() > LONGEST_NAME) {
            let start: String = name.chars().take(40).collect();
            problems.push(field.wrong(format!(
                "{kind} {start:?}…: {} bytes are too long for a name; {LONGEST_NAME} are possible",
                name.len()
            )));
        }
        for (field, kind, name) in named.into_iter().filter(|(_, _, name)| has_unseen(name)) {
            problems.push(field.wrong(format!(
                "{kind} {name:?}: control characters, and those that turn the direction of a text, are not allowed in names"
            )));
        }
        let lines = self.purpose.lines().chain(self.cohort.sites.iter().map(String::as_str));
        if lines.into_iter().any(has_unseen) {
            problems.push(
                PlanField::Purpose
                    .wrong("purpose, cohort.sites: control characters, and those that turn the direction of a text, are not allowed"),
            );
        }
        if self.purpose.trim().is_empty() {
            problems.push(
                PlanField::Purpose
                    .wrong("purpose: say in plain words why the study is done; officers read it"),
            );
        }
        self.check_contact(&mut problems);
        self.check_sites(&mut problems);
        self.check_items(&mut problems);
        self.check_model(&mut problems);
        self.check_groups(&mut problems);
        self.check_privacy(&mut problems);
        self.check_precision(&mut problems);
        self.check_risks(&mut problems);
        problems
    }

    fn check_contact(&self, problems: &mut Vec<PlanProblem>) {
        let Some(contact) = &self.contact else { return };
        if contact.parts().iter().any(|(_, value)| has_unseen(value) || value.chars().count() > 500) {
            problems.push(PlanField::Contact.wrong(
                "contact: at most 500 characters each, on one line, without control characters or those that turn the direction \
                 of a text",
            ));
        }
        if !contact.can_be_reached() {
            problems.push(
                PlanField::Contact
                    .wrong("contact: a person and a telephone number or an e-mail address are needed"),
            );
        }
    }

    fn check_sites(&self, problems: &mut Vec<PlanProblem>) {
        let mut seen = BTreeSet::new();
        for name in &self.cohort.sites {
            if let Err(error) = SiteId::try_from(name.as_str()) {
                problems.push(PlanField::Sites.wrong(format!("cohort.sites: {error}")));
            }
            if !seen.insert(name) {
                problems.push(PlanField::Sites.wrong(format!("cohort.sites: {name:?} stands there twice")));
            }
        }
        let sites = self.cohort.sites.len();
        if sites == 0 {
            problems.push(PlanField::Sites.wrong("cohort.sites: at least one site is needed"));
        }
        if self.mode == Mode::Secure {
            match Thresholds::new(self.cohort.n_min, self.cohort.colluders()) {
                Err(error) => problems.push(PlanField::Cohort.wrong(format!("cohort: {error}"))),
                Ok(thresholds) => {
                    if let Err(error) = Protection::Sums(thresholds).check_size(sites) {
                        problems.push(PlanField::Cohort.wrong(format!("cohort: {error}")));
                    }
                }
            }
        }
        if self.cohort.colluders() >= sites.max(1) {
            problems.push(PlanField::Colluders.wrong(format!(
                "cohort.colluders is {} of {sites} sites: nobody would be left to protect",
                self.cohort.colluders()
            )));
        }
    }

    fn check_items(&self, problems: &mut Vec<PlanProblem>) {
        if self.items.len() < 2 {
            problems.push(PlanField::Items.wrong(format!(
                "at least two [[item]] entries are needed, and there are {}",
                self.items.len()
            )));
        }
        let mut seen = BTreeSet::new();
        for item in &self.items {
            let name = &item.name;
            if !seen.insert(name) {
                problems.push(PlanField::Items.wrong(format!("item {name:?} stands there twice")));
            }
            let ascending = item.categories.windows(2).all(|pair| pair[0] < pair[1]);
            let codes = item.categories.len();
            if !ascending
                || !(2..=MAX_CATEGORIES).contains(&codes)
                || item.categories.iter().any(|c| *c > HIGHEST_CODE)
            {
                problems.push(PlanField::Items.wrong(format!(
                    "item {name:?}: categories {:?} must be 2 to {MAX_CATEGORIES} ascending codes, of which {HIGHEST_CODE} is the highest",
                    item.categories
                )));
            }
            let wrong = |merged: &MergedCode| {
                merged.code > HIGHEST_CODE
                    || item.categories.contains(&merged.code)
                    || !item.categories.contains(&merged.into)
            };
            let sources: BTreeSet<u8> = item.merged.iter().map(|merged| merged.code).collect();
            if item.merged.iter().any(wrong) || sources.len() < item.merged.len() {
                problems.push(PlanField::Items.wrong(format!(
                    "item {name:?}: each merged code must be none of the categories, stand there once, and count as one of the categories"
                )));
            }
            if let Some(fixed) = &item.fixed
                && (fixed.d.len() + 1 != codes || !fixed.d.iter().chain([&fixed.a]).all(|x| x.is_finite()))
            {
                problems.push(PlanField::Items.wrong(format!(
                    "item {name:?}: fixed needs a slope a and {} intercepts d, all finite",
                    codes.saturating_sub(1)
                )));
            }
            match item.model.as_deref().map(|model| (model, items::model(model))) {
                Some((model, None)) => problems
                    .push(PlanField::Items.wrong(format!("item {name:?}: there is no model {model:?}"))),
                Some((model, Some(known))) if codes > 2 && !known.polytomous() => {
                    problems.push(
                        PlanField::Items
                            .wrong(format!("item {name:?} has {codes} categories, and {model} takes two")),
                    );
                }
                _ => {}
            }
        }
    }

    fn check_model(&self, problems: &mut Vec<PlanProblem>) {
        let model = &self.model;
        let mut need = |fine: bool, field: PlanField, text: &str| {
            if !fine {
                problems.push(field.wrong(text));
            }
        };
        need(
            model.tolerance > 0.0 && model.tolerance.is_finite(),
            PlanField::Tolerance,
            "model.tolerance: a number above 0 is needed",
        );
        need((5..=501).contains(&model.nodes), PlanField::Nodes, "model.nodes: 5 to 501 nodes are needed");
        need(
            model.range > 0.0 && model.range <= 20.0,
            PlanField::Range,
            "model.range: a number above 0 and at most 20 is needed",
        );
        let shaped = model.population != Family::Normal;
        need(
            !shaped || matches!(model.algorithm, AlgorithmKind::Newton | AlgorithmKind::Em),
            PlanField::Population,
            "model.population: other algorithms than newton and em know the normal population only",
        );
        need(
            !shaped || model.quadrature == Weighting::Density,
            PlanField::Population,
            "model.population: quadrature = \"paper\" knows the normal population only",
        );
        need(
            !shaped || self.mode != Mode::Private,
            PlanField::Population,
            "model.population: private knows the normal population only",
        );
        need(
            !model.compare_sites || self.mode != Mode::Private,
            PlanField::Groups,
            "model.compare_sites: private compares no sites; every further sum would cost more of the budget",
        );
        need(model.max_rounds >= 4, PlanField::MaxRounds, "model.max_rounds: at least 4 are needed");
        let sums_alone = matches!(model.algorithm, AlgorithmKind::Newton | AlgorithmKind::Em);
        if self.mode == Mode::Secure && !sums_alone {
            problems.push(PlanField::Algorithm.wrong(format!(
                "model.algorithm: {} needs each site's own numbers, so it runs in plain mode only; newton and em need sums alone",
                model.algorithm.name()
            )));
        }
    }

    fn check_groups(&self, problems: &mut Vec<PlanProblem>) {
        let Some(groups) = &self.groups else { return };
        let mut need = |fine: bool, text: &str| {
            if !fine {
                problems.push(PlanField::Groups.wrong(text));
            }
        };
        let model = &self.model;
        let different: BTreeSet<&String> = groups.names.iter().collect();
        need(
            (2..=usize::from(MAX_GROUPS)).contains(&groups.names.len())
                && different.len() == groups.names.len(),
            "groups.names: 2 to 20 different groups are needed, the reference group first",
        );
        need(groups.names.iter().all(|name| !name.trim().is_empty()), "groups.names: a group without a name");
        need(
            !groups.question.trim().is_empty(),
            "groups.question: say what is asked about each student, so that officers know which column is meant",
        );
        need(
            self.mode != Mode::Private,
            "groups: private compares no groups; every further sum would cost more of the budget",
        );
        need(
            matches!(model.algorithm, AlgorithmKind::Newton | AlgorithmKind::Em),
            "groups: other algorithms than newton and em know one population only",
        );
        need(
            model.population == Family::Normal && model.quadrature == Weighting::Density,
            "groups: each group has a normal distribution; another population or quadrature = \"paper\" cannot be combined with groups",
        );
    }

    fn check_privacy(&self, problems: &mut Vec<PlanProblem>) {
        if self.mode != Mode::Private {
            if self.privacy.is_some() || !self.booklets.is_empty() {
                problems.push(
                    PlanField::Privacy.wrong("[privacy] and [[booklet]] belong to mode = \"private\" only"),
                );
            }
            return;
        }
        let Some(privacy) = &self.privacy else {
            problems
                .push(PlanField::Privacy.wrong("mode = \"private\" needs a [privacy] section with epsilon"));
            return;
        };
        if let Err(error) = Epsilon::new(privacy.epsilon) {
            problems.push(PlanField::Epsilon.wrong(format!("privacy.epsilon: {error}")));
        }
        match Delta::new(privacy.delta) {
            Err(error) => problems.push(PlanField::Delta.wrong(format!("privacy.delta: {error}"))),
            Ok(delta) => {
                if let Err(error) = delta.is_large_for(self.cohort.expected_students) {
                    problems.push(PlanField::Delta.wrong(format!("privacy.delta: {error}")));
                }
            }
        }
        if !(privacy.site_sd.is_finite() && privacy.site_sd >= 0.0) {
            problems.push(PlanField::SiteSd.wrong("privacy.site_sd: a number of 0 or more is needed"));
        }
        if !(privacy.difficulty_sd.is_finite() && privacy.difficulty_sd > 0.0) {
            problems.push(PlanField::DifficultySd.wrong("privacy.difficulty_sd: a number above 0 is needed"));
        }
        if self.model.effects == Effects::Random {
            problems.push(PlanField::Effects.wrong("model.effects: private knows fixed and none"));
        }
        if self.items.iter().any(|item| item.fixed.is_some()) {
            problems.push(PlanField::Items.wrong("item: private knows no fixed items"));
        }
        self.check_booklets(problems);
    }

    fn check_booklets(&self, problems: &mut Vec<PlanProblem>) {
        if self.booklets.len() > MOST_BOOKLETS {
            problems.push(PlanField::Booklets.wrong(format!(
                "{} [[booklet]] entries: at most {MOST_BOOKLETS} are possible",
                self.booklets.len()
            )));
            return;
        }
        let places: BTreeMap<&str, usize> =
            (self.items.iter().map(|item| item.name.as_str())).zip(0..).collect();
        // A bit for each item, so that many booklets of many items are compared quickly.
        let mut given = vec![vec![0u64; self.items.len().div_ceil(64)]; self.booklets.len()];
        for (booklet, given) in self.booklets.iter().zip(&mut given) {
            for item in &booklet.items {
                match places.get(item.as_str()) {
                    Some(place) => given[place / 64] |= 1 << (place % 64),
                    None => problems.push(
                        PlanField::Booklets
                            .wrong(format!("booklet {:?}: there is no item {item:?}", booklet.name)),
                    ),
                }
            }
        }
        let size = |given: &[u64]| given.iter().map(|bits| bits.count_ones() as usize).sum::<usize>();
        for (at, (one, here)) in self.booklets.iter().zip(&given).enumerate() {
            if self.booklets[..at].iter().any(|other| other.name == one.name) {
                problems.push(
                    PlanField::Booklets.wrong(format!("booklet {:?}: there are two of this name", one.name)),
                );
            }
            let own = |there: &[u64]| -> usize {
                here.iter().zip(there).map(|(a, b)| (a & !b).count_ones() as usize).sum()
            };
            let least = |there: &[u64]| least_apart(size(here).min(size(there)));
            // Rows are counted by the booklet that holds most of their answers: skipped items must not move them. One complaint for
            // each booklet is enough.
            let mut others = self.booklets.iter().zip(&given).enumerate();
            let alike = others.find(|(other, (_, there))| *other != at && own(there) < least(there));
            if let Some((_, (other, there))) = alike {
                problems.push(PlanField::Booklets.wrong(format!(
                    "booklet {:?} has {} items that {:?} lacks, and {} are needed: how many rows each booklet has is told exactly, and with booklets so alike it would tell which items students skipped",
                    one.name,
                    own(there),
                    other.name,
                    least(there)
                )));
            }
        }
    }

    /// Digits beyond what estimates need would only tell more of the rows.
    fn check_precision(&self, problems: &mut Vec<PlanProblem>) {
        if self.mode == Mode::Secure && self.model.tolerance < FINEST_TOLERANCE {
            problems.push(PlanField::Tolerance.wrong(format!(
                "model: a tolerance of {:e} asks for more digits than estimates need; in mode secure {FINEST_TOLERANCE:e} is the finest",
                self.model.tolerance
            )));
        }
    }

    fn check_risks(&self, problems: &mut Vec<PlanProblem>) {
        let mut must = |brings: bool, named: bool, name: &str, why: &str| {
            if brings && !named {
                problems.push(
                    PlanField::Risks
                        .wrong(format!("risks: set {name} = true once everyone has understood it: {why}")),
                );
            }
        };
        must(
            self.mode == Mode::Plain,
            self.risks.coordinator_sees_each_sites_sums,
            "coordinator_sees_each_sites_sums",
            "in plain mode the coordinator can rebuild rows of a site from its sums",
        );
        must(
            self.mode == Mode::Secure && (self.pooled_rows_may_be_inferred() || self.sites_may_be_inferred()),
            self.risks.names_inference(self.pooled_rows_may_be_inferred()),
            "rows_and_sites_may_be_inferred",
            "exact sums can determine the table of all answers where items or students are few, and with site effects also which answers belong to the same site",
        );
        must(
            self.mode == Mode::Secure && self.cohort.sites.len() == 3,
            self.risks.each_site_sees_the_sum_of_the_other_two,
            "each_site_sees_the_sum_of_the_other_two",
            "with three sites, each can subtract its own numbers from the sum",
        );
        must(
            self.cohort.on_loss == OnLoss::RevealLostSite,
            self.risks.lost_site_is_revealed,
            "lost_site_is_revealed",
            "going on without a lost site lets the coordinator compute what that site sent",
        );
        must(
            self.mode != Mode::Plain && self.cohort.masking == Masking::Sparse,
            self.risks.masks_need_two_thirds_honest,
            "masks_need_two_thirds_honest",
            "with masking = \"sparse\" each of 100 and more sites shares masks with a few others; a coordinator that works with more than a third of all (or with more than colluders, if that is more) may find a site whose others are all its own",
        );
    }
}
