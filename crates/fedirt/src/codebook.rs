//! One codebook for all sites: items matched by name, models and anchors given by name.

use crate::args::FitArgs;
use crate::declared;
use crate::error::CliError;
use fedirt_data::text::listed;
use fedirt_data::{CodebookItem, FixedItem, Input, Reading, SiteResponses, Steps};
use fedirt_model::centre::{Anchor, ItemPlan};
use fedirt_model::fit::Warning;
use fedirt_model::items;
use fedirt_model::responses::{MISSING, ResponseTable};
use std::collections::HashMap;

/// The small files that may stand beside the answers.
#[derive(Debug, Default)]
pub(crate) struct ItemFiles {
    codebook: Option<Vec<CodebookItem>>,
    fixed: Option<Vec<FixedItem>>,
}

impl ItemFiles {
    /// Reads them, and adds what is wrong to the errors.
    pub(crate) fn read(args: &FitArgs, errors: &mut Vec<CliError>) -> Self {
        let mut keep = |error: fedirt_data::Problems| errors.push(error.into());
        let codebook = args.codebook.as_deref().map(|path| fedirt_data::read_codebook(Input::file(path)));
        let codebook = codebook.and_then(|read| read.map_err(&mut keep).ok());
        let fixed = args.fixed_items.as_deref().map(|path| fedirt_data::read_fixed_items(Input::file(path)));
        let fixed = fixed.and_then(|read| read.map_err(&mut keep).ok());
        Self { codebook, fixed }
    }
}

