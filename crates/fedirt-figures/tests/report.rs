//! The report as a file: it asks for nothing, hides nothing, and stays small.

mod common;

use common::Plan;
use fedirt_figures::report;
use fedirt_model::fit::Warning;

/// Addresses in a page other than the name of the SVG format, which nothing ever fetches.
fn addresses(page: &str) -> usize {
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    ["http://", "https://", "src=\"//", "href=\"//", "url(", "@import", "<link"]
        .iter()
        .map(|what| rest.matches(what).count())
        .sum()
}

#[test]
fn reports_ask_for_nothing() {
    for fit in [common::fit(Plan::default()), common::troubled(), common::withheld()] {
        let page = report(&fit);
        assert_eq!(addresses(&page), 0);
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("NaN\"") && !page.contains(">NaN<") && !page.contains(">inf<"));
    }
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    let page = report(&common::troubled());
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for (i, id) in ids.iter().enumerate() {
        assert!(!ids[..i].contains(id), "{id} twice");
    }
    for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&target), "{target} is missing");
    }
}

#[test]
fn the_summary_holds_what_readers_look_for() {
    let mut fit = common::fit(Plan::default());
    fit.seed = Some(4711);
    let page = report(&fit);
    for name in [
        "Model",
        "Sites",
        "Students, N",
        "n per item",
        "Log-likelihood",
        "Deviance",
        "Parameters",
        "AIC",
        "BIC",
        "SABIC",
        "Rounds",
        "Exchanges",
        "Numbers sent",
        "Max. change",
        "Max. gradient",
        "SE type",
        "Condition number",
        "(ε, δ)",
        "Seed",
        "Version",
        "Codebook hash",
    ] {
        assert!(page.contains(&format!("<dt>{name}")), "{name}");
    }
    assert!(page.contains("4711") && page.contains(&fit.codebook_hash));
    assert!(page.contains("2PL calibration of 25 items at 34 sites"));
    assert!(page.contains("Not a private run. Mode plain"));
    fit.mode = "secure".into();
    assert!(report(&fit).contains("Mode secure"));
    assert!(report(&common::withheld()).contains("(ε, δ) = (2, 1e-6)"));
}

#[test]
fn failure_and_warnings_are_prominent() {
    let mut fit = common::troubled();
    let page = report(&fit);
    assert!(page.contains("<strong>Not converged.</strong>") && page.contains("2 warnings"));
    fit.warnings = (0..40).map(|i| Warning { code: "w".into(), message: format!("Warning {i}.") }).collect();
    assert!(report(&fit).contains("<summary>32 more</summary>"));
    let fine = report(&common::fit(Plan::default()));
    assert!(!fine.contains("class=\"alarm\"") && !fine.contains("class=\"warnings\""));
}

#[test]
fn hostile_names_cannot_act() {
    let mut fit = common::troubled();
    let hostile = "</script><script>alert(1)</script>\u{2028}<!--<img src=x onerror=alert(1)>\"'";
    for (i, item) in fit.items.iter_mut().enumerate() {
        item.name = format!("{hostile}{i}");
    }
    for (i, site) in fit.sites.iter_mut().enumerate() {
        site.name = format!("{hostile}{i}");
    }
    fit.codebook_hash = hostile.into();
    fit.version = hostile.into();
    fit.model = hostile.into();
    fit.mode = hostile.into();
    fit.se_type = Some(hostile.into());
    fit.warnings[0].message = hostile.into();
    fit.warnings[0].code = hostile.into();
    let page = report(&fit);
    assert!(!page.contains("alert(1)</script>") && !page.contains("<img"));
    assert_eq!(page.matches("<script").count(), 3, "one to mark, one for data, one to act");
    assert_eq!(page.matches("</script").count(), 3);
    assert!(!page.contains("<!--"));
}

#[test]
fn empty_fits_still_make_a_page() {
    for plan in [
        Plan { items: 0, ..Plan::default() },
        Plan { sites: 0, ..Plan::default() },
        Plan { sites: 1, items: 1, ..Plan::default() },
    ] {
        let mut fit = common::fit(plan);
        assert!(report(&fit).ends_with("</html>\n"));
        fit.items.iter_mut().for_each(|item| item.a = None);
        fit.trace.clear();
        fit.curves = None;
        assert!(report(&fit).ends_with("</html>\n"));
    }
}

#[test]
fn five_hundred_items_and_sites_stay_small() {
    for (model, categories) in [("2pl", 2), ("gpcm", 5)] {
        let fit = common::fit(Plan { model, categories, items: 500, sites: 500, ..Plan::default() });
        let size = report(&fit).len();
        assert!(size < 3_000_000, "{model}: {size} bytes");
    }
}

#[test]
fn two_hundred_items_fit_into_a_megabyte() {
    let size = report(&common::fit(Plan { items: 200, ..Plan::default() })).len();
    assert!(size < 1_000_000, "{size} bytes");
}

#[test]
fn large_banks_do_not_make_large_reports() {
    let with = |items: usize| {
        let mut fit = common::fit(Plan::default());
        let few = fit.items.clone();
        fit.items = (0..items)
            .map(|j| {
                let mut item = few[j % few.len()].clone();
                item.name = format!("item {j}");
                item
            })
            .collect();
        fit
    };
    let (one, other) = (report(&with(600)), report(&with(3_000)));
    assert!(other.len() < one.len() + 1_000, "{} after {}", other.len(), one.len());
    assert!(
        other.contains("The first 500 of 3000 items are shown") && !report(&with(500)).contains("are shown;")
    );
}

#[test]
fn a_comparison_of_groups_has_its_picture_and_table() {
    let page = report(&common::compared());
    assert!(page.contains("Items in different groups") && page.contains("Works differently"), "{page}");
}
