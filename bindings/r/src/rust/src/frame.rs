//! Columns of the library as a named list, of which R makes a data frame.

use extendr_api::prelude::*;
use fedirt_bindings::{Cells, Frame};

/// The columns of a frame.
pub(crate) fn columns(frame: Frame) -> Robj {
    let column = |cells: Cells| -> Robj {
        match cells {
            Cells::Text(texts) => texts.into(),
            Cells::Count(counts) => self::counts(&counts),
            Cells::Number(numbers) => {
                let number = |x: Option<f64>| x.map_or_else(Rfloat::na, Rfloat::from);
                numbers.into_iter().map(number).collect::<Doubles>().into()
            }
            Cells::Flag(flags) => flags.into_iter().map(Rbool::from).collect::<Logicals>().into(),
        }
    };
    List::from_pairs(frame.columns.into_iter().map(|(name, cells)| (name, column(cells)))).into()
}

/// Whole numbers: integers of R, unless one is too large.
fn counts(counts: &[Option<u64>]) -> Robj {
    let small: Option<Vec<Option<i32>>> =
        counts.iter().map(|count| count.map_or(Some(None), |x| i32::try_from(x).ok().map(Some))).collect();
    match small {
        Some(small) => {
            let number = |x: Option<i32>| x.map_or_else(Rint::na, Rint::from);
            small.into_iter().map(number).collect::<Integers>().into()
        }
        None => {
            let number = |x: &Option<u64>| x.map_or_else(Rfloat::na, |x| Rfloat::from(x as f64));
            counts.iter().map(number).collect::<Doubles>().into()
        }
    }
}
