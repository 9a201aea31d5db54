//! The head of the report: what this is, what is wrong with it, and its figures.

use fedirt_model::fit::{Fit, Provenance, Warning};

use super::html::{table_html, written};
use super::words;
use crate::figure::Table;
use crate::text::{self, MISSING, finite};
use askama::Template;

#[derive(Template)]
#[template(path = "heading.html")]
struct HeadingPart {
    title: String,
    lede: String,
}

#[derive(Template)]
#[template(path = "alarms.html")]
struct AlarmsPart<'a> {
    /// What is said of a run that did not converge.
    unfinished: Option<String>,
    /// Warnings that stand open, and the others.
    warnings: [&'a [Warning]; 2],
    how_many: String,
}

#[derive(Template)]
#[template(path = "summary.html")]
struct SummaryPart {
    groups: Vec<(&'static str, Vec<(&'static str, String)>)>,
    /// How to repeat the fit: its command and a table.
    origin: Option<(Option<String>, String)>,
    privacy: Option<String>,
}

pub(crate) fn heading(fit: &Fit) -> String {
    written(&HeadingPart { title: words::title(fit), lede: words::lede(fit) })
}

/// A hundred warnings of one kind must not push the results off the page.
const OPEN_WARNINGS: usize = 8;

/// The banner of a run that did not converge, and the warnings.
pub(super) fn alarms(fit: &Fit) -> String {
    let unfinished = (fit.converged == Some(false)).then(|| {
        let gradient = finite(fit.max_gradient).map_or_else(String::new, |g| {
            format!(" The largest gradient per student is {}.", text::scientific(g))
        });
        let slowest = fit.trace.last().map(|t| t.slowest_items.as_slice()).unwrap_or_default();
        let slowest =
            if slowest.is_empty() { String::new() } else { format!(" Slowest: {}.", text::listed(slowest)) };
        let rounds = text::counted(fit.rounds as u64, "round", "rounds");
        format!("{rounds}, not a maximum of the likelihood; do not use them.{gradient}{slowest}")
    });
    let (open, folded) = fit.warnings.split_at(fit.warnings.len().min(OPEN_WARNINGS));
    let how_many = text::counted(fit.warnings.len() as u64, "warning", "warnings");
    written(&AlarmsPart { unfinished, warnings: [open, folded], how_many })
}

/// The figures of the run in four groups, and what its mode promises.
pub(super) fn block(fit: &Fit) -> String {
    let mut groups = vec![
        ("Data and model", data_and_model(fit)),
        ("Fit", fit_numbers(fit)),
        ("Estimation", estimation(fit)),
        ("Provenance", provenance(fit)),
    ];
    for (_, facts) in &mut groups {
        facts.retain(|(name, _)| !(fit.of_one_site() && OF_SITES.contains(name)));
    }
    written(&SummaryPart {
        groups,
        origin: fit.provenance.as_ref().map(|from| (from.command.clone(), origin(from))),
        privacy: (!fit.of_one_site()).then(|| words::privacy(fit)),
    })
}

/// Facts about what sites do, which mean nothing where there is one.
const OF_SITES: [&str; 5] = ["Site effects", "Sites", "Exchanges", "Numbers sent by a site", "Mode"];

fn data_and_model(fit: &Fit) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Model", words::model(&fit.model)),
        ("Site effects", fit.effects.clone()),
        ("Sites", text::count(fit.sites.len() as u64)),
        ("Students, N", text::count(fit.n)),
        ("Items", text::count(fit.items.len() as u64)),
        ("n per item", answers(fit)),
        ("Latent mean", with_error(Some(fit.latent.mean), fit.latent.se_mean)),
        ("Latent SD", with_error(Some(fit.latent.sd), fit.latent.se_sd)),
    ];
    if let Some(shape) = &fit.latent.shape {
        facts.push(("Distribution of ability", shape.population.clone()));
        facts.push(("Its skewness", text::reading(shape.skewness, 2)));
        facts.push(("Its excess kurtosis", text::reading(shape.kurtosis, 2)));
    }
    if fit.effects == "random" {
        let interval = fit.site_sd_interval.map(|[low, high]| format!(", 95 % from {low:.3} to {high:.3}"));
        let sd = with_error(fit.site_sd, fit.se_site_sd) + &interval.unwrap_or_default();
        facts.push(("SD between sites", sd));
    }
    facts
}

