//! The paper's one-parameter model: every slope 1 and ability of SD 1. With more categories, Masters' steps.

use super::{ItemModel, SlopeRule, divide_by_total_methods};

/// The 1PL with SD 1.
#[derive(Debug)]
pub(super) struct OnePl;

impl ItemModel for OnePl {
    fn name(&self) -> &'static str {
        "1pl"
    }
    fn slope(&self) -> SlopeRule {
        SlopeRule::One
    }
    fn polytomous(&self) -> bool {
        true
    }
    divide_by_total_methods!();
}
