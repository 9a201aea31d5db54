//! Meta-analysis: N_k-weighted averages of slopes and difficulties that each site estimated alone.
//!
//! Sites know nothing of each other: abilities are centred at each site, so differences between schools end up
//! in the difficulties and are averaged away. Published as the comparator of Study 1.

use super::algorithm::{Algorithm, EffectTotals, Next, Problem, Solution};
use crate::exchange::{Aggregate, Ask, Point};
use crate::fit::TraceEntry;
use crate::statistics::Statistic;

pub(crate) struct Meta;

impl Algorithm for Meta {
    fn next(&mut self, problem: &Problem, aggregate: Option<&Aggregate>, _trace: &mut TraceEntry) -> Next {
        let Some(aggregate) = aggregate else {
            return Next::ask(Ask::LocalFit { tolerance: problem.settings.tolerance, iterations: 100 });
        };
        let weights = aggregate.sum(Statistic::LocalWeights, 0);
        let mean = |statistic, power: i32| -> Vec<f64> {
            let sums = aggregate.sum(statistic, 0);
            sums.iter().zip(weights).map(|(x, w)| if *w > 0.0 { x / w.powi(power) } else { 0.0 }).collect()
        };
        let averages = mean(Statistic::LocalEstimates, 1);
        let variances = mean(Statistic::LocalVariances, 2);
        let design = &problem.design;
        let mut psi = Vec::with_capacity(design.parameters());
        for j in 0..design.len() {
            let span = design.span(j);
            let (a, b) = (averages[span.start], &averages[span.start + 1..span.end]);
            psi.push(a);
            psi.extend(
                design.model(j).one_slope().map_or_else(|| b.to_vec(), |model| model.intercepts(a, b)),
            );
        }
        let missing = (0..design.len()).filter(|&j| weights[design.offset(j)] <= 0.0).collect();
        Next::Done(Box::new(Solution {
            y: problem.structure.coordinates(&psi, 1.0, 0.0),
            point: Point { psi, site_sd: 0.0 },
            converged: true,
            information: None,
            totals: EffectTotals::default(),
            effects: Some(vec![0.0; problem.site_students.len()]),
            own_variances: Some(variances),
            at_bound: missing,
            held: Vec::new(),
            starts: Vec::new(),
        }))
    }
}
