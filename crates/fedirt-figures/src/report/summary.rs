//! The head of the report: what this is, what is wrong with it, and its figures.

use fedirt_model::fit::{Fit, Provenance};

use super::{html, words};
use crate::figure::Table;
use crate::text::{self, MISSING, escape, finite};

pub(super) fn heading(out: &mut String, fit: &Fit) {
    out.push_str(&format!(
        "<header>\n<p class=\"kind\">fedirt report</p>\n<h1>{}</h1>\n<p class=\"lede\">{}</p>\n</header>\n",
        escape(&words::title(fit)),
        escape(&words::lede(fit))
    ));
}

/// The banner of a run that did not converge, and the warnings.
pub(super) fn alarms(out: &mut String, fit: &Fit) {
    if fit.converged == Some(false) {
        let last = fit.trace.last();
        let gradient = finite(fit.max_gradient).map_or_else(String::new, |g| {
            format!(" The largest gradient per student is {}.", text::scientific(g))
        });
        let slowest = last.map(|t| t.slowest_items.as_slice()).unwrap_or_default();
        let slowest =
            if slowest.is_empty() { String::new() } else { format!(" Slowest: {}.", text::listed(slowest)) };
        out.push_str(&format!(
            "<div class=\"alarm\" role=\"alert\"><p><strong>Not converged.</strong> The estimates below are where \
             the run stopped after {}, not a maximum of the likelihood; do not use them.{}{}</p></div>\n",
            text::counted(fit.rounds as u64, "round", "rounds"),
            escape(&gradient),
            escape(&slowest)
        ));
    }
    if fit.warnings.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<section class=\"warnings\" aria-labelledby=\"warnings-title\"><h2 id=\"warnings-title\">{}</h2>\n<ul>\n",
        text::counted(fit.warnings.len() as u64, "warning", "warnings")
    ));
    for (i, warning) in fit.warnings.iter().enumerate() {
        // A hundred warnings of one kind must not push the results off the page.
        if i == 8 {
            out.push_str(&format!(
                "</ul>\n<details><summary>{} more</summary>\n<ul>\n",
                fit.warnings.len() - 8
            ));
        }
        let (message, code) = (escape(&warning.message), escape(&warning.code));
        out.push_str(&format!("<li>{message} <code>{code}</code></li>\n"));
    }
    out.push_str(if fit.warnings.len() > 8 { "</ul>\n</details></section>\n" } else { "</ul></section>\n" });
}

/// The figures of the run in four groups, and what its mode promises.
pub(super) fn block(out: &mut String, fit: &Fit) {
    out.push_str("<div class=\"facts\">\n");
    let groups = [
        ("Data and model", data_and_model(fit)),
        ("Fit", fit_numbers(fit)),
        ("Estimation", estimation(fit)),
        ("Provenance", provenance(fit)),
    ];
    for (title, mut facts) in groups {
        facts.retain(|(name, _)| !(fit.of_one_site() && OF_SITES.contains(name)));
        group(out, title, &facts);
    }
    out.push_str("</div>\n");
    if let Some(provenance) = &fit.provenance {
        origin(out, provenance);
    }
    if !fit.of_one_site() {
        out.push_str(&format!("<p class=\"privacy\">{}</p>\n", escape(&words::privacy(fit))));
    }
}

/// Facts about what sites do, which mean nothing where there is one.
const OF_SITES: [&str; 5] = ["Site effects", "Sites", "Exchanges", "Numbers sent by a site", "Mode"];

fn group(out: &mut String, title: &str, facts: &[(&str, String)]) {
    out.push_str(&format!("<div><h3>{title}</h3>\n<dl>\n"));
    for (name, value) in facts {
        out.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value)));
    }
    out.push_str("</dl></div>\n");
}

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

/// Command, time, options and files, for whoever wants to repeat the fit.
fn origin(out: &mut String, provenance: &Provenance) {
    out.push_str("<details><summary>How to repeat this fit</summary>\n");
    if let Some(command) = &provenance.command {
        out.push_str(&format!("<pre><code>{}</code></pre>\n", escape(command)));
    }
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
    html::table(out, &facts);
    out.push_str("</details>\n");
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

pub(super) fn footer(out: &mut String, fit: &Fit) {
    out.push_str(&format!(
        "<footer><p>Written by fedirt {} from fit.json alone ({}). This file asks for nothing over a network. \
         Codebook SHA-256 <code>{}</code>.</p></footer>\n",
        escape(&fit.version),
        escape(&fit.format),
        escape(&fit.codebook_hash)
    ));
}
