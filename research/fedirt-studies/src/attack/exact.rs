//! Attacks on exact sums: each number is an equation, and non-negative whole counts solve them.

use super::condition::{Condition, Protocol};
use super::equations::{Block, Equations};
use super::matrix::Matrix;
use super::patterns::{self, cells, probabilities, published};
use super::record::AttackRecord;
use super::transcript::{Exchange, Transcript, asked};
use super::whole::{Rows, rounded};
use crate::StudyError;
use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Request;
use fedirt_model::questions::Ask;
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::Simulated;
use fedirt_model::site::Site;
use fedirt_protocol::declaration::Bounds;
use fedirt_protocol::encoding::{self, Precision};

/// Largest gradient per student at which a run ends.
const TOLERANCE: f64 = 1e-6;

/// Whose rows are looked for.
const SCHOOL: usize = 0;

/// The school's rows from its own numbers, or all rows from sums over all schools.
pub(super) fn attack(condition: &Condition, seed: u64) -> Result<Vec<AttackRecord>, StudyError> {
    let data = condition.data(seed);
    let algorithm = match condition.protocol {
        Protocol::Secure => AlgorithmKind::Newton,
        _ => AlgorithmKind::Bfgs,
    };
    let transcript = Transcript::of(&data, algorithm, condition.effects, TOLERANCE)?;
    let pooled = condition.protocol != Protocol::Published;
    let truth = match pooled {
        true => patterns::counts(&data.tables, condition.items),
        false => patterns::counts([&data.tables[SCHOOL]], condition.items),
    };
    let students: f64 = truth.iter().sum();
    let model = probabilities(&transcript.fitted(SCHOOL)?);
    let expected: Vec<f64> = model.iter().map(|p| p * students).collect();
    let precision = match condition.protocol {
        Protocol::Secure => Precision::Needed { tolerance: TOLERANCE },
        Protocol::Published | Protocol::PublishedSums | Protocol::Private => Precision::Full,
    };
    let seen = CoordinatorView { data: &data, transcript: &transcript, pooled, precision };
    let sheet = AttackTarget { condition, seed, truth: &truth, guess: Rows::new(&expected, &truth) };
    match condition.protocol {
        Protocol::Secure => sheet.newton(&seen),
        _ => sheet.gradients(&seen),
    }
}

/// What the attacker observes: the coordinator's view of the run.
struct CoordinatorView<'a> {
    data: &'a Simulated,
    transcript: &'a Transcript,
    pooled: bool,
    precision: Precision,
}

impl CoordinatorView<'_> {
    /// The numbers with as many digits as the mode sends, and the step of each.
    fn told(&self, exchange: &Exchange) -> Result<(Vec<f64>, Vec<f64>), StudyError> {
        let bounds = Bounds {
            students: self.data.truth.students() as u64,
            sites: self.data.tables.len() as u64,
            largest_weight: 1,
        };
        let steps = encoding::steps(&exchange.request, bounds, self.precision)?;
        let told = if self.pooled { exchange.sum(&steps) } else { exchange.of_site(SCHOOL) };
        Ok((told, steps))
    }

    fn block(&self, exchange: &Exchange, mut by_pattern: Matrix) -> Result<Block, StudyError> {
        let (told, steps) = self.told(exchange)?;
        if told.len() < by_pattern.rows() {
            // Sums have no room for what is kept by site: it stands last.
            by_pattern = by_pattern.top(told.len());
        }
        let sites = if self.pooled { self.data.tables.len() } else { 1 };
        Ok(Block::new(told, &steps, by_pattern, sites, self.data.truth.students() as f64))
    }
}

/// The rows that the attack looks for, and how many of them can be guessed without it.
struct AttackTarget<'a> {
    condition: &'a Condition,
    seed: u64,
    truth: &'a [f64],
    guess: Rows,
}

