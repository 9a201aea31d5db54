//! Sentences of the officer's pages.

use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{PrivacyLevel, StudyPlan};
use fedirt_protocol::terms::OnLoss;

/// Who learns what, in one sentence.
pub(super) fn who_learns_what(plan: &StudyPlan) -> &'static str {
    match plan.mode {
        Mode::Secure if plan.publish.effects_by_name => {
            "The coordinator learns sums over all sites together, and this site's effect by name. A coordinator may be \
             able to infer from the sums what students answered, and with site effects at which site."
        }
        Mode::Secure if plan.cohort.on_loss == OnLoss::RevealLostSite => {
            "The coordinator learns sums over all sites together. If a site is lost, it can compute what that site sent. A \
             coordinator may also be able to infer from the sums what students answered, and with site effects at which site."
        }
        Mode::Plain => {
            "The coordinator sees this site's sums by name, and can reconstruct single students' answers from them. It must \
             be as trustworthy as a holder of the data."
        }
        Mode::Secure => {
            "The coordinator is sent sums over all sites together; of this site by name only how many students take part and \
             which items they were given (the other sites see this too). It may be able to infer from the sums what \
             students answered, and with site effects which answers belong to the same site."
        }
        Mode::Private => {
            "The coordinator learns sums over all sites with noise added by the sites: whether any one student took part, \
             and what they answered, stays uncertain."
        }
    }
}

/// The meaning of ε in words (Wasserman & Zhou 2010: the bound on posterior probabilities).
pub(super) fn epsilon_in_words(plan: &StudyPlan) -> Option<String> {
    let privacy = plan.privacy.as_ref().filter(|_| plan.mode == Mode::Private)?;
    let level = PrivacyLevel::of(privacy.epsilon);
    let level = level.map_or_else(String::new, |level| format!("Level {}, ", level.name()));
    let certain = most_certain(privacy.epsilon);
    Some(format!(
        "{level}ε = {}: somebody who considers it as likely as not that a certain student's answers are among the data can be at most \
         {certain:.0} % sure of it after the study (except with a probability of δ = {:e}). The smaller ε, the less anyone learns.",
        privacy.epsilon, privacy.delta
    ))
}

/// How sure somebody can become, in per cent, who was as sure of one thing as of its opposite: posterior odds change by at most e^ε.
pub(super) fn most_certain(epsilon: f64) -> f64 {
    100.0 / (1.0 + (-epsilon).exp())
}

/// The text with a capital letter at its beginning.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The text with a capital letter at its beginning and a full stop at its end.
pub(super) fn sentence(text: &str) -> String {
    let text = capital(text.trim());
    if text.ends_with(['.', '!', '?', ':', ';']) { text } else { text + "." }
}
