//! Statistics that several questions ask for, and checks that several questions make.

use super::Malformed;
use super::tensor::{Axis, Bound, Shape, top_score};
use crate::exchange::{Point, Request};
use crate::statistics::Statistic;

/// Number of students.
pub(super) const STUDENTS: Statistic = Statistic::sum("students", "how many students the site counts");

/// Sum of the students' weights.
pub(super) const WEIGHT: Statistic = Statistic::sum("weight", "the sum of the students' weights");

/// Marginal log-likelihood.
pub(super) const LOGLIK: Statistic =
    Statistic::sum("loglik", "how well the current parameters explain the answers");

/// Gradient of the log-likelihood in the item parameters.
pub const GRADIENT: Statistic =
    Statistic::sum("gradient", "in which direction each item parameter would explain them better");

/// One count to which a student of weight one adds at most one.
pub(super) fn count() -> (Shape, Bound) {
    (Shape::scalar(), Bound::per_student(1.0))
}

/// The log-likelihood at one point.
pub(super) fn loglik(request: &Request) -> (Shape, Bound) {
    (Shape::scalar(), Bound::per_student(1000.0 * request.design.len() as f64))
}

/// The gradient along some axis.
pub(super) fn gradient(request: &Request, axis: Axis) -> (Shape, Bound) {
    let design = &request.design;
    (Shape::Vector(axis), Bound::per_student(64.0 * top_score(design) * design.len() as f64))
}

pub(super) fn finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

/// Refuses numbers that are not finite.
pub(super) fn check_finite(what: &'static str, numbers: &[f64]) -> Result<(), Malformed> {
    if finite(numbers) { Ok(()) } else { Err(Malformed::NotFinite(what)) }
}

/// One finite number per item parameter, for questions that know the normal population only.
pub(super) fn check_parameters(request: &Request, psi: &[f64]) -> Result<(), Malformed> {
    let p = request.design.parameters();
    check_normal(request)?;
    if psi.len() == p && finite(psi) { Ok(()) } else { Err(Malformed::Parameters { wanted: p }) }
}

/// Refuses populations other than the normal.
pub(super) fn check_normal(request: &Request) -> Result<(), Malformed> {
    if request.population.is_normal() { Ok(()) } else { Err(Malformed::NormalOnly) }
}

/// Parameters of items and population, and an SD of site effects.
pub(super) fn check_point(request: &Request, point: &Point) -> Result<(), Malformed> {
    let p = request.parameters();
    if point.psi.len() != p || !finite(&point.psi) {
        return Err(Malformed::Parameters { wanted: p });
    }
    if !request.population.admissible(&point.psi[request.design.parameters()..]) {
        return Err(Malformed::PopulationParameters);
    }
    if (0.0..=100.0).contains(&point.site_sd) { Ok(()) } else { Err(Malformed::SiteSd(point.site_sd)) }
}

/// Most steps or iterations that a site makes in one round.
const MAX_STEPS: usize = 10_000;

/// A number of local steps.
pub(super) fn check_steps(steps: usize) -> Result<(), Malformed> {
    if steps <= MAX_STEPS { Ok(()) } else { Err(Malformed::Steps(steps)) }
}

/// A number rounded to three significant digits.
pub(crate) fn three_digits(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let unit = 10f64.powi(2 - x.abs().log10().floor() as i32);
    (x * unit).round() / unit
}
