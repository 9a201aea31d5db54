//! What can be calibrated at all: models, categories that somebody used, linked parts; and what to say about it.

use super::CentreError;
use super::algorithm::AlgorithmKind;
use super::plan::{Enrolled, ItemPlan, Plan, Secrecy};
use super::structure::Anchor;
use crate::code_set::CodeSet;
use crate::design::{Design, DesignItem, MAX_CATEGORIES};
use crate::exchange::Effects;
use crate::fit::Warning;
use crate::items::{self, SlopeRule};

pub(super) fn warning(code: &str, message: String) -> Warning {
    Warning { code: code.to_owned(), message }
}

/// Names in a sentence: at most five of them.
pub(super) fn some_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.len() {
        0..=5 => names.join(", "),
        n => format!("{}, … ({n} in all)", names[..4].join(", ")),
    }
}

pub(super) fn check_algorithm(plan: &Plan, effects: Effects) -> Result<(), CentreError> {
    let algorithm = plan.settings.algorithm;
    let general = matches!(algorithm, AlgorithmKind::Newton | AlgorithmKind::Em);
    let name = algorithm.name();
    let unknown = |item: &&ItemPlan| {
        item.model.as_deref().and_then(items::model).is_some_and(|model| model.one_slope().is_none())
    };
    if let Some(item) = plan.items.iter().find(unknown).filter(|_| !general) {
        let model = item.model.as_deref().unwrap_or_default();
        return Err(CentreError::Unsupported(format!("{name} knows no {model} items; use newton or em")));
    }
    if !general && !plan.population.is_normal() {
        return Err(CentreError::Unsupported(format!(
            "{name} knows the normal population only; use newton or em"
        )));
    }
    if !general && plan.secrecy != Secrecy::BySite {
        return Err(CentreError::Unsupported(format!(
            "{name} needs each site's own numbers, so it runs in plain mode only; newton and em need sums alone"
        )));
    }
    if !general && effects == Effects::Random {
        return Err(CentreError::Unsupported(format!(
            "{name} knows no random site effects; use newton or em, or effects fixed or none"
        )));
    }
    if !general && plan.items.iter().any(|i| i.anchor.is_some()) {
        return Err(CentreError::Unsupported(format!("{name} knows no fixed items; use newton or em")));
    }
    Ok(())
}

/// The items that the first question of a plan is about: they follow from the plan and from what the sites have declared,
/// not from answers.
pub fn planned_items(plan: &Plan, sites: &[Enrolled]) -> Result<Design, CentreError> {
    provisional_design(plan, sites, &mut Vec::new())
}

/// All items with at least two codes, each with all its codes; complaints that need no data.
pub(super) fn provisional_design(
    plan: &Plan,
    sites: &[Enrolled],
    warnings: &mut Vec<Warning>,
) -> Result<Design, CentreError> {
    let mut items = Vec::new();
    let (mut constant, mut absent, mut complaints) = (Vec::new(), Vec::new(), Vec::new());
    let mut rare = Vec::new();
    for (column, item) in plan.items.iter().enumerate() {
        let used: Vec<u8> = codes_of(sites, column).iter().collect();
        let codes: Vec<u8> = match (&item.codes, &item.anchor) {
            (Some(codes), _) => codes.clone(),
            // A fixed item may have categories that nobody chose here; its codes may start at 1.
            (None, Some(anchor)) if used.len() != anchor.categories => (0..anchor.categories as u8).collect(),
            (None, _) => used.clone(),
        };
        if let Some(strange) = used.iter().find(|c| !codes.contains(c)) {
            complaints.push(format!(
                "item {}: code {strange} is in the data, but its categories are {codes:?}; mend the codebook, or declare it missing (--missing {strange})",
                item.name
            ));
        }
        if used.is_empty() && item.anchor.is_none() {
            absent.push(item.name.as_str());
        } else if too_rare(plan.secrecy, sites, column) {
            rare.push(item.name.as_str());
        } else if codes.len() < 2 {
            constant.push(item.name.as_str());
        } else {
            let model =
                item.model.clone().unwrap_or_else(|| items::default_model(codes.len()).name().to_owned());
            match items::model(&model) {
                None => complaints.push(format!("item {}: there is no model {model:?}", item.name)),
                Some(m) if codes.len() > 2 && !m.polytomous() => complaints.push(format!(
                    "item {} has {} categories, and {model} takes two: give it gpcm or grm (--item-model {}=gpcm, or --model gpcm)",
                    item.name, codes.len(), item.name
                )),
                Some(_) if codes.len() > MAX_CATEGORIES => complaints.push(format!("item {} has {} categories, more than {MAX_CATEGORIES}", item.name, codes.len())),
                Some(_) => items.push(DesignItem { column, model, codes }),
            }
        }
    }
    let rule = |wanted: SlopeRule| {
        items.iter().any(|i: &DesignItem| items::model(&i.model).is_some_and(|m| m.slope() == wanted))
    };
    let units = [SlopeRule::One, SlopeRule::Common, SlopeRule::LatentSd].into_iter().filter(|r| rule(*r));
    if units.count() > 1 {
        complaints.push(
            "rasch and pcm estimate the SD of ability, 1pl and rasch-sd1 hold it at 1, with one slope or none to estimate: use one of the three"
                .to_owned(),
        );
    }
    if !complaints.is_empty() {
        return Err(CentreError::Models(complaints.join("\n")));
    }
    if !absent.is_empty() {
        warnings.push(warning("item_absent", format!("no site has answers to {}", some_names(absent))));
    }
    if !rare.is_empty() {
        warnings.push(warning(
            "item_suppressed",
            format!("too few sites give {} for their sums to be opened; left out", some_names(rare)),
        ));
    }
    if !constant.is_empty() {
        let names = some_names(constant);
        warnings.push(warning(
            "item_dropped",
            format!("everyone answered alike: {names}; no parameters can be estimated"),
        ));
    }
    if items.len() < 2 {
        let names = some_names(items.iter().map(|i| plan.items[i.column].name.as_str()));
        let names = if names.is_empty() { names } else { format!(" ({names})") };
        return Err(CentreError::TooFewItems(items.len(), names));
    }
    Design::try_from(items).map_err(|e| CentreError::Models(e.to_string()))
}

