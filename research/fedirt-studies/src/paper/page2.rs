//! The page of Study 2.

use super::study2::{EFFECTS, EPSILONS};
use super::verdict::{TOO_FEW, Verdict, compared, plus_minus};
use super::words::{Criterion, Picture, Row, table};
use super::{Method, PaperStudy, Summary};
use crate::publish::{Section, brief};
use fedirt_figures::{PanelPoint, Table};

const ITEMS: [Row; 2] = [
    Row { criterion: Criterion::Mse, parameter: "a", label: "MSE", log: false },
    Row { criterion: Criterion::Bias, parameter: "a", label: "Bias", log: false },
];
const SCHOOLS: [Row; 2] = [
    Row { criterion: Criterion::Mse, parameter: "s", label: "MSE of the school's effect", log: false },
    Row {
        criterion: Criterion::Bias,
        parameter: "s",
        label: "Bias of the school's effect (logits)",
        log: false,
    },
];

/// Mean squared errors, and biases of item parameters.
pub(super) fn tables(study: &PaperStudy, summary: &Summary) -> Vec<Table> {
    let mut tables = Vec::new();
    for (parameter, what) in [("a", "discrimination a"), ("b", "difficulty b"), ("s", "school effects")] {
        let caption = format!("Mean squared error of {what}");
        tables.push(table(study, summary, &caption, Criterion::Mse, parameter));
        // Effects add up to zero, and so do their errors: only single schools have a bias.
        if parameter != "s" {
            tables.push(table(study, summary, &format!("Bias of {what}"), Criterion::Bias, parameter));
        }
    }
    tables
}

/// Each school by itself: methods in rows.
fn schools_table(study: &PaperStudy, summary: &Summary) -> Table {
    let names: Vec<&str> = study
        .scenarios
        .first()
        .map_or(Vec::new(), |s| s.truth.sites.iter().map(|s| s.name.as_str()).collect());
    let mut headers = vec!["method".to_owned()];
    for criterion in ["MSE", "bias"] {
        headers.extend(EFFECTS.iter().map(|s| format!("{criterion}, s = {s}").replace('-', "−")));
    }
    let row = |(at, method): (usize, &Method)| {
        let cells: Vec<_> = names.iter().map(|name| summary.cell(0, at, name)).collect();
        let text = |number: fn(&super::Cell) -> f64| {
            cells.iter().map(|c| c.map_or("–".into(), |c| brief(number(c), 3))).collect::<Vec<_>>()
        };
        let mut row = vec![method.label.clone()];
        row.extend(text(|c| c.mse));
        row.extend(text(|c| c.bias));
        row
    };
    let rows = study.methods.iter().enumerate().map(row).collect();
    Table { caption: "Each school".into(), headers, rows }
}

