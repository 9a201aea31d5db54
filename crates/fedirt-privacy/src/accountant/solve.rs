//! One-dimensional searches shared by the accountants.

/// How far two neighbouring steps of a walk are apart.
const STRIDE: f64 = 1.4;

/// Where a walk gives up.
const FARTHEST: f64 = 1e7;

/// A root of a monotone function between `low` and `high`, where its signs differ.
///
/// Regula falsi with the Illinois rule (Dowell and Jarratt 1971), and a bisection whenever two steps have
/// not halved the bracket. Ends when |f| ≤ `f_tolerance` or when the bracket is as narrow as doubles allow.
pub(super) fn root<E>(
    mut f: impl FnMut(f64) -> Result<f64, E>,
    (mut low, mut f_low): (f64, f64),
    (mut high, mut f_high): (f64, f64),
    f_tolerance: f64,
) -> Result<f64, E> {
    let (mut width, mut kept) = (high - low, 0);
    for step in 0..200 {
        let secant = high - f_high * (high - low) / (f_high - f_low);
        let halve = !(secant > low && secant < high) || (step % 3 == 2 && high - low > 0.5 * width);
        if step % 3 == 2 {
            width = high - low;
        }
        let x = if halve { 0.5 * (low + high) } else { secant };
        if x <= low || x >= high {
            break;
        }
        let value = f(x)?;
        if value.abs() <= f_tolerance {
            return Ok(x);
        }
        if (value > 0.0) == (f_low > 0.0) {
            (low, f_low) = (x, value);
            if kept == 1 {
                f_high *= 0.5;
            }
            kept = 1;
        } else {
            (high, f_high) = (x, value);
            if kept == -1 {
                f_low *= 0.5;
            }
            kept = -1;
        }
        if high - low <= 4.0 * f64::EPSILON * high.abs() {
            break;
        }
    }
    Ok(0.5 * (low + high))
}

/// The minimum of a function of one positive argument that falls and then rises: (argument, value).
///
/// A walk upwards from `start` in constant ratios, which never visits arguments far beyond the minimum (they
/// are the expensive ones), then a golden section in ln t.
pub(super) fn minimise(start: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let mut best = (start, f(start));
    let (mut t, mut rises) = (start, 0);
    while rises < 4 && t < FARTHEST {
        t *= STRIDE;
        let value = f(t);
        if value < best.1 {
            best = (t, value);
            rises = 0;
        } else {
            rises += 1;
        }
    }
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (best.0.ln() - STRIDE.ln(), best.0.ln() + STRIDE.ln());
    let mut inner = (high - golden * (high - low), low + golden * (high - low));
    let mut values = (f(inner.0.exp()), f(inner.1.exp()));
    for _ in 0..40 {
        if values.0 < values.1 {
            high = inner.1;
            inner = (high - golden * (high - low), inner.0);
            values = (f(inner.0.exp()), values.0);
        } else {
            low = inner.0;
            inner = (inner.1, low + golden * (high - low));
            values = (values.1, f(inner.1.exp()));
        }
        if high - low < 1e-7 {
            break;
        }
    }
    for (t, value) in [(inner.0, values.0), (inner.1, values.1)] {
        if value < best.1 {
            best = (t.exp(), value);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn roots_and_minima_of_known_functions() {
        let f = |x: f64| -> Result<f64, Infallible> { Ok(x.powi(9) - 2.0) };
        let x = root(f, (0.0, -2.0), (5.0, 5f64.powi(9) - 2.0), 0.0).unwrap();
        assert!((x - 2f64.powf(1.0 / 9.0)).abs() < 1e-14);
        let (t, value) = minimise(1e-2, |t| t + 9.0 / t);
        assert!((t - 3.0).abs() < 1e-4 && (value - 6.0).abs() < 1e-9);
    }
}
