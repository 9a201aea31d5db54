//! Everything that is wrong, not only the first thing.

use std::fmt;

/// Several errors of one kind: all that were found, so that they can be mended in one go. Never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Errors<E>(pub Vec<E>);

impl<E> Errors<E> {
    /// The errors, if there are any.
    pub fn unless_empty(errors: Vec<E>) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Self(errors)) }
    }
}

impl<E> From<E> for Errors<E> {
    fn from(error: E) -> Self {
        Self(vec![error])
    }
}

impl<E: fmt::Display> fmt::Display for Errors<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n"))
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for Errors<E> {}
