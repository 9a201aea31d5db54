//! Whether a private question can be answered, found out without touching a row and before anything is spent.
//!
//! What is debited is never given back: a question that fails afterwards would cost the students for nothing, as often
//! as a hostile coordinator cares to ask.

use crate::private::{Noise, PrivateRefusal};
use fedirt_model::private::{PrivateError, PrivatePlan, ScoreRequest, each_row_statistic};
use fedirt_model::responses::ResponseTable;

/// Checks shapes, lengths and weights: after this, nothing about the question can keep a site from its answer.
pub(crate) fn check(
    plan: &PrivatePlan,
    question: &ScoreRequest,
    noise: &Noise,
    table: &ResponseTable,
    index: usize,
) -> Result<(), PrivateRefusal> {
    if table.weights().is_some() {
        return Err(PrivateError::Weights.into());
    }
    let width = question.width()?;
    if width != plan.width()? {
        return Err(PrivateRefusal::Question("the number of coordinates differs"));
    }
    noise.lattice.clipper(width)?;
    // The answer's own checks come before its first row: here there is none.
    let nobody = ResponseTable::new(0, table.items(), Vec::new())
        .map_err(|_| PrivateRefusal::Question("the table has no items"))?;
    Ok(each_row_statistic(&nobody, index, question, |_| {})?)
}
