//! Input that cannot be used: status 2, `error:`, all problems, nothing written.

use crate::common::Bench;

fn refused(bench: &Bench, arguments: &str, wanted: &[&str]) -> String {
    let (out, err) = bench.expect(2, &format!("fit {arguments}"));
    assert!(out.is_empty() && err.starts_with("error:"), "{out}\n{err}");
    for text in wanted {
        assert!(err.contains(text), "{text:?} is not in\n{err}");
    }
    // No debug output of Rust types.
    for text in ["Err(", "Some(", "os error", "{ "] {
        assert!(!err.contains(text), "{err}");
    }
    err
}

#[test]
fn files_that_hold_no_test() {
    let bench = Bench::new();
    for (name, text, wanted) in [
        ("empty.csv", "", "empty"),
        ("header.csv", "a,b\n", "no row"),
        ("one.csv", "a\n0\n1\n", "one item"),
        ("ragged.csv", "a,b\n0,1\n0\n1,1\n", "line 3"),
        ("words.csv", "a,b\n0,1\noops,1\n1,0\n1,1\n0,0\n", "`oops`"),
        ("negative.csv", "a,b\n0,1\n-1,1\n1,0\n1,1\n0,0\n", "negative"),
        ("columns.csv", "a,b,a\n0,1,1\n", "column a"),
        ("ids.csv", "id,a,b\np,0,1\np,1,0\n", "line 3"),
        ("missing.csv", "a,b\nNA,\n.,NA\n", "answer"),
    ] {
        bench.write(name, text);
        refused(&bench, name, &[name, wanted, "→"]);
        refused(&bench, &format!("{name} --json"), &[name, wanted]);
    }
}

#[test]
fn files_that_are_no_files() {
    let bench = Bench::simulated();
    std::fs::create_dir(bench.path("folder.csv")).unwrap();
    let err =
        refused(&bench, "folder.csv nort.csv north.csv north.csv", &["folder.csv", "nort.csv", "north.csv"]);
    assert!(err.contains("3 problems"), "{err}");
}

#[test]
fn columns_that_do_not_exist() {
    let bench = Bench::simulated();
    refused(
        &bench,
        "all.csv --site schol --id ident --weight w --ignore M9",
        &["schol", "`school`", "ident", "--weight", "M9"],
    );
    refused(&bench, "all.csv --site school --item-model M9=grm,M8=2pl", &["M9", "M8"]);
}

#[test]
fn problems_of_all_files_are_told_in_one_run() {
    let bench = Bench::simulated();
    bench.write("bad.csv", "M1,M2\n0,x\n1,1\n0,0\n1,0\n");
    bench.write("fixed.csv", "item,a,d\nM1,zero,1\n");
    bench.write("book.csv", "item,model\nM1,5pl\n");
    bench.write("file", "");
    let err = refused(
        &bench,
        "bad.csv --fixed-items fixed.csv --codebook book.csv --out file",
        &["bad.csv", "fixed.csv", "zero", "book.csv", "5pl", "--out file: this is a file"],
    );
    assert_eq!(err.matches("error:").count(), 4, "{err}");
}

#[test]
fn codes_that_a_codebook_does_not_have() {
    let bench = Bench::simulated();
    let rest: String = ["M1", "M2", "M3", "M4", "M5"].map(|name| format!("{name},2\n")).concat();
    bench.write("book.csv", format!("item,categories\n{rest}M6,2\n"));
    refused(&bench, "north.csv --codebook book.csv", &["item M6 has 2 categories", "codes 0, 1, 2"]);
    bench.write("short.csv", format!("item,categories\n{rest}"));
    // A codebook selects; items that are selected beside it have to be in it.
    let (out, _) = bench.expect(0, "fit north.csv --codebook short.csv");
    assert!(out.contains("1 column is not among the selected items: `M6`"), "{out}");
    refused(&bench, "north.csv --codebook short.csv --items M*", &["item M6 is not in the codebook"]);
    bench.write("fixed.csv", "item,a,d\nX1,1,0\nX2,1,0\n");
    refused(&bench, "north.csv --fixed-items fixed.csv", &["X1, X2", "matched by name"]);
}

#[test]
fn models_that_do_not_fit_the_items() {
    let bench = Bench::simulated();
    refused(&bench, "north.csv --model 2pl", &["item M6 has 3 categories"]);
    let (_, err) = bench.expect(2, "fit north.csv --model 9pl");
    assert!(err.starts_with("error:") && err.contains("gpcm"), "{err}");
}

#[test]
fn windows_files_are_read() {
    let bench = Bench::simulated();
    let text = bench.read("north.csv").replace('\n', "\r\n").replace(',', ";");
    bench.write("windows.csv", format!("\u{feff}{text}"));
    let (a, b) = (bench.fit("north.csv"), bench.fit("windows.csv"));
    assert_eq!(a["items"], b["items"]);
}

#[test]
fn folders_that_cannot_be_written_to() {
    let bench = Bench::simulated();
    bench.write("file", "");
    refused(&bench, "north.csv --out file", &["--out file: this is a file, and a folder is needed"]);
    refused(&bench, "north.csv --out file/below", &["--out file/below"]);
    std::fs::create_dir_all(bench.path("taken/fit.json")).unwrap();
    refused(&bench, "north.csv --out taken", &["a folder called fit.json"]);
    // A folder that was made for a run that failed goes again.
    bench.write("bad.csv", "a\n");
    refused(&bench, "bad.csv --out new/deep", &["bad.csv"]);
    assert!(!bench.path("new").exists());
}

#[cfg(unix)]
#[test]
fn a_read_only_folder() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::simulated();
    let path = bench.path("locked");
    std::fs::create_dir(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(path.join("trial"), "").is_ok() {
        eprintln!("skipped: this user may write to read-only folders");
        // There is a place where not even the superuser may make a folder.
        if cfg!(target_os = "linux") {
            refused(&bench, "north.csv --out /proc/fedirt", &["/proc/fedirt"]);
        }
        return;
    }
    refused(&bench, "north.csv --out locked", &["locked: no permission"]);
    assert!(bench.names("locked").is_empty());
}
