//! What stands out between groups and between sites, in sentences.

use crate::diagnostics::findings::some;
use crate::fit::{Dif, SiteHeterogeneity, Warning};

/// Items that work differently in a group.
pub(crate) fn flagged_items(rows: &[Dif], reference: &str) -> Option<Warning> {
    let flagged: Vec<&Dif> = rows.iter().filter(|row| row.flagged).collect();
    if flagged.is_empty() {
        return None;
    }
    let told = |row: &&Dif| {
        let harder = row.delta_mh.map(|delta| delta < 0.0).or(row.smd.map(|smd| smd < 0.0));
        let direction = if harder.unwrap_or(false) { "harder" } else { "easier" };
        format!("{} ({direction} for {}, class {})", row.item, row.group, row.ets.as_deref().unwrap_or("B"))
    };
    Some(Warning {
        code: "dif".into(),
        message: format!(
            "at equal sum scores, answers to {} differ from those of {reference} by more than chance and by enough to matter (ETS class B or C, adjusted p below 0.05). Look at wording, translation and content; if the difference has nothing to do with what the test measures, leave the item out or give it parameters of its own in each group, with the other items as anchors",
            some(flagged.iter().map(told))
        ),
    })
}

/// Items whose parameters differ between sites.
pub(crate) fn flagged_sites(rows: &[SiteHeterogeneity]) -> Option<Warning> {
    let flagged: Vec<&SiteHeterogeneity> = rows.iter().filter(|row| row.stands_out()).collect();
    (!flagged.is_empty()).then(|| Warning {
        code: "site_heterogeneity".into(),
        message: format!(
            "sites differ in {} by more than their students' ability explains (more than half of what is seen is no chance): one set of parameters does not hold for all of them. Ask the sites how these items were taught, translated or given; each site can compare its own answers with the common parameters at home",
            some(flagged.iter().map(|row| format!("{} (I² {:.0} %)", row.item, 100.0 * row.i2)))
        ),
    })
}
