//! Whether the model is right: what stands out, global fit, dependent pairs, items and sum scores.

use fedirt_model::fit::{Diagnostics, Fit};

use super::html;
use crate::figure::Table;
use crate::text::{self, escape};
use crate::{ability_density, group_differences, residual_correlations, scree, site_influence};

/// The section, or a sentence where nothing was asked for.
pub(super) fn section(out: &mut String, fit: &Fit) {
    let Some(diagnostics) = &fit.diagnostics else {
        out.push_str("<p>Diagnostics were not asked for.</p>\n");
        return;
    };
    if diagnostics.findings.is_empty() {
        out.push_str("<p>Nothing stands out among what could be looked at.</p>\n");
    } else {
        out.push_str("<ul class=\"findings\">\n");
        for finding in &diagnostics.findings {
            let (message, code) = (escape(&finding.message), escape(&finding.code));
            out.push_str(&format!("<li>{message} <code>{code}</code></li>\n"));
        }
        out.push_str("</ul>\n");
    }
    whole(out, diagnostics);
    if diagnostics.q3.is_some() {
        html::figure(out, "dependence", &residual_correlations(fit));
    }
    if diagnostics.dimensionality.is_some() {
        html::figure_with_table(out, "scree", &scree(fit));
    }
    if diagnostics.latent.is_some() && fit.latent.shape.is_none() {
        html::figure_with_table(out, "ability-density", &ability_density(fit));
    }
    if diagnostics.influence.as_ref().is_some_and(|found| found.sites.is_some()) {
        html::figure_with_table(out, "influence", &site_influence(fit));
    }
    if diagnostics.dif.is_some() {
        html::figure(out, "dif", &group_differences(fit));
    }
    sites(out, diagnostics);
    items(out, diagnostics);
    scores(out, diagnostics);
    if !diagnostics.not_available.is_empty() {
        out.push_str("<details><summary>What is not told, and why</summary>\n<ul>\n");
        for missing in &diagnostics.not_available {
            let (name, reason) = (escape(&missing.name), escape(&missing.reason));
            out.push_str(&format!("<li><code>{name}</code>: {reason}</li>\n"));
        }
        out.push_str("</ul></details>\n");
    }
}

/// Numbers about the model as a whole.
fn whole(out: &mut String, diagnostics: &Diagnostics) {
    let mut table = Table::new("Fit of the whole model", &["What", "Value"]);
    let mut row = |what: &str, value: String| table.rows.push(vec![what.to_owned(), value]);
    if let Some(global) = &diagnostics.global {
        let p = if global.p < 0.0005 { "p < 0.001".to_owned() } else { format!("p = {:.3}", global.p) };
        let test = format!("{:.2} with {:.0} degrees of freedom, {p}", global.statistic, global.df);
        row(&global.kind, test);
        let interval =
            format!("{:.3} (90 % from {:.3} to {:.3})", global.rmsea, global.rmsea_5, global.rmsea_95);
        row("RMSEA", interval);
        row("SRMSR", text::fixed(global.srmsr, 3));
        row("CFI", text::fixed(global.cfi, 3));
        row("TLI", text::fixed(global.tli, 3));
    }
    if let Some(reliability) = &diagnostics.reliability {
        row("Empirical reliability", text::fixed(reliability.empirical, 3));
        row("Marginal reliability", text::fixed(reliability.marginal, 3));
        row("Separation", text::fixed(reliability.separation, 2));
    }
    if let Some(alpha) = diagnostics.alpha {
        row("Cronbach's α", text::fixed(alpha, 3));
    }
    if let Some(found) = &diagnostics.influence {
        row(
            "Sites that change a parameter by more than its standard error",
            text::fixed(found.influential, 0),
        );
    }
    if let Some(person) = &diagnostics.person_fit {
        let share = 100.0 * person.below / person.students.max(1.0);
        row("Students whose answers are unlikely (Zh below −2)", format!("{share:.1} %"));
    }
    if !table.rows.is_empty() {
        html::table(out, &table);
    }
}

fn items(out: &mut String, diagnostics: &Diagnostics) {
    let Some(items) = &diagnostics.item_fit else { return };
    let headers = ["Item", "Infit", "z", "Outfit", "z", "S-X²", "df", "p", "p adjusted", "RMSEA"];
    let mut table = Table::new("Fit of the items", &headers);
    table.rows.extend(items.iter().map(|item| {
        let number = |x: Option<f64>, decimals| text::fixed_or_dash(text::finite(x), decimals);
        vec![
            item.item.clone(),
            number(item.infit, 2),
            number(item.z_infit, 1),
            number(item.outfit, 2),
            number(item.z_outfit, 1),
            number(item.s_x2, 2),
            number(item.df_s_x2, 0),
            number(item.p_s_x2, 3),
            number(item.p_adjusted, 3),
            number(item.rmsea_s_x2, 3),
        ]
    }));
    html::table(out, &table);
    out.push_str("<p class=\"note\">Infit and outfit are at the mean of each student's ability given the answers, which is drawn to the middle: values lie a little below 1. p is adjusted for the number of items (Benjamini and Hochberg).</p>\n");
}

/// Items compared between sites.
fn sites(out: &mut String, diagnostics: &Diagnostics) {
    let Some(rows) = &diagnostics.site_heterogeneity else { return };
    let mut table = Table::new("Items compared between sites", &["Item", "Q", "df", "p", "p adjusted", "I²"]);
    table.rows.extend(rows.iter().map(|row| {
        vec![
            row.item.clone(),
            text::fixed(row.q, 2),
            text::fixed(row.df, 0),
            text::fixed(row.p, 3),
            text::fixed_or_dash(row.p_adjusted, 3),
            text::fixed(row.i2, 2),
        ]
    }));
    html::table(out, &table);
    out.push_str("<p class=\"note\">Q adds up how far each site's answers depart from the common parameters, beyond the site's level of ability; it names no site. I² is the share of Q beyond chance.</p>\n");
}

fn scores(out: &mut String, diagnostics: &Diagnostics) {
    let Some(scores) = &diagnostics.score_table else { return };
    let headers = ["Sum score", "Ability", "SE", "Students", "Expected"];
    let mut table = Table::new("Ability by sum score, for students who answered every item", &headers);
    table.rows.extend(scores.iter().map(|row| {
        vec![
            row.score.to_string(),
            text::fixed(row.theta, 3),
            text::fixed(row.se, 3),
            text::fixed(row.observed, 0),
            text::fixed(row.expected, 1),
        ]
    }));
    out.push_str("<details><summary>Ability by sum score</summary>\n");
    html::table(out, &table);
    out.push_str("</details>\n");
}
