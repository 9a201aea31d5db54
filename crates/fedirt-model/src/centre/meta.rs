//! Meta-analysis: N_k-weighted averages of slopes and difficulties that each site estimated alone.
//!
//! Sites know nothing of each other: abilities are centred at each site, so differences between schools end up
//! in the difficulties and are averaged away. Published as the comparator of Study 1.

use super::algorithm::{Algorithm, EffectTotals, ErrorSource, Next, Problem, Settings, Solution};
use super::plan::Plan;
use crate::exchange::Point;
use crate::fit::TraceEntry;
use crate::questions::local_fit::LocalFitReply;
use crate::questions::{Ask, Counts, LocalFit, ReplyError};

pub(crate) struct Meta;

impl Algorithm for Meta {
    type Question = LocalFit;
    const ONE_ROUND: bool = true;
    const ERRORS: ErrorSource = ErrorSource::Itself;

    fn opening(_plan: &Plan) -> Ask {
        Counts.into()
    }

    fn question(settings: &Settings, _by_site: bool) -> LocalFit {
        LocalFit { tolerance: settings.tolerance, iterations: 100 }
    }

    fn next(
        &mut self,
        problem: &Problem,
        reply: Option<LocalFitReply>,
        _trace: &mut TraceEntry,
    ) -> Result<Next<LocalFit>, ReplyError> {
        let Some(LocalFitReply { weights, estimates, variances }) = reply else {
            return Ok(Next::Ask(Self::question(&problem.settings, problem.by_site)));
        };
        let mean = |sums: &[f64], power: i32| -> Vec<f64> {
            sums.iter().zip(&weights).map(|(x, w)| if *w > 0.0 { x / w.powi(power) } else { 0.0 }).collect()
        };
        let averages = mean(&estimates, 1);
        let variances = mean(&variances, 2);
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
        Ok(Next::Done(Box::new(Solution {
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
        })))
    }
}
