//! Answers drawn from known parameters.

use crate::failure::{Failure, Kind};
use crate::frame::{Cells, Frame};
use crate::options::Options;
use fedirt::simulation::{Missing, SiteEffects, SiteSizes, Spec};
use fedirt::{Fit, simulate};
use fedirt_model::fit::FitItem;
use fedirt_model::items;
use fedirt_model::responses::MISSING;
use fedirt_model::simulate::{NotDrawn, SiteRows};

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
    let names = drawn.truth.items.iter().map(|item| item.name.clone()).collect();
    let mut filling = Filling::of(names);
    for site in &drawn.responses.sites {
        let ids = site.ids.iter().flatten().cloned();
        for (id, row) in ids.zip(site.table.rows()) {
            filling.row(&site.name, id, row.iter().map(|code| (*code != MISSING).then(|| u64::from(*code))));
        }
    }
    let truth = serde_json::to_string(&drawn.truth);
    let truth = truth.map_err(|error| Failure::new(Kind::Internal, error.to_string()))?;
    Ok(Simulated { answers: filling.frame(), truth })
}

/// Answers drawn anew from the estimates of a fit, by a seed: as many students at every site, with every item answered.
pub fn redrawn(fit: &Fit, seed: u64) -> Result<Frame, Failure> {
    let mut filling = Filling::of(fit.items.iter().map(|item| item.name.clone()).collect());
    let mut row = vec![0; fit.items.len()];
    for (at, site) in fit.sites.iter().enumerate() {
        let refused = |error: NotDrawn| Failure::new(Kind::Calibration, error.to_string());
        let mut students = SiteRows::of_fit(fit, at, seed).map_err(refused)?;
        let mut number = 0;
        while students.next_into(&mut row) {
            number += 1;
            let code = |(item, place): (&FitItem, &u8)| {
                item.codes.get(usize::from(*place)).map(|code| u64::from(*code))
            };
            filling.row(&site.name, format!("{}-{number}", site.name), fit.items.iter().zip(&row).map(code));
        }
    }
    Ok(filling.frame())
}

/// A table that is filled row by row: `id`, `site`, and a column for each item.
struct Filling {
    ids: Vec<String>,
    sites: Vec<String>,
    columns: Vec<(String, Vec<Option<u64>>)>,
}

impl Filling {
    fn of(items: Vec<String>) -> Self {
        let columns = items.into_iter().map(|name| (name, Vec::new())).collect();
        Self { ids: Vec::new(), sites: Vec::new(), columns }
    }

    fn row(&mut self, site: &str, id: String, codes: impl Iterator<Item = Option<u64>>) {
        self.ids.push(id);
        self.sites.push(site.to_owned());
        self.columns.iter_mut().zip(codes).for_each(|((_, column), code)| column.push(code));
    }

    fn frame(self) -> Frame {
        let mut frame =
            Frame::default().with("id", Cells::Text(self.ids)).with("site", Cells::Text(self.sites));
        frame.columns.extend(self.columns.into_iter().map(|(name, codes)| (name, Cells::Count(codes))));
        frame
    }
}
