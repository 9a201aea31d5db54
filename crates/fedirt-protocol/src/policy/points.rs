//! The limits on parameters: at steep, flat or far ones sums tell the answers to single items.

use super::Policy;
use super::refusal::BeyondLimits;
use fedirt_model::design::Design;
use fedirt_model::exchange::Request;
use fedirt_model::items::SlopeRule;

/// 1.702²: the logistic curve nearest to the normal ogive.
const OGIVE: f64 = 1.702 * 1.702;

impl Policy {
    /// Whether a point may be evaluated, after earlier ones.
    pub(super) fn check_point(
        &self,
        request: &Request,
        psi: &[f64],
        earlier: &[Vec<f64>],
    ) -> Result<(), BeyondLimits> {
        let design = &request.design;
        let mut flat = 0;
        for j in 0..design.len() {
            let slopes = &psi[design.slopes(j)];
            if let Some(&slope) = slopes.iter().find(|a| a.abs() > self.largest_slope * (1.0 + 1e-9)) {
                return Err(BeyondLimits::Slope { slope, most: self.largest_slope });
            }
            // Slopes that the model fixes are nobody's choice.
            let free = design.model(j).slope() == SlopeRule::Free;
            flat += usize::from(free && slopes.iter().all(|a| a.abs() < self.flat_slope));
            for (step, a, steps) in intercept_steps(design, psi, j) {
                // Twelve at a slope of one; steeper items reach further for the same difficulty.
                let unit = ((OGIVE + a * a) / (OGIVE + 1.0)).sqrt();
                if step.abs() > self.largest_step_intercept * unit * steps {
                    return Err(BeyondLimits::Intercepts { step, most: self.largest_step_intercept });
                }
            }
        }
        if flat as f64 > self.flat_share * design.len() as f64 {
            let (items, limit) = (design.len(), self.flat_slope);
            return Err(BeyondLimits::Flat { flat, items, limit });
        }
        let here = coordinates(request, psi);
        let nearest = earlier
            .iter()
            .filter(|there| there.len() == here.len())
            .map(|there| there.iter().zip(&here).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max))
            .min_by(f64::total_cmp);
        match nearest {
            Some(change) if change > self.largest_change * (1.0 + 1e-6) => {
                Err(BeyondLimits::Change { change, most: self.largest_change })
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The steps between an item's neighbouring intercepts, each with its slope and the number of steps that it spans.
fn intercept_steps(design: &Design, psi: &[f64], item: usize) -> Vec<(f64, f64, f64)> {
    let (span, slopes) = (design.span(item), design.slopes(item));
    if let Some(model) = design.model(item).one_slope() {
        // Difficulties at a slope of −1 are the steps themselves.
        let steps = model.difficulties(-1.0, &psi[slopes.end..span.end]);
        return steps.into_iter().map(|step| (step, psi[span.start], 1.0)).collect();
    }
    let of = |r: usize| design.slope_of(r).map_or(0.0, |(slope, _)| psi[slope]);
    (slopes.end..span.end).map(|r| (psi[r], of(r), (r + 1 - slopes.end) as f64)).collect()
}

/// Item parameters as the centre steps in them: a = ½ sinh(u), d = v·√(1.702² + a²); see the centre's structure.
pub(crate) fn coordinates(request: &Request, psi: &[f64]) -> Vec<f64> {
    let coordinate = |(r, x): (usize, &f64)| match request.design.slope_of(r) {
        None => (2.0 * x).asinh(),
        Some((slope, _)) => x / (OGIVE + psi[slope] * psi[slope]).sqrt(),
    };
    // The parameters of the population, behind those of the items, are coordinates as they are.
    let (items, population) = psi.split_at(request.design.parameters());
    items.iter().enumerate().map(coordinate).chain(population.iter().copied()).collect()
}
