//! Pictures of a fit by their names, as SVG that stands alone.

use crate::failure::{Failure, Found, Kind};
use crate::options::OptionProblem;
use fedirt::figures::{self, Figure};
use fedirt::{Errors, Fit};

/// The pictures of a fit: the names, and what each shows. Those of items come first.
pub const PICTURES: [(&str, &str); 13] = [
    ("trace", "characteristic curves of an item with the observed answers"),
    ("item_information", "information of an item about ability"),
    ("information", "information of the test, and the standard error of ability"),
    ("score", "expected score by ability"),
    ("wright", "abilities and difficulties on one scale"),
    ("items", "parameters of the items with their intervals"),
    ("ability", "the distribution of ability"),
    ("sites", "effects of sites with their intervals"),
    ("q3", "correlations of residuals"),
    ("scree", "eigenvalues of the residual correlations: is there one dimension?"),
    ("group_differences", "how differently items work in groups of students"),
    ("site_influence", "how far each site moves the estimates"),
    ("convergence", "gradients and log-likelihood round by round"),
];

type OfItem = fn(&Fit, usize) -> Figure;

fn item_figure(name: &str) -> Option<OfItem> {
    match name {
        "trace" => Some(figures::characteristic_curves),
        "item_information" => Some(figures::item_information),
        _ => None,
    }
}

fn fit_figure(fit: &Fit, name: &str) -> Option<Figure> {
    Some(match name {
        "information" => figures::test_information(fit),
        "score" => figures::expected_score(fit),
        "wright" => figures::wright_map(fit),
        "items" => figures::item_parameters(fit),
        "ability" => figures::ability_density(fit),
        "sites" => figures::site_effects(fit),
        "q3" => figures::residual_correlations(fit),
        "scree" => figures::scree(fit),
        "group_differences" => figures::group_differences(fit),
        "site_influence" => figures::site_influence(fit),
        "convergence" => figures::convergence(&fit.trace, &fit.mode),
        _ => return None,
    })
}

/// Draws a picture of a fit. Pictures of items show those that are named, all of them if none is, one below the other.
pub fn picture(fit: &Fit, name: &str, items: &[String]) -> Result<String, Failure> {
    let Some(of_item) = item_figure(name) else {
        let figure = fit_figure(fit, name).ok_or_else(|| unknown(name))?;
        if !items.is_empty() {
            let (option, needs) = ("items".to_owned(), "pictures of items");
            return Err(Errors::from(OptionProblem::Unused { option, needs }).into());
        }
        return svg(&figure);
    };
    let place = |item: &String| fit.items.iter().position(|own| own.name == *item);
    let stranger = |item: &String| Found {
        column: Some(item.clone()),
        message: format!("there is no item {item} in this fit"),
        ..Found::default()
    };
    let strangers: Vec<Found> = items.iter().filter(|item| place(item).is_none()).map(stranger).collect();
    if !strangers.is_empty() {
        return Err(Failure::of(Kind::Option, strangers));
    }
    let chosen: Vec<usize> = items.iter().filter_map(place).collect();
    let chosen = if items.is_empty() { (0..fit.items.len()).collect() } else { chosen };
    let drawn = chosen.into_iter().map(|item| {
        let figure = of_item(fit, item);
        Ok((svg(&figure)?, figure.title))
    });
    Ok(stacked(&drawn.collect::<Result<Vec<_>, Failure>>()?))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = PICTURES.iter().map(|(name, _)| *name).collect();
    let (option, value) = ("type".to_owned(), format!("{name:?}"));
    Errors::from(OptionProblem::Value { option, value, needed: format!("one of {}", names.join(", ")) })
        .into()
}

/// The drawing, or why there is none.
pub(crate) fn svg(figure: &Figure) -> Result<String, Failure> {
    match &figure.missing {
        Some(why) => Err(Failure::new(Kind::Calibration, why.clone())),
        None => Ok(figure.standalone()),
    }
}

/// Room for a title above a drawing.
const TITLE: f64 = 30.0;

/// Drawings with their titles, one below the other in a single one.
fn stacked(drawings: &[(String, String)]) -> String {
    let (mut width, mut height, mut inner) = (0.0_f64, 0.0, String::new());
    for (drawing, title) in drawings {
        let size = drawing.split_once("viewBox=\"0 0 ").and_then(|(_, rest)| rest.split_once('"'));
        let sides: Vec<f64> =
            size.map(|(size, _)| size.split(' ').flat_map(str::parse).collect()).unwrap_or_default();
        let [w, h] = sides[..] else { continue };
        inner.push_str(&format!(
            "<g transform=\"translate(0 {height})\"><text x=\"0\" y=\"18\" font-family=\"sans-serif\" font-size=\"15\" \
             font-weight=\"600\" fill=\"#1b1f24\">{}</text></g>\n<g transform=\"translate(0 {})\">{}</g>\n",
            figures::escape(title),
            height + TITLE,
            sized(drawing, w, h)
        ));
        (width, height) = (width.max(w), height + TITLE + h);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n{inner}</svg>"
    )
}

/// A drawing with a size of its own, which one within another needs.
fn sized(drawing: &str, width: f64, height: f64) -> String {
    match drawing.strip_prefix("<svg ") {
        Some(rest) if !rest.split('>').next().unwrap_or_default().contains(" height=") => {
            format!("<svg width=\"{width}\" height=\"{height}\" {rest}")
        }
        _ => drawing.to_owned(),
    }
}
