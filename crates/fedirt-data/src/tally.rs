//! What was seen in a column, and whether it is an item.

use fedirt_model::code_set::CodeSet;
use fedirt_model::responses::MISSING;

use crate::audience::ReadOption;
use crate::cause::Cause;
use crate::cells::{Fault, number};
use crate::problems::{Complaints, KEPT, Problem};
use crate::records::Fields;
use crate::text::{counted, grouped, shown};

/// More different values than this, and the column is no item.
const MOST_VALUES: usize = 20;

/// What was seen in one column of a file.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    answered: u64,
    codes: CodeSet,
    /// The line on which each code occurs first.
    pub(crate) first_lines: Vec<(u8, u64)>,
    /// Whether a codebook says what the codes are.
    declared: bool,
    /// Few columns have any, so that they stand apart.
    faults: Option<Box<Faults>>,
}

#[derive(Clone, Default)]
struct Faults {
    by_kind: [FaultCount; 5],
    /// Different numbers among the faults, up to one more than decides.
    numbers: Vec<f64>,
    /// Different texts among them, up to one more than decides.
    texts: Vec<String>,
}

#[derive(Clone, Default)]
struct FaultCount {
    total: u64,
    /// The first, by line.
    kept: Vec<(u64, Cause)>,
}

impl Tally {
    /// The tally of a column, and whether a codebook says what its codes are.
    pub(crate) fn new(declared: bool) -> Self {
        Self { declared, ..Self::default() }
    }

    /// Counts a code and hands it back; a missing answer counts for nothing.
    #[inline]
    pub(crate) fn count(&mut self, code: u8, line: u64) -> u8 {
        if code != MISSING {
            self.answered += 1;
            if !self.codes.contains(code) {
                self.codes.insert(code);
                self.first_lines.push((code, line));
            }
        }
        code
    }

    /// Counts a cell that is no score. Nothing comes of this reading, so that the answer may as well be missing.
    #[cold]
    pub(crate) fn fault(&mut self, fault: Fault, cell: &[u8], fields: &Fields<'_>) -> u8 {
        let faults = self.faults.get_or_insert_default();
        let count = &mut faults.by_kind[fault as usize];
        count.total += 1;
        if count.kept.len() < KEPT {
            count.kept.push(place_and_cause(fault, cell, fields));
        }
        let value = std::str::from_utf8(cell).ok().and_then(|text| number(text.trim()));
        if let Some(value) = value
            && faults.numbers.len() <= MOST_VALUES
            && !faults.numbers.contains(&value)
        {
            faults.numbers.push(value);
        }
        if matches!(fault, Fault::Text) && faults.texts.len() <= MOST_VALUES {
            let text = shown(cell.trim_ascii());
            if !faults.texts.contains(&text) {
                faults.texts.push(text);
            }
        }
        MISSING
    }

    /// Whether there was nothing but missing answers.
    pub(crate) fn is_empty(&self) -> bool {
        self.answered == 0 && self.faults.is_none()
    }

    /// Why the column is no item, if it is none.
    fn no_item(&self) -> Option<Cause> {
        let none = Faults::default();
        let faults = self.faults.as_deref().unwrap_or(&none);
        let cells = self.answered + faults.by_kind.iter().map(|count| count.total).sum::<u64>();
        use ReadOption::{Id, Ignore, Site, Weight};
        let kinds: [(Fault, &str, &[ReadOption]); 3] = [
            (Fault::Text, "text", &[Ignore, Site, Id]),
            (Fault::Fraction, "a fraction", &[Ignore, Weight]),
            (Fault::TooLarge, "a large number", &[Ignore, Id, Site]),
        ];
        for (fault, noun, options) in kinds {
            let count = &faults.by_kind[fault as usize];
            // A single wrong cell in a tiny file is a wrong cell, not a wrong column.
            if count.total * 2 > cells && count.total > 1 {
                if fault == Fault::Text && faults.texts.len() <= MOST_VALUES {
                    return Some(Cause::Texts(faults.texts.clone()));
                }
                let mut what =
                    format!("{noun} in {} of {}", grouped(count.total), counted(cells, "cell", "cells"));
                if let Some((line, value)) =
                    count.kept.iter().find_map(|(line, cause)| Some((line, value(cause)?)))
                {
                    what.push_str(&format!(", such as `{value}` on line {line}"));
                }
                return Some(Cause::NotAnItem { what, options: options.to_vec() });
            }
        }
        if !self.declared && self.codes.len() + faults.numbers.len() > MOST_VALUES {
            let what = format!("it has more than {MOST_VALUES} different values");
            return Some(Cause::NotAnItem { what, options: vec![Ignore, Id, Weight] });
        }
        None
    }
}

/// Complains about all columns of a file: once about a column that is no item, else cell by cell.
pub(crate) fn complain_about_columns(names: &[&str], tallies: &[Tally], complaints: &mut Complaints<'_>) {
    let mut cells: Vec<(u64, &str, &Cause)> = Vec::new();
    let mut uncounted: Vec<(&Cause, u64)> = Vec::new();
    for (name, tally) in names.iter().zip(tallies) {
        if let Some(cause) = tally.no_item() {
            complaints.column(name, cause);
        } else if let Some(faults) = &tally.faults {
            for count in &faults.by_kind {
                cells.extend(count.kept.iter().map(|(line, cause)| (*line, *name, cause)));
                let rest = count.total - count.kept.len() as u64;
                uncounted.extend(count.kept.last().filter(|_| rest > 0).map(|(_, cause)| (cause, rest)));
            }
        }
    }
    // By line: the first ten of a kind are kept, and they should be the first in the file.
    cells.sort_by_key(|(line, ..)| *line);
    for (line, name, cause) in cells {
        complaints.cell(line, name, cause.clone());
    }
    for (cause, more) in uncounted {
        let file = Some(complaints.file.to_owned());
        complaints
            .problems
            .count_more(&Problem { file, line: None, column: None, cause: cause.clone() }, more);
    }
}

fn place_and_cause(fault: Fault, cell: &[u8], fields: &Fields<'_>) -> (u64, Cause) {
    // Bytes that are no text explain more than the cell that they spoil.
    if cell.contains(&0)
        && let Some((line, byte)) = fields.nul()
    {
        return (line, Cause::NulByte(byte));
    }
    if std::str::from_utf8(cell).is_err()
        && let Some((line, byte, value)) = fields.invalid_utf8()
    {
        return (line, Cause::NotUtf8 { byte, value });
    }
    let value = shown(cell.trim_ascii());
    let cause = match fault {
        Fault::Text => Cause::NotAScore(value),
        Fault::Fraction => Cause::Fraction(value),
        Fault::Negative => Cause::Negative(value),
        Fault::TooLarge => Cause::TooLarge(value),
        Fault::Unlisted => Cause::Unlisted(value),
    };
    (fields.line, cause)
}

fn value(cause: &Cause) -> Option<&str> {
    match cause {
        Cause::NotAScore(value) | Cause::Fraction(value) | Cause::TooLarge(value) => Some(value),
        _ => None,
    }
}
