//! Items without finite estimates leave the likelihood: what maximises it with them in it is no maximum, and pulls at the
//! other items.
//!
//! This is done where all sites are in one process, by a second calibration without these items. Over a network sites answer
//! about one set of items only, because the difference between two sets would show sums of single items.

use crate::fit::FitError;
use fedirt_data::text::listed;
use fedirt_model::centre::Plan;
use fedirt_model::fit::{FitItem, Warning};
use fedirt_model::responses::{ResponseTable, TableError};
use fedirt_protocol::coordinator::Finished;
use fedirt_protocol::in_process::{self, Observer, Setting, SiteAfter};
use rand::CryptoRng;

/// Passes at most: leaving one item out can take the estimates of another away.
const PASSES: usize = 3;
/// Fewest items that stay.
const FEWEST_ITEMS: usize = 3;

/// A calibration that came to its end, with the columns of the tables that it leaves behind.
pub(crate) struct Ended {
    pub(crate) finished: Finished,
    pub(crate) sites: Vec<SiteAfter>,
    /// The items of the tables' columns, as places in the plan.
    pub(crate) columns: Vec<usize>,
}

/// Calibrates, and once more without items whose estimates are not finite, until all are.
pub(crate) fn run(
    setting: &Setting,
    plan: &Plan,
    sites: Vec<(String, ResponseTable)>,
    random: &mut impl CryptoRng,
    observer: &mut dyn Observer,
) -> Result<Ended, FitError> {
    let names: Vec<String> = sites.iter().map(|(name, _)| name.clone()).collect();
    let (finished, sites) = in_process::run_as(setting.clone(), plan.clone(), sites, random, observer)?;
    let mut ended = Ended { finished, sites, columns: (0..plan.items.len()).collect() };
    // Noisy sums have priors, which keep all estimates finite.
    if setting.private.is_some() {
        return Ok(ended);
    }
    let mut left_out: Vec<(usize, FitItem)> = Vec::new();
    for _ in 1..PASSES {
        let endless = |item: &FitItem| item.n.is_some() && !item.fixed && item.estimates().is_none();
        let items = &ended.finished.fit.items;
        let (out, stay): (Vec<usize>, Vec<usize>) = (0..items.len()).partition(|at| endless(&items[*at]));
        if out.is_empty() || stay.len() < FEWEST_ITEMS {
            break;
        }
        let found: Vec<(usize, FitItem)> =
            out.iter().map(|at| (ended.columns[*at], items[*at].clone())).collect();
        let columns: Vec<usize> = stay.iter().map(|at| ended.columns[*at]).collect();
        let smaller =
            Plan { items: columns.iter().map(|at| plan.items[*at].clone()).collect(), ..plan.clone() };
        let tables: Result<Vec<ResponseTable>, TableError> =
            ended.sites.iter().map(|site| with_columns(&site.table, &stay)).collect();
        let named = names.iter().cloned().zip(tables?).collect();
        let (finished, sites) = in_process::run_as(setting.clone(), smaller, named, random, observer)?;
        left_out.extend(found);
        ended = Ended { finished, sites, columns };
    }
    if !left_out.is_empty() {
        left_out.sort_by_key(|(place, _)| *place);
        say(&mut ended.finished, left_out);
    }
    Ok(ended)
}

/// Some columns of a table.
fn with_columns(table: &ResponseTable, columns: &[usize]) -> Result<ResponseTable, TableError> {
    let mut cells = Vec::with_capacity(table.students() * columns.len());
    for row in table.rows() {
        cells.extend(columns.iter().map(|column| row[*column]));
    }
    table.with_cells(columns.len(), cells)
}

/// Puts the items that were left out back to their places in the fit, without estimates, and says so.
fn say(finished: &mut Finished, left_out: Vec<(usize, FitItem)>) {
    let names: Vec<&str> = left_out.iter().map(|(_, item)| item.name.as_str()).collect();
    let message = format!(
        "left out of the likelihood, because their slopes go beyond what the grid can resolve, if they are finite at all: {}; all other items were estimated again without them (--nodes 241 resolves steeper slopes)",
        listed(&names)
    );
    finished.fit.warnings.insert(0, Warning { code: "items_left_out".to_owned(), message });
    for (place, item) in left_out {
        finished.fit.items.insert(place, item);
    }
}
