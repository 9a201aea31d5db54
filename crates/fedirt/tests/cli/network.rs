//! A coordinator and three sites as programs of their own, over loopback TLS.

use crate::common::Bench;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SITES: [&str; 3] = ["north", "south", "west"];

/// A process that ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Program {
    fn start(bench: &Bench, arguments: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fedirt"));
        command.current_dir(bench.path("")).args(arguments.split_whitespace()).stdin(Stdio::null());
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts"))
    }
}

/// A coordinator in a folder that listens at the port that it gives, with a plan that `change` has altered.
fn serve(bench: &Bench, folder: &str, plan: &str, change: impl Fn(String) -> String) -> (u16, Program) {
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr()).expect("a free port").port();
    bench.expect(0, &format!("coordinator init {folder} --listen 127.0.0.1:{port} {plan}"));
    let files = bench.names(&format!("{folder}/plans"));
    let file = format!("{folder}/plans/{}", files[0]);
    bench.write(&file, change(bench.read(&file)));
    // Both ports of a coordinator are its own.
    let settings = bench.read(&format!("{folder}/coordinator.toml"));
    bench.write(&format!("{folder}/coordinator.toml"), settings.replace("enabled = true", "enabled = false"));
    let coordinator = Program::start(bench, &format!("coordinator start {folder}"));
    let since = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(since.elapsed() < Duration::from_secs(60), "the coordinator does not come up");
        std::thread::sleep(Duration::from_millis(20));
    }
    (port, coordinator)
}

/// A home enrols as a site of a study.
fn enrol(bench: &Bench, home: &str, folder: &str, port: u16, study: &str, site: &str) {
    let (printed, _) = bench
        .expect(0, &format!("coordinator invite {folder} {study} {site} --address https://localhost:{port}"));
    let invitation = printed.split_whitespace().find(|word| word.starts_with("fedirt-invitation:"));
    let invitation = invitation.expect("an invitation");
    bench.expect(0, &format!("site --home home-{home} enrol {invitation} --yes"));
}

/// A coordinator that listens, with a plan that `change` has altered, and three sites that have enrolled.
fn set_up(mode: &str, change: impl Fn(String) -> String) -> (Bench, Program) {
    let bench = Bench::simulated();
    let sites = SITES.join(",");
    let plan = format!("--study bank --sites {sites} --items-from north.csv --mode {mode} --students 370");
    let (port, coordinator) = serve(&bench, "centre", &plan, change);
    for site in SITES {
        bench.expect(0, &format!("site --home home-{site} init"));
        let policy = bench.read(&format!("home-{site}/policy.toml"));
        let policy = policy
            .replace("modes = [\"secure\"", "modes = [\"plain\", \"secure\"")
            .replace("allow_pooled_rows_inferred = false", "allow_pooled_rows_inferred = true")
            .replace("trust_roster_from_coordinator = false", "trust_roster_from_coordinator = true");
        bench.write(&format!("home-{site}/policy.toml"), policy);
        enrol(&bench, site, "centre", port, "bank", site);
    }
    (bench, coordinator)
}

