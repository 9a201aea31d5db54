//! How much results depend on dependent items or on single sites, as tables.

use crate::failure::Failure;
use crate::frame::Frame;
use crate::options::Options;
use crate::rules;
use crate::run::{Tables, opened};
use crate::watched::{Watcher, watched};
use fedirt::results::tables::Cell;
use fedirt::{Fit, FitMode, Input, Moved, SensitivityTable};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

/// Fits with and without, side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Varied {
    /// A row per fit.
    pub fits: Frame,
    /// The items in each of them beside those of the fit as it is.
    pub items: Frame,
    /// What was not done, and why.
    pub notes: Vec<String>,
}

/// Fits with and without what may matter. The options are those of a calibration, and `vary` (`dependence`, `sites`; both where
/// nothing is said).
pub fn sensitivity(
    answers: Vec<Input<'static>>,
    tables: Tables,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Result<Varied, Failure> {
    let (responses, fitting, threads, varied) = opened(answers, tables, options, rules::varied)?;
    if matches!(fitting.mode, FitMode::Private(_)) {
        let (option, reason) = ("mode", "each of several fits would cost privacy");
        return Err(fedirt::Errors::from(crate::OptionProblem::Excluded { option, reason }).into());
    }
    let found = watched(threads, watcher, move |_| {
        Ok(fedirt::sensitivity(&responses, &fitting, &varied, &mut UnwrapErr(SysRng))?)
    })?;
    Ok(Varied { fits: fits(&found), items: items(&found), notes: found.notes })
}

/// The item that moves most, by how many standard errors.
fn farthest(moves: &[Moved]) -> Option<(&str, f64)> {
    let largest = moves.iter().filter_map(|moved| Some((moved.item.as_str(), moved.largest()?)));
    largest.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn fits(found: &SensitivityTable) -> Frame {
    let row = |name: &str, fit: &Fit, moves: &[Moved]| {
        let reliability =
            fit.diagnostics.as_ref().and_then(|found| Some(found.reliability.as_ref()?.empirical));
        let (item, change) = farthest(moves).map_or(("", None), |(item, change)| (item, Some(change)));
        vec![
            Cell::Text(name.to_owned()),
            Cell::Count(Some(fit.n)),
            Cell::Flag(fit.converged == Some(true)),
            Cell::Number(fit.loglik),
            Cell::Number(reliability),
            Cell::Number(change),
            Cell::Text(item.to_owned()),
        ]
    };
    let headers = ["fit", "n", "converged", "loglik", "reliability", "largest_change_in_se", "of_item"];
    let variants =
        found.variants.iter().map(|variant| row(&variant.name, &variant.fit, &found.moves(variant)));
    let rows = std::iter::once(row("as it is", &found.base, &[])).chain(variants);
    Frame::of_rows(headers.map(str::to_owned).to_vec(), rows)
}

fn items(found: &SensitivityTable) -> Frame {
    let headers = ["fit", "item", "a", "a_there", "a_change_in_se", "b", "b_there", "b_change_in_se"];
    let cells = |change: Option<[f64; 3]>| {
        let numbers = change.map(|[here, there, se]| [here, there, (there - here) / se]);
        [0, 1, 2].map(|at| Cell::Number(numbers.map(|numbers| numbers[at])))
    };
    let rows = found.variants.iter().flat_map(|variant| {
        found.moves(variant).into_iter().map(|moved| {
            let names = [Cell::Text(variant.name.clone()), Cell::Text(moved.item.clone())];
            names.into_iter().chain(cells(moved.slope)).chain(cells(moved.location)).collect()
        })
    });
    Frame::of_rows(headers.map(str::to_owned).to_vec(), rows)
}
