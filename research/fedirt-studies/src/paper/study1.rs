//! Study 1: does FedIRT find what a pooled fit finds?
//!
//! K = 10 schools without effects, J = 10 items, N_k in {50, 100, 300}; slopes in [1, 2] or [0.5, 1], difficulties in
//! [0, 1] or [−1, 0].

use super::scenario::{self, Ranges, Scenario};
use super::{Method, Number, Options, PaperStudy, SchoolEffects};
use crate::StudyError;
use crate::fedirt_dp::Settings;
use fedirt_model::simulate::Truth;

/// Students of a school.
pub const SIZES: [usize; 3] = [50, 100, 300];

/// Levels of ε that private methods are shown at.
pub(super) const EPSILONS: [f64; 3] = [1.0, 2.0, 8.0];

/// High or low discrimination, and high or low difficulty.
pub(super) const CONDITIONS: [(&str, &str); 4] =
    [("high", "high"), ("high", "low"), ("low", "high"), ("low", "low")];

fn ranges(discrimination: &str, difficulty: &str) -> Ranges {
    Ranges {
        slopes: if discrimination == "high" { (1.0, 2.0) } else { (0.5, 1.0) },
        difficulties: if difficulty == "high" { (0.0, 1.0) } else { (-1.0, 0.0) },
    }
}

pub(super) fn study(options: Options) -> Result<PaperStudy, StudyError> {
    let mut scenarios = Vec::new();
    for (group, (discrimination, difficulty)) in CONDITIONS.into_iter().enumerate() {
        // The same items for all sizes: then only the size differs between them.
        let items = scenario::items(options.seed, group as u64, 10, ranges(discrimination, difficulty));
        for (size, students) in SIZES.into_iter().enumerate() {
            if !options.sizes.is_empty() && !options.sizes.contains(&students) {
                continue;
            }
            let sites = scenario::sites(students, &[0.0; 10]);
            scenarios.push(Scenario {
                factors: vec![
                    ("discrimination", discrimination.into()),
                    ("difficulty", difficulty.into()),
                    ("students", students.to_string()),
                ],
                truth: Truth { latent_sd: 1.0, items: items.clone(), sites },
                abilities: options.abilities,
                extreme: None,
                seed: options.seed,
                index: (group * SIZES.len() + size) as u64,
            });
        }
    }
    let none = SchoolEffects::None;
    let mut methods = vec![Method::pooled(), Method::fedirt(none)];
    methods.extend(options.packages.iter().map(|p| Method::external(p)));
    for epsilon in EPSILONS {
        methods.push(Method::published(epsilon, Settings::published(), none, ("", ""))?);
    }
    let narrow = Settings { clip: 1.0, ..Settings::published() };
    methods.push(Method::published(8.0, narrow, none, ("_c1", " with C = 1"))?);
    for epsilon in EPSILONS {
        methods.push(Method::score2(epsilon, false, none)?);
    }
    methods.extend([Method::fedsgd(), Method::fedavg(), Method::meta()]);
    let title = "Study 1: does FedIRT find what a pooled fit finds?";
    Ok(PaperStudy { number: Number::One, title, options, scenarios, methods })
}
