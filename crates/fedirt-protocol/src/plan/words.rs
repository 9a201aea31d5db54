//! A plan in plain words, for the officer who approves it.

use super::{PrivacyLevel, StudyPlan};
use crate::private::large_delta;
use crate::statement::against_a_site;
use crate::terms::{Masking, OnLoss};
use fedirt_model::exchange::Effects;
use fedirt_model::population::Family;
use fedirt_model::statistics::Mode;
use fedirt_privacy::accountant::Delta;

/// What `secure` keeps from whom: the one sentence that plan, preview and pages say about it.
pub const WHAT_SECURE_KEEPS: &str = "This keeps each site's numbers from people who read the sums, not from a coordinator that computes: exact sums may let it rebuild answers, and with site effects group them by site.";

impl StudyPlan {
    /// How many of the other sites each officer must have verified.
    fn calls(&self) -> usize {
        let others = self.cohort.sites.len().saturating_sub(1);
        match self.mode {
            Mode::Plain => 0,
            // Each of two sites carries the whole noise.
            Mode::Private if others <= 1 => 0,
            Mode::Private | Mode::Secure => others.saturating_sub(self.cohort.colluders()),
        }
    }

    /// What the plan means, sentence by sentence.
    pub fn in_words(&self) -> Vec<String> {
        let mut words = vec![format!("Study {}: {}", self.study, self.purpose.trim())];
        if let Some(contact) = &self.contact {
            words.push(format!("Who asks. {}.", contact.lines().join("; ")));
        }
        let sites = self.cohort.sites.len();
        words.push(format!(
            "{} items are calibrated by {sites} sites ({}), about {} students in all.",
            self.items.len(),
            self.cohort.sites.join(", "),
            self.cohort.expected_students
        ));
        words.push(match self.mode {
            Mode::Plain => "Mode plain: the coordinator sees the sums of each site by name. From such sums the answers of single students can be rebuilt; it must be trusted like a holder of the data.".into(),
            Mode::Secure => format!(
                "Mode secure: the coordinator is sent sums over all sites only, as long as it works with at most {} of them. {WHAT_SECURE_KEEPS}",
                self.cohort.colluders()
            ),
            Mode::Private => {
                let (epsilon, delta) = self.privacy.as_ref().map_or((f64::NAN, f64::NAN), |p| (p.epsilon, p.delta));
                let with = match (sites, self.cohort.colluders()) {
                    // Each of two sites carries the whole noise.
                    (2, _) => " together with the other site".into(),
                    (0 | 1, _) | (_, 0) => String::new(),
                    (_, 1) => " together with any one of the sites".into(),
                    (_, c) => format!(" together with any {c} of the sites"),
                };
                format!(
                    "Mode private: the coordinator sees sums with noise that the sites make. Whatever it does{with}, what it can learn about any one student is bounded by ε = {epsilon}, δ = {delta:e}{}.",
                    PrivacyLevel::of(epsilon).map_or(String::new(), |level| format!(" (the level {})", level.name()))
                )
            }
        });
        if let (Mode::Private, 0, 3.., Some(private)) =
            (self.mode, self.cohort.colluders(), sites, self.private_terms())
        {
            // A plan whose ε or δ cannot be is refused before anyone reads it.
            let bound = against_a_site(&private, sites)
                .map_or(String::new(), |e| format!(": against it the bound is ε = {e:.3}"));
            words.push(format!(
                "Risk: each other site could remove its own part of the noise{bound} (colluders = 1 would make up for that)."
            ));
        }
        if self.mode == Mode::Secure && self.pooled_rows_may_be_inferred() {
            words.push("Risk: so few items or students that the pooled table of answers may be inferred from the sums (without names).".into());
        }
        if self.sites_may_be_inferred() {
            words.push("Risk: site effects are estimated, so that a coordinator that computes may also find out which answers belong to the same site; effects = \"none\" does not have this risk, and mode private bounds what is learned about every student.".into());
        }
        if self.mode == Mode::Secure && sites == 3 {
            words.push("Risk: with three sites, each can see the sum of the other two.".into());
        }
        if self.mode != Mode::Plain && self.cohort.masking == Masking::Sparse {
            words.push(format!(
                "Risk: where 100 sites or more take part, each hides its numbers with masks that it shares with a few others, which are drawn anew each time, and not with all. This holds against a coordinator that works with at most {} of {sites} sites, if these are decided on before an attempt begins. With masks shared by all (masking = \"full\") a single site's numbers stay hidden from a coordinator that works with all but two of the sites in a sum.",
                (sites / 3).max(self.cohort.colluders())
            ));
        }
        if let (Mode::Private, Some(privacy)) = (self.mode, &self.privacy) {
            words.push(format!(
                "What is summed (mechanism {}): {}. Before any data difficulties are thought to lie around 0 with an SD of {}; results name the items that lean on this.",
                privacy.mechanism.name(),
                privacy.mechanism.meaning(),
                privacy.difficulty_sd
            ));
            if !self.booklets.is_empty() {
                words.push("How many rows each site has of each booklet is told exactly, and so is, in effect, which booklet a row falls into: a row belongs to the smallest that holds its answers. ε does not cover this.".into());
            }
            let students = self.cohort.expected_students;
            if Delta::new(privacy.delta).and_then(|delta| delta.is_large_for(students)) == Ok(true) {
                words.push(format!("Risk: {}.", large_delta(privacy.delta, students)));
            }
        }
        let by_name = self.mode != Mode::Secure || self.publish.effects_by_name;
        words.push(match (self.model.effects, by_name) {
            (Effects::None, _) => {
                "Sites are taken to draw from one population; no site effects are estimated.".into()
            }
            (_, true) if self.mode == Mode::Private => {
                "The effect of each site is published by name, with noise.".into()
            }
            (_, true) => "The effect of each site is published by name.".into(),
            (_, false) => "Each site learns its own effect; nobody else does.".into(),
        });
        if self.model.population != Family::Normal {
            words.push(format!(
                "Ability is not taken to be normal: the parameters of its distribution ({}) are estimated with those of the items, in the same rounds.",
                self.model.population
            ));
        }
        if let Some(groups) = self.groups.as_ref().filter(|_| self.mode != Mode::Private) {
            words.push(format!(
                "Items are compared between groups of students ({}; the question: {}). Each site sends sums for each of them: who gave which answer at which sum score. Groups that are rare at a site are left out of its sums, and so are students of other groups or of none.",
                groups.names.join(", "),
                groups.question
            ));
        }
        if self.model.compare_sites && self.mode != Mode::Private {
            words.push("Sites are compared item by item: each sends, by item, how far its answers depart from the common parameters. In mode secure only the sum over six or more sites opens, of numbers rounded to three digits.".into());
        }
        words.push(match self.most_rounds() {
            2 => "Two rounds are answered.".into(),
            most => format!(
                "At most {most} rounds are answered: {} to estimate, and the others to close the study.",
                self.model.max_rounds
            ),
        });
        let calls = self.calls();
        if calls > 0 {
            words.push(format!(
                "Before a site takes part, its officer must have verified {calls} of the other sites by telephone. Each call excludes that the coordinator plays that site; it could then play {} of them at most.",
                self.cohort.colluders()
            ));
        }
        if self.mode == Mode::Secure {
            words.push(if self.model.compare_starts {
                "Sites answer questions about all items of the plan that enough sites give, at one set of parameters in each round, and at two where starting values are compared.".into()
            } else {
                "Sites answer questions about all items of the plan that enough sites give, at one set of parameters in each round.".into()
            });
        }
        words.push(match self.cohort.on_loss {
            OnLoss::Wait => "If a site vanishes after the first round, everybody waits for it.",
            OnLoss::End => "If a site vanishes after the first round, the study ends without a result.",
            OnLoss::RevealLostSite => "Risk: if a site vanishes after the first round, the study goes on, and the coordinator can compute what that site sent.",
        }.into());
        words.push(
            "No row of answers is sent by anyone; the risks above are about what sums can tell.".into(),
        );
        words
    }
}
