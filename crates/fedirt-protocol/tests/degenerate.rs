//! Data that break other programs: named in warnings, never fatal, never infinite.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod common;

use common::*;
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::responses::{MISSING, ResponseTable};

const BINARY: &[(&str, usize)] = &[("2pl", 2); 6];

fn rows(students: usize, mean: f64, seed: u64) -> Vec<Vec<u8>> {
    answers(BINARY, &truth(BINARY, 41), students, (mean, 1.0), 0.0, &mut Random(seed))
}

fn warned(f: &Fit, code: &str) -> bool {
    f.warnings.iter().any(|w| w.code == code)
}

/// Converged, every number finite, nothing beyond belief.
fn sound(f: &Fit) {
    assert_eq!(f.converged, Some(true), "{:?}", f.warnings);
    assert!(f.loglik.unwrap().is_finite());
    for item in &f.items {
        for x in item
            .a
            .iter()
            .chain(item.d.iter().flatten())
            .chain(item.se_a.iter())
            .chain(item.se_d.iter().flatten())
        {
            assert!(x.is_finite() && x.abs() < 200.0, "{item:?}");
        }
    }
    for site in &f.sites {
        assert!(site.effect.is_none_or(|s| s.abs() < 20.0) && site.se.is_none_or(|s| s < 50.0), "{site:?}");
    }
}

#[test]
fn an_item_that_everyone_answers_alike_is_dropped_by_name() {
    for value in [0, 1] {
        let mut rows = rows(200, 0.0, 1);
        rows.iter_mut().for_each(|r| r[2] = value);
        let f = fit(plan(named(BINARY), Effects::None), vec![table(&rows)]);
        sound(&f);
        assert!(warned(&f, "item_dropped"));
        assert!(f.items[2].a.is_none() && f.items[1].a.is_some());
    }
}

#[test]
fn a_category_that_nobody_chose_is_closed_up() {
    let models: &[(&str, usize)] = &[("gpcm", 4), ("grm", 4), ("gpcm", 2), ("gpcm", 2)];
    let mut rows = answers(models, &truth(models, 5), 300, (0.0, 1.0), 0.0, &mut Random(6));
    for row in &mut rows {
        row[0] = if row[0] == 2 { 3 } else { row[0] };
        row[1] = if row[1] == 1 { 0 } else { row[1] };
    }
    let mut items = named(models);
    items[0].codes = Some(vec![0, 1, 2, 3]);
    items[1].codes = Some(vec![0, 1, 2, 3]);
    let f = fit(plan(items, Effects::None), vec![table(&rows)]);
    sound(&f);
    assert!(warned(&f, "category_unused"));
    assert_eq!(
        (f.items[0].codes.as_slice(), f.items[1].codes.as_slice()),
        (&[0u8, 1, 3][..], &[0u8, 2, 3][..])
    );
}

#[test]
fn codes_that_start_at_one_give_the_same_fit() {
    let zero = rows(250, 0.0, 8);
    let one: Vec<Vec<u8>> = zero.iter().map(|r| r.iter().map(|x| x + 1).collect()).collect();
    let (a, b) = (
        fit(plan(named(BINARY), Effects::None), vec![table(&zero)]),
        fit(plan(named(BINARY), Effects::None), vec![table(&one)]),
    );
    assert_eq!(distance(&a, &b), 0.0);
    assert_eq!(b.items[0].codes, [1, 2]);
}

#[test]
fn perfect_schools_and_schools_of_one_student_do_no_harm() {
    let mut sites: Vec<ResponseTable> =
        (0..4).map(|k| table(&rows(60, 0.3 * f64::from(k) - 0.4, u64::from(k as u8)))).collect();
    sites.push(table(&vec![vec![1; 6]; 5]));
    sites.push(table(&vec![vec![0; 6]; 3]));
    sites.push(table(&rows(1, 0.0, 77)));
    let f = fit(plan(named(BINARY), Effects::Fixed), sites.clone());
    sound(&f);
    assert!(warned(&f, "site_without_effect"));
    assert!(f.sites[4].effect.is_none() && f.sites[5].effect.is_none() && f.sites[0].effect.is_some());
    let known: f64 = f.sites.iter().filter_map(|s| s.effect).sum();
    assert!(known.abs() < 1e-6);
    let random = fit(plan(named(BINARY), Effects::Random), sites);
    sound(&random);
    assert!(random.sites[4].effect.unwrap() > 0.0 && random.sites[5].effect.unwrap() < 0.0);
}

