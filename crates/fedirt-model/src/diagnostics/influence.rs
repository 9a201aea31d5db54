//! Influence of single sites: what each of them says would change without it.

use super::{Fitted, not_asked};
use crate::exchange::Effects;
use crate::fit::{Influence, SiteInfluence};
use crate::questions::diagnose::{DiagnoseReply, Diagnostic};

/// From the sites' answers, or why there is nothing to tell.
pub(super) fn influence(fitted: &Fitted<'_>, reply: &DiagnoseReply) -> Result<Influence, &'static str> {
    if !fitted.wanted.contains(&Diagnostic::Influence) {
        return Err(
            "it was not asked for: sites then also send, by name where the plan is plain, what would change without them",
        );
    }
    if fitted.sites.len() < 2 {
        return Err("there is only one site");
    }
    if fitted.effects == Effects::Random {
        return Err("with random site effects one step from the estimates does not tell it");
    }
    if fitted.weighted {
        return Err(
            "students carry weights, and one step from the estimates needs the information of unweighted students",
        );
    }
    if fitted.covariance.is_none() {
        return Err(
            "the covariances of all parameters are not known: the information is not positive definite, or errors are item by item",
        );
    }
    let Some(beyond) = &reply.influential else { return Err(not_asked(fitted, Diagnostic::Influence)) };
    let design = fitted.design;
    let named = |(name, numbers): (&String, &[f64; 3])| {
        let [place, change, in_errors] = *numbers;
        let place = place as usize;
        let item = (0..design.len()).find(|&j| design.span(j).contains(&place))?;
        let parameters = design.model(item).parameters(design.categories(item));
        Some(SiteInfluence {
            site: name.clone(),
            item: fitted.names[item].clone(),
            parameter: parameters.get(place - design.offset(item))?.name.clone(),
            estimate: fitted.psi[place],
            without: fitted.psi[place] + change,
            change: in_errors,
        })
    };
    let mut sites: Vec<SiteInfluence> =
        (reply.influence.iter()).flat_map(|all| fitted.sites.iter().zip(&all.0)).filter_map(named).collect();
    sites.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
    let by_name = reply.influence.is_some();
    Ok(Influence { influential: beyond.iter().sum(), sites: by_name.then_some(sites) })
}
