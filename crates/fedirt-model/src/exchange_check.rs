//! Whether a request is one that a site can answer at all: shapes and finite numbers. What it *may* answer is for its
//! policy to say.

use crate::exchange::{Ask, EffectErrors, Effects, Point, Request, triangle};
use crate::quadrature::GridSpec;

/// Most quadrature nodes.
const MAX_NODES: usize = 1001;
/// Most points of one evaluation.
const MAX_POINTS: usize = 8;
/// Most local steps or iterations.
const MAX_STEPS: usize = 10_000;

impl Request {
    /// Checks shapes and numbers, so that no request, however strange, makes a site fail.
    pub fn check(&self, columns: usize) -> Result<(), String> {
        let j = self.design.len();
        if j == 0 || self.parts.len() != j || self.parts.iter().any(|part| *part >= j) {
            return Err("items and linked parts do not fit together".into());
        }
        if let Some(item) = self.design.items().iter().find(|item| item.column >= columns) {
            return Err(format!("item {} of {columns} does not exist", item.column + 1));
        }
        let mut seen = vec![false; columns];
        for item in self.design.items() {
            if std::mem::replace(&mut seen[item.column], true) {
                return Err(format!("item {} is asked for twice", item.column + 1));
            }
        }
        let GridSpec { nodes, range, .. } = self.grid;
        if !(2..=MAX_NODES).contains(&nodes) || !(f64::MIN_POSITIVE..=100.0).contains(&range) {
            return Err(format!("a grid of {nodes} nodes to {range} is out of range"));
        }
        if !(self.weight_scale.is_finite() && self.weight_scale > 0.0) {
            return Err("the factor on weights must be a finite number above 0".into());
        }
        self.check_ask()
    }

    fn check_ask(&self) -> Result<(), String> {
        let p = self.design.parameters();
        let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
        let psi = |psi: &[f64]| {
            if psi.len() == p && finite(psi) {
                Ok(())
            } else {
                Err(format!("{p} finite parameters are needed"))
            }
        };
        let point = |point: &Point| {
            psi(&point.psi)?;
            if (0.0..=100.0).contains(&point.site_sd) {
                Ok(())
            } else {
                Err(format!("an SD of site effects of {}", point.site_sd))
            }
        };
        let steps =
            |n: usize| if n <= MAX_STEPS { Ok(()) } else { Err(format!("{n} local steps are too many")) };
        match &self.ask {
            Ask::Counts | Ask::Start { .. } => Ok(()),
            Ask::Evaluate { points, .. } if points.is_empty() || points.len() > MAX_POINTS => {
                Err(format!("{} points in one evaluation", points.len()))
            }
            Ask::Evaluate { points, .. } => points.iter().try_for_each(point),
            Ask::Published { psi: at, effects, .. } => {
                psi(at)?;
                if finite(effects) { Ok(()) } else { Err("effects must be finite".into()) }
            }
            Ask::Train { items, effects, epochs, learning_rate, .. } => {
                psi(items)?;
                steps(*epochs)?;
                if finite(effects) && learning_rate.is_finite() {
                    Ok(())
                } else {
                    Err("effects and learning rate must be finite".into())
                }
            }
            Ask::LocalFit { tolerance, iterations } => {
                steps(*iterations)?;
                if *tolerance > 0.0 { Ok(()) } else { Err("the tolerance must be above 0".into()) }
            }
            Ask::Products { point: at, effect_unit, .. } => {
                point(at)?;
                if effect_unit.is_finite() { Ok(()) } else { Err("the effects' unit must be finite".into()) }
            }
            Ask::Close { point: at, sd, errors, effects, .. } => {
                point(at)?;
                if !(sd.is_finite() && *sd > 0.0) || effects.as_ref().is_some_and(|e| !finite(e)) {
                    return Err("effects and their unit must be finite".into());
                }
                errors.as_ref().map_or(Ok(()), |errors| self.check_errors(errors))
            }
        }
    }

    fn check_errors(&self, errors: &EffectErrors) -> Result<(), String> {
        let (p, parts) = (self.design.parameters(), self.part_count());
        let size = self.coordinates();
        let none_or = |numbers: &[f64], len: usize| numbers.is_empty() || numbers.len() == len;
        let random = self.effects == Effects::Random;
        let fine = errors.covariance.len() == triangle(size)
            && errors.sd_gradient.len() <= size
            && (random || (errors.sites.len() == parts && errors.variances.len() == parts))
            && (random || errors.mean_loadings.len() == parts * p)
            && none_or(&errors.products, triangle(p + parts))
            && errors.effect_unit.is_finite();
        if fine { Ok(()) } else { Err("what is needed for standard errors has the wrong shape".into()) }
    }
}
