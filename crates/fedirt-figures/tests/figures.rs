//! Every figure of realistic, damaged and empty fits.

mod common;

use common::Plan;
use fedirt_figures::{
    Figure, characteristic_curves, convergence, difficulties, expected_score, group_differences,
    item_information, item_parameters, site_effects, test_information, wright_map,
};
use fedirt_model::comparison::{DriftLimits, LinkMethod, link};
use fedirt_model::fit::Fit;

fn all(fit: &Fit) -> Vec<Figure> {
    let rounds = |fit: &Fit| convergence(&fit.trace, &fit.mode);
    let whole = [test_information, expected_score, wright_map, site_effects, rounds, item_parameters];
    let items = 0..fit.items.len();
    whole
        .iter()
        .map(|figure| figure(fit))
        .chain(items.clone().map(|j| characteristic_curves(fit, j)))
        .chain(items.map(|j| item_information(fit, j)))
        .collect()
}

/// What must hold for every figure, whatever the fit.
fn check(figure: &Figure) {
    let title = &figure.title;
    assert!(!title.is_empty() && !figure.description.is_empty());
    for svg in [&figure.svg, &figure.narrow] {
        assert_eq!(svg.is_empty(), figure.missing.is_some(), "{title}: a drawing or a reason");
        for wrong in ["NaN", "nan", "inf\"", "inf ", "=\"\"", "<script"] {
            assert!(!svg.contains(wrong), "{title} contains {wrong}: {svg}");
        }
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count(), "{title}");
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count(), "{title}");
    }
    if let Some(why) = &figure.missing {
        assert!(why.ends_with('.'), "{title}: a sentence, not {why}");
    } else {
        assert!(!figure.tables.is_empty(), "{title} has numbers behind it");
        assert!(!figure.standalone().contains("var("), "{title}");
    }
    for table in &figure.tables {
        assert!(table.rows.iter().all(|row| row.len() == table.headers.len()), "{title}: {}", table.caption);
        assert!(
            !table.rows.iter().flatten().any(|cell| cell.contains("NaN") || cell.contains("inf")),
            "{title}"
        );
    }
}

#[test]
fn realistic_fits_draw_everything() {
    for (model, categories) in [("2pl", 2), ("1pl", 2), ("rasch", 2), ("pcm", 4), ("gpcm", 3), ("grm", 5)] {
        let fit = common::fit(Plan { model, categories, items: 8, ..Plan::default() });
        for figure in all(&fit) {
            check(&figure);
            assert_eq!(figure.missing, None, "{model}: {}", figure.title);
        }
    }
}

#[test]
fn groups_are_drawn_largest_difference_first() {
    let fit = common::compared();
    let figure = group_differences(&fit);
    check(&figure);
    let rows = fit.diagnostics.as_ref().and_then(|d| d.dif.as_ref()).expect("a comparison");
    let largest =
        rows.iter().max_by(|a, b| a.delta_mh.map(f64::abs).partial_cmp(&b.delta_mh.map(f64::abs)).unwrap());
    assert!(
        figure.description.contains(&format!("({})", largest.expect("rows").item)),
        "{}",
        figure.description
    );
    assert_eq!(figure.tables[0].rows.len(), rows.len());
    assert_eq!(
        figure.tables[0].rows.iter().filter(|row| row.last().is_some_and(|flag| flag == "yes")).count(),
        1
    );
    // Without a comparison there is a reason.
    let without = group_differences(&common::fit(Plan::default()));
    assert_eq!(without.missing.as_deref(), Some("No groups were compared."));
}

#[test]
fn troubled_and_withheld_fits_say_why() {
    for fit in [common::troubled(), common::withheld()] {
        all(&fit).iter().for_each(check);
    }
    let private = common::withheld();
    assert!(site_effects(&private).missing.unwrap().contains("private"));
    assert!(convergence(&private.trace, &private.mode).missing.unwrap().contains("private"));
    assert!(characteristic_curves(&private, 0).notes[0].contains("private"));
    let troubled = common::troubled();
    assert!(characteristic_curves(&troubled, 3).missing.unwrap().contains(&troubled.items[3].name));
    assert!(characteristic_curves(&troubled, 9999).missing.is_some());
}

#[test]
fn values_that_are_not_finite_are_left_out() {
    let mut fit = common::troubled();
    fit.latent.sd = f64::NAN;
    fit.items[0].a = Some(f64::INFINITY);
    fit.items[1].b = vec![Some(f64::NAN)];
    fit.items[2].se_a = Some(f64::NAN);
    fit.sites[0].effect = Some(f64::NAN);
    fit.sites[1].se = Some(f64::INFINITY);
    fit.trace[0].loglik = Some(f64::NEG_INFINITY);
    fit.trace[1].max_gradient = Some(0.0);
    let curves = fit.curves.as_mut().unwrap();
    curves[6].observed[1][30] = f64::NAN;
    curves[7].weight.clear();
    fit.ability_histogram.as_mut().unwrap().counts[30] = f64::NAN;
    all(&fit).iter().for_each(check);
}

