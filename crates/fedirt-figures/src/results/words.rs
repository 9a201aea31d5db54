//! What a run was, in words.

use fedirt_model::fit::Fit;
use fedirt_model::items;

use crate::text;

/// The model's name as people write it.
pub(super) fn model(name: &str) -> String {
    let mut letters = items::title(name).chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What this is: the heading.
pub(crate) fn title(fit: &Fit) -> String {
    let sites = match fit.sites.len() as u64 {
        0 => String::new(),
        n => format!(" at {}", text::counted(n, "site", "sites")),
    };
    format!(
        "{} calibration of {}{sites}, {}",
        model(&fit.model),
        text::counted(fit.items.len() as u64, "item", "items"),
        text::counted(fit.n, "student", "students")
    )
}

/// What was estimated, and how.
pub(super) fn lede(fit: &Fit) -> String {
    let effects = match fit.effects.as_str() {
        "none" => "no site effects".to_owned(),
        other => format!("{other} site effects"),
    };
    let apart =
        if fit.sites.len() > 1 { " without pooling answers: no student's row left a site" } else { "" };
    format!("Item response model with {effects}, estimated by {}{apart}.", algorithm(&fit.algorithm))
}

fn algorithm(name: &str) -> &str {
    match name {
        "newton" => "Newton's method",
        "em" => "the EM algorithm",
        "bfgs" => "BFGS",
        other => other,
    }
}

/// What the mode promises, in plain words.
pub(super) fn privacy(fit: &Fit) -> String {
    match (&fit.privacy, fit.mode.as_str()) {
        (Some(p), _) => format!(
            "Private run: (ε, δ) = ({}, {}) differential privacy. Noise was added so that the released numbers \
             would be nearly as likely without any one student; the smaller ε, the nearer. Against the same student \
             with other answers ε is {}.{} Mechanism: {}; \
             neighbouring data sets: {}; noise multiplier {} over {}.",
            text::brief(p.epsilon),
            text::brief(p.delta),
            text::brief(p.epsilon_replaced),
            if p.holds_against.is_empty() {
                String::new()
            } else {
                format!(" It holds against {}.", p.holds_against)
            },
            p.mechanism,
            p.adjacency,
            text::brief(p.noise_multiplier),
            text::counted(p.rounds as u64, "planned round", "planned rounds")
        ),
        (None, "secure") => {
            "Not a private run. Mode secure: the coordinator saw only sums over all sites, so it \
             cannot tell which site a number came from. No noise was added: sums of an exact run can let a \
             determined reader infer pooled answers, above all with few items or few students."
                .to_owned()
        }
        (None, "private") => {
            "The run was planned as private, but the fit carries no (ε, δ) statement: treat it \
             as not private."
                .to_owned()
        }
        (None, _) => {
            "Not a private run. Mode plain: no student's row was sent, but the coordinator saw each \
             site's exact sums, from which answers can be inferred. It needs trust in the coordinator."
                .to_owned()
        }
    }
}
