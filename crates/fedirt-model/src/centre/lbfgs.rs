//! Limited-memory BFGS (Nocedal & Wright 2006, algorithm 7.5) with a strong Wolfe line search, for functions
//! that the centre can evaluate by itself.

/// Pairs of steps and gradient changes that are remembered.
const MEMORY: usize = 20;

/// The smallest value found and where, after at most `iterations`, or when no gradient exceeds `tolerance`.
pub(crate) fn minimise(
    mut f: impl FnMut(&[f64]) -> (f64, Vec<f64>),
    mut x: Vec<f64>,
    iterations: usize,
    tolerance: f64,
) -> (f64, Vec<f64>) {
    let (mut value, mut gradient) = f(&x);
    let mut history: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
    for _ in 0..iterations {
        if gradient.iter().all(|g| g.abs() < tolerance) {
            break;
        }
        let mut direction = two_loop(&history, &gradient);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            history.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        let first = if history.is_empty() { 1.0 / norm(&gradient).max(1.0) } else { 1.0 };
        let Some((step, new_value, new_gradient)) = search(&mut f, &x, value, slope, &direction, first)
        else {
            break;
        };
        let s: Vec<f64> = direction.iter().map(|d| step * d).collect();
        let y: Vec<f64> = new_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        x.iter_mut().zip(&s).for_each(|(x, s)| *x += s);
        let sy = dot(&s, &y);
        if sy > 1e-12 * norm(&s) * norm(&y) {
            if history.len() == MEMORY {
                history.remove(0);
            }
            history.push((s, y, 1.0 / sy));
        }
        (value, gradient) = (new_value, new_gradient);
    }
    (value, x)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn two_loop(history: &[(Vec<f64>, Vec<f64>, f64)], gradient: &[f64]) -> Vec<f64> {
    let mut q = gradient.to_vec();
    let mut alphas = Vec::with_capacity(history.len());
    for (s, y, rho) in history.iter().rev() {
        let alpha = rho * dot(s, &q);
        q.iter_mut().zip(y).for_each(|(q, y)| *q -= alpha * y);
        alphas.push(alpha);
    }
    if let Some((s, y, _)) = history.last() {
        let scale = dot(s, y) / dot(y, y);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((s, y, rho), alpha) in history.iter().zip(alphas.iter().rev()) {
        let beta = rho * dot(y, &q);
        q.iter_mut().zip(s).for_each(|(q, s)| *q += (alpha - beta) * s);
    }
    q.iter_mut().for_each(|q| *q = -*q);
    q
}

/// A step that satisfies the strong Wolfe conditions, by bracketing and bisection.
fn search(
    f: &mut impl FnMut(&[f64]) -> (f64, Vec<f64>),
    x: &[f64],
    value: f64,
    slope: f64,
    direction: &[f64],
    first: f64,
) -> Option<(f64, f64, Vec<f64>)> {
    let (mut low, mut high, mut step) = (0.0f64, f64::INFINITY, first);
    let mut best = None;
    for _ in 0..40 {
        let at: Vec<f64> = x.iter().zip(direction).map(|(x, d)| x + step * d).collect();
        let (v, g) = f(&at);
        let new_slope = dot(&g, direction);
        if !v.is_finite() || v > value + 1e-4 * step * slope {
            high = step;
        } else {
            let done = new_slope.abs() <= 0.9 * slope.abs();
            let rising = new_slope > 0.0;
            best = Some((step, v, g));
            if done {
                break;
            }
            if rising {
                high = step;
            } else {
                low = step;
            }
        }
        step = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * step };
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rosenbrock_has_its_minimum_at_one() {
        let f = |x: &[f64]| {
            let (a, b) = (x[0], x[1]);
            let v = (1.0 - a).powi(2) + 100.0 * (b - a * a).powi(2);
            let g = vec![-2.0 * (1.0 - a) - 400.0 * a * (b - a * a), 200.0 * (b - a * a)];
            (v, g)
        };
        let (value, x) = minimise(f, vec![-1.2, 1.0], 500, 1e-9);
        assert!(value < 1e-16 && (x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8);
    }
}