#[test]
fn no_sites_one_site_no_items() {
    let none = common::fit(Plan { sites: 0, ..Plan::default() });
    all(&none).iter().for_each(check);
    assert!(site_effects(&none).missing.is_some());
    let one = common::fit(Plan { sites: 1, ..Plan::default() });
    check(&site_effects(&one));
    assert_eq!(site_effects(&one).missing, None);
    let without = common::fit(Plan { effects: "none", ..Plan::default() });
    assert!(site_effects(&without).missing.unwrap().contains("no site effects"));
    let mut empty = common::fit(Plan { items: 0, ..Plan::default() });
    empty.trace.clear();
    for figure in all(&empty).iter().filter(|f| !f.title.starts_with("Site")) {
        check(figure);
        assert!(figure.missing.is_some(), "{}", figure.title);
    }
}

#[test]
fn effects_are_ordered_and_shrinkage_is_said() {
    let fit = common::fit(Plan { effects: "random", ..Plan::default() });
    let figure = site_effects(&fit);
    let effects: Vec<f64> = figure.tables[0].rows.iter().map(|row| row[2].parse().unwrap()).collect();
    assert!(effects.is_sorted_by(|a, b| a >= b));
    assert!(figure.notes.iter().any(|note| note.contains("drawn towards zero")));
}

#[test]
fn curves_are_those_of_the_model() {
    let fit = common::fit(Plan::default());
    let (a, d) = (fit.items[4].a.unwrap(), fit.items[4].d[0].unwrap());
    for row in &characteristic_curves(&fit, 4).tables[0].rows {
        let (t, p): (f64, f64) = (row[0].parse().unwrap(), row[1].parse().unwrap());
        assert!((p - 1.0 / (1.0 + (-a * t - d).exp())).abs() < 6e-4, "at {t}");
    }
    for row in &item_information(&fit, 4).tables[0].rows {
        let (t, i): (f64, f64) = (row[0].parse().unwrap(), row[1].parse().unwrap());
        let p = 1.0 / (1.0 + (-a * t - d).exp());
        assert!((i - a * a * p * (1.0 - p)).abs() < 6e-4, "at {t}");
    }
}

#[test]
fn hostile_names_stay_text() {
    let mut fit = common::troubled();
    for item in &mut fit.items {
        item.name = format!("<script>alert('{}')</script>", item.name);
    }
    for site in &mut fit.sites {
        site.name = format!("\"/><img src=x onerror=alert(1)>{}", site.name);
    }
    for figure in all(&fit) {
        check(&figure);
        assert!(!figure.svg.contains("<img") && !figure.svg.contains("\"/><img"), "{}", figure.title);
    }
}

#[test]
fn items_that_drift_are_named_beside_their_point() {
    let first = common::fit(Plan { items: 12, ..Plan::default() });
    let mut second = first.clone();
    // The same test on another scale, where one item has become much harder.
    for (j, item) in second.items.iter_mut().enumerate() {
        let (model, psi) = item.estimates().expect("estimates");
        let moved = if j == 4 { 1.5 } else { 0.3 + 0.01 * (j % 3) as f64 };
        item.set_estimates(model, &[psi[0], psi[1] - psi[0] * moved], None, &[true, true]);
    }
    let found = link(&first, &second, LinkMethod::MeanSigma, DriftLimits::default()).expect("a link");
    let drifting: Vec<&str> = found.drift.iter().filter(|d| d.flagged).map(|d| d.item.as_str()).collect();
    assert_eq!(drifting, [first.items[4].name.as_str()], "{:?}", found.drift);
    let figure = difficulties(&first, &second, ["spring", "<autumn>"], Some(&found));
    check(&figure);
    assert!(figure.svg.contains(&format!(">{}<", drifting[0])) && figure.svg.contains("&lt;autumn&gt;"));
    let none = difficulties(&first, &Fit { items: Vec::new(), ..second }, ["a", "b"], None);
    check(&none);
    assert!(none.missing.is_some());
}

#[test]
fn the_wright_map_keeps_every_name_in_panels_of_at_most_sixty() {
    for (items, panels) in [(7, 1), (60, 1), (61, 2), (200, 4)] {
        let mut fit = common::fit(Plan { items, ..Plan::default() });
        for (n, item) in fit.items.iter_mut().enumerate() {
            item.name = format!("item {n}");
        }
        let figure = wright_map(&fit);
        for n in 0..items {
            let name = format!(">item {n}</text>");
            assert!(figure.svg.contains(&name) && figure.narrow.contains(&name), "{items}: {name}");
        }
        assert_eq!(figure.svg.matches("Students (").count(), panels, "{items} items");
        assert_eq!(figure.narrow.matches(">≤ ").count(), items.div_ceil(20), "{items} items, narrow");
    }
}
