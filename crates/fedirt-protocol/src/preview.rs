//! What a site would send under a plan, round by round, before anything is sent. It needs the plan and the site's rows
//! alone: no network, no files, no other site.
//!
//! The rounds are those of the calibration's own [schedule](fedirt_model::centre::Schedule), and their statistics are
//! those that the questions declare. Other sites are assumed to have students like this one's, and all items.

use crate::codec::CodecError;
use crate::declaration::{Declaration, DeclarationError, Declarations};
use crate::private::{self, PrivateRefusal};
use crate::site::PrivateCost;
use crate::terms::Terms;
use fedirt_model::centre::{Calibration, CentreError, Enrolled, Stage};
use fedirt_model::code_set::CodeSet;
use fedirt_model::design::Design;
use fedirt_model::exchange::{Effects, Point, Request};
use fedirt_model::private::{PrivatePlan, ROUND_SHARES};
use fedirt_model::questions::{About, Malformed, NOISY_SCORES, ReplyError, Tensor};
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::Site;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Identity, Roster, SiteId};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde::Serialize;

/// What the rounds of one stage ask for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundPreview {
    /// Which rounds, for people.
    pub name: String,
    /// What the numbers are.
    pub remark: String,
    /// The statistics.
    pub statistics: Vec<StatisticPreview>,
    /// The stage of the calibration; none in `private`, where each round stands for itself.
    #[serde(skip)]
    pub stage: Option<Stage>,
}

/// A statistic with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatisticPreview {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// How many numbers.
    pub count: usize,
    /// The numbers.
    pub numbers: Vec<f64>,
    /// What each number is about, such as `i03 = 1 and i07 = 0`; empty where a number stands for itself.
    pub about: Vec<String>,
    /// Whether the site's name stands beside them.
    pub by_name: bool,
}

