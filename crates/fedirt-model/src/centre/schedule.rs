//! Which questions a calibration asks, in which order: data that the calibration is driven by and a site's preview
//! shows.

use super::algorithm::{Algorithm, AlgorithmKind, ErrorSource};
use super::averaging::{FedAvg, FedSgd};
use super::bfgs::Bfgs;
use super::em::Em;
use super::meta::Meta;
use super::newton::Newton;
use super::plan::Plan;
use crate::exchange::{Effects, Point, Request};
use crate::questions::diagnose::Diagnostic;
use crate::questions::evaluate::Curvature;
use crate::questions::start::BetweenSites;
use crate::questions::{Ask, Close, Counts, Diagnose, Dif, Evaluate, Products};

/// A stage of a calibration. In each stage the same question is asked, once or in several rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The first round: which categories were used, and tables for starting values.
    Opening,
    /// The rounds of the algorithm.
    Iterations {
        /// Whether there is exactly one.
        one_round: bool,
    },
    /// One round for the observed information at the solution, for algorithms that do not bring it, and for sums over
    /// fixed effects where those may be asked for once only.
    Information {
        /// Whether it is a question that sites answer once only.
        once: bool,
    },
    /// One round of score products, for robust standard errors of weighted fits. It is left out if the information is
    /// not positive definite.
    Products,
    /// One round for sums from which the centre sees whether the model is right, where the plan asks for them.
    Diagnostics,
    /// Up to three rounds for sums by group of students, where the plan compares groups.
    Groups,
    /// The last round: sums at the estimates.
    Closing,
}

impl Stage {
    /// Which rounds these are, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opening => "1",
            Self::Iterations { one_round: true } => "2",
            Self::Iterations { one_round: false } => "2 and later",
            Self::Information { once: true } => "last but one (once)",
            Self::Information { once: false } => "last but one",
            Self::Products => "for robust standard errors",
            Self::Diagnostics => "for diagnostics",
            Self::Groups => "for the comparison of groups (up to 3)",
            Self::Closing => "closing",
        }
    }
}

/// The questions of a calibration. Only their parameters are missing, which are known round by round.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub(super) opening: Ask,
    pub(super) iterations: Ask,
    one_round: bool,
    totals_once: bool,
    pub(super) information: Option<Evaluate>,
    pub(super) products: Option<Products>,
    pub(super) diagnostics: Option<Diagnose>,
    pub(super) groups: Option<Dif>,
    pub(super) closing: Close,
}

/// What an algorithm declares.
struct Declared {
    opening: Ask,
    iterations: Ask,
    one_round: bool,
    errors: ErrorSource,
}

fn declared<A: Algorithm>(plan: &Plan) -> Declared {
    Declared {
        opening: A::opening(plan),
        iterations: A::question(&plan.settings, plan.secrecy.by_site()).into(),
        one_round: A::ONE_ROUND,
        errors: A::ERRORS,
    }
}

impl AlgorithmKind {
    fn declared(self, plan: &Plan) -> Declared {
        match self {
            Self::Newton => declared::<Newton>(plan),
            Self::Em => declared::<Em>(plan),
            Self::Bfgs => declared::<Bfgs>(plan),
            Self::Fedsgd => declared::<FedSgd>(plan),
            Self::Fedavg => declared::<FedAvg>(plan),
            Self::Meta => declared::<Meta>(plan),
        }
    }
}

/// A point at which nothing is evaluated: the place of parameters that are not known yet.
fn nowhere() -> Point {
    Point { psi: Vec::new(), site_sd: 0.0 }
}

impl Schedule {
    /// The questions of a plan, with the effects that are estimated and whether any site has weights.
    pub(super) fn new(plan: &Plan, effects: Effects, weighted: bool) -> Self {
        let Declared { opening, iterations, one_round, errors } = plan.settings.algorithm.declared(plan);
        // Sums over fixed effects are part of every round where the coordinator sees each site's sums anyway.
        let totals_once = effects == Effects::Fixed && !plan.secrecy.by_site();
        let asks_information = match errors {
            ErrorSource::LastRound => totals_once,
            ErrorSource::ExtraRound => true,
            ErrorSource::Itself => false,
        };
        let by_item = plan.by_item();
        let opening =
            if by_item && !plan.diagnostics.contains(&Diagnostic::Pairs) { Counts.into() } else { opening };
        let between = plan.secrecy.between();
        let robust = weighted && !by_item && errors != ErrorSource::Itself;
        let withheld = effects == Effects::Random && between == BetweenSites::Withheld;
        Self {
            opening,
            iterations,
            one_round,
            totals_once,
            information: asks_information.then(|| Evaluate {
                points: Vec::new(),
                curvature: if by_item { Curvature::ObservedByItem } else { Curvature::Observed },
                effect_totals: true,
            }),
            products: (robust && !withheld).then(|| Products {
                point: nowhere(),
                effect_unit: 1.0,
                rounded: effects == Effects::Random && between == BetweenSites::Rounded,
            }),
            diagnostics: (!plan.diagnostics.is_empty()).then(|| Diagnose {
                point: nowhere(),
                wanted: plan.diagnostics.clone(),
                covariance: Vec::new(),
                by_name: plan.secrecy.by_site(),
            }),
            groups: plan.compares().then(|| Dif {
                point: nowhere(),
                groups: plan.groups.len().max(1),
                anchors: Vec::new(),
                free: Vec::new(),
                first: true,
                between: if plan.compare_sites { between } else { BetweenSites::Withheld },
            }),
            closing: Close {
                point: nowhere(),
                sd: 1.0,
                errors: None,
                effects: None,
                publish_effects: plan.publish_effects && effects != Effects::None,
            },
        }
    }

