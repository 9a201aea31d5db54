//! Names that files have for items.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::audience::ReadOption;
use crate::cause::Cause;
use crate::input::Input;
use crate::near::near_names;
use crate::options::ReadOptions;
use crate::problems::{Problem, Problems};
use crate::questions::folded;
use crate::selection::Selection;
use crate::small_table::SmallTable;
use crate::text::shown;

/// A name in a file, and the item that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The name in the file.
    pub name: String,
    /// The item.
    pub item: String,
}

/// Reads a list of names: a CSV file with the columns `name`, as it stands in files of answers, and `item`.
pub fn read_map(input: Input<'_>) -> Result<Vec<Renamed>, Problems> {
    SmallTable::read(input, |table, complaints| {
        let columns = (table.needed("name", complaints), table.needed("item", complaints));
        let (Some(_), Some(_)) = columns else { return Vec::new() };
        let mut found: Vec<Renamed> = Vec::new();
        for row in &table.rows {
            let (name, item) = (row.text(columns.0), row.text(columns.1));
            if name.is_empty() || item.is_empty() {
                complaints.line(row.line, Cause::EmptyItem);
                continue;
            }
            if let Some(other) = found.iter().find(|other| other.name == name && other.item != item) {
                let (name, other) = (shown(name.as_bytes()), shown(other.item.as_bytes()));
                complaints.cell(row.line, "name", Cause::NameOfTwoItems { name, other });
            }
            found.push(Renamed { name: name.to_owned(), item: item.to_owned() });
        }
        found
    })
}

/// Looks up the item that a name stands for.
pub(crate) struct ItemNames<'a> {
    items: HashMap<&'a str, &'a str>,
}

impl<'a> ItemNames<'a> {
    pub(crate) fn new(options: &'a ReadOptions) -> Self {
        let aliases = options
            .codebook
            .iter()
            .flatten()
            .flat_map(|item| item.aliases.iter().map(|alias| (alias.as_str(), item.name.as_str())));
        let renamed = options.renamed.iter().map(|r| (r.name.as_str(), r.item.as_str()));
        Self { items: aliases.chain(renamed).collect() }
    }

    /// The item that a name stands for; the name itself where nothing is said.
    pub(crate) fn item<'n>(&self, name: &'n str) -> Cow<'n, str>
    where
        'a: 'n,
    {
        Cow::Borrowed(self.items.get(name).copied().unwrap_or(name))
    }
}

/// What a file has and what is left out of it.
pub(crate) struct FileItems {
    pub(crate) file: String,
    pub(crate) items: Vec<String>,
    /// Columns, or items of a long file, that the selection of items leaves out.
    pub(crate) unselected: Vec<String>,
}

/// Complains about names that the caller gives and no file has, and about columns that would be left out of the items
/// although only their spelling differs.
pub(crate) fn complain(options: &ReadOptions, files: &[FileItems], problems: &mut Problems) {
    // If no header could be read, other complaints say so.
    if files.iter().all(|file| file.items.is_empty() && file.unselected.is_empty()) {
        return;
    }
    let present: HashSet<&str> = files.iter().flat_map(|file| &file.items).map(String::as_str).collect();
    let left_out: Vec<&str> = files.iter().flat_map(|file| &file.unselected).map(String::as_str).collect();
    let mut complain = |file: Option<&str>, column: &str, cause: Cause| {
        let (file, column) = (file.map(str::to_owned), Some(column.to_owned()));
        problems.add(Problem { file, line: None, column, cause });
    };
    for wanted in &options.items {
        let part = std::slice::from_ref(wanted);
        if !present.iter().any(|item| Selection::Parts(part).selects(item)) {
            let mut near = near_names(wanted, left_out.iter().copied());
            near.dedup();
            complain(None, wanted, Cause::NothingSelected(near));
        }
    }
    // A key or a list of names may serve more sites than these: what no file has is a problem where a name is near.
    let keyed: Vec<&str> = options.key.iter().map(|keyed| keyed.item.as_str()).collect();
    let renamed: Vec<&str> = options.renamed.iter().map(|renamed| renamed.item.as_str()).collect();
    for (option, items) in [(ReadOption::Key, &keyed), (ReadOption::Map, &renamed)] {
        let absent: Vec<&str> = items.iter().copied().filter(|item| !present.contains(item)).collect();
        for item in &absent {
            let others = present.iter().chain(&left_out).copied();
            let mut near = near_names(item, others.filter(|name| !items.contains(name)));
            near.dedup();
            if !near.is_empty() || absent.len() == items.len() {
                complain(None, item, Cause::UnknownItem { option, near });
            }
        }
    }
    let mut known: HashMap<String, Vec<&str>> = HashMap::new();
    for name in
        present.iter().copied().chain(options.codebook.iter().flatten().map(|item| item.name.as_str()))
    {
        known.entry(folded(name)).or_default().push(name);
    }
    for file in files {
        for left_out in &file.unselected {
            let meant = known.get(&folded(left_out)).into_iter().flatten().min();
            if let Some(meant) = meant.filter(|meant| !file.items.iter().any(|item| item == **meant)) {
                let with_it = files.iter().find(|other| other.items.iter().any(|item| item == *meant));
                let cause =
                    Cause::NamesAlike { other: (*meant).to_owned(), file: with_it.map(|f| f.file.clone()) };
                complain(Some(&file.file), left_out, cause);
            }
        }
    }
}
