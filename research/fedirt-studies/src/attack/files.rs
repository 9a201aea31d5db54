//! The study in files: tidy rows, settings with summaries, pictures, and a page.

use super::Options;
use super::bound::{Bound, bounds};
use super::condition::{Condition, Protocol};
use super::figures::{at_a_glance, by_rounds};
use super::noisy::DELTA;
use super::record::AttackRecord;
use super::summary::{Cell, cells};
use super::words::{HEADERS, findings, line, text};
use crate::StudyError;
use crate::publish::{Article, DataFile, Section, StudyOutput};
use fedirt_figures::{Figure, Table};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: &'static str,
    replications: u64,
    first_seed: u64,
    delta: f64,
    conditions: &'a [Condition],
    /// Seeds of each condition.
    seeds: Vec<(String, Vec<u64>)>,
    findings: Vec<String>,
    /// What `private` gives away beyond the guess, at each ε.
    private: Vec<Bound>,
    cells: &'a [Cell],
}

/// The study written up. Files: `attack.csv`, `attack.json`, pictures as SVG and PNG, `index.html`.
pub fn report(options: &Options, records: &[AttackRecord]) -> Result<StudyOutput, StudyError> {
    let cells = cells(records);
    let data = vec![
        DataFile::new("attack.csv", csv(records), "every attack on every data set"),
        DataFile::new("cells.csv", cells_csv(&cells), "means over data sets, with errors and limits"),
        DataFile::new("attack.json", json(options, &cells)?, "settings, seeds, findings, means over seeds"),
    ];
    let pictures =
        vec![("rebuilt".to_owned(), at_a_glance(&cells)), ("rounds".to_owned(), by_rounds(&cells))];
    let files = article(options, &cells, pictures).files(data)?;
    Ok(StudyOutput { files, text: text(&cells) })
}

/// One row per attack and data set.
fn csv(records: &[AttackRecord]) -> String {
    let mut out = String::from(
        "protocol,items,sites,students,effects,seed,attack,rounds,rounds_run,decimals,epsilon,numbers,rows,found,certain,guess,guess_rounded,guess_remainder,guess_likeliest\n",
    );
    for r in records {
        let decimals = r.decimals.map_or(String::new(), |d| d.to_string());
        let epsilon = r.epsilon.map_or(String::new(), |e| e.to_string());
        out += &format!(
            "{},{},{},{},{},{},\"{}\",{},{},{decimals},{epsilon},{},{},{},{},{},{},{},{}\n",
            r.protocol.name(),
            r.items,
            r.sites,
            r.students,
            r.effects,
            r.seed,
            r.attack,
            r.rounds,
            r.rounds_run,
            r.numbers,
            r.rows,
            r.found,
            r.certain,
            r.guess,
            r.guess_rounded,
            r.guess_remainder,
            r.guess_likeliest
        );
    }
    out
}

/// One row per attack and condition: rows found and guessed on average, their paired difference with its Monte Carlo
/// error, and limits that hold for all comparisons at the same ε together.
fn cells_csv(cells: &[Cell]) -> String {
    let mut out = String::from(
        "condition,protocol,items,sites,students,attack,rounds_limit,decimals,epsilon,seeds,rows,found,guess,beyond,beyond_se,beyond_low,beyond_high,beyond_the_guess\n",
    );
    let said = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6}"));
    let whole = |x: Option<String>| x.unwrap_or_default();
    for c in cells {
        out += &format!(
            "{},{},{},{},{},\"{}\",{},{},{},{},{},{:.6},{:.6},{:.6},{},{},{},{}\n",
            c.condition,
            c.protocol.name(),
            c.items,
            c.sites,
            c.students,
            c.attack,
            whole(c.rounds_limit.map(|r| r.to_string())),
            whole(c.decimals.map(|d| d.to_string())),
            whole(c.epsilon.map(|e| e.to_string())),
            c.seeds,
            c.rows,
            c.found,
            c.guess,
            c.beyond,
            said(c.beyond_error),
            said(c.beyond_limits.map(|l| l.0)),
            said(c.beyond_limits.map(|l| l.1)),
            whole(c.beyond_limits.map(|_| c.beyond_the_guess().to_string())),
        );
    }
    out
}

