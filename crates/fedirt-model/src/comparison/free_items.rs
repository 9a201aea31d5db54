//! Items with parameters of their own in a group of students: the column of an item is split by group, and the items that are not
//! split anchor the scale (Thissen, Steinberg & Wainer 1993). Everything else is an ordinary calibration.

use crate::centre::{ItemPlan, Plan};
use crate::responses::{MISSING, ResponseTable, TableError};

/// An item (its place in the plan) and a group in which it is to have its own parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freed {
    /// The item.
    pub item: usize,
    /// The group.
    pub group: usize,
}

/// What an item is called in a group where it has its own parameters.
pub fn name_in(item: &str, group: &str) -> String {
    format!("{item}@{group}")
}

/// The plan with an item more for each that is freed.
pub fn plan_with(plan: &Plan, freed: &[Freed]) -> Plan {
    let mut wider = plan.clone();
    for Freed { item, group } in freed {
        let own = plan.items.get(*item).zip(plan.groups.get(*group));
        wider
            .items
            .extend(own.map(|(own, group)| ItemPlan { name: name_in(&own.name, group), ..own.clone() }));
    }
    wider
}

/// A table with a column more for each that is freed, to which the group's answers move.
pub fn table_with(table: &ResponseTable, freed: &[Freed]) -> Result<ResponseTable, TableError> {
    let columns = table.items() + freed.len();
    let mut cells = Vec::with_capacity(table.students() * columns);
    let groups = table.groups().unwrap_or_default();
    for (i, row) in table.rows().enumerate() {
        let start = cells.len();
        cells.extend_from_slice(row);
        for Freed { item, group } in freed {
            let own = groups.get(i).is_some_and(|g| usize::from(*g) == *group);
            let answer =
                cells.get_mut(start + item).filter(|_| own).map(|cell| std::mem::replace(cell, MISSING));
            cells.push(answer.unwrap_or(MISSING));
        }
    }
    table.with_cells(columns, cells)
}
