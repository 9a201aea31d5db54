//! Changes single values of a TOML text. Comments, order and everything else stay as they are.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};

/// Why a TOML text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is no TOML; with the parser's words, which name the line.
    #[error("{0}")]
    Syntax(String),
    /// A part of the path is a value, and holds nothing.
    #[error("{0} is a value, not a table")]
    NotATable(String),
}

/// A TOML text that is being changed.
#[derive(Debug, Clone)]
pub struct TomlEdit(DocumentMut);

impl TomlEdit {
    /// Reads the text.
    pub fn new(text: &str) -> Result<Self, EditError> {
        text.parse().map(Self).map_err(|error: toml_edit::TomlError| EditError::Syntax(error.to_string()))
    }

    /// Sets the value of a key, such as `cohort.n_min`; a key that is not there is added to its table.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> Result<(), EditError> {
        let mut parts = key.split('.').peekable();
        let mut table: &mut Table = self.0.as_table_mut();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                let mut value = value.into();
                // What stands around a value, such as a comment after it, is part of it.
                if let Some(old) = table.get(part).and_then(Item::as_value) {
                    value.decor_mut().clone_from(old.decor());
                }
                table[part] = Item::Value(value);
                break;
            }
            let entry = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
            table = entry.as_table_mut().ok_or_else(|| EditError::NotATable(part.to_owned()))?;
        }
        Ok(())
    }

    /// Adds a table to an array of tables, such as `[[booklet]]`.
    pub fn push(&mut self, name: &str, entries: Vec<(&str, Value)>) -> Result<(), EditError> {
        let mut table = Table::new();
        for (key, value) in entries {
            table.insert(key, Item::Value(value));
        }
        let empty = || Item::ArrayOfTables(ArrayOfTables::new());
        let array = self.0.as_table_mut().entry(name).or_insert_with(empty);
        array.as_array_of_tables_mut().ok_or_else(|| EditError::NotATable(name.to_owned()))?.push(table);
        Ok(())
    }

    /// The text as it is now.
    pub fn text(&self) -> String {
        self.0.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_order_stay() {
        let mut edit = TomlEdit::new("# top\na = 1 # one\n\n[t]\n# about b\nb = \"x\"\n# c = 2\n").unwrap();
        edit.set("a", 7).unwrap();
        edit.set("t.b", "y \"z\"").unwrap();
        edit.set("t.c", 3).unwrap();
        edit.push("k", vec![("name", "A".into())]).unwrap();
        let text = edit.text();
        assert!(text.starts_with("# top\na = 7 # one\n\n[t]\n# about b\nb = 'y \"z\"'\n"), "{text}");
        let read: toml::Table = text.parse().unwrap();
        assert_eq!(read["t"]["c"].as_integer(), Some(3));
        assert_eq!(read["k"][0]["name"].as_str(), Some("A"));
    }

    #[test]
    fn what_is_no_table_is_told() {
        assert!(matches!(TomlEdit::new("a = "), Err(EditError::Syntax(_))));
        assert_eq!(TomlEdit::new("a = 1").unwrap().set("a.b", 1), Err(EditError::NotATable("a".into())));
    }
}