/// The codes of an item at all sites.
fn codes_of(sites: &[Enrolled], column: usize) -> CodeSet {
    sites.iter().fold(CodeSet::default(), |all, site| all.union(site.codes[column]))
}

/// Whether fewer sites give an item than must share a sum.
fn too_rare(secrecy: Secrecy, sites: &[Enrolled], column: usize) -> bool {
    match secrecy {
        Secrecy::BySite => false,
        Secrecy::Sums { n_min, .. } => sites.iter().filter(|s| !s.codes[column].is_empty()).count() < n_min,
    }
}

/// Whether all answers of a site stand at the top of their items, or all at the bottom: such a site has no finite
/// effect, says nothing of items, and links none.
pub(super) fn at_one_end(sites: &[Enrolled], design: &Design, site: &Enrolled) -> bool {
    let only = |end: fn(CodeSet) -> Option<u8>| {
        design.items().iter().all(|item| {
            let mine = site.codes[item.column];
            // Which category of an item without order is the abler end, its parameters tell later.
            let ordered = items::model(&item.model).is_some_and(|model| model.one_slope().is_some());
            mine.is_empty() || (ordered && mine.len() == 1 && end(mine) == end(codes_of(sites, item.column)))
        })
    };
    only(CodeSet::highest) || only(CodeSet::lowest)
}

