//! Pipes that close, disks that are full, and silence where nobody looks.

use crate::common::{Bench, names};
use std::fs::File;
use std::process::{Command, Stdio};

fn program(bench: &Bench, arguments: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fedirt"));
    command.current_dir(bench.path("")).args(arguments.split_whitespace());
    command
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::simulated();
    for arguments in
        ["fit all.csv --site school --json", "fit all.csv --site school", "check all.csv --site school"]
    {
        let mut child =
            program(&bench, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panic"), "{arguments}");
    }
    // Nor is a closed standard error.
    let mut child = program(&bench, "fit none.csv").stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn progress_is_for_terminals() {
    let bench = Bench::simulated();
    let (_, err) = bench.expect(0, "fit all.csv --site school --json --algorithm em");
    assert!(err.lines().all(|line| line.starts_with("note:") || line.starts_with("warning:")), "{err}");
    assert!(!err.contains("round") && !err.contains('\r'), "{err}");
}

#[test]
fn a_full_disk_behind_a_stream_or_a_file() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        eprintln!("skipped: there is no /dev/full");
        return;
    };
    let bench = Bench::simulated();
    let output = program(&bench, "fit north.csv --json").stdout(full).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("error: standard output: the disk is full"), "{err}");
    bench.expect(0, "fit north.csv --out out");
    for arguments in ["score out/fit.json north.csv --out /dev/full", "report out/fit.json --out /dev/full"] {
        let (_, err) = bench.expect(2, arguments);
        assert!(err.contains("error: /dev/full: the disk is full"), "{err}");
    }
    assert!(File::options().write(true).open("/dev/full").is_ok());
}

/// A disk of 48 kB, where the system allows one to be made.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=48k", "tmpfs"]).arg(folder.path());
        mount.output().ok()?.status.success().then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let bench = Bench::simulated();
    let out = disk.0.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("items.csv"), "before").unwrap();
    let (printed, err) =
        bench.expect(2, &format!("fit all.csv --site school --transcript --out {}", out.display()));
    assert!(printed.is_empty() && err.contains("the disk is full"), "{printed}\n{err}");
    assert_eq!(names(&out), ["items.csv"]);
    assert_eq!(std::fs::read_to_string(out.join("items.csv")).unwrap(), "before");
    let new = disk.0.path().join("new");
    bench.expect(2, &format!("fit all.csv --site school --out {}", new.display()));
    assert!(!new.exists());
}

/// `--quiet`: files and exit status say it all; JSON and what can be read only once are still printed.
#[test]
fn quiet_commands_print_nothing() {
    let bench = Bench::simulated();
    bench.expect(0, "simulate --sites 3 --students 60 --items 5 --seed 1 --out sim --quiet");
    bench.expect(0, "fit sim/responses.csv --site site --id id --model rasch --out rasch --quiet");
    bench.expect(0, "fit sim/responses.csv --site site --id id --out 2pl --quiet");
    for command in [
        "simulate --sites 3 --students 60 --items 5 --seed 1 --out sim --quiet",
        "compare rasch/fit.json 2pl/fit.json --quiet",
        "compare rasch/fit.json 2pl/fit.json --picture picture.svg --quiet",
        "privacy epsilon --noise 22.3 --rounds 100 --quiet",
        "privacy --quiet noise --epsilon 1 --rounds 2",
        "privacy plan --sites 5 --students 100 --items 5 --epsilon 1 --out forecast --quiet",
        "sensitivity sim/responses.csv --site site --id id --sites --no-diagnostics --quiet",
        "coordinator init hub --study s --sites a,b,c --items-from sim/responses.csv --ignore id,site --students 400 --quiet",
        "coordinator status hub --quiet",
        "site --home office init --quiet",
        "site --home office status --quiet",
        "site --home office ledger --quiet",
    ] {
        let (out, err) = bench.expect(0, command);
        assert!(out.is_empty(), "{command}: {out}");
        assert!(!err.contains("note:"), "{command}: {err}");
    }
    assert!(bench.path("picture.svg").exists() && bench.path("forecast/forecast.json").exists());
    let (out, _) = bench.expect(0, "privacy epsilon --noise 22.3 --rounds 100 --json --quiet");
    assert!(out.starts_with('{'), "{out}");
    let (out, _) = bench.expect(0, "coordinator access hub add eva --quiet");
    assert!(!out.trim().is_empty(), "a key is printed once");
}
