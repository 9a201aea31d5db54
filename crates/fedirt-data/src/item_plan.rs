//! One codebook for all sites: items matched by name, models and anchors given by name, and tables with its columns.

use std::collections::HashMap;

use fedirt_model::centre::{Anchor, ItemPlan};
use fedirt_model::fit::Warning;
use fedirt_model::items;
use fedirt_model::responses::{MISSING, ResponseTable, TableError};

use crate::codebook::CodebookItem;
use crate::errors::Errors;
use crate::fixed_items::{FixedItem, Steps};
use crate::item_problem::{CategorySource, ItemProblem};
use crate::notes::NoteKind;
use crate::reading::{Responses, SiteResponses};
use crate::text::listed;
use crate::undeclared::undeclared_codes;

/// The codes of an item of a private fit that nobody declared otherwise.
const UNDECLARED: [u8; 2] = [0, 1];

/// What the caller says about the items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemOptions {
    /// The items, their categories and models; without it those with which the responses were read, or the items of the
    /// responses as they are.
    pub codebook: Option<Vec<CodebookItem>>,
    /// Items with given parameters, which anchor the scale.
    pub fixed: Vec<FixedItem>,
    /// Model of all items for which nothing else says it.
    pub model: Option<String>,
    /// Models of single items, by name.
    pub item_models: Vec<(String, String)>,
    /// Where the codes of an item come from, if neither codebook nor fixed items give them.
    pub codes: CodeSource,
}

/// Where the codes of items come from that nobody gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CodeSource {
    /// Each site says which codes it has.
    #[default]
    Sites,
    /// All sites are told the codes of all sites together, so that no site tells which of them it has.
    Pooled,
    /// 0 and 1, whatever the rows are. Which codes occur depends on single students, and a result that shows it has no ε:
    /// private fits take codes from what is declared, and any other code is an error.
    Declared,
}

/// The items of a calibration, and what a reader of its results should know about them.
pub fn plan_items(
    options: &ItemOptions,
    responses: &Responses,
) -> Result<(Vec<ItemPlan>, Vec<Warning>), Errors<ItemProblem>> {
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    let seen = codes_seen(responses);
    // Long files name items in their rows: a student without answers could take one away.
    let long = responses.notes.iter().any(|note| note.kind == NoteKind::LongFormat);
    let codebook = options.codebook.as_deref().or(responses.codebook());
    if options.codes == CodeSource::Declared && long && codebook.is_none() {
        problems.push(ItemProblem::LongWithoutCodebook);
    }
    let plain = |name: &String| ItemPlan { name: name.clone(), model: None, codes: None, anchor: None };
    let mut plan: Vec<ItemPlan> = match codebook {
        Some(items) => items
            .iter()
            .map(|item| ItemPlan {
                name: item.name.clone(),
                model: item.model.clone(),
                codes: item.categories.clone(),
                anchor: None,
            })
            .collect(),
        None => seen.names.iter().map(plain).collect(),
    };
    for name in seen.names.iter().filter(|name| !plan.iter().any(|p| p.name == **name)) {
        problems.push(ItemProblem::NotInCodebook(name.clone()));
    }
    for keyed in &responses.said.keyed {
        if let Some(item) = plan.iter_mut().find(|item| item.name == keyed.item && item.codes.is_none()) {
            item.codes = Some(keyed.rule.categories());
        }
    }
    if let Some(model) = &options.model {
        plan.iter_mut().filter(|p| p.model.is_none()).for_each(|p| p.model = Some(model.clone()));
    }
    for (item, model) in &options.item_models {
        match plan.iter_mut().find(|p| &p.name == item) {
            Some(planned) => planned.model = Some(model.clone()),
            None => problems.push(ItemProblem::NoSuchItem { item: item.clone(), model: model.clone() }),
        }
    }
    anchor(options, &mut plan, &mut problems, &mut warnings);
    if options.codes == CodeSource::Declared {
        problems.extend(declare_codes(&mut plan, responses));
    } else {
        for item in &mut plan {
            problems.extend(settle_codes(item, seen.of(&item.name)));
            warnings.extend(unused_fixed_steps(item, seen.of(&item.name)));
            if options.codes == CodeSource::Pooled && item.codes.is_none() && item.anchor.is_none() {
                item.codes = Some(codes_of(seen.of(&item.name)));
            }
        }
    }
    for item in &plan {
        if let Some(model) = item.model.as_ref().filter(|model| items::model(model).is_none()) {
            problems.push(ItemProblem::UnknownModel { item: item.name.clone(), model: model.clone() });
        }
    }
    Errors::unless_empty(problems)?;
    Ok((plan, warnings))
}

