//! What a site computes in a round of FedIRT-DP: the gradient of each of its rows.
//!
//! ∂ log P(x_i)/∂(log a, b, s_k) at the *broadcast* s_k (the paper's per-student gradients): a row's gradient
//! depends on that row and on the request, on nothing else. An effect fitted at the site would let one student
//! move everybody's gradient. Sampling, clipping and noise come after.

use super::plan::Layout;
use fedirt_model::design::Design;
use fedirt_model::exchange::Effects;
use fedirt_model::private::{MissingAnswers, PrivateError, RowScoring};
use fedirt_model::quadrature::GridSpec;
use fedirt_model::responses::ResponseTable;

/// The question of a round.
#[derive(Debug, Clone, PartialEq)]
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
}

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
    let layout = request.layout()?;
    if site >= request.sites {
        return Err(PrivateError::Request("there are fewer sites than this one's number"));
    }
    if request.theta.len() != layout.len() {
        return Err(PrivateError::Request("parameters have the wrong length"));
    }
    let effect = layout.effect(site);
    let scoring = RowScoring {
        coordinates: layout.items(),
        theta: &request.theta,
        effect: effect.map_or(0.0, |at| request.theta[at]),
        ability_sd: if request.effects == Effects::None { request.site_sd.hypot(1.0) } else { 1.0 },
        grid: request.grid,
        booklets: &request.booklets,
        missing: request.missing,
    };
    let own = layout.items().items();
    let mut gradient = vec![0.0; layout.len()];
    scoring.each_score(table, |row| {
        gradient.fill(0.0);
        if let Some((_, score)) = row {
            gradient[..own].copy_from_slice(&score[..own]);
            if let Some(at) = effect {
                // The score of the site's effect follows those of the items.
                gradient[at] = score[own];
            }
        }
        each(&gradient);
    })
}
