//! `fedirt report`.

use crate::common::Bench;

#[test]
fn the_report_is_that_of_the_fit() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --out out");
    let (out, err) = bench.expect(0, "report out/fit.json");
    assert!(out.is_empty() && err.contains("wrote report.html"), "{err}");
    assert!(bench.read("report.html") == bench.read("out/report.html"));
    bench.write("old.html", "old");
    bench.expect(0, "report out/fit.json --out old.html");
    assert!(bench.read("old.html") == bench.read("report.html"));
}

#[test]
fn places_that_cannot_be_written_to() {
    let bench = Bench::simulated();
    bench.expect(0, "fit all.csv --site school --out out");
    let (_, err) = bench.expect(2, "report out/fit.json --out out");
    assert!(err.contains("error: out: this is a folder"), "{err}");
    let (_, err) = bench.expect(2, "report out/fit.json --out nowhere/report.html");
    assert!(err.contains("nowhere/report.html"), "{err}");
    let (_, err) = bench.expect(2, "report out");
    assert!(err.contains("error: out: "), "{err}");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let bench = Bench::simulated();
    bench.expect(0, "fit north.csv --out out");
    bench.write("real.html", "");
    std::os::unix::fs::symlink(bench.path("real.html"), bench.path("link.html")).unwrap();
    bench.expect(0, "report out/fit.json --out link.html");
    assert!(bench.path("link.html").is_symlink() && bench.read("real.html").starts_with("<!doctype"));
}
