//! Normal ability in several groups of students: the multiple-group model (Bock & Zimowski 1997).
//!
//! f_g(V) = N(V; μ_g, e^{2ρ_g}). The first group is the reference: μ = ρ = 0, which fixes the scale; μ_g and ρ_g of each other
//! one are free, 2(G − 1) in all. All groups share the nodes, so that items have one set of curves.

use super::jet::Jet;

/// Largest |μ|: groups further apart have no answers in common that a test could compare.
const LARGEST_MEAN: f64 = 6.0;
/// Largest |ρ|: SDs differ by a factor of e² ≈ 7 at most.
const LARGEST_LOG_SD: f64 = 2.0;

/// Names of the free parameters.
pub(super) fn names(groups: usize) -> Vec<String> {
    (2..=groups).flat_map(|g| ["mean", "log_sd"].map(|name| format!("group{g}.{name}"))).collect()
}

/// The largest absolute value of each parameter.
pub(super) fn bounds(groups: usize) -> Vec<f64> {
    [LARGEST_MEAN, LARGEST_LOG_SD].repeat(groups - 1)
}

/// Mean and log SD of a group (0 is the reference), and where they stand.
pub(super) fn of(group: usize, parameters: &[f64]) -> Option<(f64, f64)> {
    let at = 2 * group.checked_sub(1)?;
    Some((parameters[at], parameters[at + 1]))
}

/// log f_g at every node, up to a constant, as a function of the parameters and, in the last place, of V.
pub(super) fn log_density(group: usize, parameters: &[f64], nodes: &[f64]) -> Vec<Jet> {
    let k = parameters.len() + 1;
    let free = |value: f64, at: usize| Jet::parameter(value, at, k);
    let own = of(group, parameters).map(|(mean, log_sd)| {
        let at = 2 * (group - 1);
        (free(mean, at), free(log_sd, at + 1))
    });
    let (mean, log_sd) = own.unwrap_or_else(|| (Jet::constant(0.0, k), Jet::constant(0.0, k)));
    let precision = log_sd.scale(-2.0).exp();
    let at = |v: &f64| {
        let distance = &free(*v, k - 1) - &mean;
        let exponent = (&(&distance * &distance) * &precision).scale(0.5);
        &log_sd.scale(-1.0) - &exponent
    };
    nodes.iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use crate::population::{Family, Population};

    #[test]
    fn each_group_is_normal_with_its_mean_and_sd() {
        let population = Population { family: Family::Groups { groups: 3 }, ..Population::default() };
        let parameters = [0.4, 0.2, -0.7, -0.1];
        let grids = population.grids(&parameters);
        assert_eq!(population.parameters().len(), population.size());
        for (grid, (mean, sd)) in grids.iter().zip(population.group_moments(&parameters)) {
            let moment = |power: i32| -> f64 {
                grid.nodes()
                    .iter()
                    .zip(grid.log_weights())
                    .map(|(v, w)| (v - mean).powi(power) * w.exp())
                    .sum()
            };
            assert!((moment(0) - 1.0).abs() < 1e-13 && moment(1).abs() < 1e-4);
            assert!((moment(2) - sd * sd).abs() < 1e-3, "{} {sd}", moment(2));
        }
        assert_eq!(population.group_moments(&parameters)[0], (0.0, 1.0));
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let population = Population { family: Family::Groups { groups: 3 }, ..Population::default() };
        let (parameters, step) = ([0.4, 0.2, -0.7, -0.1], 1e-5);
        let here = population.grids(&parameters);
        for h in 0..parameters.len() {
            let moved = |by: f64| {
                let mut parameters = parameters;
                parameters[h] += by;
                population.grids(&parameters)
            };
            let (up, down) = (moved(step), moved(-step));
            for (g, grid) in here.iter().enumerate() {
                for n in 0..grid.len() {
                    let want = (up[g].log_weights()[n] - down[g].log_weights()[n]) / (2.0 * step);
                    assert!((grid.score(h)[n] - want).abs() < 1e-6 * (1.0 + want.abs()), "{g} {h} {n}");
                    for l in 0..parameters.len() {
                        let want = (up[g].score(l)[n] - down[g].score(l)[n]) / (2.0 * step);
                        assert!((grid.curvature(h, l)[n] - want).abs() < 1e-5 * (1.0 + want.abs()));
                    }
                }
            }
        }
    }
}
