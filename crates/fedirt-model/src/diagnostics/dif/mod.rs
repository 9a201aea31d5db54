//! Differential item functioning: what the centre makes of sums by group of students.
//!
//! Observed scores: Mantel–Haenszel and its kin, logistic regression, all functions of one table. The model: score tests from the
//! groups' gradients and information at the pooled fit.

mod findings;
mod logistic;
mod mantel;
mod score;
mod sites;
mod tables;

pub(crate) use findings::{flagged_items, flagged_sites};
pub(crate) use score::{ScoreTests, own_parameters};
pub(crate) use sites::{SitesOf, heterogeneity};
pub(crate) use tables::GroupTables;

use crate::design::Design;
use crate::diagnostics::pair_tables::chi_squared_above;
use crate::diagnostics::score_fit::adjusted;
use crate::fit::Dif;
use tables::Stratum;

/// Differences on the delta scale from which on ETS calls DIF intermediate and large.
const DELTA: [f64; 2] = [1.0, 1.5];
/// The same for standardised mean differences of items with more than two categories.
const SMD: [f64; 2] = [0.17, 0.25];
/// One-sided 5 % of the normal distribution.
const ONE_SIDED: f64 = 1.645;
/// The level of all tests here.
const LEVEL: f64 = 0.05;

/// Passes at most in which items that work differently are taken out of the score that students are matched by.
pub(crate) const PASSES: usize = 3;

/// One item in one focal group, from observed scores.
fn observed(strata: &[Stratum]) -> Dif {
    let (odds, z) = (mantel::odds_ratio(strata), mantel::mantel(strata));
    let (gmh, smd) = (mantel::generalised(strata), mantel::mean_difference(strata));
    let chi2 = z.map(|z| z * z);
    let chi2_cc = odds.map(|odds| odds.chi2_cc);
    let p = chi2_cc.or(chi2).map(|x| chi_squared_above(x, 1.0));
    let delta = odds.map(|odds| (-2.35 * odds.alpha.ln(), 2.35 * odds.se_log));
    let class = match (delta, smd) {
        (Some((delta, se)), _) => p.map(|p| of_delta(p, delta.abs(), se)),
        (None, Some((_, smd))) => p.map(|p| of_mean_difference(p, smd.abs())),
        (None, None) => None,
    };
    Dif {
        alpha_mh: odds.map(|odds| odds.alpha),
        se_log_alpha_mh: odds.map(|odds| odds.se_log),
        chi2,
        chi2_cc,
        p,
        delta_mh: delta.map(|(delta, _)| delta),
        ets: class.map(str::to_owned),
        gmh: gmh.map(|(x, _, _)| x),
        gmh_df: gmh.map(|(_, df, _)| df),
        gmh_p: gmh.map(|(_, _, p)| p),
        smd: smd.map(|(smd, _)| smd),
        smd_sd: smd.map(|(_, smd)| smd),
        logistic: logistic::logistic(strata),
        ..Dif::default()
    }
}

/// A, B or C by the rules of ETS (Zwick 2012): C where |Δ| is 1.5 or more and significantly above 1.
fn of_delta(p: f64, delta: f64, se: f64) -> &'static str {
    if p >= LEVEL || delta < DELTA[0] {
        "A"
    } else if delta >= DELTA[1] && (delta - DELTA[0]) / se > ONE_SIDED {
        "C"
    } else {
        "B"
    }
}

fn of_mean_difference(p: f64, smd: f64) -> &'static str {
    if p >= LEVEL || smd <= SMD[0] {
        "A"
    } else if smd > SMD[1] {
        "C"
    } else {
        "B"
    }
}

/// All items in all focal groups, group after group, from the tables of the last pass.
pub(crate) fn by_observed_scores(tables: &GroupTables<'_>, names: &[String], groups: &[String]) -> Vec<Dif> {
    let of = |focal: usize, item: usize| Dif {
        item: names[item].clone(),
        group: groups[focal].clone(),
        anchor: tables.anchors.binary_search(&item).is_ok(),
        ..observed(&tables.strata(item, focal))
    };
    (1..groups.len()).flat_map(|focal| (0..names.len()).map(move |item| of(focal, item))).collect()
}

/// The anchors of the next pass: those of this one that work alike in all groups. None where all do, or where fewer than half of
/// the items would be left. An item that was taken out stays out: sites answer about fewer and fewer items only.
pub(crate) fn purified(tables: &GroupTables<'_>, groups: usize) -> Option<Vec<usize>> {
    let differs = |item: usize| {
        (1..groups).any(|focal| observed(&tables.strata(item, focal)).ets.is_some_and(|class| class != "A"))
    };
    let items = tables.design.len();
    let anchors: Vec<usize> = tables.anchors.iter().copied().filter(|item| !differs(*item)).collect();
    (anchors.len() < tables.anchors.len() && 2 * anchors.len() >= items).then_some(anchors)
}

/// Adjusts p for the number of items and groups, and flags what effect size and adjusted p both call different.
pub(crate) fn judge(rows: &mut [Dif]) {
    let p: Vec<Option<f64>> = rows.iter().map(|row| row.p.or(row.score_p)).collect();
    for (row, p) in rows.iter_mut().zip(adjusted(&p)) {
        row.p_adjusted = p;
        let size = row.ets.as_deref().is_some_and(|class| class != "A");
        row.flagged = size && p.is_some_and(|p| p < LEVEL);
    }
}

/// The mean over ability of the expected item score at other parameters less that at the given ones; none where the others
/// are no parameters of the item.
pub(crate) fn expected_score_difference(
    design: &Design,
    item: usize,
    [others, given]: [&[f64]; 2],
    grid: &crate::quadrature::Grid,
) -> Option<f64> {
    use crate::items::{Curves, Order};
    let (model, categories) = (design.model(item), design.categories(item));
    if !others.iter().all(|x| x.is_finite()) || !model.admissible(others) {
        return None;
    }
    let expected = |psi: &[f64]| -> f64 {
        let curves = Curves::new(model, categories, psi, grid.nodes(), Order::Probability);
        let weights: Vec<f64> = grid.log_weights().iter().map(|w| w.exp()).collect();
        let of =
            |c: usize| curves.log_p(c).iter().zip(&weights).map(|(l, w)| w * l.exp()).sum::<f64>() * c as f64;
        (1..categories).map(of).sum()
    };
    Some(expected(others) - expected(given))
}

/// Too few students with an answer to every item in some group.
pub(crate) fn incomplete(tables: &GroupTables<'_>, groups: &[String]) -> Option<String> {
    let complete = tables.complete(groups.len());
    let few: Vec<&str> =
        complete.iter().zip(groups).filter(|(n, _)| **n < 1.0).map(|(_, name)| name.as_str()).collect();
    (!few.is_empty()).then(|| few.join(", "))
}

#[cfg(test)]
mod tests;
