//! How fast the engine is, as ratios to something measured in the same run: a naive loop, complete data, the pooled file.
//!
//! `cargo bench -p fedirt-studies` prints the tables; nothing here passes or fails. A word behind `--` chooses a table: `rounds`,
//! `ordinary`, `sites`, `large`, `diagnostics`, `fits`.
//!
//! A *cell* is one student × item × node of an E-step: log-likelihoods, posteriors and expected counts.

use fedirt_model::centre::{ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::{Effects, Point, Request};
use fedirt_model::fit::TraceEntry;
use fedirt_model::population::Population;
use fedirt_model::quadrature::{Grid, GridSpec};
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::questions::evaluate::Curvature;
use fedirt_model::questions::{Ask, Evaluate};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::site::Site;
use fedirt_protocol::coordinator::Finished;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{self, Observer, RunError, Sent};
use fedirt_protocol::message::{Question, Turn};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use std::hint::black_box;
use std::time::Instant;

/// 2PL answers with lognormal slopes and normal difficulties.
struct Data {
    students: usize,
    psi: Vec<f64>,
    cells: Vec<u8>,
}

fn simulate(students: usize, items: usize) -> Data {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let psi: Vec<(f64, f64)> = (0..items)
        .map(|_| {
            let a = (0.1 + 0.35 * normal(&mut rng)).exp();
            (a, -a * normal(&mut rng))
        })
        .collect();
    let mut cells = Vec::with_capacity(students * items);
    for _ in 0..students {
        let t = normal(&mut rng);
        for (a, d) in &psi {
            cells.push(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-a * t - d).exp())));
        }
    }
    Data { students, psi: psi.into_iter().flat_map(|(a, d)| [a, d]).collect(), cells }
}

/// The E-step as one writes it first: student by student, node by node.
fn naive(data: &Data, items: usize, students: usize, grid: &Grid) -> (f64, Vec<f64>) {
    let q = grid.len();
    let mut log_p = vec![0.0; items * 2 * q];
    for j in 0..items {
        for (n, v) in grid.nodes().iter().enumerate() {
            let e = data.psi[2 * j] * v + data.psi[2 * j + 1];
            log_p[(2 * j) * q + n] = -(e.exp()).ln_1p();
            log_p[(2 * j + 1) * q + n] = e - (e.exp()).ln_1p();
        }
    }
    let mut counts = vec![0.0; items * 2 * q];
    let mut loglik = 0.0;
    let mut row = vec![0.0; q];
    for i in 0..students {
        let answers = &data.cells[i * items..(i + 1) * items];
        row.copy_from_slice(grid.log_weights());
        for (j, &x) in answers.iter().enumerate() {
            for n in 0..q {
                row[n] += log_p[(2 * j + usize::from(x)) * q + n];
            }
        }
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        for x in &mut row {
            *x = (*x - top).exp();
            total += *x;
        }
        loglik += top + total.ln();
        for (j, &x) in answers.iter().enumerate() {
            for n in 0..q {
                counts[(2 * j + usize::from(x)) * q + n] += row[n] / total;
            }
        }
    }
    (loglik, counts)
}

/// CPU seconds of this process; wall time where the system does not tell.
fn cpu_seconds(start: Instant) -> f64 {
    let ticks = std::fs::read_to_string("/proc/self/stat").ok().and_then(|text| {
        let rest = text.rsplit_once(')')?.1;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    });
    ticks.map_or_else(|| start.elapsed().as_secs_f64(), |t| t / 100.0)
}

/// Largest resident memory so far, in MB.
fn peak_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}

/// Seconds that this thread has run, so that a busy machine does not count; wall time where the system does not tell.
fn thread_seconds(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|t| t.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |n| n * 1e-9)
}

fn best(times: usize, mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    let seconds = (0..times).map(|_| {
        let before = thread_seconds(start);
        f();
        thread_seconds(start) - before
    });
    seconds.fold(f64::INFINITY, f64::min)
}

