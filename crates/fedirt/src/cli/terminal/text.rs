//! Numbers and sentences on a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for a number that is not there.
pub(crate) const NONE: &str = "–";

/// A number with that many decimals, or a dash.
pub(crate) fn fixed(value: Option<f64>, decimals: usize) -> String {
    match value.filter(|x| x.is_finite()) {
        // −0.00 says nothing that 0.00 does not.
        Some(x) if x.abs() < 0.5 * 10f64.powi(-(decimals as i32)) => format!("{:.decimals$}", 0.0),
        Some(x) => format!("{x:.decimals$}"),
        None => NONE.to_owned(),
    }
}

/// A gradient, a condition number: two digits.
pub(crate) fn rough(value: Option<f64>) -> String {
    match value.filter(|x| x.is_finite()) {
        Some(0.0) => "0".to_owned(),
        Some(x) if (1.0..1e5).contains(&x.abs()) => format!("{x:.1}"),
        Some(x) => format!("{x:.1e}"),
        None => NONE.to_owned(),
    }
}

/// A count with commas between thousands.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 site`, `3 sites`.
pub(crate) fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// The text in at most `room` columns, cut with `…`; what a terminal would obey becomes a space.
pub(crate) fn shorten(text: &str, room: usize) -> String {
    let text = printable(text);
    if text.width() <= room {
        return text;
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// A text without control characters: a name in a file must not steer the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Lines of at most `room` columns, broken between words.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in printable(text).split_whitespace() {
        let line = lines.last_mut().filter(|line| !line.is_empty());
        match line {
            Some(line) if line.width() + 1 + word.width() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(word.to_owned()),
            None => lines = vec![word.to_owned()],
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(fixed(Some(-0.0001), 2), "0.00");
        assert_eq!(fixed(Some(-1.256), 2), "-1.26");
        assert_eq!(fixed(None, 2), NONE);
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(rough(Some(1.234e-9)), "1.2e-9");
    }

    #[test]
    fn texts_fit_their_place() {
        assert_eq!(shorten("Gymnasium", 5), "Gymn…");
        assert_eq!(shorten("東京大学", 5), "東京…");
        assert_eq!(shorten("a\u{1b}[31m", 9), "a [31m");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("", 7), [""]);
    }
}
