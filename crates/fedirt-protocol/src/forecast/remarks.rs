//! What a forecast means: what may keep a planned study from the results that it expects.

use super::{Expected, Outlook, PlannedStudy, UNUSABLE};
use fedirt_model::private::Prior;
use fedirt_privacy::accountant::Delta;

/// A standard error at which an effect of ordinary size (SD 0.5) begins to be told from none.
const USEFUL: f64 = 0.5;

/// Something that a forecast shows and numbers alone do not tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// Too much noise for results of any use.
    Unusable {
        /// At these ε.
        epsilons: Vec<f64>,
        /// The largest of the squared errors over those without noise.
        ratio: f64,
    },
    /// The noise outweighs the sampling error.
    NoiseOutweighs {
        /// At these ε.
        epsilons: Vec<f64>,
        /// The largest ratio of variances.
        ratio: f64,
    },
    /// Site effects cannot be told from none.
    EffectsUntold {
        /// At these ε.
        epsilons: Vec<f64>,
        /// The standard error of an effect at the first of them, from the sums alone.
        se: f64,
        /// SD of effects before any data.
        prior_sd: f64,
        /// The smallest ε that would do, with its standard error; `None` if none of those looked at does.
        enough: Option<(f64, f64)>,
    },
    /// The sums say less about items than the priors.
    ItemsLeanOnPriors {
        /// At these ε.
        epsilons: Vec<f64>,
        /// SD of difficulties before any data.
        difficulty_sd: f64,
        /// SD of log slopes before any data.
        log_slope_sd: f64,
    },
    /// δ is above 1/(10 N).
    LargeDelta {
        /// δ.
        delta: f64,
        /// N.
        students: u64,
    },
}

impl Remark {
    /// The remark in a sentence. `without_effects` says how whoever reads it leaves site effects out: a flag, a field.
    pub fn told(&self, without_effects: &str) -> String {
        let list = |epsilons: &[f64]| epsilons.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::Unusable { epsilons, ratio } => format!(
                "unusable at ε = {}: squared errors up to {ratio:.1} times those without privacy are expected, and more than {UNUSABLE} \
                 leaves little that could be used. Choose a larger ε, fewer items or sites, or more students.",
                list(epsilons)
            ),
            Self::NoiseOutweighs { epsilons, ratio } => format!(
                "warning: at ε = {} the noise outweighs the sampling error (ratio of variances up to {ratio:.1}, above 1): intervals will be \
                 too short, and estimates lean on their priors. Fewer items or sites, more students or a larger ε help.",
                list(epsilons)
            ),
            Self::EffectsUntold { epsilons, se, prior_sd, enough } => {
                let larger = match enough {
                    Some((epsilon, se)) => format!("ε = {epsilon} (SE ≈ {se:.2})"),
                    None => format!("about {:.0} times as many students", (se / USEFUL).ceil()),
                };
                format!(
                    "site effects cannot be told at ε = {}: SE ≈ {se:.1} logits from the sums alone at ε = {}, when effects \
                     have an SD of {prior_sd} before any data. Use {without_effects}, larger sites, or {larger}.",
                    list(epsilons),
                    epsilons.first().copied().unwrap_or_default()
                )
            }
            Self::ItemsLeanOnPriors { epsilons, difficulty_sd, log_slope_sd } => format!(
                "at ε = {} items lean on their priors (SD {difficulty_sd} of difficulties, {log_slope_sd} of log slopes): the sums alone say less.",
                list(epsilons)
            ),
            Self::LargeDelta { delta, students } => format!(
                "warning: δ = {delta:e} is above 1/(10 N) = {:.1e}: choose a smaller one.",
                0.1 / *students as f64
            ),
        }
    }
}

/// Everything that may keep a planned study from the results that it expects.
pub fn remarks(planned: &PlannedStudy, found: &Outlook) -> Vec<Remark> {
    let prior = Prior { difficulty_sd: planned.method.difficulty_sd, ..Prior::default() };
    let mut out = Vec::new();
    let those = |bad: &dyn Fn(&Expected) -> bool| -> Vec<&Expected> {
        found.private.iter().filter(|at| bad(at)).collect()
    };
    let epsilons = |those: &[&Expected]| those.iter().map(|at| at.epsilon).collect::<Vec<f64>>();
    let unusable = those(&|at| at.over_no_noise > UNUSABLE);
    if let Some(ratio) = unusable.iter().map(|at| at.over_no_noise).reduce(f64::max) {
        out.push(Remark::Unusable { epsilons: epsilons(&unusable), ratio });
    }
    let noisy = those(&|at| at.noise_ratio > 1.0);
    if let Some(worst) = noisy.first() {
        out.push(Remark::NoiseOutweighs { epsilons: epsilons(&noisy), ratio: worst.noise_ratio });
    }
    // What the sums alone say less about than the prior does.
    let untold = those(&|at| at.sums_alone.s.is_some_and(|se| se > prior.effect_sd));
    if let Some(se) = untold.first().and_then(|at| at.sums_alone.s) {
        let enough = found
            .private
            .iter()
            .find_map(|at| Some((at.epsilon, at.sums_alone.s.filter(|se| *se < USEFUL)?)));
        let (epsilons, prior_sd) = (epsilons(&untold), prior.effect_sd);
        out.push(Remark::EffectsUntold { epsilons, se, prior_sd, enough });
    }
    let vague = those(&|at| {
        at.sums_alone.b > prior.difficulty_sd || at.sums_alone.a.is_some_and(|se| se > prior.log_slope_sd)
    });
    if !vague.is_empty() {
        let (difficulty_sd, log_slope_sd) = (prior.difficulty_sd, prior.log_slope_sd);
        out.push(Remark::ItemsLeanOnPriors { epsilons: epsilons(&vague), difficulty_sd, log_slope_sd });
    }
    if Delta::new(planned.delta).is_ok_and(|delta| delta.is_large_for(found.students) == Ok(true)) {
        out.push(Remark::LargeDelta { delta: planned.delta, students: found.students });
    }
    out
}