pub(super) fn findings(study: &PaperStudy, summary: &Summary) -> Vec<String> {
    let cell = |name: &str, parameter: &str| study.method(name).and_then(|m| summary.cell(0, m, parameter));
    let mse = |name: &str, parameter: &str| cell(name, parameter).map_or("–".into(), |c| brief(c.mse, 3));
    let said = |name: &str, parameter: &str| {
        cell(name, parameter).map_or("–".into(), |c| plus_minus(c.bias, c.bias_se, 2))
    };
    let off = |name: &str, parameter: &str| {
        cell(name, parameter).map_or(Verdict::TooFew, |c| Verdict::of(c.bias, c.bias_se, c.replications))
    };
    let against = |over: &str, parameter: &str| {
        compared(summary.paired(study, (over, "fedirt_fixed"), parameter, 0), "that of parameters")
    };
    let shrink = match (off("fedirt_eap", "s01"), off("fedirt_eap", "s05")) {
        (Verdict::More, Verdict::Less) => "Averages shrink".to_owned(),
        (Verdict::TooFew, _) | (_, Verdict::TooFew) => format!("Whether averages shrink: {TOO_FEW}"),
        _ => "Averages do not clearly shrink".into(),
    };
    let steeper = match off("fedirt_eap", "a") {
        Verdict::More => "Leaving schools out makes items look steeper".to_owned(),
        Verdict::Less => "Leaving schools out makes items look flatter".into(),
        Verdict::Unclear => "Leaving schools out makes items neither clearly steeper nor flatter".into(),
        Verdict::TooFew => format!("Whether items look steeper where schools are left out: {TOO_FEW}"),
    };
    let paired = |parameter| summary.paired(study, ("fedirt_eap", "fedirt_fixed"), parameter, 0);
    let suffer = match paired("b").map_or(Verdict::TooFew, |p| p.verdict()) {
        Verdict::More => "Difficulties suffer, too".to_owned(),
        Verdict::Less => "Difficulties gain".into(),
        Verdict::Unclear => "Difficulties do not clearly suffer".into(),
        Verdict::TooFew => format!("Whether difficulties suffer: {TOO_FEW}"),
    };
    let mut out = vec![
        format!(
            "School effects as parameters are estimated with a mean squared error of {}, averages of students' expected abilities with {}: {}.",
            mse("fedirt_fixed", "s"),
            mse("fedirt_eap", "s"),
            against("fedirt_eap", "s")
        ),
        format!(
            "{shrink}: the school at −1 is off by {}, the one at +1 by {}; as parameters by {} and {}.",
            said("fedirt_eap", "s01"),
            said("fedirt_eap", "s05"),
            said("fedirt_fixed", "s01"),
            said("fedirt_fixed", "s05")
        ),
        format!(
            "{steeper}: slopes are off by {} (MSE {}), against {} (MSE {}) with effects.",
            said("fedirt_eap", "a"),
            mse("fedirt_eap", "a"),
            said("fedirt_fixed", "a"),
            mse("fedirt_fixed", "a")
        ),
        format!(
            "{suffer}: MSE of b {} against {} with effects ({}); they are off by {} against {}.",
            mse("fedirt_eap", "b"),
            mse("fedirt_fixed", "b"),
            against("fedirt_eap", "b"),
            said("fedirt_eap", "b"),
            said("fedirt_fixed", "b")
        ),
        format!(
            "What the paper calls random effects is a model without any. Effects that are drawn from a distribution, whose SD is estimated: MSE of s {} ({}), of a {} ({}).",
            mse("fedirt_random", "s"),
            against("fedirt_random", "s"),
            mse("fedirt_random", "a"),
            against("fedirt_random", "a")
        ),
    ];
    for epsilon in EPSILONS {
        out.push(format!(
            "At ε = {epsilon}, MSE of a, b and s: FedIRT-DP with fixed effects {}, {}, {}; with averages {}, {}, {}; the private default {}, {}, {}.",
            mse(&format!("fedirt_dp_fixed_{epsilon}"), "a"),
            mse(&format!("fedirt_dp_fixed_{epsilon}"), "b"),
            mse(&format!("fedirt_dp_fixed_{epsilon}"), "s"),
            mse(&format!("fedirt_dp_eap_{epsilon}"), "a"),
            mse(&format!("fedirt_dp_eap_{epsilon}"), "b"),
            mse(&format!("fedirt_dp_eap_{epsilon}"), "s"),
            mse(&format!("private_{epsilon}"), "a"),
            mse(&format!("private_{epsilon}"), "b"),
            mse(&format!("private_{epsilon}"), "s")
        ));
    }
    out
}

/// The lines of the first picture: a name, and the methods without, with drawn and with fixed effects.
fn lines() -> Vec<(String, [Option<String>; 3])> {
    let some = |name: &str| Some(name.to_owned());
    let mut out =
        vec![("FedIRT".to_owned(), [some("fedirt_eap"), some("fedirt_random"), some("fedirt_fixed")])];
    for epsilon in EPSILONS {
        let (eap, fixed) = (format!("fedirt_dp_eap_{epsilon}"), format!("fedirt_dp_fixed_{epsilon}"));
        out.push((format!("FedIRT-DP, ε = {epsilon}"), [Some(eap), None, Some(fixed)]));
    }
    for epsilon in EPSILONS {
        let private = format!("private_{epsilon}");
        out.push((format!("private, ε = {epsilon}"), [None, None, Some(private)]));
    }
    out
}

