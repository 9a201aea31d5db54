//! The calibration as a machine: opening sums, rounds of the algorithm, standard errors, closing exchange.

use super::CentreError;
use super::algorithm::{
    Algorithm, AlgorithmKind, EffectTotals, Next, Problem, Settings, Solution, symmetric,
};
use super::averaging::Averaging;
use super::bfgs::Bfgs;
use super::em::Em;
use super::errors::{Bread, Errors};
use super::graph::linked_parts;
use super::meta::Meta;
use super::newton::Newton;
use super::outcome::Outcome;
use super::start::{self, StartSums};
use super::structure::{Anchor, Structure};
use crate::design::{Design, DesignItem, MAX_CATEGORIES};
use crate::exchange::{Aggregate, Ask, Curvature, EffectErrors, Effects, Point, Request};
use crate::fit::{TraceEntry, Warning};
use crate::items::{self, SlopeRule};
use crate::quadrature::GridSpec;
use crate::statistics::Statistic;
use nalgebra::DMatrix;

/// An item of the codebook.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemPlan {
    /// Name.
    pub name: String,
    /// Model; `2pl` or `gpcm` by the number of categories where none is given.
    pub model: Option<String>,
    /// Category codes of the codebook; those seen at any site where none are given.
    pub codes: Option<Vec<u8>>,
    /// Given parameters.
    pub anchor: Option<Anchor>,
}

/// What is to be calibrated, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The codebook.
    pub items: Vec<ItemPlan>,
    /// Assumption about sites.
    pub effects: Effects,
    /// Grid over ability.
    pub grid: GridSpec,
    /// Maximisation.
    pub settings: Settings,
    /// Whether sites send their effects by name.
    pub publish_effects: bool,
}

/// What a site said when it enrolled.
#[derive(Debug, Clone, PartialEq)]
pub struct Enrolled {
    /// Name.
    pub name: String,
    /// Rows.
    pub students: u64,
    /// For each item of the codebook, the codes it uses as a bit mask; 0 where it does not give the item.
    pub codes: Vec<u64>,
    /// Whether its students carry weights.
    pub weighted: bool,
}

/// What the machine wants.
#[derive(Debug)]
pub enum Step {
    /// Ask all sites.
    Ask(Box<Request>),
    /// Finished.
    Done(Box<Outcome>),
}

enum Phase {
    Opening,
    Rounds,
    Information(Box<Solution>),
    Closing(Box<Solution>, Option<Box<Bread>>),
}

/// The machine.
pub struct Calibration {
    plan: Plan,
    sites: Vec<Enrolled>,
    phase: Phase,
    /// Items of the provisional design, as positions in the codebook.
    provisional: Design,
    problem: Option<Problem>,
    algorithm: Option<Box<dyn Algorithm>>,
    weight_scale: f64,
    students: f64,
    trace: Vec<TraceEntry>,
    exchanges: usize,
    numbers_sent: u64,
    warnings: Vec<Warning>,
    effects: Effects,
}

impl std::fmt::Debug for Calibration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Calibration({} items, {} sites, {} exchanges)",
            self.plan.items.len(),
            self.sites.len(),
            self.exchanges
        )
    }
}

fn warning(code: &str, message: String) -> Warning {
    Warning { code: code.to_owned(), message }
}

/// Names in a sentence: at most five of them.
pub(super) fn some_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.len() {
        0..=5 => names.join(", "),
        n => format!("{}, … ({n} in all)", names[..4].join(", ")),
    }
}

