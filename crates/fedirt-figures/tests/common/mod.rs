//! Fits as a calibration would report them, computed from known parameters: for tests and the demonstration.

use fedirt_model::fit::{
    Curve, Diagnostics, Dif, FORMAT, Fit, FitItem, FitSite, GroupSummary, Histogram, Latent, NamedNumbers,
    Privacy, Quadrature, TraceEntry, Warning,
};
use fedirt_model::items::{self, Curves, Order};

/// What to simulate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) model: &'static str,
    pub(crate) items: usize,
    pub(crate) categories: usize,
    pub(crate) sites: usize,
    pub(crate) students_per_site: u64,
    pub(crate) effects: &'static str,
}

impl Default for Plan {
    fn default() -> Self {
        Self { model: "2pl", items: 25, categories: 2, sites: 34, students_per_site: 60, effects: "fixed" }
    }
}

/// A small generator of numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A realistic fit.
pub(crate) fn fit(plan: Plan) -> Fit {
    let mut dice = Dice(7);
    let sites = sites(plan, &mut dice);
    let n: u64 = sites.iter().map(|s| s.n).sum::<u64>().max(500);
    let grid: Vec<f64> = (0..61).map(|q| -6.0 + 0.2 * f64::from(q)).collect();
    let density: Vec<f64> = {
        let raw: Vec<f64> = grid.iter().map(|t| (-t * t / 2.0).exp()).collect();
        let total: f64 = raw.iter().sum();
        raw.iter().map(|v| v / total).collect()
    };
    let mut items = Vec::new();
    let mut curves = Vec::new();
    for j in 0..plan.items {
        let (item, curve) = item(plan, j, n, &grid, &density, &mut dice);
        items.push(item);
        curves.push(curve);
    }
    let npar = items.iter().map(|i| 1 + i.d.len()).sum::<usize>() + plan.sites.saturating_sub(1);
    let loglik = -0.55 * n as f64 * plan.items as f64 * (plan.categories as f64).ln() * 1.4;
    let random = plan.effects == "random";
    Fit {
        format: FORMAT.into(),
        model: plan.model.into(),
        effects: if plan.sites == 0 { "none".into() } else { plan.effects.into() },
        algorithm: "newton".into(),
        mode: "plain".into(),
        n,
        loglik: Some(loglik),
        npar,
        aic: Some(-2.0 * loglik + 2.0 * npar as f64),
        bic: Some(-2.0 * loglik + npar as f64 * (n as f64).ln()),
        sabic: Some(-2.0 * loglik + npar as f64 * ((n as f64 + 2.0) / 24.0).ln()),
        converged: Some(true),
        rounds: 5,
        exchanges: 6,
        numbers_sent: 5 * (npar as u64 * (npar as u64 + 3)) / 2,
        max_gradient: Some(2.1e-10),
        se_type: Some("observed".into()),
        condition_number: Some(412.7),
        quadrature: Quadrature { nodes: 61, from: -6.0, to: 6.0, weights: "density".into() },
        latent: Latent::standard_normal(),
        site_sd: random.then_some(0.31),
        se_site_sd: random.then_some(0.05),
        site_sd_interval: None,
        trace: trace(loglik, &items),
        items,
        sites,
        curves: Some(curves),
        ability_histogram: Some(Histogram {
            edges: (0..=61).map(|q| -6.1 + 0.2 * f64::from(q)).collect(),
            counts: density.iter().map(|w| w * n as f64).collect(),
        }),
        diagnostics: None,
        privacy: None,
        codebook_hash: "9f2c61d0b7e84a35c1f09e7d2b6a48f35de0719c84b2fa6630d1e7c95b8a4f27".into(),
        warnings: Vec::new(),
        seed: None,
        version: "0.1.0".into(),
        provenance: None,
    }
}

fn sites(plan: Plan, dice: &mut Dice) -> Vec<FitSite> {
    let mut sites: Vec<FitSite> = (0..plan.sites)
        .map(|k| {
            let n = 5 + (plan.students_per_site as f64 * (0.3 + 1.4 * dice.uniform())) as u64;
            let effect = 0.3 * dice.normal();
            FitSite {
                name: format!("{}", 900_015 + 37 * k),
                n,
                effect: Some(effect),
                se: Some(1.1 / (n as f64).sqrt()),
            }
        })
        .collect();
    let mean = sites.iter().filter_map(|s| s.effect).sum::<f64>() / plan.sites.max(1) as f64;
    for site in &mut sites {
        site.effect = site.effect.map(|e| e - mean).filter(|_| plan.effects != "none");
        site.se = site.se.filter(|_| plan.effects != "none");
    }
    sites
}

