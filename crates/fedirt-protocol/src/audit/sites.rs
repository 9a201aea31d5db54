//! The product's own private round as a subject of audits: real rows, real questions, real noise.
//!
//! Sites answer through [`crate::private::answer`], the only way to their numbers, with noise that
//! [`crate::private::noise`] derives from terms and plan; seeds stand in for the operating system's
//! randomness. Questions are fixed beforehand. A row that is not there has no answers in its table, and goes on being
//! counted as enrolled. ([`super::Machines`] audits whole machines.)
//!
//! What the mechanism promises is computed here from ε and δ, not taken from the mechanism.

use crate::Terms;
use crate::declaration::Declaration;
use crate::forecast::{PlannedStudy, StudyAtEpsilon};
use crate::private::{Noise, PrivateRefusal, answer};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{
    MissingAnswers, PrivateCalibration, PrivateError, PrivateMechanism, PrivateMethod, PrivateStep,
    RowStatistic, ScoreRequest,
};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_privacy::accountant::{Delta, Epsilon, GaussianDp};
use fedirt_privacy::audit::{Claim, Released, RowId, Rows, Subject, Transcript};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

/// δ of the audited run.
const DELTA: f64 = 1e-6;
/// ε of the audited run, at δ = 10⁻⁶: with so little noise two worlds show 3 % of inflation.
pub const EPSILON: f64 = 8.0;
/// Sites of the cohort, and how many of them the coordinator holds the keys of.
pub const SITES: usize = 10;
const COLLUDERS: usize = 1;
/// Models and categories of a test so short that all answer patterns can be tried.
const ITEMS: [(&str, usize); 4] = [("2pl", 2), ("2pl", 2), ("2pl", 2), ("gpcm", 3)];

/// A question put to all sites: which of the plan's two, and which attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Stage, from 0.
    pub stage: usize,
    /// Attempt, from 1.
    pub attempt: u64,
}

/// Both rounds, and a second attempt at the last.
pub(super) const ALL: [Asked; 3] =
    [Asked { stage: 0, attempt: 1 }, Asked { stage: 1, attempt: 1 }, Asked { stage: 1, attempt: 2 }];
/// What the plan foresees.
pub(super) const PLANNED: [Asked; 2] = [ALL[0], ALL[1]];

/// Ten sites. The first has a student for every pattern of answers, missing ones among them; the others have three.
#[derive(Debug, Clone)]
pub struct Sites {
    terms: Terms,
    colluders: usize,
    rows: Vec<Vec<Vec<u8>>>,
    questions: [ScoreRequest; 2],
    noise: [Noise; 2],
    asked: Vec<Asked>,
}

impl Sites {
    /// The run of the plan, at the questions that the centre would ask.
    pub fn new() -> Result<Self, PrivateRefusal> {
        Self::of(SITES, COLLUDERS)
    }

    /// The same with another mechanism.
    pub fn by(mechanism: PrivateMechanism) -> Result<Self, PrivateRefusal> {
        Self::with(SITES, COLLUDERS, PrivateMethod { mechanism, ..PrivateMethod::default() })
    }

    /// The same for another number of sites, of which so many may work with the coordinator.
    pub fn of(sites: usize, colluders: usize) -> Result<Self, PrivateRefusal> {
        Self::with(sites, colluders, PrivateMethod::default())
    }

    /// The same that sum something else.
    pub(super) fn with(
        sites: usize,
        colluders: usize,
        method: PrivateMethod,
    ) -> Result<Self, PrivateRefusal> {
        let rows: Vec<Vec<Vec<u8>>> = (0..sites).map(rows).collect();
        let planned = PlannedStudy {
            items: ITEMS.iter().map(|(model, categories)| ((*model).to_owned(), *categories)).collect(),
            sites: rows.iter().enumerate().map(|(k, r)| (format!("s{k}"), r.len() as u64)).collect(),
            effects: Effects::Fixed,
            site_sd: 0.0,
            missing: MissingAnswers::Counted,
            booklets: Vec::new(),
            mixture: false,
            method,
            delta: DELTA,
            colluders,
        };
        let mut study = StudyAtEpsilon::new(&planned, EPSILON)?;
        // Privacy must hold on any grid, and this one is quick.
        study.plan.grid.nodes = 21;
        study.terms.plan.population = study.plan.grid.into();
        let (mut machine, first) = PrivateCalibration::new(study.plan.clone())?;
        // Any sums lead to a second question; these are of the size of their noise.
        let sums: Vec<f64> = (0..first.width()?).map(|r| if r % 2 == 0 { 5.0 } else { -5.0 }).collect();
        let PrivateStep::Ask(second) = machine.advance(&sums)? else {
            return Err(PrivateError::Plan("there is no second question".into()).into());
        };
        let noise = [study.noise(0)?, study.noise(1)?];
        let questions = [first, *second];
        Ok(Self { terms: study.terms, colluders, rows, questions, noise, asked: ALL.to_vec() })
    }

