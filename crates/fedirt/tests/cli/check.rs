//! `fedirt check`.

use crate::common::Bench;

#[test]
fn files_are_described() {
    let bench = Bench::simulated();
    let (out, err) = bench.expect(0, "check all.csv --site school");
    assert!(out.contains("370 rows in 3 sites, 6 items") && err.is_empty(), "{out}\n{err}");
    assert!(out.contains("north") && out.contains("M6"), "{out}");
}

#[test]
fn all_problems_are_told() {
    let bench = Bench::simulated();
    bench.write("bad.csv", "a,b\n0,x\n1,-3\n0,0,0\n1,1\n0,1\n");
    let (out, err) = bench.expect(2, "check bad.csv none.csv north.csv");
    assert!(out.is_empty(), "{out}");
    for text in ["error: 4 problems in 2 files", "`x`", "`-3`", "line 4", "none.csv"] {
        assert!(err.contains(text), "{text}\n{err}");
    }
}
