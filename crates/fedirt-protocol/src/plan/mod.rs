//! The study plan: a TOML file that says what is calibrated, with whom, and who learns what. Officers approve its
//! hash, and every signature of the study covers it.

mod check;
mod contact;
mod level;
mod template;
mod words;

pub use contact::Contact;
pub use level::PrivacyLevel;
pub use template::{template, template_at};
pub use words::WHAT_SECURE_KEEPS;

use crate::private::PrivateTerms;
use crate::terms::{Deadlines, Masking, OnLoss, Terms, most_exchanges};
use fedirt_model::centre::{AlgorithmKind, Anchor, ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::code_set::MergedCode;
use fedirt_model::exchange::Effects;
use fedirt_model::items::name_in_first_format;
use fedirt_model::population::{Family, Population};
use fedirt_model::private::{MissingAnswers, PrivateMechanism, PrivateMethod, ROUND_SHARES};
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{SiteId, StudyId, Thresholds};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The value of `format` that this version writes.
pub const FORMAT: &str = "fedirt.plan/2";

/// The format before, which is still read: in it, `1pl` stands for slopes of 1 with an SD of 1.
const FIRST_FORMAT: &str = "fedirt.plan/1";

/// Longest plan that is read.
pub const MAX_BYTES: usize = 4 << 20;
/// With so few items, or fewer, exact sums may tell the pooled rows (see SECURITY.md).
pub const FEW_ITEMS: usize = 12;
/// With fewer students they may, too.
pub const FEW_STUDENTS: u64 = 1000;

/// A plan as it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyPlan {
    /// [`FORMAT`].
    pub format: String,
    /// Short name of the study, unique at its coordinator.
    pub study: String,
    /// Why the study is done, in plain words.
    pub purpose: String,
    /// Who learns what.
    pub mode: Mode,
    /// Who asks; plans of earlier releases do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Contact>,
    /// The sites.
    pub cohort: CohortPlan,
    /// Statistics and numerics.
    #[serde(default)]
    pub model: ModelPlan,
    /// How long sites have.
    #[serde(default)]
    pub deadlines: DeadlinePlan,
    /// Groups of students that are compared item by item, where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupPlan>,
    /// What is published.
    #[serde(default)]
    pub publish: PublishPlan,
    /// What `private` promises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy: Option<PrivacyPlan>,
    /// Item sets that students were given (`private`); none: all items to everybody.
    #[serde(default, rename = "booklet", skip_serializing_if = "Vec::is_empty")]
    pub booklets: Vec<Booklet>,
    /// Risks that officers consent to, by name.
    #[serde(default)]
    pub risks: Risks,
    /// The codebook.
    #[serde(rename = "item")]
    pub items: Vec<PlanItem>,
}

/// The sites, and how many must share a sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CohortPlan {
    /// Names of the invited sites.
    pub sites: Vec<String>,
    /// Fewest sites of a sum.
    #[serde(default = "three")]
    pub n_min: usize,
    /// Sites that may work with the coordinator; left out, one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colluders: Option<usize>,
    /// With whom a site shares masks.
    #[serde(default, skip_serializing_if = "Masking::is_usual")]
    pub masking: Masking,
    /// What happens when a site vanishes after sums were released.
    #[serde(default)]
    pub on_loss: OnLoss,
    /// Students of all sites together, about: below 1000, sums may show pooled rows.
    pub expected_students: u64,
}

impl CohortPlan {
    /// Sites that may work with the coordinator: by default any one, for whoever takes part knows its own numbers and its
    /// own noise.
    pub fn colluders(&self) -> usize {
        self.colluders.unwrap_or_else(|| usual_colluders(self.sites.len()))
    }
}

/// c of a plan that says nothing else.
fn usual_colluders(sites: usize) -> usize {
    usize::from(sites > 1)
}

fn three() -> usize {
    3
}

/// Statistics and numerics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelPlan {
    /// Site effects.
    pub effects: Effects,
    /// Algorithm.
    pub algorithm: AlgorithmKind,
    /// Converged when no gradient per student exceeds this.
    pub tolerance: f64,
    /// Most rounds of estimation (plain and secure), the opening one included. It means the same everywhere: in the plan,
    /// in a site's policy and to the algorithm. When it is reached the study is closed as if it had converged, and its
    /// result is marked as not converged; the closing exchanges come on top, and are at most
    /// [`fedirt_model::centre::closing_exchanges`] (see [`crate::terms::most_exchanges`]).
    pub max_rounds: u32,
    /// Whether two sets of starting values are compared (`secure`; a test that measures two things may need it): the round
    /// after the first then asks about both. In `plain` they are where they differ.
    pub compare_starts: bool,
    /// Quadrature nodes.
    pub nodes: usize,
    /// Highest node.
    pub range: f64,
    /// Weights of the nodes.
    pub quadrature: Weighting,
    /// How ability is distributed: `normal`, or a family whose parameters are estimated with those of the items.
    #[serde(with = "family", skip_serializing_if = "is_normal")]
    pub population: Family,
    /// What sites send at the estimates, once, to see whether the model is right.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether sites are compared item by item: in `secure` by sums that name no site, where six or more share them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compare_sites: bool,
}

