//! The ledger's lines for people: what was given away, of whom, and when.

use super::{AgentError, Home, account};
use fedirt_privacy::ledger::Label;

/// A line of the ledger, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LedgerLine {
    /// Its number, counted from 1.
    pub line: usize,
    /// When.
    pub time: String,
    /// `account`, `debit` or `exact`.
    pub kind: String,
    /// Population.
    pub population: String,
    /// Study; empty for accounts.
    pub study: String,
    /// Everything else, in words.
    pub what: String,
}

/// A ledger for people.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LedgerTable {
    /// Hash of the last line: note it down, and lines that are cut off later are missed.
    pub head: String,
    /// For each population what is spent and left, or that exact sums were released.
    pub populations: Vec<(String, String)>,
    /// The lines.
    pub lines: Vec<LedgerLine>,
}

/// Reads, verifies and takes apart a ledger.
pub fn ledger_table(home: &Home) -> Result<LedgerTable, AgentError> {
    let (ledger, text) = account::read_with_text(home)?;
    let text = String::from_utf8(text).unwrap_or_default();
    let lines: Vec<LedgerLine> =
        text.lines().enumerate().map(|(at, line)| take_apart(at + 1, line)).collect();
    let mut populations: Vec<(String, String)> = Vec::new();
    for line in &lines {
        if populations.iter().any(|(name, _)| *name == line.population) {
            continue;
        }
        let Ok(label) = Label::try_from(line.population.as_str()) else { continue };
        let mut words = Vec::new();
        if let Some(balance) = ledger.balance(&label) {
            let exact = format!("{:.5} of {:.5} ({})", balance.spent, balance.limit, balance.budget);
            let (spent, budget) = (balance.as_epsilon(balance.spent), balance.budget.epsilon.value());
            words.push(format!("ε = {spent:.2} of {budget} is spent (exactly, {exact})"));
        }
        if let Some(last) = ledger.exact_release_times(&label).last() {
            words.push(format!("exact sums were released (last on {last}): no ε describes what is known"));
        }
        populations.push((line.population.clone(), words.join("; ")));
    }
    Ok(LedgerTable { head: ledger.head().to_string(), populations, lines })
}

fn take_apart(number: usize, line: &str) -> LedgerLine {
    let mut fields = line.split('\t').skip(1);
    let kind = fields.next().unwrap_or_default().to_owned();
    let fields: Vec<(&str, &str)> = fields.filter_map(|field| field.split_once('=')).collect();
    let get =
        |key: &str| fields.iter().find(|(k, _)| *k == key).map_or(String::new(), |(_, v)| (*v).to_owned());
    let what = match kind.as_str() {
        "account" => format!("budget: epsilon {} at delta {}", get("epsilon"), get("delta")),
        "debit" => format!("round {}, attempt {}, of {} sites", get("round"), get("attempt"), get("cohort")),
        _ => {
            let rows = match (get("rows_of"), get("rows")) {
                (of, _) if !of.is_empty() => format!("the rows of line {of}"),
                (_, rows) if rows.is_empty() => "no rows".into(),
                (_, rows) => format!("{} rows", rows.split(',').count()),
            };
            let (mode, statistics, cohort) = (get("mode"), get("statistics"), get("cohort"));
            format!("{mode}: {}; with {}; {rows}", statistics.replace(',', ", "), cohort.replace(',', ", "))
        }
    };
    let (time, population, study) = (get("time"), get("population"), get("study"));
    LedgerLine { line: number, time, kind, population, study, what }
}
