//! Site effects on the reported scale.

use super::algorithm::Problem;
use super::plan::{Enrolled, Plan};
use super::report_items::Scale;
use crate::exchange::Effects;
use crate::fit::{FitSite, Warning};
use crate::questions::close::CloseReply;
use crate::site::EffectEstimate;

/// Effect and standard error of each site on the reported scale, where sites send them.
pub(super) fn published_effects(problem: &Problem, plan: &Plan, reply: &CloseReply) -> Vec<EffectEstimate> {
    if !plan.publish_effects || problem.effects == Effects::None || plan.settings.algorithm.name() == "meta" {
        return Vec::new();
    }
    reply.own_effect.iter().flat_map(|sites| sites.0.iter().copied().map(EffectEstimate::read)).collect()
}

/// The last step moved the effects a little after they were centred: what is left of their sum goes to the items.
pub(super) fn centre_remainder(
    problem: &Problem,
    sites: &[Enrolled],
    scale: &Scale,
    psi: &mut [f64],
    effects: &mut [EffectEstimate],
) {
    if problem.effects != Effects::Fixed || effects.is_empty() {
        return;
    }
    let design = &problem.design;
    let part_of = |site: &Enrolled| {
        (0..design.len())
            .find(|&j| !site.codes[design.items()[j].column].is_empty())
            .map(|j| problem.parts[j])
    };
    for part in 0..=problem.parts.iter().max().copied().unwrap_or(0) {
        if problem.structure.anchors_part(&problem.parts, part) {
            continue;
        }
        let mut mine: Vec<&mut f64> = effects
            .iter_mut()
            .zip(sites)
            .filter(|(_, site)| part_of(site) == Some(part))
            .filter_map(|(effect, _)| effect.effect.as_mut())
            .collect();
        let mean = mine.iter().map(|x| **x).sum::<f64>() / mine.len().max(1) as f64;
        mine.iter_mut().for_each(|x| **x -= mean);
        let shift = design.shift_direction(psi);
        for (r, (x, shift)) in psi.iter_mut().zip(&shift).enumerate() {
            if problem.parts[design.item_of(r)] == part {
                *x += shift * mean / scale.sd;
            }
        }
    }
}

/// One entry per site.
pub(super) fn report_sites(
    sites: &[Enrolled],
    effects: &[EffectEstimate],
    warnings: &mut Vec<Warning>,
) -> Vec<FitSite> {
    let mut silent = Vec::new();
    let out = sites
        .iter()
        .enumerate()
        .map(|(k, site)| {
            let (effect, se) = effects.get(k).map_or((None, None), |e| (e.effect, e.se));
            if effects.get(k).is_some_and(|e| e.effect.is_none()) {
                silent.push(site.name.as_str());
            }
            FitSite { name: site.name.clone(), n: site.students, effect, se }
        })
        .collect();
    if !silent.is_empty() {
        warnings.push(Warning {
            code: "site_without_effect".into(),
            message: format!(
                "no finite effect, because there are no answers or all stand at one end of the scale: {}",
                super::opening::some_names(silent)
            ),
        });
    }
    out
}
