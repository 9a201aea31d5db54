//! What each column of a file is: from names and options to roles.

use std::collections::HashMap;

use crate::audience::ReadOption;
use crate::cause::Cause;
use crate::cells::number;
use crate::item_names::ItemNames;
use crate::near::near_names;
use crate::notes::{Note, NoteKind, add_note};
use crate::options::ReadOptions;
use crate::problems::Complaints;
use crate::reading::site_of_file;
use crate::selection::Selection;
use crate::text::shown;

/// How the answers stand in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One row per student; positions of the item columns.
    Wide(Vec<usize>),
    /// One line per answer; positions of the item's name and of the answer.
    Long { item: usize, response: usize },
}

/// Positions of the columns.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    pub(crate) names: Vec<String>,
    pub(crate) site: Option<usize>,
    /// The site of all rows where no column names it.
    pub(crate) only_site: String,
    pub(crate) id: Option<usize>,
    pub(crate) weight: Option<usize>,
    pub(crate) group: Option<usize>,
    pub(crate) layout: Layout,
    /// Columns that the selection of items leaves out.
    pub(crate) unselected: Vec<String>,
}

/// Columns that are no items even if no option names them, with the option that could.
const NO_ITEMS: &[(&str, Option<ReadOption>)] = &[
    ("site", Some(ReadOption::Site)),
    ("weight", Some(ReadOption::Weight)),
    ("group", None),
    ("form", None),
];

/// Finds out what the columns are. Goes on after a complaint, so that the cells are checked in the same run.
pub(crate) fn columns(
    mut names: Vec<String>,
    line: Option<u64>,
    options: &ReadOptions,
    complaints: &mut Complaints<'_>,
    notes: &mut Vec<Note>,
) -> Columns {
    let file = complaints.file;
    // A table in memory is called as its caller calls the site; only files have extensions.
    let only_site = if line.is_some() { site_of_file(file) } else { file.to_owned() };
    let mut taken: Vec<bool> = names.iter().map(|name| options.ignore.contains(name)).collect();
    complain_about_names(&names, &taken, line, complaints);
    let mut named =
        |option, given: &Option<String>| find_named(option, given.as_ref()?, &names, &mut taken, complaints);
    let site = named(ReadOption::Site, &options.site);
    let given_id = options.long.as_ref().map(|long| long.id.clone()).or_else(|| options.id.clone());
    let mut id = named(ReadOption::Id, &given_id);
    let weight = named(ReadOption::Weight, &options.weight);
    let group = named(ReadOption::Group, &options.group);
    let long = options
        .long
        .as_ref()
        .map(|long| [&long.item, &long.response].map(|name| named(ReadOption::Long, &Some(name.clone()))));
    complain_about_roles(options, complaints);
    let called = |name: &str, taken: &[bool]| {
        names.iter().zip(taken).position(|(other, taken)| !taken && other.eq_ignore_ascii_case(name))
    };
    if given_id.is_none()
        && let Some(column) = called("id", &taken)
    {
        taken[column] = true;
        id = Some(column);
        add_note(notes, Some(file), NoteKind::IdColumn(names[column].clone()));
    }
    for (name, option) in NO_ITEMS {
        while let Some(column) = called(name, &taken) {
            taken[column] = true;
            let column = shown(names[column].as_bytes());
            add_note(notes, Some(file), NoteKind::UnusedColumn { column, option: *option });
        }
    }
    let long = match long {
        Some([Some(item), Some(response)]) => Some((item, response)),
        // Complained about above; whatever else the file is, its columns are no items.
        Some(_) => {
            return Columns {
                names,
                site,
                only_site,
                id,
                weight,
                group,
                layout: Layout::Wide(Vec::new()),
                unselected: Vec::new(),
            };
        }
        None => called("item", &taken).zip(called("resp", &taken).or_else(|| called("response", &taken))),
    };
    if let Some((item, response)) = long {
        if id.is_none() && given_id.is_none() {
            complaints.line(line, Cause::LongWithoutId);
        }
        add_note(notes, Some(file), NoteKind::LongFormat);
        for column in (0..names.len()).filter(|column| !taken[*column] && ![item, response].contains(column))
        {
            let column = names[column].clone();
            add_note(notes, Some(file), NoteKind::UnusedColumn { column, option: None });
        }
        let layout = Layout::Long { item, response };
        return Columns { names, site, only_site, id, weight, group, layout, unselected: Vec::new() };
    }
    // Columns without a name are complained about above; what is in them would be told without a name.
    let items: Vec<usize> =
        (0..names.len()).filter(|column| !taken[*column] && !names[*column].is_empty()).collect();
    rename(&mut names, &items, options, line, complaints);
    let selection = Selection::new(options);
    let (items, others): (Vec<usize>, Vec<usize>) =
        items.into_iter().partition(|column| selection.selects(&names[*column]));
    let unselected: Vec<String> = others.into_iter().map(|column| names[column].clone()).collect();
    if !unselected.is_empty() {
        add_note(notes, Some(file), NoteKind::NotSelected(unselected.clone()));
    }
    if items.len() < 2 {
        let selected = !matches!(selection, Selection::All);
        complaints.line(line, Cause::TooFewItems { items: items.len(), columns: names.len(), selected });
    }
    Columns { names, site, only_site, id, weight, group, layout: Layout::Wide(items), unselected }
}