fn item(plan: Plan, j: usize, n: u64, grid: &[f64], density: &[f64], dice: &mut Dice) -> (FitItem, Curve) {
    let model = items::model(plan.model).expect("a known model");
    let slope_free = model.slope() == items::SlopeRule::Free;
    let a = if slope_free { (0.15 + 0.3 * dice.normal()).exp() } else { 1.0 };
    let middle = 1.1 * dice.normal();
    let steps = plan.categories - 1;
    let b: Vec<f64> = (0..steps)
        .map(|c| middle + 1.1 * (c as f64 - (steps - 1) as f64 / 2.0) + 0.1 * dice.uniform())
        .collect();
    let steps_of = model.one_slope().expect("a model of one slope");
    let d = steps_of.intercepts(a, &b);
    let psi: Vec<f64> = std::iter::once(a).chain(d.iter().copied()).collect();
    let curves = Curves::new(model, psi.len(), &psi, grid, Order::Score);
    let answers = (n as f64 * (0.6 + 0.4 * dice.uniform())) as u64;
    let covariance = covariance(&curves, density, answers as f64, slope_free);
    let se = |r: usize| covariance[r][r].sqrt();
    let se_b = (1..=steps)
        .map(|step| {
            // b = −Σ w d / a: derivatives −w/a in d and −b/a in a.
            let mut gradient = vec![0.0; steps + 1];
            gradient[0] = -b[step - 1] / a;
            for (r, w) in steps_of.difficulty_weights(step) {
                gradient[r] = -w / a;
            }
            let mut sum = 0.0;
            for r in 0..=steps {
                for s in 0..=steps {
                    sum += gradient[r] * gradient[s] * covariance[r][s];
                }
            }
            Some(sum.max(0.0).sqrt())
        })
        .collect();
    let names = |a: Option<f64>, d: &dyn Fn(usize) -> f64| -> NamedNumbers {
        let step = |r: usize| if steps == 1 { "d".to_owned() } else { format!("d{r}") };
        let intercepts = (1..=steps).map(|r| (step(r), Some(d(r))));
        std::iter::once(("a1".to_owned(), a)).chain(intercepts).collect()
    };
    let fit = FitItem {
        name: format!("M{:03}Q{:02}", 33 + 7 * j, 1 + j % 4),
        model: plan.model.into(),
        parameters: names(Some(a), &|r| d[r - 1]),
        se: names(slope_free.then(|| se(0)), &|r| se(r)),
        categories: plan.categories,
        codes: (0..plan.categories as u8).collect(),
        merged: Vec::new(),
        a: Some(a),
        d: d.iter().copied().map(Some).collect(),
        b: b.iter().copied().map(Some).collect(),
        se_a: slope_free.then(|| se(0)),
        se_d: (1..=steps).map(|r| Some(se(r))).collect(),
        se_b,
        n: Some(answers),
        fixed: false,
        options: Vec::new(),
        bundle: Vec::new(),
    };
    let weight: Vec<f64> = density.iter().map(|w| w * answers as f64).collect();
    let mut observed: Vec<Vec<f64>> = vec![vec![0.0; grid.len()]; plan.categories];
    for q in 0..grid.len() {
        let noisy: Vec<f64> = (0..plan.categories)
            .map(|c| {
                let p = curves.log_p(c)[q].exp();
                (p + 0.8 * dice.normal() * (p * (1.0 - p) / (weight[q] + 1.0)).sqrt()).max(0.0)
            })
            .collect();
        let total: f64 = noisy.iter().sum();
        for c in 0..plan.categories {
            observed[c][q] = noisy[c] / total;
        }
    }
    let curve = Curve { item: fit.name.clone(), theta: grid.to_vec(), observed, weight };
    (fit, curve)
}

/// Inverse of the expected information of (a, d), or of d alone where the slope is fixed.
fn covariance(curves: &Curves, density: &[f64], n: f64, slope_free: bool) -> Vec<Vec<f64>> {
    let size = curves.categories();
    let product = |r: usize, s: usize| -> f64 {
        if !slope_free && r.min(s) == 0 {
            // As if the slope were known to a millionth.
            return if r == s { 1e12 } else { 0.0 };
        }
        let at = |(q, w): (usize, &f64)| {
            let of = |c: usize| curves.log_p(c)[q].exp() * curves.score(c, r)[q] * curves.score(c, s)[q];
            n * w * (0..size).map(of).sum::<f64>()
        };
        density.iter().enumerate().map(at).sum()
    };
    // Gauss–Jordan on the information beside the identity.
    let mut m: Vec<Vec<f64>> = (0..size)
        .map(|r| {
            let identity = (0..size).map(move |s| f64::from(u8::from(r == s)));
            (0..size).map(|s| product(r, s)).chain(identity).collect()
        })
        .collect();
    for r in 0..size {
        let pivot: Vec<f64> = m[r].iter().map(|v| v / m[r][r]).collect();
        for row in m.iter_mut() {
            let factor = row[r];
            row.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= factor * p);
        }
        m[r] = pivot;
    }
    m.into_iter().map(|row| row[size..].to_vec()).collect()
}

