//! Rasch's model (1960) as mirt and TAM fit it: slopes 1, SD of ability estimated. With more categories it is the PCM.

use super::{ItemModel, SlopeRule, divide_by_total_methods};

/// The Rasch model.
#[derive(Debug)]
pub(super) struct Rasch;

impl ItemModel for Rasch {
    fn name(&self) -> &'static str {
        "rasch"
    }
    fn slope(&self) -> SlopeRule {
        SlopeRule::LatentSd
    }
    fn polytomous(&self) -> bool {
        true
    }
    divide_by_total_methods!();
}
