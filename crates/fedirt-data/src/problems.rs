//! Everything that is wrong with the files, collected and told at once.

use std::fmt;
use std::mem::discriminant;

use crate::audience::Audience;
use crate::cause::Cause;
use crate::text::{counted, grouped, shown};

/// Problems of one kind in one file that are kept; the rest is counted.
pub(crate) const KEPT: usize = 10;

/// One thing that is wrong: where, what, and what would fix it.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The name of the input; `None` if no input is at fault.
    pub file: Option<String>,
    /// The line, counted from 1 as an editor does.
    pub line: Option<u64>,
    /// The column's name; in a long file the item's.
    pub column: Option<String>,
    /// What is wrong, with the value.
    pub cause: Cause,
}

impl Problem {
    /// What would fix it.
    pub fn remedy(&self, audience: Audience) -> String {
        self.cause.remedy(self.column.as_deref(), audience)
    }

    /// "line 7, column I3: …", without file and remedy.
    fn place_and_cause(&self, audience: Audience) -> String {
        let cause = self.cause.told(audience);
        match (self.line, &self.column) {
            (Some(line), Some(column)) => {
                format!("line {line}, column {}: {cause}", shown(column.as_bytes()))
            }
            (Some(line), None) => format!("line {line}: {cause}"),
            (None, Some(column)) => format!("column {}: {cause}", shown(column.as_bytes())),
            (None, None) => cause,
        }
    }

    /// The whole problem in two sentences.
    pub fn told(&self, audience: Audience) -> String {
        let file = self.file.as_ref().map_or(String::new(), |file| format!("{file}: "));
        format!("{file}{}. {}.", self.place_and_cause(audience), self.remedy(audience))
    }
}

impl fmt::Display for Problem {
    /// As somebody reads it who calls a library.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(Audience::Library))
    }
}

/// Problems of one kind in one file.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemGroup {
    /// The first of them (at most ten).
    pub first: Vec<Problem>,
    /// How many there are.
    pub total: u64,
}

/// All problems of a reading, by file and kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Problems {
    groups: Vec<ProblemGroup>,
}

impl std::error::Error for Problems {}

impl Problems {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// How many there are, with those that are only counted.
    pub fn total(&self) -> u64 {
        self.groups.iter().map(|group| group.total).sum()
    }

    /// Problems by file and kind, files in the order in which they were read.
    pub fn groups(&self) -> &[ProblemGroup] {
        &self.groups
    }

    /// The problems that are kept: the first ten of each kind in each file.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.groups.iter().flat_map(|group| &group.first)
    }

    pub(crate) fn add(&mut self, problem: Problem) {
        let group = self.group(&problem);
        group.total += 1;
        if group.first.len() < KEPT {
            group.first.push(problem);
        }
    }

    /// More problems of this kind in this file, of which only the number is known.
    pub(crate) fn count_more(&mut self, like: &Problem, more: u64) {
        self.group(like).total += more;
    }

    fn group(&mut self, like: &Problem) -> &mut ProblemGroup {
        let same = |problem: &Problem| {
            problem.file == like.file && discriminant(&problem.cause) == discriminant(&like.cause)
        };
        // From the end: problems come file by file, so the group is among the last.
        let found = self.groups.iter().rposition(|group| group.first.first().is_some_and(same));
        let at = found.unwrap_or_else(|| {
            self.groups.push(ProblemGroup { first: Vec::new(), total: 0 });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }

    /// The value, or all problems if there are any.
    pub(crate) fn unless_empty<T>(self, value: T) -> Result<T, Problems> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

/// A file's complaints: fills in the file's name.
pub(crate) struct Complaints<'a> {
    pub(crate) file: &'a str,
    pub(crate) problems: &'a mut Problems,
}

impl Complaints<'_> {
    pub(crate) fn file(&mut self, cause: Cause) {
        self.add(None, None, cause);
    }

    pub(crate) fn line(&mut self, line: impl Into<Option<u64>>, cause: Cause) {
        self.add(line.into(), None, cause);
    }

    pub(crate) fn cell(&mut self, line: impl Into<Option<u64>>, column: &str, cause: Cause) {
        self.add(line.into(), Some(column.to_string()), cause);
    }

    pub(crate) fn column(&mut self, column: &str, cause: Cause) {
        self.add(None, Some(column.to_string()), cause);
    }

    pub(crate) fn add(&mut self, line: Option<u64>, column: Option<String>, cause: Cause) {
        self.problems.add(Problem { file: Some(self.file.to_owned()), line, column, cause });
    }
}

impl fmt::Display for Problems {
    /// As somebody reads them who calls a library.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(Audience::Library))
    }
}

impl Problems {
    /// All of them, by file and kind, each with its remedy.
    pub fn told(&self, audience: Audience) -> String {
        let mut files: Vec<Option<&str>> = Vec::new();
        for problem in self.iter() {
            if !files.contains(&problem.file.as_deref()) {
                files.push(problem.file.as_deref());
            }
        }
        let named = files.iter().flatten().count() as u64;
        let mut out = counted(self.total(), "problem", "problems");
        if named > 1 {
            out.push_str(&format!(" in {} files", grouped(named)));
        }
        for file in files {
            match file {
                Some(file) => out.push_str(&format!("\n\n{file}")),
                None => out.push('\n'),
            }
            let of_file =
                |group: &&ProblemGroup| group.first.first().is_some_and(|p| p.file.as_deref() == file);
            self.groups.iter().filter(of_file).for_each(|group| tell_group(group, audience, &mut out));
        }
        out
    }
}

/// The problems of a group, one a line; a remedy that several in a row share is said once, after the last.
fn tell_group(group: &ProblemGroup, audience: Audience, out: &mut String) {
    let mut problems = group.first.iter().peekable();
    while let Some(problem) = problems.next() {
        out.push_str(&format!("\n  {}", problem.place_and_cause(audience)));
        let remedy = problem.remedy(audience);
        if problems.peek().is_none() && group.total > group.first.len() as u64 {
            let more = grouped(group.total - group.first.len() as u64);
            out.push_str(&format!("\n  … and {more} more of this kind"));
        }
        if problems.peek().is_none_or(|next| next.remedy(audience) != remedy) {
            out.push_str(&format!("\n    → {remedy}"));
        }
    }
}
