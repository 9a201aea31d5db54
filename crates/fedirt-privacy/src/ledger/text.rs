//! The text of a line: hash, tab, kind, and tab-separated `key=value`.
//!
//! ```text
//! line  = hash TAB body LF            hash = 64 hexadecimal digits
//! hash  = SHA-256("fedirt ledger 1\n" ‖ hash of the line before, 32 bytes (0 before the first) ‖ body)
//! body  = kind (TAB key=value)*       keys in the order below, all of them
//! account  population epsilon delta filter time                      filter = gaussian
//! debit    population study round attempt cohort question (mu_squared | order divergence) eta kappa
//!          after_exact_releases time (rows | rows_of) [students | students_of]     question = 64 hexadecimal digits
//! exact    population study mode [n_min colluders] statistics cohort time (rows | rows_of)
//!          [(students | students_of) keys after_private_releases] [question]
//! ```
//!
//! Names have no tabs and no line breaks. In lists, commas separate; a comma within a name is `\,`, a backslash
//! `\\`. Numbers are the shortest decimals that give the same double. `rows` are sorted fingerprints of 16 digits;
//! `rows_of` is the number of an earlier line with the same rows. `students` are ids and columns (see `students.rs`), `keys` the
//! hashes of the keys of `cohort` in its order, with `?` after those that are not verified; lines of earlier versions end before. An entry has one text only: what is read is
//! written again and compared.

use super::{
    AccountOpening, Budget, Debit, ExactMode, ExactRelease, Head, Label, Ledger, LedgerEntry, Member,
    Students,
};
use crate::accountant::{AccountantError, Delta, Epsilon, Slack};
use crate::secure::{ThresholdError, Thresholds};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::str::FromStr;

fn list<T: std::fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let escaped = |name: T| name.to_string().replace('\\', "\\\\").replace(',', "\\,");
    names.into_iter().map(escaped).collect::<Vec<_>>().join(",")
}

/// Writes `key=value` after `key=value`.
struct Body(String);

impl Body {
    fn put(&mut self, key: &str, value: impl std::fmt::Display) -> &mut Self {
        // Writing to a string does not fail.
        let _ = write!(self.0, "\t{key}={value}");
        self
    }

    /// A double, in the shortest way that gives it back.
    fn number(&mut self, key: &str, value: f64) -> &mut Self {
        self.put(key, format_args!("{value:?}"))
    }
}

/// Bytes as hexadecimal digits.
struct Hex<'a>(&'a [u8; 32]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn put_rows(body: &mut Body, rows: &[u64], ledger: &Ledger) {
    match ledger.rows.iter().find(|(_, _, earlier)| earlier == rows) {
        Some((number, _, _)) => body.put("rows_of", number),
        None => body.put("rows", list(rows.iter().map(|row| format!("{row:016x}")))),
    };
}

fn put_students(body: &mut Body, students: &Students, ledger: &Ledger) {
    match ledger.students.iter().find(|(_, _, earlier)| earlier == students) {
        Some((number, _, _)) => body.put("students_of", number),
        None => body.put("students", students),
    };
}

fn key(member: &Member) -> String {
    format!("{}{}", Hex(&member.key), if member.verified { "" } else { "?" })
}

