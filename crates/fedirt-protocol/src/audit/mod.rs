//! The whole audit of the private mode: four checks, twelve planted faults, the machines, and many seeds of sound code.

mod faults;
mod machines;
mod sites;

pub use faults::Fault;
pub use machines::{Feed, Machines};
pub use sites::{EPSILON, SITES, Sites};

use crate::private::PrivateRefusal;
use faults::Planted;
use fedirt_model::private::{PrivateMechanism, PrivateMethod};
use fedirt_privacy::audit::{
    ALARM, Check, Claim, Effort, Finding, RowId, Rows, Subject, Transcript, coupling, noise, norm, two_worlds,
};
use rayon::prelude::*;
use serde::Serialize;
use sites::{ALL, PLANNED};
use std::sync::{Mutex, PoisonError};

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditLine {
    /// What was checked.
    pub check: &'static str,
    /// What came out.
    pub measured: String,
    /// What may come out.
    pub limit: String,
    /// What is wrong; nothing, if all is well.
    pub findings: Vec<String>,
}

/// What became of a planted fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Caught {
    /// The fault.
    pub fault: &'static str,
    /// The checks that found it.
    pub by: Vec<&'static str>,
}

/// Checks in words.
pub fn name(check: Check) -> &'static str {
    match check {
        Check::Norm => "norm",
        Check::Coupling => "coupled seeds",
        Check::Moments => "noise: mean and variance",
        Check::Distribution => "noise: distribution",
        Check::Correlation => "noise: correlations",
        Check::TwoWorlds => "two worlds",
    }
}

/// Adds up squares of noise that goes by.
struct Meter<'a, S> {
    subject: &'a S,
    /// Draws, and the sum of their squares.
    seen: Mutex<(u64, u128)>,
}

impl<'a, S: Subject> Meter<'a, S> {
    fn new(subject: &'a S) -> Self {
        Self { subject, seen: Mutex::new((0, 0)) }
    }

    /// Draws, and their mean square over that of the plan.
    fn variance(&self) -> (u64, f64) {
        let (draws, squares) = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (draws, squares as f64 / draws.max(1) as f64 / self.subject.claim().share_sd.powi(2))
    }
}

impl<S: Subject> Subject for Meter<'_, S> {
    fn claim(&self) -> Claim {
        self.subject.claim()
    }

    fn rows(&self) -> Vec<RowId> {
        self.subject.rows()
    }

    fn run(&self, rows: Rows, seed: u64) -> Transcript {
        let out = self.subject.run(rows, seed);
        if rows == Rows::Nobody {
            let words = || out.released.iter().flat_map(|released| &released.words);
            let squares: u128 = words().map(|w| u128::from((*w as i64).unsigned_abs()).pow(2)).sum();
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = (seen.0 + words().count() as u64, seen.1 + squares);
        }
        out
    }
}

/// The longest step of a release that one row makes alone, over the clipping norm.
fn longest(subject: &impl Subject, seed: u64) -> f64 {
    let nobody = subject.run(Rows::Nobody, seed);
    let limit = subject.claim().norm_square as f64;
    let of = |row: RowId| {
        let with = subject.run(Rows::Only(row), seed);
        let steps = with.released.iter().zip(&nobody.released).map(|(a, b)| {
            let square = |(x, y): (&u64, &u64)| (x.wrapping_sub(*y) as i64 as f64).powi(2);
            a.words.iter().zip(&b.words).map(square).sum::<f64>()
        });
        steps.fold(0.0, f64::max)
    };
    let squares: Vec<f64> = subject.rows().into_par_iter().map(of).collect();
    (squares.into_iter().fold(0.0, f64::max) / limit).sqrt()
}

