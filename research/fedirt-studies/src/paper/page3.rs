//! The page of Study 3.

use super::study3::{KINDS, SHARES};
use super::verdict::compared;
use super::words::{Criterion, PanelPosition, Picture, Row};
use super::{Extreme, Method, PaperStudy, Summary};
use crate::publish::{Section, brief};
use fedirt_figures::Table;

const DISCRIMINATION: [Row; 2] = [
    Row { criterion: Criterion::Mse, parameter: "a", label: "MSE of discrimination", log: true },
    Row { criterion: Criterion::Bias, parameter: "a", label: "Bias of discrimination", log: false },
];
const DIFFICULTY: [Row; 2] = [
    Row { criterion: Criterion::Mse, parameter: "b", label: "MSE of difficulty", log: true },
    Row { criterion: Criterion::Bias, parameter: "b", label: "Bias of difficulty (logits)", log: false },
];

pub(super) fn findings(study: &PaperStudy, summary: &Summary) -> Vec<String> {
    let scenario = |kind: Extreme, share: f64| {
        study
            .scenarios
            .iter()
            .position(|s| s.factor("rows") == kind.name() && s.factor("share") == share.to_string())
    };
    let mse = |name: &str, kind, share, parameter: &str| -> Option<f64> {
        Some(summary.cell(scenario(kind, share)?, study.method(name)?, parameter)?.mse)
    };
    let said = |x: Option<f64>| x.map_or("–".into(), |x| brief(x, 2));
    let four = |name: &str| {
        let text = |share| {
            format!(
                "{} (zeros) and {} (ones)",
                said(mse(name, Extreme::Zeros, share, "a")),
                said(mse(name, Extreme::Ones, share, "a"))
            )
        };
        format!("{} at 10 % and {} at 50 % extreme rows", text(0.1), text(0.5))
    };
    let ones = |name: &str| {
        format!(
            "{}, {} and {} at 0, 10 and 50 % rows of ones",
            said(mse(name, Extreme::Ones, 0.0, "a")),
            said(mse(name, Extreme::Ones, 0.1, "a")),
            said(mse(name, Extreme::Ones, 0.5, "a"))
        )
    };
    // Share by share, as far as the replications bear it out.
    let against = |methods: (&str, &str), whose: &str, kinds: &[Extreme], shares: &[f64]| {
        let at = |share: &f64| {
            let one = |kind: &Extreme| {
                let paired = scenario(*kind, *share).and_then(|s| summary.paired(study, methods, "a", s));
                format!("{} ({})", compared(paired, whose), kind.name())
            };
            let words: Vec<String> = kinds.iter().map(one).collect();
            format!("at {:.0} %: {}", 100.0 * share, words.join(" and "))
        };
        shares.iter().map(at).collect::<Vec<_>>().join("; ")
    };
    vec![
        format!(
            "FedIRT, as any maximum of the likelihood, is biased by extreme rows: MSE of a {}.",
            four("fedirt")
        ),
        format!(
            "FedIRT-DP with the settings of Studies 1 and 2 has an MSE of a of {}. On the same answers that is, {}.",
            four("fedirt_dp_2"),
            against(("fedirt_dp_2", "fedirt"), "that of FedIRT", &KINDS, &[0.1, 0.3, 0.5])
        ),
        format!(
            "The paper's flat curves come from stopping early: with 50 rounds at a rate of 0.02 Adam moves a parameter by 1 at most, and the estimates stay near where they started. MSE of a {}.",
            four("fedirt_dp_short_2")
        ),
        format!(
            "The mixture, which estimates the shares of constant rows, has an MSE of a of {} at ε = 1, and {} at ε = 2. Without it the private default has {}; with it, at ε = 1, {}.",
            four("private_mixture_1"),
            four("private_mixture_2"),
            four("private_1"),
            against(("private_mixture_1", "private_1"), "that", &KINDS, &[0.1, 0.5])
        ),
        format!(
            "Trimmed means and medians of the schools' gradients need each school's own sums, so they work in plain mode only: MSE of a {} (trimmed mean), {} (median), {} (neither; FedSGD with as many rounds, which are too few to get to FedIRT's maximum). Against FedSGD the trimmed mean has, {}; the median, {}.",
            ones("trimmed_mean"),
            ones("median"),
            ones("fedsgd"),
            against(("trimmed_mean", "fedsgd"), "its MSE", &[Extreme::Ones], &[0.1, 0.5]),
            against(("median", "fedsgd"), "its MSE", &[Extreme::Ones], &[0.1, 0.5])
        ),
    ]
}

pub(super) fn sections(study: &PaperStudy, summary: &Summary, tables: &[Table]) -> Vec<Section> {
    let place = |scenario: usize| {
        let scenario = &study.scenarios[scenario];
        let column = KINDS.iter().position(|k| k.name() == scenario.factor("rows"))?;
        Some(PanelPosition { column, x: scenario.factor("share").parse().ok()? })
    };
    let names: Vec<&str> = study.methods.iter().map(|m| m.name.as_str()).collect();
    let draw = |title, description, rows: &[Row]| {
        Picture {
            title,
            description,
            rows,
            columns: vec!["rows of zeros".into(), "rows of ones".into()],
            x_label: "Share of extreme rows",
            x_ticks: SHARES.iter().map(|s| (*s, format!("{:.0} %", 100.0 * s))).collect(),
            x_log: false,
            methods: &names,
            notes: Vec::new(),
            replications: study.options.replications as usize,
        }
        .draw(study, summary, place)
    };
    let discrimination = draw(
        "Discrimination with extreme rows",
        "Mean squared error and bias of discrimination against the share of rows that are wrong, or right, throughout.",
        &DISCRIMINATION,
    );
    let difficulty = draw(
        "Difficulty with extreme rows",
        "Mean squared error and bias of difficulty against the share of rows that are wrong, or right, throughout.",
        &DIFFICULTY,
    );
    vec![
        Section {
            heading: "Errors by share of extreme rows".into(),
            paragraphs: vec![
                "Ten schools of 100 students answer ten items; in each school a share of the rows is replaced by zeros or by ones. A row of ones is also what a very able student gives: it is the number of such rows that is out of the ordinary, not each of them.".into(),
            ],
            pictures: vec![("discrimination".into(), discrimination), ("difficulty".into(), difficulty)],
            tables: Vec::new(),
        },
        Section {
            heading: "All figures".into(),
            paragraphs: study.methods.iter().map(Method::sentence).collect(),
            pictures: Vec::new(),
            tables: tables.to_vec(),
        },
    ]
}