/// Why it cannot be said what would be sent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PreviewError {
    /// The plan cannot be calibrated with these answers.
    #[error(transparent)]
    Centre(#[from] CentreError),
    /// The site's answer is not what its question declares.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// A question that the site could not answer.
    #[error(transparent)]
    Question(#[from] Malformed),
    /// The plan's terms of privacy.
    #[error(transparent)]
    Private(#[from] PrivateRefusal),
    /// The site's declaration.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The names of the sites.
    #[error("{0}")]
    Roster(String),
    /// The declaration cannot be encoded.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

/// The rounds of a study, as a site with these rows would answer them.
pub fn rounds(
    terms: &Terms,
    site: &SiteId,
    table: &ResponseTable,
) -> Result<Vec<RoundPreview>, PreviewError> {
    let declaration = Declaration::of(table, terms);
    match terms.mode {
        Mode::Plain | Mode::Secure => exact_rounds(terms, site, &declaration, table),
        Mode::Private => private_rounds(terms, &declaration),
    }
}

fn exact_rounds(
    terms: &Terms,
    site: &SiteId,
    own: &Declaration,
    table: &ResponseTable,
) -> Result<Vec<RoundPreview>, PreviewError> {
    let (calibration, first) = calibration(terms, site, own)?;
    let mut psi = start(&first.design);
    psi.extend(first.population.starts().swap_remove(0));
    let point = Point { psi, site_sd: 0.3 };
    let sites = if first.effects == Effects::None { 0 } else { terms.sites.len() };
    let mut here = Site::new(table.clone());
    // Lists with one entry per site are in the order of the cohort.
    here.set_index(terms.sites.keys().position(|other| other == site).unwrap_or(0));
    let sent = match terms.mode {
        Mode::Plain => "these numbers are sent as they stand here",
        Mode::Secure | Mode::Private => "these numbers are masked: only the sum over all sites opens",
    };
    let schedule = calibration.schedule().stages();
    schedule
        .into_iter()
        .map(|(stage, ask)| {
            let ask = ask.at(&first, &point, sites);
            let request = Request { ask, ..(*first).clone() };
            request.check(terms.plan.items.len())?;
            // The first question is asked before there are parameters.
            let remark = if stage == Stage::Opening { sent.to_owned() } else { at_start(sent) };
            let statistics = here.answer(&request)?;
            let statistics = statistics.tensors().map(|(tensor, numbers)| StatisticPreview {
                name: tensor.statistic.name,
                meaning: tensor.statistic.meaning,
                count: tensor.len(),
                numbers: numbers.to_vec(),
                about: about(tensor, &request.design, terms),
                by_name: !tensor.summed(),
            });
            Ok(RoundPreview {
                name: stage.name().to_owned(),
                remark,
                statistics: statistics.collect(),
                stage: Some(stage),
            })
        })
        .collect()
}

/// What each number of a tensor is about, in words.
fn about(tensor: &Tensor, design: &Design, terms: &Terms) -> Vec<String> {
    let name = |item: usize| {
        let planned = design.items().get(item).and_then(|item| terms.plan.items.get(item.column));
        planned.map_or_else(|| format!("item {}", item + 1), |planned| planned.name.clone())
    };
    let code = |item: usize, category: usize| {
        let codes = design.items().get(item).map(|item| item.codes.as_slice()).unwrap_or_default();
        codes.get(category).map_or(category, |code| usize::from(*code))
    };
    let one = |about: About| match about {
        About::Place(place) => format!("place {}", place + 1),
        About::Item(item) => name(item),
        About::Category(item, category) => format!("{} = {}", name(item), code(item, category)),
        About::Parameter(item, parameter) if parameter < design.slopes(item).len() => {
            format!("{}, slope", name(item))
        }
        About::Parameter(item, parameter) => {
            format!("{}, parameter {}", name(item), parameter + 1)
        }
        About::Part(part) => format!("part {} of the linking design", part + 1),
        About::Group(group) => {
            terms.plan.groups.get(group).cloned().unwrap_or_else(|| format!("group {}", group + 1))
        }
    };
    let alone = tensor.len() == 1;
    let words = |(first, second): (About, Option<About>)| match (first, second) {
        (About::Place(_), None) if alone => String::new(),
        (first, None) => one(first),
        (first, Some(second)) if first == second => one(first),
        // The smaller item first, as in a table.
        (first, Some(second)) => format!("{} and {}", one(second.min(first)), one(second.max(first))),
    };
    tensor.shape.about().into_iter().map(words).collect()
}

fn at_start(sent: &str) -> String {
    format!(
        "{sent}; at the starting values, slopes 1 and intercepts 0; the numbers of other parameters are like them"
    )
}

/// The calibration with its first question, as the coordinator would begin if the other sites had students like these,
/// and all items.
fn calibration(
    terms: &Terms,
    site: &SiteId,
    own: &Declaration,
) -> Result<(Calibration, Box<Request>), PreviewError> {
    let plan = terms.calibration_of(terms.sites.len());
    let all: Vec<CodeSet> = (terms.plan.items.iter().zip(&own.codes))
        .map(|(item, own)| item.codes.as_ref().map_or(*own, |codes| codes.iter().copied().collect()))
        .collect();
    let sites = terms.sites.keys().map(|other| Enrolled {
        name: terms.label(other),
        students: own.students,
        groups: (1u64 << terms.plan.groups.len()) - 1,
        codes: if other == site { own.codes.clone() } else { all.clone() },
        weighted: own.weighted,
        total_weight: own.total_weight,
    });
    Ok(Calibration::new(plan, sites.collect())?)
}

/// Slopes 1; intercepts 0, or falling by 1 around 0 where they must fall.
fn start(design: &Design) -> Vec<f64> {
    let mut psi = vec![0.0; design.parameters()];
    for j in 0..design.len() {
        psi[design.slopes(j)].fill(1.0);
        let own = &psi[design.span(j)];
        if !design.model(j).admissible(own) {
            let steps = design.slopes(j).end..design.span(j).end;
            let middle = 0.5 * (steps.len() as f64 - 1.0);
            psi[steps].iter_mut().enumerate().for_each(|(c, d)| *d = middle - c as f64);
        }
    }
    psi
}

/// What each planned round of a private study costs, if every other site declares what this one does; nothing where sums are
/// exact.
pub fn planned_costs(terms: &Terms, table: &ResponseTable) -> Result<Vec<PrivateCost>, PreviewError> {
    if terms.mode != Mode::Private {
        return Ok(Vec::new());
    }
    let plan = private_plan(terms, &Declaration::of(table, terms))?;
    let cost = |stage| {
        let noise = private::noise(terms, &plan, stage)?;
        let slack = noise.shares.slack(1).map_err(PrivateRefusal::from)?;
        Ok(PrivateCost { mu_squared: noise.mu_squared, eta: slack.eta, kappa: slack.kappa })
    };
    (0..ROUND_SHARES.len()).map(cost).collect()
}

/// The private calibration, as if every other site had declared what this one does.
fn private_plan(terms: &Terms, own: &Declaration) -> Result<PrivatePlan, PreviewError> {
    // The keys sign these declarations only, and are then forgotten.
    let mut random = ChaCha20Rng::from_seed([0; 32]);
    let identities: Vec<_> =
        terms.sites.keys().map(|site| (site.clone(), Identity::generate(&mut random))).collect();
    let keys = identities.iter().map(|(site, identity)| (site.clone(), identity.public()));
    let roster =
        Roster::of(terms.study.clone(), 0, keys).map_err(|error| PreviewError::Roster(error.to_string()))?;
    let signed = identities.iter().map(|(site, identity)| own.sign(terms, site, identity));
    let signed = signed.collect::<Result<Vec<_>, _>>()?;
    let declarations = Declarations::verify(&roster, &signed, terms.plan.items.len())?;
    let cohort = terms.sites.keys().cloned().collect();
    Ok(private::plan_of(terms, &declarations, &cohort)?)
}

/// Rounds of noisy sums: their size and their noise. The sums without it are never sent, and not shown either.
fn private_rounds(terms: &Terms, own: &Declaration) -> Result<Vec<RoundPreview>, PreviewError> {
    let plan = private_plan(terms, own)?;
    let statistic = StatisticPreview {
        name: NOISY_SCORES.name,
        meaning: NOISY_SCORES.meaning,
        count: plan.width().map_err(PrivateRefusal::from)?,
        numbers: Vec::new(),
        about: Vec::new(),
        by_name: false,
    };
    let clip = plan.clip().map_err(PrivateRefusal::from)?;
    (0..ROUND_SHARES.len())
        .map(|stage| {
            let noise = private::noise(terms, &plan, stage)?;
            Ok(RoundPreview {
                name: (stage + 1).to_string(),
                remark: format!(
                    "what each student adds to the estimates is limited to length {clip:.2} and added up; to each number of the sum over all sites comes noise with a standard deviation of {:.1}, which the sites make; all of it is masked",
                    noise.sum_sd()
                ),
                statistics: vec![statistic.clone()],
                stage: None,
            })
        })
        .collect()
}
