//! `fedirt privacy`: figures, names in JSON, and refusals.

use assert_cmd::Command;

fn run(args: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("fedirt").expect("the binary is built").arg("privacy").args(args).assert()
}

fn json(args: &[&str]) -> serde_json::Value {
    let output = run(args).success().get_output().stdout.clone();
    serde_json::from_slice(&output).expect("JSON on standard output")
}

fn number(value: &serde_json::Value, name: &str) -> f64 {
    value[name].as_f64().expect("a number of that name")
}

#[test]
fn epsilon_of_a_noise() {
    // Without sampling the mechanism is Gaussian: μ = √100/22.305 = .44833 gives ε = 2 at δ = 1e-6.
    let full = json(&["epsilon", "--noise", "22.305", "--rounds", "100", "--delta", "1e-6", "--json"]);
    assert!((number(&full, "epsilon_pld") - 2.0).abs() < 1e-3);
    assert!(number(&full, "epsilon_rdp") > number(&full, "epsilon_pld"));
    let sampled =
        json(&["epsilon", "--rate", "0.01", "--noise", "1", "--rounds", "100", "--delta", "1e-6", "--json"]);
    // Google's dp-accounting: 1.507 by RDP, 0.954 by PLD.
    assert!((number(&sampled, "epsilon_rdp") / 1.507_283 - 1.0).abs() < 1e-3);
    assert!((number(&sampled, "epsilon_pld") / 0.954_218 - 1.0).abs() < 1e-2);
}

#[test]
fn noise_and_epsilon_are_inverse() {
    let noise = json(&["noise", "--epsilon", "1", "--rate", "0.1", "--rounds", "50", "--json"]);
    let multiplier = number(&noise, "noise_multiplier").to_string();
    let back = json(&["epsilon", "--noise", &multiplier, "--rate", "0.1", "--rounds", "50", "--json"]);
    assert!((number(&back, "epsilon_pld") - 1.0).abs() < 1e-5);
}

#[test]
fn nonsense_is_refused() {
    for args in [
        &["noise", "--epsilon", "0", "--rounds", "2"][..],
        &["noise", "--epsilon=-1", "--rounds", "2"],
        &["noise", "--epsilon", "1", "--rounds", "0"],
        &["noise", "--epsilon", "1", "--rounds", "2", "--delta", "1"],
        &["noise", "--epsilon", "1", "--rounds", "2", "--delta", "0"],
        &["epsilon", "--noise", "0", "--rounds", "2"],
        &["epsilon", "--noise", "1", "--rounds", "2", "--rate", "1.5"],
        &["epsilon", "--noise", "1", "--rounds", "2", "--rate", "0"],
    ] {
        let assert = run(args).code(2);
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(told.starts_with("error:"), "{args:?}: {told}");
    }
}

#[test]
fn rounds_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for (name, args) in [
        ("full.svg", &["epsilon", "--noise", "22.3", "--rounds", "100"][..]),
        ("one.svg", &["epsilon", "--noise", "5", "--rounds", "1", "--json"]),
        ("sampled.svg", &["noise", "--epsilon", "2", "--rate", "0.1", "--rounds", "20"]),
    ] {
        let path = folder.path().join(name);
        let mut args = args.to_vec();
        args.extend(["--plot", path.to_str().unwrap()]);
        run(&args).success();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("PLD") && svg.contains("plan: "), "{name}: {svg}");
        assert!(!svg.contains("var(--") && !svg.contains("NaN"), "{name}");
    }
}

#[test]
fn pictures_that_cannot_be_drawn_are_refused_before_the_work() {
    for path in ["rounds.png", "rounds", "no/such/folder/rounds.svg"] {
        let assert = run(&["epsilon", "--noise", "1", "--rounds", "2", "--plot", path]).code(2);
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(told.contains("--plot"), "{told}");
    }
}