impl Default for ModelPlan {
    fn default() -> Self {
        let (grid, settings) = (GridSpec::default(), Settings::default());
        Self {
            effects: Effects::Fixed,
            algorithm: settings.algorithm,
            tolerance: settings.tolerance,
            max_rounds: 40,
            compare_starts: false,
            nodes: grid.nodes,
            range: grid.range,
            quadrature: grid.weighting,
            population: Family::Normal,
            diagnostics: Vec::new(),
            compare_sites: false,
        }
    }
}

fn is_normal(family: &Family) -> bool {
    *family == Family::Normal
}

/// A family by its name, such as `"mixture:2"`.
mod family {
    use fedirt_model::population::Family;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(family: &Family, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(family)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Family, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// How long sites have, in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeadlinePlan {
    /// To join and approve the roster; left out: as long as it takes.
    pub join_seconds: Option<u64>,
    /// To say hello to a round.
    pub hello_seconds: u64,
    /// To answer it.
    pub upload_seconds: u64,
}

impl Default for DeadlinePlan {
    fn default() -> Self {
        Self { join_seconds: None, hello_seconds: 86_400, upload_seconds: 86_400 }
    }
}

/// Groups of students that are compared (differential item functioning). Each site says which of its columns holds them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPlan {
    /// What is asked about each student, as officers read it: "Sex in the school's register".
    pub question: String,
    /// The groups as they stand in the sites' columns, the reference group first. Other students are left out of the study.
    pub names: Vec<String>,
    /// Whether items that work differently are taken out of the sum score that students are matched by.
    #[serde(default = "yes")]
    pub purify: bool,
}

fn yes() -> bool {
    true
}

/// What is published beside item parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PublishPlan {
    /// Site effects by name.
    pub effects_by_name: bool,
}

/// What `private` promises each student.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivacyPlan {
    /// ε.
    pub epsilon: f64,
    /// δ.
    #[serde(default = "usual_delta")]
    pub delta: f64,
    /// Whether rows that are all lowest or all highest are modelled apart.
    #[serde(default)]
    pub mixture: bool,
    /// Rows that lack an answer to an item of their booklet.
    #[serde(default = "counted")]
    pub missing_answers: MissingAnswers,
    /// Without site effects: SD of ability between sites.
    #[serde(default)]
    pub site_sd: f64,
    /// What is summed. A plan that does not say it is of the time when there was only score2.
    #[serde(default = "first_mechanism")]
    pub mechanism: PrivateMechanism,
    /// SD of difficulties before any data. A plan that does not say it means 1, as plans did.
    #[serde(default = "first_difficulty_sd")]
    pub difficulty_sd: f64,
}

impl PrivacyPlan {
    /// What is summed, and what is believed before any data.
    pub fn method(&self) -> PrivateMethod {
        PrivateMethod { mechanism: self.mechanism, difficulty_sd: self.difficulty_sd }
    }
}

fn first_mechanism() -> PrivateMechanism {
    PrivateMethod::of_first_plans().mechanism
}

fn first_difficulty_sd() -> f64 {
    PrivateMethod::of_first_plans().difficulty_sd
}

fn usual_delta() -> f64 {
    1e-6
}

fn counted() -> MissingAnswers {
    MissingAnswers::Counted
}

/// A set of items that some students were given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Booklet {
    /// Name.
    pub name: String,
    /// Names of its items.
    pub items: Vec<String>,
}

/// Risks, by name. A plan whose terms bring a risk must name it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Risks {
    /// `plain`: the coordinator sees each site's sums, from which rows can be rebuilt.
    pub coordinator_sees_each_sites_sums: bool,
    /// `secure` with few items or students, or with site effects: from the sums rows may be inferred, and which of them belong
    /// to the same site.
    pub rows_and_sites_may_be_inferred: bool,
    /// The name of this risk in plans of earlier releases, which told of the pooled rows alone. Such plans are still read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooled_rows_may_be_inferred: Option<bool>,
    /// `secure` with three sites: each sees the sum of the other two.
    pub each_site_sees_the_sum_of_the_other_two: bool,
    /// `on_loss = "reveal_lost_site"`: what a lost site sent can be computed.
    pub lost_site_is_revealed: bool,
    /// `masking = "sparse"`: a coordinator that works with more than a third of the plan's sites can see single sites' numbers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub masks_need_two_thirds_honest: bool,
}

