//! What would be sent, number by number, before anything is: nothing of this leaves, or is written down.

use super::AgentError;
use super::preview_private::private_rounds;
use super::responses::OwnResponses;
use super::study::Study;
use fedirt_model::centre::{AlgorithmKind, Calibration, Enrolled, Secrecy};
use fedirt_model::design::Design;
use fedirt_model::exchange::{Ask, Curvature, Effects, Point, Request};
use fedirt_model::private::MissingAnswers;
use fedirt_model::site::Site;
use fedirt_model::statistics::{Combination, Mode};
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::private::incomplete_rows;
use serde::Serialize;

/// Everything that a site would send.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// Study.
    pub study: String,
    /// This site.
    pub site: String,
    /// Mode.
    pub mode: String,
    /// Students that are declared.
    pub students: u64,
    /// Whether they carry weights, and then the sum of them and a bound.
    pub weights: Option<(f64, f64)>,
    /// The items with the codes that are declared.
    pub items: Vec<ItemGiven>,
    /// The rounds.
    pub rounds: Vec<RoundPreview>,
    /// What the officer should know about them.
    pub remarks: Vec<String>,
}

/// An item as it is declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemGiven {
    /// Item.
    pub item: String,
    /// Codes; none where the site does not give the item.
    pub codes: Vec<u8>,
}

/// What a round asks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundPreview {
    /// Which.
    pub name: String,
    /// What the numbers are.
    pub remark: String,
    /// The statistics.
    pub statistics: Vec<StatisticPreview>,
}

/// A statistic with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatisticPreview {
    /// Name in the registry.
    pub name: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// How many numbers.
    pub count: usize,
    /// The numbers.
    pub numbers: Vec<f64>,
    /// Whether the site's name stands beside them.
    pub by_name: bool,
}

/// What a site with these answers would send under a plan.
pub fn preview(study: &Study, own: &OwnResponses) -> Result<Preview, AgentError> {
    let terms = &study.terms;
    let declaration = Declaration::of(&own.table, terms);
    let rounds = match terms.mode {
        Mode::Private => private_rounds(study, &declaration)?,
        _ => exact_rounds(study, &declaration, own)?,
    };
    let items = study.plan.items.iter().zip(&declaration.codes).map(|(item, mask)| ItemGiven {
        item: item.name.clone(),
        codes: (0..64).filter(|c| mask >> c & 1 == 1).collect(),
    });
    Ok(Preview {
        study: study.plan.study.clone(),
        site: study.connection.site.clone(),
        mode: terms.mode.name().to_owned(),
        students: declaration.students,
        weights: declaration.weighted.then_some((declaration.total_weight, declaration.largest_weight)),
        items: items.collect(),
        rounds,
        remarks: remarks(
            study,
            &declaration,
            incomplete_rows(study.terms.private.as_ref().map_or(&[][..], |p| &p.booklets), &own.table),
        ),
    })
}

fn exact_rounds(
    study: &Study,
    declaration: &Declaration,
    own: &OwnResponses,
) -> Result<Vec<RoundPreview>, AgentError> {
    let first = first_request(study, declaration)?;
    let mut site = Site::new(own.table.clone());
    let mut rounds = vec![round("1", exact_remark(study.terms.mode), &mut site, &first)];
    for (name, ask) in later(study, &first) {
        let request = Request { ask, ..first.clone() };
        request.check(study.terms.plan.items.len()).map_err(AgentError::Mismatch)?;
        let remark = "at the starting values, slopes 1 and intercepts 0; the numbers of other parameters are like them";
        let remark = format!("{}; {remark}", exact_remark(study.terms.mode));
        rounds.push(round(name, &remark, &mut site, &request));
    }
    Ok(rounds)
}

fn exact_remark(mode: Mode) -> &'static str {
    match mode {
        Mode::Plain => "these numbers are sent as they stand here",
        _ => "these numbers are masked: only the sum over all sites opens",
    }
}

/// The first question, as the coordinator would ask it if the other sites had students like these, and all items.
fn first_request(study: &Study, own: &Declaration) -> Result<Request, AgentError> {
    let terms = &study.terms;
    let mut plan = terms.plan.clone();
    if terms.mode != Mode::Plain {
        let honest = terms.sites.len().saturating_sub(terms.thresholds.colluders());
        plan.secrecy = Secrecy::Sums { n_min: terms.thresholds.n_min(), honest };
    }
    let all: Vec<u64> =
        study.plan.items.iter().map(|i| i.categories.iter().fold(0, |m, c| m | 1 << (c & 63))).collect();
    let sites = (terms.sites.keys()).map(|site| Enrolled {
        name: terms.label(site),
        students: own.students,
        codes: if *site == study.site { own.codes.clone() } else { all.clone() },
        weighted: own.weighted,
        total_weight: own.total_weight,
    });
    let (_, request) =
        Calibration::new(plan, sites.collect()).map_err(|e| AgentError::Mismatch(e.to_string()))?;
    Ok(*request)
}

