//! Whether ability is distributed as the model has it: a score test of the normal, and posterior weights against the model's.

use super::pair_tables::chi_squared_above;
use super::simulated::Simulator;
use super::site::{SHAPES, shapes};
use super::{Fitted, GROUPS, WEIGHTED, not_asked};
use crate::exchange::Effects;
use crate::fit::LatentCheck;
use crate::questions::diagnose::{DiagnoseReply, Diagnostic};
use nalgebra::{DMatrix, Matrix2, SymmetricEigen, Vector2};
use rayon::prelude::*;

/// A node is looked at if the model expects so many students there.
const FEWEST: f64 = 1.0;

/// Simulated data sets and students in each: what a student tells of the shapes comes from the fitted model. The observed information
/// would do for many students; with a thousand what is left of it for kurtosis is mostly noise.
const REPLICATIONS: usize = 20;
const STUDENTS: usize = 500;

/// Streams of random numbers below this belong to other simulations.
const FIRST_STREAM: usize = 2_000_000;

/// Parameters are rounded to multiples of one over this before anything is simulated.
const ROUNDED: f64 = 256.0;

/// Most parameters: their products are a matrix.
const MOST_PARAMETERS: usize = 1_000;

/// Eigenvalues below this share of the largest are zero: the origin, which site effects share with the items.
const NOTHING: f64 = 1e-8;

/// The information about the shapes that a student of the average site gives, with that taken away which the parameters of items and
/// a fixed site effect explain.
fn information(fitted: &Fitted<'_>) -> Option<Matrix2<f64>> {
    // Drawn answers jump where parameters move. At rounded ones they are the same whatever the last digits are, which differ
    // between modes.
    let rounded: Vec<f64> = fitted.psi.iter().map(|x| (x * ROUNDED).round() / ROUNDED).collect();
    let psi = if fitted.design.admissible(&rounded) { rounded.as_slice() } else { fitted.psi };
    let simulator = Simulator::at(fitted, psi, fitted.answered.clone());
    let parts: Vec<DMatrix<f64>> = (0..REPLICATIONS)
        .into_par_iter()
        .map(|k| simulator.draw(FIRST_STREAM + k, STUDENTS).shape_products(psi, fitted.population))
        .collect();
    let p = fitted.psi.len();
    let products =
        parts.into_iter().fold(DMatrix::zeros(p + 1 + SHAPES, p + 1 + SHAPES), |sum, part| sum + part);
    // Nuisance: the free parameters, and a fixed effect.
    let jacobian = (fitted.jacobian)();
    let free = jacobian.ncols();
    let effect = usize::from(fitted.effects == Effects::Fixed);
    let mut nuisance = DMatrix::zeros(p + 1, free + effect);
    nuisance.view_mut((0, 0), (p, free)).copy_from(&jacobian.rows(0, p));
    if effect == 1 {
        nuisance[(p, free)] = 1.0;
    }
    let own = nuisance.transpose() * products.view((0, 0), (p + 1, p + 1)) * &nuisance;
    let cross = products.view((p + 1, 0), (SHAPES, p + 1)) * &nuisance;
    let eigen = SymmetricEigen::new((&own + own.transpose()) * 0.5);
    let turned = &cross * &eigen.eigenvectors;
    let least = NOTHING * eigen.eigenvalues.max();
    let mut left = products.view((p + 1, p + 1), (SHAPES, SHAPES)).into_owned();
    let mut used = 0.0;
    for (column, value) in
        turned.column_iter().zip(eigen.eigenvalues.iter()).filter(|(_, value)| **value > least)
    {
        left -= column * column.transpose() / *value;
        used += 1.0;
    }
    let drawn = (REPLICATIONS * STUDENTS) as f64;
    // As a residual variance has the degrees of freedom that regressors leave.
    let left = left / (drawn - used).max(1.0);
    let left = Matrix2::new(left[(0, 0)], left[(0, 1)], left[(1, 0)], left[(1, 1)]);
    left.cholesky().map(|_| left)
}

/// The check, or why there is none.
pub(super) fn latent(fitted: &Fitted<'_>, reply: &DiagnoseReply) -> Result<LatentCheck, &'static str> {
    if !fitted.wanted.contains(&Diagnostic::Latent) {
        return Err(not_asked(fitted, Diagnostic::Latent));
    }
    if fitted.population.groups() > 1 {
        return Err(GROUPS);
    }
    let (Some(mass), Some(squares), Some(score)) =
        (&reply.ability_mass, &reply.ability_squares, &reply.shape_score)
    else {
        return Err(WEIGHTED);
    };
    let n: f64 = mass.iter().sum();
    if n < 2.0 {
        return Err("too few students");
    }
    let expected: Vec<f64> = fitted.grid.log_weights().iter().map(|w| w.exp()).collect();
    let residual = |((mass, square), w): ((&f64, &f64), &f64)| {
        let variance = square - n * w * w;
        (n * w >= FEWEST && variance > 0.0).then(|| (mass - n * w) / variance.sqrt())
    };
    let moment =
        |k: usize| -> f64 { fitted.grid.nodes().iter().zip(&expected).map(|(v, w)| w * shapes(*v)[k]).sum() };
    let mut out = LatentCheck {
        lr: None,
        score: None,
        df: fitted.population.size() as f64,
        p: None,
        // E He₃ and E He₄ of a density with mean 0 and SD 1.
        skewness: 6.0 * moment(0),
        skewness_se: None,
        kurtosis: 24.0 * moment(1),
        kurtosis_se: None,
        theta: fitted.grid.nodes().iter().map(|v| fitted.latent_mean + fitted.latent_sd * v).collect(),
        residuals: mass.iter().zip(squares).zip(&expected).map(residual).collect(),
        observed: mass.iter().map(|mass| mass / n).collect(),
        expected,
    };
    if !fitted.population.is_normal() {
        return Ok(out);
    }
    if fitted.effects == Effects::Random {
        return Err(
            "with random site effects the test of normal ability is not made; fit with fixed effects or none to see it",
        );
    }
    if fitted.psi.len() > MOST_PARAMETERS {
        return Err("there are too many parameters to simulate what they explain");
    }
    let u = Vector2::new(score[0], score[1]);
    // Rao (1948): the score against its variance once the other parameters have been estimated.
    let Some(variance) = information(fitted).map(|each| each * n).and_then(|i| i.try_inverse()) else {
        return Err("too little is known about skewness and kurtosis: more items or students are needed");
    };
    let step = variance * u;
    let statistic = u.dot(&step);
    out.score = Some(statistic);
    out.df = SHAPES as f64;
    out.p = Some(chi_squared_above(statistic, out.df));
    (out.skewness, out.kurtosis) = (step[0], step[1]);
    (out.skewness_se, out.kurtosis_se) = (Some(variance[(0, 0)].sqrt()), Some(variance[(1, 1)].sqrt()));
    Ok(out)
}
