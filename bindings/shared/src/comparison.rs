//! Fits side by side, as columns.

use crate::failure::{Failure, Kind};
use crate::frame::Frame;
use crate::options::Options;
use crate::pictures;
use fedirt::results::tables::Cell;
use fedirt::{DriftLimits, Fit, Link, LinkMethod, compare, figures, likelihood_ratio, link};

/// Compares fits: the fits themselves, the likelihood ratios of neighbours, and the items of the first beside those of each other
/// one. With the option `link` (`stocking-lord`, `haebara` or `mean-sigma`) the others are brought to the scale of the first, and
/// items that drift are flagged.
pub fn compared(fits: &[(String, Fit)], options: &Options) -> Result<[(&'static str, Frame); 4], Failure> {
    let method = options.read(|fields| fields.choice("link", &LinkMethod::ALL, LinkMethod::name))?;
    let text = |text: &str| Cell::Text(text.to_owned());
    let [(first_name, first), others @ ..] = fits else {
        return Err(Failure::new(Kind::Option, "there is no fit to compare"));
    };
    let about = fits.iter().map(|(name, fit)| {
        let mut row = vec![text(name), text(&fit.model), text(&fit.effects)];
        row.extend([Cell::Count(Some(fit.n)), Cell::Count(Some(fit.npar as u64))]);
        row.extend([fit.loglik, fit.aic, fit.bic, fit.sabic].map(Cell::Number));
        row
    });
    let headers = ["fit", "model", "effects", "n", "npar", "loglik", "AIC", "BIC", "SABIC"];
    let about = frame(&headers, about.collect());
    let tests = fits.windows(2).map(|pair| {
        let [(one_name, one), (other_name, other)] = pair else { return Vec::new() };
        let names = [text(one_name), text(other_name)];
        let (numbers, why) = match likelihood_ratio(one, other) {
            Ok(ratio) => {
                let boundary = if ratio.on_boundary {
                    "a variance of zero is a boundary, so p is about twice what it should be"
                } else {
                    ""
                };
                ([Some(ratio.statistic), Some(ratio.df as f64), Some(ratio.p)], boundary.to_owned())
            }
            Err(why) => ([None; 3], why.to_string()),
        };
        names.into_iter().chain(numbers.map(Cell::Number)).chain([Cell::Text(why)]).collect()
    });
    let tests = frame(&["fit", "other", "X2", "df", "p", "remark"], tests.collect());
    let (mut items, mut links) = (Vec::new(), Vec::new());
    for (name, other) in others {
        let found = linked(method, first, other)?;
        if let Some(found) = &found {
            let numbers = [found.slope, found.intercept, found.criterion];
            let row = [text(first_name), text(name), text(found.method.name())];
            links.push(row.into_iter().chain(numbers.map(|x| Cell::Number(Some(x)))).collect());
        }
        items.extend(item_rows(name, first, other, found.as_ref()));
    }
    let headers = [
        "fit",
        "item",
        "a",
        "se_a",
        "b",
        "se_b",
        "a_other",
        "se_a_other",
        "b_other",
        "se_b_other",
        "rmsd",
        "drifts",
    ];
    let links = frame(&["fit", "other", "method", "slope", "intercept", "criterion"], links);
    Ok([("fits", about), ("tests", tests), ("items", frame(&headers, items)), ("links", links)])
}

fn linked(method: Option<LinkMethod>, first: &Fit, other: &Fit) -> Result<Option<Link>, Failure> {
    let Some(method) = method else { return Ok(None) };
    let found = link(first, other, method, DriftLimits::default());
    found.map(Some).map_err(|error| Failure::new(Kind::Calibration, error.to_string()))
}

fn frame(headers: &[&str], rows: Vec<Vec<Cell>>) -> Frame {
    Frame::of_rows(headers.iter().map(|header| (*header).to_owned()).collect(), rows)
}

/// Items of both fits; those of the other one on its own scale.
fn item_rows(name: &str, first: &Fit, other: &Fit, found: Option<&Link>) -> Vec<Vec<Cell>> {
    let pair = compare(first, other);
    let drift = |item: &str| found?.drift.iter().find(|drift| drift.item == item);
    let row = |item: &fedirt_model::comparison::ItemPair| {
        let mut row = vec![Cell::Text(name.to_owned()), Cell::Text(item.name.clone())];
        for fit in [0, 1] {
            for number in [item.slope[fit], item.location[fit]] {
                row.extend([number.map(|x| x.value), number.and_then(|x| x.se)].map(Cell::Number));
            }
        }
        let drift = drift(&item.name);
        row.push(Cell::Number(drift.map(|drift| drift.rmsd)));
        row.push(Cell::Flag(drift.is_some_and(|drift| drift.flagged)));
        row
    };
    pair.items.iter().map(row).collect()
}

/// The difficulties of two fits against each other, as SVG.
pub fn compared_picture(
    one: (&str, &Fit),
    other: (&str, &Fit),
    options: &Options,
) -> Result<String, Failure> {
    let method = options.read(|fields| fields.choice("link", &LinkMethod::ALL, LinkMethod::name))?;
    let found = linked(method, one.1, other.1)?;
    pictures::svg(&figures::difficulties(one.1, other.1, [one.0, other.0], found.as_ref()))
}
