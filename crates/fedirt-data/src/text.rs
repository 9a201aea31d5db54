//! How values, counts and line numbers look in messages.

use std::fmt;

/// Longest value that a message repeats, in characters.
const SHOWN: usize = 40;

/// Longest name that a message repeats as the argument of a flag, where cutting would make it useless.
const ARGUMENT: usize = 200;

/// A value as a message may show it: on one line, without control characters, at most 40 characters.
pub(crate) fn shown(value: &[u8]) -> String {
    escaped(value, SHOWN)
}

fn escaped(value: &[u8], most: usize) -> String {
    // A few bytes more than the characters can need, so that a cell of 10 MB costs nothing here.
    let head = &value[..value.len().min(4 * most + 4)];
    let text = String::from_utf8_lossy(head);
    let mut out = String::new();
    for (taken, character) in text.chars().enumerate() {
        if taken == most {
            out.push('…');
            break;
        }
        match character {
            c if c.is_control() => out.extend(c.escape_default()),
            // Marks that no eye sees, or that turn the direction of writing.
            '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => {
                out.extend(character.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

/// A number with commas between the thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// "1 row", "2,000 rows".
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A name as the argument of a flag: quoted where a shell would take it apart.
pub fn argument(name: &str) -> String {
    let name = escaped(name.as_bytes(), ARGUMENT);
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ':' | '+');
    if !name.is_empty() && name.chars().all(plain) {
        name
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

/// Names of a list that are spelt out.
const LISTED: usize = 5;

/// `A, B, C`, or the first few and how many there are.
pub fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().map(AsRef::as_ref).take(LISTED).collect();
    match names.len() {
        n if n > LISTED => format!("{}, … ({n} in all)", shown.join(", ")),
        _ => shown.join(", "),
    }
}

/// Names in backticks: "`a`, `b` or `c`".
pub(crate) fn alternatives(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", shown(name.as_bytes()))).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
    }
}

/// Lines of a file: how many, and the first few by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// How many lines there are.
    pub count: u64,
    /// The first of them, counted from 1 as an editor does.
    pub first: Vec<u64>,
}

impl Lines {
    pub(crate) fn push(&mut self, line: u64) {
        self.count += 1;
        if self.first.len() < 5 {
            self.first.push(line);
        }
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.first.iter().map(u64::to_string).collect();
        write!(f, "{} {}", if self.count == 1 { "line" } else { "lines" }, numbers.join(", "))?;
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            rest => write!(f, " and {} more", grouped(rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_and_escaped() {
        assert_eq!(shown(b"a\nb\0"), r"a\nb\u{0}");
        assert_eq!(shown(&[b'x'; 1_000_000]).chars().count(), SHOWN + 1);
        assert_eq!(shown(b"caf\xe9"), "caf\u{fffd}");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn arguments_survive_a_shell() {
        assert_eq!(argument("I1.a"), "I1.a");
        assert_eq!(argument("it's here"), r"'it'\''s here'");
    }
}
