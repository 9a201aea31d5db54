//! Two-parameter logistic model (Birnbaum 1968; the paper's equation 4): P(x = 1) = σ(a·t + d).

use super::{ItemModel, SlopeRule, divide_by_total_methods};

/// The 2PL.
#[derive(Debug)]
pub(super) struct TwoPl;

impl ItemModel for TwoPl {
    fn name(&self) -> &'static str {
        "2pl"
    }
    fn slope(&self) -> SlopeRule {
        SlopeRule::Free
    }
    fn polytomous(&self) -> bool {
        false
    }
    divide_by_total_methods!();
}
