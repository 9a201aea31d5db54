//! A Davidian curve with mean 0 and SD 1: a squared polynomial times the normal density (Woods & Lin 2009; Gallant & Nychka
//! 1987). It bends where students do, and is smooth everywhere.
//!
//! h(z) = (Σ_i c_i H_i(z))² φ(z), where H_i are the Hermite polynomials that are orthonormal under the normal, so that h
//! integrates to Σ c_i² = 1. c_1 = sin φ_1, c_2 = cos φ_1 sin φ_2, …, c_{k+1} = Π cos φ_i: the angles of Woods & Lin, as in
//! mirt. Ability is V = (z − M)/S with the mean M and the SD S of h, so that f(V) = S h(M + S V).

use super::jet::Jet;

/// Angles beyond this repeat others.
const LARGEST_ANGLE: f64 = 4.0 * std::f64::consts::PI;

/// What ln P² becomes at most negative: P may vanish at a node.
const SMALLEST: f64 = 1e-30;

/// Names of the free parameters.
pub(super) fn names(degree: usize) -> Vec<String> {
    (1..=degree).map(|k| format!("davidian.angle{k}")).collect()
}

/// The largest absolute value of each parameter.
pub(super) fn bounds(degree: usize) -> Vec<f64> {
    vec![LARGEST_ANGLE; degree]
}

/// Densities of z from which to start, as mixtures of two normals (weight, mean, SD of each): skewed to the right, skewed to the left,
/// two humps, heavy tails. The normal itself is a saddle: there the likelihood does not depend on all angles but the first.
const STARTS: [[(f64, f64, f64); 2]; 4] = [
    [(0.7, -1.2, 0.7), (0.3, 1.2, 1.1)],
    [(0.7, 1.2, 0.7), (0.3, -1.2, 1.1)],
    [(0.5, -1.2, 0.8), (0.5, 1.2, 0.8)],
    [(0.6, 0.0, 0.6), (0.4, 0.0, 1.3)],
];

/// Starting angles: those of the polynomial nearest to √(f/φ) for each of some densities f.
pub(super) fn starts(degree: usize) -> Vec<Vec<f64>> {
    STARTS.iter().map(|parts| angles(&projection(parts, degree))).collect()
}

/// ∫ √(f φ) H_i dz for every i.
fn projection(parts: &[(f64, f64, f64)], degree: usize) -> Vec<f64> {
    let normal = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let step = 0.02;
    let mut out = vec![0.0; degree + 1];
    for n in -400..=400 {
        let z = f64::from(n) * step;
        let f: f64 = parts.iter().map(|(weight, mean, sd)| weight * normal((z - mean) / sd) / sd).sum();
        let root = step * (f * normal(z)).sqrt();
        let (mut before, mut h) = (0.0, 1.0);
        for (i, sum) in out.iter_mut().enumerate() {
            *sum += root * h;
            (before, h) = (h, (z * h - (i as f64).sqrt() * before) / (i as f64 + 1.0).sqrt());
        }
    }
    out
}

/// The angles of coefficients, whatever their length.
fn angles(coefficients: &[f64]) -> Vec<f64> {
    let last = coefficients.len() - 1;
    let rest = |i: usize| coefficients[i + 1..].iter().map(|c| c * c).sum::<f64>().sqrt();
    // The sign of what is left over stands in the last angle alone.
    (0..last)
        .map(|i| coefficients[i].atan2(if i + 1 == last { coefficients[last] } else { rest(i) }))
        .collect()
}

/// c_1, …, c_{k+1} among `size` variables of which the angles are the first.
fn coefficients(angles: &[f64], size: usize) -> Vec<Jet> {
    let mut product = Jet::constant(1.0, size);
    let mut out = Vec::with_capacity(angles.len() + 1);
    for (i, angle) in angles.iter().enumerate() {
        let angle = Jet::parameter(*angle, i, size);
        out.push(&product * &angle.sin());
        product = &product * &angle.cos();
    }
    out.push(product);
    out
}

/// log f at every node, up to a constant, as a function of the parameters and, in the last place, of V.
pub(super) fn log_density(parameters: &[f64], nodes: &[f64]) -> Vec<Jet> {
    let size = parameters.len() + 1;
    let c = coefficients(parameters, size);
    let root = |i: usize| (i as f64).sqrt();
    let at = |i: usize| c.get(i).cloned().unwrap_or_else(|| Jet::constant(0.0, size));
    // z H_i = √(i+1) H_{i+1} + √i H_{i−1}: the coefficients of z P give both moments.
    let (mut mean, mut square) = (Jet::constant(0.0, size), Jet::constant(0.0, size));
    for i in 0..=c.len() {
        let below = if i == 0 { Jet::constant(0.0, size) } else { at(i - 1).scale(root(i)) };
        let shifted = &below + &at(i + 1).scale(root(i + 1));
        mean = &mean + &(&shifted * &at(i));
        square = &square + &(&shifted * &shifted);
    }
    let log_sd = (&square - &(&mean * &mean)).ln().scale(0.5);
    let sd = log_sd.exp();
    let one = |v: &f64| {
        let z = &mean + &(&sd * &Jet::parameter(*v, size - 1, size));
        let (mut before, mut h) = (Jet::constant(0.0, size), Jet::constant(1.0, size));
        let mut polynomial = Jet::constant(0.0, size);
        for (i, c) in c.iter().enumerate() {
            polynomial = &polynomial + &(c * &h);
            let next = (&(&z * &h) - &before.scale(root(i))).scale(1.0 / root(i + 1));
            (before, h) = (h, next);
        }
        let squared = &(&polynomial * &polynomial) + &Jet::constant(SMALLEST, size);
        &(&squared.ln() + &log_sd) - &(&z * &z).scale(0.5)
    };
    nodes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_give_the_coefficients_back() {
        let c = [0.5, -0.3, 0.2, -0.6];
        let norm = c.iter().map(|x| x * x).sum::<f64>().sqrt();
        for (jet, want) in coefficients(&angles(&c), 4).iter().zip(c) {
            assert!((jet.value - want / norm).abs() < 1e-12);
        }
    }

    #[test]
    fn a_curve_of_degree_two_is_what_its_polynomial_says() {
        // P = c_1 + c_2 z + c_3 (z² − 1)/√2; moments by the trapezoidal rule.
        let angles = [-2.122394, -0.617181];
        let c: Vec<f64> = coefficients(&angles, 3).iter().map(|c| c.value).collect();
        let h = |z: f64| {
            (c[0] + c[1] * z + c[2] * (z * z - 1.0) / 2f64.sqrt()).powi(2) * (-0.5 * z * z).exp()
                / std::f64::consts::TAU.sqrt()
        };
        let moment = |power: i32| {
            (-2000..=2000).map(|n| f64::from(n) * 0.005).map(|z| 0.005 * z.powi(power) * h(z)).sum::<f64>()
        };
        assert!((moment(0) - 1.0).abs() < 1e-9);
        let (mean, sd) = (moment(1), (moment(2) - moment(1).powi(2)).sqrt());
        // The mean and SD of this density in another program's fit to a skewed sample.
        assert!((mean + 0.883219).abs() < 1e-5 && (sd - 1.471041).abs() < 1e-5, "{mean} {sd}");
        let here = log_density(&angles, &[-0.4, 0.7]);
        let want = (h(mean - 0.4 * sd) / h(mean + 0.7 * sd)).ln();
        assert!((here[0].value - here[1].value - want).abs() < 1e-9);
    }
}
