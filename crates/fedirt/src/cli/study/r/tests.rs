//! Replies, and the way to R and back: a program that stands in for it.

use super::*;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[test]
fn replies_are_read() {
    let found = read("ok\t1.5,  0.7\t-0.25, 1e-3", 2).expect("estimates");
    assert_eq!((found.a, found.b), (vec![1.5, 0.7], vec![vec![-0.25], vec![0.001]]));
    let refused = read("error\tno convergence", 2).map_err(|error| error.to_string());
    assert_eq!(refused, Err("no convergence".into()));
    for bad in ["ok\t1.5\t0.1,0.2", "ok\t1,NA\t0,0", "ok\t1,2", ""] {
        assert!(read(bad, 2).is_err(), "{bad}");
    }
}

#[test]
fn without_r_every_package_is_missing() {
    let r = R::find(Path::new("/no/such/program")).expect("a folder");
    assert!(r.remark().expect("a remark").contains("R with mirt and ltm was not found"));
    assert_eq!(r.missing(), PACKAGES);
    let table = ResponseTable::new(1, 2, vec![0, 1]).expect("a table");
    assert!(
        matches!(r.estimate("mirt", &table), Err(StudyError::NoPackage { package }) if package == "mirt")
    );
}

/// Has mirt, and ltm where `ltm` is there beside it. Slopes are the numbers of right answers, difficulties those of
/// students; it talks in between, as packages do, fails where nobody is right, and dies of three students.
#[cfg(unix)]
const STAND_IN: &str = r#"#!/bin/sh
for word in "$@"; do
    case "$word" in
        *requireNamespace*mirt*) exit 0 ;;
        *requireNamespace*ltm*) test -e "$(dirname "$0")/ltm"; exit ;;
        *.R) script="$word" ;;
    esac
done
grep -q 'fits <- list' "$script" || exit 1
tab=$(printf '\t')
while IFS="$tab" read -r package file; do
    echo "Iteration: 1, $package"
    awk -F, -v OFS=, '
        NR == 1 { items = NF; next }
        { students++; for (j = 1; j <= NF; j++) right[j] += $j }
        END {
            if (students == 3) exit 1
            for (j = 1; j <= items; j++) { all += right[j]; a = a (j > 1 ? "," : "") right[j]; b = b (j > 1 ? "," : "") students }
            if (all == 0) print "fedirt-reply\terror\tnobody is right"; else print "fedirt-reply\tok\t" a "\t" b
        }' "$file" || exit 1
done
"#;

#[cfg(unix)]
fn stand_in(folder: &Path) -> PathBuf {
    let program = folder.join("Rscript");
    std::fs::write(&program, STAND_IN).expect("a file");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
    program
}

#[cfg(unix)]
#[test]
fn answers_go_to_r_and_estimates_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = stand_in(folder.path());
    let r = R::find(&program).expect("a folder");
    assert_eq!(r.missing(), ["ltm"]);
    std::fs::write(folder.path().join("ltm"), "").expect("a file");
    let r = R::find(&program).expect("a folder");
    assert_eq!((r.missing().len(), r.remark()), (0, None));
    let table = ResponseTable::new(4, 3, vec![1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0]).expect("a table");
    for package in PACKAGES {
        let found = r.estimate(package, &table).expect("estimates");
        assert_eq!((found.a, found.b), (vec![3.0, 2.0, 0.0], vec![vec![4.0]; 3]));
    }
    // A package's failure is its own: the next answer is the next question's.
    let wrong = ResponseTable::new(2, 3, vec![0; 6]).expect("a table");
    assert!(
        matches!(r.estimate("ltm", &wrong), Err(StudyError::Package { reason }) if reason == "nobody is right")
    );
    assert_eq!(r.estimate("ltm", &table).expect("estimates").a[0], 3.0);
    // Where R dies, another one is started.
    let deadly = ResponseTable::new(3, 1, vec![1, 0, 1]).expect("a table");
    assert!(r.estimate("mirt", &deadly).is_err_and(|e| e.to_string().contains("without an answer")));
    assert_eq!(r.estimate("mirt", &table).expect("estimates").a[0], 3.0);
}

#[cfg(unix)]
#[test]
fn the_study_has_a_column_for_each_package() {
    use crate::args::{Cli, Command};
    use clap::Parser;
    let folder = tempfile::tempdir().expect("a folder");
    let (program, out) = (stand_in(folder.path()), folder.path().join("study"));
    let words = ["fedirt", "study", "1", "--replications", "1", "--students", "50", "--with-r", "--rscript"];
    let cli = Cli::try_parse_from(words.map(std::ffi::OsString::from).into_iter().chain([
        program.into_os_string(),
        "--out".into(),
        out.clone().into_os_string(),
    ]))
    .expect("a command");
    let Command::Study(args) = cli.command else { panic!("another command") };
    super::super::run(&args).expect("a study");
    let page = std::fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(page.contains("mirt on the pooled answers differs from the pooled fit by"), "{page}");
    assert!(page.contains("ltm gave no estimates") && page.contains("R has no package ltm"), "{page}");
    // Four conditions; the stand-in's difficulties are the 500 students of the ten schools.
    let cells = std::fs::read_to_string(out.join("cells.csv")).expect("a table");
    let mirt: Vec<&str> = cells.lines().filter(|line| line.contains(",50,mirt,b,")).collect();
    assert_eq!(mirt.len(), 4, "{cells}");
    for line in mirt {
        let bias: f64 = line.split(',').nth(8).and_then(|x| x.parse().ok()).expect("a bias");
        assert!((bias - 500.0).abs() < 2.0, "{line}");
    }
}