/// The text of an entry, its rows sorted; rows that an earlier line has are named by its number.
pub(super) fn body(entry: &LedgerEntry, ledger: &Ledger) -> String {
    match entry {
        LedgerEntry::Open(AccountOpening { population, budget, time }) => {
            let mut body = Body("account".into());
            body.put("population", population)
                .number("epsilon", budget.epsilon.value())
                .number("delta", budget.delta.value())
                .put("filter", "gaussian")
                .put("time", time);
            body.0
        }
        LedgerEntry::Debit(debit) => {
            let mut body = Body("debit".into());
            body.put("population", &debit.population).put("study", &debit.study);
            body.put("round", debit.round).put("attempt", debit.attempt).put("cohort", debit.cohort);
            body.put("question", Hex(&debit.question));
            body.number("mu_squared", debit.mu_squared);
            body.number("eta", debit.slack.eta).number("kappa", debit.slack.kappa);
            body.put("after_exact_releases", debit.after_exact_releases).put("time", &debit.time);
            put_rows(&mut body, &debit.rows, ledger);
            if let Some(students) = &debit.students {
                put_students(&mut body, students, ledger);
            }
            body.0
        }
        LedgerEntry::Exact(release) => {
            let mut body = Body("exact".into());
            body.put("population", &release.population).put("study", &release.study);
            match release.mode {
                ExactMode::Plain => body.put("mode", "plain"),
                ExactMode::Secure(thresholds) => body
                    .put("mode", "secure")
                    .put("n_min", thresholds.n_min())
                    .put("colluders", thresholds.colluders()),
            };
            body.put("statistics", list(&release.statistics)).put("cohort", list(&release.cohort));
            body.put("time", &release.time);
            put_rows(&mut body, &release.rows, ledger);
            if let (Some(students), Some(after)) = (&release.students, release.after_private_releases) {
                put_students(&mut body, students, ledger);
                body.put("keys", list(release.members.iter().map(key)));
                body.put("after_private_releases", after);
            }
            if let Some(question) = &release.question {
                body.put("question", Hex(question));
            }
            body.0
        }
    }
}

