//! The page of site effects, as estimated or shrunken towards zero.

use super::results::{open, parts};
use super::{App, Name, Page, frame, words};
use crate::figure::{Numbers, figure};
use crate::{Fields, Frame, Html, Link, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use fedirt_figures::site_effects;
use fedirt_model::fit::{Fit, FitSite};

#[derive(Template)]
#[template(path = "sites.html")]
struct SitesPage {
    frame: Frame,
    name: String,
    subtitle: String,
    parts: Vec<Link>,
    figure: Html,
    offers: bool,
    shrunken: bool,
    between: String,
}

/// `GET …/results/sites`.
pub(super) async fn show(
    State(app): App,
    Path(name): Name,
    RawQuery(query): RawQuery,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let (seen, fit) = match open(&app, &name, &visitor)? {
        Ok(found) => found,
        Err(none) => return Ok(none),
    };
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let shrink = if fit.effects == "fixed" { shrinkage(&fit.sites) } else { None };
    let between = shrink.as_ref().map_or_else(String::new, |(sd, _)| words::fixed(Some(*sd), 3));
    let offers = shrink.is_some();
    let shrunken = shrink
        .filter(|_| query.get("show") == "shrunken")
        .map(|(_, sites)| Fit { sites, ..Fit::clone(&fit) });
    let mut drawn = site_effects(shrunken.as_ref().unwrap_or(&fit));
    let shrunken = shrunken.is_some();
    if shrunken {
        drawn.title = "Site effects, shrunken towards zero".into();
        drawn.notes.push(format!(
            "Empirical Bayes: each effect is multiplied by τ²/(τ² + SE²), where the SD between sites τ = {between} is estimated by moments."
        ));
    }
    Ok(render(&SitesPage {
        frame: frame(&visitor, &seen, "Sites", "/results"),
        subtitle: words::subtitle(&seen),
        parts: parts(&name, "/sites"),
        figure: figure("site-effects", &drawn, Numbers::Beside),
        offers,
        shrunken,
        between,
        name,
    }))
}

/// Empirical Bayes estimates of the site effects: the SD between sites by the method of moments (DerSimonian & Laird 1986
/// with equal weights), and the sites with shrunken effects.
fn shrinkage(sites: &[FitSite]) -> Option<(f64, Vec<FitSite>)> {
    let known = sites.iter().filter_map(|s| Some((s.effect?, s.se?)));
    let usable: Vec<(f64, f64)> =
        known.filter(|(e, se)| e.is_finite() && se.is_finite() && *se > 0.0).collect();
    if usable.len() < 3 {
        return None;
    }
    let n = usable.len() as f64;
    let mean = usable.iter().map(|(e, _)| e).sum::<f64>() / n;
    let spread = usable.iter().map(|(e, _)| (e - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let noise = usable.iter().map(|(_, se)| se * se).sum::<f64>() / n;
    let between = (spread - noise).max(0.0);
    let mut sites = sites.to_vec();
    for site in &mut sites {
        if let (Some(effect), Some(se)) = (site.effect, site.se) {
            let share = between / (between + se * se).max(f64::MIN_POSITIVE);
            (site.effect, site.se) = (Some(mean + share * (effect - mean)), Some(se * share.sqrt()));
        }
    }
    Some((between.sqrt(), sites))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sites_are_shrunken_most() {
        let site =
            |effect: f64, se: f64| FitSite { name: "s".into(), n: 10, effect: Some(effect), se: Some(se) };
        let (between, shrunken) = shrinkage(&[site(1.0, 0.1), site(1.0, 0.8), site(-2.0, 0.1)]).unwrap();
        let effect = |k: usize| shrunken[k].effect.unwrap();
        assert!(between > 1.0 && effect(0) > effect(1) && effect(1) > 0.0 && effect(2) > -2.0);
        // Where the differences are no larger than their errors, all effects are equal to their mean.
        let (between, shrunken) = shrinkage(&[site(0.1, 0.5), site(0.0, 0.5), site(-0.1, 0.5)]).unwrap();
        assert!(between == 0.0 && shrunken.iter().all(|s| s.effect.unwrap().abs() < 1e-12));
        assert!(shrinkage(&[site(1.0, 0.1), site(0.0, 0.1)]).is_none());
    }
}