#[test]
fn an_outlying_school_is_estimated_and_bounded() {
    let mut sites: Vec<ResponseTable> = (0..5).map(|k| table(&rows(50, 0.0, 100 + k))).collect();
    let mut near = vec![vec![1u8; 6]; 40];
    near[3][2] = 0;
    sites.push(table(&near));
    let f = fit(plan(named(BINARY), Effects::Fixed), sites);
    sound(&f);
    assert!(f.sites[5].effect.unwrap() > 2.0 && f.rounds <= 8, "{}", f.rounds);
}

#[test]
fn a_reversed_item_gets_a_negative_slope_and_a_warning() {
    let mut rows = rows(500, 0.0, 12);
    rows.iter_mut().for_each(|r| r[3] = 1 - r[3]);
    let f = fit(plan(named(BINARY), Effects::None), vec![table(&rows)]);
    sound(&f);
    assert!(f.items[3].a.unwrap() < -0.3 && warned(&f, "negative_slope"));
    let straight = fit(
        plan(named(BINARY), Effects::None),
        vec![table(
            &rows
                .iter()
                .map(|r| {
                    let mut r = r.clone();
                    r[3] = 1 - r[3];
                    r
                })
                .collect::<Vec<_>>(),
        )],
    );
    assert!((f.items[3].a.unwrap() + straight.items[3].a.unwrap()).abs() < 1e-4);
}

#[test]
fn parts_that_no_site_links_are_calibrated_apart() {
    let blank = |rows: Vec<Vec<u8>>, keep: std::ops::Range<usize>| -> Vec<Vec<u8>> {
        rows.into_iter()
            .map(|r| {
                r.into_iter().enumerate().map(|(j, x)| if keep.contains(&j) { x } else { MISSING }).collect()
            })
            .collect()
    };
    let sites: Vec<ResponseTable> = (0..6)
        .map(|k| {
            let keep = if k < 3 { 0..3 } else { 3..6 };
            table(&blank(rows(150, 0.2 * f64::from(k) - 0.5, 200 + u64::from(k as u8)), keep))
        })
        .collect();
    let f = fit(plan(named(BINARY), Effects::Fixed), sites.clone());
    sound(&f);
    assert!(warned(&f, "unlinked_parts"));
    for part in [0..3, 3..6] {
        let sum: f64 = f.sites[part].iter().map(|s| s.effect.unwrap()).sum();
        assert!(sum.abs() < 1e-6, "{sum}");
    }
    // Each part is the fit of its own sites.
    let alone = fit(
        plan(named(&BINARY[..3]), Effects::Fixed),
        sites[..3].iter().map(|t| table(&t.rows().map(|r| r[..3].to_vec()).collect::<Vec<_>>())).collect(),
    );
    for (x, y) in f.items.iter().zip(&alone.items) {
        assert!((x.a.unwrap() - y.a.unwrap()).abs() < 1e-5);
        assert!((x.se_a.unwrap() / y.se_a.unwrap() - 1.0).abs() < 1e-3);
    }
    for effects in [Effects::None, Effects::Random] {
        let f = fit(plan(named(BINARY), effects), sites.clone());
        sound(&f);
        assert!(warned(&f, "unlinked_parts"));
    }
}

