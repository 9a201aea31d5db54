//! Study 3: what do rows do that are wrong, or right, throughout?
//!
//! K = 10 schools of 100 students without effects, J = 10 items; a share of each school's rows is replaced by zeros or
//! by ones. The paper does not say how its items were drawn: as in Study 2, a in [0.5, 2] and b in [−1, 1].

use super::scenario::{self, Extreme, Ranges, Scenario};
use super::{Method, Number, Options, PaperStudy, SchoolEffects};
use crate::StudyError;
use crate::fedirt_dp::Settings;
use fedirt_model::simulate::Truth;

/// Shares of extreme rows; none, for comparison, first.
pub(super) const SHARES: [f64; 6] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];

/// ε of FedIRT-DP.
pub(super) const EPSILON: f64 = 2.0;

/// Kinds of extreme rows.
pub(super) const KINDS: [Extreme; 2] = [Extreme::Zeros, Extreme::Ones];

pub(super) fn study(options: Options) -> Result<PaperStudy, StudyError> {
    let ranges = Ranges { slopes: (0.5, 2.0), difficulties: (-1.0, 1.0) };
    let items = scenario::items(options.seed, 0, 10, ranges);
    let mut scenarios = Vec::new();
    for kind in KINDS {
        for (at, share) in SHARES.into_iter().enumerate() {
            scenarios.push(Scenario {
                factors: vec![("rows", kind.name().into()), ("share", share.to_string())],
                truth: Truth {
                    latent_sd: 1.0,
                    items: items.clone(),
                    sites: scenario::sites(100, &[0.0; 10]),
                },
                abilities: options.abilities,
                extreme: Some((kind, share)),
                seed: options.seed,
                // The answers under the extreme rows are the same for both kinds.
                index: at as u64,
            });
        }
    }
    let none = SchoolEffects::None;
    let methods = vec![
        Method::fedirt(none),
        Method::published(EPSILON, Settings::published(), none, ("", ""))?,
        Method::published(EPSILON, Settings::study3(), none, ("_short", " stopped early"))?,
        Method::score2(1.0, false, none)?,
        Method::score2(1.0, true, none)?,
        Method::score2(EPSILON, true, none)?,
        Method::trimmed(),
        Method::median(),
        // What the two before it do without trimming.
        Method::fedsgd(),
    ];
    let title = "Study 3: what do rows do that are wrong, or right, throughout?";
    Ok(PaperStudy { number: Number::Three, title, options, scenarios, methods })
}
