//! Answers drawn from known parameters.

use crate::failure::{Failure, Kind};
use crate::frame::{Cells, Frame};
use crate::options::Options;
use fedirt::simulate;
use fedirt::simulation::{Missing, SiteEffects, SiteSizes, Spec};
use fedirt_model::items;
use fedirt_model::responses::MISSING;

/// Simulated answers and the truth behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The answers: `id`, `site`, and a column for each item.
    pub answers: Frame,
    /// The true parameters, as JSON.
    pub truth: String,
}

/// Draws answers; the options are those of `fedirt simulate`, and so are the numbers that a seed gives.
pub fn simulated(options: &Options) -> Result<Simulated, Failure> {
    let spec = options.read(|fields| {
        let model = fields.text("model").unwrap_or_else(|| "2pl".to_owned());
        let known = items::model(&model);
        let polytomous = known.map_or(model == fedirt_model::simulate::MIXED, |model| model.polytomous());
        let sites = fields.whole("sites").unwrap_or(10) as usize;
        let students = match fields.numbers("students_by_site") {
            Some(list) => SiteSizes::List(list.into_iter().map(|n| n as usize).collect()),
            None => SiteSizes::Each(fields.whole("students").unwrap_or(300) as usize),
        };
        let missing = match (fields.whole("booklets"), fields.number("missing_rate")) {
            (Some(number), _) => Missing::Booklets(number as usize),
            (None, Some(rate)) => Missing::AtRandom(rate),
            (None, None) => Missing::Complete,
        };
        let effects = match fields.numbers("site_effects") {
            Some(effects) => SiteEffects::Given(effects),
            None => {
                let sd = fields.number("site_sd").unwrap_or(if sites > 1 { 0.5 } else { 0.0 });
                SiteEffects::Drawn { sd, centred: true }
            }
        };
        let usual = if polytomous { 4 } else { 2 };
        Spec {
            sites,
            students,
            items: fields.whole("items").unwrap_or(20) as usize,
            categories: fields.whole("categories").unwrap_or(usual) as usize,
            model,
            effects,
            missing,
            latent_sd: fields.number("latent_sd").unwrap_or(1.0),
            seed: fields.whole("seed").unwrap_or(1),
        }
    })?;
    let drawn = simulate(&spec)?;
    let (mut ids, mut sites) = (Vec::new(), Vec::new());
    let names = drawn.truth.items.iter().map(|item| item.name.clone());
    let mut columns: Vec<(String, Vec<Option<u64>>)> = names.map(|name| (name, Vec::new())).collect();
    for site in &drawn.responses.sites {
        ids.extend(site.ids.iter().flatten().cloned());
        sites.extend(std::iter::repeat_n(site.name.clone(), site.table.students()));
        for row in site.table.rows() {
            for ((_, column), code) in columns.iter_mut().zip(row) {
                column.push((*code != MISSING).then(|| u64::from(*code)));
            }
        }
    }
    let mut answers = Frame::default().with("id", Cells::Text(ids)).with("site", Cells::Text(sites));
    answers.columns.extend(columns.into_iter().map(|(name, codes)| (name, Cells::Count(codes))));
    let truth = serde_json::to_string(&drawn.truth);
    let truth = truth.map_err(|error| Failure::new(Kind::Internal, error.to_string()))?;
    Ok(Simulated { answers, truth })
}