    /// The stages in their order, each with its question.
    pub fn stages(&self) -> Vec<(Stage, Ask)> {
        let mut stages = vec![
            (Stage::Opening, self.opening.clone()),
            (Stage::Iterations { one_round: self.one_round }, self.iterations.clone()),
        ];
        let information = Stage::Information { once: self.totals_once };
        stages.extend(self.information.clone().map(|question| (information, question.into())));
        stages.extend(self.products.clone().map(|question| (Stage::Products, question.into())));
        stages.extend(self.diagnostics.clone().map(|question| (Stage::Diagnostics, question.into())));
        stages.extend(self.groups.clone().map(|question| (Stage::Groups, question.into())));
        stages.push((Stage::Closing, self.closing.clone().into()));
        stages
    }

    /// Whether an algorithm asks what it declared, but for the parameters.
    pub(super) fn is_iteration(&self, request: &Request) -> bool {
        request.ask.at(request, &nowhere(), 0) == self.iterations.at(request, &nowhere(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{Secrecy, closing_exchanges};
    use super::super::{ItemPlan, Settings};
    use super::*;
    use crate::diagnostics::dif::PASSES;
    use crate::population::Population;
    use crate::questions::diagnose::Diagnostic;

    fn plan(algorithm: AlgorithmKind, secrecy: Secrecy, effects: Effects) -> Plan {
        Plan {
            items: Vec::<ItemPlan>::new(),
            effects,
            population: Population::default(),
            settings: Settings { algorithm, ..Settings::default() },
            publish_effects: true,
            secrecy,
            diagnostics: Diagnostic::ALL.to_vec(),
            groups: Vec::new(),
            purify: true,
            compare_sites: false,
        }
    }

    fn schedule(algorithm: AlgorithmKind, secrecy: Secrecy, effects: Effects, weighted: bool) -> Schedule {
        Schedule::new(&plan(algorithm, secrecy, effects), effects, weighted)
    }

    fn stages(schedule: &Schedule) -> Vec<Stage> {
        schedule.stages().into_iter().map(|(stage, _)| stage).collect()
    }

    #[test]
    fn closing_exchanges_are_counted() {
        let kinds = [
            AlgorithmKind::Newton,
            AlgorithmKind::Em,
            AlgorithmKind::Bfgs,
            AlgorithmKind::Fedsgd,
            AlgorithmKind::Fedavg,
            AlgorithmKind::Meta,
        ];
        let mut most = 0;
        for algorithm in kinds {
            for secrecy in [Secrecy::BySite, Secrecy::Sums { n_min: 3, honest: 6 }] {
                for effects in [Effects::None, Effects::Fixed, Effects::Random] {
                    for weighted in [false, true] {
                        most = most.max(schedule(algorithm, secrecy, effects, weighted).stages().len() - 2);
                    }
                }
            }
        }
        let mut plan = plan(AlgorithmKind::Newton, Secrecy::BySite, Effects::Fixed);
        assert_eq!(most, closing_exchanges(&plan) as usize);
        // Groups are one stage, of as many passes as there may be.
        plan.groups = vec!["a".into(), "b".into()];
        assert_eq!(Schedule::new(&plan, Effects::Fixed, false).stages().len() - 2, 3);
        assert_eq!(most + PASSES, closing_exchanges(&plan) as usize);
    }

    #[test]
    fn extra_rounds_are_asked_where_they_are_needed() {
        let few = Secrecy::Sums { n_min: 3, honest: 3 };
        let iterations = Stage::Iterations { one_round: false };
        let newton =
            |secrecy, effects, weighted| stages(&schedule(AlgorithmKind::Newton, secrecy, effects, weighted));
        let short = [Stage::Opening, iterations, Stage::Diagnostics, Stage::Closing];
        assert_eq!(newton(Secrecy::BySite, Effects::Fixed, false), short);
        assert_eq!(newton(few, Effects::Random, true), short, "products over few sites are withheld");
        assert_eq!(
            newton(few, Effects::Fixed, true),
            [
                Stage::Opening,
                iterations,
                Stage::Information { once: true },
                Stage::Products,
                Stage::Diagnostics,
                Stage::Closing
            ]
        );
        let meta = schedule(AlgorithmKind::Meta, Secrecy::BySite, Effects::None, true);
        let once = Stage::Iterations { one_round: true };
        assert_eq!(stages(&meta), [Stage::Opening, once, Stage::Diagnostics, Stage::Closing]);
    }
}
