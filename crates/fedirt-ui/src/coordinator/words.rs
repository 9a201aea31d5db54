//! Words and numbers as the pages show them.

use super::CoordinatorStudy;
use fedirt_coordinator::status::{Ending, StudyStatus};
use fedirt_figures::text;
pub(super) use fedirt_figures::text::{MISSING as NONE, count, fixed_or_dash as fixed};
use fedirt_model::items;
use fedirt_model::statistics::Mode;
use fedirt_protocol::coordinator::Phase;
use fedirt_protocol::plan::StudyPlan;

/// The status of a study that has not published one yet.
pub(super) fn initial_status(plan: &StudyPlan) -> StudyStatus {
    StudyStatus {
        study: plan.study.clone(),
        mode: plan.mode.name().to_owned(),
        plan: String::new(),
        phase: Phase::Gathering,
        turn: None,
        waiting_for: plan.cohort.sites.clone(),
        roster: None,
        released: false,
        outcome: None,
        results: None,
        sites: Vec::new(),
        updated_ms: 0,
    }
}

/// The state of a study in words, and the CSS class for its colour.
pub(super) fn state(status: &StudyStatus) -> (String, &'static str) {
    let round = status.turn.map_or_else(String::new, |turn| match turn.attempt {
        1 => format!("round {}", turn.round),
        attempt => format!("round {}, attempt {attempt}", turn.round),
    });
    match status.phase {
        Phase::Gathering => ("Sites are joining".into(), "run"),
        Phase::Approving => ("Sites compare and sign the roster".into(), "run"),
        Phase::Calling => (format!("Sites announce their participation in {round}"), "run"),
        Phase::Open => (format!("Sites answer {round}"), "run"),
        Phase::Over => match &status.outcome {
            Some(Ending::Finished { converged: true }) => ("Finished".into(), ""),
            Some(Ending::Finished { converged: false }) => ("Finished, not converged".into(), "bad"),
            Some(Ending::Ended { .. }) => ("Ended without results".into(), "bad"),
            None => ("Over".into(), ""),
        },
    }
}

/// ε as people write it, and whether it is spent; exact sums have none.
pub(super) fn epsilon(plan: &StudyPlan, status: &StudyStatus) -> String {
    match (plan.mode, &plan.privacy, status.released) {
        (Mode::Private, Some(privacy), true) => format!("ε = {} spent", privacy.epsilon),
        (Mode::Private, Some(privacy), false) => format!("ε = {} planned", privacy.epsilon),
        (_, _, true) => "exact sums released".into(),
        (_, _, false) => "exact sums planned".into(),
    }
}

/// What a mode reveals, in a sentence.
pub(super) fn reveals(mode: Mode) -> &'static str {
    match mode {
        Mode::Private => {
            "The coordinator sees sums with noise that the sites make. Each student is protected by (ε, δ), whatever the \
             coordinator does. This is the only mode that protects students."
        }
        Mode::Secure => {
            "The coordinator is sent exact sums over all sites only. They do not show a site's numbers, but a \
             coordinator may be able to reconstruct answers from them, and with site effects to group the answers by site."
        }
        Mode::Plain => {
            "The coordinator sees each site's sums, from which answers can be reconstructed. For coordinators that could hold the \
             data themselves."
        }
    }
}

/// The usual name of a model.
pub(super) fn model(name: &str) -> String {
    items::title(name).to_owned()
}

/// A number of bytes in B, kB or MB.
pub(super) fn bytes(value: u64) -> String {
    match value {
        0..=9_999 => format!("{} B", count(value)),
        10_000..=9_999_999 => format!("{:.1} kB", value as f64 / 1e3),
        _ => format!("{:.1} MB", value as f64 / 1e6),
    }
}

/// "1 site", "2 sites".
pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    text::counted(n as u64, one, many)
}

/// The line under a study's name.
pub(super) fn subtitle(seen: &CoordinatorStudy) -> String {
    format!(
        "{}, {}, {}. {}",
        seen.plan.mode.name(),
        counted(seen.plan.items.len(), "item", "items"),
        counted(seen.plan.cohort.sites.len(), "site", "sites"),
        seen.plan.purpose.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!((bytes(123), bytes(12_345)), ("123 B".into(), "12.3 kB".into()));
    }
}
