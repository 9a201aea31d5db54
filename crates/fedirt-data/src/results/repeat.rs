//! `repeat.sh`: the command that repeats a fit.

use std::borrow::Cow;

/// A text as a single argument of a POSIX shell.
pub fn shell_quoted(text: &str) -> Cow<'_, str> {
    let plain =
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c));
    if plain { Cow::Borrowed(text) } else { Cow::Owned(format!("'{}'", text.replace('\'', "'\\''"))) }
}

/// A program and its arguments as a line for a POSIX shell.
pub fn shell_line<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    arguments.into_iter().map(shell_quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_texts_are_single_arguments_of_a_shell() {
        assert_eq!(shell_quoted("north.csv"), "north.csv");
        assert_eq!(shell_quoted("a b'; rm -rf ~"), "'a b'\\''; rm -rf ~'");
        assert_eq!(shell_quoted(""), "''");
        assert_eq!(
            shell_line(["fedirt", "fit", "a b.csv", "--items", "Q*"]),
            "fedirt fit 'a b.csv' --items 'Q*'"
        );
    }
}
