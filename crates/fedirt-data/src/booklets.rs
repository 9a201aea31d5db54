//! Booklets: which items students were given together.

use crate::cause::Cause;
use crate::input::Input;
use crate::problems::Problems;
use crate::small_table::SmallTable;

/// A set of items that some students were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookletItems {
    /// The booklet's name.
    pub name: String,
    /// Names of its items, in the order of the file.
    pub items: Vec<String>,
}

/// Reads booklets: a CSV file with the columns `booklet` and `item`, a row for each item of each booklet.
pub fn read_booklets(input: Input<'_>) -> Result<Vec<BookletItems>, Problems> {
    SmallTable::read(input, |table, complaints| {
        let (booklet, item) = (table.needed("booklet", complaints), table.needed("item", complaints));
        let mut booklets: Vec<BookletItems> = Vec::new();
        for row in table.rows.iter().filter(|_| booklet.is_some() && item.is_some()) {
            let (Some(name), Some(item)) = (row.get(booklet), row.get(item)) else {
                complaints.line(row.line, Cause::EmptyItem);
                continue;
            };
            match booklets.iter_mut().find(|known| known.name == name) {
                Some(known) if known.items.iter().any(|other| other == item) => {}
                Some(known) => known.items.push(item.to_owned()),
                None => booklets.push(BookletItems { name: name.to_owned(), items: vec![item.to_owned()] }),
            }
        }
        booklets
    })
}
