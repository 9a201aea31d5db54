//! The opening sums of a calibration: what can be calibrated, and from where to start.

use super::Calibration;
use crate::centre::CentreError;
use crate::centre::algorithm::{AlgorithmKind, Problem, symmetric};
use crate::centre::averaging::{FedAvg, FedSgd};
use crate::centre::bfgs::Bfgs;
use crate::centre::em::Em;
use crate::centre::graph::linked_parts;
use crate::centre::meta::Meta;
use crate::centre::newton::Newton;
use crate::centre::opening::{
    at_one_end, check_anchors, used_categories, warn_of_parts, warn_of_shifted_codes, warn_of_small_sites,
    warn_of_tiny_sites,
};
use crate::centre::start::{self, Start, StartSums};
use crate::centre::structure::{Anchor, Structure};
use crate::exchange::{Effects, Request};
use crate::population::Population;
use crate::questions::counts::CountsReply;
use crate::questions::diagnose::Diagnostic;
use crate::questions::start::StartReply;
use crate::questions::{Aggregate, Ask, ReplyError};
use nalgebra::{DMatrix, DVector};

/// Share of the variance of ability between sites from which a fit starts if nothing may be asked about it.
const ASSUMED_BETWEEN: f64 = 0.1;

impl Calibration {
    /// The published algorithms work with difficulties; not every model has them.
    fn no_difficulties(&self) -> CentreError {
        let name = self.plan.settings.algorithm.name();
        CentreError::Unsupported(format!("{name} knows no items without difficulties; use newton or em"))
    }

    /// Reads the opening sums: what can be calibrated, and from where to start.
    pub(super) fn open(&mut self, opening: Opening) -> Result<(), CentreError> {
        self.students = opening.students();
        if self.students < 1.0 {
            return Err(CentreError::NoStudents);
        }
        // Rows without an answer have left: the weights of the others add up to their number.
        let rescale = self.students / opening.weight().max(f64::MIN_POSITIVE);
        self.weight_scale *= rescale;
        let table = match &opening {
            Opening::Counts(_) => None,
            Opening::Start(reply) => Some(symmetric(self.provisional.cells(), &reply.pairs) * rescale),
        };
        let counts: Vec<f64> = match (&opening, &table) {
            (Opening::Start(_), Some(table)) => table.diagonal().iter().copied().collect(),
            (Opening::Start(_), None) => Vec::new(),
            (Opening::Counts(reply), _) => reply.category_counts.iter().map(|n| n * rescale).collect(),
        };
        let (design, kept_items, kept) =
            used_categories(&self.plan, &self.provisional, &counts, &mut self.warnings)?;
        let names: Vec<String> =
            design.items().iter().map(|i| self.plan.items[i.column].name.clone()).collect();
        let fixed = self.effects == Effects::Fixed;
        let given =
            self.sites.iter().filter(|site| !fixed || !at_one_end(&self.sites, &design, site)).map(|site| {
                (0..design.len()).filter(|&j| !site.codes[design.items()[j].column].is_empty()).collect()
            });
        let parts = linked_parts(design.len(), given);
        self.warnings.extend(warn_of_parts(&self.plan, self.effects, &design, &parts));
        let anchors: Vec<Option<Anchor>> =
            design.items().iter().map(|i| self.plan.items[i.column].anchor.clone()).collect();
        check_anchors(&self.plan, &design, &anchors)?;
        let mut structure = Structure::new(&design, &anchors, self.effects, &self.plan.population);
        if !self.plan.secrecy.by_site() {
            structure = structure.within_policy();
        }
        let problem = Problem {
            design,
            names,
            parts,
            structure,
            effects: self.effects,
            settings: self.plan.settings.clone(),
            students: self.students,
            site_students: self.sites.iter().map(|s| s.students as f64).collect(),
            by_site: self.plan.secrecy.by_site(),
        };
        let assumed_between = if self.effects == Effects::None { 0.0 } else { ASSUMED_BETWEEN };
        let tables =
            table.map(|table| DMatrix::from_fn(kept.len(), kept.len(), |r, c| table[(kept[r], kept[c])]));
        let start = || {
            if self.plan.by_item() {
                let counts: Vec<f64> = kept.iter().map(|&r| counts[r]).collect();
                return Ok(start::from_counts(&problem.design, &counts, assumed_between));
            }
            let (Opening::Start(reply), Some(tables)) = (&opening, &tables) else {
                return Err(CentreError::Reply(ReplyError::Missing("pair_table")));
            };
            let cut = |packed: &Option<Vec<f64>>| match packed {
                None => DMatrix::zeros(0, 0),
                Some(packed) => {
                    let m = symmetric(self.provisional.len(), packed);
                    let size = kept_items.len();
                    DMatrix::from_fn(size, size, |r, c| m[(kept_items[r], kept_items[c])])
                }
            };
            let sums = StartSums {
                pairs: tables.clone(),
                school_products: cut(&reply.school_products) * rescale,
                school_pairs: cut(&reply.school_pairs) * rescale,
                assumed_between,
            };
            Ok(start::start(&problem.design, &sums))
        };
        self.algorithm = Some(match self.plan.settings.algorithm {
            AlgorithmKind::Newton => {
                let (points, tau) = starting_points(&problem, &self.plan.population, &start()?);
                Box::new(Newton::new(points, tau))
            }
            AlgorithmKind::Em => {
                let (mut points, tau) = starting_points(&problem, &self.plan.population, &start()?);
                Box::new(Em::new(points.swap_remove(0), tau, problem.effects))
            }
            AlgorithmKind::Bfgs => Box::new(Bfgs::new(&problem).ok_or_else(|| self.no_difficulties())?),
            AlgorithmKind::Fedsgd => Box::new(FedSgd::new(&problem).ok_or_else(|| self.no_difficulties())?),
            AlgorithmKind::Fedavg => Box::new(FedAvg::new(&problem).ok_or_else(|| self.no_difficulties())?),
            AlgorithmKind::Meta => Box::new(Meta),
        });
        self.problem = Some(problem);
        self.tables = tables.filter(|_| self.plan.diagnostics.contains(&Diagnostic::Pairs));
        self.warnings.extend(warn_of_small_sites(self.effects, &self.sites));
        self.warnings.extend(warn_of_tiny_sites(self.effects, &self.sites));
        self.warnings.extend(warn_of_shifted_codes(&self.sites));
        Ok(())
    }
}

