//! What pages need from crates that the coordinator must not know: files of sites, and forecasts.

use fedirt_figures::Figure;
use fedirt_protocol::plan::{PlanItem, StudyPlan};

/// What to expect of a private study, before anything is spent.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// Expected standard errors against ε.
    pub figure: Figure,
    /// What that means, in sentences.
    pub remarks: Vec<String>,
}

/// Help from the program that starts the server.
pub trait Tools: Send + Sync {
    /// The items of a codebook: CSV with the columns `item`, `categories` and, if wanted, `model`.
    fn codebook(&self, text: &str) -> Result<Vec<PlanItem>, String>;

    /// Fixes items at known parameters: CSV with the columns `item`, `a` and `d` or `b` (or `d1`, `d2`, …), such as the
    /// `items.csv` of an earlier fit.
    fn anchor(&self, text: &str, items: &mut [PlanItem]) -> Result<(), String>;

    /// What to expect of a plan's exact sums, in sentences.
    fn expects(&self, plan: &StudyPlan) -> Result<Vec<String>, String>;

    /// What a private plan's sites may expect at some ε.
    fn forecast(&self, plan: &StudyPlan, epsilons: &[f64]) -> Result<Forecast, String>;
}
