//! LSAT section 7 (Bock & Lieberman 1970): 1,000 students, five items, published as counts of the 32 patterns.
//!
//! Numbers of mirt 1.45.1, 61 nodes on [-6, 6], TOL 1e-7, Oakes standard errors; mirt stops its EM at 1e-7, so
//! its estimates carry about 1e-5.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod common;

use common::{fit, named, plan, table};
use fedirt_model::exchange::Effects;
use fedirt_model::questions::diagnose::Diagnostic;

/// Pattern 00000, 00001, …, 11111 (first item first).
const COUNTS: [usize; 32] = [
    12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28, 7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18,
    136, 32, 308,
];

fn rows() -> Vec<Vec<u8>> {
    let mut rows = Vec::new();
    for (pattern, &count) in COUNTS.iter().enumerate() {
        let row: Vec<u8> = (0..5).rev().map(|bit| (pattern >> bit & 1) as u8).collect();
        rows.extend(std::iter::repeat_n(row, count));
    }
    rows
}

fn close(what: &str, got: Option<f64>, want: f64, tolerance: f64) {
    let got = got.unwrap();
    assert!((got - want).abs() < tolerance, "{what}: {got} is not {want}");
}

#[test]
fn two_parameter_model_agrees_with_mirt() {
    let f = fit(plan(named(&[("2pl", 2); 5]), Effects::None), vec![table(&rows())]);
    close("log-likelihood", f.loglik, -2_658.805_114, 2e-6);
    let want = [
        (0.987_546, 1.855_856, -1.879_260, 0.177_195, 0.131_450, 0.263_967),
        (1.080_837, 0.807_970, -0.747_541, 0.168_764, 0.091_247, 0.109_251),
        (1.707_476, 1.805_205, -1.057_236, 0.321_076, 0.204_825, 0.115_359),
        (0.764_990, 0.486_000, -0.635_302, 0.134_120, 0.074_913, 0.130_120),
        (0.735_673, 1.854_458, -2.520_764, 0.151_134, 0.114_409, 0.446_254),
    ];
    for (item, (a, d, b, se_a, se_d, se_b)) in f.items.iter().zip(want) {
        close("a", item.a, a, 1e-5);
        close("d", item.d[0], d, 1e-5);
        close("b", item.b[0], b, 1e-5);
        close("se a", item.se_a, se_a, 1e-5);
        close("se d", item.se_d[0], se_d, 1e-5);
        close("se b", item.se_b[0], se_b, 1e-5);
    }
    assert_eq!((f.npar, f.n, f.converged), (10, 1000, Some(true)));
    assert!(f.rounds <= 5);
    close("AIC", f.aic, 5_337.610_227, 1e-5);
    close("BIC", f.bic, 5_386.687_780, 1e-5);
}

#[test]
fn rasch_model_agrees_with_mirt() {
    let f = fit(plan(named(&[("rasch", 2); 5]), Effects::None), vec![table(&rows())]);
    close("log-likelihood", f.loglik, -2_664.900_891, 2e-6);
    // mirt: variance 1.022647, its standard error 0.131348; ours is the SD: √v and se/(2√v).
    close("sd", Some(f.latent.sd), 1.022_647f64.sqrt(), 2e-4);
    close("se sd", f.latent.se_sd, 0.131_348 / (2.0 * 1.022_647f64.sqrt()), 1e-3);
    let want = [
        (1.868_260, 0.100_429),
        (0.791_004, 0.081_156),
        (1.460_976, 0.091_310),
        (0.521_505, 0.078_725),
        (1.992_970, 0.103_705),
    ];
    for (item, (d, se)) in f.items.iter().zip(want) {
        assert_eq!((item.a, item.se_a), (Some(1.0), None));
        close("d", item.d[0], d, 1e-4);
        close("se d", item.se_d[0], se, 1e-3);
    }
}

#[test]
fn weights_are_copies_of_rows() {
    let patterns: Vec<Vec<u8>> =
        (0..32).map(|pattern| (0..5).rev().map(|bit| (pattern >> bit & 1) as u8).collect()).collect();
    let weights: Vec<f64> = COUNTS.iter().map(|c| *c as f64).collect();
    let weighted = table(&patterns).with_weights(weights).unwrap();
    let items = || named(&[("2pl", 2); 5]);
    let whole = fit(plan(items(), Effects::None), vec![table(&rows())]);
    let counted = fit(plan(items(), Effects::None), vec![weighted]);
    assert!(common::distance(&whole, &counted) < 1e-7);
    // Weights are scaled to the number of rows, here 32 in place of 1,000.
    close("log-likelihood", counted.loglik, whole.loglik.unwrap() * 32.0 / 1000.0, 1e-8);
    assert_eq!(counted.se_type.as_deref(), Some("sandwich"));
}

