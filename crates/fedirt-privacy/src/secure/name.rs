//! Names of sites and studies: short text that looks the same to everyone who reads it.

/// Longest name, in bytes.
const MAX_BYTES: usize = 128;

/// Why a text is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Empty, or longer than 128 bytes.
    #[error("a name has 1 to {MAX_BYTES} bytes, and this one has {bytes}")]
    Length {
        /// The length of the text.
        bytes: usize,
    },
    /// Blanks at an end, control characters, or characters that cannot be seen: two names that look alike
    /// could be different sites.
    #[error("the name {name:?} has blanks at its ends or characters that cannot be seen")]
    Invisible {
        /// The text as it was given.
        name: String,
    },
}

/// Whether a character cannot be seen, or changes how others are shown: control characters, and those that turn the direction of
/// a text (Unicode Standard Annex 9, Bidi_Control).
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a text has such characters.
pub fn has_unseen(text: &str) -> bool {
    text.contains(is_unseen)
}

fn check(name: &str) -> Result<(), NameError> {
    if name.is_empty() || name.len() > MAX_BYTES {
        return Err(NameError::Length { bytes: name.len() });
    }
    if name.trim() != name || has_unseen(name) {
        return Err(NameError::Invisible { name: name.into() });
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<&str> for $type {
            type Error = NameError;

            fn try_from(name: &str) -> Result<Self, NameError> {
                check(name).map(|()| Self(name.into()))
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// Name of a site. Sites are ordered by the bytes of their names; the order gives the sign of a mask.
    /// Letters of different alphabets that look alike are not told apart: the fingerprint of the key does.
    SiteId
);
name!(
    /// Name of a study.
    StudyId
);

/// Names in a sentence: "a", "a and b", "a, b and c".
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a SiteId>) -> String {
    let names: Vec<&str> = names.into_iter().map(SiteId::as_str).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => (*last).into(),
        None => "nobody".into(),
    }
}