impl AttackTarget<'_> {
    /// From log-likelihoods and gradients; at the end from gradients alone.
    fn gradients(&self, seen: &CoordinatorView<'_>) -> Result<Vec<AttackRecord>, StudyError> {
        let exchanges = seen.transcript.published();
        let most = self.condition.rounds.iter().map(|r| r.unwrap_or(usize::MAX)).max().unwrap_or(0);
        let mut blocks = Vec::new();
        for exchange in exchanges.iter().take(most) {
            let point = asked(&exchange.request, SCHOOL).ok_or(StudyError::NoPoint)?;
            blocks.push(seen.block(exchange, published(&point))?);
        }
        let mut records = Vec::new();
        let run = exchanges.len();
        for &decimals in &self.condition.decimals {
            self.series("log-likelihoods and gradients", &blocks, run, decimals, |_| true, &mut records);
        }
        let last = self.condition.rounds.last().copied().flatten();
        let alone =
            AttackTarget { condition: &Condition { rounds: vec![last], ..self.condition.clone() }, ..*self };
        alone.series("gradients alone", &blocks, run, None, |number| number > 0, &mut records);
        Ok(records)
    }

    /// From pair tables and Newton rounds; at the end with the closing sums.
    fn newton(&self, seen: &CoordinatorView<'_>) -> Result<Vec<AttackRecord>, StudyError> {
        let (mut opening, mut rounds, mut closing) = (Vec::new(), Vec::new(), Vec::new());
        for exchange in seen.transcript.exchanges() {
            let kind = match exchange.request.ask {
                Ask::Evaluate(_) => &mut rounds,
                Ask::Close(_) => &mut closing,
                _ => &mut opening,
            };
            let by_pattern = answers(&exchange.request, self.condition.items)?;
            kind.push(seen.block(exchange, by_pattern)?);
        }
        let mut records = Vec::new();
        let mut found = None;
        for &limit in &self.condition.rounds {
            let used = limit.unwrap_or(usize::MAX).min(rounds.len());
            let blocks: Vec<Block> = opening.iter().chain(&rounds[..used]).cloned().collect();
            let plain = self.solve(&blocks, None, |_| true, &mut found);
            records.push(self.record("opening and Newton sums", limit, used, rounds.len(), None, plain));
        }
        let all: Vec<Block> = opening.into_iter().chain(rounds.iter().cloned()).chain(closing).collect();
        let whole = self.solve(&all, None, |_| true, &mut found);
        let (name, n) = ("opening and Newton and closing sums", rounds.len());
        records.push(self.record(name, None, n, n, None, whole));
        Ok(records)
    }

    fn series(
        &self,
        attack: &str,
        blocks: &[Block],
        run: usize,
        decimals: Option<u32>,
        wanted: impl Fn(usize) -> bool + Copy,
        records: &mut Vec<AttackRecord>,
    ) {
        let mut found = None;
        for &limit in &self.condition.rounds {
            let used = limit.unwrap_or(usize::MAX).min(blocks.len());
            let outcome = self.solve(&blocks[..used], decimals, wanted, &mut found);
            records.push(self.record(attack, limit, used, run, decimals, outcome));
        }
    }

    /// Counts from some exchanges. `found` are whole counts that explained fewer of them: if they explain all of these,
    /// there is nothing left to search.
    fn solve(
        &self,
        blocks: &[Block],
        decimals: Option<u32>,
        wanted: impl Fn(usize) -> bool,
        found: &mut Option<Vec<f64>>,
    ) -> Outcome {
        let equations = Equations::new(blocks, self.truth.iter().sum(), decimals, wanted);
        let numbers = equations.len();
        if let Some(counts) = found.as_ref().filter(|counts| equations.explained_by(counts)) {
            return Outcome { numbers, rows: Rows::new(counts, self.truth), certain: true };
        }
        let solution = equations.solve();
        let whole = rounded(&solution.x);
        let certain = equations.explained_by(&whole);
        *found = certain.then_some(whole);
        Outcome { numbers, rows: Rows::new(&solution.x, self.truth), certain }
    }

    fn record(
        &self,
        attack: &str,
        limit: Option<usize>,
        rounds: usize,
        rounds_run: usize,
        decimals: Option<u32>,
        outcome: Outcome,
    ) -> AttackRecord {
        AttackRecord {
            rounds_limit: limit,
            rounds,
            rounds_run,
            decimals,
            numbers: outcome.numbers,
            certain: outcome.certain,
            ..AttackRecord::new(self.condition, self.seed, attack, self.truth, outcome.rows, self.guess)
        }
    }
}

struct Outcome {
    numbers: usize,
    rows: Rows,
    certain: bool,
}

/// What a student of each pattern would add to the answer: the site's own program is asked, on a table of one row.
fn answers(request: &Request, items: usize) -> Result<Matrix, StudyError> {
    let mut out = Vec::new();
    let mut rows = 0;
    for row in cells(items).chunks_exact(items.max(1)) {
        let table = ResponseTable::new(1, items, row.to_vec())?;
        let summary = Site::new(table).answer(request)?;
        let before = out.len();
        summary.tensors().filter(|(tensor, _)| tensor.summed()).for_each(|(_, v)| out.extend(v));
        rows = out.len() - before;
    }
    Ok(Matrix::new(rows, out))
}
