//! Before anything is spent: the standard errors that a private study can expect, beside those without privacy.

mod planned;
mod remarks;

pub use planned::{PlannedStudy, StudyAtEpsilon};
pub use remarks::{Remark, remarks};

use crate::plan::{PrivacyLevel, StudyPlan};
use crate::private::PrivateRefusal;
use fedirt_model::private::{Expectation, Forecast, PrivateResult, typical};
use fedirt_model::statistics::Mode;
use serde::Serialize;

/// Root mean squares of standard errors; none where there is no such parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// Of slopes.
    pub a: Option<f64>,
    /// Of difficulties.
    pub b: f64,
    /// Of site effects.
    pub s: Option<f64>,
}

impl Errors {
    /// Of a result.
    pub fn of(result: &PrivateResult) -> Self {
        let items = result.items();
        let a: Vec<f64> = items.iter().filter_map(|item| item.se_a).collect();
        let b: Vec<f64> = items.iter().flat_map(|item| item.se_b.clone()).collect();
        let s: Vec<f64> = result.sites().iter().map(|site| site.1).collect();
        Self { a: size(&a), b: size(&b).unwrap_or(0.0), s: size(&s) }
    }
}

impl Errors {
    /// Mean squared errors of slopes, difficulties and effects together.
    pub fn total(&self) -> f64 {
        [self.a, Some(self.b), self.s].into_iter().flatten().map(|se| se * se).sum()
    }
}

/// Squared errors of so many times those without noise make a plan unusable.
pub const UNUSABLE: f64 = 3.0;

/// Root mean square, of something.
fn size(x: &[f64]) -> Option<f64> {
    (!x.is_empty()).then(|| (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).sqrt())
}

/// What to expect at one ε.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Expected {
    /// ε.
    pub epsilon: f64,
    /// μ of Gaussian differential privacy.
    pub mu: f64,
    /// SD of the noise in each coordinate of the two sums.
    pub noise_sd: [f64; 2],
    /// Variance of the noise over that of sampling, roughly: above 1 intervals are too short.
    pub noise_ratio: f64,
    /// Standard errors as the fit would report them, priors included.
    pub reported: Errors,
    /// Their squares, summed over slopes, difficulties and effects, over those without noise.
    pub over_no_noise: f64,
    /// Standard errors from the sums alone.
    pub sums_alone: Errors,
}

impl Expected {
    /// What results that leads one to expect, in a sentence.
    pub fn in_words(&self) -> String {
        let se = |name: &str, se: Option<f64>| se.map(|se| format!("{name} {se:.2}"));
        let errors = [se("a", self.reported.a), se("b", Some(self.reported.b)), se("s", self.reported.s)];
        let usable = if self.over_no_noise > UNUSABLE { ": unusable" } else { "" };
        format!(
            "{}: standard errors {}; squared errors {:.1} times those without privacy{usable}.",
            PrivacyLevel::told(self.epsilon),
            errors.into_iter().flatten().collect::<Vec<_>>().join(", "),
            self.over_no_noise
        )
    }
}

/// What results a private plan leads one to expect, in a sentence; none for other plans, and for those so large that it would take
/// minutes.
pub fn in_words(plan: &StudyPlan) -> Option<String> {
    let epsilon = plan.privacy.as_ref().filter(|_| plan.mode == Mode::Private)?.epsilon;
    let planned = Some(PlannedStudy::of(plan)).filter(|planned| !planned.is_large())?;
    // A plan that cannot be is refused before anyone reads it.
    let found = outlook(&planned, None, &[epsilon]).ok()?;
    Some(format!("What to expect, {}", found.private.first()?.in_words()))
}

/// What to expect of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// Students enrolled.
    pub students: u64,
    /// Numbers that a site sends in a round.
    pub width: usize,
    /// The bound on a row's whitened score.
    pub clip: f64,
    /// Without noise and clipping, priors included.
    pub without_noise: Errors,
    /// Without noise, clipping and priors: an ordinary fit.
    pub maximum_likelihood: Errors,
    /// At each ε.
    pub private: Vec<Expected>,
}

/// Item parameters as they may be, one entry for each item of a planned study.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Guess {
    /// Slopes.
    pub a: Vec<f64>,
    /// Difficulties.
    pub b: Vec<Vec<f64>>,
}

/// Computes the outlook of a planned study at several ε, if items are as guessed and sites do not differ; without a guess, for
/// an ordinary test at sites that do.
pub fn outlook(
    planned: &PlannedStudy,
    guess: Option<&Guess>,
    epsilons: &[f64],
) -> Result<Outlook, PrivateRefusal> {
    // The clipping norm does not depend on ε.
    let plan = StudyAtEpsilon::new(planned, epsilons.first().copied().unwrap_or(1.0))?.plan;
    let theta = match guess {
        Some(guess) => {
            let effects = vec![0.0; plan.sites.len()];
            plan.coordinates()?.theta(&guess.a, &guess.b, &effects, [0.0; 2])
        }
        None => typical(&plan)?,
    };
    let studies = epsilons
        .iter()
        .map(|&epsilon| {
            let study = StudyAtEpsilon::new(planned, epsilon)?;
            let noise_sd = study.noise_sd()?;
            Ok((epsilon, study.plan.mu, noise_sd))
        })
        .collect::<Result<Vec<_>, PrivateRefusal>>()?;
    let forecast = Forecast::new(&plan, &theta)?;
    let without_noise = Errors::of(&forecast.without_noise()?);
    let expected = |(epsilon, mu, noise_sd): (f64, f64, [f64; 2])| {
        let Expectation { reported, sums_alone } = forecast.at(noise_sd)?;
        Ok(Expected {
            epsilon,
            mu,
            noise_sd,
            noise_ratio: reported.noise_ratio,
            reported: Errors::of(&reported),
            over_no_noise: Errors::of(&reported).total() / without_noise.total(),
            sums_alone: Errors::of(&sums_alone),
        })
    };
    Ok(Outlook {
        students: plan.students(),
        width: plan.width()?,
        clip: plan.clip()?,
        without_noise,
        maximum_likelihood: Errors::of(&forecast.maximum_likelihood()?),
        private: studies.into_iter().map(expected).collect::<Result<_, PrivateRefusal>>()?,
    })
}

#[cfg(test)]
mod tests;