/// Gives fixed items their parameters.
fn anchor(
    options: &ItemOptions,
    plan: &mut [ItemPlan],
    problems: &mut Vec<ItemProblem>,
    warnings: &mut Vec<Warning>,
) {
    let mut absent = Vec::new();
    for given in &options.fixed {
        let Some(item) = plan.iter_mut().find(|p| p.name == given.name) else {
            absent.push(given.name.clone());
            continue;
        };
        let asked = options.item_models.iter().find(|(name, _)| name == &given.name);
        if let (Some((item, asked)), Some(fixed)) = (asked, &given.model)
            && asked != fixed
        {
            let (item, asked, fixed) = (item.clone(), asked.clone(), fixed.clone());
            problems.push(ItemProblem::FixedModel { item, asked, fixed });
        }
        fix(item, given);
    }
    if !options.fixed.is_empty() && absent.len() == options.fixed.len() {
        problems.push(ItemProblem::NoFixedItem(absent));
    } else if !absent.is_empty() {
        let message = format!("fixed items that are not in the data, and not used: {}", listed(&absent));
        warnings.push(Warning { code: "fixed_items_absent".to_owned(), message });
    }
}

fn fix(item: &mut ItemPlan, given: &FixedItem) {
    if given.model.is_some() {
        item.model.clone_from(&given.model);
    }
    let (Steps::Intercepts(steps) | Steps::Difficulties(steps)) = &given.steps;
    let name = item.model.clone().unwrap_or_else(|| items::default_model(steps.len() + 1).name().to_owned());
    let d = match (&given.steps, items::model(&name).and_then(|model| model.one_slope())) {
        (Steps::Difficulties(b), Some(model)) => model.intercepts(given.a, b),
        (Steps::Intercepts(d) | Steps::Difficulties(d), _) => d.clone(),
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

/// Gives every item its declared codes; complains about those that the files have beyond them.
fn declare_codes(plan: &mut [ItemPlan], responses: &Responses) -> Vec<ItemProblem> {
    let mut problems = Vec::new();
    for item in plan.iter_mut().filter(|item| item.codes.is_none()) {
        if let Some(model) =
            item.model.clone().filter(|model| matches!(model.as_str(), "pcm" | "gpcm" | "grm" | "nrm"))
        {
            problems.push(ItemProblem::UndeclaredCategories { item: item.name.clone(), model });
        }
        item.codes = Some(UNDECLARED.to_vec());
    }
    if !problems.is_empty() {
        return problems;
    }
    let declared: HashMap<&str, &[u8]> =
        plan.iter().filter_map(|item| Some((item.name.as_str(), item.codes.as_deref()?))).collect();
    for site in &responses.sites {
        let found = undeclared_codes(site, |name| declared.get(name).copied());
        problems.extend(found.into_iter().map(ItemProblem::UndeclaredCode));
    }
    problems
}

/// Where the number of categories is given, the codes that stand for them: 0, 1, … or, if the files say so,
/// 1, 2, …. Otherwise a complaint.
fn settle_codes(item: &mut ItemPlan, seen: u64) -> Option<ItemProblem> {
    let anchored = item.anchor.as_ref().map(|anchor| anchor.categories);
    let stated = item.codes.as_ref().map(Vec::len);
    if let (Some(fixed), Some(codebook)) = (anchored, stated)
        && fixed != codebook
    {
        return Some(ItemProblem::CategoriesDiffer { item: item.name.clone(), codebook, fixed });
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
            return Some(ItemProblem::CodesOutside {
                item: item.name.clone(),
                categories,
                source: if anchored.is_some() {
                    CategorySource::FixedItems
                } else {
                    CategorySource::Codebook
                },
                codes: codes_of(seen),
            });
        }
    };
    item.codes = Some((first..first + categories as u8).collect());
    None
}

fn codes_of(mask: u64) -> Vec<u8> {
    (0..64).filter(|code| mask >> code & 1 == 1).collect()
}

/// Item names in order of first appearance, and the codes of each as a bit mask.
struct CodesSeen {
    names: Vec<String>,
    codes: HashMap<String, u64>,
}

impl CodesSeen {
    fn of(&self, name: &str) -> u64 {
        self.codes.get(name).copied().unwrap_or(0)
    }
}

fn codes_seen(responses: &Responses) -> CodesSeen {
    let mut seen = CodesSeen { names: Vec::new(), codes: HashMap::new() };
    for site in &responses.sites {
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

/// A site's table with one column per item of the codebook: missing where the site does not have the item.
pub fn align(site: &SiteResponses, plan: &[ItemPlan]) -> Result<ResponseTable, TableError> {
    if site.items.len() == plan.len() && site.items.iter().zip(plan).all(|(a, b)| a == &b.name) {
        return Ok(site.table.clone());
    }
    let columns: Vec<Option<usize>> =
        plan.iter().map(|p| site.items.iter().position(|name| name == &p.name)).collect();
    let mut cells = Vec::with_capacity(site.table.students() * plan.len());
    for row in site.table.rows() {
        cells.extend(columns.iter().map(|c| c.map_or(MISSING, |c| row[c])));
    }
    let table = ResponseTable::new(site.table.students(), plan.len(), cells)?;
    match site.table.weights() {
        Some(weights) => table.with_weights(weights.to_vec()),
        None => Ok(table),
    }
}