    /// The same sites, asked only this.
    pub fn asked(&self, asked: &[Asked]) -> Self {
        Self { asked: asked.to_vec(), ..self.clone() }
    }

    /// The same sites, with other questions.
    pub fn with_questions(&self, change: impl Fn(&mut ScoreRequest)) -> Self {
        let mut out = self.clone();
        out.questions.iter_mut().for_each(change);
        out
    }

    /// What a hostile coordinator may ask for, by name.
    pub fn hostile(&self) -> Vec<(&'static str, Self)> {
        let theta = |x: f64| self.with_questions(|q| q.theta.fill(x));
        let one = |x: f64| self.with_questions(|q| q.theta[0] = x);
        let statistic = |x: f64| self.with_questions(|q| q.statistic.numbers().for_each(|n| *n = x));
        let times = |x: f64| self.with_questions(|q| q.statistic.amplify(x));
        let mixed = self.with_questions(|q| {
            let odd = [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e308, -1e308, 1e-308, 0.0];
            q.statistic.numbers().zip(odd.iter().cycle()).for_each(|(w, x)| *w = *x);
        });
        let bent = |x: f64| {
            self.with_questions(|q| match &mut q.statistic {
                RowStatistic::Whitened(_) => {}
                RowStatistic::Optimal { curvature, .. } => curvature.fill(x),
            })
        };
        vec![
            ("parameters that are no numbers", theta(f64::NAN)),
            ("infinite parameters", theta(f64::INFINITY)),
            ("huge parameters", theta(1e308)),
            ("a slope of e^700", one(700.0)),
            ("one parameter −∞", one(f64::NEG_INFINITY)),
            ("a statistic that is no number", statistic(f64::NAN)),
            ("an infinite statistic", statistic(f64::INFINITY)),
            ("a huge statistic", statistic(1e308)),
            ("the statistic × 1e6", times(1e6)),
            ("the statistic × 1e150", times(1e150)),
            ("a statistic of all kinds", mixed),
            ("a bound that is lifted", bent(0.0)),
            ("a bound that is turned round", bent(-1.0)),
            ("a bound that is no number", bent(f64::NAN)),
            ("another clipping norm", self.with_questions(|q| q.clip = 1e300)),
        ]
    }

    /// The same sites under a statistic so large that every row has the full norm: what tells a student best.
    pub fn amplified(&self) -> Self {
        self.with_questions(|q| q.statistic.amplify(1e6))
    }

    /// The terms of the study.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// What a share of the noise is worth in a stage.
    pub fn noise(&self, stage: usize) -> &Noise {
        &self.noise[stage]
    }

    /// The question of a stage.
    pub fn request(&self, stage: usize) -> &ScoreRequest {
        &self.questions[stage]
    }

    /// What is asked.
    pub fn turns(&self) -> &[Asked] {
        &self.asked
    }

    /// Positions of a site's rows that are there, and a table in which the others have no answers.
    pub fn table(&self, site: usize, rows: Rows) -> Option<(Vec<usize>, ResponseTable)> {
        let there: Vec<usize> =
            (0..self.rows[site].len()).filter(|&row| rows.have(RowId { site, row })).collect();
        let blank = vec![MISSING; ITEMS.len()];
        let row = |row: usize| if rows.have(RowId { site, row }) { &self.rows[site][row] } else { &blank };
        let cells = (0..self.rows[site].len()).flat_map(|at| row(at).iter().copied()).collect();
        let table = ResponseTable::new(self.rows[site].len(), ITEMS.len(), cells).ok()?;
        Some((there, table))
    }

