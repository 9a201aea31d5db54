//! Attacks on `private`: two noisy sums of clipped scores, by least squares and by the likeliest counts.

use super::condition::Condition;
use super::equations::{Block, Equations};
use super::matrix::Matrix;
use super::patterns::{self, Point, cells, probabilities};
use super::record::AttackRecord;
use super::tilt::likeliest_counts;
use super::whole::{Rows, rounded};
use crate::StudyError;
use crate::private::release;
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::private::{
    PrivateCalibration, PrivatePlan, PrivateResult, PrivateStep, ScoreRequest, each_row_statistic,
};
use fedirt_model::quadrature::GridSpec;
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::Simulated;
use fedirt_privacy::accountant::{Delta, Epsilon, GaussianDp};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// δ of all runs.
pub(super) const DELTA: f64 = 1e-6;

/// μ of the control: noise in the eighth decimal.
const NO_NOISE: f64 = 1e8;

/// Whose rows are looked for, where the others are known.
const SCHOOL: usize = 0;

/// All rows from the sums, and the rows of one school by an attacker who knows those of all the others.
pub(super) fn attack(condition: &Condition, seed: u64) -> Result<Vec<AttackRecord>, StudyError> {
    let data = condition.data(seed);
    let all = patterns::counts(&data.tables, condition.items);
    let school = patterns::counts([&data.tables[SCHOOL]], condition.items);
    let others: Vec<f64> = all.iter().zip(&school).map(|(a, s)| a - s).collect();
    let nobody = vec![0.0; all.len()];
    let mut records = Vec::new();
    for &epsilon in &condition.epsilons {
        let run = Run::new(condition, &data, epsilon, seed)?;
        for (target, truth, known) in [("all schools", &all, &nobody), ("one school", &school, &others)] {
            let students: f64 = truth.iter().sum();
            let expected: Vec<f64> = run.model.iter().map(|p| p * students).collect();
            let guess = Rows::new(&expected, truth);
            let equations = Equations::new(&run.without(known), students, None, |_| true);
            let least_squares = equations.solve().x;
            let (matrix, told) = equations.parts();
            let likeliest = likeliest_counts(matrix, told, &expected);
            for (way, counts) in [("least squares", least_squares), ("likeliest counts", likeliest)] {
                let (attack, found) = (format!("{way} of {target}"), Rows::new(&counts, truth));
                records.push(AttackRecord {
                    rounds: run.blocks.len(),
                    rounds_run: run.blocks.len(),
                    epsilon,
                    numbers: equations.len(),
                    certain: epsilon.is_none() && equations.explained_by(&rounded(&counts)),
                    ..AttackRecord::new(condition, seed, &attack, truth, found, guess)
                });
            }
        }
    }
    Ok(records)
}

/// A run: both releases, and the model that was published.
struct Run {
    blocks: Vec<Block>,
    model: Vec<f64>,
}

impl Run {
    fn new(
        condition: &Condition,
        data: &Simulated,
        epsilon: Option<f64>,
        seed: u64,
    ) -> Result<Self, StudyError> {
        let mu = match epsilon {
            Some(epsilon) => GaussianDp::for_budget(Epsilon::new(epsilon)?, Delta::new(DELTA)?).mu(),
            None => NO_NOISE,
        };
        let plan = plan(condition, data, mu)?;
        let noise = plan.noise_sd.clone();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // The first stream draws the parameters.
        rng.set_stream(1);
        let (mut machine, mut request) = PrivateCalibration::new(plan)?;
        let mut blocks = Vec::new();
        for sd in noise {
            let told = release(&data.tables, &request, sd, &mut rng)?;
            let by_pattern = clipped(&request, condition.items)?;
            let step = machine.advance(&told)?;
            blocks.push(Block { precision: vec![sd; told.len()], told, by_pattern });
            match step {
                PrivateStep::Ask(next) => request = *next,
                PrivateStep::Done(result) => return Ok(Self { blocks, model: fitted(&result) }),
            }
        }
        Err(StudyError::NoClosing)
    }

    /// The equations without what rows that are known added.
    fn without(&self, known: &[f64]) -> Vec<Block> {
        let rest = |block: &Block| {
            let sums = block.by_pattern.times(known);
            let told = block.told.iter().zip(&sums).map(|(t, s)| t - s).collect();
            Block { told, ..block.clone() }
        };
        self.blocks.iter().map(rest).collect()
    }
}

fn plan(condition: &Condition, data: &Simulated, mu: f64) -> Result<PrivatePlan, StudyError> {
    let item = |column| DesignItem { column, model: "2pl".into(), codes: vec![0, 1] };
    let design = Design::try_from((0..condition.items).map(item).collect::<Vec<_>>())?;
    let sites = data.truth.sites.iter().map(|s| (s.name.clone(), s.n as u64)).collect();
    Ok(PrivatePlan::new(design, condition.effects, sites, mu)?)
}

/// What a student of each pattern adds to a release.
fn clipped(request: &ScoreRequest, items: usize) -> Result<Matrix, StudyError> {
    let table = ResponseTable::new(1 << items, items, cells(items))?;
    let mut out = Vec::new();
    each_row_statistic(&table, 0, request, |row| {
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let factor = (request.clip / norm).min(1.0);
        out.extend(row.iter().map(|x| x * factor));
    })?;
    Ok(Matrix::new(request.width()?, out))
}

/// The probability of each pattern by the published estimates.
fn fitted(result: &PrivateResult) -> Vec<f64> {
    let items = result.items();
    let psi = items.iter().flat_map(|item| [item.a, item.d.first().copied().unwrap_or(0.0)]).collect();
    probabilities(&Point { psi, effect: 0.0, grid: GridSpec::default() })
}