fn request(items: usize, psi: &[f64], curvature: Curvature) -> Request {
    let entries: Vec<DesignItem> =
        (0..items).map(|column| DesignItem { column, model: "2pl".into(), codes: vec![0, 1] }).collect();
    Request {
        design: Design::try_from(entries).expect("binary items make a design"),
        parts: vec![0; items],
        population: GridSpec::default().into(),
        weight_scale: 1.0,
        weighted: false,
        effects: Effects::None,
        ask: Evaluate {
            points: vec![Point { psi: psi.to_vec(), site_sd: 0.0 }],
            curvature,
            effect_totals: true,
        }
        .into(),
    }
}

fn features() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        let known = [
            ("avx512f", std::is_x86_feature_detected!("avx512f")),
            ("avx2", std::is_x86_feature_detected!("avx2")),
            ("fma", std::is_x86_feature_detected!("fma")),
        ];
        let names: Vec<&str> = known.iter().filter(|f| f.1).map(|f| f.0).collect();
        format!("x86_64 {}", names.join(" "))
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::env::consts::ARCH.to_owned()
}

fn rounds() {
    let (students, items) = (100_000, 100);
    let data = simulate(students, items);
    let grid = Grid::new(GridSpec::default());
    let cells = |students: usize| (students * items * grid.len()) as f64;
    println!("CPU: {}; one thread; N = {students}, J = {items}, q = {}", features(), grid.len());
    let sample = 10_000;
    let slow = best(3, || {
        black_box(naive(&data, items, sample, &grid));
    }) / cells(sample);
    let table = ResponseTable::new(data.students, items, data.cells.clone()).expect("the table is full");
    let mut site = Site::new(table);
    let line = |name: &str, per_cell: f64| {
        println!("{name:<44} {:>8.3} ns per cell {:>8.1} × as fast", per_cell * 1e9, slow / per_cell);
    };
    line("naive loop, E-step", slow);
    for (name, curvature) in
        [("E-step and gradient", Curvature::None), ("with the observed information", Curvature::Observed)]
    {
        let request = request(items, &data.psi, curvature);
        black_box(site.answer(&request).expect("the answer of a site"));
        let fast = best(5, || {
            black_box(site.answer(&request).expect("the answer of a site"));
        });
        line(name, fast / cells(students));
    }
}