#[test]
fn sites_without_some_items_or_categories_are_normal() {
    let models: &[(&str, usize)] = &[("gpcm", 3), ("2pl", 2), ("gpcm", 3), ("2pl", 2)];
    let truth = truth(models, 9);
    let mut random = Random(10);
    let mut a = answers(models, &truth, 150, (0.0, 1.0), 0.0, &mut random);
    let mut b = answers(models, &truth, 150, (0.4, 1.0), 0.0, &mut random);
    a.iter_mut().for_each(|r| r[3] = MISSING);
    b.iter_mut().for_each(|r| {
        r[1] = MISSING;
        r[0] = r[0].min(1);
    });
    let f = fit(plan(named(models), Effects::Fixed), vec![table(&a), table(&b)]);
    sound(&f);
    assert_eq!(f.items.iter().map(|i| i.n.unwrap()).collect::<Vec<_>>(), [300, 150, 300, 150]);
}

#[test]
fn rows_without_answers_do_not_count() {
    let mut with = rows(120, 0.0, 15);
    let without = with.clone();
    with.insert(10, vec![MISSING; 6]);
    let (a, b) = (
        fit(plan(named(BINARY), Effects::None), vec![table(&with)]),
        fit(plan(named(BINARY), Effects::None), vec![table(&without)]),
    );
    assert_eq!((a.n, a.loglik), (b.n, b.loglik));
}

#[test]
fn an_item_without_a_finite_maximum_is_left_empty() {
    // Two items that always agree: their slopes run away together.
    let mut rows = rows(60, 0.0, 19);
    rows.iter_mut().for_each(|r| r[1] = r[0]);
    let f = fit(plan(named(BINARY), Effects::None), vec![table(&rows)]);
    for item in &f.items {
        assert!(item.a.is_none_or(|a| a.is_finite() && a.abs() < 100.0));
    }
}

#[test]
fn too_little_data_is_an_error_in_words() {
    let constant = vec![vec![1u8, 0, 1, 1, 0, 1]; 20];
    let error = run(plan(named(BINARY), Effects::None), vec![table(&constant)]).unwrap_err().to_string();
    assert!(error.contains("at least two"), "{error}");
    let empty = vec![vec![MISSING; 6]; 20];
    assert!(run(plan(named(BINARY), Effects::None), vec![table(&empty)]).is_err());
}

/// Rows whose answers outside `keep` are missing.
fn only(rows: Vec<Vec<u8>>, keep: std::ops::Range<usize>) -> Vec<Vec<u8>> {
    let blank = |row: Vec<u8>| {
        row.into_iter().enumerate().map(|(j, x)| if keep.contains(&j) { x } else { MISSING }).collect()
    };
    rows.into_iter().map(blank).collect()
}

#[test]
fn a_perfect_school_links_nothing() {
    let mut sites: Vec<ResponseTable> =
        (0..4).map(|k| table(&only(rows(150, 0.0, 300 + k), if k < 2 { 0..3 } else { 3..6 }))).collect();
    sites.push(table(&only(vec![vec![1; 6]; 20], 2..4)));
    let f = fit(plan(named(BINARY), Effects::Fixed), sites);
    sound(&f);
    assert!(warned(&f, "unlinked_parts"));
    // 12 item parameters, four effects, two origins.
    assert_eq!(f.npar, 14);
    assert!(f.items.iter().all(|i| i.se_a.is_some()));
}

#[test]
fn anchors_fix_the_origin_of_their_own_part_only() {
    let sites: Vec<ResponseTable> = (0..4)
        .map(|k| table(&only(rows(200, 0.2 * k as f64, 400 + k), if k < 2 { 0..3 } else { 3..6 })))
        .collect();
    let mut items = named(BINARY);
    let truth = truth(BINARY, 41);
    for j in 0..2 {
        items[j].anchor = anchor(truth[j][0], &truth[j][1..]);
    }
    let f = fit(plan(items, Effects::Fixed), sites);
    sound(&f);
    assert!(warned(&f, "unlinked_parts"));
    assert!(f.items[2..].iter().all(|i| i.se_a.is_some()), "{:?}", f.warnings);
    let free: f64 = f.sites[2..].iter().map(|s| s.effect.unwrap()).sum();
    assert!(free.abs() < 1e-9 && f.sites.iter().all(|s| s.se.is_some()));
}

