//! What stands out, in sentences: what it means, and what to do.

use crate::fit::{Diagnostics, Warning};

/// From so many students on, even harmless departures are significant.
const MANY: f64 = 5_000.0;

/// Skewness and excess kurtosis below these hardly change item parameters.
const LITTLE_SKEWNESS: f64 = 0.3;
const LITTLE_KURTOSIS: f64 = 0.6;

/// Everything that stands out.
pub(super) fn findings(found: &Diagnostics, students: f64) -> Vec<Warning> {
    let mut out = Vec::new();
    let mut say = |code: &str, message: String| out.push(Warning { code: code.to_owned(), message });
    if let Some(q3) = &found.q3
        && !q3.flagged.is_empty()
    {
        let pairs = some(q3.flagged.iter().map(|(a, b, r)| format!("{a} and {b} ({r:.2})")));
        say(
            "local_dependence",
            format!(
                "answers to {pairs} go together more than ability explains (Q3 above its mean by more than {:.2}, the simulated limit): they may share a text, a hint or a step. Dependent items make the test look more reliable than it is; merge them into one item, or leave one of a pair out, and see whether the other slopes change",
                q3.critical
            ),
        );
    }
    if let Some(items) = &found.item_fit {
        let high: Vec<String> = (items.iter())
            .filter(|item| item.scatters())
            .map(|item| format!("{} (infit {:.2})", item.item, item.infit.unwrap_or_default()))
            .collect();
        if !high.is_empty() {
            say(
                "item_misfit",
                format!(
                    "answers to {} scatter more around the model than they should: look at wording and key, or try another model",
                    some(high.into_iter())
                ),
            );
        }
    }
    if let Some(global) = &found.global
        && (global.rmsea_5 > 0.05 || global.srmsr > 0.08)
    {
        say(
            "global_misfit",
            format!(
                "the model as a whole is off: RMSEA {:.3} (90% interval {:.3} to {:.3}; up to 0.05 is usual for a good fit), SRMSR {:.3} (up to 0.05 is usual). Look at the dependent pairs and at misfitting items first, then at a model with more slopes or dimensions",
                global.rmsea, global.rmsea_5, global.rmsea_95, global.srmsr
            ),
        );
    }
    if let Some(dimensions) = &found.dimensionality
        && dimensions.dimensions > 1
    {
        say(
            "several_dimensions",
            format!(
                "the test seems to measure {} things: the second eigenvalue of the items' correlations is {:.2}, above {:.2}, where it stays in 95 of 100 cases if there is one ability (the first is {:.2}). One score then mixes them: see which items go together more than ability explains, and calibrate them apart or leave some out",
                dimensions.dimensions,
                dimensions.eigenvalues[1],
                dimensions.parallel_95[1],
                dimensions.eigenvalues[0]
            ),
        );
    }
    if let Some(latent) = &found.latent
        && latent.score.is_some()
        && latent.p.is_some_and(|p| p < 0.05)
        && (latent.skewness.abs() >= LITTLE_SKEWNESS || latent.kurtosis.abs() >= LITTLE_KURTOSIS)
    {
        let skewed = if latent.skewness.abs() < LITTLE_SKEWNESS {
            "about as long on both sides".to_owned()
        } else if latent.skewness > 0.0 {
            "with the longer tail among able students".to_owned()
        } else {
            "with the longer tail among weak students".to_owned()
        };
        let peaked = if latent.kurtosis <= -LITTLE_KURTOSIS {
            ", flat or with two humps"
        } else if latent.kurtosis >= LITTLE_KURTOSIS {
            ", with heavy tails"
        } else {
            ""
        };
        say(
            "latent_shape",
            format!(
                "ability is not normal, {skewed}{peaked} (skewness about {:.2}, excess kurtosis about {:.2}): slopes and difficulties that take it to be normal are off by more than their standard errors say. Estimate its shape (the populations mixture:2 and davidian:4) and compare the fits",
                latent.skewness, latent.kurtosis
            ),
        );
    }
    if let Some(influence) = &found.influence
        && influence.influential > 0.5
    {
        let named: Vec<String> = (influence.sites.iter().flatten())
            .filter(|site| site.change.abs() > 1.0)
            .map(|site| format!("{} (item {})", site.site, site.item))
            .collect();
        let who = if named.is_empty() {
            format!("{:.0} of the sites", influence.influential)
        } else {
            some(named.into_iter())
        };
        say(
            "influential_sites",
            format!(
                "without {who} some item parameter would change by more than its standard error: results lean on them. Fit with sites counting equally or capped, and without the largest, and report both where conclusions differ"
            ),
        );
    }
    if let Some(items) = &found.item_fit {
        let off = items.iter().filter(|item| item.leaves_its_curve());
        let off: Vec<String> = off.map(|item| item.item.clone()).collect();
        if !off.is_empty() {
            say(
                "s_x2_misfit",
                format!(
                    "answers to {} do not follow the curve of the model (S-X², p adjusted below 0.05 and RMSEA above 0.05): look at the item's picture; another model for it, such as one with guessing or more categories, may do better",
                    some(off.into_iter())
                ),
            );
        }
    }
    if let Some(reliability) = &found.reliability
        && reliability.empirical < 0.7
    {
        say(
            "low_reliability",
            format!(
                "the reliability of the ability estimates is {:.2}: enough to compare groups, too little to decide about single students (0.8 and more is usual for that). More items, or items nearer to the students' ability, would raise it",
                reliability.empirical
            ),
        );
    }
    if students >= MANY && !out.is_empty() {
        out.push(Warning {
            code: "many_students".into(),
            message: format!(
                "with {students:.0} students even departures that do not matter are significant: judge by their size, not by p"
            ),
        });
    }
    out
}

/// That sum scores are told of complete rows alone.
pub(super) fn incomplete_rows(complete: f64, students: f64) -> Warning {
    Warning {
        code: "complete_rows".into(),
        message: format!(
            "S-X² and the table of sum scores are about the {complete:.0} of {students:.0} students who answered every item; where answers are missing for a reason, they say little about the others"
        ),
    }
}

/// At most five in a sentence.
pub(super) fn some(of: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = of.collect();
    match all.len() {
        0..=5 => all.join(", "),
        n => format!("{}, … ({n} in all)", all[..4].join(", ")),
    }
}