/// The items of a run, and what a reader of the results should know about them.
pub(crate) fn plan_items(
    args: &FitArgs,
    files: ItemFiles,
    reading: &Reading,
) -> Result<(Vec<ItemPlan>, Vec<Warning>), CliError> {
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    let seen = codes_seen(reading);
    let declared_only = args.hides_students();
    if declared_only {
        problems.extend(declared::items_from_rows(args, reading));
    }
    let mut plan: Vec<ItemPlan> = match files.codebook {
        Some(items) => items
            .into_iter()
            .map(|item| ItemPlan { name: item.name, model: item.model, codes: item.categories, anchor: None })
            .collect(),
        None => seen
            .names
            .iter()
            .map(|name| ItemPlan { name: name.clone(), model: None, codes: None, anchor: None })
            .collect(),
    };
    if args.codebook.is_some() {
        for name in seen.names.iter().filter(|name| !plan.iter().any(|p| p.name == **name)) {
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
    let mut absent = Vec::new();
    let mut anchors = 0;
    for given in files.fixed.into_iter().flatten() {
        match plan.iter_mut().find(|p| p.name == given.name) {
            Some(item) => {
                anchors += 1;
                let asked = args.item_model.iter().find(|(name, _)| name == &given.name);
                if let (Some((name, asked)), Some(model)) = (asked, &given.model)
                    && asked != model
                {
                    problems
                        .push(format!("--item-model {name}={asked}: the fixed items give {name} as {model}"));
                }
                fix(item, given);
            }
            None => absent.push(given.name),
        }
    }
    if let Some(path) = args.fixed_items.as_ref().filter(|_| !absent.is_empty()) {
        let message = format!("{}: not in the data, and not used: {}", path.display(), listed(&absent));
        match anchors {
            0 => problems.push(format!("{message}. Items are matched by name")),
            _ => warnings.push(Warning { code: "fixed_items_absent".to_owned(), message }),
        }
    }
    if declared_only {
        problems.extend(declared::settle(args, &mut plan, reading));
    } else {
        for item in &mut plan {
            problems.extend(settle_codes(item, seen.of(&item.name)));
            warnings.extend(unused_fixed_steps(item, seen.of(&item.name)));
            if args.secure && item.codes.is_none() && item.anchor.is_none() {
                // In a plan the codebook says which categories there are: no site tells which of them it uses.
                item.codes = Some((0..64).filter(|c| seen.of(&item.name) >> c & 1 == 1).collect());
            }
        }
    }
    CliError::usage(problems)?;
    Ok((plan, warnings))
}

fn fix(item: &mut ItemPlan, given: FixedItem) {
    if given.model.is_some() {
        item.model = given.model;
    }
    let steps = match &given.steps {
        Steps::Intercepts(d) => d.len(),
        Steps::Difficulties(b) => b.len(),
    };
    let name = item.model.clone().unwrap_or_else(|| items::default_model(steps + 1).name().to_owned());
    let d = match (given.steps, items::model(&name).and_then(|model| model.one_slope())) {
        (Steps::Difficulties(b), Some(model)) => model.intercepts(given.a, &b),
        (Steps::Intercepts(d) | Steps::Difficulties(d), _) => d,
    };
    item.model = Some(name);
    item.anchor = Some(Anchor::one_slope(given.a, &d));
}

/// A fixed item with more categories than anyone here chose: right, or the parameters of another item.
fn unused_fixed_steps(item: &ItemPlan, seen: u64) -> Option<Warning> {
    let categories = item.anchor.as_ref()?.categories;
    let chosen = seen.count_ones() as usize;
    (chosen > 0 && chosen < categories).then(|| Warning {
        code: "fixed_item_categories".to_owned(),
        message: format!(
            "fixed item {} has {categories} categories, and students here chose {chosen} of them: is it the same item?",
            item.name
        ),
    })
}

/// Where the number of categories is given, the codes that stand for them: 0, 1, … or, if the files say so,
/// 1, 2, …. Otherwise a complaint.
fn settle_codes(item: &mut ItemPlan, seen: u64) -> Option<String> {
    let anchored = item.anchor.as_ref().map(|anchor| anchor.categories);
    let stated = item.codes.as_ref().map(Vec::len);
    let (name, source) = (&item.name, if anchored.is_some() { "fixed items" } else { "codebook" });
    if let (Some(steps), Some(stated)) = (anchored, stated)
        && steps != stated
    {
        return Some(format!(
            "item {name} has {stated} categories in the codebook, and {steps} in the fixed items"
        ));
    }
    let categories = anchored.or(stated)?;
    // A codebook that names a lowest code above 0 leaves nothing to be found out.
    let lowest = item.codes.as_ref().and_then(|codes| codes.first().copied()).unwrap_or(0);
    let mask = if categories >= 64 { u64::MAX } else { (1 << categories) - 1 };
    let first = match seen {
        _ if lowest > 0 && seen & !(mask << lowest) == 0 => lowest,
        _ if lowest == 0 && seen & !mask == 0 => 0,
        _ if lowest == 0 && seen & !(mask << 1) == 0 => 1,
        _ => {
            let codes: Vec<String> = (0..64).filter(|c| seen >> c & 1 == 1).map(|c| c.to_string()).collect();
            return Some(format!(
                "item {name} has {categories} categories in the {source}, and the data have the codes {}; \
                 correct one of them, or call a code missing with --missing",
                codes.join(", ")
            ));
        }
    };
    item.codes = Some((first..first + categories as u8).collect());
    None
}

/// Item names in order of first appearance, and the codes of each as a bit mask.
struct Seen {
    names: Vec<String>,
    codes: HashMap<String, u64>,
}

impl Seen {
    fn of(&self, name: &str) -> u64 {
        self.codes.get(name).copied().unwrap_or(0)
    }
}

fn codes_seen(reading: &Reading) -> Seen {
    let mut seen = Seen { names: Vec::new(), codes: HashMap::new() };
    for site in &reading.sites {
        let mut masks = vec![0u64; site.items.len()];
        for row in site.table.rows() {
            for (mask, cell) in masks.iter_mut().zip(row).filter(|(_, cell)| **cell != MISSING) {
                *mask |= 1 << (cell & 63);
            }
        }
        for (name, mask) in site.items.iter().zip(masks) {
            let known = seen.codes.entry(name.clone()).or_insert_with(|| {
                seen.names.push(name.clone());
                0
            });
            *known |= mask;
        }
    }
    seen
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
