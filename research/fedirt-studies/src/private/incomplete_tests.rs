//! Rows that lack answers, more of them at one site or in one booklet than elsewhere: estimates must not move.

use super::{run, truth};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{MissingAnswers, PrivatePlan, PrivateResult, SitePlan};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::simulate::{Missing, SiteEffects, SiteRows, SiteSizes, Spec, Truth, booklets, simulate};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// μ(ε = 1) at δ = 1e-6.
const MU: f64 = 0.23670;

/// Two sites with effects ∓ 0.8 and as many students each.
fn spec(items: usize, students: usize, seed: u64) -> Spec {
    Spec {
        sites: 2,
        students: SiteSizes::Each(students),
        items,
        model: "2pl".into(),
        categories: 2,
        effects: SiteEffects::Given(vec![-0.8, 0.8]),
        missing: Missing::Complete,
        latent_sd: 1.0,
        seed,
    }
}

/// Items that a row answers.
fn answered(row: &[u8]) -> Vec<usize> {
    (0..row.len()).filter(|j| row[*j] != MISSING).collect()
}

/// The table with one answer lost at random in this share of the rows of a booklet.
fn lose(table: &ResponseTable, share: f64, booklet: &[usize], random: &mut ChaCha8Rng) -> ResponseTable {
    let (n, items) = (table.students(), table.items());
    let mut cells: Vec<u8> = table.rows().flatten().copied().collect();
    for row in cells.chunks_exact_mut(items) {
        if answered(row) == booklet && random.random::<f64>() < share {
            row[booklet[random.random_range(0..booklet.len())]] = MISSING;
        }
    }
    ResponseTable::new(n, items, cells).expect("a table")
}

/// Runs of one truth on fresh answers and fresh noise.
fn runs(
    spec: &Spec,
    held: &[Vec<usize>],
    effects: Effects,
    replications: u64,
    change: impl Fn(&mut Vec<ResponseTable>, &mut ChaCha8Rng) + Sync,
) -> (Truth, Vec<PrivateResult>) {
    let truth = simulate(spec).expect("a truth").truth;
    let one = |seed: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let own = Spec { seed: 5000 + seed, ..spec.clone() };
        let mut tables: Vec<ResponseTable> =
            (0..2).map(|k| SiteRows::new(&own, &truth, k).into_table()).collect();
        let rows = |table: &ResponseTable| {
            let of = |b: &Vec<usize>| table.rows().filter(|row| answered(row) == *b).count() as u64;
            held.iter().map(of).collect()
        };
        let sites: Vec<SitePlan> = (tables.iter().enumerate())
            .map(|(k, table)| SitePlan { name: format!("s{k}"), rows: rows(table) })
            .collect();
        change(&mut tables, &mut random);
        let design = truth::design(&truth).expect("a design");
        let mut plan = PrivatePlan::new(design, effects, Vec::new(), MU).expect("a plan");
        (plan.sites, plan.booklets) = (sites, held.to_vec());
        plan.missing = MissingAnswers::Counted;
        plan.noise_sd = plan.central_noise().expect("noise");
        run(plan, &tables, &mut random).expect("a run")
    };
    (truth.clone(), (0..replications).into_par_iter().map(one).collect())
}

/// Mean errors of the last effect and of each difficulty over runs, in their standard errors, which the runs report.
fn errors(truth: &Truth, results: &[PrivateResult]) -> (f64, Vec<f64>) {
    let n = results.len() as f64;
    let z = |of: &dyn Fn(&PrivateResult) -> (f64, f64), truth: f64| {
        let (mut error, mut variance) = (0.0, 0.0);
        for (estimate, se) in results.iter().map(of) {
            error += estimate - truth;
            variance += se * se;
        }
        println!("{truth:.3}: mean error {:.4}, SE of one run {:.4}", error / n, (variance / n).sqrt());
        error / variance.sqrt()
    };
    let effect = if results[0].sites().is_empty() { 0.0 } else { z(&|r| r.sites()[1], 0.8) };
    let items = (0..truth.items.len()).map(|j| {
        let of = |r: &PrivateResult| (r.items()[j].b[0], r.items()[j].se_b[0]);
        z(&of, truth.items[j].b[0])
    });
    (effect, items.collect())
}

fn all(items: usize) -> Vec<Vec<usize>> {
    vec![(0..items).collect()]
}

#[test]
fn a_site_with_many_incomplete_rows_keeps_its_effect() {
    let (spec, held) = (spec(8, 3000, 21), all(8));
    let (truth, results) = runs(&spec, &held, Effects::Fixed, 12, |tables, random| {
        tables[1] = lose(&tables[1], 0.7, &held[0], random);
    });
    let (effect, difficulties) = errors(&truth, &results);
    assert!(effect.abs() < 3.0, "{effect}");
    assert!(difficulties.iter().all(|z| z.abs() < 3.5), "{difficulties:?}");
    let complete = results[0].complete.as_ref().expect("complete rows are counted");
    assert!((complete.by_site[0].0 - 1.0).abs() < 4.0 * complete.by_site[0].1, "{complete:?}");
    assert!((complete.by_site[1].0 - 0.3).abs() < 4.0 * complete.by_site[1].1, "{complete:?}");
    assert!((complete.share.0 - 0.65).abs() < 4.0 * complete.share.1, "{complete:?}");
}

/// The same where answer patterns are too many to be enumerated.
#[test]
fn a_site_with_many_incomplete_rows_keeps_its_effect_in_a_long_test() {
    let (spec, held) = (spec(16, 2000, 22), all(16));
    let (truth, results) = runs(&spec, &held, Effects::Fixed, 4, |tables, random| {
        tables[1] = lose(&tables[1], 0.7, &held[0], random);
    });
    let (effect, difficulties) = errors(&truth, &results);
    assert!(effect.abs() < 3.0, "{effect}");
    assert!(difficulties.iter().all(|z| z.abs() < 3.5), "{difficulties:?}");
}

/// A booklet of which most rows are incomplete, with and without site effects.
#[test]
fn a_booklet_with_many_incomplete_rows_keeps_its_difficulties() {
    let held: Vec<Vec<usize>> = (booklets(3, 9).iter()).map(|b| (0..9).filter(|j| b[*j]).collect()).collect();
    let mut spec = spec(9, 4000, 23);
    spec.missing = Missing::Booklets(3);
    for effects in [Effects::Fixed, Effects::None] {
        if effects == Effects::None {
            spec.effects = SiteEffects::Given(vec![0.0, 0.0]);
        }
        let (truth, results) = runs(&spec, &held, effects, 12, |tables, random| {
            let share = |site: usize| if site == 0 { 0.8 } else { 0.5 };
            for (site, table) in tables.iter_mut().enumerate() {
                *table = lose(table, share(site), &held[0], random);
            }
        });
        let (effect, difficulties) = errors(&truth, &results);
        assert!(effect.abs() < 3.0, "{effects:?}: {effect}");
        assert!(difficulties.iter().all(|z| z.abs() < 3.5), "{effects:?}: {difficulties:?}");
    }
}
