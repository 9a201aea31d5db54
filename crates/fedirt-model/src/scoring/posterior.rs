//! The posterior of ability: its mean and SD (EAP), and draws from it (plausible values).

use rand::{Rng, RngExt};

use super::table::{Table, best};
use super::{Prior, RowScorer, Score, Scorer, ScoringError};

/// Nodes of the grid on which plausible values are drawn: spacing 0.01 SD on ±6 SD.
const FINE_NODES: usize = 1201;

/// Nodes whose log posterior lies further below the highest are left out of the draws (e^−40 ≈ 4e−18).
const NEGLIGIBLE: f64 = 40.0;

impl Scorer {
    /// The fine grid's table, made when the first plausible value is drawn.
    fn fine(&self) -> &Table {
        self.fine.get_or_init(|| {
            let step = 2.0 * self.range / (FINE_NODES - 1) as f64;
            let Prior { mean, sd } = self.prior;
            let nodes = (0..FINE_NODES).map(|n| mean + sd * (n as f64 * step - self.range)).collect();
            Table::new(&self.items, nodes)
        })
    }
}

impl RowScorer<'_> {
    /// log weight + log-likelihood at every node of the grid.
    pub(super) fn log_posterior(&mut self, row: &[u8]) {
        self.on_grid.copy_from_slice(&self.scorer.log_weights);
        self.scorer.grid.add_log_likelihood(row, 0, &mut self.on_grid);
    }

    /// Mean and SD of the posterior.
    ///
    /// t̂ = Σ_n t_n·π_n, SE² = Σ_n (t_n − t̂)²·π_n, with π_n ∝ A(n)·exp l(t_n) (Bock & Mislevy 1982).
    /// t_n = mean + sd·V(n): nodes; A(n): their weights; l: the row's log-likelihood. These are the calibration's
    /// own nodes and weights. The largest exponent is taken out first, so that long tests do not underflow.
    pub(super) fn eap(&mut self, row: &[u8]) -> Score {
        self.log_posterior(row);
        let top = self.on_grid[best(&self.on_grid)];
        let (mut total, mut first) = (0.0, 0.0);
        for (p, t) in self.on_grid.iter_mut().zip(self.scorer.grid.nodes()) {
            *p = (*p - top).exp();
            total += *p;
            first += *p * t;
        }
        let mean = first / total;
        let second: f64 =
            self.on_grid.iter().zip(self.scorer.grid.nodes()).map(|(p, t)| p * (t - mean).powi(2)).sum();
        Score { estimate: Some(mean), standard_error: Some((second / total).sqrt()) }
    }

    /// The marginal log-likelihood of a row, log Σ_n A(n)·exp l(t_n) (Bock & Aitkin 1981), on the calibration's own nodes and weights:
    /// over the rows of a calibration these add up to its log-likelihood. 0 for a row without answers.
    pub fn log_likelihood(&mut self, row: &[u8]) -> Result<f64, ScoringError> {
        self.scorer.check(row)?;
        self.log_posterior(row);
        let top = self.on_grid[best(&self.on_grid)];
        let total: f64 = self.on_grid.iter().map(|p| (p - top).exp()).sum();
        Ok(top + total.ln())
    }

    /// Fills `out` with plausible values: independent draws from the posterior (Mislevy 1991).
    ///
    /// Inverse distribution function of a density that is linear between the nodes of a fine grid: the cell is
    /// the one in which the distribution function passes u, and within it
    /// x = u(f_0 + f_1) / (f_0 + √(f_0² + u(f_1² − f_0²))) of its width h, with u uniform and f_0, f_1 the
    /// density at its ends. Linear interpolation adds h²/6 to the variance: 1.7e−5 sd² at spacing 0.01 sd.
    /// A row without answers draws from the prior.
    pub fn plausible_values<R: Rng + ?Sized>(
        &mut self,
        row: &[u8],
        rng: &mut R,
        out: &mut [f64],
    ) -> Result<(), ScoringError> {
        self.scorer.check(row)?;
        let fine = self.scorer.fine();
        let (from, to) = self.window(row);
        let nodes = &fine.nodes()[from..=to];
        self.on_fine.clear();
        self.on_fine.extend(nodes.iter().map(|t| self.scorer.log_prior(*t)[0]));
        fine.add_log_likelihood(row, from, &mut self.on_fine);
        let top = self.on_fine[best(&self.on_fine)];
        self.on_fine.iter_mut().for_each(|p| *p = (*p - top).exp());
        self.cumulated.clear();
        let mut total = 0.0;
        for ends in self.on_fine.windows(2) {
            total += ends[0] + ends[1];
            self.cumulated.push(total);
        }
        for value in out {
            let target = rng.random::<f64>() * total;
            let cell = self.cumulated.partition_point(|sum| *sum <= target).min(nodes.len() - 2);
            let (f0, f1) = (self.on_fine[cell], self.on_fine[cell + 1]);
            let below = if cell == 0 { 0.0 } else { self.cumulated[cell - 1] };
            // The cell holds f_0 + f_1 > 0, as its sum passed the target.
            let u = ((target - below) / (f0 + f1)).clamp(0.0, 1.0);
            let x = u * (f0 + f1) / (f0 + (f0 * f0 + u * (f1 * f1 - f0 * f0)).max(0.0).sqrt());
            let share = if x.is_finite() { x.clamp(0.0, 1.0) } else { 0.0 };
            *value = nodes[cell] + share * (nodes[cell + 1] - nodes[cell]);
        }
        Ok(())
    }

    /// First and last node of the fine grid between which the posterior is not negligible.
    fn window(&mut self, row: &[u8]) -> (usize, usize) {
        self.log_posterior(row);
        let floor = self.on_grid[best(&self.on_grid)] - NEGLIGIBLE;
        let last = self.on_grid.len() - 1;
        let above = |p: &f64| *p > floor;
        let low = self.on_grid.iter().position(above).unwrap_or(0).saturating_sub(1);
        let high = (self.on_grid.iter().rposition(above).unwrap_or(last) + 1).min(last);
        (low * (FINE_NODES - 1) / last, (high * (FINE_NODES - 1)).div_ceil(last))
    }
}
