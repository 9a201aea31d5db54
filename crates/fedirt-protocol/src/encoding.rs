//! Summaries as ring elements, and back.

use crate::declaration::Bounds;
use fedirt_model::exchange::Request;
use fedirt_model::questions::{Named, Per, ReplyError, Summary, Tensor};
use fedirt_model::statistics::Combination;
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
    /// The answer is not what its question declares.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// There are more or fewer words than the question asks for.
    #[error("the answer has {got} numbers, and the question asks for {want}")]
    Shape {
        /// Numbers given.
        got: usize,
        /// Numbers asked for.
        want: usize,
    },
}

/// How many digits of a number leave a site.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Precision {
    /// As many as there is room for (`plain`: the coordinator sees each site's numbers anyway).
    Full,
    /// Only as many as the estimates need (`secure`). The further digits of a sum over sites with effects of their own tell
    /// which rows were at the same site.
    Needed {
        /// The gradient per student at which the calibration stops.
        tolerance: f64,
    },
}

/// A tolerance below this asks `secure` for digits that no estimate needs.
pub const FINEST_TOLERANCE: f64 = 1e-8;

impl Precision {
    /// The step of a sum over `count` contributions from this many sites.
    ///
    /// A tenth of the tolerance lets the maximisation see that it may stop. Rounding errors of K sites add up to
    /// step·√(K/12), and a gradient's own spread is of the order √count: 3e-6·√(count / K) keeps what they move in an
    /// estimate below 1e-4 of its standard error (tests `secure.rs`).
    fn step(self, count: f64, sites: f64) -> Option<f64> {
        match self {
            Self::Full => None,
            Self::Needed { tolerance } => {
                let enough = 0.1 * tolerance.max(FINEST_TOLERANCE) * count;
                Some(enough.min(3e-6 * count.sqrt()) / sites.max(1.0).sqrt())
            }
        }
    }
}

/// The fixed-point format of a tensor: its bound on one contribution, times how many contributions there are.
///
/// Weights are scaled to add up to the number of students, so sums that are linear in them have the bound of that many
/// students.
fn format(
    request: &Request,
    bounds: Bounds,
    precision: Precision,
    tensor: &Tensor,
) -> Result<FixedPoint, EncodingError> {
    let (students, sites) = (bounds.students as f64, bounds.sites as f64);
    let count = match tensor.bound.per {
        Per::Student => students,
        Per::Site => sites,
        Per::SquaredWeight => students * bounds.largest_weight as f64,
        Per::StudentPair => students * students,
    };
    // Twice the bound where weights are scaled: their sum is the number of students only up to rounding.
    let room = if request.weighted { 2.0 } else { 1.0 };
    let format = FixedPoint::for_bound(tensor.bound.largest * count.max(1.0) * room)
        .map_err(|error| EncodingError::FixedPoint { statistic: tensor.statistic.name, error })?;
    // What is told by name is told to be read.
    let step = match tensor.statistic.combination {
        Combination::Sum => precision.step(count.max(1.0), sites),
        Combination::BySite => None,
    };
    Ok(step.map_or(format, |step| format.no_finer_than(step)))
}

/// A site's numbers as ring elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Those that are added up, tensor after tensor.
    pub summed: Vec<u64>,
    /// Those that are kept by name.
    pub by_name: Vec<u64>,
}

fn tensors(request: &Request, combination: Combination) -> Vec<Tensor> {
    request.tensors().into_iter().filter(|tensor| tensor.statistic.combination == combination).collect()
}

/// How many numbers are added up.
pub fn summed_len(request: &Request) -> usize {
    tensors(request, Combination::Sum).iter().map(Tensor::len).sum()
}

/// The step to which each number of an answer is rounded before it leaves a site, tensor after tensor.
pub fn steps(request: &Request, bounds: Bounds, precision: Precision) -> Result<Vec<f64>, EncodingError> {
    let mut steps = Vec::new();
    for tensor in request.tensors() {
        steps.extend(std::iter::repeat_n(format(request, bounds, precision, &tensor)?.step(), tensor.len()));
    }
    Ok(steps)
}

/// A site's numbers as ring elements.
pub fn encode(
    request: &Request,
    bounds: Bounds,
    precision: Precision,
    summary: &Summary,
) -> Result<Encoded, EncodingError> {
    let mut encoded = Encoded { summed: vec![0; summed_len(request)], by_name: Vec::new() };
    encoded.add(request, bounds, precision, summary)?;
    Ok(encoded)
}

impl Encoded {
    /// Adds a site's numbers to sums over other sites; those that are kept by name replace what is there.
    pub(crate) fn add(
        &mut self,
        request: &Request,
        bounds: Bounds,
        precision: Precision,
        summary: &Summary,
    ) -> Result<(), EncodingError> {
        self.by_name.clear();
        let mut rest = self.summed.as_mut_slice();
        for (tensor, numbers) in summary.tensors() {
            let format = format(request, bounds, precision, tensor)?;
            let added = match tensor.statistic.combination {
                Combination::Sum => {
                    let got = numbers.len();
                    let want = rest.len();
                    let (mine, after) =
                        rest.split_at_mut_checked(got).ok_or(EncodingError::Shape { got, want })?;
                    rest = after;
                    format.add(numbers, mine)
                }
                Combination::BySite => format.encode(numbers).map(|words| self.by_name.extend(words)),
            };
            added.map_err(|error| EncodingError::FixedPoint { statistic: tensor.statistic.name, error })?;
        }
        Ok(())
    }
}

/// Ring elements (one site's, or a sum) as numbers, one vector per tensor of a kind.
pub fn decode(
    request: &Request,
    bounds: Bounds,
    precision: Precision,
    combination: Combination,
    words: &[u64],
) -> Result<Named, EncodingError> {
    let tensors = tensors(request, combination);
    let want: usize = tensors.iter().map(Tensor::len).sum();
    if words.len() != want {
        return Err(EncodingError::Shape { got: words.len(), want });
    }
    let mut rest = words;
    tensors
        .iter()
        .map(|tensor| {
            let (mine, after) = rest.split_at(tensor.len());
            rest = after;
            Ok((tensor.statistic, format(request, bounds, precision, tensor)?.decode(mine)))
        })
        .collect()
}
