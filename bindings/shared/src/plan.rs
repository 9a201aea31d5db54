//! What a private study may expect, before anything is spent.

use crate::failure::{Failure, Kind};
use crate::frame::Frame;
use crate::options::{Fields, OptionProblem, Options};
use crate::rules;
use fedirt::privacy::{PlannedStudy, plan};
use fedirt::results::tables::Cell;
use fedirt::{Effects, MissingAnswers};
use fedirt_model::items;

/// The expected standard errors at each ε, and remarks. The options are `sites`, `students` (of each site, or one number per
/// site), `items`, `model`, `categories`, `epsilon` (one or several), `delta`, `effects`, `site_sd`, `colluders`, `mixture`,
/// `mechanism`, `missing_answers`, and `booklets`: lists of the numbers of items, from 1.
pub fn planned(options: &Options) -> Result<(Frame, Vec<String>), Failure> {
    let (study, mut epsilons) = options.read(|fields| {
        let sites = fields.whole("sites").unwrap_or(1).max(1) as usize;
        let model = fields.text("model").unwrap_or_else(|| "2pl".to_owned());
        let polytomous = items::model(&model).is_some_and(|model| model.polytomous());
        let categories = fields.whole("categories").unwrap_or(if polytomous { 4 } else { 2 }) as usize;
        let effects = rules::effects(fields).unwrap_or(Effects::Fixed);
        let items = fields.whole("items").unwrap_or(1) as usize;
        let study = PlannedStudy {
            items: vec![(model, categories); items],
            sites: sizes(fields, sites)
                .into_iter()
                .enumerate()
                .map(|(k, n)| (format!("site{}", k + 1), n))
                .collect(),
            effects: if sites < 2 { Effects::None } else { effects },
            site_sd: fields.number("site_sd").unwrap_or(0.0),
            missing: rules::missing_answers(fields).unwrap_or(MissingAnswers::Counted),
            booklets: fields.sets("booklets", items),
            method: rules::method(fields),
            mixture: fields.flag("mixture").unwrap_or(false),
            delta: fields.number("delta").unwrap_or(1e-6),
            colluders: fields.whole("colluders").unwrap_or(0) as usize,
        };
        (study, fields.numbers("epsilon").unwrap_or_else(|| vec![0.5, 1.0, 2.0, 4.0, 8.0]))
    })?;
    epsilons.sort_by(f64::total_cmp);
    epsilons.dedup();
    let refused = |error: fedirt::privacy::PrivateRefusal| Failure::new(Kind::Option, error.to_string());
    let forecast = plan(&study, None, &epsilons).map_err(refused)?;
    let rows = forecast.outlook.private.iter().map(|at| {
        let errors = [&at.reported, &at.sums_alone].map(|errors| [errors.a, Some(errors.b), errors.s]);
        let numbers = [Some(at.epsilon), Some(at.mu), Some(at.noise_ratio)];
        numbers.into_iter().chain(errors.into_iter().flatten()).map(Cell::Number).collect()
    });
    let headers =
        ["epsilon", "mu", "noise_ratio", "se_a", "se_b", "se_s", "alone_se_a", "alone_se_b", "alone_se_s"];
    let table = Frame::of_rows(headers.map(str::to_owned).to_vec(), rows);
    Ok((
        table,
        forecast.remarks.iter().map(|remark| remark.told("`effects` = none (with `site_sd`)")).collect(),
    ))
}

/// Students of each site.
fn sizes(fields: &Fields<'_>, sites: usize) -> Vec<u64> {
    let given = fields.numbers("students").unwrap_or_else(|| vec![300.0]);
    let fine = given.iter().all(|n| n.fract() == 0.0 && (1.0..=1e8).contains(n));
    if !fine || (given.len() != 1 && given.len() != sites) {
        let needed = "a number of students from 1 to 100,000,000 for all sites, or one for each site";
        let (option, value) = ("students".to_owned(), format!("{given:?}"));
        fields.complain(OptionProblem::Value { option, value, needed: needed.to_owned() });
    }
    (0..sites).map(|k| given.get(k % given.len().max(1)).map_or(0, |n| *n as u64)).collect()
}