/// All sites join, and the study comes to its end.
fn run(bench: &Bench) {
    let join = |site| format!("site --home home-{site} join bank {site}.csv --population pupils --yes");
    let mut sites: Vec<Program> = SITES.iter().map(|site| Program::start(bench, &join(site))).collect();
    let since = Instant::now();
    for (site, program) in SITES.iter().zip(&mut sites) {
        loop {
            match program.0.try_wait().expect("a process of ours") {
                Some(status) => break assert!(status.success(), "{site}: {status}"),
                None => {
                    assert!(since.elapsed() < Duration::from_secs(120), "{site} does not come to its end")
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_study_that_reaches_max_rounds_has_results_at_the_coordinator_and_at_the_sites() {
    for mode in ["plain", "secure"] {
        let few = |plan: String| {
            let short = plan.replace("max_rounds = 40", "max_rounds = 4");
            let short = short.replace("tolerance = 1e-6", "tolerance = 1e-8");
            assert_ne!(short, plan);
            short
        };
        let (bench, _coordinator) = set_up(mode, few);
        run(&bench);
        let since = Instant::now();
        while !bench.path("centre/results/bank/fit.json").exists() {
            assert!(since.elapsed() < Duration::from_secs(60), "{mode}: no results at the coordinator");
            std::thread::sleep(Duration::from_millis(20));
        }
        let fit = bench.json("centre/results/bank/fit.json");
        assert_eq!(fit["converged"], false, "{mode}");
        assert_eq!(fit["items"].as_array().map(Vec::len), Some(6), "{mode}");
        assert!(fit["items"][0]["se_a"].is_number(), "{mode}: {}", fit["items"][0]);
        for site in SITES {
            let results = format!("home-{site}/studies/bank/results");
            let own = bench.json(&format!("{results}/fit.json"));
            assert_eq!(
                (&own["converged"], &own["items"]),
                (&fit["converged"], &fit["items"]),
                "{mode}, {site}"
            );
            let names = bench.names(&results);
            assert!(
                names.contains(&"scores.csv".into()) && names.contains(&"own_place.json".into()),
                "{names:?}"
            );
        }
    }
}

/// What a hostile coordinator did to the built program, one after the other: it gives the schools other names, leaves an item out
/// of the plan, waits until a student has left, and asks for noisy sums of students whose exact sums it has.
#[test]
fn a_coordinator_that_renames_and_leaves_out_learns_nothing_more() {
    let (bench, _first) = set_up("secure", |plan| plan);
    run(&bench);
    // The same schools under other names, an item less; in one school a student has left.
    let plan = "--study again --sites nord,sud,ouest --items-from north.csv --mode secure --students 370";
    let shorter = |plan: String| {
        let last = plan.rfind("[[item]]").expect("items");
        plan[..last].to_owned()
    };
    let (port, _second) = serve(&bench, "second", plan, shorter);
    enrol(&bench, "north", "second", port, "again", "nord");
    let whole = bench.read("north.csv");
    let last = whole.lines().next().and_then(|line| line.split(',').next_back()).expect("an item").to_owned();
    let fewer: Vec<&str> = whole.lines().take(whole.lines().count() - 1).collect();
    bench.write("fewer.csv", fewer.join("\n") + "\n");
    let join = |file: &str, rest: &str| {
        format!("site --home home-north join again {file} --ignore {last} --yes {rest}")
    };
    let (_, told) = bench.expect(2, &join("fewer.csv", "--population pupils"));
    assert!(told.contains("few students of pupils"), "{told}");
    // The coordinator's new name for the school opens no account, and neither does another one for the students.
    let (_, told) = bench.expect(2, &join("north.csv", ""));
    assert!(told.contains("in your own words") && told.contains("\"pupils\""), "{told}");
    let (_, told) = bench.expect(2, &join("north.csv", "--population nord"));
    assert!(told.contains("of these students are known here as \"pupils\""), "{told}");
    // Noise beside exact sums.
    bench.write("book.csv", "item,categories\nM1,2\nM2,2\nM3,2\nM4,2\nM5,2\nM6,3\n");
    let plan = "--study noisy --sites nord,sud,ouest --codebook book.csv --mode private --students 370";
    let (port, _third) = serve(&bench, "third", plan, |plan| plan);
    enrol(&bench, "north", "third", port, "noisy", "nord");
    bench.expect(0, "site --home home-north budget pupils --epsilon 2");
    let (_, told) = bench.expect(2, "site --home home-north join noisy north.csv --population pupils --yes");
    assert!(told.contains("exact sums of pupils were released"), "{told}");
    // Nothing of all this was answered.
    for study in ["again", "noisy"] {
        let journal = bench.read(&format!("home-north/studies/{study}/journal.jsonl"));
        assert_eq!(journal.lines().count(), 1, "{journal}");
        assert!(journal.contains("\"enrolled\""), "{journal}");
    }
}
