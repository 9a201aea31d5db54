//! Whether the model is right: what stands out, global fit, dependent pairs, items and sum scores.

use fedirt_model::fit::{Diagnostics, Fit};

use super::html::{Numbers, figure_html, table_html, written};
use crate::figure::Table;
use crate::text;
use crate::{ability_density, group_differences, residual_correlations, scree, site_influence};
use askama::Template;

#[derive(Template)]
#[template(path = "check.html")]
struct CheckPart<'a> {
    found: &'a Diagnostics,
    whole: Option<String>,
    pictures: Vec<String>,
    tables: Vec<(String, &'static str)>,
    scores: Option<String>,
}

/// The section, or a sentence where nothing was asked for.
pub(super) fn section(fit: &Fit) -> String {
    let Some(found) = &fit.diagnostics else {
        return "<p>Diagnostics were not asked for.</p>\n".to_owned();
    };
    let mut pictures = Vec::new();
    if found.q3.is_some() {
        pictures.push(figure_html("dependence", &residual_correlations(fit), Numbers::Folded));
    }
    if found.dimensionality.is_some() {
        pictures.push(figure_html("scree", &scree(fit), Numbers::Beside));
    }
    if found.latent.is_some() && fit.latent.shape.is_none() {
        pictures.push(figure_html("ability-density", &ability_density(fit), Numbers::Beside));
    }
    if found.influence.as_ref().is_some_and(|found| found.sites.is_some()) {
        pictures.push(figure_html("influence", &site_influence(fit), Numbers::Beside));
    }
    if found.dif.is_some() {
        pictures.push(figure_html("dif", &group_differences(fit), Numbers::Folded));
    }
    written(&CheckPart {
        found,
        whole: whole(found),
        pictures,
        tables: [sites(found), items(found), classical(found)].into_iter().flatten().collect(),
        scores: scores(found),
    })
}

/// Numbers about the model as a whole.
fn whole(diagnostics: &Diagnostics) -> Option<String> {
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
    (!table.rows.is_empty()).then(|| table_html(&table))
}

fn items(diagnostics: &Diagnostics) -> Option<(String, &'static str)> {
    let items = diagnostics.item_fit.as_ref()?;
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
    let about = "Infit and outfit are at the mean of each student's ability given the answers, which is drawn to the middle: values lie a little below 1. p is adjusted for the number of items (Benjamini and Hochberg).";
    Some((table_html(&table), about))
}

/// Classical statistics, which every reader knows.
fn classical(diagnostics: &Diagnostics) -> Option<(String, &'static str)> {
    let items = diagnostics.classical.as_ref()?;
    let mut table =
        Table::new("Classical statistics of the items", &["Item", "Mean score", "r with the rest"]);
    table.rows.extend(items.iter().map(|item| {
        vec![item.item.clone(), text::fixed_or_dash(item.p, 3), text::fixed_or_dash(item.item_rest_r, 3)]
    }));
    Some((
        table_html(&table),
        "The mean score is a share of the highest one; r is the correlation with the sum of the other items.",
    ))
}

/// Items compared between sites.
fn sites(diagnostics: &Diagnostics) -> Option<(String, &'static str)> {
    let rows = diagnostics.site_heterogeneity.as_ref()?;
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
    let about = "Q adds up how far each site's answers depart from the common parameters, beyond the site's level of ability; it names no site. I² is the share of Q beyond chance.";
    Some((table_html(&table), about))
}

fn scores(diagnostics: &Diagnostics) -> Option<String> {
    let scores = diagnostics.score_table.as_ref()?;
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
    Some(table_html(&table))
}

/// Sites that the caterpillar cannot show are named all the same, with their students.
pub(super) fn sites_without_effects(fit: &Fit) -> String {
    let without = fit.sites.iter().filter(|site| text::finite(site.effect).is_none());
    let mut rest = Table::new("Sites without an effect", &["Site", "n"]);
    rest.rows = without.map(|site| vec![site.name.clone(), text::count(site.n)]).collect();
    if rest.rows.is_empty() {
        return String::new();
    }
    let how_many = text::counted(rest.rows.len() as u64, "site", "sites");
    let table = table_html(&rest);
    format!("<details><summary>{how_many} in the fit without an effect</summary>\n{table}</details>\n")
}