/// Why a line of the ledger is no entry.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LineError {
    /// A field is not where it should stand.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// The value of a field cannot be read.
    #[error("{0} cannot be read")]
    Unreadable(&'static str),
    /// A field that refers to an earlier line which is not there.
    #[error("{0} names no line")]
    NoSuchLine(&'static str),
    /// A kind of entry, a mode or a filter that this program does not know.
    #[error("the {what} {value:?} is not known")]
    Unknown {
        /// What it should be.
        what: &'static str,
        /// What stands there.
        value: String,
    },
    /// A budget that cannot be.
    #[error(transparent)]
    Budget(#[from] AccountantError),
    /// Thresholds that cannot be.
    #[error(transparent)]
    Thresholds(#[from] ThresholdError),
    /// The entry is right, and its text is not the one that this program writes.
    #[error("it is not written as this program writes it")]
    Spelling,
}

/// Reads `key=value` after `key=value`.
struct Fields<'a>(std::iter::Peekable<std::str::Split<'a, char>>);

impl<'a> Fields<'a> {
    /// Whether the next field has this key.
    fn next_is(&mut self, key: &str) -> bool {
        self.0.peek().and_then(|field| field.split_once('=')).is_some_and(|(found, _)| found == key)
    }

    fn text(&mut self, key: &'static str) -> Result<&'a str, LineError> {
        let (found, value) = self.0.next().and_then(|field| field.split_once('=')).unwrap_or_default();
        if found == key { Ok(value) } else { Err(LineError::Missing(key)) }
    }

    fn parse<T: FromStr>(&mut self, key: &'static str) -> Result<T, LineError> {
        self.text(key)?.parse().map_err(|_| LineError::Unreadable(key))
    }

    fn name<T: for<'s> TryFrom<&'s str>>(&mut self, key: &'static str) -> Result<T, LineError> {
        T::try_from(self.text(key)?).map_err(|_| LineError::Unreadable(key))
    }

    fn list<T: Ord + for<'s> TryFrom<&'s str>>(
        &mut self,
        key: &'static str,
    ) -> Result<BTreeSet<T>, LineError> {
        let text = self.text(key)?;
        if text.is_empty() {
            return Ok(BTreeSet::new());
        }
        let (mut names, mut characters) = (vec![String::new()], text.chars());
        while let Some(c) = characters.next() {
            match (c, names.last_mut()) {
                ('\\', Some(name)) => name.extend(characters.next()),
                (',', _) => names.push(String::new()),
                (_, Some(name)) => name.push(c),
                (_, None) => {}
            }
        }
        names.iter().map(|name| T::try_from(name).map_err(|_| LineError::Unreadable(key))).collect()
    }
}

fn unknown(what: &'static str, value: &str) -> LineError {
    LineError::Unknown { what, value: value.to_owned() }
}

fn budget(fields: &mut Fields<'_>) -> Result<Budget, LineError> {
    let epsilon = Epsilon::new(fields.parse("epsilon")?)?;
    let delta = Delta::new(fields.parse("delta")?)?;
    match fields.text("filter")? {
        "gaussian" => Ok(Budget { epsilon, delta }),
        other => Err(unknown("filter", other)),
    }
}

fn mode(fields: &mut Fields<'_>) -> Result<ExactMode, LineError> {
    match fields.text("mode")? {
        "plain" => Ok(ExactMode::Plain),
        "secure" => {
            Ok(ExactMode::Secure(Thresholds::new(fields.parse("n_min")?, fields.parse("colluders")?)?))
        }
        other => Err(unknown("mode", other)),
    }
}

fn rows(fields: &mut Fields<'_>, ledger: &Ledger) -> Result<Vec<u64>, LineError> {
    if fields.next_is("rows_of") {
        let number: usize = fields.parse("rows_of")?;
        let earlier = ledger.rows.iter().find(|(line, _, _)| *line == number);
        return earlier.map(|(_, _, rows)| rows.clone()).ok_or(LineError::NoSuchLine("rows_of"));
    }
    match fields.text("rows")? {
        "" => Ok(Vec::new()),
        text => text
            .split(',')
            .map(|row| u64::from_str_radix(row, 16).map_err(|_| LineError::Unreadable("rows")))
            .collect(),
    }
}

fn students(fields: &mut Fields<'_>, ledger: &Ledger) -> Result<Option<Students>, LineError> {
    if fields.next_is("students_of") {
        let number: usize = fields.parse("students_of")?;
        let earlier = ledger.students.iter().find(|(line, _, _)| *line == number);
        return earlier
            .map(|(_, _, students)| Some(students.clone()))
            .ok_or(LineError::NoSuchLine("students_of"));
    }
    if !fields.next_is("students") {
        return Ok(None);
    }
    fields.parse("students").map(Some)
}

/// The keys of a cohort; none in lines of earlier versions.
fn members(fields: &mut Fields<'_>) -> Result<Vec<Member>, LineError> {
    if !fields.next_is("keys") {
        return Ok(Vec::new());
    }
    let member = |text: &str| {
        let hash = text.strip_suffix('?').unwrap_or(text);
        let key = hash.parse::<Head>().map_err(|_| LineError::Unreadable("keys"))?;
        Ok(Member { key: *key.as_bytes(), verified: hash == text })
    };
    let text = fields.text("keys")?;
    text.split(',').filter(|key| !key.is_empty()).map(member).collect()
}

/// The entry of a text. The caller compares what the entry is written as.
pub(super) fn parse(body: &str, ledger: &Ledger) -> Result<LedgerEntry, LineError> {
    let mut split = body.split('\t').peekable();
    let kind = split.next().unwrap_or_default();
    let mut fields = Fields(split);
    let fields = &mut fields;
    // Fields of a struct are read in the order in which they stand here.
    match kind {
        "account" => Ok(LedgerEntry::Open(AccountOpening {
            population: fields.name("population")?,
            budget: budget(fields)?,
            time: fields.name("time")?,
        })),
        "debit" => Ok(LedgerEntry::Debit(Debit {
            population: fields.name("population")?,
            study: fields.name("study")?,
            round: fields.parse("round")?,
            attempt: fields.parse("attempt")?,
            cohort: fields.parse("cohort")?,
            question: *fields.parse::<Head>("question")?.as_bytes(),
            mu_squared: fields.parse("mu_squared")?,
            slack: Slack { eta: fields.parse("eta")?, kappa: fields.parse("kappa")? },
            after_exact_releases: fields.parse("after_exact_releases")?,
            time: fields.name("time")?,
            rows: rows(fields, ledger)?,
            students: students(fields, ledger)?,
        })),
        "exact" => Ok(LedgerEntry::Exact(ExactRelease {
            population: fields.name("population")?,
            study: fields.name("study")?,
            mode: mode(fields)?,
            statistics: fields.list("statistics")?,
            cohort: fields.list("cohort")?,
            time: fields.name::<Label>("time")?,
            rows: rows(fields, ledger)?,
            students: students(fields, ledger)?,
            members: members(fields)?,
            after_private_releases: fields
                .next_is("after_private_releases")
                .then(|| fields.parse("after_private_releases"))
                .transpose()?,
            question: (fields.next_is("question").then(|| fields.parse::<Head>("question")).transpose()?)
                .map(|question| *question.as_bytes()),
        })),
        other => Err(unknown("kind", other)),
    }
}