impl Calibration {
    /// A calibration of these sites, with its first question.
    pub fn new(plan: Plan, sites: Vec<Enrolled>) -> Result<(Self, Box<Request>), CentreError> {
        let mut warnings = Vec::new();
        let mut effects = plan.effects;
        if sites.len() < 2 && effects != Effects::None {
            effects = Effects::None;
            warnings
                .push(warning("one_site", "there is only one site: no site effects are estimated".into()));
        }
        check_algorithm(&plan, effects)?;
        let provisional = provisional_design(&plan, &sites, &mut warnings)?;
        let opening = match plan.settings.algorithm {
            AlgorithmKind::Newton | AlgorithmKind::Em => Ask::Start,
            _ => Ask::Counts,
        };
        let calibration = Self {
            plan,
            sites,
            phase: Phase::Opening,
            provisional,
            problem: None,
            algorithm: None,
            weight_scale: 1.0,
            students: 0.0,
            trace: Vec::new(),
            exchanges: 0,
            numbers_sent: 0,
            warnings,
            effects,
        };
        let request = calibration.request(opening);
        Ok((calibration, request))
    }

    /// Rounds so far.
    pub fn trace(&self) -> &[TraceEntry] {
        &self.trace
    }

    fn weighted(&self) -> bool {
        self.sites.iter().any(|s| s.weighted)
    }

    fn request(&self, ask: Ask) -> Box<Request> {
        let design = self.problem.as_ref().map_or(&self.provisional, |p| &p.design);
        let parts = self.problem.as_ref().map_or_else(|| vec![0; design.len()], |p| p.parts.clone());
        Box::new(Request {
            design: design.clone(),
            parts,
            grid: self.plan.grid,
            weight_scale: self.weight_scale,
            weighted: self.weighted(),
            effects: self.effects,
            ask,
        })
    }

    /// Takes the answers to the last question.
    pub fn advance(&mut self, request: &Request, aggregate: &Aggregate) -> Result<Step, CentreError> {
        self.exchanges += 1;
        let schema = request.schema();
        self.numbers_sent += schema.iter().map(|slot| slot.len as u64).sum::<u64>();
        let round = self.trace.len() + 1;
        for slot in &schema {
            if aggregate.sum(slot.statistic, 0).iter().any(|x| !x.is_finite()) {
                return Err(CentreError::NotFinite { round, statistic: slot.statistic.info().name });
            }
        }
        let mut entry = TraceEntry {
            round,
            loglik: None,
            max_gradient: None,
            max_change: None,
            slowest_items: Vec::new(),
        };
        let phase = std::mem::replace(&mut self.phase, Phase::Rounds);
        let next = match phase {
            Phase::Opening => {
                self.open(aggregate)?;
                self.trace.push(entry);
                let mut unused = self.trace[0].clone();
                self.next_round(None, &mut unused)?
            }
            Phase::Rounds => {
                let next = self.next_round(Some(aggregate), &mut entry)?;
                self.trace.push(entry);
                next
            }
            Phase::Information(mut solution) => {
                let problem = self.problem()?;
                let size = problem.design.parameters() + usize::from(problem.effects == Effects::Random);
                entry.loglik = Some(aggregate.scalar(Statistic::Loglik));
                let gradient = aggregate.sum(Statistic::Gradient, 0);
                let (norm, slowest) = problem.gradient_norm(gradient, &[]);
                entry.max_gradient = Some(norm);
                entry.slowest_items = slowest;
                solution.information = Some(symmetric(size, aggregate.sum(Statistic::Information, 0)));
                solution.totals = EffectTotals::read(aggregate, 0);
                self.trace.push(entry);
                Next::Done(solution)
            }
            Phase::Closing(solution, bread) => {
                return Ok(Step::Done(Box::new(self.finish(*solution, bread.as_deref(), aggregate)?)));
            }
        };
        Ok(Step::Ask(match next {
            Next::Ask(ask) => self.request(ask),
            Next::Done(solution) => self.close(solution)?,
        }))
    }

    fn problem(&self) -> Result<&Problem, CentreError> {
        self.problem.as_ref().ok_or(CentreError::NoStudents)
    }

