//! The format of words and numbers in figures, tables, pages and on the terminal.

/// Text that is safe inside elements and quoted attributes of HTML and SVG.
///
/// Control characters are not allowed in XML at all, so they become the replacement character.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Width of a text in pixels, roughly: no font is at hand, and fonts differ between machines anyway.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.30,
            'f' | 't' | 'r' | ' ' | '(' | ')' | '-' | '/' => 0.38,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.90,
            c if c.is_ascii_uppercase() => 0.68,
            c if c.is_ascii() => 0.56,
            c if (c as u32) < 0x1100 => 0.60,
            _ => 1.0,
        })
        .sum::<f64>()
        * size
}

/// The text, or its beginning and `…`, in at most `room` pixels.
pub(crate) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if width(&out, size) + size > room {
            out.pop();
            break;
        }
    }
    out.push('…');
    out
}

/// The text in lines of at most `room` pixels, broken between words.
pub(crate) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shorten(word, size, room)),
        }
    }
    lines
}

/// A number with that many decimals for tables: ASCII minus, so that it can be pasted elsewhere.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    let text = format!("{value:.decimals$}");
    // −0.00 says nothing that 0.00 does not.
    if text.starts_with('-') && text.chars().all(|c| matches!(c, '-' | '0' | '.')) {
        text[1..].to_owned()
    } else {
        text
    }
}

/// What stands for a number that is not there.
pub const MISSING: &str = "–";

/// [`fixed`], or a dash.
pub fn fixed_or_dash(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| MISSING.to_owned(), |v| fixed(v, decimals))
}

/// A number for reading in running text or on an axis: typographic minus.
pub(crate) fn reading(value: f64, decimals: usize) -> String {
    fixed(value, decimals).replace('-', "\u{2212}")
}

/// A small or large positive number such as a gradient, as `3.2e-7`.
pub fn scientific(value: f64) -> String {
    if !value.is_finite() {
        MISSING.to_owned()
    } else if value == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e5).contains(&value.abs()) {
        let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 5) as usize;
        fixed(value, digits)
    } else {
        format!("{value:.1e}")
    }
}

/// A number of unknown size for tables, with four digits that count.
pub(crate) fn significant(value: f64) -> String {
    if !value.is_finite() {
        MISSING.to_owned()
    } else if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        let size = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
        fixed(value, (3 - size).clamp(0, 7) as usize)
    } else {
        format!("{value:.3e}")
    }
}

/// A parameter such as ε in as few digits as it needs: `2`, `0.5`, `1e-6`.
pub(crate) fn brief(value: f64) -> String {
    if !value.is_finite() {
        MISSING.to_owned()
    } else if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.2e}").replace(".00e", "e").replace("0e", "e")
    }
}

/// A count with thin spaces between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// `1 site`, `3 sites`.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// Names in a sentence: `A`, `A and B`, `A, B and C`.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A value that may be drawn: present and finite.
pub(crate) fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_text() {
        assert_eq!(escape("<script>&\"'\u{0}"), "&lt;script&gt;&amp;&quot;&#39;\u{fffd}");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(f64::NAN, 2), MISSING);
        assert_eq!(reading(-1.25, 1), "\u{2212}1.2");
        assert_eq!(scientific(0.0), "0");
        assert_eq!(scientific(3.2e-7), "3.2e-7");
        assert_eq!(scientific(12.345), "12.3");
        assert_eq!(
            [-0.012_345, 123_456.7, 3.0, 1e-9].map(significant),
            ["-0.01235", "123457", "3.000", "1.000e-9"]
        );
        assert_eq!([2.0, 0.5, 1e-6, 1.5e-6, 20.0].map(brief), ["2", "0.5", "1e-6", "1.5e-6", "20"]);
        assert_eq!(count(1234), "1234");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(listed(&["A".into(), "B".into(), "C".into()]), "A, B and C");
    }

    #[test]
    fn sentences_break_between_words() {
        let lines = wrapped("As published: gradients of each school", 12.0, 120.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 12.0) <= 120.0), "{lines:?}");
        assert_eq!(lines.join(" "), "As published: gradients of each school");
        assert!(wrapped("", 12.0, 10.0).is_empty());
    }

    #[test]
    fn long_names_are_shortened() {
        let short = shorten("a very long name of a site that goes on", 12.0, 80.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 92.0, "{short}");
        assert_eq!(shorten("M1", 12.0, 80.0), "M1");
        assert_eq!(shorten("", 12.0, 0.0), "");
    }
}
