//! What leaving this site out would change, in one step from the estimates.

use crate::centre::symmetric;
use crate::exchange::Point;
use crate::questions::evaluate::Curvature;
use crate::questions::{Evaluate, SumQuestion};
use crate::site::SiteView;
use nalgebra::{DMatrix, DVector};

/// The parameter that would change most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Influence {
    /// Its place among the item parameters.
    pub place: usize,
    /// By how much it would change, on standardised ability.
    pub change: f64,
    /// The same in standard errors of the estimate from all sites.
    pub in_errors: f64,
}

/// Without a site the information is A − I_k and the score −g_k, so that estimates move by −(A − I_k)⁻¹ g_k: one step of Newton's
/// method (Pregibon 1981, for single observations). With V = A⁻¹, which may be singular where parameters are tied, that is
/// −(1 − V I_k)⁻¹ V g_k. `None` where the others alone determine nothing.
pub(crate) fn influence(site: &SiteView<'_>, point: &Point, covariance: &[f64]) -> Option<Influence> {
    let question =
        Evaluate { points: vec![point.clone()], curvature: Curvature::Observed, effect_totals: false };
    let reply = question.answer(site).into_single().ok()?;
    let p = point.psi.len();
    let (v, own) = (symmetric(p, covariance), symmetric(p, reply.information.as_deref()?));
    let gradient = DVector::from_vec(reply.gradient);
    let step = (DMatrix::identity(p, p) - &v * own).lu().solve(&(-&v * gradient))?;
    (0..site.data.design().parameters())
        .filter(|&r| v[(r, r)] > 0.0)
        .map(|r| Influence { place: r, change: step[r], in_errors: step[r] / v[(r, r)].sqrt() })
        .filter(|influence| influence.in_errors.is_finite())
        .max_by(|a, b| a.in_errors.abs().total_cmp(&b.in_errors.abs()))
}
