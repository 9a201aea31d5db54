//! Numbers and sentences on a terminal.

pub(crate) use fedirt_data::text::{counted, grouped as count};
pub(crate) use fedirt_figures::text::{MISSING as NONE, fixed_or_dash as fixed};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A gradient, a condition number: two digits.
pub(crate) fn rough(value: Option<f64>) -> String {
    match value.filter(|x| x.is_finite()) {
        Some(0.0) => "0".to_owned(),
        Some(x) if (1.0..1e5).contains(&x.abs()) => format!("{x:.1}"),
        Some(x) => format!("{x:.1e}"),
        None => NONE.to_owned(),
    }
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
