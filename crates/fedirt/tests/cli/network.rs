//! A coordinator and three sites as programs of their own, over loopback TLS.

use crate::common::{Bench, assert_close};
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

/// All sites join with further flags, and the study comes to its end.
fn run(bench: &Bench, flags: &str) {
    let join =
        |site| format!("site --home home-{site} join bank {site}.csv --population pupils --yes {flags}");
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
        run(&bench, "");
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

/// From the plan to the script, and from the script to the same fit: what the plan says about population, groups, checks and grid
/// is in the command.
#[test]
fn a_study_is_repeated_by_its_script() {
    let change = |plan: String| {
        let changed = plan.replacen("effects = \"fixed\"", "effects = \"none\"", 1);
        let changed = changed.replacen("nodes = 61", "nodes = 41", 1);
        let changed = changed.replacen("compare_sites = false", "compare_sites = true", 1);
        let groups = "[groups]\nquestion = \"Sex\"\nnames = [\"girl\", \"boy\"]\n\n[publish]";
        changed.replacen("[publish]", groups, 1)
    };
    let (bench, coordinator) = set_up("plain", change);
    for site in SITES {
        let text = bench.read(&format!("{site}.csv"));
        let group = |(at, line): (usize, &str)| match at {
            0 => format!("{line},group\n"),
            at => format!("{line},{}\n", ["girl", "boy", "boy"][at % 3]),
        };
        bench.write(&format!("{site}.csv"), text.lines().enumerate().map(group).collect::<String>());
    }
    run(&bench, "--group group");
    let since = Instant::now();
    while !bench.path("centre/results/bank/fit.json").exists() {
        assert!(since.elapsed() < Duration::from_secs(60), "no results at the coordinator");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(coordinator);
    bench.expect(0, "coordinator export centre bank --out export");
    for site in SITES {
        std::fs::copy(bench.path(&format!("{site}.csv")), bench.path(&format!("export/{site}.csv")))
            .expect("the file can be copied");
    }
    let mut shell = Command::new("sh");
    shell.arg("repeat.sh").env("FEDIRT", env!("CARGO_BIN_EXE_fedirt")).current_dir(bench.path("export"));
    let output = shell.output().expect("there is a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (there, here) = (bench.json("export/fit.json"), bench.json("export/repeated/fit.json"));
    for part in ["items", "loglik", "npar", "n", "quadrature", "latent"] {
        assert_close(&there[part], &here[part], 1e-6, part);
    }
    assert_close(
        &there["diagnostics"]["reliability"],
        &here["diagnostics"]["reliability"],
        1e-6,
        "reliability",
    );
    assert_eq!(here["latent"]["groups"].as_array().map(Vec::len), Some(2), "{}", here["latent"]);
    assert!(here["diagnostics"]["dif"].is_array(), "{}", here["diagnostics"]);
}

/// A site looks at its own file before it takes part: a workbook gives the numbers of the same answers as text, and a code that the
/// plan does not have is a question with its place.
#[test]
fn a_site_checks_ordinary_files_over_the_network() {
    let (bench, _coordinator) = set_up("secure", |plan| plan);
    let text = bench.read("north.csv");
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (row, line) in (0..).zip(text.lines()) {
        for (column, cell) in (0..).zip(line.split(',')).filter(|(_, cell)| !cell.is_empty()) {
            match cell.parse::<f64>() {
                Ok(number) => sheet.write(row, column, number),
                Err(_) => sheet.write(row, column, cell),
            }
            .expect("a cell can be written");
        }
    }
    workbook.save(bench.path("north.xlsx")).expect("a workbook can be written");
    bench.write("semicolons.csv", text.replace(',', ";"));
    let preview =
        |file: &str| bench.expect(0, &format!("site --home home-north preview bank {file} --json")).0;
    let right = preview("north.csv");
    assert_eq!(preview("north.xlsx"), right);
    assert_eq!(preview("semicolons.csv"), right);
    let nine = text.replacen("\n1,", "\n9,", 1);
    let line = nine.lines().position(|line| line.starts_with("9,")).expect("a nine") + 1;
    bench.write("nine.csv", nine);
    let (out, err) = bench.expect(2, "site --home home-north preview bank nine.csv --json");
    assert!(out.is_empty() && err.contains("nine.csv") && err.contains(&format!("line {line}")), "{err}");
    assert!(err.contains("M1") && err.contains("--missing 9"), "{err}");
    bench.write("spelt.csv", text.replacen("M1", "m_1", 1));
    let (_, err) = bench.expect(2, "site --home home-north preview bank spelt.csv");
    assert!(err.contains("m_1") && err.contains("M1") && err.contains("--map FILE"), "{err}");
}

/// What a hostile coordinator did to the built program, one after the other: it gives the schools other names, leaves an item out
/// of the plan, waits until a student has left, and asks for noisy sums of students whose exact sums it has.
#[test]
fn a_coordinator_that_renames_and_leaves_out_learns_nothing_more() {
    let (bench, _first) = set_up("secure", |plan| plan);
    run(&bench, "");
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
