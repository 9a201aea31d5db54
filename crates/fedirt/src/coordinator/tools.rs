//! What the coordinator's pages need from elsewhere: codebooks as the command line reads them, and forecasts.

use super::init;
use crate::error::CliError;
use crate::privacy;
use fedirt_coordinator::{Forecast, Tools};
use fedirt_data::{FixedItem, Input, Steps};
use fedirt_model::exchange::Effects;
use fedirt_model::items;
use fedirt_model::private::MissingAnswers;
use fedirt_protocol::forecast::{Wish, outlook};
use fedirt_protocol::plan::{FixedParameters, PlanItem, StudyPlan};
use std::path::Path;

/// Help for pages.
#[derive(Debug)]
pub(crate) struct ForPages;

impl Tools for ForPages {
    /// Codebooks are read from files, whose lines complaints name: the text becomes one for a moment.
    fn codebook(&self, text: &str) -> Result<Vec<PlanItem>, String> {
        as_file(text, "the codebook", |path| init::codebook(path).map_err(|e| e.to_string()))
    }

    fn anchor(&self, text: &str, items: &mut [PlanItem]) -> Result<(), String> {
        let known = as_file(text, "the table", |path| {
            fedirt_data::read_fixed_items(Input::file(path)).map_err(|e| CliError::from(e).to_string())
        })?;
        if known.is_empty() {
            return Err("There is no item with a slope and intercepts or difficulties in it.".into());
        }
        let mut problems = Vec::new();
        for given in known {
            match items.iter_mut().find(|item| item.name == given.name) {
                Some(item) => problems.extend(fix(item, given).err()),
                None => problems.push(format!("{} is not among the items: leave its line out.", given.name)),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
    }

    fn expects(&self, plan: &StudyPlan) -> Result<Vec<String>, String> {
        let found = outlook(&wish(plan), None, &[]).map_err(|e| e.to_string())?.maximum_likelihood;
        let mut parts = Vec::new();
        parts.extend(found.a.map(|se| format!("{se:.2} for slopes")));
        parts.push(format!("{:.2} for difficulties", found.b));
        parts.extend(found.s.map(|se| format!("{se:.2} for site effects")));
        Ok(vec![format!(
            "Standard errors to expect (root mean squares): {}. For an ordinary test, given whole to students spread evenly over \
             the sites; computed from the model alone.",
            parts.join(", ")
        )])
    }

    fn forecast(&self, plan: &StudyPlan, epsilons: &[f64]) -> Result<Forecast, String> {
        let (figure, remarks) = privacy::forecast(&wish(plan), epsilons)?;
        // What the command line calls a flag is a field of the form.
        let said = |text: String| text.replace("--effects none (with --site-sd)", "no site effects");
        Ok(Forecast { figure, remarks: remarks.into_iter().map(said).collect() })
    }
}

/// A text as a file for a moment; what is said of the file is said of what it is called.
fn as_file<T>(text: &str, called: &str, read: impl Fn(&Path) -> Result<T, String>) -> Result<T, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = folder.path().join("pasted.csv");
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    read(&path).map_err(|said| said.replace(&path.display().to_string(), called))
}

/// Fixes an item at known parameters.
fn fix(item: &mut PlanItem, given: FixedItem) -> Result<(), String> {
    let (Steps::Intercepts(steps) | Steps::Difficulties(steps)) = &given.steps;
    let (name, categories) = (&item.name, item.categories.len());
    if steps.len() + 1 != categories {
        return Err(format!(
            "{name} has {categories} categories, and known parameters for {}: is it the same item?",
            steps.len() + 1
        ));
    }
    let called = given.model.or_else(|| item.model.clone());
    let called = called.unwrap_or_else(|| items::default_model(categories).name().to_owned());
    let model = items::model(&called).ok_or_else(|| format!("{name}: there is no model {called:?}."))?;
    let model = model.one_slope().ok_or_else(|| format!("{name}: {called} items cannot be fixed yet."))?;
    let d = match given.steps {
        Steps::Intercepts(d) => d,
        Steps::Difficulties(b) => model.intercepts(given.a, &b),
    };
    (item.model, item.fixed) = (Some(called), Some(FixedParameters { a: given.a, d }));
    Ok(())
}

/// A plan as a forecast wants it: students spread evenly over its sites.
fn wish(plan: &StudyPlan) -> Wish {
    let item = |item: &PlanItem| {
        let categories = item.categories.len();
        let model = item.model.clone().unwrap_or_else(|| items::default_model(categories).name().to_owned());
        (model, categories)
    };
    let sites = plan.cohort.sites.len().max(1) as u64;
    let students = plan.cohort.expected_students.max(sites);
    let privacy = plan.privacy.as_ref();
    let place = |name: &String| plan.items.iter().position(|item| item.name == *name);
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
        booklets: plan.booklets.iter().map(|b| b.items.iter().filter_map(place).collect()).collect(),
        mixture: privacy.is_some_and(|p| p.mixture),
        delta: privacy.map_or(1e-6, |p| p.delta),
        colluders: plan.cohort.colluders(),
    }
}
