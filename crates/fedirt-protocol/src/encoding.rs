//! Summaries as ring elements, and back.

use crate::declaration::Bounds;
use fedirt_model::exchange::{Effects, Request, Slot, Summary};
use fedirt_model::statistics::{Combination, Statistic};
use fedirt_privacy::fixed_point::{FixedPoint, FixedPointError};

/// Why a summary cannot be encoded, or words not decoded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EncodingError {
    /// A number does not fit.
    #[error("{statistic}: {error}")]
    FixedPoint {
        /// Statistic.
        statistic: &'static str,
        /// Why.
        error: FixedPointError,
    },
    /// The answer has another shape than the question's schema.
    #[error("the answer has {got} numbers, and the question asks for {want}")]
    Shape {
        /// Numbers given.
        got: usize,
        /// Numbers asked for.
        want: usize,
    },
}

/// The format of a slot: its bound per student or site, times how many there are.
///
/// Weights are scaled to add up to the number of students, so sums that are linear in them have the bound of that many
/// students. Products of scores carry squared weights, and with random effects whole sites take the place of students.
fn format(request: &Request, bounds: Bounds, slot: Slot) -> Result<FixedPoint, EncodingError> {
    let (students, sites) = (bounds.students as f64, bounds.sites as f64);
    let count = match slot.statistic {
        Statistic::ScoreProducts if request.effects == Effects::Random => students * students,
        Statistic::ScoreProducts => students * bounds.largest_weight as f64,
        statistic if statistic.per_site() => sites,
        _ => students,
    };
    // Twice the bound where weights are scaled: their sum is the number of students only up to rounding.
    let room = if request.weighted { 2.0 } else { 1.0 };
    FixedPoint::for_bound(slot.statistic.bound(&request.design) * count.max(1.0) * room)
        .map_err(|error| EncodingError::FixedPoint { statistic: slot.statistic.info().name, error })
}

/// A site's numbers as ring elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Those that are added up, slot after slot.
    pub summed: Vec<u64>,
    /// Those that are kept by name.
    pub by_name: Vec<u64>,
}

fn slots(request: &Request, combination: Combination) -> Vec<Slot> {
    let mine = |slot: &Slot| slot.statistic.info().combination == combination;
    request.schema().into_iter().filter(mine).collect()
}

/// How many numbers are added up.
pub fn summed_len(request: &Request) -> usize {
    slots(request, Combination::Sum).iter().map(|slot| slot.len).sum()
}

/// A site's numbers as ring elements.
pub fn encode(request: &Request, bounds: Bounds, summary: &Summary) -> Result<Encoded, EncodingError> {
    let schema = request.schema();
    let want = schema.iter().map(|s| s.len).sum();
    let fits = schema.len() == summary.vectors.len()
        && schema.iter().zip(&summary.vectors).all(|(slot, v)| slot.len == v.len());
    if !fits {
        return Err(EncodingError::Shape { got: summary.vectors.iter().map(Vec::len).sum(), want });
    }
    let mut encoded = Encoded { summed: Vec::with_capacity(want), by_name: Vec::new() };
    for (slot, vector) in schema.iter().zip(&summary.vectors) {
        let info = slot.statistic.info();
        let words = format(request, bounds, *slot)?
            .encode(vector)
            .map_err(|error| EncodingError::FixedPoint { statistic: info.name, error })?;
        match info.combination {
            Combination::Sum => encoded.summed.extend(words),
            Combination::BySite => encoded.by_name.extend(words),
        }
    }
    Ok(encoded)
}

/// Ring elements (one site's, or a sum) as numbers, one vector per slot of a kind.
pub fn decode(
    request: &Request,
    bounds: Bounds,
    combination: Combination,
    words: &[u64],
) -> Result<Vec<(Statistic, Vec<f64>)>, EncodingError> {
    let slots = slots(request, combination);
    let want: usize = slots.iter().map(|s| s.len).sum();
    if words.len() != want {
        return Err(EncodingError::Shape { got: words.len(), want });
    }
    let mut rest = words;
    slots
        .iter()
        .map(|slot| {
            let (mine, after) = rest.split_at(slot.len);
            rest = after;
            Ok((slot.statistic, format(request, bounds, *slot)?.decode(mine)))
        })
        .collect()
}