    fn next_round(
        &mut self,
        aggregate: Option<&Aggregate>,
        entry: &mut TraceEntry,
    ) -> Result<Next, CentreError> {
        let problem = self.problem.as_ref().ok_or(CentreError::NoStudents)?;
        let algorithm = self.algorithm.as_mut().ok_or(CentreError::NoStudents)?;
        let next = algorithm.next(problem, aggregate, entry);
        // Standard errors of algorithms that never saw the information cost one more round.
        if let Next::Done(solution) = next {
            if solution.information.is_some() || solution.own_variances.is_some() {
                return Ok(Next::Done(solution));
            }
            let ask = Ask::Evaluate { points: vec![solution.point.clone()], curvature: Curvature::Observed };
            self.phase = Phase::Information(solution);
            return Ok(Next::Ask(ask));
        }
        Ok(next)
    }

    /// Reads the opening sums: what can be calibrated, and from where to start.
    fn open(&mut self, aggregate: &Aggregate) -> Result<(), CentreError> {
        self.students = aggregate.scalar(Statistic::Students);
        if self.students < 1.0 {
            return Err(CentreError::NoStudents);
        }
        self.weight_scale = self.students / aggregate.scalar(Statistic::Weight).max(f64::MIN_POSITIVE);
        let p = self.provisional.parameters();
        let pairs = aggregate.sum(Statistic::PairTable, 0);
        let table = if pairs.is_empty() {
            DMatrix::from_diagonal(&nalgebra::DVector::from_row_slice(
                aggregate.sum(Statistic::CategoryCounts, 0),
            ))
        } else {
            symmetric(p, pairs) * self.weight_scale
        };
        let (design, kept_items, kept) = self.used_categories(&table)?;
        let names: Vec<String> =
            design.items().iter().map(|i| self.plan.items[i.column].name.clone()).collect();
        let given = self
            .sites
            .iter()
            .map(|site| (0..design.len()).filter(|&j| site.codes[design.items()[j].column] != 0).collect());
        let parts = linked_parts(design.len(), given);
        self.warn_of_parts(&design, &parts);
        let anchors: Vec<Option<Anchor>> =
            design.items().iter().map(|i| self.plan.items[i.column].anchor.clone()).collect();
        self.check_anchors(&design, &anchors)?;
        let structure = Structure::new(&design, &anchors, self.effects);
        let problem = Problem {
            design,
            names,
            parts,
            structure,
            effects: self.effects,
            settings: self.plan.settings.clone(),
            students: self.students,
            site_students: self.sites.iter().map(|s| s.students as f64).collect(),
        };
        self.algorithm = Some(match self.plan.settings.algorithm {
            AlgorithmKind::Newton | AlgorithmKind::Em => {
                let sub = |statistic| {
                    let v = aggregate.sum(statistic, 0);
                    if v.is_empty() { DMatrix::zeros(0, 0) } else { symmetric(self.provisional.len(), v) }
                };
                let cut = |m: DMatrix<f64>| {
                    if m.is_empty() {
                        m
                    } else {
                        DMatrix::from_fn(kept_items.len(), kept_items.len(), |r, c| {
                            m[(kept_items[r], kept_items[c])]
                        })
                    }
                };
                let sums = StartSums {
                    pairs: DMatrix::from_fn(kept.len(), kept.len(), |r, c| table[(kept[r], kept[c])]),
                    school_products: cut(sub(Statistic::SchoolProducts)) * self.weight_scale,
                    school_pairs: cut(sub(Statistic::SchoolPairs)) * self.weight_scale,
                };
                starting_algorithm(&problem, &sums)
            }
            AlgorithmKind::Bfgs => Box::new(Bfgs::new(&problem)),
            AlgorithmKind::Fedsgd | AlgorithmKind::Fedavg => Box::new(Averaging::new(&problem)),
            AlgorithmKind::Meta => Box::new(Meta),
        });
        self.problem = Some(problem);
        self.warn_of_small_sites();
        Ok(())
    }

