//! The page of Study 1.

use super::study1::{CONDITIONS, EPSILONS, SIZES};
use super::verdict::{TOO_FEW, Verdict, ratio_text};
use super::words::{Criterion, PanelPosition, Picture, Row, range};
use super::{Abilities, Method, PaperStudy, Summary};
use crate::publish::{Section, brief};
use fedirt_figures::Table;

const MSE: [Row; 2] = [
    Row { criterion: Criterion::Mse, parameter: "a", label: "MSE of discrimination", log: false },
    Row { criterion: Criterion::Mse, parameter: "b", label: "MSE of difficulty", log: false },
];
const LOG_MSE: [Row; 2] = [
    Row { criterion: Criterion::Mse, parameter: "a", label: "MSE of discrimination", log: true },
    Row { criterion: Criterion::Mse, parameter: "b", label: "MSE of difficulty", log: true },
];
const BIAS: [Row; 2] = [
    Row { criterion: Criterion::Bias, parameter: "a", label: "Bias of discrimination", log: false },
    Row { criterion: Criterion::Bias, parameter: "b", label: "Bias of difficulty (logits)", log: false },
];

/// Item parameters that are nowhere further apart are the same.
const SAME: f64 = 1e-4;

/// Scenarios with so many students a school.
fn of_size(study: &PaperStudy, students: usize) -> impl Fn(usize) -> bool + '_ {
    move |scenario| study.scenarios[scenario].factor("students") == students.to_string()
}

fn sizes(study: &PaperStudy) -> Vec<usize> {
    SIZES.into_iter().filter(|n| (0..study.scenarios.len()).any(of_size(study, *n))).collect()
}

pub(super) fn findings(study: &PaperStudy, summary: &Summary) -> Vec<String> {
    let mut out = Vec::new();
    let distance = |name: &str| study.method(name).and_then(|m| summary.distances[m]);
    if let Some((method, distance)) = study.method("fedirt").zip(distance("fedirt")) {
        let verdict = if distance < SAME { "is the pooled fit" } else { "is not the pooled fit" };
        out.push(format!(
            "FedIRT {verdict}: over {} replications the largest difference of an item parameter is {}.",
            summary.compared[method],
            brief(distance, 2)
        ));
    }
    let bias = |name: &str, n| summary.range(study, name, "a", of_size(study, n), |c| c.bias);
    let meta: Vec<String> =
        sizes(study).into_iter().map(|n| format!("{} at Nₖ = {n}", range(bias("meta", n), 2))).collect();
    out.push(format!(
        "Averaging the schools' own estimates (meta-analysis) leaves slopes biased by {}: {}. The paper reports 0.34 to 0.43 at 50, 0.07 to 0.12 at 100 and about 0.02 at 300.",
        meta.join(", "),
        upwards(study, summary)
    ));
    let ratios = |over: &str, under: &str| -> String {
        let one = |n| {
            let ratio = |parameter| summary.ratio(study, (over, under), parameter, of_size(study, n));
            format!("{} and {} at Nₖ = {n}", ratio_text(ratio("a")), ratio_text(ratio("b")))
        };
        sizes(study).into_iter().map(one).collect::<Vec<_>>().join(", ")
    };
    out.push(format!(
        "Meta-analysis has so many times the mean squared error of FedIRT, for a and b (± Monte Carlo errors): {}.",
        ratios("meta", "fedirt")
    ));
    out.push(format!(
        "FedIRT-DP at ε = 2 has so many times the mean squared error of FedIRT, for a and b (± Monte Carlo errors): {}.",
        ratios("fedirt_dp_2", "fedirt")
    ));
    let all = |_: usize| true;
    out.push(format!(
        "With a clipping norm of C = 1, even at ε = 8, FedIRT-DP has so many times the mean squared error of FedIRT, for a and b: {}.",
        ratios("fedirt_dp_c1_8", "fedirt")
    ));
    for epsilon in EPSILONS {
        let (private, published) = (format!("private_{epsilon}"), format!("fedirt_dp_{epsilon}"));
        let ratio = |p| ratio_text(summary.ratio(study, (&private, &published), p, all));
        out.push(format!(
            "At ε = {epsilon} the private default has {} of FedIRT-DP's mean squared error for a, and {} for b (geometric means over conditions, ± Monte Carlo errors).",
            ratio("a"),
            ratio("b")
        ));
    }
    for name in ["fedsgd", "fedavg"] {
        if let Some(method) = study.method(name) {
            out.push(format!(
                "{}: its item parameters end up to {} away from the maximum of the likelihood.",
                study.methods[method].label,
                summary.distances[method].map_or("–".into(), |d| brief(d, 2))
            ));
        }
    }
    out.extend(packages(study, summary));
    out
}

/// What is drawn once, and what again and again.
fn drawn(abilities: Abilities) -> &'static str {
    match abilities {
        Abilities::Fixed => {
            "Item parameters and abilities are drawn once for each condition, answers in every replication."
        }
        Abilities::Drawn => {
            "Item parameters are drawn once for each condition, abilities and answers in every replication."
        }
    }
}

