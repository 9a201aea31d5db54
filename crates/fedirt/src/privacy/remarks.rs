//! What a forecast means, in sentences.

use fedirt_model::private::Prior;
use fedirt_privacy::accountant::Delta;
use fedirt_protocol::forecast::{Expected, Outlook, Wish};

/// A standard error at which an effect of ordinary size (SD 0.5) begins to be told from none.
const USEFUL: f64 = 0.5;

fn list(epsilons: &[f64]) -> String {
    let texts: Vec<String> = epsilons.iter().map(f64::to_string).collect();
    texts.join(", ")
}

/// Everything that stands between the wish and its fulfilment.
pub(super) fn of(wish: &Wish, found: &Outlook) -> Vec<String> {
    let prior = Prior::default();
    let mut out = Vec::new();
    let those = |bad: &dyn Fn(&Expected) -> bool| -> Vec<&Expected> {
        found.private.iter().filter(|at| bad(at)).collect()
    };
    let epsilons = |those: &[&Expected]| list(&those.iter().map(|at| at.epsilon).collect::<Vec<_>>());

    let noisy = those(&|at| at.noise_ratio > 1.0);
    if let Some(worst) = noisy.first() {
        out.push(format!(
            "warning: at ε = {} the noise outweighs the sampling error (ratio of variances up to {:.1}, above 1): intervals will be \
             too short, and estimates lean on their priors. Fewer items or sites, more students or a larger ε help.",
            epsilons(&noisy),
            worst.noise_ratio
        ));
    }
    // What the sums alone say less about than the prior does.
    let beyond = |at: &Expected| at.sums_alone.s.is_some_and(|se| se > prior.effect_sd);
    let untold = those(&beyond);
    if let Some((worst, se)) = untold.first().and_then(|at| Some((at, at.sums_alone.s?))) {
        let enough = found.private.iter().find(|at| at.sums_alone.s.is_some_and(|se| se < USEFUL));
        let larger = match enough {
            Some(at) => format!("ε = {} (SE ≈ {:.2})", at.epsilon, at.sums_alone.s.unwrap_or(0.0)),
            None => format!("about {:.0} times as many students", (se / USEFUL).ceil()),
        };
        out.push(format!(
            "site effects cannot be told at ε = {}: SE ≈ {se:.1} logits from the sums alone at ε = {}, when effects \
             have an SD of {} before any data. Use --effects none (with --site-sd), larger sites, or {larger}.",
            epsilons(&untold),
            worst.epsilon,
            prior.effect_sd
        ));
    }
    let vague = those(&|at| {
        at.sums_alone.b > prior.difficulty_sd || at.sums_alone.a.is_some_and(|se| se > prior.log_slope_sd)
    });
    if !vague.is_empty() {
        out.push(format!(
            "at ε = {} items lean on their priors (SD {} of difficulties, {} of log slopes): the sums alone say less.",
            epsilons(&vague),
            prior.difficulty_sd,
            prior.log_slope_sd
        ));
    }
    if Delta::new(wish.delta).is_ok_and(|delta| delta.is_large_for(found.students) == Ok(true)) {
        out.push(format!(
            "warning: δ = {:e} is above 1/(10 N) = {:.1e}: choose a smaller one.",
            wish.delta,
            0.1 / found.students as f64
        ));
    }
    out
}
