//! The summary of a fit: data, fit statistics, estimation, scale, privacy.

use super::results::{open, parts};
use super::{App, Name, Page, frame, words};
use crate::{Frame, Link, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_model::fit::Warning;

#[derive(Template)]
#[template(path = "summary.html")]
struct SummaryPage {
    frame: Frame,
    name: String,
    subtitle: String,
    parts: Vec<Link>,
    groups: Vec<(&'static str, Vec<(&'static str, String)>)>,
    promise: Vec<String>,
    warnings: Vec<Warning>,
}

/// `GET …/results/summary`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let (seen, fit) = match open(&app, &name, &visitor)? {
        Ok(found) => found,
        Err(none) => return Ok(none),
    };
    let withheld = if words::is_private(&fit) { "not released" } else { words::NONE };
    let number = |v: Option<f64>, decimals| match v {
        Some(_) => words::fixed(v, decimals),
        None => withheld.to_owned(),
    };
    let tiny = |v: Option<f64>| v.map_or_else(|| withheld.to_owned(), |v| format!("{v:.1e}"));
    let beside = |v: f64, se: Option<f64>| match se {
        Some(se) => format!("{v:.3} (SE {se:.3})"),
        None => format!("{v:.3}"),
    };
    let mut groups = vec![
        (
            "Data and model",
            vec![
                ("Model", words::model(&fit.model)),
                ("Students", words::count(fit.n)),
                ("Items", fit.items.len().to_string()),
                ("Sites", fit.sites.len().to_string()),
                ("Site effects", fit.effects.clone()),
                ("Mode", fit.mode.clone()),
            ],
        ),
        (
            "Fit",
            vec![
                ("Log-likelihood", number(fit.loglik, 3)),
                ("Deviance", number(fit.loglik.map(|l| -2.0 * l), 3)),
                ("Parameters", fit.npar.to_string()),
                ("AIC", number(fit.aic, 2)),
                ("BIC", number(fit.bic, 2)),
                ("SABIC", number(fit.sabic, 2)),
            ],
        ),
        (
            "Estimation",
            vec![
                ("Algorithm", fit.algorithm.clone()),
                (
                    "Converged",
                    fit.converged
                        .map_or_else(|| withheld.into(), |c| if c { "yes".into() } else { "no".into() }),
                ),
                ("Rounds", fit.rounds.to_string()),
                ("Exchanges with sites", fit.exchanges.to_string()),
                ("Numbers sent by a site", words::count(fit.numbers_sent)),
                ("Largest gradient", tiny(fit.max_gradient)),
                ("Standard errors", fit.se_type.clone().unwrap_or_else(|| words::NONE.into())),
                ("Condition number", tiny(fit.condition_number)),
            ],
        ),
        (
            "Scale",
            vec![
                ("Mean of ability", beside(fit.latent.mean, fit.latent.se_mean)),
                ("SD of ability", beside(fit.latent.sd, fit.latent.se_sd)),
                (
                    "SD between sites",
                    fit.site_sd.map_or_else(|| words::NONE.into(), |sd| beside(sd, fit.se_site_sd)),
                ),
                (
                    "Quadrature",
                    format!(
                        "{} nodes on [{}, {}], {}",
                        fit.quadrature.nodes, fit.quadrature.from, fit.quadrature.to, fit.quadrature.weights
                    ),
                ),
                ("Codebook (SHA-256)", fit.codebook_hash.chars().take(16).collect()),
                ("Version", fit.version.clone()),
            ],
        ),
    ];
    if let Some(privacy) = &fit.privacy {
        groups.push((
            "Privacy",
            vec![
                ("ε", privacy.epsilon.to_string()),
                ("δ", format!("{:e}", privacy.delta)),
                ("Noise multiplier", words::fixed(Some(privacy.noise_multiplier), 3)),
                ("Planned rounds", privacy.rounds.to_string()),
            ],
        ));
    }
    Ok(render(&SummaryPage {
        frame: frame(&visitor, &seen, "Summary", "/results"),
        subtitle: words::subtitle(&seen),
        parts: parts(&name, "/summary"),
        groups,
        promise: fit.privacy.iter().flat_map(|p| [p.mechanism.clone(), p.adjacency.clone()]).collect(),
        warnings: fit.warnings.clone(),
        name,
    }))
}
