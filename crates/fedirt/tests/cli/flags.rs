//! Flags that are wrong, or not used, are errors that name them; the exit status says what happened.

use crate::common::{Bench, number};

#[test]
fn values_out_of_range_are_told_at_once_and_before_any_file_is_read() {
    let bench = Bench::new();
    let (out, err) = bench.expect(
        2,
        "fit no_such_file.csv --tolerance 0 --range -1 --max-rounds 1 --threads 0 --algorithm fedavg \
         --client-fraction 1.5 --learning-rate 0 --local-epochs 0",
    );
    assert!(out.is_empty(), "{out}");
    for flag in [
        "--tolerance",
        "--range",
        "--max-rounds",
        "--threads",
        "--client-fraction",
        "--learning-rate",
        "--local-epochs",
    ] {
        assert!(err.contains(&format!("error: {flag} ")), "{flag}\n{err}");
    }
    assert!(!err.contains("no_such_file"), "{err}");
    for value in ["NaN", "inf", "1e9"] {
        bench.expect(2, &format!("fit x.csv --range {value}"));
    }
}

#[test]
fn a_flag_that_the_algorithm_does_not_use_is_named() {
    let bench = Bench::new();
    let (_, err) =
        bench.expect(2, "fit x.csv --seed 3 --local-epochs 2 --client-fraction 0.5 --learning-rate 0.1");
    for flag in ["--seed", "--local-epochs", "--client-fraction", "--learning-rate"] {
        assert!(err.contains(&format!("error: {flag} is used by --algorithm fed")), "{err}");
    }
    assert_eq!(err.lines().count(), 4, "{err}");
    let (_, err) = bench.expect(2, "fit x.csv --algorithm fedsgd --local-epochs 2 --seed 1");
    assert!(err.contains("--local-epochs is used by --algorithm fedavg only"), "{err}");
    let (_, err) = bench.expect(2, "fit x.csv --transcript");
    assert!(err.contains("--out"), "{err}");
    let (_, err) = bench.expect(2, "score fit.json x.csv --draws 3 --seed 1");
    assert!(err.contains("--draws") && err.contains("--seed"), "{err}");
}

/// The paper's model: slopes of 1, and the SD of ability held at 1 instead of estimated.
#[test]
fn the_sd_of_ability_is_held_at_one_where_it_would_be_estimated() {
    let bench = Bench::simulated();
    let (held, free) = (
        bench.fit("all.csv --site school --id id --model pcm --latent-sd 1"),
        bench.fit("all.csv --site school --id id --model pcm"),
    );
    assert_eq!(held["latent"]["sd"], 1.0);
    assert_eq!(number(&held["npar"]) + 1.0, number(&free["npar"]));
    assert!(number(&held["loglik"]) < number(&free["loglik"]));
    assert_eq!(held["items"], bench.fit("all.csv --site school --id id --model rasch-sd1")["items"]);
    for (flags, told) in [
        ("--model rasch --latent-sd 2", "--latent-sd 2: the SD of ability is estimated by rasch and pcm"),
        ("--model 2pl --latent-sd 1", "--latent-sd is used with --model rasch or --model pcm only"),
        ("--latent-sd 1", "--latent-sd is used with"),
    ] {
        let (_, err) = bench.expect(2, &format!("fit all.csv {flags}"));
        assert!(err.contains(told), "{flags}: {err}");
    }
}

/// Nothing looked at, or nobody expected, is no study.
#[test]
fn zero_is_refused_where_it_would_mean_nothing() {
    let bench = Bench::new();
    let (_, err) = bench.expect(2, "privacy audit --seeds 0");
    assert!(err.contains("--seeds"), "{err}");
    bench.write("codebook.csv", "item,categories\nI1,2\nI2,2\n");
    let plan = "coordinator init hub --study s --sites a,b,c --codebook codebook.csv --students";
    let (_, err) = bench.expect(2, &format!("{plan} 0"));
    assert!(err.contains("--students"), "{err}");
    assert!(!bench.path("hub").exists());
}

/// The codes of somebody's answers are no part of a private plan.
#[test]
fn a_private_plan_takes_categories_from_a_codebook() {
    let bench = Bench::simulated();
    let plan = "coordinator init hub --study s --sites a,b,c --items-from north.csv --students 400";
    let (_, err) = bench.expect(2, plan);
    assert!(err.contains("item M6") && err.contains("--codebook"), "{err}");
    bench.write("zeros.csv", "I1,I2\n0,0\n0,1\n");
    bench.expect(0, "coordinator init hub --study s --sites a,b,c --items-from zeros.csv --students 400");
    assert_eq!(bench.read("hub/plans/s.toml").matches("categories = [0, 1]").count(), 2);
}

#[test]
fn not_converged_is_status_1_with_results_and_a_reason() {
    let bench = Bench::simulated();
    let (out, err) = bench.expect(1, "fit north.csv south.csv --max-rounds 2 --out out");
    assert!(err.starts_with("not converged: stopped after 2 rounds; the largest gradient"), "{err}");
    assert!(err.contains("Slowest items: M") && err.contains("--max-rounds"), "{err}");
    assert!(out.contains("NOT CONVERGED"), "{out}");
    assert_eq!(bench.json("out/fit.json")["converged"], false);
    assert!(bench.path("out/scores.csv").exists());
    bench.expect(
        1,
        "fit north.csv south.csv --algorithm fedsgd --max-rounds 3 --client-fraction 0.5 --seed 4",
    );
}

#[test]
fn the_program_alone_shows_help() {
    let bench = Bench::new();
    let (_, err) = bench.expect(2, "");
    assert!(err.contains("Usage: fedirt <COMMAND>") && err.contains("Start here:"), "{err}");
    for command in ["fit", "score", "report", "check"] {
        let (out, _) = bench.expect(0, &format!("{command} --help"));
        assert!(out.contains("Examples:\n  fedirt "), "{out}");
    }
    bench.expect(0, "--version");
    let (_, err) = bench.expect(2, "fitt");
    assert!(err.starts_with("error:"), "{err}");
}
