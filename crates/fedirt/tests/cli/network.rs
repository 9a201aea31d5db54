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

/// A coordinator that listens, with a plan that `change` has altered, and three sites that have enrolled.
fn set_up(mode: &str, change: impl Fn(String) -> String) -> (Bench, Program) {
    let bench = Bench::simulated();
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr()).expect("a free port").port();
    let sites = SITES.join(",");
    bench.expect(0, &format!(
        "coordinator init centre --listen 127.0.0.1:{port} --study bank --sites {sites} --items-from north.csv --mode {mode} --students 370"
    ));
    let plan = bench.read("centre/plans/bank.toml");
    bench.write("centre/plans/bank.toml", change(plan));
    let coordinator = Program::start(&bench, "coordinator start centre");
    let since = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(since.elapsed() < Duration::from_secs(60), "the coordinator does not come up");
        std::thread::sleep(Duration::from_millis(20));
    }
    for site in SITES {
        bench.expect(0, &format!("site --home home-{site} init"));
        let policy = bench.read(&format!("home-{site}/policy.toml"));
        let policy = policy
            .replace("modes = [\"secure\"", "modes = [\"plain\", \"secure\"")
            .replace("allow_pooled_rows_inferred = false", "allow_pooled_rows_inferred = true")
            .replace("trust_roster_from_coordinator = false", "trust_roster_from_coordinator = true");
        bench.write(&format!("home-{site}/policy.toml"), policy);
        let (printed, _) = bench
            .expect(0, &format!("coordinator invite centre bank {site} --address https://localhost:{port}"));
        let invitation = printed.split_whitespace().find(|word| word.starts_with("fedirt-invitation:"));
        bench.expect(
            0,
            &format!("site --home home-{site} enrol {} --yes", invitation.expect("an invitation")),
        );
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
