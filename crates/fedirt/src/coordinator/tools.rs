//! What the coordinator's pages need from elsewhere: codebooks as the command line reads them, and forecasts.

use super::init;
use crate::privacy;
use fedirt_coordinator::{Forecast, Tools};
use fedirt_model::exchange::Effects;
use fedirt_model::private::MissingAnswers;
use fedirt_protocol::plan::{PlanItem, StudyPlan};
use fedirt_studies::private::forecast_terms::Wish;

/// Help for pages.
#[derive(Debug)]
pub(crate) struct ForPages;

impl Tools for ForPages {
    /// Codebooks are read from files, whose lines complaints name: the text becomes one for a moment.
    fn codebook(&self, text: &str) -> Result<Vec<PlanItem>, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let path = folder.path().join("codebook.csv");
        std::fs::write(&path, text).map_err(|e| e.to_string())?;
        let told = |text: String| text.replace(&path.display().to_string(), "the codebook");
        init::codebook(&path).map_err(|e| told(e.to_string()))
    }

    fn forecast(&self, plan: &StudyPlan, epsilons: &[f64]) -> Result<Forecast, String> {
        let (figure, remarks) = privacy::forecast(&wish(plan), epsilons)?;
        // What the command line calls a flag is a field of the form.
        let said = |text: String| text.replace("--effects none (with --site-sd)", "no site effects");
        Ok(Forecast { figure, remarks: remarks.into_iter().map(said).collect() })
    }
}

/// A plan as a forecast wants it: students spread evenly over its sites.
fn wish(plan: &StudyPlan) -> Wish {
    let usual = |categories: usize| if categories == 2 { "2pl" } else { "gpcm" };
    let item = |item: &PlanItem| {
        let categories = item.categories.len();
        (item.model.clone().unwrap_or_else(|| usual(categories).to_owned()), categories)
    };
    let sites = plan.cohort.sites.len().max(1) as u64;
    let students = plan.cohort.expected_students.max(sites);
    let privacy = plan.privacy.as_ref();
    let alone = plan.model.effects == Effects::None || sites < 2;
    Wish {
        items: plan.items.iter().map(item).collect(),
        sites: (0u64..)
            .zip(&plan.cohort.sites)
            .map(|(k, name)| (name.clone(), (students + k) / sites))
            .collect(),
        effects: if alone { Effects::None } else { Effects::Fixed },
        site_sd: privacy.map_or(0.0, |p| p.site_sd),
        missing: privacy.map_or(MissingAnswers::Counted, |p| p.missing_answers),
        delta: privacy.map_or(1e-6, |p| p.delta),
        colluders: plan.cohort.colluders(),
    }
}