impl Risks {
    /// Whether the plan says that rows may be inferred. A plan of an earlier release that did not have to say it, because items
    /// and students are many, is read as it was written.
    fn names_inference(&self, few: bool) -> bool {
        self.rows_and_sites_may_be_inferred
            || self.pooled_rows_may_be_inferred.is_some_and(|named| named || !few)
    }
}

/// An item of the codebook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanItem {
    /// Its column's name.
    pub name: String,
    /// Its categories' codes, ascending.
    pub categories: Vec<u8>,
    /// Codes that sites turn into one of these before anything else: categories that are merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedCode>,
    /// Its model; `2pl` or `gpcm` by the number of categories where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Given parameters: the item anchors the scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<FixedParameters>,
}

/// Given parameters of an item, on the reported scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedParameters {
    /// Slope.
    pub a: f64,
    /// Intercepts, one per step.
    pub d: Vec<f64>,
}

/// Why a plan is refused: everything at once.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Not TOML of this shape.
    #[error("the plan cannot be read: {0}")]
    Syntax(String),
    /// Problems with its content.
    #[error("the plan has {} problem{}:\n- {}", .0.len(), if .0.len() == 1 { "" } else { "s" }, list(.0))]
    Content(Vec<PlanProblem>),
}

fn list(problems: &[PlanProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n- ")
}

/// What of a plan a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanField {
    /// `format`.
    Format,
    /// `study`.
    Study,
    /// `contact`.
    Contact,
    /// `purpose`.
    Purpose,
    /// `cohort.sites`.
    Sites,
    /// `cohort.n_min`, or the cohort as a whole.
    Cohort,
    /// `cohort.colluders`.
    Colluders,
    /// `[[item]]`.
    Items,
    /// `model.effects`.
    Effects,
    /// `model.algorithm`.
    Algorithm,
    /// `model.tolerance`.
    Tolerance,
    /// `model.nodes`.
    Nodes,
    /// `model.range`.
    Range,
    /// `model.population`.
    Population,
    /// `[groups]`.
    Groups,
    /// `model.max_rounds`.
    MaxRounds,
    /// `[privacy]`.
    Privacy,
    /// `privacy.epsilon`.
    Epsilon,
    /// `privacy.delta`.
    Delta,
    /// `privacy.site_sd`.
    SiteSd,
    /// `privacy.difficulty_sd`.
    DifficultySd,
    /// `[[booklet]]`.
    Booklets,
    /// `[risks]`.
    Risks,
}

impl PlanField {
    fn wrong(self, text: impl Into<String>) -> PlanProblem {
        PlanProblem { field: self, text: text.into() }
    }
}

/// Something that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    /// What it is about.
    pub field: PlanField,
    /// What is wrong and what would help, with the field's name.
    pub text: String,
}

