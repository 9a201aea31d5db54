//! Items whose parameters are known beforehand.

use crate::cause::Cause;
use crate::input::Input;
use crate::problems::{Complaints, Problems};
use crate::small_table::{Row, SmallTable};
use crate::text::shown;

/// An item with given parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedItem {
    /// The item's name.
    pub name: String,
    /// Its model, if the file says; a name that `fedirt_model::items::model` knows.
    pub model: Option<String>,
    /// Its slope a: finite and not 0.
    pub a: f64,
    /// Its steps, as the file gives them.
    pub steps: Steps,
}

/// The steps of an item, one per category above the lowest.
#[derive(Debug, Clone, PartialEq)]
pub enum Steps {
    /// Intercepts d_1, d_2, …
    Intercepts(Vec<f64>),
    /// Difficulties b_1, b_2, …
    Difficulties(Vec<f64>),
}

/// Columns of the steps of one letter: the one without a number, and those with one in order.
struct StepColumns {
    letter: &'static str,
    single: Option<usize>,
    numbered: Vec<Option<usize>>,
}

/// Reads fixed items: a CSV file with columns `item`, `a` (or `a1`) and `d` or `d1`, `d2`, … or `b` or `b1`, ….
///
/// An item that has both is read by its intercepts, so that `items.csv` of an earlier fit can be used as it is.
/// Items without slope and steps are passed over. Other columns are not looked at, but asymptotes `g` and `u` that say something are refused.
pub fn read_fixed_items(input: Input<'_>) -> Result<Vec<FixedItem>, Problems> {
    SmallTable::read(input, |table, complaints| {
        let model = table.column("model");
        let slope =
            table.column("a").or_else(|| table.column("a1")).or_else(|| table.needed("a", complaints));
        let (d, b) = (StepColumns::new("d", table), StepColumns::new("b", table));
        if d.is_empty() && b.is_empty() {
            complaints.line(table.header_line, Cause::MissingColumn { name: "d", near: Vec::new() });
        }
        let items = table.items(complaints);
        let mut out = Vec::new();
        for (row, name) in items {
            // items.csv lists items without estimates too: there is nothing to fix.
            if row.get(slope).is_none() && d.has_none(row) && b.has_none(row) {
                continue;
            }
            let model = table.model(row, model, complaints);
            refuse_asymptotes(table, row, complaints);
            let a = read_slope(table, row, slope, name, complaints);
            let intercepts = d.read(table, row, name, complaints);
            let steps = match intercepts {
                Some(values) => Some(Steps::Intercepts(values)),
                None => b.read(table, row, name, complaints).map(Steps::Difficulties),
            };
            if steps.is_none() && !(d.is_empty() && b.is_empty()) {
                complaints.line(row.line, Cause::NoSteps(shown(name.as_bytes())));
            }
            if let (Some(a), Some(steps)) = (a, steps) {
                out.push(FixedItem { name: name.to_string(), model, a, steps });
            }
        }
        out
    })
}

fn read_slope(
    table: &SmallTable,
    row: &Row,
    column: Option<usize>,
    name: &str,
    complaints: &mut Complaints<'_>,
) -> Option<f64> {
    let column_name = table.names.get(column?)?;
    if row.get(column).is_none() {
        complaints.cell(row.line, column_name, Cause::BadNumber(String::new()));
    }
    let slope = table.number(row, column, complaints)?;
    if slope == 0.0 {
        complaints.cell(row.line, column_name, Cause::ZeroSlope(shown(name.as_bytes())));
    }
    Some(slope)
}

/// mirt writes g = 0 and u = 1 for every item; other values belong to models that do not exist here.
fn refuse_asymptotes(table: &SmallTable, row: &Row, complaints: &mut Complaints<'_>) {
    for (name, harmless) in [("g", 0.0), ("u", 1.0)] {
        let column = table.column(name);
        if let Some(value) = table.number(row, column, complaints)
            && value != harmless
        {
            complaints.cell(row.line, name, Cause::Asymptote(value.to_string()));
        }
    }
}

impl StepColumns {
    fn new(letter: &'static str, table: &SmallTable) -> Self {
        let columns =
            (1..=usize::from(crate::HIGHEST_CODE)).map(|step| table.column(&format!("{letter}{step}")));
        let mut numbered: Vec<Option<usize>> = columns.collect();
        while numbered.last().is_some_and(Option::is_none) {
            numbered.pop();
        }
        Self { letter, single: table.column(letter), numbered }
    }

    fn is_empty(&self) -> bool {
        self.single.is_none() && self.numbered.is_empty()
    }

    /// Whether the item has no step of this letter.
    fn has_none(&self, row: &Row) -> bool {
        row.get(self.single).is_none() && self.numbered.iter().all(|column| row.get(*column).is_none())
    }

    /// The steps of an item; `None` if it has none of this letter.
    fn read(
        &self,
        table: &SmallTable,
        row: &Row,
        name: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<Vec<f64>> {
        let numbered = self.numbered.iter().rposition(|column| row.get(*column).is_some());
        let Some(last) = numbered else {
            row.get(self.single)?;
            return Some(vec![table.number(row, self.single, complaints).unwrap_or(f64::NAN)]);
        };
        if row.get(self.single).is_some() {
            let item = shown(name.as_bytes());
            complaints.line(row.line, Cause::StepsTwice { item, letter: self.letter });
        }
        let values = self.numbered[..=last].iter().enumerate().map(|(step, column)| {
            if row.get(*column).is_none() {
                let column = format!("{}{}", self.letter, step + 1);
                complaints.cell(row.line, &column, Cause::StepGap(shown(name.as_bytes())));
            }
            // NaN only where there is a complaint, and then nothing is handed out.
            table.number(row, *column, complaints).unwrap_or(f64::NAN)
        });
        Some(values.collect())
    }
}
