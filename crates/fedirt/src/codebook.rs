//! One codebook for all sites: items matched by name, models and anchors given by name.

use crate::args::FitArgs;
use crate::error::CliError;
use fedirt_model::centre::{Anchor, ItemPlan};
use fedirt_model::items;
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_site::{FixedItem, Reading, SiteResponses, Steps};

/// The items of a run.
pub(crate) fn plan_items(args: &FitArgs, reading: &Reading) -> Result<Vec<ItemPlan>, CliError> {
    let mut problems = Vec::new();
    let mut plan: Vec<ItemPlan> = match &args.codebook {
        Some(path) => fedirt_site::read_codebook(path)?
            .into_iter()
            .map(|item| ItemPlan { name: item.name, model: item.model, codes: item.categories, anchor: None })
            .collect(),
        None => item_names(reading)
            .into_iter()
            .map(|name| ItemPlan { name, model: None, codes: None, anchor: None })
            .collect(),
    };
    if args.codebook.is_some() {
        let unknown = item_names(reading).into_iter().filter(|n| !plan.iter().any(|p| &p.name == n));
        for name in unknown.collect::<Vec<_>>() {
            problems.push(format!(
                "item {name} is not in the codebook: add it there, or leave it out with --ignore {name}"
            ));
        }
    }
    if let Some(model) = &args.model {
        plan.iter_mut().filter(|p| p.model.is_none()).for_each(|p| p.model = Some(model.name().to_owned()));
    }
    for (name, model) in &args.item_model {
        match plan.iter_mut().find(|p| &p.name == name) {
            Some(item) => item.model = Some(model.clone()),
            None => problems.push(format!("--item-model {name}={model}: there is no item {name}")),
        }
    }
    if let Some(path) = &args.fixed_items {
        for given in fedirt_site::read_fixed_items(path)? {
            match plan.iter_mut().find(|p| p.name == given.name) {
                Some(item) => fix(item, given),
                None => {
                    problems.push(format!("{}: there is no item {} in the data", path.display(), given.name))
                }
            }
        }
    }
    if problems.is_empty() { Ok(plan) } else { Err(CliError::Usage(problems.join("\n"))) }
}

fn fix(item: &mut ItemPlan, given: FixedItem) {
    if given.model.is_some() {
        item.model = given.model;
    }
    let steps = match &given.steps {
        Steps::Intercepts(d) => d.len(),
        Steps::Difficulties(b) => b.len(),
    };
    let name = item.model.clone().unwrap_or_else(|| if steps == 1 { "2pl" } else { "gpcm" }.to_owned());
    let d = match (given.steps, items::model(&name)) {
        (Steps::Difficulties(b), Some(model)) => model.intercepts(given.a, &b),
        (Steps::Intercepts(d) | Steps::Difficulties(d), _) => d,
    };
    item.model = Some(name);
    item.anchor = Some(Anchor { a: given.a, d });
}

/// Every item of any site, in order of first appearance.
fn item_names(reading: &Reading) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for site in &reading.sites {
        for item in &site.items {
            if known.insert(item.clone()) {
                names.push(item.clone());
            }
        }
    }
    names
}

/// A site's table with one column per item of the codebook.
pub(crate) fn align(site: SiteResponses, plan: &[ItemPlan]) -> Result<(String, ResponseTable), CliError> {
    if site.items.len() == plan.len() && site.items.iter().zip(plan).all(|(a, b)| a == &b.name) {
        return Ok((site.name, site.table));
    }
    let columns: Vec<Option<usize>> =
        plan.iter().map(|p| site.items.iter().position(|name| name == &p.name)).collect();
    let mut cells = Vec::with_capacity(site.table.students() * plan.len());
    for row in site.table.rows() {
        cells.extend(columns.iter().map(|c| c.map_or(MISSING, |c| row[c])));
    }
    let weights = site.table.weights().map(<[f64]>::to_vec);
    let mut table = ResponseTable::new(site.table.students(), plan.len(), cells)?;
    if let Some(weights) = weights {
        table = table.with_weights(weights)?;
    }
    Ok((site.name, table))
}