/// The reply to the first question.
pub(super) enum Opening {
    Counts(CountsReply),
    Start(StartReply),
}

impl Opening {
    pub(super) fn read(request: &Request, aggregate: Aggregate) -> Result<Self, CentreError> {
        Ok(if let Ask::Start(_) = request.ask {
            Self::Start(aggregate.read()?)
        } else {
            Self::Counts(aggregate.read()?)
        })
    }

    fn students(&self) -> f64 {
        match self {
            Self::Counts(reply) => reply.students,
            Self::Start(reply) => reply.students,
        }
    }

    fn weight(&self) -> f64 {
        match self {
            Self::Counts(reply) => reply.weight,
            Self::Start(reply) => reply.weight,
        }
    }
}

/// Starting points from the first round's sums with each start of the population, and an SD between sites. Items with given parameters set the unit and the
/// origin of the start.
fn starting_points(problem: &Problem, population: &Population, start: &Start) -> (Vec<DVector<f64>>, f64) {
    let tau = (start.between / (1.0 - start.between)).sqrt().max(0.1);
    let coordinates = |psi: &Vec<f64>| {
        let (sd, mean) = problem.structure.population_start(psi);
        let mut psi = psi.clone();
        if problem.structure.anchored() && problem.effects == Effects::Fixed {
            // The effects carry the mean: free items move to the anchors' origin.
            let shift = problem.design.shift_direction(&psi);
            psi.iter_mut().zip(&shift).for_each(|(x, n)| *x -= n * mean / sd);
        }
        population.starts().into_iter().map(move |shape| {
            let mut psi = psi.clone();
            psi.extend(shape);
            problem.structure.coordinates(&psi, sd, mean)
        })
    };
    let candidates = start.candidates.iter().take(problem.settings.starts.max(1));
    (candidates.flat_map(coordinates).collect(), tau)
}