pub(super) fn sections(study: &PaperStudy, summary: &Summary, tables: &[Table]) -> Vec<Section> {
    let mut tables = tables.to_vec();
    tables.push(schools_table(study, summary));
    let lines = lines();
    let mut points = Vec::new();
    for (series, (_, methods)) in lines.iter().enumerate() {
        for (x, method) in methods.iter().enumerate() {
            let Some(method) = method.as_deref().and_then(|m| study.method(m)) else { continue };
            for (column, parameter) in ["a", "b"].into_iter().enumerate() {
                let Some(cell) = summary.cell(0, method, parameter) else { continue };
                for (row, shown) in ITEMS.iter().enumerate() {
                    let (y, error) = shown.criterion.of(cell);
                    points.push(PanelPoint { row, column, series, x: x as f64, y, error });
                }
            }
        }
    }
    let items = Picture {
        title: "Item parameters, with and without school effects",
        description: "Mean squared error and bias of discrimination and difficulty when schools are left out of the model (and averaged afterwards), drawn from a distribution, or parameters.",
        rows: &ITEMS,
        columns: vec!["discrimination".into(), "difficulty".into()],
        x_label: "School effects",
        x_ticks: ["averaged EAPs", "random", "fixed"].iter().enumerate().map(|(x, t)| (x as f64, (*t).to_owned())).collect(),
        x_log: false,
        methods: &[],
        notes: vec!["Averaged EAPs: the model has no school effects; each school's students' expected abilities are averaged afterwards. The paper calls this random.".into()],
        replications: study.options.replications as usize,
    };
    let items = items.named(lines.into_iter().map(|(name, _)| name).collect(), points);
    let schools = Picture {
        title: "School effects",
        description: "Mean squared error and bias of each school's effect against its true value.",
        rows: &SCHOOLS,
        columns: vec!["five schools of 100 students".into()],
        x_label: "True effect s",
        x_ticks: EFFECTS.iter().map(|s| (*s, s.to_string().replace('-', "−"))).collect(),
        x_log: false,
        methods: &[],
        notes: Vec::new(),
        replications: study.options.replications as usize,
    };
    let mut points = Vec::new();
    for series in 0..study.methods.len() {
        for (row, shown) in SCHOOLS.iter().enumerate() {
            for (k, effect) in EFFECTS.iter().enumerate() {
                let Some(cell) = summary.cell(0, series, &format!("s{:02}", k + 1)) else { continue };
                let (y, error) = shown.criterion.of(cell);
                points.push(PanelPoint { row, column: 0, series, x: *effect, y, error });
            }
        }
    }
    let labels = study.methods.iter().map(|m| m.label.clone()).collect();
    vec![
        Section {
            heading: "Items".into(),
            paragraphs: vec!["Five schools of 100 students with effects −1, −0.5, 0, 0.5 and 1 answer ten items.".into()],
            pictures: vec![("items".into(), items)],
            tables: Vec::new(),
        },
        Section {
            heading: "Schools".into(),
            paragraphs: vec!["Averaged EAPs are computed at each school from its own students and the item parameters. They are not private, even where the item parameters are.".into()],
            pictures: vec![("schools".into(), schools.named(labels, points))],
            tables: Vec::new(),
        },
        Section {
            heading: "All figures".into(),
            paragraphs: study.methods.iter().map(Method::sentence).collect(),
            pictures: Vec::new(),
            tables,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{Errors, Number, Options, Outcome, Replication};

    /// What is said of difficulties where leaving schools out multiplies their squared errors.
    fn said(replications: u64, factor: f64) -> String {
        let options = Options { replications, ..Options::default() };
        let study = PaperStudy::new(Number::Two, options).expect("a study");
        let record = |replication: u64| {
            let chance = (replication % 3) as f64;
            let outcome = |method: &Method| {
                let averaged = method.name == "fedirt_eap";
                // Which of the two is hit harder changes from one replication to the next.
                let odd = averaged == replication.is_multiple_of(2);
                let mse = if averaged { factor } else { 1.0 } * 0.01
                    + 0.001 * chance
                    + if odd { 0.001 } else { 0.0 };
                let errors =
                    ["a", "b", "s"].map(|p| Errors { parameter: p.into(), mse, bias: 0.01 * (chance - 1.0) });
                Outcome {
                    method: method.name.clone(),
                    errors: errors.to_vec(),
                    distance: None,
                    failure: None,
                }
            };
            Replication { scenario: 0, replication, outcomes: study.methods.iter().map(outcome).collect() }
        };
        let records: Vec<Replication> = (0..replications).map(record).collect();
        findings(&study, &Summary::new(&study, &records)).join("\n")
    }

    #[test]
    fn words_follow_the_replications() {
        assert!(said(12, 2.0).contains("Difficulties suffer, too"));
        assert!(said(12, 0.5).contains("Difficulties gain"));
        assert!(said(12, 1.0).contains("Difficulties do not clearly suffer"));
        assert!(said(12, 2.0).contains("neither clearly steeper nor flatter"));
        assert!(said(9, 2.0).contains("Whether difficulties suffer: too few replications to say"));
    }
}