fn fit_numbers(fit: &Fit) -> Vec<(&'static str, String)> {
    let number = |value| text::fixed_or_dash(finite(value), 3);
    vec![
        ("Log-likelihood", released(fit, number(fit.loglik), fit.loglik)),
        ("Deviance", number(fit.loglik.map(|l| -2.0 * l))),
        ("Parameters", text::count(fit.npar as u64)),
        ("AIC", number(fit.aic)),
        ("BIC", number(fit.bic)),
        ("SABIC", number(fit.sabic)),
    ]
}

fn estimation(fit: &Fit) -> Vec<(&'static str, String)> {
    let small = |value| finite(value).map_or_else(|| MISSING.to_owned(), text::scientific);
    let converged = match fit.converged {
        Some(true) => "yes",
        Some(false) => "no",
        None => "does not apply",
    };
    let change = fit.trace.iter().rev().find_map(|t| finite(t.max_change));
    vec![
        ("Algorithm", fit.algorithm.clone()),
        ("Converged", converged.to_owned()),
        ("Rounds", text::count(fit.rounds as u64)),
        ("Exchanges", text::count(fit.exchanges as u64)),
        ("Numbers sent by a site", text::count(fit.numbers_sent)),
        ("Max. change", small(change)),
        ("Max. gradient", small(fit.max_gradient)),
        ("SE type", fit.se_type.clone().unwrap_or_else(|| "none".to_owned())),
        ("Condition number", small(fit.condition_number)),
    ]
}

fn provenance(fit: &Fit) -> Vec<(&'static str, String)> {
    let q = &fit.quadrature;
    let privacy = match &fit.privacy {
        Some(p) => format!("({}, {})", text::brief(p.epsilon), text::brief(p.delta)),
        None => "not a private run".to_owned(),
    };
    vec![
        ("Mode", fit.mode.clone()),
        ("(ε, δ)", privacy),
        (
            "Quadrature",
            format!(
                "{} on [{}, {}], {}",
                q.nodes,
                text::reading(q.from, 0),
                text::reading(q.to, 0),
                q.weights
            ),
        ),
        ("Seed", fit.seed.map_or_else(|| "none used".to_owned(), |s| s.to_string())),
        ("Version", fit.version.clone()),
        ("Codebook hash", short_hash(&fit.codebook_hash)),
    ]
}

/// Time, options and files, for whoever wants to repeat the fit.
fn origin(provenance: &Provenance) -> String {
    let mut facts = Table::new("Options, time and files", &["What", "Value"]);
    let mut row = |what: String, value: &str| facts.rows.push(vec![what, value.to_owned()]);
    if let Some(time) = &provenance.time {
        row("time".to_owned(), time);
    }
    row("version".to_owned(), &provenance.version);
    provenance.options.iter().for_each(|(name, value)| row(name.clone(), value));
    for file in provenance.files.iter().flatten() {
        row(file.name.clone(), file.sha256.as_ref().map_or("hash not released", |hash| hash));
    }
    table_html(&facts)
}

/// Enough of a hash to compare by eye; the whole one stands in the footer.
fn short_hash(hash: &str) -> String {
    match hash.char_indices().nth(12) {
        Some((end, _)) => format!("{}\u{2060}…", &hash[..end]),
        None => hash.to_owned(),
    }
}

fn answers(fit: &Fit) -> String {
    let known = || fit.items.iter().filter_map(|item| item.n);
    match (known().min(), known().max()) {
        (Some(least), Some(most)) if least == most => text::count(least),
        (Some(least), Some(most)) => format!("{}–{}", text::count(least), text::count(most)),
        _ => "not released".to_owned(),
    }
}

fn with_error(value: Option<f64>, se: Option<f64>) -> String {
    match (finite(value), finite(se)) {
        (Some(value), Some(se)) => format!("{} ({})", text::reading(value, 3), text::fixed(se, 3)),
        (Some(value), None) => text::reading(value, 3),
        _ => MISSING.to_owned(),
    }
}

fn released(fit: &Fit, shown: String, value: Option<f64>) -> String {
    match value {
        None if fit.mode == "private" => "not released".to_owned(),
        _ => shown,
    }
}

#[derive(Template)]
#[template(path = "footer.html")]
struct FooterPart<'a> {
    fit: &'a Fit,
}

pub(crate) fn footer(fit: &Fit) -> String {
    written(&FooterPart { fit })
}
