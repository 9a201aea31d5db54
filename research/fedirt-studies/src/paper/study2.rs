//! Study 2: school effects as parameters, or as averages of students' expected abilities?
//!
//! K = 5 schools of 100 students with effects −1, −0.5, 0, 0.5 and 1; J = 10 items, a in [0.5, 2], b in [−1, 1].

use super::scenario::{self, Ranges, Scenario};
use super::{Method, Number, Options, PaperStudy, SchoolEffects};
use crate::StudyError;
use crate::fedirt_dp::Settings;
use fedirt_model::simulate::Truth;

/// True effects.
pub(super) const EFFECTS: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];

/// ε of the private methods.
pub(super) const EPSILONS: [f64; 2] = [2.0, 8.0];

pub(super) fn study(options: Options) -> Result<PaperStudy, StudyError> {
    let ranges = Ranges { slopes: (0.5, 2.0), difficulties: (-1.0, 1.0) };
    let truth = Truth {
        latent_sd: 1.0,
        items: scenario::items(options.seed, 0, 10, ranges),
        sites: scenario::sites(100, &EFFECTS),
    };
    let scenario = Scenario {
        factors: vec![("students", "100".into())],
        truth,
        abilities: options.abilities,
        extreme: None,
        seed: options.seed,
        index: 0,
    };
    let mut methods = [SchoolEffects::Fixed, SchoolEffects::Random, SchoolEffects::AveragedEap]
        .map(Method::fedirt)
        .to_vec();
    for epsilon in EPSILONS {
        methods.push(Method::published(
            epsilon,
            Settings::published(),
            SchoolEffects::Fixed,
            ("_fixed", ", fixed"),
        )?);
        let averaged = ("_eap", ", averaged EAPs");
        methods.push(Method::published(
            epsilon,
            Settings::published(),
            SchoolEffects::AveragedEap,
            averaged,
        )?);
    }
    for epsilon in EPSILONS {
        methods.push(Method::score2(epsilon, false, SchoolEffects::Fixed)?);
    }
    let title = "Study 2: school effects as parameters, or as averages of students' abilities?";
    Ok(PaperStudy { number: Number::Two, title, options, scenarios: vec![scenario], methods })
}