/// What later rounds ask, by the plan's algorithm.
fn later(study: &Study, first: &Request) -> Vec<(&'static str, Ask)> {
    let sites = study.terms.sites.len();
    let point = Point { psi: start(&first.design), site_sd: 0.3 };
    let evaluate =
        |curvature, effect_totals| Ask::Evaluate { points: vec![point.clone()], curvature, effect_totals };
    let plain = study.terms.mode == Mode::Plain;
    let settings = &study.terms.plan.settings;
    let effects = || vec![0.0; if first.effects == Effects::None { 0 } else { sites }];
    let published = || Ask::Published { psi: point.psi.clone(), effects: effects(), chosen: None };
    let mut asks = vec![match settings.algorithm {
        AlgorithmKind::Newton => ("2 and later", evaluate(Curvature::Observed, plain)),
        AlgorithmKind::Em => ("2 and later", evaluate(Curvature::Complete, plain)),
        AlgorithmKind::Meta => ("2", Ask::LocalFit { tolerance: settings.tolerance, iterations: 100 }),
        _ => ("2 and later", published()),
    }];
    if !plain && first.effects == Effects::Fixed {
        asks.push(("last but one (once)", evaluate(Curvature::Observed, true)));
    } else if settings.algorithm == AlgorithmKind::Em {
        asks.push(("last but one", evaluate(Curvature::Observed, plain)));
    }
    if first.weighted {
        asks.push((
            "for robust standard errors",
            Ask::Products { point: point.clone(), effect_unit: 1.0, rounded: !plain },
        ));
    }
    asks.push((
        "closing",
        Ask::Close {
            point,
            sd: 1.0,
            errors: None,
            effects: None,
            publish_effects: study.terms.plan.publish_effects && first.effects != Effects::None,
        },
    ));
    asks
}

/// Slopes 1; intercepts 0, or falling by 1 around 0 where they must fall.
fn start(design: &Design) -> Vec<f64> {
    let mut psi = vec![0.0; design.parameters()];
    for j in 0..design.len() {
        let steps = design.categories(j) - 1;
        let own = &mut psi[design.span(j)];
        own[0] = 1.0;
        if design.items()[j].model == "grm" {
            (0..steps).for_each(|c| own[1 + c] = 0.5 * (steps as f64 - 1.0) - c as f64);
        }
    }
    psi
}

fn round(name: &str, remark: &str, site: &mut Site, request: &Request) -> RoundPreview {
    let summary = site.answer(request);
    let statistics = (request.schema().iter().zip(summary.vectors))
        .map(|(slot, numbers)| {
            let info = slot.statistic.info();
            let by_name = info.combination == Combination::BySite;
            StatisticPreview { name: info.name, meaning: info.meaning, count: slot.len, numbers, by_name }
        })
        .collect();
    RoundPreview { name: name.to_owned(), remark: remark.to_owned(), statistics }
}

fn remarks(study: &Study, own: &Declaration, incomplete: u64) -> Vec<String> {
    let mut remarks = Vec::new();
    match study.terms.mode {
        Mode::Plain => remarks.push(
            "Mode plain: the coordinator sees these numbers beside this site's name. From sums like these over several rounds \
             the answers of single students can be rebuilt: it must be trusted like a holder of the data."
                .into(),
        ),
        Mode::Private => remarks.push(
            "Mode private: what leaves are sums with noise, under masks. What anyone can learn about one student is bounded by the \
             plan's epsilon and delta, which this site's ledger accounts for."
                .into(),
        ),
        Mode::Secure => remarks.push(
            "Mode secure: what leaves are these numbers under masks, which look like dice. Only the sum over all sites opens. \
             A question about items that few sites give is refused."
                .into(),
        ),
    }
    if study.plan.pooled_rows_may_be_inferred() {
        remarks.push(
            "The pooled rows may be inferred: with 12 items or fewer, or fewer than 1000 students, the sums can determine \
             which answer patterns all sites together have (not who gave them, nor at which site)."
                .into(),
        );
    }
    if let (Some(private), true) = (&study.terms.private, incomplete > 0) {
        remarks.push(match private.missing {
            MissingAnswers::Counted => format!(
                "{incomplete} of {} rows lack an answer to an item of their booklet, and count for nothing; a plan with \
                 missing_answers = \"wrong\" would count such answers as wrong. This is not sent.",
                own.students
            ),
            MissingAnswers::Wrong => format!(
                "{incomplete} of {} rows lack an answer, which counts as wrong. This is not sent.",
                own.students
            ),
        });
    }
    if own.weighted {
        remarks.push(
            "Weights are scaled so that they add up to the number of students of all sites: the numbers here are scaled as if \
             the other sites' weights were like these."
                .into(),
        );
    }
    remarks.push("Nothing was sent, and nothing of this is kept. Later rounds may ask at more than one set of parameters.".into());
    remarks
}