#[test]
fn bfgs_centres_without_the_perfect_school() {
    let mut sites: Vec<ResponseTable> = (0..3).map(|k| table(&rows(120, 0.3 * k as f64, 500 + k))).collect();
    sites.push(table(&vec![vec![1; 6]; 8]));
    let newton = fit(plan(named(BINARY), Effects::Fixed), sites.clone());
    let bfgs = fit(
        with_algorithm(plan(named(BINARY), Effects::Fixed), fedirt_model::centre::AlgorithmKind::Bfgs),
        sites,
    );
    assert!(distance(&newton, &bfgs) < 5e-3, "{}", distance(&newton, &bfgs));
    for (x, y) in newton.sites[..3].iter().zip(&bfgs.sites) {
        assert!((x.effect.unwrap() - y.effect.unwrap()).abs() < 5e-3);
    }
}

#[test]
fn many_tiny_sites_are_for_random_effects_and_fixed_ones_say_when_they_fail() {
    let truth = truth(BINARY, 41);
    let mut random = Random(600);
    let sites: Vec<ResponseTable> =
        (0..200).map(|k| table(&answers(BINARY, &truth, 1 + k % 3, (0.0, 1.0), 0.0, &mut random))).collect();
    for effects in [Effects::Fixed, Effects::Random] {
        let f = fit(plan(named(BINARY), effects), sites.clone());
        // 200 effects from 400 students: the likelihood of fixed effects need not have a maximum.
        let arrived = f.max_gradient.unwrap() < 1e-5;
        assert_eq!(f.converged, Some(arrived), "{effects:?} {:?}", f.trace.last());
        assert!(arrived || effects == Effects::Fixed);
        assert!(f.sites.iter().all(|s| s.effect.is_none_or(|e| e.abs() < 20.0)));
    }
}

#[test]
fn two_traits_in_one_test_are_named() {
    // Items 1–4 measure one thing, 5–8 another: two maxima, one for each.
    let models: &[(&str, usize)] = &[("2pl", 2); 8];
    let half = &models[..4];
    let mut random = Random(700);
    let strong = vec![vec![2.0, 0.0]; 4];
    let (one, other) = (
        answers(half, &strong, 400, (0.0, 1.0), 0.0, &mut random),
        answers(half, &strong, 400, (0.0, 1.0), 0.0, &mut random),
    );
    let rows: Vec<Vec<u8>> = one.iter().zip(&other).map(|(a, b)| [a.clone(), b.clone()].concat()).collect();
    let f = fit(plan(named(models), Effects::None), vec![table(&rows)]);
    assert!(warned(&f, "competing_maxima"), "{:?}", f.warnings);
    assert_eq!(f.converged, Some(true));
    // The solution is one of the two traits: the other half hardly loads.
    let size =
        |range: std::ops::Range<usize>| f.items[range].iter().map(|i| i.a.unwrap().abs()).fold(0.0, f64::max);
    assert!(size(0..4).max(size(4..8)) > 1.0 && size(0..4).min(size(4..8)) < 0.5);
}

/// Pairs of items from different booklets are never seen together: the two-way tables have a second start, far below the first.
#[test]
fn booklets_are_no_second_solution() {
    let (items, students) = (30, 1500);
    let models = vec![("2pl", 2); items];
    let truth: Vec<Vec<f64>> =
        (0..items).map(|j| vec![0.7 + 0.04 * j as f64, 0.1 * (j as f64 * 7.0 % 20.0) - 1.0]).collect();
    let mut rows = answers(&models, &truth, students, (0.0, 1.0), 0.0, &mut Random(31));
    for (i, row) in rows.iter_mut().enumerate() {
        // Of six blocks of five items each student has two neighbours.
        let first = 5 * (i % 6);
        let given = |j: usize| (j + items - first) % items < 10;
        row.iter_mut().enumerate().filter(|(j, _)| !given(*j)).for_each(|(_, x)| *x = MISSING);
    }
    let f = fit(plan(named(&models), Effects::None), vec![table(&rows)]);
    assert_eq!(f.converged, Some(true));
    assert!(!warned(&f, "competing_maxima"), "{:?}", f.warnings);
}

