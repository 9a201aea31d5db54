//! One codebook for all sites: items matched by name, models and anchors given by name, and tables with its columns.

use std::collections::HashMap;

use fedirt_model::centre::{Anchor, ItemPlan};
use fedirt_model::code_set::{CodeSet, HIGHEST_CODE, MergedCode};
use fedirt_model::fit::Warning;
use fedirt_model::items;
use fedirt_model::responses::{MISSING, ResponseTable, TableError};

use crate::codebook::CodebookItem;
use crate::collapse::{Collapse, written};
use crate::errors::Errors;
use crate::fixed_items::{FixedItem, Steps};
use crate::item_problem::{CategorySource, ItemProblem};
use crate::notes::NoteKind;
use crate::questions::{CodeCounts, Items, occurring};
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
    /// Merges categories of items that are not fixed until each has this many answers, where the codebook says nothing.
    pub collapse: Option<u64>,
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
    let seen = Items::new(&responses.sites);
    let counts_of =
        |name: &str| seen.places.get(name).map_or([0; HIGHEST_CODE as usize + 1], |at| seen.counts[*at]);
    let codes_of =
        |name: &str| occurring(&counts_of(name)).iter().map(|(code, _)| *code).collect::<CodeSet>();
    // Long files name items in their rows: a student without answers could take one away.
    let long = responses.notes.iter().any(|note| note.kind == NoteKind::LongFormat);
    let codebook = options.codebook.as_deref().or(responses.codebook());
    if options.codes == CodeSource::Declared && long && codebook.is_none() {
        problems.push(ItemProblem::LongWithoutCodebook);
    }
    let plain = |name: &&str| ItemPlan {
        name: (*name).to_owned(),
        model: None,
        codes: None,
        merged: Vec::new(),
        anchor: None,
    };
    let mut plan: Vec<ItemPlan> = match codebook {
        Some(items) => items
            .iter()
            .map(|item| ItemPlan {
                name: item.name.clone(),
                model: item.model.clone(),
                codes: item.categories.clone(),
                merged: Vec::new(),
                anchor: None,
            })
            .collect(),
        None => seen.names.iter().map(plain).collect(),
    };
    for name in seen.names.iter().filter(|name| !plan.iter().any(|p| p.name == **name)) {
        problems.push(ItemProblem::NotInCodebook((*name).to_owned()));
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
            let codes = codes_of(&item.name);
            problems.extend(settle_codes(item, codes));
            warnings.extend(unused_fixed_steps(item, codes));
            if options.codes == CodeSource::Pooled && item.codes.is_none() && item.anchor.is_none() {
                item.codes = Some(codes.iter().collect());
            }
        }
    }
    if problems.is_empty() {
        let said =
            merge_categories(options, codebook.unwrap_or_default(), &mut plan, counts_of, &mut problems);
        warnings.extend(said);
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
fn unused_fixed_steps(item: &ItemPlan, seen: CodeSet) -> Option<Warning> {
    let categories = item.anchor.as_ref()?.categories;
    let chosen = seen.len();
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
fn settle_codes(item: &mut ItemPlan, seen: CodeSet) -> Option<ItemProblem> {
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
    let from = |first: u8| (first..first.saturating_add(categories as u8)).collect::<Vec<u8>>();
    let first = match lowest {
        0 if seen.within(&from(0)) => 0,
        0 if seen.within(&from(1)) => 1,
        lowest if lowest > 0 && seen.within(&from(lowest)) => lowest,
        _ => {
            return Some(ItemProblem::CodesOutside {
                item: item.name.clone(),
                categories,
                source: if anchored.is_some() {
                    CategorySource::FixedItems
                } else {
                    CategorySource::Codebook
                },
                codes: seen.iter().collect(),
            });
        }
    };
    item.codes = Some(from(first));
    None
}

/// Merges categories of items as the codebook or the options say, and tells which became one, in the form that a codebook takes.
fn merge_categories(
    options: &ItemOptions,
    codebook: &[CodebookItem],
    plan: &mut [ItemPlan],
    counts_of: impl Fn(&str) -> CodeCounts,
    problems: &mut Vec<ItemProblem>,
) -> Option<Warning> {
    let mut said = Vec::new();
    for item in plan {
        let own = codebook.iter().find(|known| known.name == item.name);
        // Given parameters fix the categories, which a codebook may contradict and a wish for all items does not.
        let usual = options.collapse.map(Collapse::AtLeast).filter(|_| item.anchor.is_none());
        if let Some(collapse) = own.and_then(|known| known.collapse.clone()).or(usual)
            && let Err(problem) = merge(item, &collapse, &counts_of(&item.name), options.codes)
        {
            problems.push(problem);
        }
        if let (Some(codes), false) = (&item.codes, item.merged.is_empty()) {
            said.push(format!("{} {}", item.name, written(codes, &item.merged)));
        }
    }
    let message = format!(
        "categories that became one, at all sites alike: {} (a codebook's column `collapse` takes them so)",
        said.join("; ")
    );
    (!said.is_empty()).then(|| Warning { code: "categories_merged".to_owned(), message })
}

/// Merges categories of an item.
fn merge(
    item: &mut ItemPlan,
    collapse: &Collapse,
    counts: &CodeCounts,
    source: CodeSource,
) -> Result<(), ItemProblem> {
    let name = || item.name.clone();
    if matches!(collapse, Collapse::AtLeast(_)) && source == CodeSource::Declared {
        return Err(ItemProblem::CollapseFromAnswers(name()));
    }
    if item.anchor.is_some() {
        return Err(ItemProblem::CollapseFixed(name()));
    }
    let ordered = |model: &String| items::model(model).is_none_or(|model| model.one_slope().is_some());
    if !item.model.as_ref().is_none_or(ordered) {
        return Err(ItemProblem::CollapseUnordered(name()));
    }
    let seen = || occurring(counts).iter().map(|(code, _)| *code).collect();
    let codes = item.codes.clone().unwrap_or_else(seen);
    let Some(left) = collapse.of(&codes, counts) else {
        return Err(ItemProblem::CollapseOthers { item: name(), codes });
    };
    if !left.merged.is_empty() {
        (item.codes, item.merged) = (Some(left.codes), left.merged);
    }
    Ok(())
}

/// A table whose merged codes, given for each column, are those as which they count.
pub fn with_merged<'a>(
    table: &ResponseTable,
    merged: impl IntoIterator<Item = &'a [MergedCode]>,
) -> Result<ResponseTable, TableError> {
    let mut cells: Vec<u8> = table.rows().flatten().copied().collect();
    for (column, merged) in merged.into_iter().enumerate().filter(|(_, merged)| !merged.is_empty()) {
        for row in cells.chunks_exact_mut(table.items()) {
            if let Some(found) = merged.iter().find(|merged| merged.code == row[column]) {
                row[column] = found.into;
            }
        }
    }
    let merged = ResponseTable::new(table.students(), table.items(), cells)?;
    match table.weights() {
        Some(weights) => merged.with_weights(weights.to_vec()),
        None => Ok(merged),
    }
}

/// A site's table with one column per item of the codebook: missing where the site does not have the item.
pub fn align(site: &SiteResponses, plan: &[ItemPlan]) -> Result<ResponseTable, TableError> {
    let table = with_columns(site, plan)?;
    if plan.iter().all(|item| item.merged.is_empty()) {
        Ok(table)
    } else {
        with_merged(&table, plan.iter().map(|item| item.merged.as_slice()))
    }
}

/// A site's table with the columns of a plan.
fn with_columns(site: &SiteResponses, plan: &[ItemPlan]) -> Result<ResponseTable, TableError> {
    if site.items.len() == plan.len() && site.items.iter().zip(plan).all(|(a, b)| a == &b.name) {
        return Ok(site.table.clone());
    }
    let columns: Vec<Option<usize>> =
        plan.iter().map(|p| site.items.iter().position(|name| name == &p.name)).collect();
    let mut cells = Vec::with_capacity(site.table.students() * plan.len());
    for row in site.table.rows() {
        cells.extend(columns.iter().map(|c| c.map_or(MISSING, |c| row[c])));
    }
    site.table.with_cells(plan.len(), cells)
}