    /// √(σ²C²/(|U| − c))/γ from the promise alone: σ² = 1/μ_r², C² = d + 1 with d = parameters of items and contrasts of
    /// sites, γ the power of two at or below σC/2¹⁶ and C/2²⁴.
    fn share_sd(&self, stage: usize) -> f64 {
        let (sites, sigma) = (self.rows.len(), promised(stage).powf(-0.5));
        // A slope and a difficulty for each step.
        let items: usize = ITEMS.iter().map(|item| item.1).sum();
        let clip = ((items + sites - 1 + 1) as f64).sqrt();
        let step = (sigma * clip / 65_536.0).min(clip / 16_777_216.0).log2().floor().exp2();
        // With one or two sites each carries the whole noise.
        let honest = if sites <= 2 { 1 } else { sites - self.colluders };
        ((sigma * clip).powi(2) / honest as f64).sqrt() / step
    }

    fn release(&self, rows: Rows, seed: u64, site: usize, turn: usize) -> Result<Vec<u64>, PrivateRefusal> {
        let stage = self.asked[turn].stage;
        let (_, table) = self.table(site, rows).ok_or(PrivateRefusal::Question("there is no such table"))?;
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        random.set_stream((100 * site + turn) as u64);
        answer(&table, site, &self.questions[stage], &self.noise[stage], &mut random)
    }
}

impl Subject for Sites {
    fn claim(&self) -> Claim {
        Claim {
            norm_square: self.noise.iter().map(|n| n.lattice.norm_square()).min().unwrap_or(0),
            share_sd: self.asked.first().map_or(0.0, |asked| self.share_sd(asked.stage)),
            colluders: self.colluders,
            mu: self.asked.iter().map(|asked| promised(asked.stage)).sum::<f64>().sqrt(),
        }
    }

    fn rows(&self) -> Vec<RowId> {
        let of = |(site, rows): (usize, &Vec<Vec<u8>>)| (0..rows.len()).map(move |row| RowId { site, row });
        self.rows.iter().enumerate().flat_map(of).collect()
    }

    fn run(&self, rows: Rows, seed: u64) -> Transcript {
        let mut out = Transcript { released: Vec::new(), remarks: Vec::new() };
        for site in 0..self.rows.len() {
            // What is told before the first round.
            let declared = self.table(site, rows).map(|(_, table)| Declaration::of(&table, &self.terms));
            out.remarks.push(format!("{declared:?}"));
            for (turn, asked) in self.asked.iter().enumerate() {
                match self.release(rows, seed, site, turn) {
                    Ok(words) => {
                        let (round, attempt) = (asked.stage as u64 + 1, asked.attempt);
                        out.released.push(Released { site, round, attempt, words });
                    }
                    // Whoever is outside sees a refusal.
                    Err(refusal) => out.remarks.push(refusal.to_string()),
                }
            }
        }
        out
    }
}

/// μ² that the plan promises to spend in a stage: 0.3 and 0.7 of that of (ε, δ).
fn promised(stage: usize) -> f64 {
    let budget = Epsilon::new(EPSILON).and_then(|epsilon| Ok((epsilon, Delta::new(DELTA)?)));
    let whole = budget.map_or(0.0, |(epsilon, delta)| GaussianDp::for_budget(epsilon, delta).mu().powi(2));
    whole * [0.3, 0.7][stage]
}

/// Rows of a site.
fn rows(site: usize) -> Vec<Vec<u8>> {
    let highest: Vec<u8> = ITEMS.iter().map(|item| item.1 as u8 - 1).collect();
    if site > 0 {
        let mut gap = highest.clone();
        gap[site % ITEMS.len()] = MISSING;
        return vec![highest, vec![0; ITEMS.len()], gap];
    }
    let choices = ITEMS.map(|item| item.1 + 1);
    (0..choices.iter().product())
        .map(|code: usize| {
            let mut rest = code;
            let answer = |choices: usize| {
                let chosen = rest % choices;
                rest /= choices;
                if chosen + 1 == choices { MISSING } else { chosen as u8 }
            };
            choices.map(answer).to_vec()
        })
        .collect()
}
