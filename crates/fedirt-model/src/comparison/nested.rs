//! The likelihood ratio of two fits to the same answers, where one model is a special case of the other.
//!
//! 2(log L_general − log L_restricted) is χ² with as many degrees of freedom as the general model has more parameters
//! (Wilks 1938), if the restricted model holds and does not lie on the boundary of the general one.

use crate::fit::{Fit, FitItem};
use crate::items::{is_special_case, model};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A likelihood-ratio test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LikelihoodRatio {
    /// Twice the difference of the log-likelihoods.
    pub statistic: f64,
    /// Difference of the numbers of parameters.
    pub df: usize,
    /// Probability of a larger statistic if the restricted model holds.
    pub p: f64,
    /// Whether the restricted model lies on the boundary of the general one (a variance of zero): the probability is then
    /// too large, by half where one variance is tested (Self and Liang 1987).
    pub on_boundary: bool,
}

/// Why two fits cannot be tested against each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotNested {
    /// A mode that releases no log-likelihood.
    #[error("{which} has no log-likelihood (mode {mode})")]
    NoLikelihood {
        /// Which fit, counted from 1.
        which: usize,
        /// Its mode.
        mode: String,
    },
    /// The answers differ, as far as the fits tell.
    #[error("the fits are not of the same answers: {what} differ")]
    OtherData {
        /// What differs.
        what: &'static str,
    },
    /// The grids differ, so the likelihoods are not of one integral.
    #[error("the fits integrate over different grids")]
    OtherGrid,
    /// Estimates that are no maximum.
    #[error("fit {which} did not converge")]
    NotConverged {
        /// Which fit, counted from 1.
        which: usize,
    },
    /// Weights make a likelihood that is not one of independent students.
    #[error("fit {which} is weighted: twice the difference of weighted log-likelihoods is not χ²")]
    Weighted {
        /// Which fit, counted from 1.
        which: usize,
    },
    /// Neither model is a special case of the other.
    #[error("neither model is a special case of the other ({what})")]
    Models {
        /// Where they differ.
        what: String,
    },
    /// They have the same parameters.
    #[error("the models have the same number of parameters")]
    SameSize,
}

fn within(special: &FitItem, general: &FitItem) -> bool {
    special.model == general.model
        || (model(&special.model).zip(model(&general.model)))
            .is_some_and(|(one, other)| is_special_case(one, other, special.categories))
}

/// Whether the assumption about sites is a special case of the other, and on its boundary.
fn effects_within(special: &str, general: &str) -> Option<bool> {
    match (special, general) {
        (one, other) if one == other => Some(false),
        ("none", "fixed") => Some(false),
        ("none", "random") => Some(true),
        _ => None,
    }
}

/// Tests the fit with fewer parameters against the other one.
pub fn likelihood_ratio(one: &Fit, other: &Fit) -> Result<LikelihoodRatio, NotNested> {
    let fits = [one, other];
    let mut loglik = [0.0; 2];
    for (k, fit) in fits.iter().enumerate() {
        let which = k + 1;
        loglik[k] = fit.loglik.ok_or_else(|| NotNested::NoLikelihood { which, mode: fit.mode.clone() })?;
        if fit.converged != Some(true) {
            return Err(NotNested::NotConverged { which });
        }
        if fit.se_type.as_deref() == Some("sandwich") {
            return Err(NotNested::Weighted { which });
        }
    }
    same_answers(one, other)?;
    if one.quadrature != other.quadrature {
        return Err(NotNested::OtherGrid);
    }
    let (special, general) = match one.npar.cmp(&other.npar) {
        std::cmp::Ordering::Less => (0, 1),
        std::cmp::Ordering::Greater => (1, 0),
        std::cmp::Ordering::Equal => return Err(NotNested::SameSize),
    };
    let (s, g) = (fits[special], fits[general]);
    let on_boundary = effects_within(&s.effects, &g.effects)
        .ok_or_else(|| NotNested::Models { what: format!("site effects {} and {}", s.effects, g.effects) })?;
    for (a, b) in s.items.iter().zip(&g.items) {
        if !within(a, b) || b.fixed && !a.fixed {
            return Err(NotNested::Models { what: format!("{}: {} and {}", a.name, a.model, b.model) });
        }
    }
    let df = g.npar - s.npar;
    let statistic = (2.0 * (loglik[general] - loglik[special])).max(0.0);
    let p = ChiSquared::new(df as f64).map_or(f64::NAN, |chi| chi.sf(statistic));
    Ok(LikelihoodRatio { statistic, df, p, on_boundary })
}

/// What two fits tell about their answers must agree. (Fits hold no answers: the same counts of other answers pass.)
fn same_answers(one: &Fit, other: &Fit) -> Result<(), NotNested> {
    let differ = |what| Err(NotNested::OtherData { what });
    if one.n != other.n {
        return differ("the numbers of students");
    }
    if one.items.iter().map(|i| &i.name).ne(other.items.iter().map(|i| &i.name)) {
        return differ("the items");
    }
    if one.items.iter().map(|i| (i.n, &i.codes)).ne(other.items.iter().map(|i| (i.n, &i.codes))) {
        return differ("the answers per item");
    }
    if one.sites.iter().map(|s| (&s.name, s.n)).ne(other.sites.iter().map(|s| (&s.name, s.n))) {
        return differ("the sites");
    }
    Ok(())
}
