//! The questions that the centre asks and sites answer with sums, one file each.
//!
//! A file declares everything about its question: the parameters that are sent, the named tensors of the reply (with
//! shape, bound, the modes in which they may leave, and who stands behind each number), the points at which a site
//! evaluates its likelihood, what a policy has to know, how the site answers, and the typed reply that the centre reads.
//! Masking, coverage, policies, previews, transcripts and schedules read these declarations; there is no other list
//! of questions. To add one, write a file like those here and add a line to `questions!` below.

mod malformed;
mod noisy_scores;
mod planned;
mod reply;
mod shared;
mod tensor;

pub use malformed::Malformed;
pub use noisy_scores::NOISY_SCORES;
pub use planned::{Pass, Times, Unplanned};
pub use reply::{Aggregate, Named, ReplyError, Summary};
pub(crate) use reply::{BySite, Reply};
pub use shared::GRADIENT;
pub(crate) use shared::three_digits;
pub use tensor::{About, Axis, Bound, Need, Per, Shape, SiteTerm, Tensor};

use crate::centre::Plan;
use crate::exchange::{Point, Request};
use crate::site::{EffectEstimate, SiteView};
use crate::statistics::Statistic;
use serde::{Deserialize, Serialize};

/// What a site's rules have to know about a question besides its tensors and its points. There are no defaults: every
/// question decides each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// Whether it is the first question, about all items and categories of the plan. Later questions are about the items
    /// that can be calibrated, which then stay the same, and know the linked parts of the design.
    pub opening: bool,
    /// Whether it carries numbers that differ from site to site. Two sums that differ in one site's number alone would
    /// show what that site adds, so such questions are asked in `plain` only.
    pub differs_by_site: bool,
    /// Whether the site's effect is sent beside its name, to which the plan and the site must agree.
    pub publishes_effects: bool,
    /// Whether the site learns its own effect from answering it.
    pub tells_own_effect: bool,
    /// Whether the answer is a sum over students where there are no site effects: then sites in the same hands can be asked as
    /// one, which costs what one site costs.
    pub by_student: bool,
}

/// The way back from the enum of all questions.
pub(crate) trait OfAsk: Sized {
    /// The question, if it is one of this type.
    fn of(ask: &Ask) -> Option<&Self>;
}

/// A question, with everything that is declared about it.
pub(crate) trait SumQuestion: Clone + Into<Ask> + OfAsk {
    /// The reply that the site fills in and the centre reads. It declares the tensors.
    type Reply: Reply<Question = Self>;

    /// Item parameters at which the site evaluates its likelihood: its policy limits each of them. Empty where the
    /// question carries no parameters.
    fn points(&self, request: &Request) -> Vec<Vec<f64>>;

    /// What a site's rules have to know.
    fn conditions(&self) -> Conditions;

    /// How often the sites of a calibration by this plan answer it. There is no default: every question decides.
    fn planned(&self, plan: &Plan) -> Result<Times, Unplanned>;

    /// Whether a site can answer it at all: shapes, and finite numbers within sensible limits. What it *may* answer is
    /// for its policy to say.
    fn check(&self, request: &Request) -> Result<(), Malformed>;

    /// The same question with these parameters, asked of so many sites. Two rounds ask the same if they are equal at the
    /// same parameters; previews show the numbers at one set of parameters.
    fn at(&self, request: &Request, point: &Point, sites: usize) -> Self;

    /// The site's answer: a pure function of the question and the site's rows.
    fn answer(&self, site: &SiteView<'_>) -> Self::Reply;

    /// The answer, and the site's own effect where answering tells it. It stays at the site.
    fn answer_and_keep(&self, site: &SiteView<'_>) -> (Self::Reply, Option<EffectEstimate>) {
        (self.answer(site), None)
    }
}

macro_rules! questions {
    ($( $(#[$doc:meta])* $module:ident::$Question:ident, )*) => {
        $(
            pub mod $module;
            #[doc(inline)]
            pub use $module::$Question;

            impl OfAsk for $Question {
                fn of(ask: &Ask) -> Option<&Self> {
                    if let Ask::$Question(question) = ask { Some(question) } else { None }
                }
            }

            impl From<$Question> for Ask {
                fn from(question: $Question) -> Self {
                    Self::$Question(question)
                }
            }
        )*

        /// The question of a round. The order of the variants is that of their numbers in messages.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Ask {
            $( $(#[$doc])* $Question($Question), )*
        }

        impl Ask {
            /// What a site's rules have to know about the question.
            pub fn conditions(&self) -> Conditions {
                match self { $( Self::$Question(question) => question.conditions(), )* }
            }

            /// How often the sites of a calibration by this plan answer it.
            pub fn planned(&self, plan: &Plan) -> Result<Times, Unplanned> {
                match self { $( Self::$Question(question) => question.planned(plan), )* }
            }

            /// The name of the question, by which answers to it are counted.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$Question(_) => stringify!($module), )* }
            }

            /// The same question with these parameters, asked of so many sites.
            #[must_use]
            pub fn at(&self, request: &Request, point: &Point, sites: usize) -> Self {
                match self { $( Self::$Question(question) => question.at(request, point, sites).into(), )* }
            }

            pub(crate) fn tensors(&self, request: &Request) -> Vec<Tensor> {
                match self { $( Self::$Question(question) => <$Question as SumQuestion>::Reply::tensors(question, request), )* }
            }

            pub(crate) fn points(&self, request: &Request) -> Vec<Vec<f64>> {
                match self { $( Self::$Question(question) => question.points(request), )* }
            }

            pub(crate) fn check(&self, request: &Request) -> Result<(), Malformed> {
                match self { $( Self::$Question(question) => question.check(request), )* }
            }

            pub(crate) fn answer(
                &self,
                site: &SiteView<'_>,
            ) -> Result<(Summary, Option<EffectEstimate>), ReplyError> {
                match self {
                    $( Self::$Question(question) => {
                        let (reply, place) = question.answer_and_keep(site);
                        Ok((Summary::new(self.tensors(site.request), reply)?, place))
                    } )*
                }
            }
        }

        /// Every statistic that can leave a site, in the order of the questions; some belong to several questions.
        pub fn statistics() -> Vec<Statistic> {
            let mut all = Vec::new();
            $( all.extend(<$Question as SumQuestion>::Reply::statistics()); )*
            all.push(NOISY_SCORES);
            all
        }
    };
}

questions! {
    /// Counts by category.
    counts::Counts,
    /// Two-way tables, from which the centre starts.
    start::Start,
    /// Log-likelihood and derivatives at some points.
    evaluate::Evaluate,
    /// The published protocol: log-likelihood and gradient at given school effects.
    published::Published,
    /// Federated averaging: some steps of gradient ascent at the site.
    train::Train,
    /// A fit at the site alone.
    local_fit::LocalFit,
    /// Products of scores at the estimates, for robust standard errors of weighted fits.
    products::Products,
    /// The end: final parameters, and the last sums.
    close::Close,
    /// Sums at the estimates from which the centre sees whether the model is right.
    diagnose::Diagnose,
    /// Sums by group of students, by which items are compared between groups and between sites.
    dif::Dif,
}

#[cfg(test)]
mod tests;