/// The design of items and categories that somebody used, the kept items and the kept categories.
pub(super) fn used_categories(
    plan: &Plan,
    provisional: &Design,
    counts: &[f64],
    warnings: &mut Vec<Warning>,
) -> Result<(Design, Vec<usize>, Vec<usize>), CentreError> {
    let (mut items, mut kept_items, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    let (mut constant, mut closed) = (Vec::new(), Vec::new());
    for (j, item) in provisional.items().iter().enumerate() {
        let plan = &plan.items[item.column];
        let used: Vec<usize> = provisional.cell_span(j).filter(|&r| counts[r] > 0.0).collect();
        // Given parameters fix the categories.
        if plan.anchor.is_some() {
            kept.extend(provisional.cell_span(j));
            kept_items.push(j);
            items.push(item.clone());
        } else if used.len() < 2 {
            constant.push(plan.name.as_str());
        } else {
            if used.len() < item.codes.len() {
                closed.push(plan.name.as_str());
            }
            let first = provisional.cell_offset(j);
            let codes: Vec<u8> = used.iter().map(|r| item.codes[r - first]).collect();
            let model =
                plan.model.clone().unwrap_or_else(|| items::default_model(codes.len()).name().to_owned());
            items.push(DesignItem { column: item.column, model, codes });
            kept_items.push(j);
            kept.extend(used);
        }
    }
    let mut found = Vec::new();
    if !constant.is_empty() {
        found.push(warning(
            "item_dropped",
            format!("everyone answered alike: {}; no parameters can be estimated", some_names(constant)),
        ));
    }
    if !closed.is_empty() {
        found.push(warning(
            "category_unused",
            format!("categories that nobody chose are closed up: {}", some_names(closed)),
        ));
    }
    warnings.extend(found);
    if items.len() < 2 {
        let names = some_names(items.iter().map(|i| plan.items[i.column].name.as_str()));
        let names = if names.is_empty() { names } else { format!(" ({names})") };
        return Err(CentreError::TooFewItems(items.len(), names));
    }
    let design = Design::try_from(items).map_err(|e| CentreError::Models(e.to_string()))?;
    Ok((design, kept_items, kept))
}

pub(super) fn check_anchors(
    plan: &Plan,
    design: &Design,
    anchors: &[Option<Anchor>],
) -> Result<(), CentreError> {
    for (j, anchor) in anchors.iter().enumerate() {
        if let Some(anchor) = anchor
            && (anchor.categories != design.categories(j) || anchor.psi.len() != design.span(j).len())
        {
            let name = &plan.items[design.items()[j].column].name;
            return Err(CentreError::Models(format!(
                "fixed item {name} has {} steps, but {} categories in the data",
                anchor.categories - 1,
                design.categories(j)
            )));
        }
    }
    Ok(())
}

pub(super) fn warn_of_parts(
    plan: &Plan,
    effects: Effects,
    design: &Design,
    parts: &[usize],
) -> Option<Warning> {
    let count = parts.iter().max().map_or(0, |p| p + 1);
    if count < 2 {
        return None;
    }
    let named: Vec<String> = (0..count)
        .map(|part| {
            let names = (0..design.len()).filter(|&j| parts[j] == part);
            let names = names.map(|j| plan.items[design.items()[j].column].name.as_str());
            format!("({})", some_names(names))
        })
        .collect();
    let consequence = match effects {
        Effects::Fixed => {
            "site effects sum to zero within each part, and neither items nor sites of different parts can be compared"
        }
        Effects::None | Effects::Random => "they are comparable only if all sites draw from one population",
    };
    let message =
        format!("the items fall into {count} parts that no site links: {}; {consequence}", named.join(" "));
    Some(warning("unlinked_parts", message))
}

/// What is different in a large bank.
pub(super) fn warn_of_large_bank(plan: &Plan) -> Option<Warning> {
    plan.by_item().then(|| {
        warning(
            "large_bank",
            format!(
                "with more than {} items nothing is asked about pairs of items: estimates come from EM, and standard errors are those of each item by itself, as if the other items were known, with the sampling of students and sites to first order; a slope that all items share, the SD and mean of ability and random site effects have none",
                plan.settings.pairwise_items
            ),
        )
    })
}

pub(super) fn warn_of_small_sites(effects: Effects, sites: &[Enrolled]) -> Option<Warning> {
    let mut sizes: Vec<u64> = sites.iter().map(|s| s.students).collect();
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    (effects == Effects::Fixed && median < 20 && sizes.len() >= 10).then(|| {
        warning(
            "small_sites",
            format!("half of the sites have at most {median} students: random effects (--effects random) estimate such sites better"),
        )
    })
}

/// Fixed effects sum to zero over sites, whatever their size: a tiny one makes everyone's origin uncertain.
pub(super) fn warn_of_tiny_sites(effects: Effects, sites: &[Enrolled]) -> Option<Warning> {
    let tiny: Vec<&str> =
        sites.iter().filter(|s| (1..5).contains(&s.students)).map(|s| s.name.as_str()).collect();
    (effects == Effects::Fixed && !tiny.is_empty() && tiny.len() < sites.len()).then(|| {
        warning(
            "tiny_sites",
            format!(
                "fewer than 5 students at {}: the effects sum to zero over all sites, so this widens the standard errors of all difficulties and effects; leave such sites out, or use --effects random",
                some_names(tiny)
            ),
        )
    })
}

/// Sites whose lowest code is above others' although they use several codes: 1, 2, … here and 0, 1, … there.
pub(super) fn warn_of_shifted_codes(sites: &[Enrolled]) -> Option<Warning> {
    let all = |site: &Enrolled| site.codes.iter().fold(CodeSet::default(), |all, codes| all.union(*codes));
    let lowest = sites.iter().filter_map(|site| all(site).lowest()).min()?;
    let shifted: Vec<&str> = sites
        .iter()
        .filter(|s| all(s).len() > 1 && all(s).lowest() > Some(lowest))
        .map(|s| s.name.as_str())
        .collect();
    (!shifted.is_empty()).then(|| {
        warning(
            "codes_differ",
            format!(
                "code {lowest} never occurs at {}, but does elsewhere: if those sites count their categories from {}, recode them; as it is, codes are taken to mean the same everywhere",
                some_names(shifted),
                lowest + 1
            ),
        )
    })
}
