//! Small studies for simulated worlds, and what an undisturbed run of them gives.

use crate::in_process::{self, Setting, Unobserved};
use crate::private::PrivateTerms;
use crate::terms::{Deadlines, Masking, OnLoss, Terms};
use crate::{SiteId, StudyId};
use fedirt_model::centre::{ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::FitItem;
use fedirt_model::population::Population;
use fedirt_model::private::{MissingAnswers, PrivateMethod};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::Thresholds;
use rand::rngs::ChaCha20Rng;
use rand::{Rng, RngExt, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex};

const ITEMS: usize = 4;
const STUDENTS: usize = 30;
/// Most sites of a world.
pub(super) const MOST_SITES: usize = 7;

/// What a study of the simulation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) mode: Mode,
    pub(super) sites: usize,
    /// Most rounds of estimation.
    pub(super) max_rounds: usize,
}

/// Enough rounds for nearly every study of the simulation to converge, also when it begins again without a site.
pub(super) const ENOUGH_ROUNDS: usize = 50;
/// So few that no study converges.
pub(super) const TOO_FEW_ROUNDS: usize = 3;

fn name(k: usize) -> SiteId {
    SiteId::try_from(format!("site {k}").as_str()).expect("a proper name")
}

/// The answers of a site: the same in every world.
pub(super) fn table(k: usize) -> ResponseTable {
    let mut random = ChaCha20Rng::seed_from_u64(1000 + k as u64);
    let mut cells = Vec::with_capacity(STUDENTS * ITEMS);
    for _ in 0..STUDENTS {
        let ability = f64::from(random.next_u32()) / f64::from(u32::MAX) * 4.0 - 2.0 + 0.2 * k as f64;
        for j in 0..ITEMS {
            let p = 1.0 / (1.0 + (-(1.2 * ability + 0.6 * j as f64 - 0.9)).exp());
            cells.push(u8::from(random.random_bool(p)));
        }
    }
    ResponseTable::new(STUDENTS, ITEMS, cells).expect("a whole number of rows")
}

fn plan(kind: Kind) -> Plan {
    let item = |j| ItemPlan {
        name: format!("i{j}"),
        model: Some("2pl".into()),
        codes: Some(vec![0, 1]),
        merged: Vec::new(),
        anchor: None,
    };
    Plan {
        items: (0..ITEMS).map(item).collect(),
        effects: Effects::Fixed,
        population: Population { nodes: 15, range: 4.0, ..Population::default() },
        settings: Settings { max_rounds: kind.max_rounds, ..Settings::default() },
        publish_effects: kind.mode == Mode::Plain,
        secrecy: Secrecy::BySite,
        diagnostics: Vec::new(),
        groups: Vec::new(),
        purify: true,
        compare_sites: false,
    }
}

fn private() -> PrivateTerms {
    PrivateTerms {
        epsilon: 1.0,
        delta: 1e-6,
        mixture: false,
        missing: MissingAnswers::Wrong,
        site_sd: 0.0,
        booklets: Vec::new(),
        method: PrivateMethod::default(),
        seed: 1,
    }
}

/// The terms of a world's study.
pub(super) fn terms(kind: Kind, on_loss: OnLoss) -> Terms {
    let mode = kind.mode;
    Terms {
        study: StudyId::try_from("simulated").expect("a proper name"),
        plan_hash: [7; 32],
        plan: plan(kind),
        mode,
        private: (mode == Mode::Private).then(private),
        thresholds: Thresholds::new(3, 0).expect("three sites"),
        masking: Masking::Full,
        on_loss,
        deadlines: Deadlines { join: Some(30_000), hello: 20_000, upload: 20_000 },
        sites: (0..kind.sites).map(|k| (name(k), name(k).to_string())).collect(),
    }
}

/// What an undisturbed run gives.
#[derive(Clone)]
pub(super) struct Undisturbed {
    pub(super) rounds: usize,
    pub(super) converged: bool,
    pub(super) items: Vec<FitItem>,
}

type Results = BTreeMap<(Kind, BTreeSet<usize>), Undisturbed>;
static UNDISTURBED: LazyLock<Mutex<Results>> = LazyLock::new(Mutex::default);

/// The result of an undisturbed run of some of the sites. In `private` the noise differs from run to run: nothing.
pub(super) fn undisturbed(kind: Kind, cohort: &BTreeSet<SiteId>) -> Option<Undisturbed> {
    if kind.mode == Mode::Private {
        return None;
    }
    let indices: BTreeSet<usize> = (0..kind.sites).filter(|k| cohort.contains(&name(*k))).collect();
    let key = (kind, indices);
    let mut known = UNDISTURBED.lock().ok()?;
    if let Some(result) = known.get(&key) {
        return Some(result.clone());
    }
    let sites = key.1.iter().map(|k| (name(*k).to_string(), table(*k))).collect();
    let mut random = ChaCha20Rng::seed_from_u64(5);
    let run = in_process::run_as(Setting::of(kind.mode), plan(kind), sites, &mut random, &mut Unobserved);
    let fit = run.ok()?.0.fit;
    let result = Undisturbed { rounds: fit.rounds, converged: fit.converged == Some(true), items: fit.items };
    known.insert(key, result.clone());
    Some(result)
}
