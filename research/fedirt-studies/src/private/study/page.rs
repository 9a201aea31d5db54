//! The page of the study of private calibrations.

use super::summary::{Cell, Coverage, cells, published_mean};
use super::{Estimator, MethodRecord, Options};
use crate::StudyError;
use crate::publish::{Article, DataFile, Section, StudyOutput, aligned, brief};
use fedirt_figures::Table;

const HEADERS: [&str; 11] = [
    "condition",
    "method",
    "data sets",
    "MSE a",
    "MSE b",
    "MSE s",
    "over no noise",
    "over score2",
    "cover a",
    "cover |b| ≤ 2 (named)",
    "cover |b| ≥ 3 (named)",
];

/// What was found, as files and as text.
pub fn report(options: &Options, records: &[MethodRecord]) -> Result<StudyOutput, StudyError> {
    let found = cells(records);
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    let findings = findings(&found);
    let mut text = findings.join("\n") + "\n\n";
    let mut table = vec![HEADERS.map(str::to_owned).to_vec()];
    table.extend(rows.iter().cloned());
    text += &aligned(&table, 2);
    let conditions: Vec<String> = (options.conditions.iter())
        .map(|c| {
            format!(
                "{}: {:?}, {} students, {} sites, ε = {}",
                c.name, c.items, c.students, c.sites, c.epsilon
            )
        })
        .collect();
    let article = Article {
        title: "How accurate are private calibrations?".into(),
        run: format!("{} data sets per condition, seed {}", options.replications, options.first_seed),
        findings,
        sections: vec![Section {
            heading: "Errors and intervals".into(),
            paragraphs: vec![
                "All methods see the same answers. Errors are mean squares over slopes, difficulties and site effects; ± is one standard error over data sets.".into(),
            ],
            pictures: Vec::new(),
            tables: vec![Table {
                caption: "Mean squared errors, and shares of 95 % intervals that hold the truth".into(),
                headers: HEADERS.map(str::to_owned).to_vec(),
                rows,
            }],
        }],
        settings: vec![("Conditions".into(), conditions.join("; "))],
    };
    let data = vec![DataFile::new("replications.csv", csv(records), "one row per data set and method")];
    Ok(StudyOutput { files: article.files(data)?, text })
}

fn row(cell: &Cell) -> Vec<String> {
    let ratio = |(x, se): (f64, f64)| format!("{x:.3} ± {se:.3}");
    let cover = |c: Coverage| match c.of {
        0 => "–".to_owned(),
        _ => format!("{:.1} ± {:.1} %", 100.0 * c.covered.0, 100.0 * c.covered.1),
    };
    let named = |c: Coverage| if c.of == 0 { String::new() } else { format!(" ({:.0} %)", 100.0 * c.named) };
    let mut cells =
        vec![cell.condition.clone(), cell.method.name().to_owned(), cell.replications.to_string()];
    cells.extend(cell.mse.map(|x| brief(x, 3)));
    cells.extend([ratio(cell.over_no_noise), ratio(cell.over_score2)]);
    cells.extend([
        cover(cell.slopes),
        cover(cell.regular) + &named(cell.regular),
        cover(cell.extreme) + &named(cell.extreme),
    ]);
    cells
}

fn findings(found: &[Cell]) -> Vec<String> {
    let mut out = Vec::new();
    for method in [Estimator::Optimal, Estimator::Score2] {
        if let Some(mean) = published_mean(found, method) {
            out.push(format!(
                "The squared error of {} is {mean:.3} times that of FedIRT-DP with tuned settings (geometric mean over sizes).",
                method.name()
            ));
        }
        let unfinished: usize = found.iter().filter(|c| c.method == method).map(|c| c.unfinished).sum();
        let fits: usize = found.iter().filter(|c| c.method == method).map(|c| c.replications).sum();
        out.push(format!("{unfinished} of {fits} fits of {} did not come to rest.", method.name()));
    }
    out
}

fn csv(records: &[MethodRecord]) -> String {
    let mut out = String::from(
        "condition,seed,method,mse_a,mse_b,mse_s,slopes,slopes_covered,regular,regular_covered,regular_named,extreme,extreme_covered,extreme_named,converged\n",
    );
    for r in records {
        let converged = r.converged.map_or_else(String::new, |c| c.to_string());
        let [a, b, s] = r.mse;
        out += &format!(
            "{},{},{},{a},{b},{s},{},{},{},{},{},{},{},{},{converged}\n",
            r.condition,
            r.seed,
            r.method.name(),
            r.slopes.of,
            r.slopes.covered,
            r.regular.of,
            r.regular.covered,
            r.regular.named,
            r.extreme.of,
            r.extreme.covered,
            r.extreme.named,
        );
    }
    out
}
