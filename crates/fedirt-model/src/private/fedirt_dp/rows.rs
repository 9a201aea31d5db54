//! What a site computes in a round of FedIRT-DP: the gradient of each of its rows.
//!
//! ∂ log P(x_i)/∂(log a, b, s_k) at the *broadcast* s_k (the paper's per-student gradients): a row's gradient
//! depends on that row and on the request, on nothing else. An effect fitted at the site would let one student
//! move everybody's gradient. Sampling, clipping and noise come after.

use super::plan::Layout;
use crate::design::Design;
use crate::exchange::Effects;
use crate::private::PrivateError;
use crate::private::plan::{MissingAnswers, check_booklets, check_grid};
use crate::private::rows::RowReader;
use crate::private::scorer::Scorer;
use crate::quadrature::{Grid, GridSpec};
use crate::responses::{MISSING, ResponseTable};
use serde::{Deserialize, Serialize};

/// The question of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Items.
    pub design: Design,
    /// Fixed site effects or none.
    pub effects: Effects,
    /// Number of sites.
    pub sites: usize,
    /// Without effects: SD between sites.
    pub site_sd: f64,
    /// Grid over standardised ability.
    pub grid: GridSpec,
    /// Item sets that students were given.
    pub booklets: Vec<Vec<usize>>,
    /// Rows that lack answers.
    pub missing: MissingAnswers,
    /// Where gradients are taken; see [`Layout`].
    pub theta: Vec<f64>,
    /// q_s: each student takes part with this probability.
    pub sampling_rate: f64,
    /// C: no row's gradient may be longer.
    pub clip: f64,
}

impl Request {
    /// Where parameters stand.
    pub fn layout(&self) -> Result<Layout, PrivateError> {
        Layout::new(&self.design, self.effects, self.sites)
    }

    /// Numbers per row.
    pub fn width(&self) -> Result<usize, PrivateError> {
        Ok(self.layout()?.len())
    }

    /// Checks that the parts fit together. No value of θ or C is refused: rows bear them all.
    fn check(&self, table: &ResponseTable, site: usize) -> Result<Layout, PrivateError> {
        let layout = self.layout()?;
        check_booklets(&self.design, &self.booklets).map_err(PrivateError::Request)?;
        check_grid(self.grid).map_err(PrivateError::Request)?;
        if site >= self.sites {
            return Err(PrivateError::Request("there are fewer sites than this one's number"));
        }
        if self.design.items().iter().any(|item| item.column >= table.items()) {
            return Err(PrivateError::Request("an item is not in the codebook"));
        }
        if self.theta.len() != layout.len() {
            return Err(PrivateError::Request("parameters have the wrong length"));
        }
        Ok(layout)
    }
}

/// Rows that are read together.
const CHUNK: usize = 64;

/// Calls `each` with the gradient of every row of the table, in order, unclipped; rows that do not count give zeros.
///
/// All rows are handed out: who draws the sample leaves out the others, and how long this takes does not tell how
/// many. Nothing here panics or fails because of a row or of the values of θ: hostile ones give NaN or huge numbers,
/// which the clipper turns into a row of zeros or of length C. Malformed requests are refused before a row is
/// looked at, so are weighted tables.
pub fn each_gradient(
    table: &ResponseTable,
    site: usize,
    request: &Request,
    mut each: impl FnMut(&[f64]),
) -> Result<(), PrivateError> {
    let layout = request.check(table, site)?;
    if table.weights().is_some() {
        return Err(PrivateError::Weights);
    }
    let grid = Grid::new(request.grid);
    let spread = if request.effects == Effects::None { request.site_sd.hypot(1.0) } else { 1.0 };
    let effect = layout.effect(site);
    let s = effect.map_or(0.0, |at| request.theta[at]);
    let scorer = Scorer::at_effect(layout.items(), &request.theta, s, spread, &grid);
    let reader = RowReader::new(&request.design, &request.booklets, request.missing);
    let (own, c, items) = (layout.items().items(), scorer.len(), request.design.len());
    let mut cells = vec![MISSING; CHUNK * items];
    let mut counted = [false; CHUNK];
    let (mut scores, mut log_marginal) = (vec![0.0; CHUNK * c], [0.0; CHUNK]);
    let mut gradient = vec![0.0; layout.len()];
    let mut rows = table.rows();
    while rows.len() > 0 {
        let n = rows.len().min(CHUNK);
        for (i, row) in rows.by_ref().take(n).enumerate() {
            counted[i] = reader.read(row, &mut cells[i * items..(i + 1) * items]).is_some();
        }
        scorer.score(&cells[..n * items], c, &mut scores[..n * c], &mut log_marginal[..n]);
        for (score, &counted) in scores.chunks_exact(c).zip(&counted[..n]) {
            if counted {
                gradient[..own].copy_from_slice(&score[..own]);
            } else {
                gradient[..own].fill(0.0);
            }
            if let Some(at) = effect {
                // The compact score ends with that of the effect.
                gradient[at] = if counted { score[own] } else { 0.0 };
            }
            each(&gradient);
        }
    }
    Ok(())
}
