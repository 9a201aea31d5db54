//! Is the model right? What the centre makes of sums at the estimates.
//!
//! One file a statistic; `site` holds what sites sum. Every statistic is a function of sums over students, so that
//! federated and pooled data give the same.

mod cholesky;
mod classical;
pub(crate) mod dif;
mod dimensionality;
mod findings;
mod global;
mod influence;
mod item_fit;
mod latent;
mod pair_tables;
mod polychoric;
mod q3;
mod reliability;
mod score_fit;
mod simulated;
pub(crate) mod site;
mod sum_scores;

pub(crate) use pair_tables::expected_counts;
pub(crate) use sum_scores::{highest, highest_of};

use crate::centre::{PAIRWISE_ITEMS, symmetric};
use crate::design::Design;
use crate::exchange::Effects;
use crate::fit::{Diagnostics, NotAvailable};
use crate::population::Population;
use crate::quadrature::Grid;
use crate::questions::diagnose::{DiagnoseReply, Diagnostic};
use nalgebra::DMatrix;
use site::ExpectedTables;

/// The fitted model, as diagnostics need it.
pub(crate) struct Fitted<'a> {
    /// Items.
    pub design: &'a Design,
    /// Their names.
    pub names: &'a [String],
    /// The sites' names, in the order of the cohort.
    pub sites: Vec<String>,
    /// Their parameters for standardised ability, and behind them those of the population.
    pub psi: &'a [f64],
    /// The derivatives of these in the free parameters, a matrix that is made where it is needed.
    pub jacobian: &'a (dyn Fn() -> DMatrix<f64> + Sync),
    /// Free parameters of each item.
    pub free: Vec<usize>,
    /// The share of students who answered each item.
    pub answered: Vec<f64>,
    /// Distribution of ability.
    pub population: &'a Population,
    /// Free parameters that all items share: those of the population, and its SD and mean where they are estimated.
    pub shared: usize,
    /// Mean and SD of ability on the reported scale.
    pub latent_mean: f64,
    /// See `latent_mean`.
    pub latent_sd: f64,
    /// The grid over ability, with the population's weights.
    pub grid: &'a Grid,
    /// Assumption about sites.
    pub effects: Effects,
    /// Covariance of `psi` before the origin is centred; none where the information is not positive definite, or errors are item by item.
    pub covariance: Option<&'a DMatrix<f64>>,
    /// Whether students carry weights.
    pub weighted: bool,
    /// What was asked for.
    pub wanted: &'a [Diagnostic],
    /// Seed of what is simulated.
    pub seed: u64,
}

/// Why diagnostics are missing that sites were not asked for.
const NOT_ASKED: &str = "it was not asked for";

/// The same in banks in which they are left out by themselves.
const LARGE: &str = "it was not asked for: in a bank this large, numbers that grow with the square of the items are left out unless they are asked for by name";