fn trace(loglik: f64, items: &[FitItem]) -> Vec<TraceEntry> {
    [
        (1, 310.0, 8e-2, None),
        (2, 22.0, 1.3e-2, Some(0.74)),
        (3, 0.4, 6e-4, Some(0.11)),
        (4, 4e-4, 3e-6, Some(6e-3)),
        (5, 0.0, 2.1e-10, Some(4e-5)),
    ]
    .into_iter()
    .map(|(round, below, max_gradient, max_change)| TraceEntry {
        round,
        loglik: Some(loglik - below),
        max_gradient: Some(max_gradient),
        max_change,
        slowest_items: items.iter().skip(3 * round % 7).take(3).map(|i| i.name.clone()).collect(),
    })
    .collect()
}

/// Binary and graded items together, with everything that can be wrong.
pub(crate) fn troubled() -> Fit {
    let mut out = fit(Plan { items: 14, effects: "random", ..Plan::default() });
    let poly = fit(Plan { model: "gpcm", items: 5, categories: 4, ..Plan::default() });
    let graded = fit(Plan { model: "grm", items: 4, categories: 5, ..Plan::default() });
    for (kind, other) in [("P", poly), ("G", graded)] {
        for (mut item, mut curve) in other.items.into_iter().zip(other.curves.expect("simulated with curves"))
        {
            item.name = format!("{kind}{}", &item.name[1..]);
            curve.item.clone_from(&item.name);
            out.items.push(item);
            out.curves.as_mut().expect("simulated with curves").push(curve);
        }
    }
    out.model = "mixed".into();
    out.items[3].parameters.forget();
    out.items[3].se.forget();
    out.items[3].a = None;
    out.items[3].d = vec![None];
    out.items[3].b = vec![None];
    out.items[3].se_a = None;
    out.items[3].se_d = vec![None];
    out.items[3].se_b = vec![None];
    out.items[5].b = vec![Some(-619.0)];
    out.items[5].se_b = vec![Some(4194.0)];
    out.sites[2].effect = None;
    out.sites[2].se = None;
    out.converged = Some(false);
    out.max_gradient = Some(3.4e-3);
    out.warnings = vec![
        Warning {
            code: "item_without_estimate".into(),
            message: format!(
                "Item {} was answered correctly by everyone: it has no finite difficulty.",
                out.items[3].name
            ),
        },
        Warning {
            code: "no_convergence".into(),
            message: "The largest gradient per student is 3.4e-3 after 5 rounds; the tolerance is 1e-6."
                .into(),
        },
    ];
    out
}

/// Two groups compared, with one item that works differently and one without an odds ratio.
pub(crate) fn compared() -> Fit {
    let mut out = fit(Plan { items: 16, sites: 4, ..Plan::default() });
    let group = |name: &str, mean: f64| GroupSummary {
        name: name.into(),
        students: 120.0,
        mean: Some(mean),
        se_mean: None,
        sd: Some(1.0),
        se_sd: None,
    };
    out.latent.groups = vec![group("girls", 0.0), group("boys", -0.3)];
    let mut dice = Dice(11);
    let row = |(j, item): (usize, &FitItem)| {
        let delta = if j == 5 { -2.1 } else { 0.5 * dice.normal() };
        Dif {
            item: item.name.clone(),
            group: "boys".into(),
            alpha_mh: (j != 3).then(|| (-delta / 2.35).exp()),
            se_log_alpha_mh: (j != 3).then_some(0.16),
            delta_mh: (j != 3).then_some(delta),
            smd: Some(0.05 * delta),
            smd_sd: Some(0.1 * delta),
            chi2: Some((delta / 0.38).powi(2)),
            p: Some(if j == 5 { 1e-6 } else { 0.3 }),
            p_adjusted: Some(if j == 5 { 1e-5 } else { 0.5 }),
            ets: Some(if j == 5 { "C" } else { "A" }.into()),
            anchor: j != 5,
            flagged: j == 5,
            ..Dif::default()
        }
    };
    let rows = out.items.iter().enumerate().map(row).collect();
    out.diagnostics = Some(Diagnostics { dif: Some(rows), ..Diagnostics::default() });
    out
}

/// Everything that a private run keeps back is gone.
pub(crate) fn withheld() -> Fit {
    let mut out = fit(Plan { items: 12, sites: 8, ..Plan::default() });
    out.mode = "private".into();
    out.privacy = Some(Privacy {
        epsilon: 2.0,
        delta: 1e-6,
        epsilon_replaced: 2.1,
        mechanism: "discrete Gaussian, noise made at the sites".into(),
        error_sources: Vec::new(),
        adjacency: "add or remove one student".into(),
        noise_multiplier: 2.23,
        rounds: 2,
        sites: 3,
        colluders: 1,
        holds_against: "the coordinator together with any 1 of the 3 sites".into(),
    });
    (out.loglik, out.aic, out.bic, out.sabic, out.converged) = (None, None, None, None, None);
    (out.max_gradient, out.condition_number, out.se_type) = (None, None, None);
    (out.curves, out.ability_histogram) = (None, None);
    for item in &mut out.items {
        item.n = None;
    }
    for site in &mut out.sites {
        (site.effect, site.se) = (None, None);
    }
    for entry in &mut out.trace {
        (entry.loglik, entry.max_gradient, entry.max_change) = (None, None, None);
        entry.slowest_items.clear();
    }
    out
}
