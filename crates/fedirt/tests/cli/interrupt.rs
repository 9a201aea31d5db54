//! Ctrl-C leaves the output folder as it was, or complete.

use crate::common::Bench;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// All names in a folder and the folders in it; none where there is no folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeSet::new() };
    let mut out = BTreeSet::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        out.extend(names(&path).into_iter().map(|inner| format!("{name}/{inner}")));
        out.insert(name);
    }
    out
}

fn interrupted(child: Child, after: Duration) -> Output {
    std::thread::sleep(after);
    let pid = child.id().to_string();
    // Where the program has ended already there is nothing to interrupt.
    Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status().expect("kill runs");
    child.wait_with_output().expect("it ends")
}

#[test]
fn an_interrupted_fit_writes_everything_or_nothing() {
    let bench = Bench::new();
    bench.expect(0, "simulate --sites 1 --students 1500 --items 30 --seed 1 --out sim");
    let fit = |out: &str| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fedirt"));
        command.arg("fit").arg(bench.path("sim/responses.csv"));
        command.args(["--ignore", "id,site", "--nodes", "201", "--quiet", "--out"]).arg(bench.path(out));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let begun = Instant::now();
    assert!(fit("whole").status().unwrap().success());
    let duration = begun.elapsed();
    let complete = names(&bench.path("whole"));
    assert!(complete.contains("fit.json") && complete.contains("diagnostics/items.csv"), "{complete:?}");
    let mut nothing = 0;
    for part in 0..10u32 {
        let out = format!("out{part}");
        let ended = interrupted(fit(&out).spawn().unwrap(), duration * part / 9);
        let (found, told) = (names(&bench.path(&out)), String::from_utf8_lossy(&ended.stderr));
        match ended.status.code() {
            Some(0) => assert_eq!(found, complete),
            Some(130) if told.contains("nothing was written") => assert_eq!(found, BTreeSet::new(), "{told}"),
            Some(130) => assert_eq!(found, complete, "{told}"),
            // The signal came before the program had begun.
            None => assert_eq!(found, BTreeSet::new()),
            other => panic!("{other:?}: {told}"),
        }
        nothing += u32::from(found.is_empty());
    }
    assert!(nothing > 0, "none of the runs was interrupted");
    // What an earlier run wrote stays.
    let before = std::fs::read(bench.path("whole/items.csv")).unwrap();
    interrupted(fit("whole").spawn().unwrap(), duration / 4);
    assert_eq!(names(&bench.path("whole")), complete);
    assert_eq!(std::fs::read(bench.path("whole/items.csv")).unwrap(), before);
}

/// A simulation that is interrupted leaves no file, no part of one, and no folder that was made for it.
#[test]
fn an_interrupted_simulation_writes_everything_or_nothing() {
    let bench = Bench::new();
    let simulate = |out: &str| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fedirt"));
        command.args([
            "simulate",
            "--sites",
            "3",
            "--students",
            "20000",
            "--items",
            "40",
            "--seed",
            "1",
            "--per-site",
        ]);
        command.args(["--quiet", "--out"]).arg(bench.path(out)).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let begun = Instant::now();
    let whole = simulate("whole").output().unwrap();
    let duration = begun.elapsed();
    assert!(whole.status.success() && whole.stdout.is_empty() && whole.stderr.is_empty(), "{whole:?}");
    let complete = names(&bench.path("whole"));
    assert_eq!(complete.len(), 5, "{complete:?}");
    let mut nothing = 0;
    for part in 1..6u32 {
        let out = format!("out{part}");
        let ended = interrupted(simulate(&out).spawn().unwrap(), duration * part / 6);
        let found = names(&bench.path(&out));
        match ended.status.code() {
            Some(0) => assert_eq!(found, complete),
            // `None`: the signal came before the program had begun to write.
            Some(130) | None => assert!(found.is_empty() && !bench.path(&out).exists(), "{found:?}"),
            other => panic!("{other:?}"),
        }
        nothing += u32::from(found.is_empty());
    }
    assert!(nothing > 0, "none of the runs was interrupted");
}
