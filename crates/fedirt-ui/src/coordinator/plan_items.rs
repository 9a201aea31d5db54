//! The items of the form for a new study, with their models and known parameters, and the booklets.

use super::plan_form::{Complaint, Form};
use fedirt_coordinator::codebook;
use fedirt_data::Input;
use fedirt_model::design::MAX_CATEGORIES;
use fedirt_model::items::model;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{Booklet, PlanItem};

/// The name of a pasted codebook in complaints.
const PASTED: &str = "the codebook";

/// The format in which the items were given.
enum ItemsFormat {
    /// Entries of a plan.
    Entries,
    /// A codebook (CSV).
    Codebook,
    /// Names of a file's columns.
    Columns,
}

/// Columns of a codebook from which categories follow.
const SAYING_CATEGORIES: [&str; 4] = ["categories", "levels", "scores", "collapse"];
/// Most categories of an item.
const MOST_CATEGORIES: u8 = MAX_CATEGORIES as u8;

fn format_of(text: &str) -> ItemsFormat {
    let head = text.lines().next().unwrap_or_default().to_lowercase();
    if text.contains("[[item]]") {
        ItemsFormat::Entries
    } else if SAYING_CATEGORIES.iter().any(|column| head.contains(column)) {
        ItemsFormat::Codebook
    } else {
        ItemsFormat::Columns
    }
}

/// Items from a codebook (CSV or TOML), or from the names of a file's columns; each with its model.
pub(super) fn items(form: &Form) -> Result<Vec<PlanItem>, Complaint> {
    let wrong = |text: String| Complaint::new("items", text);
    let text = form.get("items");
    if text.is_empty() {
        return Err(wrong("Paste a codebook, or the first line of a file with answers.".into()));
    }
    let mut found = match format_of(text) {
        ItemsFormat::Entries => {
            #[derive(serde::Deserialize)]
            struct Codebook {
                item: Vec<PlanItem>,
            }
            let read = toml::from_str::<Codebook>(text);
            read.map_err(|e| wrong(format!("The codebook is not valid TOML with [[item]] entries: {e}")))?
                .item
        }
        ItemsFormat::Codebook => {
            let pasted = Input::new(PASTED, text.as_bytes());
            codebook::plan_items(PASTED, pasted).map_err(|error| wrong(error.to_string()))?
        }
        ItemsFormat::Columns => columns(form)?,
    };
    // A private study has no fixed items, and does not show the field.
    if form.mode() != Mode::Private && !form.get("anchors").is_empty() {
        let anchored = codebook::anchor(Input::new("the table", form.get("anchors").as_bytes()), &mut found);
        anchored.map_err(|error| Complaint::new("anchors", error.to_string()))?;
    }
    for item in &mut found {
        let field = if item.categories.len() == 2 { "binary" } else { "graded" };
        let usual = form.get(field);
        if model(usual).is_none() {
            return Err(Complaint::new(
                field,
                format!("There is no model {usual:?}. Choose one of the list."),
            ));
        }
        item.model.get_or_insert_with(|| usual.to_owned());
    }
    Ok(found)
}

/// The columns of the form as a codebook, so that each item's categories and model can be changed.
pub(super) fn as_codebook(form: &Form) -> Option<String> {
    if !matches!(format_of(form.get("items")), ItemsFormat::Columns) {
        return None;
    }
    let mut out = String::from("item,categories,model\n");
    for item in columns(form).ok()? {
        out += &format!("{},{},\n", fedirt_coordinator::repeat::cell(&item.name), item.categories.len());
    }
    Some(out)
}

fn columns(form: &Form) -> Result<Vec<PlanItem>, Complaint> {
    let text = form.get("items");
    let categories = form.get("categories").parse::<u8>().ok().filter(|n| (2..=MOST_CATEGORIES).contains(n));
    let categories = categories.ok_or_else(|| {
        Complaint::new("categories", format!("A whole number from 2 to {MOST_CATEGORIES} is needed."))
    })?;
    let head = text.lines().next().unwrap_or_default();
    let by = [';', '\t', ','].into_iter().find(|c| head.contains(*c)).unwrap_or('\n');
    let names = text.lines().flat_map(|line| line.split(by)).map(|name| name.trim().trim_matches('"').trim());
    let known = ["id", "student", "site", "school", "group", "form", "weight"];
    let names = names.filter(|name| !name.is_empty() && !known.contains(&name.to_lowercase().as_str()));
    let item = |name: &str| PlanItem {
        name: name.to_owned(),
        categories: (0..categories).collect(),
        merged: Vec::new(),
        model: None,
        fixed: None,
    };
    Ok(names.map(item).collect())
}

/// Booklets, one per line: a name, a colon, and items; `first..last` is a range of items in the order of the codebook.
pub(super) fn booklets(text: &str, items: &[PlanItem]) -> Result<Vec<Booklet>, Complaint> {
    let wrong = |text| Err(Complaint::new("booklets", text));
    let place = |name: &str| items.iter().position(|item| item.name == name);
    let mut out: Vec<Booklet> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, list) = line.split_once(':').unwrap_or((line, ""));
        let name = name.trim();
        if out.iter().any(|booklet| booklet.name == name) {
            return wrong(format!("Booklet {name:?} is named twice. Give each booklet a name of its own."));
        }
        let mut own = Vec::new();
        for part in list.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
            if let Some(at) = place(part) {
                own.push(at);
                continue;
            }
            let ends = part.split_once("..").map(|(from, to)| (place(from.trim()), place(to.trim())));
            match ends {
                Some((Some(from), Some(to))) if from <= to => own.extend(from..=to),
                _ => return wrong(format!("Booklet {name:?}: there is no item {part:?} among those above.")),
            }
        }
        if own.is_empty() {
            return wrong(format!(
                "Booklet {name:?} has no items. Write a line such as A: i01, i02, i05..i09"
            ));
        }
        own.sort_unstable();
        own.dedup();
        let names = own.into_iter().map(|at| items[at].name.clone()).collect();
        out.push(Booklet { name: name.to_owned(), items: names });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booklets_name_items_and_stretches_of_them() {
        let item = |n: u8| PlanItem {
            name: format!("i{n}"),
            categories: vec![0, 1],
            merged: Vec::new(),
            model: None,
            fixed: None,
        };
        let items: Vec<PlanItem> = (1..7).map(item).collect();
        let read = |text: &str| booklets(text, &items);
        let both = read("A: i1..i3, i5\n\n B : i6; i4..i5, i5").unwrap();
        assert_eq!((both[0].name.as_str(), both[0].items.join(" ").as_str()), ("A", "i1 i2 i3 i5"));
        assert_eq!((both[1].name.as_str(), both[1].items.join(" ").as_str()), ("B", "i4 i5 i6"));
        assert!(read("").unwrap().is_empty());
        for (bad, told) in [
            ("A: i9", "no item \"i9\""),
            ("A:", "has no items"),
            ("A: i3..i1", "no item"),
            ("A: i1\nA: i2", "twice"),
        ] {
            assert!(read(bad).unwrap_err().text.contains(told), "{bad}");
        }
    }
}