impl std::fmt::Display for PlanProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl StudyPlan {
    /// Reads a plan's text and checks it.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        if text.len() > MAX_BYTES {
            return Err(PlanError::Syntax(format!("{} bytes are too many", text.len())));
        }
        let mut plan: Self = toml::from_str(text).map_err(|e| PlanError::Syntax(e.to_string()))?;
        if plan.format == FIRST_FORMAT {
            FORMAT.clone_into(&mut plan.format);
            for model in plan.items.iter_mut().filter_map(|item| item.model.as_mut()) {
                *model = name_in_first_format(model).to_owned();
            }
        }
        let problems = plan.problems();
        if problems.is_empty() { Ok(plan) } else { Err(PlanError::Content(problems)) }
    }

    /// SHA-256 of a plan's text: comments and blanks count, for officers approve what they read.
    pub fn hash(text: &str) -> [u8; 32] {
        Sha256::digest(text.as_bytes()).into()
    }

    /// The terms for both machines.
    pub fn terms(&self, text: &str) -> Result<Terms, PlanError> {
        let content = |field: PlanField, e: &dyn std::fmt::Display| {
            PlanError::Content(vec![field.wrong(e.to_string())])
        };
        let mut sites = BTreeMap::new();
        for name in &self.cohort.sites {
            sites.insert(
                SiteId::try_from(name.as_str()).map_err(|e| content(PlanField::Sites, &e))?,
                name.clone(),
            );
        }
        let thresholds = if self.mode == Mode::Secure {
            Thresholds::new(self.cohort.n_min, self.cohort.colluders())
        } else {
            Thresholds::new(self.cohort.colluders() + 3, self.cohort.colluders())
        };
        let milliseconds = |seconds: u64| seconds.saturating_mul(1000);
        Ok(Terms {
            study: StudyId::try_from(self.study.as_str()).map_err(|e| content(PlanField::Study, &e))?,
            plan_hash: Self::hash(text),
            plan: self.model_plan(),
            mode: self.mode,
            private: self.private_terms(),
            thresholds: thresholds.map_err(|e| content(PlanField::Cohort, &e))?,
            masking: self.cohort.masking,
            on_loss: self.cohort.on_loss,
            deadlines: Deadlines {
                join: self.deadlines.join_seconds.map(milliseconds),
                hello: milliseconds(self.deadlines.hello_seconds),
                upload: milliseconds(self.deadlines.upload_seconds),
            },
            sites,
        })
    }

    fn private_terms(&self) -> Option<PrivateTerms> {
        let privacy = self.privacy.as_ref().filter(|_| self.mode == Mode::Private)?;
        let place = |name: &String| self.items.iter().position(|item| item.name == *name);
        let sorted = |booklet: &Booklet| {
            let mut items: Vec<usize> = booklet.items.iter().filter_map(place).collect();
            items.sort_unstable();
            items
        };
        Some(PrivateTerms {
            epsilon: privacy.epsilon,
            delta: privacy.delta,
            mixture: privacy.mixture,
            missing: privacy.missing_answers,
            site_sd: privacy.site_sd,
            booklets: self.booklets.iter().map(sorted).collect(),
            method: privacy.method(),
            seed: 1,
        })
    }

    fn model_plan(&self) -> Plan {
        let model = &self.model;
        let groups = self.groups.as_ref().filter(|_| self.mode != Mode::Private);
        // Each group has a normal distribution of its own.
        let family = match groups.map(|groups| groups.names.len()) {
            Some(count @ 2..) => Family::Groups { groups: u8::try_from(count).unwrap_or(u8::MAX) },
            Some(_) | None => model.population,
        };
        Plan {
            items: (self.items.iter())
                .map(|item| ItemPlan {
                    name: item.name.clone(),
                    model: item.model.clone(),
                    codes: Some(item.categories.clone()),
                    merged: item.merged.clone(),
                    anchor: (item.fixed.as_ref()).map(|fixed| Anchor::one_slope(fixed.a, &fixed.d)),
                })
                .collect(),
            effects: model.effects,
            population: Population::of(
                family,
                GridSpec { nodes: model.nodes, range: model.range, weighting: model.quadrature },
            ),
            settings: Settings {
                algorithm: model.algorithm,
                tolerance: model.tolerance,
                max_rounds: model.max_rounds as usize,
                starts: if self.mode == Mode::Secure && !model.compare_starts { 1 } else { 2 },
                ..Settings::default()
            },
            publish_effects: self.mode == Mode::Plain || self.publish.effects_by_name,
            secrecy: Secrecy::BySite,
            diagnostics: if self.mode == Mode::Private { Vec::new() } else { model.diagnostics.clone() },
            groups: groups.map(|groups| groups.names.clone()).unwrap_or_default(),
            purify: groups.is_some_and(|groups| groups.purify),
            compare_sites: model.compare_sites && self.mode != Mode::Private,
        }
    }

    /// Rounds that a site answers at most: a private study has its two, another its rounds of estimation and the closing
    /// exchanges.
    pub fn most_rounds(&self) -> u32 {
        let rounds = match self.mode {
            Mode::Private => ROUND_SHARES.len() as u32,
            Mode::Plain | Mode::Secure => self.model.max_rounds,
        };
        most_exchanges(self.mode, rounds, &self.model_plan())
    }

    /// Whether the pooled rows may be inferred from exact sums: few items or few students (see SECURITY.md).
    pub fn pooled_rows_may_be_inferred(&self) -> bool {
        let expected = self.cohort.expected_students;
        self.mode != Mode::Private && (self.items.len() <= FEW_ITEMS || expected < FEW_STUDENTS)
    }

    /// Whether a coordinator that computes may infer from the sums of `secure` which rows belong to the same site: with site
    /// effects each site's answer depends on its own rows in its own way, and the sum is not that of the pooled table alone.
    pub fn sites_may_be_inferred(&self) -> bool {
        self.mode == Mode::Secure && self.model.effects != Effects::None
    }
}
