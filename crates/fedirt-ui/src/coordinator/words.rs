//! Words and numbers as the pages show them.

use super::CoordinatorStudy;
use fedirt_coordinator::status::StudyStatus;
use fedirt_model::fit::Fit;
use fedirt_model::items;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::StudyPlan;

/// The sign for an absent value.
pub(super) const NONE: &str = "–";

/// The status of a study that has not published one yet.
pub(super) fn initial_status(plan: &StudyPlan) -> StudyStatus {
    StudyStatus {
        study: plan.study.clone(),
        mode: plan.mode.name().to_owned(),
        plan: String::new(),
        phase: "gathering".into(),
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
    match status.phase.as_str() {
        "gathering" => ("Sites are joining".into(), "run"),
        "approving" => ("Sites compare and sign the roster".into(), "run"),
        "calling" => (format!("Sites announce their participation in {round}"), "run"),
        "open" => (format!("Sites answer {round}"), "run"),
        _ => match status.outcome.as_deref() {
            Some("finished") => ("Finished".into(), ""),
            Some("finished, not converged") => ("Finished, not converged".into(), "bad"),
            Some(_) => ("Ended without results".into(), "bad"),
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

/// A number with this many decimals; zero has no sign.
pub(super) fn fixed(value: Option<f64>, decimals: usize) -> String {
    let Some(value) = value.filter(|v| v.is_finite()) else { return NONE.into() };
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| matches!(c, '0' | '.')) => zero.to_owned(),
        _ => text,
    }
}

/// A count with thin spaces between groups of three digits.
pub(super) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
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
    if n == 1 { format!("1 {one}") } else { format!("{} {many}", count(n as u64)) }
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

/// Whether the fit is private, so that some of its fields are not released.
pub(super) fn is_private(fit: &Fit) -> bool {
    fit.mode == "private"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!((count(12), bytes(123), bytes(12_345)), ("12".into(), "123 B".into(), "12.3 kB".into()));
        assert_eq!((fixed(Some(-1e-5), 3), fixed(Some(-0.5), 1)), ("0.000".into(), "-0.5".into()));
        assert_eq!((fixed(Some(f64::NAN), 2), fixed(Some(1.0), 2)), (NONE.into(), "1.00".into()));
        assert_eq!(
            (counted(1, "site", "sites"), counted(0, "site", "sites")),
            ("1 site".into(), "0 sites".into())
        );
    }
}