/// In how many conditions meta-analysis biases slopes upwards, beyond Monte Carlo error.
fn upwards(study: &PaperStudy, summary: &Summary) -> String {
    let meta = study.method("meta");
    let cells = summary.cells.iter().filter(|c| Some(c.method) == meta && c.parameter == "a");
    let verdicts: Vec<Verdict> = cells.map(|c| Verdict::of(c.bias, c.bias_se, c.replications)).collect();
    if verdicts.is_empty() || verdicts.contains(&Verdict::TooFew) {
        return format!("which way, {TOO_FEW}");
    }
    let upwards = verdicts.iter().filter(|v| **v == Verdict::More).count();
    format!("upwards beyond Monte Carlo error in {upwards} of {} conditions", verdicts.len())
}

/// What became of mirt and ltm.
fn packages(study: &PaperStudy, summary: &Summary) -> Vec<String> {
    if study.options.packages.is_empty() {
        return vec!["mirt and ltm were not run (--with-r runs them where R has them).".into()];
    }
    let one = |package: &String| match study.method(package).and_then(|m| summary.distances[m]) {
        Some(distance) => {
            format!(
                "{package} on the pooled answers differs from the pooled fit by {} at most.",
                brief(distance, 2)
            )
        }
        None => format!("{package} gave no estimates."),
    };
    study.options.packages.iter().map(one).collect()
}

pub(super) fn sections(study: &PaperStudy, summary: &Summary, tables: &[Table]) -> Vec<Section> {
    let column = |(discrimination, difficulty): (&str, &str)| {
        format!("{discrimination} discrimination, {difficulty} difficulty")
    };
    let place = |scenario: usize| {
        let scenario = &study.scenarios[scenario];
        let condition = (scenario.factor("discrimination"), scenario.factor("difficulty"));
        let column = CONDITIONS.iter().position(|c| *c == condition)?;
        Some(PanelPosition { column, x: scenario.factor("students").parse().ok()? })
    };
    let draw = |title, description, rows: &[Row], methods: &[&str]| {
        Picture {
            title,
            description,
            rows,
            columns: CONDITIONS.into_iter().map(column).collect(),
            x_label: "Students of a school, Nₖ",
            x_ticks: SIZES.into_iter().map(|n| (n as f64, n.to_string())).collect(),
            x_log: true,
            methods,
            notes: Vec::new(),
            replications: study.options.replications as usize,
        }
        .draw(study, summary, place)
    };
    let private: Vec<String> = EPSILONS.iter().map(|e| format!("private_{e}")).collect();
    let published: Vec<String> = EPSILONS.iter().map(|e| format!("fedirt_dp_{e}")).collect();
    let mut price: Vec<&str> = vec!["fedirt"];
    price.extend(published.iter().chain(&private).map(String::as_str));
    let external: Vec<&str> = study.options.packages.iter().map(String::as_str).collect();
    let mut centralized = vec!["fedirt", "pooled"];
    centralized.extend(&external);
    centralized.extend(["fedirt_dp_2", "private_2"]);
    let mut all = centralized.clone();
    all.extend(["meta", "fedsgd", "fedavg"]);
    let pictures = vec![
        (
            "mse".to_owned(),
            draw(
                "Mean squared errors: FedIRT, FedIRT-DP and centralised fits",
                "Mean squared errors of discrimination and difficulty against the number of students of a school, in four conditions.",
                &MSE,
                &centralized,
            ),
        ),
        (
            "mse_meta".to_owned(),
            draw(
                "Mean squared errors with meta-analysis, FedSGD and FedAvg (log scale)",
                "The same on a logarithmic axis, with methods that pool less.",
                &LOG_MSE,
                &all,
            ),
        ),
    ];
    let bias = draw(
        "Bias",
        "Mean errors of discrimination and difficulty against the number of students of a school.",
        &BIAS,
        &all,
    );
    let price = draw(
        "The price of privacy: FedIRT-DP and the private default at the same ε (log scale)",
        "Mean squared errors of FedIRT-DP and of the private default at three levels of ε, beside FedIRT without privacy.",
        &LOG_MSE,
        &price,
    );
    let names: Vec<String> = study.methods.iter().map(Method::sentence).collect();
    vec![
        Section {
            heading: "Against pooled fits and meta-analysis".into(),
            paragraphs: vec![format!(
                "Ten schools without effects answer ten items. {} Errors are against the parameters that the answers were drawn from.",
                drawn(study.options.abilities)
            )],
            pictures,
            tables: Vec::new(),
        },
        Section {
            heading: "Bias".into(),
            paragraphs: Vec::new(),
            pictures: vec![("bias".into(), bias)],
            tables: Vec::new(),
        },
        Section {
            heading: "The price of privacy".into(),
            paragraphs: vec![
                "FedIRT-DP spends its budget on 100 noisy gradients, the private default on two rounds of bounded scores. Both promise the same (ε, δ) for each student; in FedIRT-DP as published the server adds the noise, and sees the exact sums.".into(),
            ],
            pictures: vec![("privacy".into(), price)],
            tables: Vec::new(),
        },
        Section { heading: "All figures".into(), paragraphs: names, pictures: Vec::new(), tables: tables.to_vec() },
    ]
}