/// Forgets the largest resident memory so far, where the system can.
fn forget_peak() {
    // Where it cannot, the figures are those of the largest run so far.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// CPU seconds of a whole fit without site effects, and its result.
fn fitted(
    model: Option<&str>,
    items: usize,
    tables: Vec<ResponseTable>,
) -> (f64, Result<Finished, RunError>) {
    let (seconds, run, _) = watched(model, items, tables, Effects::None, &[]);
    (seconds, run)
}

/// CPU seconds when each question was asked.
#[derive(Default)]
struct Watch(Vec<(&'static str, f64)>);

impl Observer for Watch {
    fn asks(&mut self, _turn: Turn, question: &Question) {
        let Question::Sums(request) = question else { return };
        let name = match &request.ask {
            Ask::Diagnose(_) | Ask::Dif(_) => "diagnose",
            Ask::Close(_) => "close",
            Ask::Counts(_)
            | Ask::Start(_)
            | Ask::Evaluate(_)
            | Ask::Published(_)
            | Ask::Train(_)
            | Ask::LocalFit(_)
            | Ask::Products(_) => "rounds",
        };
        self.0.push((name, cpu_seconds(Instant::now())));
    }
    fn round(&mut self, _entry: &TraceEntry) {}
    fn declared(&mut self, _site: &str, _declaration: &Declaration) {}
    fn sent(&mut self, _site: &str, _turn: Turn, _question: &Question, _sent: Sent<'_>) {}
    fn wants_numbers(&self) -> bool {
        false
    }
}

impl Watch {
    fn at(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(asked, _)| *asked == name).map(|(_, at)| *at)
    }
}

/// The same of any fit, with the times of its questions.
fn watched(
    model: Option<&str>,
    items: usize,
    tables: Vec<ResponseTable>,
    effects: Effects,
    diagnostics: &[Diagnostic],
) -> (f64, Result<Finished, RunError>, Watch) {
    let item = |j: usize| ItemPlan {
        name: format!("I{j}"),
        model: model.map(str::to_owned),
        codes: None,
        merged: Vec::new(),
        anchor: None,
    };
    let plan = Plan {
        items: (0..items).map(item).collect(),
        effects,
        population: Population::default(),
        settings: Settings::default(),
        publish_effects: true,
        secrecy: Secrecy::BySite,
        diagnostics: diagnostics.to_vec(),
        groups: Vec::new(),
        purify: true,
        compare_sites: false,
    };
    let sites = tables.into_iter().enumerate().map(|(k, table)| (format!("S{k}"), table)).collect();
    let start = Instant::now();
    let before = cpu_seconds(start);
    let mut watch = Watch::default();
    let run = in_process::run(plan, sites, &mut watch);
    (cpu_seconds(start) - before, run.map(|(finished, _)| finished), watch)
}

/// Answers in five categories by the graded model, thresholds half a unit apart.
fn graded(students: usize, items: usize) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let slopes: Vec<f64> = (0..items).map(|_| (0.1 + 0.35 * normal(&mut rng)).exp()).collect();
    let mut cells = Vec::with_capacity(students * items);
    for _ in 0..students {
        let t = normal(&mut rng);
        for (j, a) in slopes.iter().enumerate() {
            let (u, shift) = (rng.random::<f64>(), (j % 5) as f64 * 0.4 - 0.8);
            let above = |step: &f64| u < 1.0 / (1.0 + (-a * (t - shift - step)).exp());
            cells.push([-1.0, -0.4, 0.4, 1.0].iter().filter(|step| above(step)).count() as u8);
        }
    }
    cells
}

/// Fits of ordinary data, as ratios to fits of the simplest data of the same size in the same run.
fn ordinary() {
    let (students, items) = (10_000, 100);
    println!("\nwhole fits of {students} × {items}, CPU seconds and ratios");
    let table = |cells: Vec<u8>| ResponseTable::new(students, items, cells).expect("the table is full");
    let seconds = |model: Option<&str>, cells: Vec<u8>| {
        // The second run finds everything warm.
        drop(fitted(model, items, vec![table(cells.clone())]));
        fitted(model, items, vec![table(cells)]).0
    };
    let complete = simulate(students, items).cells;
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let gaps = complete.iter().map(|x| if rng.random::<f64>() < 0.05 { MISSING } else { *x }).collect();
    let categories = graded(students, items);
    let (base, gpcm) = (seconds(None, complete), seconds(Some("gpcm"), categories.clone()));
    let (missing, grm) = (seconds(None, gaps), seconds(Some("grm"), categories));
    println!("{:<44} {base:>8.2}", "2PL, complete");
    println!("{:<44} {missing:>8.2} {:>8.1} × complete", "2PL, 5 % missing", missing / base);
    println!("{:<44} {gpcm:>8.2}", "GPCM, five categories");
    println!("{:<44} {grm:>8.2} {:>8.1} × GPCM", "GRM, five categories", grm / gpcm);
}

/// A line of CPU seconds, peak memory, and a ratio.
fn told(name: &str, seconds: f64, ratio: &str) {
    let memory = peak_memory().map_or_else(|| "–".into(), |m| format!("{m:.0}"));
    println!("{name:<44} {seconds:>8.2} s {memory:>6} MB   {ratio}");
}

/// Few students at many sites, as a ratio to the same students at one.
fn many_sites() {
    let (students, items, sites) = (2_000, 200, 400);
    println!("\n{students} × {items} at {sites} sites: CPU, peak memory, ratio to one site");
    let cells = simulate(students, items).cells;
    let table = |cells: &[u8]| {
        ResponseTable::new(cells.len() / items, items, cells.to_vec()).expect("the table is full")
    };
    let at_sites = || cells.chunks_exact(students / sites * items).map(table).collect::<Vec<_>>();
    let seconds = |tables: &dyn Fn() -> Vec<ResponseTable>, effects| {
        // The second run finds everything warm.
        drop(watched(None, items, tables(), effects, &[]));
        forget_peak();
        watched(None, items, tables(), effects, &[]).0
    };
    let one = seconds(&|| vec![table(&cells)], Effects::None);
    told("one site", one, "");
    let none = seconds(&at_sites, Effects::None);
    told("no site effects", none, &format!("{:.1} × one site", none / one));
    let fixed = seconds(&at_sites, Effects::Fixed);
    told("fixed site effects", fixed, &format!("{:.1} × one site", fixed / one));
}

/// Banks above the number of items for which pairs are looked at, as a ratio to one naive E-step of the same answers.
fn large_banks() {
    let (students, items) = (20_000, 3_000);
    println!("\n{students} × {items}: CPU, peak memory, ratio to one E-step of the naive loop");
    let data = simulate(students, items);
    let grid = Grid::new(GridSpec::default());
    let sample = 500;
    let naive = best(1, || {
        black_box(naive(&data, items, sample, &grid));
    }) * students as f64
        / sample as f64;
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for share in [0.02, 1.0] {
        let given = |x: &u8| if rng.random::<f64>() < share { *x } else { MISSING };
        let cells = data.cells.iter().map(given).collect();
        let table = ResponseTable::new(students, items, cells).expect("the table is full");
        forget_peak();
        let (seconds, run, _) = watched(None, items, vec![table], Effects::None, &[]);
        let rounds =
            run.map_or_else(|e| e.to_string(), |f| format!("{} rounds, {}", f.fit.rounds, f.fit.algorithm));
        let ratio = format!("{:.2} × naive ({rounds})", seconds / (naive * share));
        told(&format!("{:.0} % of the answers given", 100.0 * share), seconds, &ratio);
    }
}

/// The check of the model, as a ratio to the fit.
fn diagnostics() {
    println!("\nthe check of the model, 100 items, two categories: CPU and ratio to the fit");
    for students in [10_000, 100_000] {
        let data = simulate(students, 100);
        let table = ResponseTable::new(students, 100, data.cells).expect("the table is full");
        let start = Instant::now();
        let begun = cpu_seconds(start);
        let (_, _, watch) = watched(None, 100, vec![table], Effects::None, &Diagnostic::ALL);
        let end = cpu_seconds(start);
        if let (Some(asked), Some(closing)) = (watch.at("diagnose"), watch.at("close")) {
            let (fit, sites) = (asked - begun, closing - asked);
            println!(
                "{students:>7} students: fit {fit:.2} s, sums of sites {sites:.2} s ({:.1} × the fit), closing sums and centre {:.2} s",
                sites / fit,
                end - closing
            );
        }
    }
}

fn fits() {
    println!("\nwhole fits, 2PL, no site effects, with standard errors (data in memory), all threads");
    println!(
        "{:>10} × {:<5} {:>7} {:>12} {:>18} {:>16}",
        "students", "items", "rounds", "CPU seconds", "µs CPU per student", "peak memory MB"
    );
    for (students, items) in [(10_000, 50), (100_000, 50), (1_000_000, 50), (100_000, 100)] {
        let data = simulate(students, items);
        let table = ResponseTable::new(students, items, data.cells).expect("the table is full");
        let (seconds, run) = fitted(None, items, vec![table]);
        let rounds = run.map_or_else(|e| e.to_string(), |f| f.fit.rounds.to_string());
        let memory = peak_memory().map_or_else(|| "–".into(), |m| format!("{m:.0}"));
        println!(
            "{students:>10} × {items:<5} {rounds:>7} {seconds:>12.2} {:>18.2} {memory:>16}",
            seconds * 1e6 / students as f64
        );
    }
}

fn main() {
    let one_thread = || match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(rounds),
        Err(error) => eprintln!("no pool of one thread: {error}"),
    };
    let tables: [(&str, &dyn Fn()); 6] = [
        ("rounds", &one_thread),
        ("ordinary", &ordinary),
        ("sites", &many_sites),
        ("large", &large_banks),
        ("diagnostics", &diagnostics),
        ("fits", &fits),
    ];
    // Cargo adds flags of its own, such as --bench.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (_, table) in tables.iter().filter(|(name, _)| chosen.is_empty() || chosen.iter().any(|c| c == name))
    {
        table();
    }
}
