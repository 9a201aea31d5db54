//! What the script needs to draw any item: its curves and observed points as compact JSON.

use fedirt_model::fit::{Fit, FitItem};
use fedirt_model::items::Role;
use serde_json::{Value, json};

use crate::canvas::Ink;
use crate::characteristic::{ABOUT_BAND, ABOUT_BARE_POINTS, ABOUT_POINTS};
use crate::figure::withheld;
use crate::shape::Shape;
use crate::{observed, shape};

/// The data as text for a script element, where it cannot become markup or script.
pub(super) fn json(fit: &Fit) -> String {
    let (low, high) = shape::range(fit);
    let items: Vec<Value> = (0..fit.items.len()).map(|index| item(fit, index)).collect();
    let ramp = [0, 1, 2, 3, 4].map(|step| Ink::Ramp(step).css());
    let series = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| Ink::Series(n).css());
    let all = json!({
        "range": [low, high],
        "points": shape::POINTS,
        "notes": {
            "points": ABOUT_POINTS,
            "bare": ABOUT_BARE_POINTS,
            "band": ABOUT_BAND,
            "withheld": withheld(&fit.mode, "observed shares by ability"),
        },
        "ink": {
            "text": Ink::Text.css(),
            "muted": Ink::Muted.css(),
            "rule": Ink::Rule.css(),
            "accent": Ink::Accent.css(),
            "paper": Ink::Paper.css(),
            "ramp": ramp,
            "series": series,
        },
        "items": items,
    });
    safe(&all.to_string())
}

/// JSON that may stand inside a script element: no `<` at all, so neither `</script` nor `<!--`, and no line
/// separators, which older JavaScript reads as line ends.
fn safe(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn item(fit: &Fit, index: usize) -> Value {
    let item: &FitItem = &fit.items[index];
    let codes: Vec<String> = (0..item.categories).map(|c| item.category_name(c)).collect();
    let Some(shape) = shape::shape(item, &shape::grid(fit, shape::POINTS)) else {
        return json!({"name": item.name, "why": shape::no_estimates(item)});
    };
    let points: Option<Vec<Vec<f64>>> = observed::points(fit, index).map(|points| {
        points
            .iter()
            .map(|p| {
                let head = [rounded(p.ability, 3), rounded(p.weight, 1)];
                head.into_iter().chain(p.shares.iter().map(|s| rounded(*s, 4))).collect()
            })
            .collect()
    });
    json!({
        "name": item.name,
        "codes": codes,
        "curves": curves(item, &shape),
        "b": item.b.first().copied().flatten().map(|b| rounded(b, 4)),
        "band": shape::band(item).map(|(psi, covariance)| [&psi[..], &covariance[..]].concat().iter().map(|v| rounded(*v, 7)).collect::<Vec<_>>()),
        "observed": points,
    })
}

/// An item's curves: a slope and an intercept for each category where its model is linear in them, which is short;
/// otherwise the probabilities (in thousandths; the lowest category is what the others leave) and the information.
fn curves(item: &FitItem, shape: &Shape) -> Value {
    if let Some((model, psi)) = item.estimates()
        && let Some(weights) = model.category_weights(item.categories)
    {
        let roles = model.parameters(item.categories);
        let sum = |c: usize, slopes: bool| -> f64 {
            let wanted = |r: &usize| matches!(roles[*r].role, Role::Slope { .. }) == slopes;
            (0..psi.len()).filter(wanted).map(|r| psi[r] * weights[r][c]).sum()
        };
        let line = |c: usize| [rounded(sum(c, true), 5), rounded(sum(c, false), 5)];
        return json!({"lines": (0..item.categories).map(line).collect::<Vec<_>>()});
    }
    let thousandths = |p: &Vec<f64>| p.iter().map(|p| (p * 1000.0).round() as i64).collect::<Vec<_>>();
    json!({
        "p": shape.probability[1..].iter().map(thousandths).collect::<Vec<_>>(),
        "information": shape.information.iter().map(|v| rounded(*v, 4)).collect::<Vec<_>>(),
    })
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let unit = 10f64.powi(decimals);
    (value * unit).round() / unit
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn data_cannot_close_its_element() {
        let text = safe("{\"a\":\"</script><!--\u{2028}\"}");
        assert_eq!(text, "{\"a\":\"\\u003c/script>\\u003c!--\\u2028\"}");
    }
}
