//! A mixture of normals with mean 0 and SD 1: skewed, heavy-tailed or two-humped ability (Mislevy 1984, section 5).
//!
//! f(V) = Σ_g π_g N(V; (δ_g − M)/S, (e^{ρ_g}/S)²), where π_g ∝ e^{λ_g}, M = Σ π_g δ_g and
//! S² = Σ π_g (e^{2ρ_g} + δ_g²) − M², so that mean and SD are 0 and 1 whatever the parameters are. The first component has
//! λ = δ = ρ = 0; the free parameters are λ, δ and ρ of each other one, 3(G − 1) in all.

use super::jet::Jet;
use serde::{Deserialize, Serialize};

/// Largest |λ|: a component of one student in some three thousand.
const LARGEST_LOGIT: f64 = 8.0;
/// Largest distance between components, in SDs of the first.
const LARGEST_DISTANCE: f64 = 8.0;
/// Largest |ρ|: SDs differ by a factor of e² ≈ 7 at most.
const LARGEST_LOG_SD: f64 = 2.0;

/// One component of a mixture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// Its share of the students.
    pub weight: f64,
    /// Its mean.
    pub mean: f64,
    /// Its SD.
    pub sd: f64,
}

/// Names of the free parameters.
pub(super) fn names(components: usize) -> Vec<String> {
    (2..=components)
        .flat_map(|g| ["logit_weight", "distance", "log_sd"].map(|name| format!("component{g}.{name}")))
        .collect()
}

/// The largest absolute value of each parameter.
pub(super) fn bounds(components: usize) -> Vec<f64> {
    [LARGEST_LOGIT, LARGEST_DISTANCE, LARGEST_LOG_SD].repeat(components - 1)
}

/// Starting parameters: skewed to the right, skewed to the left, heavy-tailed. At the normal itself the likelihood is flat in
/// some direction, so none of them starts there.
pub(super) fn starts(components: usize) -> Vec<Vec<f64>> {
    let graded = |logit: f64, distance: f64, log_sd: f64| {
        (1..components).flat_map(|g| [logit, distance, log_sd].map(|x| x * g as f64)).collect()
    };
    vec![graded(-0.8, 1.6, 0.0), graded(-0.8, -1.6, 0.0), graded(-0.8, 0.0, 0.6)]
}

/// What a component is made of, as a function of the parameters.
struct Free {
    log_weight: Jet,
    mean: Jet,
    log_sd: Jet,
}

/// log π_g, standardised mean and log standardised SD of every component, as functions of the parameters and of V.
fn components(parameters: &[f64]) -> Vec<Free> {
    let k = parameters.len() + 1;
    let of = |g: usize, which: usize| match g.checked_sub(1) {
        None => Jet::constant(0.0, k),
        Some(other) => Jet::parameter(parameters[3 * other + which], 3 * other + which, k),
    };
    let count = parameters.len() / 3 + 1;
    let logits: Vec<Jet> = (0..count).map(|g| of(g, 0)).collect();
    let total = Jet::log_sum_exp(&logits);
    let (mut mean, mut square) = (Jet::constant(0.0, k), Jet::constant(0.0, k));
    for (g, logit) in logits.iter().enumerate() {
        let (weight, distance) = ((logit - &total).exp(), of(g, 1));
        mean = &mean + &(&weight * &distance);
        square = &square + &(&weight * &(&of(g, 2).scale(2.0).exp() + &(&distance * &distance)));
    }
    let log_sd = (&square - &(&mean * &mean)).ln().scale(0.5);
    let unit = log_sd.scale(-1.0).exp();
    let free = |(g, logit): (usize, &Jet)| Free {
        log_weight: logit - &total,
        mean: &(&of(g, 1) - &mean) * &unit,
        log_sd: &of(g, 2) - &log_sd,
    };
    logits.iter().enumerate().map(free).collect()
}

/// The components at given parameters.
pub(super) fn report(parameters: &[f64]) -> Vec<Component> {
    let value = |c: Free| Component {
        weight: c.log_weight.value.exp(),
        mean: c.mean.value,
        sd: c.log_sd.value.exp(),
    };
    components(parameters).into_iter().map(value).collect()
}

/// log f at every node, up to a constant, as a function of the parameters and, in the last place, of V.
pub(super) fn log_density(parameters: &[f64], nodes: &[f64]) -> Vec<Jet> {
    let k = parameters.len() + 1;
    let components: Vec<(Free, Jet)> = components(parameters)
        .into_iter()
        .map(|c| {
            let precision = c.log_sd.scale(-2.0).exp();
            (c, precision)
        })
        .collect();
    let at = |v: &f64| {
        let terms: Vec<Jet> = components
            .iter()
            .map(|(c, precision)| {
                let distance = &Jet::parameter(*v, k - 1, k) - &c.mean;
                let exponent = (&(&distance * &distance) * precision).scale(0.5);
                &(&c.log_weight - &c.log_sd) - &exponent
            })
            .collect();
        Jet::log_sum_exp(&terms)
    };
    nodes.iter().map(at).collect()
}
