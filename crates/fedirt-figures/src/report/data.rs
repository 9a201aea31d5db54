//! What the script needs to draw any item: parameters and observed points as compact JSON.

use fedirt_model::fit::{Fit, FitItem};
use serde_json::{Value, json};

use crate::canvas::Ink;
use crate::characteristic::{ABOUT_BAND, ABOUT_POINTS};
use crate::figure::withheld;
use crate::{observed, shape};

/// Writes the data into the page, where it is text and cannot become markup or script.
pub(super) fn embed(out: &mut String, fit: &Fit) {
    let (low, high) = shape::range(fit);
    let items: Vec<Value> = (0..fit.items.len()).map(|index| item(fit, index)).collect();
    let ramp = [0, 1, 2, 3, 4].map(|step| Ink::Ramp(step).css());
    let all = json!({
        "range": [low, high],
        "points": shape::POINTS,
        "notes": {
            "points": ABOUT_POINTS,
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
        },
        "items": items,
    });
    out.push_str("<script type=\"application/json\" id=\"data\">");
    out.push_str(&safe(&all.to_string()));
    out.push_str("</script>\n");
}

/// JSON that may stand inside a script element: no `<` at all, so neither `</script` nor `<!--`, and no line
/// separators, which older JavaScript reads as line ends.
fn safe(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn item(fit: &Fit, index: usize) -> Value {
    let item: &FitItem = &fit.items[index];
    let codes: Vec<String> = (0..item.categories).map(|c| shape::category(item, c)).collect();
    let Some(psi) = shape::parameters(item) else {
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
        "graded": item.model == "grm",
        "codes": codes,
        "psi": psi.iter().map(|v| rounded(*v, 5)).collect::<Vec<_>>(),
        "b": item.b.first().copied().flatten().map(|b| rounded(b, 4)),
        "cov": shape::covariance(item).map(|c| c.map(|v| rounded(v, 7))),
        "observed": points,
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