#[test]
fn the_one_parameter_model_is_rasch_in_other_units() {
    let rasch = fit(plan(named(&[("rasch", 2); 5]), Effects::None), vec![table(&rows())]);
    let f = fit(plan(named(&[("1pl", 2); 5]), Effects::None), vec![table(&rows())]);
    close("log-likelihood", f.loglik, rasch.loglik.unwrap(), 1e-9);
    assert_eq!((f.npar, f.latent.sd, f.latent.se_sd), (6, 1.0, None));
    for (item, other) in f.items.iter().zip(&rasch.items) {
        // The slope that all share is the SD of ability in the Rasch model, and so is its standard error.
        close("a", item.a, rasch.latent.sd, 1e-7);
        close("se a", item.se_a, rasch.latent.se_sd.unwrap(), 1e-6);
        close("b", item.b[0], other.b[0].unwrap() / rasch.latent.sd, 1e-7);
    }
    assert!(f.rounds <= rasch.rounds);
}

#[test]
fn nominal_items_of_two_categories_are_those_of_the_two_parameter_model() {
    let two = fit(plan(named(&[("2pl", 2); 5]), Effects::None), vec![table(&rows())]);
    let f = fit(plan(named(&[("nrm", 2); 5]), Effects::None), vec![table(&rows())]);
    close("log-likelihood", f.loglik, two.loglik.unwrap(), 1e-9);
    assert_eq!((f.npar, f.converged), (10, Some(true)));
    assert!(f.rounds <= 6);
    for (item, other) in f.items.iter().zip(&two.items) {
        assert_eq!((item.a, item.b.len()), (None, 0));
        close("a1", item.parameters.get("a1"), other.a.unwrap(), 1e-7);
        close("se a1", item.se.get("a1"), other.se_a.unwrap(), 1e-5);
        close("d1", item.parameters.get("d1"), other.d[0].unwrap(), 1e-7);
        close("Bock's slopes", item.parameters.get("bock_a1"), other.a.unwrap() / 2.0, 1e-7);
        assert_eq!((item.se.get("ak0"), item.se.get("ak1")), (None, None));
    }
}

/// mirt 1.45.1 on the same data: `residuals(type = 'Q3')` and `itemfit` at the EAP, `M2`, `residuals(type = 'LD')`, and
/// `fscores(method = 'EAPsum')`.
#[test]
fn diagnostics_are_those_of_mirt() {
    let mut plan = plan(named(&[("2pl", 2); 5]), Effects::None);
    plan.diagnostics = Diagnostic::ALL.to_vec();
    let found = fit(plan, vec![table(&rows())]).diagnostics.expect("diagnostics");
    let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-4 * want.abs().max(1.0), "{got} {want}");
    let q3 = found.q3.expect("Q3");
    near(q3.matrix[0][1].unwrap(), -0.134_483_785_7);
    near(q3.matrix[3][0].unwrap(), -0.012_105_504);
    near(q3.mean, -0.111_176_048_2);
    let items = found.item_fit.expect("item fit");
    let infit = [0.958_175_644_6, 0.815_985_892_3, 0.750_099_653_2, 0.881_427_435_6, 0.989_220_565_9];
    let z_outfit = [-3.141_572_865, -7.765_188_838, -7.052_804_959, -6.563_051_323, -1.902_520_921];
    let s_x2 = [4.750_538_774, 14.453_452_06, 1.272_657_434, 5.236_483_365, 0.940_941_722_7];
    for (j, item) in items.iter().enumerate() {
        near(item.infit.unwrap(), infit[j]);
        near(item.z_outfit.unwrap(), z_outfit[j]);
        near(item.s_x2.unwrap(), s_x2[j]);
        assert_eq!(item.df_s_x2, Some(2.0));
    }
    near(items[1].rmsea_s_x2.unwrap(), 0.078_949_091_13);
    near(items[1].p_adjusted.unwrap(), 5.0 * 0.000_726_896_809_3);
    let global = found.global.expect("global fit");
    assert_eq!((global.kind.as_str(), global.df), ("M2", 5.0));
    near(global.statistic, 11.938_411_64);
    near(global.rmsea_5, 0.008_954_738_956);
    near(global.rmsea_95, 0.064_967_416_21);
    near(global.srmsr, 0.031_962_911_53);
    near(global.cfi, 0.968_463_321_7);
    let ld = found.ld.expect("LD");
    near(ld.x2[3][0].unwrap(), 2.577_942_593);
    near(ld.v_signed[0][2].unwrap(), -0.029_264_625);
    let scores = found.score_table.expect("scores");
    near(scores[0].theta, -1.869_783_631);
    near(scores[5].se, 0.800_932_077_1);
    near(scores[3].expected, 207.738_282_3);
    near(found.reliability.expect("reliability").empirical, 0.452_304_911_9);
}
