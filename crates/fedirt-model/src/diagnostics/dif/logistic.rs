//! Logistic regression of an item on sum score, group and their product (Swaminathan & Rogers 1990); for more than two
//! categories by proportional odds (Zumbo 1999): P(x ≥ c) = σ(α_c + β₁ s + β₂ g + β₃ s·g).

use super::tables::Stratum;
use crate::diagnostics::pair_tables::chi_squared_above;
use crate::fit::LogisticDif;
use nalgebra::{Cholesky, DMatrix, DVector};

/// Iterations at most: Fisher scoring needs five or six where there is a maximum.
const ITERATIONS: usize = 50;

/// Students who share covariates, with their answers by category.
struct Cell {
    covariates: [f64; 3],
    answers: Vec<f64>,
}

/// Likelihood ratios of the model with the group against that without.
pub(super) fn logistic(strata: &[Stratum]) -> Option<LogisticDif> {
    let n: f64 = strata.iter().map(Stratum::n).sum();
    let mean = strata.iter().map(|s| s.score * s.n()).sum::<f64>() / n;
    let spread = (strata.iter().map(|s| (s.score - mean).powi(2) * s.n()).sum::<f64>() / n).sqrt();
    if spread.is_nan() || spread <= 0.0 {
        return None;
    }
    // Standardised scores keep the information well conditioned; likelihoods are those of the scores as they are.
    let cell = |score: f64, group: f64, answers: &[f64]| {
        let s = (score - mean) / spread;
        Cell { covariates: [s, group, s * group], answers: answers.to_vec() }
    };
    let both = |s: &Stratum| [cell(s.score, 0.0, &s.reference), cell(s.score, 1.0, &s.focal)];
    let mut cells: Vec<Cell> = strata.iter().flat_map(both).collect();
    // Categories that nobody is in have no threshold.
    let steps = strata.first()?.focal.len();
    let used: Vec<usize> = (0..steps).filter(|c| cells.iter().any(|cell| cell.answers[*c] > 0.0)).collect();
    cells.iter_mut().for_each(|cell| cell.answers = used.iter().map(|c| cell.answers[*c]).collect());
    if used.len() < 2 {
        return None;
    }
    let [null, score, uniform, both] = [0, 1, 2, 3].map(|covariates| maximum(&cells, covariates));
    let (null, score, uniform, both) = (null?, score?, uniform?, both?);
    // Nagelkerke 1991.
    let r2 = |ll: f64| (1.0 - (2.0 * (null - ll) / n).exp()) / (1.0 - (2.0 * null / n).exp());
    let ratio = |less: f64, more: f64| (2.0 * (more - less)).max(0.0);
    let chi2 = [ratio(score, uniform), ratio(uniform, both), ratio(score, both)];
    Some(LogisticDif {
        uniform: chi2[0],
        uniform_p: chi_squared_above(chi2[0], 1.0),
        nonuniform: chi2[1],
        nonuniform_p: chi_squared_above(chi2[1], 1.0),
        both: chi2[2],
        both_p: chi_squared_above(chi2[2], 2.0),
        delta_r2_uniform: r2(uniform) - r2(score),
        delta_r2_nonuniform: r2(both) - r2(uniform),
    })
}

/// The maximum of the log-likelihood with the first so many covariates, by Fisher scoring (McCullagh 1980).
fn maximum(cells: &[Cell], covariates: usize) -> Option<f64> {
    let steps = cells.first()?.answers.len() - 1;
    let mut at = start(cells, steps, covariates);
    let mut here = evaluate(cells, &at, steps)?;
    for _ in 0..ITERATIONS {
        let step = Cholesky::new(here.information)?.solve(&here.gradient);
        let decrement = step.dot(&here.gradient);
        let mut scale = 1.0;
        let next = loop {
            let moved = &at + scale * &step;
            match evaluate(cells, &moved, steps)
                .filter(|next| next.loglik >= here.loglik - 1e-9 * here.loglik.abs())
            {
                Some(next) => break Some((moved, next)),
                None if scale < 1e-6 => break None,
                None => scale /= 2.0,
            }
        };
        let Some((moved, next)) = next else { return Some(here.loglik) };
        (at, here) = (moved, next);
        if decrement < 1e-10 {
            return Some(here.loglik);
        }
    }
    None
}

/// Thresholds that give the categories their shares, and no slopes.
fn start(cells: &[Cell], steps: usize, covariates: usize) -> DVector<f64> {
    let total: f64 = cells.iter().flat_map(|cell| &cell.answers).sum();
    let above = |c: usize| cells.iter().flat_map(|cell| &cell.answers[c..]).sum::<f64>() / total;
    let threshold = |c: usize| (above(c) / (1.0 - above(c))).ln();
    DVector::from_iterator(
        steps + covariates,
        (1..=steps).map(threshold).chain(std::iter::repeat_n(0.0, covariates)),
    )
}

struct Evaluated {
    loglik: f64,
    gradient: DVector<f64>,
    information: DMatrix<f64>,
}

/// Log-likelihood, gradient and expected information; none where thresholds are out of order.
fn evaluate(cells: &[Cell], at: &DVector<f64>, steps: usize) -> Option<Evaluated> {
    let size = at.len();
    let mut out =
        Evaluated { loglik: 0.0, gradient: DVector::zeros(size), information: DMatrix::zeros(size, size) };
    for cell in cells {
        let n: f64 = cell.answers.iter().sum();
        if n <= 0.0 {
            continue;
        }
        let covariates = &cell.covariates[..size - steps];
        let slope: f64 = covariates.iter().zip(at.iter().skip(steps)).map(|(x, b)| x * b).sum();
        // P(x ≥ c) for c = 0, …, steps + 1, and its derivative in the linear predictor.
        let above = |c: usize| match c {
            0 => (1.0, 0.0),
            c if c > steps => (0.0, 0.0),
            c => {
                let p = 1.0 / (1.0 + (-(at[c - 1] + slope)).exp());
                (p, p * (1.0 - p))
            }
        };
        for (c, answers) in cell.answers.iter().enumerate() {
            let ((low, d_low), (high, d_high)) = (above(c), above(c + 1));
            let p = low - high;
            if p <= 0.0 {
                return None;
            }
            let mut slopes = DVector::zeros(size);
            if c > 0 {
                slopes[c - 1] += d_low;
            }
            if c < steps {
                slopes[c] -= d_high;
            }
            for (r, x) in covariates.iter().enumerate() {
                slopes[steps + r] = x * (d_low - d_high);
            }
            out.loglik += answers * p.ln();
            out.gradient.axpy(answers / p, &slopes, 1.0);
            out.information.ger(n / p, &slopes, &slopes, 1.0);
        }
    }
    out.loglik.is_finite().then_some(out)
}