fn told(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

/// All checks of sites, as they are or with something planted around them; rows also under the questions of `hostile`,
/// which depend on no seed.
pub fn checks<S: Subject>(
    sites: &Sites,
    hostile: &[Sites],
    wrap: impl Fn(Sites) -> S,
    effort: Effort,
) -> (Vec<AuditLine>, Vec<Check>) {
    let seed = effort.seed;
    let mut found: Vec<Check> = Vec::new();
    let mut lines = Vec::new();
    let mut add = |check: &'static str, measured: String, limit: String, findings: Vec<Finding>| {
        found.extend(findings.iter().map(|f| f.check));
        lines.push(AuditLine { check, measured, limit, findings: told(&findings) });
    };

    // One row alone, under the plan's questions and under hostile ones.
    let own = wrap(sites.asked(&PLANNED));
    let rows = own.rows().len();
    add(
        "norm, all answer patterns",
        format!("{:.6} C over {rows} rows", longest(&own, seed)),
        "C".into(),
        norm(&own, seed),
    );
    let hostile: Vec<S> = hostile.iter().map(|sites| wrap(sites.asked(&PLANNED))).collect();
    let furthest = hostile.iter().map(|s| longest(s, seed)).fold(0.0, f64::max);
    add(
        "norm, hostile questions",
        format!("{furthest:.6} C over {} kinds", hostile.len()),
        "C".into(),
        hostile.iter().flat_map(|s| norm(s, seed)).collect(),
    );
    let mut coupled = coupling(&own, seed);
    coupled.extend(hostile.iter().flat_map(|s| coupling(s, seed)));
    add(
        "coupled seeds",
        format!("{} of {} rows differ by more than their own", coupled.len(), rows * (1 + hostile.len())),
        "0".into(),
        coupled,
    );

    // The noise of each stage has its own size; correlations have none.
    let mut by_kind: [Vec<Finding>; 3] = Default::default();
    let mut place = |finding: Finding| match finding.check {
        Check::Distribution => by_kind[1].push(finding),
        Check::Correlation => by_kind[2].push(finding),
        _ => by_kind[0].push(finding),
    };
    let mut worst = (0, 1.0);
    for stage in [0, 1] {
        let asked: Vec<_> = ALL.into_iter().filter(|asked| asked.stage == stage).collect();
        let subject = wrap(sites.asked(&asked));
        let meter = Meter::new(&subject);
        noise(&meter, effort.noise_runs, seed).into_iter().for_each(&mut place);
        let (draws, variance) = meter.variance();
        if worst.0 == 0 || (variance - 1.0).abs() > f64::abs(worst.1 - 1.0) {
            worst = (draws, variance);
        }
    }
    let across = noise(&wrap(sites.clone()), effort.noise_runs, seed);
    across.into_iter().filter(|f| f.check == Check::Correlation).for_each(&mut place);
    let [moments, distribution, correlation] = by_kind;
    let se = (2.0 / worst.0.max(1) as f64).sqrt();
    add(
        name(Check::Moments),
        format!("{:.4} of the plan's variance (se {se:.4})", worst.1),
        format!("1 ± {ALARM} se, each site, turn and coordinate"),
        moments,
    );
    let beyond = |found: &[Finding]| format!("{} beyond the limit", found.len());
    add(name(Check::Distribution), beyond(&distribution), format!("|z| ≤ {ALARM}"), distribution);
    add(name(Check::Correlation), beyond(&correlation), format!("|z| ≤ {ALARM}"), correlation);

    // The question that tells a student best.
    let subject = wrap(sites.asked(&PLANNED).amplified());
    let limit = format!("μ = {:.4}, + 3 se", subject.claim().mu);
    let (measured, finding) = match two_worlds(&subject, effort.world_runs, seed) {
        Ok(estimate) => (format!("μ = {:.4} (se {:.4})", estimate.mu, estimate.se), None),
        Err(finding) => ("a student is told too well".to_owned(), Some(finding)),
    };
    add(name(Check::TwoWorlds), measured, limit, finding.into_iter().collect());
    found.sort_unstable();
    found.dedup();
    (lines, found)
}

/// Sites of the machines' audit, and runs at most: whole machines sign, verify and mask.
const MACHINES: (usize, u64) = (4, 1_000);

/// The product's own machines: each site's share of the noise in a first and in a repeated attempt, and everything else
/// that leaves, from the declaration to the result.
pub fn machines(mechanism: PrivateMechanism, effort: Effort) -> Result<Vec<AuditLine>, PrivateRefusal> {
    let (sites, most) = MACHINES;
    let mut machines =
        Machines::of(&Sites::with(sites, 1, PrivateMethod { mechanism, ..PrivateMethod::default() })?);
    let runs = effort.noise_runs.min(most);
    let shares = noise(&machines, runs, effort.seed);
    machines.to_the_end = true;
    let coupled = coupling(&machines, effort.seed);
    Ok(vec![
        AuditLine {
            check: "machines: noise of two attempts",
            measured: format!("{} beyond the limit over {runs} runs", shares.len()),
            limit: format!("|z| ≤ {ALARM}"),
            findings: told(&shares),
        },
        AuditLine {
            check: "machines: messages and result",
            measured: format!("{} of {} rows change more than numbers", coupled.len(), machines.rows().len()),
            limit: "0".into(),
            findings: told(&coupled),
        },
    ])
}

/// All hostile questions.
pub fn hostile(sites: &Sites) -> Vec<Sites> {
    sites.hostile().into_iter().map(|(_, sites)| sites).collect()
}

/// Plants a fault and looks for it.
pub fn plant(sites: &Sites, fault: Fault, effort: Effort) -> Caught {
    let (_, found) = checks(sites, &[sites.amplified()], |sites| Planted { sites, fault }, effort);
    Caught { fault: fault.name(), by: found.into_iter().map(name).collect() }
}

#[cfg(test)]
mod tests;
