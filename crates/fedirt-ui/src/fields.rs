//! The fields of a submitted form.

/// The fields of a form, in the order in which they were sent.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses a body or a query (`application/x-www-form-urlencoded`).
    pub fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The first field of this name without surrounding blanks, or the empty text if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value.trim())
    }

    /// All fields of this name, such as the ticked boxes of a list.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.trim())
    }

    /// Whether there is a field of this name: for a checkbox, whether it was ticked.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }
}

/// Fields may be confidential, so only their names are printed.
impl std::fmt::Debug for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let fields = Fields::parse(b"a=1+2&b=%C3%A9%3C&a=3&box=on&broken=%zz&");
        assert_eq!((fields.get("a"), fields.get("b"), fields.get("none")), ("1 2", "é<", ""));
        assert_eq!(fields.all("a").collect::<Vec<_>>(), ["1 2", "3"]);
        assert!(fields.has("box") && !format!("{fields:?}").contains('3'));
    }
}