fn json(options: &Options, cells: &[Cell]) -> Result<String, serde_json::Error> {
    let seeds = |condition: &Condition| {
        let first = options.first_seed;
        (condition.name(), (first..first + condition.seeds(options.replications)).collect())
    };
    let document = Document {
        format: "fedirt.study.attack/2",
        version: env!("CARGO_PKG_VERSION"),
        replications: options.replications,
        first_seed: options.first_seed,
        delta: DELTA,
        conditions: &options.conditions,
        seeds: options.conditions.iter().map(seeds).collect(),
        findings: findings(cells),
        private: bounds(cells),
        cells,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// How the rows are found, in words.
const HOW: [&str; 5] = [
    "Every number that a school sends is a sum over its students. A student's part depends on the parameters, which everybody knows, and on the pattern of answers; with J items there are 2^J patterns. So each number is a linear equation in how often each pattern occurs. The counts are whole numbers, none is negative and most are zero: non-negative least squares finds them, and rounding makes them whole. When whole counts explain all numbers, the attacker knows that they are right.",
    "The runs are honest runs of the program, and the numbers those that its coordinator receives, as fixed point writes them. For secure sums they are added over schools. Sums of the published gradients are what the published protocol would reveal behind secure aggregation.",
    "For private runs the attacker sees both noisy sums, and is given, in one variant, all rows of all the other schools. He tries least squares, and the likeliest counts given the sums, the size of the noise and the fitted model.",
    "The guess needs no attack: the rows that the fitted model, which everybody may know, makes likeliest; no other choice has more rows right on average under that model. A row counts as found if a student with that pattern exists who is not yet counted.",
    "Counts are made whole in three ways. For exact sums the best is counted, for attack and guess alike. For private runs, where the two are close, the choice is made beforehand: the likeliest rows. Differences are between attack and guess on the same data sets. Limits are Student's, at 5 % divided by the number of attacks at the same ε (Bonferroni), so that all hold together with 95 % confidence. Noisy sums are sums all the same. A private run releases 4J of them and 2J estimates, so they say a little about the students that the model does not: enough data sets would show a fraction of a row, and ε bounds what it can be for any one student.",
];

fn article(options: &Options, cells: &[Cell], pictures: Vec<(String, Figure)>) -> Article {
    let table = Table {
        caption: "All attacks: fewest and most rows over the data sets; mean difference between attack and guess with its Monte Carlo error; at most: limits for all attacks at an ε together".to_owned(),
        headers: HEADERS.map(str::to_owned).to_vec(),
        rows: cells.iter().map(line).collect(),
    };
    let section = |heading: &str| Section { heading: heading.to_owned(), ..Section::default() };
    Article {
        title: "What the sums reveal".to_owned(),
        run: format!("T = {} data sets per condition, seed {}", options.replications, options.first_seed),
        findings: findings(cells),
        sections: vec![
            Section { pictures, ..section("Rows rebuilt") },
            Section { paragraphs: HOW.map(str::to_owned).to_vec(), ..section("How") },
            Section { tables: vec![table], ..section("All attacks") },
        ],
        settings: vec![
            ("Data sets per condition".to_owned(), options.replications.to_string()),
            ("Data sets per condition of private runs".to_owned(), private_sets(options)),
            ("First seed".to_owned(), options.first_seed.to_string()),
            ("Slopes, difficulties".to_owned(), "uniform on [0.5, 2] and [−1, 1]".to_owned()),
            ("δ of private runs".to_owned(), DELTA.to_string()),
        ],
    }
}

fn private_sets(options: &Options) -> String {
    let private = options.conditions.iter().find(|c| c.protocol == Protocol::Private);
    private.map_or("–".to_owned(), |condition| condition.seeds(options.replications).to_string())
}