/// Why a kind of diagnostics is missing that sites were not asked for.
fn not_asked(fitted: &Fitted<'_>, diagnostic: Diagnostic) -> &'static str {
    if diagnostic.grows_with_square() && fitted.design.len() > PAIRWISE_ITEMS { LARGE } else { NOT_ASKED }
}

/// Why tests are missing where students carry weights.
const WEIGHTED: &str = "students carry weights, under which the distribution of the statistic is not known";

/// Why checks are missing that compare with one distribution of ability.
const GROUPS: &str = "each group of students has a distribution of its own; fit without groups to see it";

/// Everything that follows from the sums, and from the two-way tables of the first round, where there are such.
pub(crate) fn diagnose(
    fitted: &Fitted<'_>,
    reply: &DiagnoseReply,
    tables: Option<&DMatrix<f64>>,
) -> Diagnostics {
    let mut out = Diagnostics {
        reliability: (reply.ability.as_ref())
            .and_then(|sums| reliability::reliability(fitted, sums, reply.weight)),
        person_fit: reply.unlikely.as_ref().map(|below| reliability::person_fit(below, reply.weight)),
        item_fit: reply.moments.as_ref().map(|moments| item_fit::item_fit(fitted, moments)),
        q3: q3::Pairs::of(reply).and_then(|pairs| q3::q3(fitted, &pairs, reply.students)),
        ..Diagnostics::default()
    };
    scores(fitted, reply, &mut out);
    pairs(fitted, reply, tables, &mut out);
    match latent::latent(fitted, reply) {
        Ok(check) => out.latent = Some(check),
        Err(reason) => out.not_available.push(NotAvailable::new("latent", reason)),
    }
    match influence::influence(fitted, reply) {
        Ok(found) => out.influence = Some(found),
        Err(reason) => out.not_available.push(NotAvailable::new("influence", reason)),
    }
    let missing = [
        ("reliability", out.reliability.is_none(), Diagnostic::Reliability),
        ("item_fit", out.item_fit.is_none(), Diagnostic::ItemFit),
        ("q3", out.q3.is_none(), Diagnostic::Q3),
    ];
    for (name, _, diagnostic) in missing.into_iter().filter(|(_, missing, _)| *missing) {
        let asked = fitted.wanted.contains(&diagnostic);
        let reason = if asked { "too few students or answers" } else { not_asked(fitted, diagnostic) };
        out.not_available.push(NotAvailable::new(name, reason));
    }
    let found = findings::findings(&out, reply.students);
    out.findings.extend(found);
    out
}

/// S-X² and the abilities of sum scores.
fn scores(fitted: &Fitted<'_>, reply: &DiagnoseReply, out: &mut Diagnostics) {
    let mut missing = |reason: &str| {
        out.not_available.extend(["S_X2", "score_table"].map(|name| NotAvailable::new(name, reason)));
    };
    let (Some(counts), Some(observed)) = (&reply.score_counts, &reply.score_table) else {
        return missing(if fitted.weighted { WEIGHTED } else { not_asked(fitted, Diagnostic::Scores) });
    };
    let complete: f64 = counts.iter().sum();
    if complete < 2.0 {
        return missing(
            "nobody, or too few sites, answered every item: sum scores of different booklets cannot be compared",
        );
    }
    let computed = ExpectedTables::new((fitted.design, fitted.psi), 0.0, fitted.grid, counts);
    let expected = reply.expected_score_table.as_ref().unwrap_or(&computed.answers);
    let expected_scores = reply.expected_scores.as_ref().unwrap_or(&computed.scores);
    match &mut out.item_fit {
        Some(items) => {
            let fits = score_fit::score_fit(fitted, complete, observed, expected);
            item_fit::with_score_fit(items, &fits);
        }
        None => out.not_available.push(NotAvailable::new("S_X2", "item_fit was not asked for")),
    }
    out.score_table = Some(score_fit::score_table(fitted, counts, expected_scores));
    if complete < reply.students - 0.5 {
        out.findings.push(findings::incomplete_rows(complete, reply.students));
    }
}

/// LD-X² and global fit.
fn pairs(fitted: &Fitted<'_>, reply: &DiagnoseReply, tables: Option<&DMatrix<f64>>, out: &mut Diagnostics) {
    let mut missing = |names: &[&str], reason: &str| {
        out.not_available.extend(names.iter().map(|name| NotAvailable::new(name, reason)));
    };
    const ALL: [&str; 5] = ["ld", "global", "dimensionality", "classical", "alpha"];
    if !fitted.wanted.contains(&Diagnostic::Pairs) {
        return missing(&ALL, not_asked(fitted, Diagnostic::Pairs));
    }
    let Some(tables) = tables else {
        return missing(&ALL, "this algorithm does not ask for two-way tables of answers");
    };
    let (classical, alpha) = classical::classical(fitted, tables);
    (out.classical, out.alpha) = (Some(classical), alpha);
    if fitted.weighted {
        return missing(&ALL[..3], WEIGHTED);
    }
    let expected = match &reply.expected_pairs {
        Some(packed) => symmetric(fitted.design.cells(), packed),
        None => expected_counts((fitted.design, fitted.psi), fitted.grid, tables, 0.0),
    };
    if fitted.population.groups() > 1 {
        missing(
            &["global"],
            "with groups the weights of M2 and C2 depend on each group's distribution; fit without groups to see them",
        );
    } else if fitted.effects == Effects::None {
        match global::global_fit(fitted, tables, reply.students) {
            Ok(fit) => out.global = Some(fit),
            Err(error) => missing(&["global"], error.reason()),
        }
    } else {
        missing(
            &["global"],
            "with site effects the weights of M2 and C2 depend on each site's own; fit without effects to see them",
        );
    }
    if fitted.population.groups() > 1 {
        missing(&["dimensionality"], GROUPS);
    } else {
        match dimensionality::dimensionality(fitted, tables, &expected, reply.students) {
            Ok(found) => out.dimensionality = Some(found),
            Err(error) => missing(&["dimensionality"], error.reason()),
        }
    }
    out.ld = Some(pair_tables::local_dependence(fitted, tables, &expected));
}

/// What a private fit says of diagnostics: none can be told.
pub(crate) fn not_in_private() -> Diagnostics {
    let reason = "private fits release noisy scores alone: every further sum over students would cost more of the privacy budget";
    let names = [
        "reliability",
        "item_fit",
        "q3",
        "ld",
        "global",
        "dimensionality",
        "latent",
        "influence",
        "S_X2",
        "score_table",
        "person_fit",
        "classical",
        "dif",
        "site_heterogeneity",
    ];
    Diagnostics {
        not_available: names.map(|name| NotAvailable::new(name, reason)).to_vec(),
        ..Diagnostics::default()
    }
}
