//! Partial credit model (Masters 1982): slopes 1, SD of ability estimated.

use super::{ItemModel, SlopeRule, divide_by_total_methods};

/// The PCM.
#[derive(Debug)]
pub(super) struct Pcm;

impl ItemModel for Pcm {
    fn name(&self) -> &'static str {
        "pcm"
    }
    fn slope(&self) -> SlopeRule {
        SlopeRule::LatentSd
    }
    fn polytomous(&self) -> bool {
        true
    }
    divide_by_total_methods!();
}