/// Gives columns the names of the items that they stand for.
fn rename(
    names: &mut [String],
    columns: &[usize],
    options: &ReadOptions,
    line: Option<u64>,
    complaints: &mut Complaints<'_>,
) {
    let item_names = ItemNames::new(options);
    let mut given: HashMap<String, String> = HashMap::new();
    for column in columns {
        let own = names[*column].clone();
        let item = item_names.item(&own).into_owned();
        if let Some(other) = given.insert(item.clone(), own.clone())
            && other != own
        {
            let both = [other, own].map(|name| shown(name.as_bytes()));
            complaints.cell(line, &item, Cause::TwoColumnsOfOneItem(both));
        }
        names[*column] = item;
    }
}

fn find_named(
    option: ReadOption,
    wanted: &str,
    names: &[String],
    taken: &mut [bool],
    complaints: &mut Complaints<'_>,
) -> Option<usize> {
    let found = names.iter().position(|name| name == wanted);
    match found {
        Some(column) => taken[column] = true,
        None => {
            let near = near_names(wanted, names.iter().map(String::as_str));
            // The column that was probably meant is no item: what is in it is not to be complained about as well.
            if let Some(column) = names.iter().position(|name| near.first() == Some(name)) {
                taken[column] = true;
            }
            complaints.column(wanted, Cause::UnknownColumn { option, near });
        }
    }
    found
}

fn complain_about_names(
    names: &[String],
    ignored: &[bool],
    line: Option<u64>,
    complaints: &mut Complaints<'_>,
) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut twice = Vec::new();
    for (position, name) in names.iter().enumerate() {
        if name.is_empty() {
            complaints.line(line, Cause::UnnamedColumn(position + 1));
        } else if let Some(before) = first.insert(name, position)
            && !ignored[position]
        {
            twice.push((name, before + 1, position + 1));
        }
    }
    // Items may be called 1, 2, 3, but a line of numbers that repeats some is a line of answers.
    if !twice.is_empty() && names.iter().all(|name| name.is_empty() || number(name).is_some()) {
        complaints.line(line, Cause::NoHeader);
        return;
    }
    for (name, before, position) in twice {
        complaints.cell(line, name, Cause::DuplicateColumn(before, position));
    }
}

fn complain_about_roles(options: &ReadOptions, complaints: &mut Complaints<'_>) {
    let mut roles: Vec<(ReadOption, &str)> = Vec::new();
    let named = [
        (ReadOption::Site, &options.site),
        (ReadOption::Id, &options.id),
        (ReadOption::Weight, &options.weight),
        (ReadOption::Group, &options.group),
    ];
    let long = options.long.iter().flat_map(|long| [&long.item, &long.response]);
    let long = long.map(|name| (ReadOption::Long, name.as_str()));
    let named = named.iter().filter_map(|(option, name)| name.as_deref().map(|name| (*option, name)));
    for (option, name) in
        named.chain(long).chain(options.ignore.iter().map(|name| (ReadOption::Ignore, name.as_str())))
    {
        // Sites may be the groups that are compared.
        let may_share = |other: ReadOption| [other, option] == [ReadOption::Site, ReadOption::Group];
        let clashes =
            |(other, taken): &&(ReadOption, &str)| *taken == name && *other != option && !may_share(*other);
        if let Some((other, _)) = roles.iter().find(clashes) {
            complaints.column(name, Cause::TwoRoles(*other, option));
        }
        roles.push((option, name));
    }
}