    /// The design of items and categories that somebody used, the kept items and the kept categories.
    fn used_categories(
        &mut self,
        table: &DMatrix<f64>,
    ) -> Result<(Design, Vec<usize>, Vec<usize>), CentreError> {
        let (mut items, mut kept_items, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        let (mut constant, mut closed) = (Vec::new(), Vec::new());
        for (j, item) in self.provisional.items().iter().enumerate() {
            let plan = &self.plan.items[item.column];
            let used: Vec<usize> = self.provisional.span(j).filter(|&r| table[(r, r)] > 0.0).collect();
            // Given parameters fix the categories.
            if plan.anchor.is_some() {
                kept.extend(self.provisional.span(j));
                kept_items.push(j);
                items.push(item.clone());
            } else if used.len() < 2 {
                constant.push(plan.name.as_str());
            } else {
                if used.len() < item.codes.len() {
                    closed.push(plan.name.as_str());
                }
                let first = self.provisional.offset(j);
                let codes: Vec<u8> = used.iter().map(|r| item.codes[r - first]).collect();
                let model = plan.model.clone().unwrap_or_else(|| default_model(codes.len()));
                items.push(DesignItem { column: item.column, model, codes });
                kept_items.push(j);
                kept.extend(used);
            }
        }
        let mut found = Vec::new();
        if !constant.is_empty() {
            found.push(warning(
                "item_dropped",
                format!("everyone answered alike: {}; no parameters can be estimated", some_names(constant)),
            ));
        }
        if !closed.is_empty() {
            found.push(warning(
                "category_unused",
                format!("categories that nobody chose are closed up: {}", some_names(closed)),
            ));
        }
        self.warnings.extend(found);
        if items.len() < 2 {
            let names = some_names(items.iter().map(|i| self.plan.items[i.column].name.as_str()));
            return Err(CentreError::TooFewItems(items.len(), names));
        }
        let design = Design::try_from(items).map_err(|e| CentreError::Models(e.to_string()))?;
        Ok((design, kept_items, kept))
    }

    fn check_anchors(&self, design: &Design, anchors: &[Option<Anchor>]) -> Result<(), CentreError> {
        for (j, anchor) in anchors.iter().enumerate() {
            if let Some(anchor) = anchor
                && anchor.d.len() + 1 != design.categories(j)
            {
                let name = &self.plan.items[design.items()[j].column].name;
                return Err(CentreError::Models(format!(
                    "fixed item {name} has {} steps, but {} categories in the data",
                    anchor.d.len(),
                    design.categories(j)
                )));
            }
        }
        Ok(())
    }

    fn warn_of_parts(&mut self, design: &Design, parts: &[usize]) {
        let count = parts.iter().max().map_or(0, |p| p + 1);
        if count < 2 {
            return;
        }
        let named: Vec<String> = (0..count)
            .map(|part| {
                let names = (0..design.len()).filter(|&j| parts[j] == part);
                let names = names.map(|j| self.plan.items[design.items()[j].column].name.as_str());
                format!("({})", some_names(names))
            })
            .collect();
        let consequence = match self.effects {
            Effects::Fixed => {
                "site effects sum to zero within each part, and neither items nor sites of different parts can be compared"
            }
            _ => "they are comparable only if all sites draw from one population",
        };
        let message = format!(
            "the items fall into {count} parts that no site links: {}; {consequence}",
            named.join(" ")
        );
        self.warnings.push(warning("unlinked_parts", message));
    }

    fn warn_of_small_sites(&mut self) {
        if self.effects != Effects::Fixed {
            return;
        }
        let mut sizes: Vec<u64> = self.sites.iter().map(|s| s.students).collect();
        sizes.sort_unstable();
        let median = sizes[sizes.len() / 2];
        if median < 20 && sizes.len() >= 10 {
            self.warnings.push(warning(
                "small_sites",
                format!("half of the sites have at most {median} students: random effects (--effects random) estimate such sites better"),
            ));
        }
    }

    /// The closing question at the estimates, centred.
    fn close(&mut self, mut solution: Box<Solution>) -> Result<Box<Request>, CentreError> {
        let problem = self.problem()?;
        let centred =
            solution.effects.is_none() && self.effects == Effects::Fixed && !problem.structure.anchored();
        if centred {
            super::errors::centre_origin(problem, &mut solution);
        }
        let bread = solution.information.as_ref().and_then(|information| {
            Bread::new(problem, &solution.y, information, &solution.totals, &solution.at_bound)
        });
        let errors = bread
            .as_ref()
            .filter(|_| self.effects == Effects::Fixed)
            .map(|bread| effect_errors(problem, &bread.observed(), &solution.totals));
        let sd = problem.structure.sd(&solution.y);
        // With the information at hand sites profile their effect at home, whoever found the items.
        let effects =
            solution.effects.clone().filter(|_| solution.own_variances.is_some() || errors.is_none());
        let ask = Ask::Close {
            point: Point { psi: solution.point.psi.clone(), site_sd: solution.point.site_sd },
            sd,
            errors,
            effects,
            publish_effects: self.plan.publish_effects && self.effects != Effects::None,
        };
        if bread.is_none() && solution.own_variances.is_none() {
            self.warnings.push(warning(
                "information_not_positive",
                "the information matrix is not positive definite at the end: no standard errors".into(),
            ));
        }
        self.phase = Phase::Closing(solution, bread.map(Box::new));
        Ok(self.request(ask))
    }

    fn finish(
        &mut self,
        solution: Solution,
        bread: Option<&Bread>,
        aggregate: &Aggregate,
    ) -> Result<Outcome, CentreError> {
        let errors = bread.map(|bread| {
            let products = aggregate.sum(Statistic::ScoreProducts, 0);
            if products.is_empty() {
                bread.observed()
            } else {
                let size = ((8.0 * products.len() as f64 + 1.0).sqrt() as usize - 1) / 2;
                bread.sandwich(&symmetric(size, products))
            }
        });
        let problem = self.problem()?;
        let mut outcome =
            Outcome::new(problem, &self.plan, &self.sites, solution, errors.as_ref(), aggregate);
        outcome.weighted = self.weighted();
        outcome.warnings.splice(0..0, std::mem::take(&mut self.warnings));
        outcome.rounds = self.trace.len();
        outcome.trace = std::mem::take(&mut self.trace);
        outcome.exchanges = self.exchanges;
        outcome.numbers_sent = self.numbers_sent;
        Ok(outcome)
    }
}

fn default_model(categories: usize) -> String {
    if categories == 2 { "2pl" } else { "gpcm" }.to_owned()
}

fn check_algorithm(plan: &Plan, effects: Effects) -> Result<(), CentreError> {
    let algorithm = plan.settings.algorithm;
    let general = matches!(algorithm, AlgorithmKind::Newton | AlgorithmKind::Em);
    let name = algorithm.name();
    if !general && effects == Effects::Random {
        return Err(CentreError::Unsupported(format!(
            "{name} knows no random site effects; use newton or em, or effects fixed or none"
        )));
    }
    if !general && plan.items.iter().any(|i| i.anchor.is_some()) {
        return Err(CentreError::Unsupported(format!("{name} knows no fixed items; use newton or em")));
    }
    Ok(())
}

/// All items with at least two codes, each with all its codes; complaints that need no data.
fn provisional_design(
    plan: &Plan,
    sites: &[Enrolled],
    warnings: &mut Vec<Warning>,
) -> Result<Design, CentreError> {
    let mut items = Vec::new();
    let (mut constant, mut absent, mut complaints) = (Vec::new(), Vec::new(), Vec::new());
    for (column, item) in plan.items.iter().enumerate() {
        let seen = sites.iter().fold(0u64, |m, s| m | s.codes[column]);
        let codes: Vec<u8> = match &item.codes {
            Some(codes) => codes.clone(),
            None => match &item.anchor {
                // A fixed item may have categories that nobody chose here.
                Some(anchor) => (0..=anchor.d.len() as u8).collect(),
                None => (0..64).filter(|c| seen >> c & 1 == 1).collect(),
            },
        };
        if seen == 0 && item.anchor.is_none() {
            absent.push(item.name.as_str());
        } else if codes.len() < 2 {
            constant.push(item.name.as_str());
        } else {
            let model = item.model.clone().unwrap_or_else(|| default_model(codes.len()));
            match items::model(&model) {
                None => complaints.push(format!("item {}: there is no model {model:?}", item.name)),
                Some(m) if codes.len() > 2 && !m.polytomous() => complaints.push(format!(
                    "item {} has {} categories, and {model} takes two: give it gpcm or grm (--item-model {}=gpcm, or --model gpcm)",
                    item.name, codes.len(), item.name
                )),
                Some(_) if codes.len() > MAX_CATEGORIES => complaints.push(format!("item {} has {} categories, more than {MAX_CATEGORIES}", item.name, codes.len())),
                Some(_) => items.push(DesignItem { column, model, codes }),
            }
        }
    }
    let rule = |wanted: SlopeRule| {
        items.iter().any(|i: &DesignItem| items::model(&i.model).is_some_and(|m| m.slope() == wanted))
    };
    if rule(SlopeRule::One) && rule(SlopeRule::LatentSd) {
        complaints.push(
            "1pl fixes the SD of ability at 1, rasch and pcm estimate it: use one or the other".to_owned(),
        );
    }
    if !complaints.is_empty() {
        return Err(CentreError::Models(complaints.join("\n")));
    }
    if !absent.is_empty() {
        warnings.push(warning("item_absent", format!("no site has answers to {}", some_names(absent))));
    }
    if !constant.is_empty() {
        let names = some_names(constant);
        warnings.push(warning(
            "item_dropped",
            format!("everyone answered alike: {names}; no parameters can be estimated"),
        ));
    }
    if items.len() < 2 {
        let names = some_names(items.iter().map(|i| plan.items[i.column].name.as_str()));
        return Err(CentreError::TooFewItems(items.len(), names));
    }
    Design::try_from(items).map_err(|e| CentreError::Models(e.to_string()))
}

/// Newton or EM from the pair tables. Items with given parameters set the unit and origin of the start.
fn starting_algorithm(problem: &Problem, sums: &StartSums) -> Box<dyn Algorithm> {
    let start = start::start(&problem.design, sums);
    let tau = (start.between / (1.0 - start.between)).sqrt().max(0.1);
    let mut points: Vec<_> = start
        .candidates
        .iter()
        .map(|psi| {
            let (sd, mean) = problem.structure.population_start(psi);
            let mut psi = psi.clone();
            if problem.structure.anchored() && problem.effects == Effects::Fixed {
                // The effects carry the mean: free items move to the anchors' origin.
                let shift = problem.design.shift_direction(&psi);
                psi.iter_mut().zip(&shift).for_each(|(x, n)| *x -= n * mean / sd);
            }
            problem.structure.coordinates(&psi, sd, mean)
        })
        .collect();
    if problem.settings.algorithm == AlgorithmKind::Em {
        return Box::new(Em::new(points.swap_remove(0), tau, problem.effects));
    }
    Box::new(Newton::new(points, tau))
}

fn effect_errors(problem: &Problem, errors: &Errors, totals: &EffectTotals) -> EffectErrors {
    let p = problem.design.parameters();
    let mut covariance = Vec::new();
    for r in 0..p {
        for c in 0..=r {
            covariance.push(errors.before_centring[(r, c)]);
        }
    }
    let centred = !problem.structure.anchored();
    let mean_loadings = totals
        .loadings
        .iter()
        .enumerate()
        .map(|(at, b)| if totals.sites[at / p] > 0.0 { b / totals.sites[at / p] } else { 0.0 })
        .collect();
    EffectErrors {
        covariance,
        mean_loadings,
        sites: totals.sites.iter().map(|n| if centred { *n } else { 0.0 }).collect(),
        variances: totals.variances.clone(),
        sd_gradient: problem.structure.sd_from_psi(),
    }
}
