//! What should be looked at, item by item, in a word or two.

use fedirt_model::fit::Fit;
use std::collections::BTreeMap;

/// A remark about an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flag {
    /// In a word or two.
    pub(super) word: String,
    /// The number that it rests on.
    pub(super) why: String,
}

/// Remarks by the items' names.
pub(super) fn flags(fit: &Fit) -> BTreeMap<&str, Vec<Flag>> {
    let mut out: BTreeMap<&str, Vec<Flag>> = BTreeMap::new();
    for item in &fit.items {
        // A distractor that able students choose more often may be a second right answer, or the key is wrong.
        let reversed = item.options.iter().find(|o| o.code == 0 && o.item_rest_r.is_some_and(|r| r > 0.1));
        if let Some(option) = reversed {
            let why = format!(
                "option {} correlates {:.2} with the other items",
                option.option,
                option.item_rest_r.unwrap_or_default()
            );
            out.entry(&item.name).or_default().push(Flag { word: "check the key".into(), why });
        }
    }
    let Some(found) = &fit.diagnostics else { return out };
    let mut say = |item, word: String, why: String| out.entry(item).or_default().push(Flag { word, why });
    for item in found.item_fit.iter().flatten() {
        let name = item.item.as_str();
        if let Some(infit) = item.infit.filter(|_| item.scatters()) {
            say(name, "scatters".into(), format!("infit {infit:.2}"));
        }
        if item.leaves_its_curve() {
            let rmsea = item.rmsea_s_x2.unwrap_or_default();
            say(name, "leaves its curve".into(), format!("S-X², RMSEA {rmsea:.3}"));
        }
    }
    for (one, other, r) in found.q3.iter().flat_map(|q3| &q3.flagged) {
        for (item, with) in [(one, other), (other, one)] {
            say(item, format!("goes with {with}"), format!("Q3 {r:.2}"));
        }
    }
    for row in found.dif.iter().flatten().filter(|row| row.flagged) {
        let class = row.ets.as_deref().unwrap_or("B");
        say(&row.item, format!("differs for {}", row.group), format!("class {class}"));
    }
    for row in found.site_heterogeneity.iter().flatten().filter(|row| row.stands_out()) {
        say(&row.item, "differs between sites".into(), format!("I² {:.0} %", 100.0 * row.i2));
    }
    out
}
