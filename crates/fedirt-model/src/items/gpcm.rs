//! Generalised partial credit model (Muraki 1992): the paper's PCM, which carries a free slope.

use super::{ItemModel, SlopeRule, divide_by_total_methods};

/// The GPCM.
#[derive(Debug)]
pub(super) struct Gpcm;

impl ItemModel for Gpcm {
    fn name(&self) -> &'static str {
        "gpcm"
    }
    fn slope(&self) -> SlopeRule {
        SlopeRule::Free
    }
    fn polytomous(&self) -> bool {
        true
    }
    divide_by_total_methods!();
}