/// Fifty steep items tell the ability of 300 students to within half the distance of 61 nodes.
#[test]
fn a_grid_that_is_too_coarse_for_what_is_known_is_named() {
    let fitted = |slope: f64, nodes: usize| {
        let models = vec![("2pl", 2); 50];
        let truth: Vec<Vec<f64>> = (0..50).map(|j| vec![slope, 0.02 * f64::from(j) - 0.5]).collect();
        let rows = answers(&models, &truth, 300, (0.0, 1.0), 0.0, &mut Random(61));
        let mut plan = plan(named(&models), Effects::None);
        plan.population.nodes = nodes;
        fit(plan, vec![table(&rows)])
    };
    let coarse = fitted(3.0, 61);
    assert!(warned(&coarse, "coarse_grid"), "{:?}", coarse.warnings);
    assert!(!warned(&fitted(3.0, 181), "coarse_grid"));
    assert!(!warned(&fitted(1.0, 61), "coarse_grid"));
}

#[test]
fn an_sd_of_few_sites_has_an_interval_and_a_warning() {
    let sites = |count: u64| -> Vec<ResponseTable> {
        (0..count).map(|k| table(&rows(100, 0.5 * (k as f64 * 3.0 % 5.0) - 1.0, 900 + k))).collect()
    };
    let few = fit(plan(named(BINARY), Effects::Random), sites(5));
    assert!(warned(&few, "few_sites"), "{:?}", few.warnings);
    let (sd, se) = (few.site_sd.expect("an SD"), few.se_site_sd.expect("its error"));
    let [low, high] = few.site_sd_interval.expect("an interval");
    assert!((low * high - sd * sd).abs() < 1e-12, "symmetric about the logarithm");
    assert!(((high / sd).ln() - 1.959_964 * se / sd).abs() < 1e-12);
    assert!(sd - 1.96 * se < low && sd + 1.96 * se < high, "further above than below");
    assert!(!warned(&fit(plan(named(BINARY), Effects::Random), sites(10)), "few_sites"));
    assert!(!warned(&fit(plan(named(BINARY), Effects::Fixed), sites(5)), "few_sites"));
}

#[test]
fn codes_that_start_higher_at_one_site_are_named() {
    let shifted: Vec<Vec<u8>> =
        rows(80, 0.0, 801).iter().map(|r| r.iter().map(|x| x + 1).collect()).collect();
    let sites = vec![table(&rows(80, 0.0, 800)), table(&shifted)];
    let mut items = named(BINARY);
    items.iter_mut().for_each(|i| i.model = Some("gpcm".into()));
    let f = fit(plan(items, Effects::None), sites);
    let found = f.warnings.iter().find(|w| w.code == "codes_differ").unwrap();
    assert!(found.message.contains("S2") && !found.message.contains("S1"), "{}", found.message);
    // A school where everyone is right has no zeros either, and is no such case.
    let perfect = vec![table(&rows(80, 0.0, 802)), table(&rows(80, 0.2, 803)), table(&vec![vec![1; 6]; 5])];
    assert!(!warned(&fit(plan(named(BINARY), Effects::Fixed), perfect), "codes_differ"));
}

#[test]
fn a_tiny_site_that_widens_all_errors_is_named() {
    let sites = vec![table(&rows(150, 0.0, 810)), table(&rows(150, 0.2, 811)), table(&rows(2, 0.0, 812))];
    assert!(warned(&fit(plan(named(BINARY), Effects::Fixed), sites.clone()), "tiny_sites"));
    assert!(!warned(&fit(plan(named(BINARY), Effects::Random), sites), "tiny_sites"));
}

#[test]
fn two_students_are_too_few() {
    let two = vec![vec![1u8, 0, 1, 1, 0, 1], vec![0u8, 1, 0, 0, 1, 0]];
    let error = run(plan(named(BINARY), Effects::None), vec![table(&two)]).unwrap_err().to_string();
    assert!(error.contains("too few"), "{error}");
}
