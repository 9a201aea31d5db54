//! `fedirt privacy plan` and `fedirt privacy audit`.

use assert_cmd::Command;
use serde_json::Value;

fn run(words: &str) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("fedirt").expect("the binary is built");
    command.arg("privacy").args(words.split_whitespace()).assert()
}

fn text(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

fn json(words: &str) -> Value {
    serde_json::from_slice(&run(words).success().get_output().stdout).expect("JSON on standard output")
}

fn error(value: &Value, at: usize, of: &str) -> f64 {
    value["outlook"]["private"][at]["reported"][of].as_f64().expect("a standard error")
}

#[test]
fn errors_shrink_with_epsilon_towards_those_without_noise() {
    let found = json("plan --sites 5 --students 200 --items 8 --json");
    for of in ["a", "b", "s"] {
        let errors: Vec<f64> = (0..6).map(|at| error(&found, at, of)).collect();
        let without = found["outlook"]["without_noise"][of].as_f64().expect("a standard error");
        assert!(errors.is_sorted_by(|x, y| x > y) && errors[5] > without, "{of}: {errors:?} {without}");
        assert!(errors[5] < 1.2 * without, "{of}: {errors:?} {without}");
    }
    // μ(ε) at δ = 1e-6.
    let mu = found["outlook"]["private"][1]["mu"].as_f64().expect("μ");
    assert!((mu - 0.23670).abs() < 1e-5);
}

#[test]
fn what_is_out_of_reach_is_said() {
    let told = text(&run("plan --sites 50 --students 7 --items 10 --epsilon 1").success());
    assert!(told.contains("site effects cannot be told at ε = 1: SE ≈ 1."), "{told}");
    assert!(told.contains("--effects none") && told.contains("above 1"), "{told}");
    let told = text(&run("plan --sites 50 --students 7 --items 10 --epsilon 1 --effects none").success());
    assert!(!told.contains("cannot be told"), "{told}");
    let told = text(&run("plan --sites 4 --total 4000 --items 8 --epsilon 8").success());
    assert!(!told.contains("warning") && !told.contains("cannot"), "{told}");
}

#[test]
fn guesses_come_from_files_and_results_go_to_folders() {
    let folder = tempfile::tempdir().unwrap();
    let (guess, out) = (folder.path().join("items.csv"), folder.path().join("forecast"));
    std::fs::write(&guess, "item,model,a,b1,b2\nM1,2pl,1.2,0.3,\nM2,gpcm,0.8,-0.5,0.5\nM3,grm,1.5,-1,1\n")
        .unwrap();
    let told = text(
        &run(&format!(
            "plan --sites 3 --students 100,200,300 --guess {} --colluders 1 --out {}",
            guess.display(),
            out.display()
        ))
        .success(),
    );
    assert!(told.contains("3 items") && told.contains("600 students"), "{told}");
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("forecast.json")).unwrap()).unwrap();
    assert_eq!(written["colluders"], 1);
    let svg = std::fs::read_to_string(out.join("forecast.svg")).unwrap();
    assert!(svg.contains("s, private") && svg.contains("a, no noise"), "{svg}");
}

#[test]
fn nonsense_is_refused_before_the_work() {
    for (words, wanted) in [
        ("--sites 3 --students 10", "--items"),
        ("--sites 3 --items 5", "--students"),
        ("--sites 0 --students 10 --items 5", "0"),
        ("--sites 3 --students 10,20 --items 5", "2 numbers are given for 3 sites"),
        ("--sites 3 --total 2 --items 5", "every site needs a student"),
        ("--sites 3 --students 10 --items 5 --epsilon=-1", "--epsilon -1"),
        ("--sites 3 --students 10 --items 5 --delta 0.5", "--delta 0.5"),
        ("--sites 3 --students 10 --items 5 --colluders 3", "--colluders 3"),
        ("--sites 3 --students 10 --items 5 --model rasch", "rasch"),
        ("--sites 3 --students 10 --items 5 --model 2pl --categories 3", "--categories"),
        ("--sites 3 --students 10 --items 5 --site-sd 0.3", "--effects none"),
        ("--sites 3 --students 10 --guess nowhere.csv", "nowhere.csv"),
    ] {
        let assert = run(&format!("plan {words}")).code(2);
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(told.starts_with("error:") && told.contains(wanted), "{words}: {told}");
    }
}

/// The quick form; the library's tests say which check must find which fault.
#[test]
fn the_audit_passes_and_finds_what_was_planted() {
    let found = json("audit --runs 100 --seeds 1 --json");
    assert_eq!(found["passed"], true, "{found}");
    let mechanisms = found["mechanisms"].as_array().expect("an audit of each mechanism");
    let names: Vec<_> = mechanisms.iter().map(|audit| audit["mechanism"].as_str()).collect();
    assert_eq!(names, [Some("optimal"), Some("score2")]);
    for audit in mechanisms {
        let planted = audit["planted"].as_array().expect("planted faults");
        assert_eq!(planted.len(), 12);
        assert!(planted.iter().all(|fault| fault["by"].as_array().is_some_and(|by| !by.is_empty())));
        let checks = audit["checks"].as_array().expect("checks");
        assert!(checks.iter().all(|check| check["findings"] == serde_json::json!([])));
    }
}
